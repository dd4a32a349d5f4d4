"""Comparable pairs: two results of one round, benchmark, scenario and metric, on silicon of one generation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from advisor.evidence.confounders import confounders, software_key
from advisor.evidence.figures import NODE_SIZE, Figure, figures_by_run, round_key, strictest, unqualified
from advisor.evidence.noise import noise_of
from advisor.knowledge import KnowledgeBase
from advisor.records import Pair, PairSide

PairKind = Literal["node-rack", "slice-rack", "node-slice", "node-nodes", "rack-racks"]
KINDS: tuple[PairKind, ...] = get_args(PairKind)
"""Kinds of pairs, in the order in which they are listed."""


def find_pairs(
    kb: KnowledgeBase,
    *,
    model: str = "",
    benchmark: str = "",
    scenario: str = "",
    round: str = "",  # noqa: A002 - the field's name
    accelerator: str = "",
    submitter: str = "",
    kind: str = "",
    grade: str = "",
    include_preview: bool = False,
) -> tuple[Pair, ...]:
    """Comparable pairs, narrowed by whatever is given; grade `B` means B or better.

    model and accelerator are ids; accelerator and submitter match either side; benchmark may leave out its accuracy
    variant, and `-99` asks for no more than any run kept. Order: latest round first, then benchmark, scenario, kind, grade and submitters.
    """
    wanted = unqualified(benchmark)
    exact = benchmark if benchmark.endswith("-99.9") else ""
    chosen = []
    for pair in _ordered_pairs(kb, model):
        sides = (pair.small, pair.large)
        if (
            (not model or pair.model == model)
            and (not wanted or unqualified(pair.benchmark) == wanted)
            and (not exact or pair.benchmark == exact)
            and (not scenario or pair.scenario == scenario)
            and (not round or pair.round == round)
            and (not accelerator or accelerator in (side.accelerator for side in sides))
            and (not submitter or submitter.casefold() in (side.submitter.casefold() for side in sides))
            and (not kind or pair.kind == kind)
            and (not grade or pair.grade <= grade)
            and (include_preview or all(side.availability == "available" for side in sides))
        ):
            chosen.append(pair)
    return tuple(chosen)


def _ordered_pairs(kb: KnowledgeBase, model: str) -> tuple[Pair, ...]:
    """All pairs of a model (of every model when it is empty), remembered: an answer needs those of one model only."""
    key = ("pairs", model)
    if key not in kb.memo:
        kb.memo[key] = tuple(sorted(_pairs(kb, model), key=_order))
    pairs: tuple[Pair, ...] = kb.memo[key]
    return pairs


def _order(pair: Pair) -> tuple[object, ...]:
    newest_first = tuple(-part for part in round_key(pair.round))
    return (newest_first, pair.benchmark, pair.scenario, KINDS.index(pair.kind), pair.grade, pair.small.submitter,
            pair.large.submitter, pair.small.evidence, pair.large.evidence)  # fmt: skip


def _pairs(kb: KnowledgeBase, model: str) -> Iterator[Pair]:
    for group in figures_by_run(kb).values():
        if model and group[0].result.model != model:
            continue
        systems = _systems(group)
        for small in systems.values():
            for large in systems.values():
                kind = pair_kind(small[0], large[0])
                if kind is not None and small[0].result.metric == large[0].result.metric:
                    yield make_pair(kb, kind, *_same_variant(small, large))


def _systems(group: tuple[Figure, ...]) -> dict[str, list[Figure]]:
    systems: dict[str, list[Figure]] = {}
    for figure in group:
        systems.setdefault(figure.entry.id, []).append(figure)
    return systems


def _same_variant(small: list[Figure], large: list[Figure]) -> tuple[Figure, Figure]:
    """The two runs that met the strictest accuracy target which both sides met; else each side's strictest."""
    if len(small) == len(large) == 1:
        return small[0], large[0]
    shared = {v for f in small for v in f.result.accuracy_variants} & {
        v for f in large for v in f.result.accuracy_variants
    }
    if shared:
        best = max(shared)
        return next(f for f in small if best in f.result.accuracy_variants), next(
            f for f in large if best in f.result.accuracy_variants
        )
    return strictest(small)[0], strictest(large)[0]


def pair_kind(small: Figure, large: Figure) -> PairKind | None:
    """What comparing the two would tell, or None when they are not comparable."""
    same_part = small.entry.accelerator == large.entry.accelerator
    whole_node = small.unit == "node" and small.accelerators >= NODE_SIZE
    if whole_node and large.unit in ("rack", "multi-rack") and not same_part and small.family == large.family:
        return "node-rack"
    if (
        whole_node
        and large.unit == "slice"
        and large.in_rack
        and not same_part
        and small.family == large.family
    ):
        return "node-slice"
    if not same_part or small.accelerators >= large.accelerators:
        return None
    if small.unit == "slice" and large.unit in ("rack", "multi-rack"):
        return "slice-rack"
    if small.unit == "node" and large.unit == "multi-node":
        return "node-nodes"
    if small.unit == "rack" and large.unit == "multi-rack":
        return "rack-racks"
    return None


def make_pair(kb: KnowledgeBase, kind: PairKind, small: Figure, large: Figure) -> Pair:
    """The pair of two figures, with grade, noise and confounders."""
    ratio = large.per_accelerator / small.per_accelerator
    spread = noise_of(kb, small, large).spread or 1.0
    same_submitter = small.submitter == large.submitter
    same_software = software_key(small.entry.software) == software_key(large.entry.software)
    return Pair(
        kind=kind,
        round=small.entry.round,
        benchmark=_shared_name(small, large),
        model=small.result.model,
        scenario=small.result.scenario,
        metric=small.result.metric,
        small=_side(small),
        large=_side(large),
        ratio=ratio,
        grade="A" if same_submitter and same_software else "B" if same_submitter else "C",
        tie=1 / spread <= ratio <= spread,
        noise_low=1 / spread,
        noise_high=spread,
        confounders=confounders(small, large),
    )


def _shared_name(small: Figure, large: Figure) -> str:
    shared = set(small.result.accuracy_variants) & set(large.result.accuracy_variants)
    return f"{small.result.benchmark}-{max(shared)}" if shared else small.result.benchmark


def _side(figure: Figure) -> PairSide:
    entry, latency = figure.entry, figure.result.latency
    return PairSide(
        evidence=entry.id,
        record=figure.result.record,
        submitter=entry.submitter,
        platform=entry.platform,
        accelerator=entry.accelerator or "",
        accelerators=figure.accelerators,
        unit=figure.unit,
        value=figure.result.value,
        per_accelerator=figure.per_accelerator,
        software=entry.software,
        precision=figure.result.precision,
        availability=entry.availability,
        ttft_p99_ms=latency.ttft_p99_ms if latency else None,
        tpot_p99_ms=latency.tpot_p99_ms if latency else None,
        ttft_limit_ms=latency.ttft_limit_ms if latency else None,
        tpot_limit_ms=latency.tpot_limit_ms if latency else None,
        e2e_p99_ms=latency.e2e_p99_ms if latency else None,
        e2e_limit_ms=latency.e2e_limit_ms if latency else None,
    )
