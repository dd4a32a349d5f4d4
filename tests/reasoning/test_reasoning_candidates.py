"""One system sized for a requirement: the fleet, the memory, the arithmetic, the facts that rules read."""

from __future__ import annotations

import math
from typing import Any

import pytest
from sized_cases import R1, rate, sized

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.candidates import consider, demand_of
from advisor.reasoning.requirement import complete, said
from advisor.records import FactValue


def test_a_fleet_carries_the_demand_with_its_growth_and_spares(kb: KnowledgeBase) -> None:
    """100,000 tok/s and 20 %: replicas x width x rate is at least 120,000 and one replica less is not; a spare rack on top."""
    found = sized(kb, workload="server", throughput_tokens_per_s=100_000, growth_percent=20, spare=1)
    fleet, layout = found.candidate.fleet, found.candidate.layout
    assert fleet is not None
    assert layout is not None
    each = layout.accelerators * rate(found).value
    assert (fleet.replicas - 1) * each < 120_000 <= fleet.replicas * each
    assert fleet.spare_systems == 1
    assert fleet.systems == math.ceil(fleet.replicas / (72 // layout.accelerators)) + 1
    assert fleet.accelerators_installed == 72 * fleet.systems


def test_without_a_demand_a_unit_or_the_accelerators_named_are_filled(kb: KnowledgeBase) -> None:
    """One rack; two when 144 were named, one when 143 were; each filled with replicas. At 5 USD: 360 USD an hour over the rack's rate."""
    one, short, two = (
        sized(kb, workload="server", price=5.0, **more)
        for more in ({}, {"accelerator_count": 143}, {"accelerator_count": 144})
    )
    assert [each.candidate.fleet.systems for each in (one, short, two) if each.candidate.fleet] == [1, 1, 2]
    fleet, layout = one.candidate.fleet, one.candidate.layout
    assert fleet is not None
    assert layout is not None
    assert fleet.replicas == 72 // layout.accelerators
    assert fleet.cost is not None
    assert fleet.cost.usd_per_hour == 360
    capacity = rate(one).value * fleet.replicas * layout.accelerators
    assert fleet.cost.usd_per_million_output_tokens == pytest.approx(360 / 3600 / capacity * 1e6)
    assert two.candidate.fleet is not None
    assert two.candidate.fleet.replicas == 2 * fleet.replicas


def test_rules_read_what_was_sized(kb: KnowledgeBase) -> None:
    """The facts of a candidate are the figures of its fleet, memory, rate and data sheet."""
    found = sized(kb, "hgx-b200", workload="server", throughput_tokens_per_s=200_000)
    facts = {name.removeprefix("candidate_"): fact.value for name, fact in found.facts.items()}
    assert all(
        fact.origin == "computed" and fact.because == "systems/hgx-b200" for fact in found.facts.values()
    )
    candidate, system = found.candidate, kb.systems["systems/hgx-b200"]
    assert candidate.fleet is not None
    assert candidate.layout is not None
    assert candidate.memory is not None
    assert facts == {
        "system": "systems/hgx-b200", "accelerator": "accelerators/b200", "kind": "node", "vendor": "nvidia",
        "air_cooled": "air" in system.cooling, "liquid_cooled": "liquid" in system.cooling, "power_kw": 14.3,
        "availability": "available", "buyable": True, "rentable": True, "domain": 8, "measured": True,
        "fits": True, "headroom_gib": candidate.memory.headroom_bytes / 2**30, "group_width": candidate.layout.accelerators,
        "demand_accelerators": candidate.fleet.accelerators_needed, "systems": candidate.fleet.systems,
        "installed": candidate.fleet.accelerators_installed, "utilisation": candidate.fleet.utilisation,
        "meets_tpot": True, "meets_ttft": True, "basis": "audited",
    }  # fmt: skip
    assert candidate.feasible
    assert candidate.fits
    assert candidate.unit == "node"
    assert candidate.latency is not None
    assert candidate.latency.tpot_ms is not None
    assert candidate.latency.tpot_ms.value == 80


def test_memory_is_shown_under_the_load_of_one_replica(kb: KnowledgeBase) -> None:
    """500 users on four data-parallel ranks are 125 x 8,192 tokens of 35,136 B each (61 layers x 576 B of an 8-bit latent)."""
    found = sized(kb, "hgx-b200", workload="server", concurrency=500, context_tokens=8192)
    memory, fleet = found.candidate.memory, found.candidate.fleet
    assert memory is not None
    assert fleet is not None
    assert fleet.replicas == 1
    assert memory.kv_bytes_per_token == 61 * 576
    assert found.candidate.layout is not None
    assert found.candidate.layout.dp == 4
    assert memory.kv_bytes_needed == 125 * 8192 * 61 * 576
    crowded = sized(kb, "hgx-b200", workload="server", concurrency=5000, context_tokens=8192).candidate
    assert crowded.memory is not None
    assert crowded.memory.headroom_bytes >= 0
    assert crowded.fleet is not None
    assert crowded.fleet.replicas * crowded.memory.max_sequences >= 5000


def test_weights_that_do_not_fit_exclude_with_the_nearest_change(kb: KnowledgeBase) -> None:
    """DeepSeek-R1 in FP8 is 671 GB, eight H100 see 637: out, and FP4 would pass."""
    found = sized(kb, "hgx-h100", weight_precision="fp8", context_tokens=8192)
    candidate = found.candidate
    assert not candidate.fits
    assert not candidate.feasible
    assert candidate.layout is None
    assert candidate.fleet is None
    (exclusion,) = candidate.exclusions
    assert exclusion.constraint == "rules/memory-must-fit"
    assert "weights and reserves exceed" in exclusion.text
    assert exclusion.nearest == "weights in fp4"
    assert found.facts["candidate_fits"].value is False


def test_arithmetic_is_said_step_by_step(kb: KnowledgeBase) -> None:
    """Weights, cache, rate, replica, fleet: the figures of the answer's own fields."""
    found = sized(kb, workload="server")
    steps, fleet = found.candidate.arithmetic, found.candidate.fleet
    assert fleet is not None
    assert steps[0].startswith("DeepSeek-R1 in fp4: ")
    assert steps[1].startswith("KV 34.3 KiB a token on each accelerator; one replica holds ")
    assert any(
        step.startswith("audited server rate, measured under a limit of 80 ms a token: ") for step in steps
    )
    width = found.candidate.layout.accelerators if found.candidate.layout else 0
    assert (
        f"one replica: {width} × {rate(found).value:,.0f} = {width * rate(found).value:,.0f} tokens/s"
        in steps
    )
    assert steps[-1].endswith(f"on {fleet.systems} × 72 = {fleet.accelerators_installed} installed")
    assert (
        f"{fleet.replicas} replicas (set by one full unit) × {width} = {fleet.accelerators_needed} accelerators"
        in steps[-1]
    )


def test_samples_carry_requests_and_never_tokens(kb: KnowledgeBase) -> None:
    """Qwen3-VL is audited in samples: they serve requests, growth included; for tokens alone the rate is modelled."""
    seen = {"model": "qwen3-vl-235b-a22b", "weight_precision": "fp4", "workload": "offline"}
    plain, asked = sized(kb, **seen), sized(kb, **seen, requests_per_second=1000, growth_percent=50)
    assert rate(plain).unit == rate(asked).unit == "samples/s"
    fleet, layout = asked.candidate.fleet, asked.candidate.layout
    assert fleet is not None
    assert layout is not None
    each = rate(asked).value * layout.accelerators
    assert (fleet.replicas - 1) * each < 1500 <= fleet.replicas * each
    tokens = sized(kb, **seen, throughput_tokens_per_s=1000)
    assert tokens.rate is None or tokens.rate.estimate is None or tokens.rate.estimate.unit == "tokens/s"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"system": "hgx-h200"}, {"systems/hgx-h200"}), ({"accelerator": "gb300"}, {"systems/gb300-nvl72"}),
        ({"system": "hgx-h200", "accelerator": "gb300"}, set()),
    ],
)  # fmt: skip
def test_only_what_was_named_is_considered(
    kb: KnowledgeBase, values: dict[str, Any], expected: set[str]
) -> None:
    """A system, an accelerator, both together; or everything."""
    assert {system.id for system in consider(kb, said(kb, values))} == expected
    assert len(consider(kb, {})) == len(kb.systems)
    both = {"system": FactValue(value="systems/hgx-h200,systems/gb300-nvl72", origin="said")}
    assert {system.slug for system in consider(kb, both)} == {"hgx-h200", "gb300-nvl72"}


@pytest.mark.parametrize("growth", [0, 50])
def test_growth_comes_on_top_of_users_and_of_tokens(kb: KnowledgeBase, growth: int) -> None:
    """1,000 users at 50 ms read 20,000 tok/s; half as much again is 1,500 users and 30,000 tok/s."""
    facts = complete(kb, said(kb, {**R1, "concurrency": 1000, "tpot_ms": 50, "growth_percent": growth})).facts
    demand, steps = demand_of(facts)
    more = 1 + growth / 100
    assert (demand.sequences, demand.output_tokens_per_s) == (1000 * more, 20_000 * more)
    assert any(step == "growth 50 % on top" for step in steps) is (growth == 50)


def test_requests_are_met_where_evidence_counts_samples(kb: KnowledgeBase) -> None:
    """Qwen3-VL on HGX B200, audited at 12.7 images and questions a second on each GPU: exactly what three replicas carry takes three,
    a hundredth of growth on top a fourth."""
    vision = {"model": "qwen3-vl-235b-a22b", "weight_precision": "fp4", "workload": "offline"}
    first = sized(kb, "hgx-b200", **vision)
    assert rate(first).unit == "samples/s"
    layout = first.candidate.layout
    assert layout is not None
    three = 3 * rate(first).value * layout.accelerators

    def replicas(**more: Any) -> int:
        fleet = sized(kb, "hgx-b200", **vision, requests_per_second=three, **more).candidate.fleet
        assert fleet is not None
        return fleet.replicas

    assert replicas() == 3
    assert replicas(growth_percent=1) == 4
