"""The rate of one system under the asked latency and lengths, from the best ground there is: audited, calibrated, bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from advisor.evidence.held import audited_limits, audited_output_tokens, group_width
from advisor.evidence.rates import closest_rate
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import number, text
from advisor.records import Accelerator, Checkpoint, Estimate, Facts, Layout, Memory, Model, Scenario, System
from advisor.sizing.benchmark_load import prompt_tokens
from advisor.sizing.performance import Prefill, audited_rate_model, operating_point

_LATENCY_SCENARIOS: tuple[Scenario, ...] = ("server", "interactive")
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
    """What is being rated: a model in a precision on a system, and the layouts that fit with their memory."""

    model: Model
    checkpoint: Checkpoint
    system: System
    accelerator: Accelerator
    fitting: Sequence[tuple[Layout, Memory]]
    kv_precision: str = ""
    engine: str = ""
    disaggregated: bool = False
    scale_out_gb_per_s: float | None = None
    context_tokens: int = 0

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What tells it from other subjects; the fitting layouts follow from it."""
        return (
            self.system.id, self.model.id, self.checkpoint.precision, self.kv_precision, self.engine, self.disaggregated,
            self.scale_out_gb_per_s, self.context_tokens,
        )  # fmt: skip


class _Held(NamedTuple):
    """The limits that an audited run was held to, as far as they are known."""

    tpot_ms: float | None = None
    ttft_ms: float | None = None


def conditions_of(facts: Facts) -> Conditions:
    """The asked lengths and limits; offline work has no limits."""
    offline = text(facts, "workload") == "offline"
    return Conditions(
        input_tokens=number(facts, "input_tokens") or 1024.0,
        output_tokens=number(facts, "output_tokens") or 1024.0,
        ttft_ms=None if offline else number(facts, "ttft_ms"),
        tpot_ms=None if offline else number(facts, "tpot_ms"),
    )


def grounded_rate(kb: KnowledgeBase, facts: Facts, subject: Subject) -> Rate | None:
    """The audited rate, or the one fitted to audited rates, moved to the asked limits and lengths where they differ.

    None where no evidence is near, and where it counts samples while the load is in tokens: none become the other.
    """
    asked = conditions_of(facts)
    limits_said = _said(facts, "tpot_ms"), _said(facts, "ttft_ms")
    key = ("grounded", *subject.key, asked, *limits_said, text(facts, "workload"), _preview(facts))
    return kb.recent.of(key, lambda: _grounded(kb, facts, subject, asked))


def _grounded(kb: KnowledgeBase, facts: Facts, subject: Subject, asked: Conditions) -> Rate | None:
    anchor = _at_limit(kb, facts, subject) or _fitted(kb, facts, subject)
    if anchor is None:
        return None
    rate, held = anchor
    asked = replace(
        asked,
        tpot_ms=_tighter(facts, "tpot_ms", asked.tpot_ms, held.tpot_ms),
        ttft_ms=_tighter(facts, "ttft_ms", asked.ttft_ms, held.ttft_ms),
    )
    rate = replace(rate, tpot_ms=_limit(held.tpot_ms, rate), ttft_ms=_limit(held.ttft_ms, rate))
    if rate.estimate is None or rate.estimate.unit != "tokens/s":
        return rate
    own = replace(
        asked,
        tpot_ms=held.tpot_ms,
        ttft_ms=held.ttft_ms or asked.ttft_ms,
        input_tokens=float(prompt_tokens(kb, subject.model.id) or asked.input_tokens),
        output_tokens=float(audited_output_tokens(kb, subject.model.id) or asked.output_tokens),
    )
    return rate if asked == own else _moved(kb, subject, rate, own, asked)


def _half_width(estimate: Estimate) -> float:
    """Factor between the middle and an end of an estimate's interval."""
    return math.sqrt(max(estimate.high / max(estimate.low, 1e-9), 1.0))


def _limit(limit_ms: float | None, rate: Rate) -> Estimate | None:
    """The limit that a run was held to, as what is known of its latency."""
    if limit_ms is None or rate.estimate is None:
        return None
    return Estimate(
        value=limit_ms, low=0.0, high=limit_ms, unit="ms", basis=rate.estimate.basis, note="the limit that audited runs were held to"
    )  # fmt: skip


def _tighter(facts: Facts, name: str, asked: float | None, held: float | None) -> float | None:
    """The limit to hold: the audited one, or the stated one where it is tighter. None: no limit."""
    if held is None:
        return asked
    return min(asked, held) if asked and _said(facts, name) else held


def _moved(kb: KnowledgeBase, subject: Subject, rate: Rate, own: Conditions, asked: Conditions) -> Rate:
    """An audited rate times what the model says of the asked conditions over the audited ones."""
    estimate = rate.estimate
    assert estimate is not None
    there, here = best_modelled(kb, subject, asked), best_modelled(kb, subject, own)
    if there is None or there.estimate is None:
        return Rate(
            estimate=None, meets_tpot=False, steps=("no batch on this system meets the limits by the model",)
        )
    if here is None or here.estimate is None or here.estimate.value <= 0:
        return there
    factor = there.estimate.value / here.estimate.value
    moved_by = max(abs(math.log(factor)), abs(math.log((asked.tpot_ms or 1.0) / (own.tpot_ms or 1.0))))
    doubt = _half_width(there.estimate) ** min(1.0, moved_by / math.log(2))
    step = (
        f"audited rate {estimate.value:,.4g} {estimate.unit} × {factor:.3g}, what the model says of {asked.input_tokens:,.0f} in, "
        f"{asked.output_tokens:,.0f} out" + (f", {asked.tpot_ms:g} ms a token" if asked.tpot_ms else "")
        + f" over {own.input_tokens:,.0f} in, {own.output_tokens:,.0f} out" + (f", {own.tpot_ms:g} ms" if own.tpot_ms else "")
    )  # fmt: skip
    moved = replace(
        estimate, value=estimate.value * factor, low=estimate.low * factor / doubt, high=estimate.high * factor * doubt,
        basis="calibrated", note="audited rate moved to the asked lengths and limits by the performance model",
    )  # fmt: skip
    return replace(
        rate,
        estimate=moved,
        ttft_ms=there.ttft_ms,
        tpot_ms=there.tpot_ms,
        batch_per_replica=there.batch_per_replica,
        steps=(*rate.steps, step),
    )


def _at_limit(kb: KnowledgeBase, facts: Facts, subject: Subject) -> tuple[Rate, _Held] | None:
    """The audited rate of the scenario or between two scenarios' limits, and the limits it was held to."""
    workload: Scenario = next(s for s in ("offline", *_LATENCY_SCENARIOS) if s == text(facts, "workload"))
    limits, first = audited_limits(kb), audited_limits(kb, "ttft")
    asked = number(facts, "tpot_ms") if _said(facts, "tpot_ms") else None
    model = subject.model.id
    if workload == "offline" or asked is None:
        found = _lookup(kb, facts, subject, workload)
        if found is None:
            return None
        step = f"audited {workload} rate" + (f": {found.note}" if found.note else "")
        held_to = (
            _Held()
            if workload == "offline"
            else _Held(limits.get((model, workload)), first.get((model, workload)))
        )
        return _met(kb, found, subject, workload, step), held_to
    rows = sorted(
        (limits[model, s], s, rate)
        for s in _LATENCY_SCENARIOS
        if (model, s) in limits and (rate := _lookup(kb, facts, subject, s)) is not None
    )
    if not rows:
        return None
    held = [row for row in rows if row[0] <= asked * 1.0001] or rows[:1]
    limit, scenario, rate = held[-1]
    looser = [row for row in rows if row[0] > asked]
    step = f"audited {scenario} rate, measured under a limit of {limit:g} ms a token"
    if asked <= limit * 1.0001 or not looser:
        return _met(kb, rate, subject, scenario, step), _Held(limit, first.get((model, scenario)))
    mixed = _between(kb, facts, subject, asked, held[-1], looser[0])
    return _met(
        kb, mixed, subject, scenario, f"rate {mixed.note}, at {asked:g} ms by the model's shape"
    ), _Held(asked, first.get((model, scenario)))


def _between(
    kb: KnowledgeBase,
    facts: Facts,
    subject: Subject,
    asked: float,
    lower: tuple[float, Scenario, Estimate],
    upper: tuple[float, Scenario, Estimate],
) -> Estimate:
    """Between two audited rates of one system: each moved by the model's shape, weighted by nearness in the logarithm.

    The model's own interval counts in full half way between them and not at all at either.
    """
    share = math.log(asked / lower[0]) / math.log(upper[0] / lower[0])
    load = replace(
        conditions_of(facts),
        ttft_ms=None,
        input_tokens=float(prompt_tokens(kb, subject.model.id) or 1024),
        output_tokens=float(audited_output_tokens(kb, subject.model.id) or 1024),
    )
    shape = [
        best_modelled(kb, subject, replace(load, tpot_ms=limit)) for limit in (lower[0], asked, upper[0])
    ]
    values = [point.estimate.value for point in shape if point is not None and point.estimate is not None]
    rise, fall = (
        (values[1] / values[0], values[1] / values[2]) if len(values) == 3 and min(values) > 0 else (1.0, 1.0)
    )

    def mix(a: float, b: float) -> float:
        return math.exp((1 - share) * math.log(a * rise) + share * math.log(b * fall))

    a, b = lower[2], upper[2]
    middle = shape[1].estimate if shape[1] is not None else None
    doubt = _half_width(middle) ** (2 * math.sqrt(share * (1 - share))) if middle is not None else 1.0
    return Estimate(
        value=mix(a.value, b.value), low=mix(a.low, b.low) / doubt, high=mix(a.high, b.high) * doubt, unit=a.unit,
        basis="calibrated",
        evidence=(*a.evidence, *b.evidence),
        note=f"between the audited {lower[1]} rate at {lower[0]:g} ms and {upper[1]} rate at {upper[0]:g} ms a token",
    )  # fmt: skip


def _lookup(kb: KnowledgeBase, facts: Facts, subject: Subject, scenario: Scenario) -> Estimate | None:
    preview = _preview(facts)
    key = ("rate", subject.model.id, subject.checkpoint.precision, scenario, subject.system.id, preview)
    if key not in kb.memo:
        kb.memo[key] = closest_rate(
            kb,
            model=subject.model.id,
            precision=subject.checkpoint.precision,
            scenario=scenario,
            accelerator=subject.system.accelerator,
            unit=subject.system.kind_of_unit,
            accelerators=subject.system.accelerators,
            include_preview=preview,
        )
    found: Estimate | None = kb.memo[key]
    return found


def _met(kb: KnowledgeBase, estimate: Estimate, subject: Subject, scenario: str, step: str) -> Rate:
    """An audited rate; its limits are met, since the run was held to them."""
    return Rate(
        estimate=estimate,
        meets_tpot=True,
        meets_ttft=True,
        group_width=group_width(kb, subject.model.id, scenario, subject.system.accelerator),
        steps=(step,),
    )


def best_modelled(kb: KnowledgeBase, subject: Subject, conditions: Conditions) -> Rate | None:
    """The best rate over the fitting layouts by the performance model; None when no layout fits."""
    return kb.recent.of(
        ("best modelled", *subject.key, conditions), lambda: _best_modelled(kb, subject, conditions)
    )


def _best_modelled(kb: KnowledgeBase, subject: Subject, conditions: Conditions) -> Rate | None:
    rates = [modelled_rate(kb, subject, layout, memory, conditions) for layout, memory in subject.fitting]
    known = [rate for rate in rates if rate.estimate is not None]
    if not known:
        return rates[0] if rates else None
    return max(known, key=lambda rate: rate.estimate.value if rate.estimate else 0.0)


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
    points = [
        operating_point(
            kb,
            subject.model,
            subject.checkpoint,
            subject.system,
            subject.accelerator,
            layout,
            ttft_ms=conditions.ttft_ms,
            tpot_ms=conditions.tpot_ms,
            input_tokens=conditions.input_tokens,
            output_tokens=conditions.output_tokens,
            max_batch=max(1, memory.max_sequences),
            kv_precision=subject.kv_precision,
            engine=subject.engine,
            scale_out_gb_per_s=subject.scale_out_gb_per_s,
            prefill=pool,
        )
        for pool in pools
    ]
    found = [(p, pool) for p, pool in zip(points, pools, strict=True) if p is not None]
    if not found:
        return Rate(
            estimate=None,
            meets_tpot=None if conditions.tpot_ms is None else False,
            meets_ttft=None if conditions.ttft_ms is None else False,
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


def _fitted(kb: KnowledgeBase, facts: Facts, subject: Subject) -> tuple[Rate, _Held] | None:
    """The rate of terms fitted to the audited results under a benchmark's own conditions; None where no fit covers it."""
    scenario: Scenario = next(s for s in ("offline", *_LATENCY_SCENARIOS) if s == text(facts, "workload"))
    estimate = audited_rate_model(
        kb,
        model=subject.model.id,
        precision=subject.checkpoint.precision,
        scenario=scenario,
        accelerator=subject.system.accelerator,
        unit=subject.system.kind_of_unit,
    )
    if estimate is None:
        return None
    step = f"{estimate.basis} rate" + (f": {estimate.note}" if estimate.note else "")
    key = (subject.model.id, scenario)
    held = (
        _Held()
        if scenario == "offline"
        else _Held(audited_limits(kb).get(key), audited_limits(kb, "ttft").get(key))
    )
    return Rate(estimate=estimate, meets_tpot=True, meets_ttft=True, steps=(step,)), held


def _preview(facts: Facts) -> bool:
    return "include_preview" in facts and bool(facts["include_preview"].value)


def _said(facts: Facts, name: str) -> bool:
    return name in facts and facts[name].origin == "said"
