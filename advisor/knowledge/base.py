"""The knowledge base in memory: entries by id, names that people use for them, the graph and the search index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from advisor.errors import UnknownIdError
from advisor.knowledge.recent import Recent
from advisor.records import (
    SCHEMA_NAMES,
    Accelerator,
    Calibration,
    Concept,
    Engine,
    Entry,
    Evidence,
    Fact,
    Gotcha,
    Model,
    Rule,
    Source,
    System,
)
from advisor.units import shown

if TYPE_CHECKING:
    import networkx as nx

E = TypeVar("E", bound=Entry)


def fold(name: str) -> str:
    """A name as compared: lower case, letters and digits only, dots kept between digits."""
    lowered = name.casefold()
    return "".join(
        c for i, c in enumerate(lowered) if c.isalnum() or (c == "." and lowered[i - 1 : i].isdigit())
    )


class KnowledgeBase:
    """All entries of one or several knowledge bases, linked. Treat as immutable.

    notices: what an overlay replaced. fingerprint: hash of every byte it was loaded from.
    """

    def __init__(
        self, entries: Iterable[Entry], *, fingerprint: str = "", notices: tuple[str, ...] = ()
    ) -> None:
        self.entries: dict[str, Entry] = {entry.id: entry for entry in entries}
        self.fingerprint = fingerprint
        self.notices = notices
        self.memo: dict[Any, Any] = {}
        """Results that depend on this knowledge base alone, kept by the layers that compute them."""
        self.recent = Recent()
        """Results that depend on a requirement too: those of the latest ones."""

    def _kind(self, kind: str, _record: type[E]) -> Mapping[str, E]:
        prefix = kind + "/"
        return cast(Mapping[str, E], {k: v for k, v in self.entries.items() if k.startswith(prefix)})

    @cached_property
    def concepts(self) -> Mapping[str, Concept]:
        """Concepts by id."""
        return self._kind("concepts", Concept)

    @cached_property
    def gotchas(self) -> Mapping[str, Gotcha]:
        """Gotchas by id."""
        return self._kind("gotchas", Gotcha)

    @cached_property
    def evidence(self) -> Mapping[str, Evidence]:
        """Evidence by id."""
        return self._kind("evidence", Evidence)

    @cached_property
    def models(self) -> Mapping[str, Model]:
        """Models by id."""
        return self._kind("models", Model)

    @cached_property
    def accelerators(self) -> Mapping[str, Accelerator]:
        """Accelerators by id."""
        return self._kind("accelerators", Accelerator)

    @cached_property
    def systems(self) -> Mapping[str, System]:
        """Systems by id."""
        return self._kind("systems", System)

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """Rules by id, in id order."""
        return self._kind("rules", Rule)

    @cached_property
    def facts(self) -> Mapping[str, Fact]:
        """Facts by the name that conditions use."""
        return {fact.name: fact for fact in self._kind("facts", Fact).values()}

    @cached_property
    def calibrations(self) -> Mapping[str, Calibration]:
        """Calibrations by id."""
        return self._kind("calibration", Calibration)

    @cached_property
    def engines(self) -> Mapping[str, Engine]:
        """Memory profiles of serving engines by id."""
        return self._kind("engines", Engine)

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """Sources by id."""
        return self._kind("sources", Source)

    def get(self, entry_id: str) -> Entry:
        """The entry of an id. Raises UnknownIdError that names the nearest ids."""
        entry = self.entries.get(entry_id)
        if entry is None:
            raise UnknownIdError(
                f"no entry {shown(entry_id)}; nearest: {', '.join(self.nearest(entry_id)) or 'none'}"
            )
        return entry

    @cached_property
    def names(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Kind folder -> folded id, slug, title or alias -> ids that carry it."""
        table: dict[str, dict[str, list[str]]] = {kind: {} for kind in SCHEMA_NAMES}
        for entry in self.entries.values():
            own = table[entry.kind]
            for name in (entry.slug, entry.id, entry.title, *entry.aliases, *self._extra_names(entry)):
                ids = own.setdefault(fold(name), [])
                if entry.id not in ids:
                    ids.append(entry.id)
        return {kind: {name: tuple(ids) for name, ids in own.items()} for kind, own in table.items()}

    @staticmethod
    def _extra_names(entry: Entry) -> tuple[str, ...]:
        if isinstance(entry, Model):
            return (entry.hf_id, *(checkpoint.hf_id for checkpoint in entry.checkpoints if checkpoint.hf_id))
        return (entry.name,) if isinstance(entry, Fact) else ()

    def find(self, kind: str, name: str) -> Entry:
        """The one entry of a kind that is called `name` (id, slug, title or alias, any case and punctuation).

        Raises UnknownIdError with the nearest names, or with the choices when several are called so.
        """
        ids = self.names[kind].get(fold(name), ())
        if len(ids) == 1:
            return self.entries[ids[0]]
        what = SCHEMA_NAMES[kind]
        if ids:
            choices = ", ".join(i.partition("/")[2] for i in ids)
            raise UnknownIdError(f"{what} {shown(name)} is ambiguous; one of: {choices}")
        near = ", ".join(i.partition("/")[2] for i in self.nearest(name, kind=kind))
        raise UnknownIdError(f"no {what} {shown(name)}; nearest: {near or 'none'}")

    def nearest(self, name: str, *, kind: str = "", limit: int = 5) -> tuple[str, ...]:
        """Ids whose names are closest to `name`, best first."""
        from rapidfuzz import fuzz, process

        candidates: dict[str, list[str]] = {}
        for own_kind, table in self.names.items():
            if kind in ("", own_kind):
                for key, ids in table.items():
                    candidates.setdefault(key, []).extend(ids)
        hits = process.extract(
            fold(name)[:200], list(candidates), scorer=fuzz.WRatio, limit=limit * 4, score_cutoff=45
        )
        ranked: dict[str, None] = {}
        for key, _score, _index in hits:
            for entry_id in candidates[key]:
                ranked.setdefault(entry_id, None)
        return tuple(ranked)[:limit]

    @cached_property
    def graph(self) -> nx.MultiDiGraph[str]:
        """All entries as nodes and their links as edges with a `relation`."""
        from advisor.knowledge.graph import build_graph

        return build_graph(self)
