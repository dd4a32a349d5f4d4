"""Phrases of a fact that has words but no patterns of its own: enough for an entry that is new to be understood."""

from __future__ import annotations

from advisor.dialogue.text import tokens_of
from advisor.records import Fact


def plain_phrases(fact: Fact) -> tuple[str, ...]:
    """Patterns from the `words` of a fact that is asked about, or from its title: `raised floor`, `floor load {number} [kg]`.

    Empty for a fact with patterns of its own, for choices (their values have words) and for facts that nobody is asked.
    """
    if fact.patterns or fact.ask == "never" or fact.type not in ("flag", "number", "integer"):
        return ()
    words = [word for word in fact.words or (fact.title,) if _is_plain(word)]
    if not words:
        return ()
    cue = f"({'|'.join([*words, *(f'{word}s' for word in words)])})"
    if fact.type == "flag":
        return (cue, f"{cue} [is|are|=|:] (no|false) => no")
    unit = f" [{fact.unit}]" if _is_plain(fact.unit) else ""
    return (f"{cue} {{number}}{unit}", f"{{number}}{unit} {cue}")


def _is_plain(word: str) -> bool:
    """Whether a word or phrase can stand in a pattern as it is: letters and spaces only."""
    return bool(tokens_of(word)) and all(c.isalpha() or c in " -" for c in word)
