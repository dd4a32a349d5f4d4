"""What a sentence asks for: the first act whose words and conditions hold."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.dialogue.lexicon import Act, Lexicon
from advisor.dialogue.line import Line, with_terms
from advisor.dialogue.patterns import Pattern
from advisor.dialogue.readings import Reading

SAY = Act(name="say", intent="size", patterns=())
"""A sentence that states facts and asks for nothing in particular: it sizes."""
UNKNOWN = Act(name="unknown", intent="other", patterns=())
"""A sentence that nothing is known about."""


def act_of(lexicon: Lexicon, line: Line, facts: Mapping[str, Reading]) -> tuple[Act, tuple[str, ...]]:
    """The act of a sentence with these facts, and the concepts it names."""
    terms = with_terms(lexicon, line)
    concepts = tuple(dict.fromkeys(n.slug for item in terms.items if item.canon == "C" for n in item.names))
    index, owners = lexicon.asked
    refused = -1
    spoken = {id(line): (line.text, _bare(lexicon, line)), id(terms): (terms.text, _bare(lexicon, terms))}
    for place in index.places(line.words | terms.words):
        owner = owners[place]
        if owner == refused:
            continue
        if not _allowed(lexicon, lexicon.acts[owner], line, facts):
            refused = owner
        elif _occurs(index.patterns[place], line, terms, spoken):
            return lexicon.acts[owner], concepts
    return (SAY if facts else UNKNOWN), concepts


def _bare(lexicon: Lexicon, line: Line) -> str:
    """The text of a line without the words that people start and end a request with: `ok, could you … please`."""
    words = line.text.split()
    first, last = 0, len(words)
    while first < last and lexicon.unmarked(words[first]) in lexicon.openings:
        first += 1
    while last > first and lexicon.unmarked(words[last - 1]) in lexicon.closings:
        last -= 1
    return " " + "".join(word + " " for word in words[first:last])


def _occurs(pattern: Pattern, line: Line, terms: Line, spoken: Mapping[int, tuple[str, str]]) -> bool:
    """Whether a pattern matches a line or what is bare in it: patterns that speak of concepts the line with terms."""
    where = terms if any(slot.type == "concept" for slot in pattern.slots) else line
    return all(where.words & need for need in pattern.needs) and any(
        pattern.expression.search(text) is not None for text in spoken[id(where)]
    )


def _allowed(lexicon: Lexicon, act: Act, line: Line, facts: Mapping[str, Reading]) -> bool:
    if act.facts and not _facts_as_asked(act.facts, lexicon, facts):
        return False
    if (act.longest and len(line.items) > act.longest) or not act.without.isdisjoint(facts):
        return False
    accelerators = len(facts["accelerator"].values) if "accelerator" in facts else 0
    precisions = len(facts["weight_precision"].values) if "weight_precision" in facts else 0
    return accelerators >= act.accelerators and precisions >= act.precisions


def _facts_as_asked(asked: str, lexicon: Lexicon, facts: Mapping[str, Reading]) -> bool:
    if asked == "soft":
        return all(lexicon.kb.facts[name].type in ("choice", "flag") for name in facts)
    return bool(facts) == (asked == "some")
