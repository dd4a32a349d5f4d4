"""The closed form of a deployment from its terms and coefficients, by hand on a model with round widths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from test_performance_arithmetic import MACHINE, model, share, steps

from advisor.records import AttentionGroup, Layout
from advisor.sizing.calibration import Coefficients
from advisor.sizing.deployment import Curve, Deployment, Prefill, Speculation
from advisor.sizing.fleet import demand_from
from advisor.sizing.hf.config import read_config
from advisor.sizing.kv_cache import KvCost, Part
from advisor.sizing.steps import FIRST_TERMS, STEP_TERMS, Steps, steps_of

ONE = Layout(tp=1)
STEP = {
    "dense_weights": 1.5,
    "expert_weights": 2.0,
    "cache": 3.0,
    "compute": 1.25,
    "layer_us": 30.0,
    "prompt_compute": 2.0,
    "all_reduce": 4.0,
}
FIRST = {
    "base_ms": 7.0, "steps": 2.0, "sequence_ms": 0.5, "layer_us": 100.0, "latent_layer_us": 1000.0, "queue_latent_layer_us": 10.0, "own_compute": 3.0,
    "own_attention": 5.0, "queue_compute": 0.25, "queue_attention": 0.75, "admission": 0.9,
}  # fmt: skip


def coefficients(**more: Any) -> Coefficients:
    own: dict[str, Any] = {
        "step_low": 0.8,
        "step_high": 1.2,
        "first_low": 0.5,
        "first_high": 2.0,
        "basis": "calibrated",
        "like": "seen",
        "entry": "x",
    }
    return Coefficients(
        step=tuple(STEP.get(name, 0.0) for name in STEP_TERMS), first=tuple(FIRST.get(name, 0.0) for name in FIRST_TERMS), **(own | more)
    )  # fmt: skip


def deployment(
    layout: Layout = ONE, *, prefill: Prefill | None = None, own: Steps | None = None, pool: float = 16e6
) -> Deployment:
    """1,600 B of cache a token in blocks of one token; 16 MB hold 10 sequences of 1,000."""
    decode = own or steps(layout)
    prompt = steps_of(model(), prefill.layout, share(prefill.layout), MACHINE) if prefill else decode
    cost = KvCost(bytes_per_token=1600, parts=(Part(bytes_per_token=1600),), state_bytes=0, block_tokens=1)
    return Deployment(
        steps=decode, prompt_steps=prompt, coefficients=coefficients(), cost=cost, pool_bytes=pool, short_bytes=0, layout=layout, prefill=prefill
    )  # fmt: skip


def lines(own: Deployment, *, prefill: bool = True) -> dict[str, Any]:
    return dict(zip(STEP_TERMS, own.steps.lines(400, 200, 1000, prefill=prefill), strict=True))


def curve(own: Deployment, speculation: Speculation | None = None) -> Curve:
    """Prompts of 400, answers of 200, a mean context of 1,000."""
    return own.curve(400, 200, 1000, speculation)


def test_each_coefficient_multiplies_its_term() -> None:
    """Weights and layers are fixed, cache and products grow with sequences, experts are touched, prompts come on top of a step."""
    own = deployment()
    found, term = curve(own), lines(own)
    assert found.fixed == found.step_fixed == pytest.approx(1.5 * term["dense_weights"].fixed + 30 * 2e-3)
    grows = 3 * term["cache"].per_sequence + 1.25 * term["compute"].per_sequence
    assert found.step_slope == pytest.approx(grows)
    assert found.slope == pytest.approx(grows + 2 * term["prompt_compute"].per_sequence)
    assert found.touched == pytest.approx(2 * term["expert_weights"].touched)
    assert (found.pass_fixed, found.pass_touched) == (
        term["dense_weights"].fixed,
        term["expert_weights"].touched,
    )
    assert (found.idle, found.per_step, found.output_tokens) == (own.steps.log_idle, 1.0, 200)
    assert found.places == pytest.approx(10)


def test_the_first_token_waits_for_its_own_prompt_and_those_before_it() -> None:
    """7 ms, 100 µs for each of two layers, three times the products and five times the attention of a prompt; a queue of shares."""
    own = deployment()
    found = curve(own)
    products, _, attention, _, _ = own.prompt_steps.prompt(400)
    assert found.first_fixed == pytest.approx(7 + 100 * 2e-3 + 3 * products + 5 * attention)
    assert found.first_slope == pytest.approx(0.5 + 0.25 * products + 0.75 * attention)
    assert (found.first_steps, found.admission) == (2.0, 0.9)


def test_layers_of_latent_attention_cost_on_their_own_and_for_each_in_the_queue() -> None:
    """Three latent layers: 1,000 µs each for the own prompt, 10 µs each for every concurrent sequence."""
    latent = AttentionGroup(
        layers=3, kind="mla", heads=10, kv_lora_rank=512, rope_head_dim=64, nope_head_dim=128, v_head_dim=128
    )
    own = deployment(own=steps(ONE, latent))
    products, _, attention, _, _ = own.prompt_steps.prompt(400)
    found = curve(own)
    assert found.first_fixed == pytest.approx(7 + 100 * 3e-3 + 1000 * 3e-3 + 3 * products + 5 * attention)
    assert found.first_slope == pytest.approx(0.5 + 10 * 3e-3 + 0.25 * products + 0.75 * attention)


def test_a_pool_of_its_own_for_prompts_frees_the_decoding_step() -> None:
    """Two prefill workers of TP2 beside three decoding ones: no prompts in a step, and one and a half times as many ahead in the queue."""
    pool = Prefill(layout=Layout(tp=2), workers=2, decode_workers=3)
    own = deployment(prefill=pool)
    found = curve(own)
    assert found.slope == found.step_slope
    products, _, attention, _, _ = own.prompt_steps.prompt(400)
    assert found.first_slope == pytest.approx((0.5 + 0.25 * products + 0.75 * attention) * 3 / 2)
    assert own.accelerators == 1 + 2 * 2 / 3
    assert deployment().accelerators == 1
    staged = deployment(Layout(tp=1, pp=2))
    alone, _, half, _, _ = staged.prompt_steps.prompt(400)
    assert curve(staged).first_slope == pytest.approx((0.5 + 0.25 * alone + 0.75 * half) / 2)


def test_drafts_cost_a_layer_each_and_every_token_verified() -> None:
    """Two drafts, 1.5 kept: a step yields 2.5 tokens, reads twice a half more, touches experts as three tokens do; prompts per step rise alike."""
    own = deployment()
    plain, drafted, term = curve(own), curve(own, Speculation(drafted=2, accepted=1.5)), lines(own)
    assert drafted.per_step == 2.5
    assert drafted.fixed == pytest.approx(plain.fixed * (1 + 2 / 2))
    assert drafted.idle == pytest.approx(plain.idle * 3)
    verified = 1.25 * term["compute"].per_sequence + 4 * term["all_reduce"].per_sequence
    assert drafted.step_slope == pytest.approx(plain.step_slope + 2 * verified)
    assert drafted.slope - drafted.step_slope == pytest.approx((plain.slope - plain.step_slope) * 2.5)


def test_places_are_whole_pools_over_sequences_and_at_least_one() -> None:
    """Ten of 1,000 tokens; twice as many on two data-parallel ranks; one even where nothing fits; without a cache no end."""
    assert deployment().places(1000) == 10
    assert deployment(Layout(tp=1, dp=2)).places(1000) == 20
    assert deployment(pool=1).places(1000) == 1
    own = deployment()
    free = replace(own, cost=KvCost(bytes_per_token=0, parts=(), state_bytes=0, block_tokens=1))
    assert free.places(1000) == float("inf")


def test_the_conversion_of_requests_is_said() -> None:
    """20 requests/s of 300 tokens are 6,000 tok/s; users without a limit on a token give no rate."""
    _, said = demand_from(
        throughput_tokens_per_s=None,
        requests_per_second=20,
        concurrency=None,
        output_tokens=300,
        tpot_ms=None,
    )
    assert said == ("20 requests/s × 300 output tokens = 6,000 tok/s",)
    demand, said = demand_from(
        throughput_tokens_per_s=None,
        requests_per_second=None,
        concurrency=10,
        output_tokens=300,
        tpot_ms=None,
    )
    assert (demand.output_tokens_per_s, said) == (None, ())


@pytest.mark.parametrize(
    "field", ["layer_types", "layers_block_type", "attention_layer_types", "hybrid_layer_types"]
)
def test_each_name_of_the_list_of_layers_is_read(field: str) -> None:
    """Published configs use four names for it."""
    config = {
        "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 1000, "intermediate_size": 4000, "num_attention_heads": 10, "vocab_size": 32000,
        "max_position_embeddings": 8192, "sliding_window": 512, field: ["full_attention", "sliding_attention"],
    }  # fmt: skip
    assert [group.kind for group in read_config(config).model.architecture.attention] == ["full", "sliding"]
