"""Links between entries as one networkx graph, and neighbourhoods in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from advisor.records import Condition, Entry, Fact, Gotcha, Rule

if TYPE_CHECKING:
    import networkx as nx

    from advisor.knowledge.base import KnowledgeBase

_LINK_FIELDS = {
    "broader", "related", "prerequisites", "concepts", "sources", "source", "because", "model", "accelerator",
    "system", "evidence",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Link:
    """One reference: from an entry, by a relation (the field), to an id; `where` is the path inside the entry."""

    origin: str
    relation: str
    target: str
    where: tuple[str | int, ...]


def links_of(entry: Entry) -> Iterator[Link]:
    """Every reference an entry makes, existing or not."""
    for where, relation, target in _walk(entry, ()):
        if target:
            yield Link(origin=entry.id, relation=relation, target=target, where=where)
    if isinstance(entry, Gotcha):
        for group in ("claims", "corrections"):
            for index, claim in enumerate(getattr(entry, group)):
                for name, reference in claim.inputs.items():
                    yield Link(origin=entry.id, relation="claims", target=reference.partition("#")[0],
                               where=(group, index, "inputs", name))  # fmt: skip


@lru_cache(maxsize=128)
def _field_names(record: Any) -> tuple[str, ...]:
    return tuple(spec.name for spec in fields(record))


def _is_part(value: object) -> bool:
    """Whether a value is a record inside a record; conditions hold no ids and are passed over."""
    return hasattr(value, "__dataclass_fields__") and not isinstance(value, Condition)


def _walk(value: Any, where: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    record: Any = type(value)
    for name in _field_names(record):
        item = getattr(value, name)
        if isinstance(item, str):
            if name in _LINK_FIELDS:
                yield (*where, name), name, item
        elif isinstance(item, tuple):
            for index, part in enumerate(item):
                if isinstance(part, str):
                    if name not in _LINK_FIELDS:
                        break
                    yield (*where, name, index), name, part
                elif _is_part(part):
                    yield from _walk(part, (*where, name, index))
        elif isinstance(item, dict):
            for key, part in item.items():
                if _is_part(part):
                    yield from _walk(part, (*where, name, key))
        elif item is not None and _is_part(item):
            yield from _walk(item, (*where, name))


def condition_facts(entry: Entry) -> tuple[str, ...]:
    """Names of the facts that an entry's condition reads, in order of appearance."""
    condition = (
        entry.when if isinstance(entry, Rule) else entry.applies_when if isinstance(entry, Gotcha) else None
    )
    return condition.facts() if condition else ()


def build_graph(kb: KnowledgeBase) -> nx.MultiDiGraph[str]:
    """The graph of all entries; node attributes kind and title, edge attribute relation. Dangling links are left out."""
    import networkx as nx

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for entry in kb.entries.values():
        graph.add_node(entry.id, kind=entry.kind, title=entry.title)
    fact_ids = {fact.name: fact.id for fact in kb.facts.values() if isinstance(fact, Fact)}
    for entry in kb.entries.values():
        for link in links_of(entry):
            if link.target in kb.entries and link.target != entry.id:
                graph.add_edge(entry.id, link.target, relation=link.relation)
        for name in condition_facts(entry):
            if name in fact_ids:
                graph.add_edge(entry.id, fact_ids[name], relation="reads")
    return graph
