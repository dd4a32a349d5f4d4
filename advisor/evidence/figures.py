"""Every result as a figure per accelerator, indexed once per knowledge base."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from advisor.knowledge import KnowledgeBase, fold
from advisor.records import Evidence, Result

UNIT_NAMES = {"tokens_per_s": "tokens/s", "samples_per_s": "samples/s", "queries_per_s": "queries/s"}
"""Metric -> how its unit is written."""

NODE_SIZE = 8
"""Accelerators of the node that a rack is compared with."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One result with what comparing it needs. per_accelerator: value / accelerators, in the result's metric.

    family: silicon generation of the accelerator entry; in_rack: whether that accelerator is sold in racks, so that a
    slice is part of one; submitter: folded name, since rounds spell names differently.
    """

    entry: Evidence
    result: Result
    per_accelerator: float
    family: str
    in_rack: bool
    submitter: str

    @property
    def benchmark(self) -> str:
        """Name with its strictest accuracy variant, as the rounds write it: `llama2-70b-99.9`."""
        variants = self.result.accuracy_variants
        return f"{self.result.benchmark}-{variants[-1]}" if variants else self.result.benchmark

    @property
    def accelerators(self) -> int:
        """Accelerators of the system."""
        return self.entry.scale.accelerators

    @property
    def unit(self) -> str:
        """node, slice, rack, multi-node or multi-rack."""
        return self.entry.scale.unit


def figures(kb: KnowledgeBase) -> tuple[Figure, ...]:
    """All results that have a figure per accelerator, closed division, in id order.

    Left out: mixed silicon and CPU-only systems (nothing to divide by), hardware without an accelerator entry, and the
    open division (not comparable). Preview and rdi systems are in; whoever lists figures decides on them.
    """
    if "figures" not in kb.memo:
        kb.memo["figures"] = tuple(_figures(kb))
    found: tuple[Figure, ...] = kb.memo["figures"]
    return found


def _figures(kb: KnowledgeBase) -> Iterator[Figure]:
    sold_in_racks = {system.accelerator for system in kb.systems.values() if system.kind_of_unit == "rack"}
    for entry in kb.evidence.values():
        accelerator = kb.accelerators.get(entry.accelerator or "")
        scale = entry.scale
        if (
            accelerator is None
            or scale.mixed_silicon
            or scale.accelerators <= 0
            or entry.division != "closed"
        ):
            continue
        for result in entry.results:
            yield Figure(
                entry=entry,
                result=result,
                per_accelerator=result.value / scale.accelerators,
                family=accelerator.family,
                in_rack=accelerator.id in sold_in_racks,
                submitter=fold(entry.submitter),
            )


def figures_by_run(kb: KnowledgeBase) -> Mapping[tuple[str, str, str], tuple[Figure, ...]]:
    """(round, benchmark without variant, scenario) -> its figures."""
    return _grouped(kb, "figures_by_run", lambda f: (f.entry.round, f.result.benchmark, f.result.scenario))


def figures_by_model(kb: KnowledgeBase) -> Mapping[tuple[str, str, str], tuple[Figure, ...]]:
    """(model id, scenario, accelerator id) -> its figures."""
    return _grouped(
        kb, "figures_by_model", lambda f: (f.result.model, f.result.scenario, f.entry.accelerator)
    )


def _grouped(kb: KnowledgeBase, name: str, key: Any) -> Mapping[tuple[str, str, str], tuple[Figure, ...]]:
    if name not in kb.memo:
        groups: dict[tuple[str, str, str], list[Figure]] = defaultdict(list)
        for figure in figures(kb):
            groups[key(figure)].append(figure)
        kb.memo[name] = {own: tuple(members) for own, members in groups.items()}
    found: Mapping[tuple[str, str, str], tuple[Figure, ...]] = kb.memo[name]
    return found


def strictest(candidates: tuple[Figure, ...] | list[Figure]) -> list[Figure]:
    """One figure per system: of several accuracy variants the strictest, so that no system counts twice."""
    best: dict[str, Figure] = {}
    for figure in candidates:
        known = best.get(figure.entry.id)
        if known is None or figure.result.accuracy_variants[-1:] > known.result.accuracy_variants[-1:]:
            best[figure.entry.id] = figure
    return list(best.values())


def unqualified(benchmark: str) -> str:
    """A benchmark's name without its accuracy variant."""
    return benchmark.removesuffix("-99.9").removesuffix("-99")


def altered(entry: Evidence) -> str:
    """Words in the accelerator's stated name that make it other than the stock part (`Power Cap 1000 W`), or nothing."""
    stated = entry.accelerator_as_stated
    folded = stated.casefold()
    return stated if "cap" in folded or "virtual" in folded else ""


def round_key(round_: str) -> tuple[int, ...]:
    """Rounds in the order of time: v9.1 before v10.0."""
    return tuple(int(part) for part in round_.lstrip("v").split(".") if part.isdigit())
