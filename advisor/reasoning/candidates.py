"""One system sized for the requirement: layout, memory, rate, fleet, and the facts that candidate rules read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.engine import RuleRun, run_rules
from advisor.reasoning.rates import Rate, audited_rate, calibrated_rate
from advisor.reasoning.requirement import PRICE_PREFIX, number, text
from advisor.records import (
    Accelerator,
    Candidate,
    Checkpoint,
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
from advisor.sizing.fleet import Demand, build_fleet, demand_from, replicas_needed
from advisor.sizing.layouts import layouts_for
from advisor.sizing.memory import fit, pick_checkpoint
from advisor.units import GIB, format_bytes


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


def size_candidate(kb: KnowledgeBase, facts: Facts, system: System) -> Sized:
    """Size one system for a complete requirement and judge it by the candidate rules."""
    model = kb.models[text(facts, "model")]
    accelerator = kb.accelerators[system.accelerator]
    checkpoint = pick_checkpoint(model, text(facts, "weight_precision"))
    demand, demand_steps = demand_of(facts)
    chosen, roomiest = _best_layout(kb, facts, model, checkpoint, system, accelerator, demand)
    memory = chosen.memory if chosen else roomiest
    rate = chosen.rate if chosen else None
    own = _candidate_facts(kb, system, accelerator, chosen, memory, rate)
    run = run_rules(kb, {**facts, **own}, scope="candidate", subject=system.id)
    exclusions = tuple(_exclusions(run, memory))
    steps = _arithmetic(system, model, checkpoint, chosen, demand_steps) if chosen else ()
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


def _best_layout(
    kb: KnowledgeBase, facts: Facts, model: Model, checkpoint: Checkpoint, system: System, accelerator: Accelerator, demand: Demand
) -> tuple[_Choice | None, Memory | None]:  # fmt: skip
    """The layout whose fleet is smallest, and the roomiest memory tried (to explain a misfit)."""
    context = int(number(facts, "context_tokens") or 1)
    audited = audited_rate(kb, facts, model, checkpoint, system)
    best: _Choice | None = None
    roomiest: Memory | None = None
    for layout in layouts_for(model, system):
        memory = _fit(kb, facts, model, checkpoint, accelerator, layout, context)
        if roomiest is None or memory.headroom_bytes > roomiest.headroom_bytes:
            roomiest = memory
        if memory.headroom_bytes < 0 or memory.max_sequences < 1:
            continue
        if audited is not None and layout.accelerators < audited.group_width <= system.scale_up_domain:
            continue
        rate = audited or calibrated_rate(
            kb, facts, model, checkpoint, system, accelerator, layout, memory.max_sequences
        )
        choice = _with_fleet(facts, system, layout, memory, rate, demand)
        if best is None or _rank(choice, demand) < _rank(best, demand):
            best = choice
    if best is not None and audited is not None:
        modelled = calibrated_rate(
            kb, facts, model, checkpoint, system, accelerator, best.layout, best.memory.max_sequences
        )
        best = replace(best, rate=audited.with_latency(modelled))
    return best, roomiest


def _with_fleet(
    facts: Facts, system: System, layout: Layout, memory: Memory, rate: Rate, demand: Demand
) -> _Choice:
    value = rate.estimate.value if rate.estimate else None
    replicas, limited_by = replicas_needed(
        demand, layout, rate_per_accelerator=value, sequences_per_replica=memory.max_sequences
    )
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


def _rank(choice: _Choice, demand: Demand) -> tuple[float, ...]:
    """Smaller is better: for a demand the fleet counts first, without one the rate of an accelerator."""
    value = choice.rate.estimate.value if choice.rate.estimate else 0.0
    size = (choice.fleet.accelerators_installed, choice.fleet.accelerators_needed)
    order = (*size, -value) if demand.stated else (-value, *size)
    return (choice.rate.estimate is None, *order, choice.layout.accelerators)


def _fit(
    kb: KnowledgeBase, facts: Facts, model: Model, checkpoint: Checkpoint, accelerator: Accelerator, layout: Layout, context: int
) -> Memory:  # fmt: skip
    kv = text(facts, "kv_precision")
    engine = text(facts, "engine") or "vllm"
    key = ("fit", model.id, checkpoint.precision, accelerator.id, layout, kv, engine, context)
    if key not in kb.memo:
        kb.memo[key] = fit(
            kb,
            model,
            checkpoint,
            accelerator,
            layout,
            kv_precision=kv,
            context_tokens=context,
            sequences=1,
            engine=engine,
        )
    memory: Memory = kb.memo[key]
    return memory


def price_of(facts: Facts, system: System) -> tuple[float, str] | None:
    """USD per accelerator-hour that the user gave for a system, and its origin."""
    price = number(facts, PRICE_PREFIX + system.id)
    return (price, "as you gave it") if price is not None else None


def _candidate_facts(
    kb: KnowledgeBase, system: System, accelerator: Accelerator, chosen: _Choice | None, memory: Memory | None, rate: Rate | None
) -> Facts:  # fmt: skip
    values: dict[str, Scalar | None] = {
        "candidate_system": system.id,
        "candidate_accelerator": accelerator.id,
        "candidate_kind": system.kind_of_unit,
        "candidate_vendor": accelerator.vendor,
        "candidate_air_cooled": "air" in system.cooling,
        "candidate_liquid_cooled": "liquid" in system.cooling,
        "candidate_power_kw": system.power_kw.number if system.power_kw else None,
        "candidate_availability": system.availability,
        "candidate_buyable": "buy" in system.buyable,
        "candidate_rentable": "rent" in system.buyable,
        "candidate_domain": system.scale_up_domain,
        "candidate_fits": memory is not None and memory.headroom_bytes >= 0,
        "candidate_headroom_gib": memory.headroom_bytes / GIB if memory else None,
        "candidate_group_width": chosen.layout.accelerators if chosen else None,
        "candidate_meets_tpot": rate.meets_tpot if rate else None,
        "candidate_meets_ttft": rate.meets_ttft if rate else None,
        "candidate_demand_accelerators": chosen.fleet.accelerators_needed if chosen else None,
        "candidate_systems": chosen.fleet.systems if chosen else None,
        "candidate_installed": chosen.fleet.accelerators_installed if chosen else None,
        "candidate_utilisation": chosen.fleet.utilisation if chosen else None,
        "candidate_basis": rate.estimate.basis if rate and rate.estimate else None,
    }
    return {
        name: FactValue(value=value, origin="computed", because=system.id)
        for name, value in values.items()
        if value is not None and name in kb.facts
    }


def _exclusions(run: RuleRun, memory: Memory | None) -> Iterable[Exclusion]:
    for fired in run.effects:
        if fired.effect.kind == "forbid":
            nearest = (
                "; ".join(memory.changes[:3])
                if memory and "candidate_fits" in fired.reads and memory.changes
                else ""
            )
            yield Exclusion(
                constraint=fired.rule.id, text=fired.effect.text or fired.rule.reason, nearest=nearest
            )


def _arithmetic(
    system: System, model: Model, checkpoint: Checkpoint, chosen: _Choice, demand_steps: tuple[str, ...]
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
            f"{memory.kv_capacity_tokens:,.0f} tokens, {memory.max_sequences:,} sequences at the asked context"
        ),
        *demand_steps,
        *chosen.rate.steps,
    ]
    if estimate is not None:
        steps.append(
            f"one replica: {layout.accelerators} × {estimate.value:,.4g} = {layout.accelerators * estimate.value:,.0f} {estimate.unit}"
        )
    steps.append(
        f"{fleet.replicas} replicas (set by {chosen.limited_by}) × {layout.accelerators} = {fleet.accelerators_needed} accelerators "
        f"on {fleet.systems} × {system.accelerators} = {fleet.accelerators_installed} installed"
    )
    return tuple(steps)
