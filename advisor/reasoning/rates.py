"""The rate of one system under the asked latency, from the best ground there is: audited, calibrated, bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from advisor.evidence.rates import closest_rate
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import number, text
from advisor.records import Accelerator, Checkpoint, Estimate, Facts, Layout, Model, Scenario, System
from advisor.sizing.performance import audited_rate_model, operating_point

_SCENARIOS: tuple[Scenario, ...] = ("offline", "server", "interactive")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Latency limits in ms that audited runs of one model and scenario were held to."""

    ttft_ms: float
    tpot_ms: float


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Rate per accelerator and latency at that operating point. estimate is None when nothing meets the limits.

    meets_tpot and meets_ttft: whether some operating point stays within the asked limits; None when no limit was asked
    or nothing can tell. group_width: accelerators of the model-parallel group that an audited run used, 0 if unknown.
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

    def with_latency(self, other: Rate) -> Rate:
        """The same rate with the latency of another estimate of the same layout."""
        return replace(
            self,
            ttft_ms=other.ttft_ms,
            tpot_ms=other.tpot_ms,
            batch_per_replica=other.batch_per_replica,
        )


def audited_limits(kb: KnowledgeBase) -> Mapping[tuple[str, Scenario], Limits]:
    """(model id, scenario) -> the tightest limits that the evidence in this knowledge base was measured under."""
    if "audited_limits" not in kb.memo:
        found: dict[tuple[str, Scenario], Limits] = {}
        for entry in kb.evidence.values():
            for result in entry.results:
                latency = result.latency
                if latency is None or latency.tpot_limit_ms is None or latency.ttft_limit_ms is None:
                    continue
                key = (result.model, result.scenario)
                known = found.get(key)
                if known is None or latency.tpot_limit_ms < known.tpot_ms:
                    found[key] = Limits(ttft_ms=latency.ttft_limit_ms, tpot_ms=latency.tpot_limit_ms)
        kb.memo["audited_limits"] = found
    limits: Mapping[tuple[str, Scenario], Limits] = kb.memo["audited_limits"]
    return limits


def _lookup(
    kb: KnowledgeBase, model: Model, precision: str, scenario: Scenario, system: System
) -> Estimate | None:
    key = ("rate", model.id, precision, scenario, system.id)
    if key not in kb.memo:
        kb.memo[key] = closest_rate(
            kb, model=model.id, precision=precision, scenario=scenario, accelerator=system.accelerator,
            unit=system.kind_of_unit, accelerators=system.accelerators,
        )  # fmt: skip
    found: Estimate | None = kb.memo[key]
    return found


def audited_rate(
    kb: KnowledgeBase, facts: Facts, model: Model, checkpoint: Checkpoint, system: System
) -> Rate | None:
    """The audited rate that holds at the asked limits: of the scenario, or between two scenarios' limits.

    None where there is no such evidence: another precision, lengths of the user's own, a limit tighter than any audited.
    """
    if _lengths_said(facts):
        return None
    precision = checkpoint.precision
    workload: Scenario = next(s for s in _SCENARIOS if s == text(facts, "workload"))
    asked = number(facts, "tpot_ms") if _said(facts, "tpot_ms") else None
    if asked is None or workload == "offline":
        found = _lookup(kb, model, precision, workload, system)
        if found is None:
            return None
        step = f"audited {workload} rate" + (f": {found.note}" if found.note else "")
        return _met(kb, found, model, workload, step)
    limits = audited_limits(kb)
    by_limit = sorted(
        (limits[model.id, s].tpot_ms, s) for s in _SCENARIOS[1:] if (model.id, s) in limits
    )  # tightest first
    rates = [
        (limit, s, rate)
        for limit, s in by_limit
        if (rate := _lookup(kb, model, precision, s, system)) is not None
    ]
    held = [row for row in rates if row[0] <= asked * 1.0001]
    if not held:
        return None
    limit, scenario, rate = held[-1]
    looser = [row for row in rates if row[0] > asked]
    if not looser or math.isclose(limit, asked, rel_tol=1e-3):
        return _met(
            kb,
            rate,
            model,
            scenario,
            f"audited {scenario} rate, measured under a limit of {limit:g} ms a token",
        )
    upper_limit, upper_scenario, upper = looser[0]
    share = math.log(asked / limit) / math.log(upper_limit / limit)

    def between(a: float, b: float) -> float:
        return math.exp(math.log(a) + share * (math.log(b) - math.log(a)))

    mixed = Estimate(
        value=between(rate.value, upper.value), low=min(rate.low, between(rate.low, upper.low)),
        high=max(upper.high, between(rate.high, upper.high)), unit=rate.unit, basis="calibrated",
        evidence=(*rate.evidence, *upper.evidence),
        note=f"between the audited {scenario} rate at {limit:g} ms and {upper_scenario} rate at {upper_limit:g} ms a token",
    )  # fmt: skip
    return _met(kb, mixed, model, scenario, f"rate {mixed.note}, interpolated in logarithms at {asked:g} ms")


def _met(kb: KnowledgeBase, estimate: Estimate, model: Model, scenario: Scenario, step: str) -> Rate:
    """An audited rate; its limits are met, since the run was held to them."""
    widths = [
        result.group_width or 0
        for entry_id in estimate.evidence
        for result in kb.evidence[entry_id].results
        if result.model == model.id and result.scenario == scenario
    ]
    return Rate(
        estimate=estimate, meets_tpot=True, meets_ttft=True, group_width=max(widths, default=0), steps=(step,)
    )


def calibrated_rate(
    kb: KnowledgeBase, facts: Facts, model: Model, checkpoint: Checkpoint, system: System, accelerator: Accelerator,
    layout: Layout, max_sequences: int,
) -> Rate:  # fmt: skip
    """The rate of `layout` by the performance model, at the largest batch within the asked limits.

    max_sequences: what the KV cache of one replica holds at the asked context.
    """
    offline = text(facts, "workload") == "offline"
    lengths = (number(facts, "input_tokens") or 1024, number(facts, "output_tokens") or 1024)
    ttft, tpot = (None if offline else number(facts, name) for name in ("ttft_ms", "tpot_ms"))
    point = operating_point(
        kb, model, checkpoint, system, accelerator, layout, ttft_ms=ttft, tpot_ms=tpot, input_tokens=int(lengths[0]),
        output_tokens=int(lengths[1]), max_batch=max(1, max_sequences),
    )  # fmt: skip
    scenario: Scenario = next(s for s in _SCENARIOS if s == text(facts, "workload"))
    fitted = None
    if not _lengths_said(facts) and not _said(facts, "tpot_ms"):
        fitted = audited_rate_model(
            kb,
            model=model.id,
            precision=checkpoint.precision,
            scenario=scenario,
            accelerator=system.accelerator,
            unit=system.kind_of_unit,
        )
    if point is None:
        return Rate(
            estimate=None,
            meets_tpot=None if tpot is None else False,
            meets_ttft=None if ttft is None else False,
        )
    estimate = fitted or point.prediction.throughput_per_accelerator
    return Rate(
        estimate=estimate,
        ttft_ms=point.prediction.ttft_ms,
        tpot_ms=point.prediction.tpot_ms,
        batch_per_replica=point.batch_per_replica,
        meets_tpot=None if tpot is None else True,
        meets_ttft=None if ttft is None else True,
        steps=(f"{estimate.basis} rate: {estimate.note}" if estimate.note else f"{estimate.basis} rate",),
    )


def _said(facts: Facts, name: str) -> bool:
    return name in facts and facts[name].origin == "said"


def _lengths_said(facts: Facts) -> bool:
    return _said(facts, "input_tokens") or _said(facts, "output_tokens")
