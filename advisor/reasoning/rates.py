"""The rate of one system under the asked latency and lengths by the performance model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import number, text
from advisor.records import Accelerator, Checkpoint, Estimate, Facts, Layout, Memory, Model, System
from advisor.sizing.layouts import layouts_for
from advisor.sizing.memory import fit
from advisor.sizing.performance import OperatingPoint, Prefill, operating_point

_SPLITS = ((1, 7), (1, 3), (1, 2), (1, 1), (2, 1), (3, 1))
"""Prefill to decode workers that are tried when pools are separate: 11 % to 78 % prefill in published runs."""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What a rate holds for. Lengths in tokens, limits in ms (None: no limit)."""

    input_tokens: float
    output_tokens: float
    ttft_ms: float | None
    tpot_ms: float | None


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Rate per accelerator and latency at that operating point. estimate is None when nothing meets the limits.

    meets_tpot and meets_ttft: whether some operating point stays within the asked limits; None when no limit was asked
    or nothing can tell. group_width: accelerators of the model-parallel group that audited runs used, 0 if unknown.
    steps: the arithmetic in sentences.
    """

    estimate: Estimate | None
    ttft_ms: Estimate | None = None
    tpot_ms: Estimate | None = None
    batch_per_replica: float | None = None
    meets_tpot: bool | None = None
    meets_ttft: bool | None = None
    group_width: int = 0
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is being rated: a model in a precision on a system, with room for one sequence of context_tokens at least."""

    model: Model
    checkpoint: Checkpoint
    system: System
    accelerator: Accelerator
    kv_precision: str = ""
    engine: str = ""
    disaggregated: bool = False
    scale_out_gb_per_s: float | None = None
    context_tokens: int = 0

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What tells it from other subjects."""
        return (
            self.system.id, self.model.id, self.checkpoint.precision, self.kv_precision, self.engine, self.disaggregated,
            self.scale_out_gb_per_s, self.context_tokens,
        )  # fmt: skip


def placements(kb: KnowledgeBase, subject: Subject) -> tuple[tuple[Layout, Memory], ...]:
    """Every layout of the system with its memory under one sequence of the context."""
    return kb.recent.of(
        ("placements", *subject.key),
        lambda: tuple(
            (layout, _fit(kb, subject, layout, subject.context_tokens, sequences=1))
            for layout in layouts_for(subject.model, subject.system)
        ),
    )


def fitting(kb: KnowledgeBase, subject: Subject) -> tuple[tuple[Layout, Memory], ...]:
    """The layouts that hold at least one sequence of the context."""
    return tuple(
        (layout, memory)
        for layout, memory in placements(kb, subject)
        if memory.headroom_bytes >= 0 and memory.max_sequences >= 1
    )


def _fit(
    kb: KnowledgeBase, subject: Subject, layout: Layout, context_tokens: float, *, sequences: int
) -> Memory:
    return fit(
        kb, subject.model, subject.checkpoint, subject.accelerator, layout, kv_precision=subject.kv_precision,
        context_tokens=context_tokens, sequences=sequences, engine=subject.engine or "vllm",
    )  # fmt: skip


def conditions_of(facts: Facts) -> Conditions:
    """The asked lengths and limits; offline work has no limits."""
    offline = text(facts, "workload") == "offline"
    return Conditions(
        input_tokens=number(facts, "input_tokens") or 1024.0,
        output_tokens=number(facts, "output_tokens") or 1024.0,
        ttft_ms=None if offline else number(facts, "ttft_ms"),
        tpot_ms=None if offline else number(facts, "tpot_ms"),
    )


def best_modelled(kb: KnowledgeBase, subject: Subject, conditions: Conditions) -> Rate | None:
    """The best rate over the fitting layouts by the performance model; None when no layout fits."""
    return kb.recent.of(
        ("best modelled", *subject.key, conditions), lambda: _best_modelled(kb, subject, conditions)
    )


def _best_modelled(kb: KnowledgeBase, subject: Subject, conditions: Conditions) -> Rate | None:
    rates = [
        modelled_rate(kb, subject, layout, memory, conditions) for layout, memory in fitting(kb, subject)
    ]
    known = [rate for rate in rates if rate.estimate is not None]
    if not known:
        return missed(rates) if rates else None
    return max(known, key=lambda rate: rate.estimate.value if rate.estimate else 0.0)


def missed(rates: Sequence[Rate]) -> Rate:
    """Rates without a value, as one: the limit that no layout meets, or where some layout meets each, that to the first token."""
    tpot = None if rates[0].meets_tpot is None else any(rate.meets_tpot for rate in rates)
    ttft = None if rates[0].meets_ttft is None else any(rate.meets_ttft for rate in rates)
    return Rate(estimate=None, meets_tpot=tpot, meets_ttft=False if tpot and ttft else ttft)


def modelled_rate(
    kb: KnowledgeBase, subject: Subject, layout: Layout, memory: Memory, conditions: Conditions
) -> Rate:
    """The rate of a layout by the performance model at the largest batch within the limits."""
    key = (
        "modelled", subject.system.id, subject.model.id, subject.checkpoint.precision, layout, memory.max_sequences,
        conditions, subject.kv_precision, subject.engine, subject.disaggregated, subject.scale_out_gb_per_s,
    )  # fmt: skip
    return kb.recent.of(key, lambda: _modelled(kb, subject, layout, memory, conditions))


def _modelled(
    kb: KnowledgeBase, subject: Subject, layout: Layout, memory: Memory, conditions: Conditions
) -> Rate:
    pools: Sequence[Prefill | None] = (None,)
    if subject.disaggregated:
        pools = [Prefill(layout=layout, workers=a, decode_workers=b) for a, b in _SPLITS]

    places = _places(kb, subject, layout, memory, conditions)

    def points(ttft_ms: float | None, tpot_ms: float | None) -> list[tuple[OperatingPoint, Prefill | None]]:
        tried = (
            (operating_point(
                kb, subject.model, subject.checkpoint, subject.system, subject.accelerator, layout, ttft_ms=ttft_ms, tpot_ms=tpot_ms,
                input_tokens=conditions.input_tokens, output_tokens=conditions.output_tokens,
                max_batch=places, kv_precision=subject.kv_precision, engine=subject.engine,
                scale_out_gb_per_s=subject.scale_out_gb_per_s, prefill=pool,
            ), pool)
            for pool in pools
        )  # fmt: skip
        return [(point, pool) for point, pool in tried if point is not None]

    found = points(conditions.ttft_ms, conditions.tpot_ms)
    if not found:
        return Rate(
            estimate=None,
            meets_tpot=None if conditions.tpot_ms is None else bool(points(None, conditions.tpot_ms)),
            meets_ttft=None if conditions.ttft_ms is None else bool(points(conditions.ttft_ms, None)),
        )
    point, pool = max(found, key=lambda row: row[0].prediction.throughput_per_accelerator.value)
    estimate = point.prediction.throughput_per_accelerator
    step = f"{estimate.basis} rate" + (f": {estimate.note}" if estimate.note else "")
    if pool is not None:
        step += f"; {pool.workers:g} prefill to {pool.decode_workers:g} decode workers"
    return Rate(
        estimate=estimate,
        ttft_ms=point.prediction.ttft_ms,
        tpot_ms=point.prediction.tpot_ms,
        batch_per_replica=point.batch_per_replica,
        meets_tpot=None if conditions.tpot_ms is None else True,
        meets_ttft=None if conditions.ttft_ms is None else True,
        steps=(step,),
    )


def _places(
    kb: KnowledgeBase, subject: Subject, layout: Layout, memory: Memory, conditions: Conditions
) -> int:
    """Sequences of the mean length that a replica holds at once.

    Engines take cache as sequences grow, so the longest context says what one sequence may need, not what each takes.
    """
    mean = _fit(kb, subject, layout, conditions.input_tokens + conditions.output_tokens, sequences=0)
    return max(1, memory.max_sequences, mean.max_sequences)
