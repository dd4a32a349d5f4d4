"""The rate of a system on audited ground: of runs under their own limits and lengths, carried to what is asked.

An anchor is a rate under the limits that its run was held to. A run held to a tighter limit also meets a looser one, so
between two anchors the rate rises from one to the other; the performance model says how much of the rise comes where. It
never falls by allowing more time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from advisor.evidence.held import audited_limits, audited_output_tokens, group_width
from advisor.evidence.rates import closest_rate
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.rates import Conditions, Rate, Subject, best_modelled, conditions_of
from advisor.reasoning.requirement import rated_scenarios, text
from advisor.records import Estimate, Facts, Scenario
from advisor.sizing.benchmark_load import prompt_tokens
from advisor.sizing.performance import audited_rate_model

_SAME = 1.0001
"""Limits within a hundredth of a per cent are one limit: `12.5 tokens/s` and `80 ms` are typed with rounding."""


@dataclass(frozen=True, kw_only=True)
class _Anchor:
    """A rate as runs of one scenario gave it, and the limits they were held to (None: none, or not known)."""

    scenario: Scenario
    estimate: Estimate
    tpot_ms: float | None
    ttft_ms: float | None
    group_width: int
    step: str

    @property
    def name(self) -> str:
        """`the audited server rate at 80 ms`, for notes."""
        kind = "audited" if self.estimate.basis == "audited" else "fitted"
        return f"{kind} {self.scenario} rate at {self.tpot_ms:g} ms"

    def rate(self) -> Rate:
        """The rate as it stands. Its limits are met, since the runs were held to them, and are all that is known of the latency."""
        return Rate(
            estimate=self.estimate, ttft_ms=self._limit(self.ttft_ms), tpot_ms=self._limit(self.tpot_ms), meets_tpot=True,
            meets_ttft=True, group_width=self.group_width, steps=(self.step,),
        )  # fmt: skip

    def _limit(self, limit_ms: float | None) -> Estimate | None:
        if limit_ms is None:
            return None
        return Estimate(
            value=limit_ms, low=0.0, high=limit_ms, unit="ms", basis=self.estimate.basis, note="the limit that audited runs were held to"
        )  # fmt: skip


def grounded_rate(kb: KnowledgeBase, facts: Facts, subject: Subject) -> Rate | None:
    """The audited rate, or the one fitted to audited rates, carried to the asked limits and lengths where they differ.

    None where no evidence is near. A rate in samples is never carried: nothing says how samples grow with lengths.
    """
    asked = conditions_of(facts)
    limits_said = _said(facts, "tpot_ms"), _said(facts, "ttft_ms")
    key = ("grounded", *subject.key, asked, *limits_said, text(facts, "workload"), _preview(facts))
    return kb.recent.of(key, lambda: _grounded(kb, facts, subject, asked))


def _grounded(kb: KnowledgeBase, facts: Facts, subject: Subject, asked: Conditions) -> Rate | None:
    scenarios = rated_scenarios(facts)
    limit = asked.tpot_ms if len(scenarios) > 1 else None
    anchors = _anchors(kb, facts, subject, scenarios)
    ranked = sorted((a for a in anchors if a.tpot_ms is not None), key=lambda a: a.tpot_ms or 0.0)
    if limit is None or len(ranked) < len(anchors):  # what no limit is known of cannot be ranked
        own = next((a for a in anchors if a.scenario == text(facts, "workload")), None)
        return _carried(kb, facts, subject, own, asked, limit) if own else None
    if not ranked:
        return None
    met = [a for a in ranked if (a.tpot_ms or 0.0) <= limit * _SAME]
    if not met:
        return _carried(kb, facts, subject, ranked[0], asked, limit)
    floor = max((_carried(kb, facts, subject, a, asked, None) for a in met), key=_value)
    looser = ranked[len(met) :]
    at_limit = (met[-1].tpot_ms or 0.0) >= limit / _SAME
    if at_limit or not looser:
        return floor
    return _between(kb, facts, subject, asked, (met[-1], floor), looser[0])


def _anchors(
    kb: KnowledgeBase, facts: Facts, subject: Subject, scenarios: Sequence[Scenario]
) -> list[_Anchor]:
    """What each scenario gave: an audited rate, else one fitted to audited rates, never beyond what the audited ones bound.

    A fit errs less than a rate carried from a limit several times as loose: by the median 12 % of results left out, against 14 %
    with single cases off by three to six times (gpt-oss 120B at 15 ms).
    """
    audited = list(_audited(kb, facts, subject, scenarios))
    missing = [scenario for scenario in scenarios if scenario not in {a.scenario for a in audited}]
    fitted = list(_fitted(kb, subject, missing))
    if not audited:
        return fitted
    return audited + [
        _bounded(a, audited) for a in fitted if a.tpot_ms and a.estimate.unit == audited[0].estimate.unit
    ]


def _bounded(fitted: _Anchor, audited: Sequence[_Anchor]) -> _Anchor:
    """A fitted rate between those audited under tighter and under looser limits on the same silicon."""
    estimate, limit = fitted.estimate, fitted.tpot_ms or 0.0
    least = max((a.estimate.value for a in audited if (a.tpot_ms or 0.0) <= limit), default=0.0)
    most = min((a.estimate.value for a in audited if (a.tpot_ms or 0.0) >= limit), default=math.inf)
    factor = min(max(estimate.value, least), most) / estimate.value
    if factor == 1:
        return fitted
    scaled = replace(
        estimate, value=estimate.value * factor, low=estimate.low * factor, high=estimate.high * factor
    )
    return replace(
        fitted, estimate=scaled, step=f"{fitted.step}; held to what was audited under other limits"
    )


def _audited(
    kb: KnowledgeBase, facts: Facts, subject: Subject, scenarios: Sequence[Scenario]
) -> Iterator[_Anchor]:
    """The closest audited rate of each scenario that has one; of several, only those whose limit is known."""
    model = subject.model.id
    for scenario in scenarios:
        estimate = _lookup(kb, subject, scenario, _preview(facts))
        tpot_ms, ttft_ms = _limits(kb, model, scenario)
        if estimate is None or (len(scenarios) > 1 and tpot_ms is None):
            continue
        yield _Anchor(
            scenario=scenario, estimate=estimate, tpot_ms=tpot_ms, ttft_ms=ttft_ms,
            group_width=group_width(kb, model, scenario, subject.system.accelerator),
            step=f"audited {scenario} rate" + (f", measured under a limit of {tpot_ms:g} ms a token" if tpot_ms else "")
            + (f": {estimate.note}" if estimate.note else ""),
        )  # fmt: skip


def _fitted(kb: KnowledgeBase, subject: Subject, scenarios: Sequence[Scenario]) -> Iterator[_Anchor]:
    """The rates of terms fitted to the audited results, where a fit covers the case."""
    for scenario in scenarios:
        estimate = audited_rate_model(
            kb,
            model=subject.model.id,
            precision=subject.checkpoint.precision,
            scenario=scenario,
            accelerator=subject.system.accelerator,
            unit=subject.system.kind_of_unit,
        )
        if estimate is not None:
            tpot_ms, ttft_ms = _limits(kb, subject.model.id, scenario)
            step = f"{estimate.basis} rate" + (f": {estimate.note}" if estimate.note else "")
            yield _Anchor(
                scenario=scenario,
                estimate=estimate,
                tpot_ms=tpot_ms,
                ttft_ms=ttft_ms,
                group_width=0,
                step=step,
            )


def _limits(kb: KnowledgeBase, model_id: str, scenario: Scenario) -> tuple[float | None, float | None]:
    """TPOT and TTFT in ms that runs of a model in a scenario were held to."""
    if scenario == "offline":
        return None, None
    key = (model_id, scenario)
    return audited_limits(kb).get(key), audited_limits(kb, "ttft").get(key)


def _carried(
    kb: KnowledgeBase, facts: Facts, subject: Subject, anchor: _Anchor, asked: Conditions, limit: float | None
) -> Rate:
    """The anchor's rate under the asked lengths, at its own limit per token or a tighter one.

    A looser limit to the first token than the anchor's helps longer prompts, and adds nothing to the audited ones: what it would
    add, nobody measured.
    """
    rate = anchor.rate()
    if anchor.estimate.unit != "tokens/s":
        return rate
    tpot_ms = anchor.tpot_ms if limit is None else min(limit, anchor.tpot_ms or limit)
    if anchor.tpot_ms is None and limit is None:
        tpot_ms = asked.tpot_ms
    first = _first_token(facts, asked.ttft_ms, anchor.ttft_ms)

    def within(ttft_ms: float | None) -> Rate:
        target = replace(asked, tpot_ms=tpot_ms, ttft_ms=ttft_ms)
        own = replace(
            target,
            tpot_ms=anchor.tpot_ms,
            ttft_ms=None if ttft_ms is None else max(ttft_ms, anchor.ttft_ms or ttft_ms),
            input_tokens=float(prompt_tokens(kb, subject.model.id) or target.input_tokens),
            output_tokens=float(audited_output_tokens(kb, subject.model.id) or target.output_tokens),
        )
        return rate if target == own else _moved(kb, subject, rate, own, target)

    if anchor.ttft_ms is not None and (first is None or first > anchor.ttft_ms):
        return max(within(anchor.ttft_ms), within(first), key=_value)
    return within(first)


def _moved(kb: KnowledgeBase, subject: Subject, rate: Rate, own: Conditions, asked: Conditions) -> Rate:
    """A rate times what the model says of the asked conditions over its own; doubt grows with the distance."""
    estimate = rate.estimate
    assert estimate is not None
    there = best_modelled(kb, subject, asked)
    # the run had room for its own lengths, whatever context is asked for now
    audited = replace(subject, context_tokens=round(own.input_tokens + own.output_tokens))
    here = best_modelled(kb, audited, own)
    if there is None or there.estimate is None:
        nothing = there or Rate(estimate=None, meets_tpot=False)
        return replace(nothing, steps=("no batch on this system meets the limits by the model",))
    if here is None or here.estimate is None or here.estimate.value <= 0:
        return there
    factor = there.estimate.value / here.estimate.value
    moved_by = max(abs(math.log(factor)), abs(math.log((asked.tpot_ms or 1.0) / (own.tpot_ms or 1.0))))
    doubt = _half_width(there.estimate) ** min(1.0, moved_by / math.log(2))
    step = (
        f"{estimate.basis} rate {estimate.value:,.4g} {estimate.unit} × {factor:.3g}, what the model says of {asked.input_tokens:,.0f} in, "
        f"{asked.output_tokens:,.0f} out" + (f", {asked.tpot_ms:g} ms a token" if asked.tpot_ms else "")
        + f" over {own.input_tokens:,.0f} in, {own.output_tokens:,.0f} out" + (f", {own.tpot_ms:g} ms" if own.tpot_ms else "")
    )  # fmt: skip
    moved = replace(
        estimate, value=estimate.value * factor, low=estimate.low * factor / doubt, high=estimate.high * factor * doubt,
        basis="calibrated", note=f"{estimate.basis} rate moved to the asked lengths and limits by the performance model",
    )  # fmt: skip
    return replace(
        rate,
        estimate=moved,
        ttft_ms=there.ttft_ms,
        tpot_ms=there.tpot_ms,
        batch_per_replica=there.batch_per_replica,
        steps=(*rate.steps, step),
    )


def _between(
    kb: KnowledgeBase,
    facts: Facts,
    subject: Subject,
    asked: Conditions,
    lower: tuple[_Anchor, Rate],
    upper: _Anchor,
) -> Rate:
    """The rate at the asked limit, between the best of what tighter limits gave and what the next looser one gave.

    The share of the rise (in logarithms) is the model's, or that of the limits where the model sees no rise. The model's
    interval counts in full half way between the limits and not at all at either, and never beyond what the tighter limit gave
    at least and the looser one at most.
    """
    anchor, floor = lower
    ceiling = _carried(kb, facts, subject, upper, asked, None)
    limits = [anchor.tpot_ms or 1.0, asked.tpot_ms or 1.0, upper.tpot_ms or 1.0]
    if ceiling.estimate is None:
        return floor
    if floor.estimate is None:
        return _carried(kb, facts, subject, upper, asked, limits[1])
    shape = [best_modelled(kb, subject, replace(asked, tpot_ms=limit, ttft_ms=None)) for limit in limits]
    by_limit = math.log(limits[1] / limits[0]) / math.log(limits[2] / limits[0])
    share = _share([rate.estimate.value if rate and rate.estimate else 0.0 for rate in shape], by_limit)
    a, b = floor.estimate, ceiling.estimate
    here = best_modelled(
        kb, subject, replace(asked, ttft_ms=_first_token(facts, asked.ttft_ms, upper.ttft_ms))
    )
    doubt = 1.0
    if here is not None and here.estimate is not None:
        doubt = _half_width(here.estimate) ** (2 * math.sqrt(by_limit * (1 - by_limit)))
    if b.value <= a.value:
        share = 0.0
    value, low, high = (
        x ** (1 - share) * y**share for x, y in ((a.value, b.value), (a.low, b.low), (a.high, b.high))
    )
    estimate = Estimate(
        value=value, low=max(min(low / doubt, value), min(a.low, value)), high=min(max(high * doubt, value), max(b.high, value)),
        unit=a.unit, basis="calibrated",
        evidence=tuple(dict.fromkeys((*a.evidence, *b.evidence))),
        note=f"between the {anchor.name} and the {upper.name} a token",
    )  # fmt: skip
    step = (
        f"between {a.value:,.4g} and {b.value:,.4g} {a.unit}: by the model {share:.0%} of the rise comes up to {limits[1]:g} ms, "
        f"{a.value:,.4g} × ({b.value:,.4g} / {a.value:,.4g})^{share:.3g} = {value:,.4g}"
    )
    return replace(
        floor,
        estimate=estimate,
        ttft_ms=here.ttft_ms if here else floor.ttft_ms,
        tpot_ms=here.tpot_ms if here else floor.tpot_ms,
        batch_per_replica=here.batch_per_replica if here else None,
        steps=(*floor.steps, *ceiling.steps, step),
    )


def _share(shape: Sequence[float], by_limit: float) -> float:
    """How much of the rise from the first to the last value comes before the middle one, from 0 to 1, in logarithms."""
    first, middle, last = shape
    if min(shape) <= 0 or last <= first * _SAME:
        return by_limit
    return min(max(math.log(middle / first) / math.log(last / first), 0.0), 1.0)


def _value(rate: Rate) -> float:
    return rate.estimate.value if rate.estimate else 0.0


def _half_width(estimate: Estimate) -> float:
    """Factor between the middle and an end of an estimate's interval."""
    return math.sqrt(max(estimate.high / max(estimate.low, 1e-9), 1.0))


def _first_token(facts: Facts, asked: float | None, held: float | None) -> float | None:
    """The limit to the first token to hold: the stated one, else that of the audited runs. None: no limit."""
    return asked if held is None or asked is None or _said(facts, "ttft_ms") else held


def _lookup(kb: KnowledgeBase, subject: Subject, scenario: Scenario, preview: bool) -> Estimate | None:
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


def _preview(facts: Facts) -> bool:
    return "include_preview" in facts and bool(facts["include_preview"].value)


def _said(facts: Facts, name: str) -> bool:
    return name in facts and facts[name].origin == "said"
