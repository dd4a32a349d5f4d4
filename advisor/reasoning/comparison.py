"""The best node against the best rack: fleets, money over the premium range and the noise, effects, and the facts of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.evidence.effects import Effects, effects
from advisor.evidence.noise import noise_band
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.candidates import Sized, demand_of
from advisor.reasoning.prices import any_price, list_price, premium_range, price_of
from advisor.reasoning.requirement import text
from advisor.records import (
    Candidate,
    Comparison,
    Estimate,
    Facts,
    FactValue,
    Fleet,
    Layout,
    NoiseBand,
    Pair,
    Scalar,
)
from advisor.sizing.fleet import Demand, build_fleet, replicas_needed
from advisor.units import format_count, format_ratio

_BASIS_ORDER = ("audited", "calibrated", "bound")
_UNKNOWN_NOISE = NoiseBand(spread=None, submissions=0)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Both sides, what they cost against each other, and the comparison facts."""

    node: Sized | None
    rack: Sized | None
    comparison: Comparison
    facts: Facts
    silicon_pair: Pair | None = None
    scale_pair: Pair | None = None
    one_generation: bool = True


def compare_best(kb: KnowledgeBase, facts: Facts, sized: Sequence[Sized]) -> Compared:
    """Choose the best feasible node and rack and compare them; a rack prefers the node of its own generation."""
    node, rack = _choose(kb, facts, sized)
    measured, band = _measured(kb, facts, node, rack)
    ratio = _ratio(kb, node, rack, measured)
    low, high, break_even = _cost_ratio(kb, facts, node, rack, band) if node and rack else (None, None, None)
    premiums = _premiums(kb, facts, node, rack) if node and rack and break_even else (None, None)
    tie = low is not None and high is not None and low <= 1 <= high
    comparison = Comparison(
        rack_over_node=ratio,
        silicon_effect=measured.silicon_effect if measured else None,
        scale_effect=measured.scale_effect if measured else None,
        noise_band=band,
        confounders=measured.confounders if measured else (),
        pairs=measured.pairs if measured else (),
        cost_ratio_low=low,
        cost_ratio_high=high,
        break_even_premium=break_even,
        tie=tie,
        chain=measured.chain if measured else (),
        cost_at_rates_low=premiums[0] / break_even if premiums[0] and break_even else None,
        cost_at_rates_high=premiums[1] / break_even if premiums[1] and break_even else None,
        prices_said=_priced_sides(kb, facts, node, rack) == 2,
    )
    return Compared(
        node=node,
        rack=rack,
        comparison=comparison,
        facts=_facts(kb, facts, node, rack, comparison),
        silicon_pair=measured.silicon_pair if measured else None,
        scale_pair=measured.scale_pair if measured else None,
        one_generation=bool(node and rack and _family(kb, node) == _family(kb, rack)),
    )


def _choose(kb: KnowledgeBase, facts: Facts, sized: Sequence[Sized]) -> tuple[Sized | None, Sized | None]:
    """The best node and the best rack.

    Among racks a rate on better ground outranks a higher one; among nodes the rack's own generation is preferred when it
    stands on better ground. A rack of the chosen node's generation is preferred when it is on no worse ground and no dearer.
    """
    feasible = [s for s in sized if s.candidate.feasible]
    nodes = sorted(
        (s for s in feasible if s.candidate.unit == "node"), key=lambda s: preference(kb, facts, s)
    )
    racks = sorted(
        (s for s in feasible if s.candidate.unit == "rack"),
        key=lambda s: (_ground(s), preference(kb, facts, s)),
    )
    if not nodes or not racks:
        return (nodes[0] if nodes else None), (racks[0] if racks else None)
    node, rack = nodes[0], racks[0]
    sibling = next((s for s in nodes if _family(kb, s) == _family(kb, rack)), None)
    if sibling is not None and _ground(sibling) < _ground(node):
        node = sibling
    same = next((s for s in racks if _family(kb, s) == _family(kb, node)), None)
    if same is not None and (_ground(same), preference(kb, facts, same)[:2]) <= (
        _ground(rack),
        preference(kb, facts, rack)[:2],
    ):
        rack = same
    return node, rack


def _ground(sized: Sized) -> int:
    rate = sized.candidate.throughput_per_accelerator
    return _BASIS_ORDER.index(rate.basis) if rate else len(_BASIS_ORDER)


def preference(kb: KnowledgeBase, facts: Facts, sized: Sized) -> tuple[bool, float, float, float, str]:
    """Order of preference among candidates of one kind: priced ones when prices were given, money or accelerators, list price, rate.

    A modelled rate counts at the low end of its interval, so that a guess does not win on its middle.
    """
    return _order(kb, facts, sized.candidate, sized.demand)


def _order(
    kb: KnowledgeBase, facts: Facts, candidate: Candidate, demand: Demand
) -> tuple[bool, float, float, float, str]:
    rate = candidate.throughput_per_accelerator
    assert rate is not None
    system = kb.systems[candidate.system]
    price = price_of(facts, system)
    unpriced = price is None and any_price(facts)
    each = price[0] if price else 1.0
    typical = list_price(system)
    listed = math.inf if typical is None else typical
    sure = rate.low / rate.value if rate.basis != "audited" and rate.value > 0 else 1.0
    if not demand.stated:
        return (unpriced, -rate.value * sure / each, listed, 0.0, candidate.system)
    return (unpriced, _installed(kb, candidate, demand, sure) * each, listed, -rate.value, candidate.system)


def why_preferred(kb: KnowledgeBase, facts: Facts, chosen: Candidate, other: Candidate) -> str:
    """Why one feasible candidate of a kind was compared rather than another, in one sentence without its full stop."""
    demand, _ = demand_of(facts)
    (unpriced, first, listed, *_), (none, second, dearer, *_) = (
        _order(kb, facts, candidate, demand) for candidate in (chosen, other)
    )
    grounds = [
        c.throughput_per_accelerator.basis if c.throughput_per_accelerator else "bound"
        for c in (chosen, other)
    ]
    if none and not unpriced:
        return "no price was given for it, and prices were given"
    if _BASIS_ORDER.index(grounds[0]) < _BASIS_ORDER.index(grounds[1]) and (
        chosen.unit == "rack" or first > second
    ):
        return f"its rate is {grounds[1]}, that of {chosen.title} {grounds[0]}"
    if first > second:
        return f"{chosen.title} is of the generation that it is compared with"
    if first == second:
        return "the fleets are equal" + (
            "; its list price is higher, or not known" if listed < dearer else ""
        )
    low = "a modelled rate counts at the low end of its interval: " if "calibrated" in grounds else ""
    if any_price(facts):
        unit = "an hour" if demand.stated else "a unit of output"
        return f"{low}it costs {format_ratio(second / first if demand.stated else first / second)} of {chosen.title} {unit}"
    if demand.stated:
        return f"{low}{second:,.0f} accelerators against {first:,.0f}"
    return f"{low}{format_count(-second)} against {format_count(-first)} per accelerator"


def _family(kb: KnowledgeBase, sized: Sized) -> str:
    return kb.accelerators[sized.candidate.accelerator].family


def _measured(
    kb: KnowledgeBase, facts: Facts, node: Sized | None, rack: Sized | None
) -> tuple[Effects | None, NoiseBand]:
    if not node or not rack:
        return None, _UNKNOWN_NOISE
    model, scenario = text(facts, "model"), text(facts, "workload")
    sides = (_node_silicon(kb, node, rack), rack.candidate.accelerator)
    key = ("comparison", model, scenario, *sides)
    if key not in kb.memo:
        found = effects(
            kb, model=model, scenario=scenario, node_accelerator=sides[0], rack_accelerator=sides[1]
        )
        band = _UNKNOWN_NOISE
        if found is not None and found.pairs:
            pair = found.pairs[0]
            bands = [noise_band(kb, side, pair.benchmark, pair.scenario, pair.round) for side in sides]
            known = [b for b in bands if b.spread is not None]
            band = max(known, key=lambda b: b.spread or 0.0) if known else _UNKNOWN_NOISE
        kb.memo[key] = (found, band)
    result: tuple[Effects | None, NoiseBand] = kb.memo[key]
    return result


def _node_silicon(kb: KnowledgeBase, node: Sized, rack: Sized) -> str:
    """The node accelerator of the rack's generation: pairs exist within one generation only."""
    family = _family(kb, rack)
    if _family(kb, node) == family:
        return node.candidate.accelerator
    own = (s.accelerator for s in kb.systems.values() if s.kind_of_unit == "node")
    return next((a for a in own if kb.accelerators[a].family == family), node.candidate.accelerator)


def _ratio(
    kb: KnowledgeBase, node: Sized | None, rack: Sized | None, measured: Effects | None
) -> Estimate | None:
    """Rack over node per accelerator: of a comparable pair where both rates are audited, else of the two rates used."""
    if not node or not rack:
        return None
    a, b = node.candidate.throughput_per_accelerator, rack.candidate.throughput_per_accelerator
    if a is None or b is None or a.value <= 0 or a.unit != b.unit:
        return None
    audited = a.basis == b.basis == "audited" and _family(kb, node) == _family(kb, rack)
    if audited and measured is not None and measured.rack_over_node is not None:
        return measured.rack_over_node
    return Estimate(
        value=b.value / a.value,
        low=b.low / a.high,
        high=b.high / max(a.low, 1e-12),
        unit="ratio",
        basis=max((a.basis, b.basis), key=_BASIS_ORDER.index),
        evidence=(*a.evidence, *b.evidence),
        note="of the two rates used here, not of a comparable pair",
    )


def _cost_ratio(
    kb: KnowledgeBase, facts: Facts, node: Sized, rack: Sized, band: NoiseBand
) -> tuple[float | None, float | None, float | None]:
    """Rack fleet cost over node fleet cost: lowest, highest, and the premium at which they are equal.

    Lowest: the premium range's low end with the noise in the rack's favour; highest: the other way round. Whole units
    are counted again at each end, since a demand is met in steps of 8 or 72.
    """
    low_premium, high_premium = _premiums(kb, facts, node, rack)
    spread = math.sqrt(_doubt(node, rack, band))
    if not node.demand.stated:
        a, b = node.candidate.throughput_per_accelerator, rack.candidate.throughput_per_accelerator
        assert a is not None
        assert b is not None
        if a.unit != b.unit:
            return None, None, None
        even = b.value / a.value
        return low_premium / (even * spread**2), high_premium * spread**2 / even, even

    def count(side: Sized, factor: float) -> int:
        return _installed(kb, side.candidate, side.demand, factor)

    favour_rack = count(rack, spread) / count(node, 1 / spread)
    favour_node = count(rack, 1 / spread) / count(node, spread)
    even = count(node, 1.0) / count(rack, 1.0)
    return low_premium * favour_rack, high_premium * favour_node, even


def _premiums(kb: KnowledgeBase, facts: Facts, node: Sized, rack: Sized) -> tuple[float, float]:
    return premium_range(kb, facts, *(kb.systems[side.candidate.system] for side in (node, rack)))


def _priced_sides(kb: KnowledgeBase, facts: Facts, node: Sized | None, rack: Sized | None) -> int:
    """How many sides have a price that the user gave; a ratio that was said counts as both."""
    premium = facts.get("rack_price_premium")
    if premium is not None and premium.origin == "said":
        return 2
    sides = [side for side in (node, rack) if side is not None]
    return sum(price_of(facts, kb.systems[side.candidate.system]) is not None for side in sides)


def _doubt(node: Sized, rack: Sized, band: NoiseBand) -> float:
    """Factor within which a ratio of the two rates says nothing: the noise of the silicon, or half of a modelled interval."""
    rates = [side.candidate.throughput_per_accelerator for side in (node, rack)]
    widths = [
        math.sqrt(r.high / r.low)
        for r in rates
        if r is not None and r.basis != "audited" and 0 < r.low <= r.high
    ]
    return max([band.spread or 1.0, *widths])


def _installed(kb: KnowledgeBase, candidate: Candidate, demand: Demand, factor: float) -> int:
    """Accelerators installed when the rate is `factor` times what was estimated."""
    assert candidate.layout is not None
    assert candidate.memory is not None
    assert candidate.fleet is not None
    if factor == 1.0:
        return candidate.fleet.accelerators_installed
    rate = candidate.throughput_per_accelerator
    replicas, _ = replicas_needed(
        demand, candidate.layout, rate_per_accelerator=rate.value * factor if rate else None,
        sequences_per_replica=candidate.memory.max_sequences,
    )  # fmt: skip
    fleet: Fleet = build_fleet(
        kb.systems[candidate.system], candidate.layout, replicas, spare_systems=candidate.fleet.spare_systems
    )
    return fleet.accelerators_installed


def _width(layout: Layout | None) -> int | None:
    return layout.accelerators if layout else None


def _facts(
    kb: KnowledgeBase, facts: Facts, node: Sized | None, rack: Sized | None, comparison: Comparison
) -> Facts:
    values: dict[str, Scalar | None] = {
        "node_feasible": node is not None,
        "rack_feasible": rack is not None,
        "cost_ratio_low": comparison.cost_ratio_low,
        "cost_ratio_high": comparison.cost_ratio_high,
        "cost_at_rates_low": comparison.cost_at_rates_low,
        "cost_at_rates_high": comparison.cost_at_rates_high,
        "cost_outcome": _outcome(comparison),
        "priced_sides": _priced_sides(kb, facts, node, rack),
        "rack_over_node": comparison.rack_over_node.value if comparison.rack_over_node else None,
        "silicon_effect": comparison.silicon_effect.value if comparison.silicon_effect else None,
        "scale_effect": comparison.scale_effect.value if comparison.scale_effect else None,
        "noise_spread": comparison.noise_band.spread,
        "evidence_grade": min((pair.grade for pair in comparison.pairs), default="none"),
        "evidence_rounds_old": _rounds_old(kb, comparison),
        "confounded": any("disaggregat" in c or "speculative" in c for c in comparison.confounders),
        "intervals_overlap": _overlap(node, rack),
        "assumed_count": sum(
            1 for f in facts.values() if f.origin == "assumed" and (f.value is not None or f.low is not None)
        ),
        "demand_stated": bool(node.demand.stated if node else rack.demand.stated if rack else False),
        "basis": _weaker_basis(node, rack),
    }
    for name, side in (("node", node), ("rack", rack)):
        if side is not None and side.candidate.fleet is not None:
            values |= {
                f"{name}_installed": side.candidate.fleet.accelerators_installed,
                f"{name}_utilisation": side.candidate.fleet.utilisation,
                f"{name}_group_width": _width(side.candidate.layout),
                f"{name}_failure_domain": side.candidate.fleet.failure_domain,
                f"{name}_domain": kb.systems[side.candidate.system].scale_up_domain,
                f"{name}_air_cooled": "air" in kb.systems[side.candidate.system].cooling,
            }
    return {
        name: FactValue(
            value=value, origin="computed", because="comparison of the best node and the best rack"
        )
        for name, value in values.items()
        if value is not None and name in kb.facts
    }


def _outcome(comparison: Comparison) -> str:
    low, high = comparison.cost_ratio_low, comparison.cost_ratio_high
    if low is None or high is None:
        return "unknown"
    if comparison.tie:
        return "tie"
    return "rack" if high < 1 else "node"


def _rounds_old(kb: KnowledgeBase, comparison: Comparison) -> int | None:
    if not comparison.pairs:
        return None
    rounds = sorted({entry.round for entry in kb.evidence.values() if entry.round})
    newest = max(pair.round for pair in comparison.pairs)
    return len(rounds) - 1 - rounds.index(newest) if newest in rounds else None


def _overlap(node: Sized | None, rack: Sized | None) -> bool | None:
    if not node or not rack:
        return None
    a, b = node.candidate.throughput_per_accelerator, rack.candidate.throughput_per_accelerator
    return None if a is None or b is None else a.low <= b.high and b.low <= a.high


def _weaker_basis(node: Sized | None, rack: Sized | None) -> str | None:
    grounds = [
        s.candidate.throughput_per_accelerator.basis
        for s in (node, rack)
        if s and s.candidate.throughput_per_accelerator
    ]
    return max(grounds, key=_BASIS_ORDER.index) if grounds else None
