"""What the screen prepares in the background once it stands: names that complete, and modules that keys will need."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from tui.garbage import no_collection
from tui.panels import PANELS
from tui.widgets.completion import Name

if TYPE_CHECKING:
    from advisor.knowledge.base import KnowledgeBase
    from advisor.records import Entry


_NEEDED = (
    *(f"tui.panels.{name}" for name in PANELS),
    *(f"tui.screens.{name}" for name in ("reader", "fact_editor", "export", "help", "picker", "sessions")),
    "tui.exporting", "advisor.report.page", "advisor.report.parts", "advisor.report.markdown", "advisor.report.transcript",
    "advisor.knowledge.search", "advisor.reasoning.heatmap", "advisor.reasoning.proof", "advisor.evidence.pairs",
)  # fmt: skip


def fetch_modules() -> None:
    """Import what the panels and windows need, so that the first press of their key does not wait for it."""
    with no_collection():
        for name in _NEEDED:
            import_module(name)


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
