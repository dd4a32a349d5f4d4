"""Which of the facts said a sentence such as `forget the latency`, `forget H200` or `forget 15 ms` means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from advisor.dialogue.lexicon import lexicon_of
from advisor.dialogue.readings import Understood
from advisor.dialogue.text import tokens_of
from advisor.knowledge import KnowledgeBase
from advisor.records import FactValue

_HARDWARE = ("accelerator", "system")


def facts_named(
    kb: KnowledgeBase, text: str, said: Mapping[str, FactValue], understood: Understood
) -> list[str]:
    """The facts said that a sentence names: by one of their words, by a word for their kind, or by their value."""
    sentence = _spaced(text)
    kinds = lexicon_of(kb).kinds
    named = {name for word, names in kinds.items() if _spaced(word) in sentence for name in names}
    valued = set(_valued(kb, said, understood))
    found = [
        name
        for name in said
        if name in named or name in valued or any(_spaced(word) in sentence for word in _words(kb, name))
    ]
    if found:
        return found
    last = " ".join(sentence.split()[1:])
    return [name for name, fact in said.items() if last and f" {last} " in _spaced(fact.text)]


def _words(kb: KnowledgeBase, name: str) -> Iterator[str]:
    fact = kb.facts.get(name)
    yield name.replace("_", " ")
    if fact is not None:
        yield from (fact.title, *fact.aliases, *fact.words)


def _valued(kb: KnowledgeBase, said: Mapping[str, FactValue], understood: Understood) -> Iterator[str]:
    """Facts whose value is named, as in `forget H200`."""
    named = {(name, str(v)) for name, reading in understood.facts.items() for v in reading.values}
    named |= {(item.fact, item.value) for item in understood.ignored if item.why == "excluded"}
    for name, fact in said.items():
        for part in str(fact.value).split(","):
            owner = kb.systems[part].accelerator if part in kb.systems else part
            slugs = {part.rpartition("/")[2], owner.rpartition("/")[2]}
            if any(
                value in slugs and (kind == name or {kind, name} <= set(_HARDWARE)) for kind, value in named
            ):
                yield name


def _spaced(text: str) -> str:
    return " " + " ".join(token.text for token in tokens_of(text)) + " "
