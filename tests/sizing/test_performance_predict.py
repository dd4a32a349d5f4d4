"""Predictions of deployments: against measured servers, and what must hold whatever the numbers are."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Layout, Model, System
from advisor.sizing.memory import pick_checkpoint
from advisor.sizing.performance import (
    OperatingPoint,
    Prediction,
    Prefill,
    Speculation,
    operating_point,
    predict,
)


def parts(kb: KnowledgeBase, model: str, precision: str, system: str) -> tuple[Any, ...]:
    record, home = kb.find("models", model), kb.find("systems", system)
    assert isinstance(record, Model)
    assert isinstance(home, System)
    accelerator = kb.entries[home.accelerator]
    assert isinstance(accelerator, Accelerator)
    return kb, record, pick_checkpoint(record, precision), home, accelerator


def ask(
    kb: KnowledgeBase, model: str, precision: str, system: str, layout: Layout, batch: float, *, input_tokens: float = 1024,
    output_tokens: float = 1024, **more: Any,
) -> Prediction:  # fmt: skip
    return predict(
        *parts(kb, model, precision, system), layout, batch_per_replica=batch, input_tokens=input_tokens,
        output_tokens=output_tokens, **more,
    )  # fmt: skip


def point(
    kb: KnowledgeBase, model: str, precision: str, system: str, layout: Layout, **more: Any
) -> OperatingPoint | None:
    asked: dict[str, Any] = {
        "ttft_ms": None, "tpot_ms": None, "input_tokens": 1024, "output_tokens": 1024, "max_batch": 4096, **more
    }  # fmt: skip
    return operating_point(*parts(kb, model, precision, system), layout, **asked)


@pytest.mark.parametrize(
    ("model", "precision", "system", "engine", "layout", "batch", "tpot_ms"),
    [
        ("llama-3.1-70b", "fp8", "hgx-h200", "vllm", Layout(tp=4), 16, 13.2),
        ("gpt-oss-120b", "fp4", "hgx-h200", "trtllm", Layout(tp=2), 16, 8.90),
        ("minimax-m2.5", "fp8", "hgx-b200", "vllm", Layout(tp=2), 64, 22.3),
        ("deepseek-r1", "fp4", "hgx-b200", "sglang", Layout(tp=8), 64, 19.1),
    ],
)
def test_measured_servers_are_met_within_a_quarter(
    kb: KnowledgeBase, model: str, precision: str, system: str, engine: str, layout: Layout, batch: float, tpot_ms: float
) -> None:  # fmt: skip
    """1k in, 1k out, as public InferenceX runs measured it between 2025-10 and 2026-04 (aiconfigurator's table)."""
    found = ask(kb, model, precision, system, layout, batch, engine=engine).tpot_ms
    assert found.value == pytest.approx(tpot_ms, rel=0.25)
    assert found.basis == "calibrated"
    assert found.evidence[0].startswith("calibration/serving-")


def test_no_token_is_faster_than_one_pass_over_the_weights(kb: KnowledgeBase) -> None:
    """Llama-3.1-8B in 16 bit cannot decode faster than 15.0e9 B / 3.35 TB/s on one H100 (data sheet): 4.48 ms."""
    assert ask(kb, "llama-3.1-8b", "bf16", "hgx-h100", Layout(tp=1), 1).tpot_ms.low > 4.0


BATCHES = st.integers(1, 512)


@settings(max_examples=60, deadline=None)
@given(one=BATCHES, other=BATCHES, tokens=st.integers(64, 8192))
def test_more_sequences_never_make_a_user_faster(
    kb: KnowledgeBase, one: int, other: int, tokens: int
) -> None:
    """Both latencies grow with the load, and each value lies inside its own interval."""
    low, high = sorted((one, other))
    a, b = (
        ask(kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=8), n, input_tokens=tokens) for n in (low, high)
    )
    assert a.tpot_ms.value <= b.tpot_ms.value * 1.0001
    assert a.ttft_ms.value <= b.ttft_ms.value * 1.0001
    for estimate in (a.tpot_ms, a.ttft_ms, a.throughput_per_accelerator):
        assert estimate.low <= estimate.value <= estimate.high


def test_requests_beyond_the_cache_wait_for_a_place(kb: KnowledgeBase) -> None:
    """MiniMax-M2.5 FP8 on two B200 at 8k in: TPOT stayed at 46.7-47.0 ms from 128 to 256 users while TTFT went from 11.5 to
    63.9 s (InferenceX, 2026-03)."""
    some, many = (
        ask(kb, "minimax-m2.5", "fp8", "hgx-b200", Layout(tp=2), n, input_tokens=8192, engine="vllm")
        for n in (128, 256)
    )
    assert many.tpot_ms.value == pytest.approx(some.tpot_ms.value, rel=0.02)
    assert many.ttft_ms.value > 3 * some.ttft_ms.value


@pytest.mark.parametrize("width", [8, 16, 32])
def test_ranks_beside_it_do_not_attend_for_a_prompt(kb: KnowledgeBase, width: int) -> None:
    """Kimi K2 (61 layers, 64 heads of 192 + 128): a prompt of 100,000 tokens is 61 · 64 · 2 · 320 · 100,000² / 2 = 12.5e15
    operations of attention. On one GB200 (2.5e15/s dense in 16 bit) they take 5 s, however many ranks have requests of their own.
    """
    found = ask(
        kb, "kimi-k2", "fp8", "gb200-nvl72", Layout(tp=1, dp=width, ep=width), 1, input_tokens=100_000, output_tokens=2_000
    )  # fmt: skip
    assert found.ttft_ms.low >= 61 * 64 * 320 * 100_000**2 / 2.5e15 * 1000


def test_a_prompt_is_spread_over_a_tensor_parallel_group(kb: KnowledgeBase) -> None:
    """Heads of one sequence are spread over its group: the least time of a prompt halves as the group doubles."""
    one, two = (
        ask(
            kb,
            "llama-3.1-70b",
            "fp8",
            "hgx-b200",
            Layout(tp=width),
            1,
            input_tokens=100_000,
            output_tokens=10,
        )
        for width in (4, 8)
    )
    assert two.ttft_ms.low < one.ttft_ms.low


def test_weights_that_do_not_fit_are_refused_by_name(kb: KnowledgeBase) -> None:
    """Llama-3.1-405B in 16 bit (810 GB) is not served by one H100."""
    with pytest.raises(InputError, match=r"the weights need .* more on each accelerator"):
        ask(kb, "llama-3.1-405b", "bf16", "hgx-h100", Layout(tp=1), 1)


@pytest.mark.parametrize("field", ["batch", "input_tokens", "output_tokens"])
def test_a_load_of_nothing_is_refused(kb: KnowledgeBase, field: str) -> None:
    """Zero requests or tokens have no latency."""
    load = {"batch": 1, "input_tokens": 1, "output_tokens": 1} | {field: 0}
    with pytest.raises(InputError, match="must be positive"):
        ask(kb, "llama-3.1-8b", "fp8", "hgx-h100", Layout(tp=1), **load)


def test_a_width_written_as_tp_times_ep_is_read_as_it_ran(kb: KnowledgeBase) -> None:
    """Tables hold one run twice, as 8 and as 64 = 8 x 8 accelerators of an 8-GPU node, with equal latencies."""
    folded = ask(kb, "deepseek-r1", "fp4", "hgx-b200", Layout(tp=64, ep=8), 64, engine="sglang")
    plain = ask(kb, "deepseek-r1", "fp4", "hgx-b200", Layout(tp=8, ep=8), 64, engine="sglang")
    assert folded.tpot_ms.value == plain.tpot_ms.value
    assert "read as a group of 8" in folded.tpot_ms.note


def test_speculation_is_off_unless_asked_for(kb: KnowledgeBase) -> None:
    """Three drafts of which 1.7 are kept give fewer milliseconds a token, and steps that each take longer."""
    plain = ask(kb, "deepseek-r1", "fp4", "hgx-b200", Layout(tp=8, ep=8), 8)
    drafted = ask(
        kb,
        "deepseek-r1",
        "fp4",
        "hgx-b200",
        Layout(tp=8, ep=8),
        8,
        speculation=Speculation(drafted=3, accepted=1.7),
    )
    assert plain.tpot_ms.value / 2.7 < drafted.tpot_ms.value < plain.tpot_ms.value


def test_a_prefill_pool_takes_prompts_off_the_decoding_steps(kb: KnowledgeBase) -> None:
    """Long prompts: disaggregation lowers TPOT, and its accelerators count in the rate per accelerator."""
    prefill = Prefill(layout=Layout(tp=4, ep=4), workers=1, decode_workers=1)
    shared = ask(kb, "deepseek-r1", "fp4", "gb200-nvl72", Layout(tp=8, ep=8), 64, input_tokens=8192)
    apart = ask(
        kb, "deepseek-r1", "fp4", "gb200-nvl72", Layout(tp=8, ep=8), 64, input_tokens=8192, prefill=prefill
    )
    assert apart.tpot_ms.value < shared.tpot_ms.value


def test_an_unmeasured_accelerator_has_a_wider_interval(kb: KnowledgeBase) -> None:
    """Nothing in the measured table ran on an MI325X: the note says so and the interval is that of left-out accelerators."""
    measured = ask(kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=4), 16).tpot_ms
    foreign = ask(kb, "llama-3.1-70b", "fp8", "mi325x-node", Layout(tp=4), 16).tpot_ms
    assert foreign.note == "no server on this accelerator was measured; what others have in common stands in"
    assert foreign.high / foreign.low > measured.high / measured.low


def test_without_any_calibration_only_the_bound_is_claimed(kb: KnowledgeBase) -> None:
    """A knowledge base without fits still answers, as a bound: nothing is faster than the data sheet."""
    bare = KnowledgeBase(entry for entry in kb.entries.values() if entry.kind != "calibration")
    bound = ask(bare, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=4), 16).tpot_ms
    assert bound.basis == "bound"
    assert (
        bound.low == bound.value < ask(kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=4), 16).tpot_ms.value
    )


@settings(max_examples=40, deadline=None)
@given(limit=st.floats(8, 200))
def test_the_operating_point_is_the_last_one_within_the_limit(kb: KnowledgeBase, limit: float) -> None:
    """One sequence more would break the limit, unless the batch was capped."""
    found = point(kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=4), tpot_ms=limit)
    if found is None:
        assert ask(kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=4), 1).tpot_ms.value > limit
        return
    assert found.prediction.tpot_ms.value <= limit
    more = ask(
        kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=4), found.batch_per_replica + 1
    ).tpot_ms.value
    places_used_up = more == pytest.approx(found.prediction.tpot_ms.value, rel=1e-3)
    assert more > limit or places_used_up or found.batch_per_replica == 4096


def test_a_limit_nobody_meets_has_no_operating_point(kb: KnowledgeBase) -> None:
    """One millisecond a token is below one pass over 70 billion weights on four H200."""
    assert point(kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=4), tpot_ms=1.0) is None


def test_both_limits_bind(kb: KnowledgeBase) -> None:
    """A tight TTFT lowers the batch that TPOT alone would allow."""
    loose = point(kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=4), tpot_ms=40)
    tight = point(kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=4), tpot_ms=40, ttft_ms=250)
    assert loose is not None
    assert tight is not None
    assert tight.batch_per_replica < loose.batch_per_replica
    assert tight.prediction.ttft_ms.value <= 250


def test_prediction_needs_no_numerical_library() -> None:
    """numpy belongs to fitting: asking for a prediction never imports it."""
    code = "import sys, advisor.sizing.performance, advisor.sizing.refit.accuracy; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
