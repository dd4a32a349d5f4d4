"""One system sized for a requirement: the rate at, between and beyond audited limits, the fleet, the facts that rules read."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from advisor.evidence.rates import closest_rate
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.candidates import Sized, consider, demand_of, size_candidate
from advisor.reasoning.requirement import PRICE_PREFIX, complete, said
from advisor.records import Estimate, FactValue

R1 = {"model": "deepseek-r1", "weight_precision": "fp4"}
RACK = "gb300-nvl72"


def sized(kb: KnowledgeBase, system: str = RACK, price: float | None = None, **values: Any) -> Sized:
    facts = complete(kb, said(kb, {**R1, **values})).facts
    if price is not None:
        facts[f"{PRICE_PREFIX}systems/{system}"] = FactValue(value=price, origin="said")
    return size_candidate(kb, facts, kb.systems[f"systems/{system}"])


def rate(of: Sized) -> Estimate:
    assert of.rate is not None
    assert of.rate.estimate is not None
    return of.rate.estimate


def audited(kb: KnowledgeBase, scenario: str) -> Estimate:
    found = closest_rate(
        kb, model="models/deepseek-r1", precision="fp4", scenario=scenario, accelerator="accelerators/gb300", unit="rack", accelerators=72
    )  # fmt: skip
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("workload", "limits", "widths"),
    [("server", (80, 2000), 8), ("interactive", (15, 1500), 16), ("offline", None, 8)],
)
def test_without_a_stated_limit_the_audited_rate_stands(
    kb: KnowledgeBase, workload: str, limits: tuple[float, float] | None, widths: int
) -> None:
    """The rules of MLPerf hold DeepSeek-R1 to 80 ms and 2 s (server), 15 ms and 1.5 s (interactive), offline to nothing."""
    found = sized(kb, workload=workload)
    assert rate(found) == audited(kb, workload)
    assert found.rate is not None
    assert (found.rate.meets_tpot, found.rate.meets_ttft) == (True, True)
    assert found.candidate.layout is not None
    assert found.candidate.layout.accelerators >= found.rate.group_width
    held = (found.rate.tpot_ms, found.rate.ttft_ms)
    if limits is None:
        assert held == (None, None)
    else:
        for estimate, limit in zip(held, limits, strict=True):
            assert estimate is not None
            assert (estimate.low, estimate.value, estimate.high, estimate.unit) == (0, limit, limit, "ms")


@pytest.mark.parametrize(
    ("limit", "scenario"), [(15, "interactive"), (80, "server"), (81, "server"), (500, "server")]
)
def test_at_an_audited_limit_and_beyond_the_loosest_the_audited_rate_stands(
    kb: KnowledgeBase, limit: float, scenario: str
) -> None:
    """A run held to 80 ms also meets 500 ms: what a looser limit would add, nobody measured."""
    assert rate(sized(kb, workload="interactive", tpot_ms=limit)) == audited(kb, scenario)


def test_between_two_audited_limits_both_count(kb: KnowledgeBase) -> None:
    """Between 15 and 80 ms neither row was measured: both are cited, and the end that is nearer weighs more."""
    server, interactive = audited(kb, "server"), audited(kb, "interactive")
    near, far = (rate(sized(kb, workload="interactive", tpot_ms=limit)) for limit in (79.9, 15.02))
    assert near.basis == far.basis == "calibrated"
    assert (
        near.note
        == "between the audited interactive rate at 15 ms and the audited server rate at 80 ms a token"
        == far.note
    )
    assert set(near.evidence) == {*server.evidence, *interactive.evidence}
    assert near.value == pytest.approx(server.value, rel=0.01)
    assert far.value == pytest.approx(interactive.value, rel=0.01)
    between = sized(kb, workload="interactive", tpot_ms=round(math.sqrt(15 * 80), 1))
    middle = rate(between)
    assert interactive.value < middle.value < server.value
    assert between.rate is not None
    ends = re.match(r"between ([\d,]+) and ([\d,]+) .*\^([\d.]+) = ", between.rate.steps[-1])
    assert ends is not None
    low, high, share = ends.groups()
    a, b = (float(end.replace(",", "")) for end in (low, high))
    assert a * (b / a) ** float(share) == pytest.approx(middle.value, rel=0.01), (
        "the printed arithmetic gives the rate"
    )
    assert middle.high / middle.low > near.high / near.low
    assert middle.high / middle.low > far.high / far.low


def test_a_tighter_limit_than_any_audited_one_takes_a_part_of_its_rate(kb: KnowledgeBase) -> None:
    """Below 15 ms the model moves the audited rate down, and doubt grows with the distance."""
    at, close, far = (rate(sized(kb, workload="interactive", tpot_ms=limit)) for limit in (15, 14, 11))
    assert far.value < close.value < at.value
    assert close.basis == "calibrated"
    assert set(close.evidence) == set(at.evidence)
    assert far.high / far.low > close.high / close.low > at.high / at.low


def test_longer_answers_than_the_audited_ones_are_moved_by_the_model(kb: KnowledgeBase) -> None:
    """A context of more tokens to read per step is slower, never audited."""
    plain, longer = (
        sized(kb, workload="offline"),
        sized(kb, workload="offline", output_tokens=32_000, input_tokens=32_000),
    )
    assert rate(longer).basis == "calibrated"
    assert rate(longer).value < rate(plain).value
    assert longer.rate is not None
    assert any("32,000 in, 32,000 out" in step for step in longer.rate.steps)


def test_no_batch_meets_an_impossible_limit(kb: KnowledgeBase) -> None:
    """0.1 ms a token is below the time of reading the weights once."""
    found = sized(kb, workload="interactive", tpot_ms=0.1)
    assert found.rate is not None
    assert found.rate.estimate is None
    assert found.rate.meets_tpot is False
    assert not found.candidate.feasible


def test_a_modelled_rate_meets_only_what_was_asked(kb: KnowledgeBase) -> None:
    """Llama 3.1 70B has no audited row here: with a limit it says whether it is met, without one it says nothing."""

    def met(**values: Any) -> tuple[bool | None, bool | None]:
        found = sized(kb, "hgx-h200", model="llama-3.3-70b", weight_precision="fp8", **values).rate
        assert found is not None
        return found.meets_tpot, found.meets_ttft

    assert met(workload="offline") == (None, None)
    assert met(workload="server", tpot_ms=50, ttft_ms=5000) == (True, True)
    assert met(workload="server", tpot_ms=0.1, ttft_ms=5000) == (False, True)
    assert met(workload="server", tpot_ms=50, ttft_ms=1) == (True, False)
    assert met(workload="server", tpot_ms=0.1, ttft_ms=1) == (False, False)


@pytest.mark.parametrize(
    ("limits", "missed"),
    [
        ({"tpot_ms": 0.1, "ttft_ms": 5000}, "rules/latency-tpot"),
        ({"tpot_ms": 200, "ttft_ms": 1}, "rules/latency-ttft"),
    ],
)
@pytest.mark.parametrize("model", ["deepseek-r1", "kimi-k2"])
def test_only_the_limit_that_is_missed_excludes(
    kb: KnowledgeBase, model: str, limits: dict[str, float], missed: str
) -> None:
    """No server reads the weights of a step in 0.1 ms or a prompt of 2,000 tokens in 1 ms; audited or modelled, the other limit
    is not to blame."""
    found = sized(
        kb,
        model=model,
        weight_precision="fp8",
        workload="server",
        input_tokens=2000,
        concurrency=10,
        **limits,
    )
    assert [exclusion.constraint for exclusion in found.candidate.exclusions] == [missed]


@pytest.mark.parametrize("system", [RACK, "gb200-nvl72", "hgx-b200", "hgx-b300", "mi355x-node"])
@pytest.mark.parametrize(
    "lengths",
    [{}, {"input_tokens": 4096, "output_tokens": 1024}, {"input_tokens": 600, "output_tokens": 600}],
)
def test_a_looser_limit_never_gives_a_lower_rate(
    kb: KnowledgeBase, system: str, lengths: dict[str, int]
) -> None:
    """Whatever meets a tighter limit per token meets a looser one, so the rate under it is at least as high."""
    limits = (12, 13, 15, 15.5, 17, 20, 25, 30, 40, 60, 79, 80, 81, 120, 200)
    values = [
        rate(sized(kb, system, workload="interactive", tpot_ms=limit, **lengths)).value for limit in limits
    ]
    assert values == sorted(values)
    assert values[0] < values[-1]


def test_between_limits_doubt_ends_where_the_limits_rates_do(kb: KnowledgeBase) -> None:
    """A run that meets 15 ms meets 40 ms, and one that meets 40 ms meets 80 ms: their intervals bound the one between."""
    lengths = {"input_tokens": 4096, "output_tokens": 1024}
    tight, between, loose = (
        rate(sized(kb, "gb200-nvl72", workload="interactive", tpot_ms=limit, **lengths))
        for limit in (15, 40, 80)
    )
    assert tight.low <= between.low <= between.value <= between.high <= loose.high


def test_between_limits_the_sum_can_be_done_by_hand(kb: KnowledgeBase) -> None:
    """`a × (b / a)^x = c`: the printed figures give the printed result, which is the rate; a and b are the products above it."""
    found = sized(kb, workload="interactive", tpot_ms=25, input_tokens=4096, output_tokens=1024)
    assert found.rate is not None

    def figures(pattern: str) -> list[list[float]]:
        matches = [re.search(pattern, step) for step in found.rate.steps] if found.rate else []
        return [[float(part.replace(",", "")) for part in m.groups()] for m in matches if m is not None]

    ((low, high, again, share, result),) = figures(
        r"([\d,.]+) × \(([\d,.]+) / ([\d,.]+)\)\^([\d.]+) = ([\d,.]+)"
    )
    assert low == again
    assert result == pytest.approx(low * (high / low) ** share, rel=0.005)
    assert result == pytest.approx(rate(found).value, rel=0.005)
    products = [a * b for a, b in figures(r"rate ([\d,.]+) tokens/s × ([\d.]+)")]
    assert products == pytest.approx([low, high], rel=0.005)


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


def test_the_longest_context_slows_nothing_that_does_not_fill_it(kb: KnowledgeBase) -> None:
    """Cache is taken as sequences grow (paged attention, Kwon et al. 2023): of equal requests, as many run at once under either limit."""
    rates = {
        rate(
            sized(kb, workload="server", input_tokens=6000, output_tokens=1000, context_tokens=context)
        ).value
        for context in (16_384, 131_072)
    }
    assert len(rates) == 1


def test_a_looser_limit_to_the_first_token_helps_long_prompts_only(kb: KnowledgeBase) -> None:
    """Server runs of DeepSeek-R1 are held to 2 s: ten seconds let longer prompts queue, and say nothing new of the audited ones."""

    def at(ttft_ms: int, **values: Any) -> float:
        return rate(sized(kb, workload="server", ttft_ms=ttft_ms, **values)).value

    assert at(10_000) == audited(kb, "server").value
    long = {"input_tokens": 6400, "context_tokens": 16_384}
    assert at(10_000, **long) > at(2000, **long)


def test_a_scenario_nobody_ran_is_fitted_to_those_that_ran_it(kb: KnowledgeBase) -> None:
    """gpt-oss 120B at 15 ms on MI355X: audited in FP8 only (v6.1, interactive). FP4 on the same silicon lies near it; carried from
    the 80 ms of the FP4 server run by the model it would be nearly three times as much."""
    eight = closest_rate(
        kb, model="models/gpt-oss-120b", precision="fp8", scenario="interactive", accelerator="accelerators/mi355x", unit="node", accelerators=8
    )  # fmt: skip
    assert eight is not None
    found = sized(
        kb, "mi355x-node", model="gpt-oss-120b", weight_precision="fp4", workload="interactive", tpot_ms=15
    )
    assert rate(found).basis == "calibrated"
    assert eight.value / 1.5 < rate(found).value < eight.value * 1.5


def test_a_fitted_rate_stays_within_what_was_audited_under_other_limits(kb: KnowledgeBase) -> None:
    """Llama 3.1 8B on H100: nobody ran it interactive (30 ms); the fit alone would beat the audited server rate of 100 ms."""
    server = closest_rate(
        kb, model="models/llama-3.1-8b", precision="fp8", scenario="server", accelerator="accelerators/h100", unit="node", accelerators=8
    )  # fmt: skip
    assert server is not None
    found = sized(kb, "hgx-h100", model="llama-3.1-8b", weight_precision="fp8", tpot_ms=30)
    assert rate(found).value <= server.value
    assert found.rate is not None
    assert any(step.endswith("held to what was audited under other limits") for step in found.rate.steps)


@pytest.mark.parametrize("growth", [0, 50])
def test_growth_comes_on_top_of_users_and_of_tokens(kb: KnowledgeBase, growth: int) -> None:
    """1,000 users at 50 ms read 20,000 tok/s; half as much again is 1,500 users and 30,000 tok/s."""
    facts = complete(kb, said(kb, {**R1, "concurrency": 1000, "tpot_ms": 50, "growth_percent": growth})).facts
    demand, steps = demand_of(facts)
    more = 1 + growth / 100
    assert (demand.sequences, demand.output_tokens_per_s) == (1000 * more, 20_000 * more)
    assert any(step == "growth 50 % on top" for step in steps) is (growth == 50)


def test_doubt_between_limits_is_the_models_at_the_middle(kb: KnowledgeBase) -> None:
    """Half way between 15 and 80 ms (in logarithms) the share of the limits is one half, where the model's interval counts in full:
    no point between is less certain than the ends, nor more certain than both."""
    ends = [rate(sized(kb, tpot_ms=limit)) for limit in (15, 80)]
    widest = max(end.high / end.low for end in ends)
    for limit in (20, 34.6, 60):
        found = rate(sized(kb, tpot_ms=limit))
        assert found.high / found.low > widest
        assert ends[0].low <= found.low < found.value < found.high <= ends[1].high


def test_a_limit_to_the_first_token_is_that_of_the_runs_unless_it_is_said(kb: KnowledgeBase) -> None:
    """MLPerf's 2 s of the server scenario hold for longer prompts too, whatever is assumed; a stated one takes their place; and where
    no limit is assumed, since prompts beyond 20,000 tokens were never audited, none holds."""
    long = {"workload": "server", "input_tokens": 6400, "context_tokens": 32_768}
    assumed = sized(kb, **long)
    assert assumed.rate is not None
    assert assumed.rate.ttft_ms is not None
    assert assumed.rate.ttft_ms.value <= 2000
    tighter = sized(kb, **long, ttft_ms=1000)
    assert tighter.rate is not None
    assert tighter.rate.ttft_ms is not None
    assert tighter.rate.ttft_ms.value <= 1000
    beyond = sized(kb, workload="server", input_tokens=60_000, context_tokens=131_072)
    assert beyond.rate is not None
    assert beyond.rate.ttft_ms is not None
    assert beyond.rate.ttft_ms.value > 2000


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


def test_a_fit_inside_what_was_audited_stays_as_it_is(kb: KnowledgeBase) -> None:
    """gpt-oss 120B in FP4 on MI355X: the fitted interactive rate lies under the audited server rate, so nothing holds it."""
    found = sized(kb, "mi355x-node", model="gpt-oss-120b", weight_precision="fp4", tpot_ms=15)
    assert found.rate is not None
    assert not any("held to what was audited" in step for step in found.rate.steps)
