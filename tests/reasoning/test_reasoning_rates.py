"""The rate of one system: at, between and beyond audited limits, for other lengths, and where nobody ran the scenario."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from sized_cases import RACK, audited, rate, sized

from advisor.evidence.rates import closest_rate
from advisor.knowledge import KnowledgeBase


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


def test_a_fit_inside_what_was_audited_stays_as_it_is(kb: KnowledgeBase) -> None:
    """gpt-oss 120B in FP4 on MI355X: the fitted interactive rate lies under the audited server rate, so nothing holds it."""
    found = sized(kb, "mi355x-node", model="gpt-oss-120b", weight_precision="fp4", tpot_ms=15)
    assert found.rate is not None
    assert not any("held to what was audited" in step for step in found.rate.steps)
