"""One system sized for the requirement: layout, memory, rate, fleet, and the facts that candidate rules read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from advisor.evidence.held import has_results
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.engine import RuleRun, run_rules
from advisor.reasoning.grounded import grounded_rate
from advisor.reasoning.prices import price_of
from advisor.reasoning.rates import Rate, Subject, conditions_of, fitting, missed, modelled_rate, placements
from advisor.reasoning.requirement import number, text
from advisor.records import (
    Candidate,
    Checkpoint,
    Estimate,
    Exclusion,
    Facts,
    FactValue,
    Fleet,
    LatencyEstimate,
    Layout,
    Memory,
    Model,
    Scalar,
    System,
)
from advisor.sizing.changes import capacity, cheapest_changes, shortfall
from advisor.sizing.fleet import Demand, build_fleet, demand_from, replicas_needed
from advisor.sizing.memory import fit, pick_checkpoint
from advisor.units import GIB, format_bytes, format_count


@dataclass(frozen=True, kw_only=True)
class Sized:
    """A candidate with the facts it was judged by and the run of the candidate rules."""

    candidate: Candidate
    facts: Facts
    run: RuleRun
    demand: Demand
    rate: Rate | None


@dataclass(frozen=True, kw_only=True)
class _Choice:
    """One layout of the system, sized."""

    layout: Layout
    memory: Memory
    rate: Rate
    fleet: Fleet
    limited_by: str


def consider(kb: KnowledgeBase, facts: Facts) -> tuple[System, ...]:
    """The systems that come into question: the ones named, of the accelerator named, or all."""
    named = {part for part in text(facts, "system").split(",") if part}
    accelerator = text(facts, "accelerator")
    return tuple(
        system
        for system in kb.systems.values()
        if (not named or system.id in named) and (not accelerator or system.accelerator == accelerator)
    )


def size_candidate(kb: KnowledgeBase, facts: Facts, system: System, *, brief: bool = False) -> Sized:
    """Size one system for a complete requirement and judge it by the candidate rules.

    brief: leave out what no verdict depends on: memory under the stated load and the arithmetic in sentences.
    """
    model = kb.models[text(facts, "model")]
    accelerator = kb.accelerators[system.accelerator]
    checkpoint = pick_checkpoint(model, text(facts, "weight_precision"))
    demand, demand_steps = demand_of(facts)
    subject = Subject(
        model=model,
        checkpoint=checkpoint,
        system=system,
        accelerator=accelerator,
        kv_precision=text(facts, "kv_precision"),
        engine=text(facts, "engine"),
        disaggregated=bool(facts["disaggregated"].value) if "disaggregated" in facts else False,
        scale_out_gb_per_s=number(facts, "scale_out_gb_per_s"),
        context_tokens=int(number(facts, "context_tokens") or 1),
    )
    roomiest = max(placements(kb, subject), key=lambda row: row[1].headroom_bytes, default=None)
    chosen = _best_layout(kb, facts, subject, demand)
    memory = chosen.memory if chosen else roomiest[1] if roomiest else None
    if chosen and demand.sequences and not brief:
        memory = _under_load(kb, facts, subject, chosen, demand)
    if chosen is None and roomiest and not brief:
        memory = _with_changes(kb, facts, subject, *roomiest)
    rate = chosen.rate if chosen else None
    own = _candidate_facts(kb, system, chosen, memory, rate)
    run = run_rules(kb, {**facts, **own}, scope="candidate", subject=system.id)
    exclusions = tuple(_exclusions(run, memory))
    steps = (
        _arithmetic(system, model, checkpoint, chosen, subject.context_tokens, demand_steps)
        if chosen and not brief
        else ()
    )
    candidate = Candidate(
        system=system.id,
        title=system.title,
        unit=system.kind_of_unit,
        accelerator=system.accelerator,
        fits=memory is not None and memory.headroom_bytes >= 0,
        feasible=not exclusions and chosen is not None and chosen.rate.estimate is not None,
        layout=chosen.layout if chosen else None,
        memory=memory,
        throughput_per_accelerator=rate.estimate if rate else None,
        latency=LatencyEstimate(ttft_ms=rate.ttft_ms, tpot_ms=rate.tpot_ms, batch_per_replica=rate.batch_per_replica) if rate else None,
        fleet=chosen.fleet if chosen else None,
        exclusions=exclusions,
        arithmetic=steps,
    )  # fmt: skip
    return Sized(candidate=candidate, facts=own, run=run, demand=demand, rate=rate)


def demand_of(facts: Facts) -> tuple[Demand, tuple[str, ...]]:
    """The demand in output tokens/s and resident sequences, with the conversion in sentences."""
    return demand_from(
        throughput_tokens_per_s=number(facts, "throughput_tokens_per_s"),
        requests_per_second=number(facts, "requests_per_second"),
        concurrency=number(facts, "concurrency"),
        output_tokens=number(facts, "output_tokens"),
        tpot_ms=number(facts, "tpot_ms"),
        growth_percent=number(facts, "growth_percent") or 0.0,
        offline=text(facts, "workload") == "offline",
    )


def _best_layout(kb: KnowledgeBase, facts: Facts, subject: Subject, demand: Demand) -> _Choice | None:
    """The fitting layout whose fleet is smallest, or without a demand the one with the highest rate."""
    ground = grounded_rate(kb, facts, subject)
    if ground is not None and ground.estimate is not None and not _same_unit(ground.estimate, facts, demand):
        ground = None
    conditions = conditions_of(facts)
    wide_enough = [
        (layout, memory)
        for layout, memory in fitting(kb, subject)
        if ground is None
        or layout.accelerators >= ground.group_width
        or ground.group_width > subject.system.scale_up_domain
    ]
    rated = [
        (layout, memory, ground or modelled_rate(kb, subject, layout, memory, conditions))
        for layout, memory in wide_enough
    ]
    if not rated:
        return None
    if demand.stated:
        best = min((_with_fleet(facts, subject.system, *row, demand) for row in rated), key=_size_first)
    else:
        best = _with_fleet(facts, subject.system, *min(rated, key=_rate_first), demand)
    if best.rate.estimate is None:
        return replace(best, rate=missed([rate for _, _, rate in rated]))
    return best


def _same_unit(estimate: Estimate, facts: Facts, demand: Demand) -> bool:
    """Whether a rate can carry the load: one in samples cannot when only tokens were asked for."""
    in_tokens = estimate.unit == "tokens/s"
    return in_tokens or demand.output_tokens_per_s is None or number(facts, "requests_per_second") is not None


def _size_first(choice: _Choice) -> tuple[float, ...]:
    """Order of layouts for a demand: those that meet the limits, then the smaller fleet, then the higher rate."""
    value = choice.rate.estimate.value if choice.rate.estimate else 0.0
    fleet = choice.fleet
    return (
        choice.rate.estimate is None,
        fleet.accelerators_installed,
        fleet.accelerators_needed,
        -value,
        choice.layout.accelerators,
    )


def _rate_first(row: tuple[Layout, Memory, Rate]) -> tuple[float, ...]:
    """Order of layouts without a demand: the higher rate per accelerator, then the smaller replica."""
    layout, _, rate = row
    return (rate.estimate is None, -rate.estimate.value if rate.estimate else 0.0, layout.accelerators)


def _under_load(kb: KnowledgeBase, facts: Facts, subject: Subject, chosen: _Choice, demand: Demand) -> Memory:
    """Memory of one replica with the sequences that the demand puts on it, within what it holds."""
    sequences = max(1, math.ceil((demand.sequences or 1) / chosen.fleet.replicas))
    return fit(
        kb,
        subject.model,
        subject.checkpoint,
        subject.accelerator,
        chosen.layout,
        kv_precision=subject.kv_precision,
        context_tokens=int(number(facts, "context_tokens") or 1),
        sequences=min(sequences, chosen.memory.max_sequences),
        engine=subject.engine or "vllm",
    )


def _with_changes(
    kb: KnowledgeBase, facts: Facts, subject: Subject, layout: Layout, memory: Memory
) -> Memory:
    """A memory that does not fit, with the cheapest changes that would make it fit."""
    load = {
        "context_tokens": int(number(facts, "context_tokens") or 1),
        "sequences": 1,
        "kv_precision": subject.kv_precision,
        "engine": subject.engine or "vllm",
    }
    key = (
        "changes",
        subject.model.id,
        subject.checkpoint,
        subject.accelerator.id,
        layout,
        subject.system.scale_up_domain,
        *load.values(),
    )
    changes = kb.recent.of(
        key,
        lambda: cheapest_changes(
            kb, subject.model, subject.checkpoint, subject.accelerator, layout, load, widest=subject.system.scale_up_domain
        ),
    )  # fmt: skip
    return replace(memory, changes=changes)


def _with_fleet(
    facts: Facts, system: System, layout: Layout, memory: Memory, rate: Rate, demand: Demand
) -> _Choice:
    """The fleet of one layout: what the demand needs, or one full unit when none is stated."""
    value, wanted = _comparable(rate, facts, demand)
    if demand.stated:
        replicas, limited_by = replicas_needed(
            wanted, layout, rate_per_accelerator=value, sequences_per_replica=memory.max_sequences
        )
    else:
        units = max(1, int((number(facts, "accelerator_count") or 0) // system.accelerators))
        limited_by = "one full unit" if units == 1 else "the accelerators you named"
        replicas = units * max(1, system.accelerators // layout.accelerators)
    fleet = build_fleet(
        system,
        layout,
        replicas,
        spare_systems=int(number(facts, "spare") or 0),
        price=price_of(facts, system),
        output_tokens_per_s=demand.output_tokens_per_s,
        capacity_tokens_per_s=value * replicas * layout.accelerators if value else None,
    )
    return _Choice(layout=layout, memory=memory, rate=rate, fleet=fleet, limited_by=limited_by)


def _comparable(rate: Rate, facts: Facts, demand: Demand) -> tuple[float | None, Demand]:
    """Rate and demand in one unit: tokens/s, or requests/s where the evidence counts samples or queries.

    Samples are never turned into tokens; a demand in tokens then sizes by memory alone.
    """
    estimate = rate.estimate
    if estimate is None or estimate.unit == "tokens/s":
        return (estimate.value if estimate else None), demand
    requests = number(facts, "requests_per_second")
    growth = 1 + (number(facts, "growth_percent") or 0.0) / 100
    return estimate.value, replace(demand, output_tokens_per_s=requests * growth if requests else None)


def _candidate_facts(
    kb: KnowledgeBase, system: System, chosen: _Choice | None, memory: Memory | None, rate: Rate | None
) -> Facts:
    """What candidate rules may read about this system under this requirement."""
    values: dict[str, Scalar | None] = {
        "candidate_fits": memory is not None and memory.headroom_bytes >= 0,
        "candidate_headroom_gib": memory.headroom_bytes / GIB if memory else None,
    }
    if chosen is not None:
        values |= {
            "candidate_group_width": chosen.layout.accelerators,
            "candidate_demand_accelerators": chosen.fleet.accelerators_needed,
            "candidate_systems": chosen.fleet.systems,
            "candidate_installed": chosen.fleet.accelerators_installed,
            "candidate_utilisation": chosen.fleet.utilisation,
        }
    if rate is not None:
        values["candidate_meets_tpot"], values["candidate_meets_ttft"] = rate.meets_tpot, rate.meets_ttft
        values["candidate_basis"] = rate.estimate.basis if rate.estimate else None
    return {**_system_facts(kb, system), **_computed(kb, system, values)}


def _system_facts(kb: KnowledgeBase, system: System) -> Facts:
    """What candidate rules may read about a system under any requirement."""
    key = ("system_facts", system.id)
    if key not in kb.memo:
        values: dict[str, Scalar | None] = {
            "candidate_system": system.id,
            "candidate_accelerator": system.accelerator,
            "candidate_kind": system.kind_of_unit,
            "candidate_vendor": kb.accelerators[system.accelerator].vendor,
            "candidate_air_cooled": "air" in system.cooling,
            "candidate_liquid_cooled": "liquid" in system.cooling,
            "candidate_power_kw": system.power_kw.number if system.power_kw else None,
            "candidate_availability": system.availability,
            "candidate_buyable": "buy" in system.buyable,
            "candidate_rentable": "rent" in system.buyable,
            "candidate_domain": system.scale_up_domain,
            "candidate_measured": has_results(kb, system.accelerator),
        }
        kb.memo[key] = _computed(kb, system, values)
    found: Facts = kb.memo[key]
    return found


def _computed(kb: KnowledgeBase, system: System, values: dict[str, Scalar | None]) -> Facts:
    return {
        name: FactValue(value=value, origin="computed", because=system.id)
        for name, value in values.items()
        if value is not None and name in kb.facts
    }


def _exclusions(run: RuleRun, memory: Memory | None) -> Iterable[Exclusion]:
    for fired in run.effects:
        if fired.effect.kind != "forbid":
            continue
        text, nearest = fired.effect.text, ""
        if "candidate_fits" in fired.reads and memory is not None and memory.headroom_bytes < 0:
            text = f"{text.rstrip('.')}: {shortfall(memory)}"
            nearest = "; or ".join(
                change for change in memory.changes[:3] if not change.startswith("no single")
            )
        yield Exclusion(constraint=fired.rule.id, text=text, nearest=nearest)


def _arithmetic(
    system: System,
    model: Model,
    checkpoint: Checkpoint,
    chosen: _Choice,
    context_tokens: float,
    demand_steps: tuple[str, ...],
) -> tuple[str, ...]:
    memory, layout, fleet = chosen.memory, chosen.layout, chosen.fleet
    estimate = chosen.rate.estimate
    steps = [
        (
            f"{model.title} in {checkpoint.precision}: {format_bytes(memory.weights_bytes)} of weights on each of "
            f"{layout.accelerators} accelerators of {format_bytes(memory.hbm_bytes)} visible HBM"
        ),
        (
            f"KV {format_bytes(memory.kv_bytes_per_token)} a token on each accelerator; one replica holds "
            f"{capacity(memory, context_tokens)}"
        ),
        *demand_steps,
        *chosen.rate.steps,
    ]
    if estimate is not None:
        steps.append(
            f"one replica: {layout.accelerators} × {format_count(estimate.value)} = "
            f"{format_count(layout.accelerators * estimate.value)} {estimate.unit}"
        )
    steps.append(
        f"{fleet.replicas} replica{'' if fleet.replicas == 1 else 's'} (set by {chosen.limited_by}) × {layout.accelerators} = {fleet.accelerators_needed} accelerators "
        f"on {fleet.systems} × {system.accelerators} = {fleet.accelerators_installed} installed"
    )
    return tuple(steps)
