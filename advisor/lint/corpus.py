"""What a lint run looks at: the union of knowledge bases, and which of their files the findings are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from advisor.knowledge.base import KnowledgeBase
from advisor.knowledge.files import EntryFile
from advisor.knowledge.graph import Link, links_of
from advisor.lint.options import Options
from advisor.records import Entry

E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The entries of all layers, and the files of the layer that is linted.

    files: by id, those that hold an entry. broken: ids of files that exist but hold no entry because of an error; links
    to them do not dangle. base: ids of the layers below, empty when the linted layer stands alone.
    """

    kb: KnowledgeBase
    options: Options
    files: Mapping[str, EntryFile]
    broken: frozenset[str] = frozenset()
    base: frozenset[str] = frozenset()

    @cached_property
    def links(self) -> Mapping[str, tuple[Link, ...]]:
        """Every reference that each entry makes, existing or not, by id."""
        return {entry.id: tuple(links_of(entry)) for entry in self.kb.entries.values()}

    def mine(self, entries: Mapping[str, E]) -> Iterator[E]:
        """Those of the entries that come from the linted files."""
        return (entry for entry in entries.values() if entry.id in self.files)

    def base_first(self, entries: Mapping[str, E]) -> Iterator[E]:
        """All entries, those of the layers below first: of two that clash, the linted one is then the later."""
        yield from (entry for entry in entries.values() if entry.id not in self.files)
        yield from self.mine(entries)

    def exists(self, entry_id: str) -> bool:
        """Whether an id names an entry, a broken one included."""
        return entry_id in self.kb.entries or entry_id in self.broken
