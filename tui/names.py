"""Names that complete in the prompt: models, systems, accelerators, facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui.widgets.completion import Name

if TYPE_CHECKING:
    from advisor.knowledge.base import KnowledgeBase
    from advisor.records import Entry


def completions(kb: KnowledgeBase) -> list[Name]:
    """Every name with what it inserts: titles for entries, the first of its usual words for a fact."""
    names: list[Name] = []
    for what, entries in (("model", kb.models), ("system", kb.systems), ("accelerator", kb.accelerators)):
        for entry in entries.values():
            names += _of(entry, what)
    for fact in kb.facts.values():
        if fact.scope == "requirement":
            names += [
                Name(key=word.lower(), text=word, what=f"fact: {fact.title}")
                for word in (fact.title, *fact.words[:3])
            ]
    return names


def _of(entry: Entry, what: str) -> Iterator[Name]:
    for name in dict.fromkeys((entry.title, *entry.aliases)):
        yield Name(key=name.lower(), text=entry.title, what=what)
