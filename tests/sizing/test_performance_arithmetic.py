"""Shares and step times of a made-up model with round widths, so that every term can be worked out by hand.

Two layers of ten heads (two for keys and values) of 100 values on a hidden width of 1,000; one dense layer of 4,000, one
of eight experts of 500 of which a token uses two, and a shared one. The machine's rates are round powers of ten.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from advisor.records import Architecture, AttentionGroup, Cell, Checkpoint, FeedForwardGroup, Layout, Model
from advisor.sizing.deployment import Curve
from advisor.sizing.operating_point import largest_batch
from advisor.sizing.shares import Share, share_of
from advisor.sizing.steps import STEP_TERMS, Line, Machine, Steps, steps_of

FULL = AttentionGroup(layers=2, heads=10, kv_heads=2, head_dim=100)
MACHINE = Machine(hbm=1e9, operations=2e9, wide_operations=1e9, link=1e6, network=1e5, domain=2)
ATTENTION = 2 * (2 * 1000 * 1000 + 2 * 200 * 1000)  # queries and output, keys and values, of both layers
NORMS, ROUTER, HEAD = 1000 * 5, 8 * 1000, 32_000 * 1000
MLP, SHARED, EXPERTS = 3 * 4000 * 1000, 3 * 500 * 1000, 8 * 3 * 500 * 1000


def model(*attention: AttentionGroup, experts: int = 8) -> Model:
    groups = attention or (FULL,)
    layers = sum(group.layers for group in groups)
    return Model(
        id="models/round", title="Round", family="round", parameters_total=Cell(value=1), context_limit=Cell(value=8192),
        architecture=Architecture(
            type="round", hidden=1000, vocabulary=32_000, attention=groups,
            feed_forward=(
                FeedForwardGroup(layers=1, kind="dense", intermediate=4000),
                FeedForwardGroup(
                    layers=layers - 1, kind="moe", intermediate=500, experts=experts, experts_per_token=2, shared_experts=1,
                    shared_intermediate=500,
                ),
            ),
        ),
        checkpoints=(Checkpoint(precision="bf16"),),
    )  # fmt: skip


def share(layout: Layout, *attention: AttentionGroup, kv_precision: str = "bf16") -> Share:
    record = model(*attention)
    return share_of(record, record.checkpoints[0], layout, kv_precision)


def steps(layout: Layout, *attention: AttentionGroup) -> Steps:
    return steps_of(model(*attention), layout, share(layout, *attention), MACHINE)


def term(found: Steps, name: str, *, prefill: bool = True) -> Line:
    """A term for prompts of 400 tokens, answers of 200 and a mean context of 500."""
    return found.lines(400, 200, 500, prefill=prefill)[list(STEP_TERMS).index(name)]


def test_one_accelerator_reads_and_multiplies_all_but_the_embedding() -> None:
    """Each value is two bytes; of the experts a token multiplies a quarter (2 of 8)."""
    found = share(Layout(tp=1))
    dense = ATTENTION + NORMS + ROUTER + MLP + SHARED + HEAD
    assert found.dense_values == dense
    assert found.dense_bytes == 2 * dense
    assert found.head_values == HEAD
    assert found.expert_bytes == 2 * EXPERTS
    assert found.expert_values == EXPERTS / 4
    assert found.state_bytes == 0


def test_parallelism_cuts_matrices_and_copies_norms_and_router() -> None:
    """TP2 halves what has rows or columns; four ranks of experts hold two each, and a replica's tokens fall on any of them."""
    found = share(Layout(tp=2, dp=2, ep=4))
    assert found.dense_values == (ATTENTION + MLP + SHARED + HEAD) / 2 + NORMS + ROUTER
    assert found.expert_bytes == 2 * EXPERTS / 4
    assert found.expert_values == EXPERTS / 4 / 4


def test_a_query_meets_keys_and_values_of_its_context() -> None:
    """Two layers x 2 heads x 200 values x 2 B per token; 2 operations for each of 10 heads x 200 values. TP2 halves both."""
    for tp in (1, 2):
        found = share(Layout(tp=tp))
        assert found.cache_bytes(500) == 500 * 2 * 2 * 200 * 2 / tp
        assert found.cache_operations(500) == 500 * 2 * 2 * 10 * 200 / tp
        assert found.prompt_attention(400) == 2 * 2 * 10 * 200 * 400 * 400 / 2 / tp


def test_a_window_caps_what_is_read_and_what_a_prompt_multiplies() -> None:
    """A window of 128: a query reads 128 tokens however long the context, and sees half of a prompt shorter than 256."""
    found = share(
        Layout(tp=1),
        FULL,
        AttentionGroup(layers=1, kind="sliding", heads=10, kv_heads=2, head_dim=100, window=128),
    )
    alone = share(Layout(tp=1))
    assert found.cache_bytes(500) - alone.cache_bytes(500) == 128 * 2 * 200 * 2
    assert found.cache_bytes(100) - alone.cache_bytes(100) == 100 * 2 * 200 * 2
    assert found.cache_operations(500) - alone.cache_operations(500) == 128 * 2 * 10 * 200
    assert found.prompt_attention(400) - alone.prompt_attention(400) == 2 * 10 * 200 * 400 * 128
    assert found.prompt_attention(200) - alone.prompt_attention(200) == 2 * 10 * 200 * 200 * 100


def test_latent_attention_reads_one_latent_and_multiplies_it_for_each_head() -> None:
    """MLA, 3 layers: 512 + 64 values a token; 10 heads x (2 x 512 + 64) when decoding, x (128 + 64 + 128) in a prompt."""
    latent = AttentionGroup(
        layers=3, kind="mla", heads=10, kv_lora_rank=512, rope_head_dim=64, nope_head_dim=128, v_head_dim=128
    )
    found = share(Layout(tp=1), latent)
    assert found.cache_bytes(500) == 500 * 3 * 576 * 2
    assert found.cache_operations(500) == 500 * 3 * 2 * 10 * 1088
    assert found.prompt_attention(400) == 3 * 2 * 10 * 320 * 400 * 400 / 2
    halved = share(Layout(tp=2), latent)
    assert halved.cache_bytes(500) == found.cache_bytes(500)  # each rank holds the whole latent
    assert halved.cache_operations(500) == found.cache_operations(500) / 2


def test_an_indexer_scores_every_token_and_passes_on_its_selection() -> None:
    """4 index heads of 50 values score all 500 tokens; attention then reads the 200 selected. A prompt does the same."""
    sparse = AttentionGroup(
        layers=3, kind="mla", heads=10, kv_lora_rank=512, rope_head_dim=64, nope_head_dim=128, v_head_dim=128, index_heads=4,
        index_head_dim=50, index_topk=200,
    )  # fmt: skip
    found = share(Layout(tp=1), sparse)
    assert found.cache_operations(500) == 200 * 3 * 2 * 10 * 1088 + 500 * 3 * 2 * 4 * 50
    assert found.prompt_attention(400) == 3 * 2 * 4 * 50 * 400 * 400 / 2 + 3 * 2 * 10 * 320 * 400 * 200
    assert found.cache_bytes(500) - found.cache_bytes(400) == pytest.approx(100 * 3 * 50)


def test_states_of_linear_layers_are_read_and_written_in_32_bit() -> None:
    """Three layers of 6,000 values: 4 bytes, in and out, cut by TP; no operations over a cache that they do not have."""
    linear = AttentionGroup(layers=3, kind="linear", state_values=6000, parameters_per_layer=1)
    for tp in (1, 2):
        found = share(Layout(tp=tp), FULL, linear)
        assert found.state_bytes == 3 * 6000 * 4 * 2 / tp
        assert found.cache_operations(500) == share(Layout(tp=tp)).cache_operations(500)
        assert found.prompt_attention(400) == share(Layout(tp=tp)).prompt_attention(400)


def test_every_term_of_one_accelerator_by_hand() -> None:
    """One GPU: bytes over 1e9 a ms, operations over 2e9 (attention 1e9), nothing crosses a link; 2 prompt tokens a token."""
    found, own = steps(Layout(tp=1)), share(Layout(tp=1))
    dense = own.dense_values
    expected = {
        "dense_weights": Line(fixed=2 * dense / 1e9),
        "expert_weights": Line(touched=2 * EXPERTS / 1e9),
        "cache": Line(per_sequence=500 * 1600 / 1e9),
        "compute": Line(per_sequence=2 * (dense + EXPERTS / 4) / 2e9),
        "cache_compute": Line(per_sequence=500 * 8000 / 1e9),
        "layer_us": Line(fixed=2e-3), "moe_layer_us": Line(fixed=1e-3), "sequence_layer_ns": Line(per_sequence=2e-6),
        "prompt_compute": Line(per_sequence=2 * 2 * (dense - HEAD) / 2e9),
        "prompt_experts": Line(per_sequence=2 * 2 * EXPERTS / 4 / 2e9),
        "prompt_attention": Line(per_sequence=8000 * 400 * 400 / 2 / 200 / 1e9),
    }  # fmt: skip
    for name in STEP_TERMS:
        line = term(found, name)
        wanted = expected.get(name, Line())
        assert (line.fixed, line.per_sequence, line.touched) == pytest.approx(
            (wanted.fixed, wanted.per_sequence, wanted.touched)
        ), name


WIDE = Layout(tp=2, dp=2, ep=4, pp=2)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # a rank is one of 2 x 2 (dp, pp), so it meets every fourth sequence; a link carries what 2 x 4 accelerators share
        ("cache", 500 * 800 / 1e9 / 4),
        ("compute", 2 * ((ATTENTION + MLP + SHARED + HEAD) / 2 + NORMS + ROUTER) / 2e9 / 4 + 2 * EXPERTS / 16 / 2e9 / 2),
        ("cache_compute", 500 * 4000 / 1e9 / 4),
        # 2 x 2 layers x 1000 x 2 B over two ranks: 2 x 1/2 of it through the link
        ("all_reduce", 8000 / 1e6 / 4),
        # 1 layer x 2 experts x 1000 x 3 B; of four ranks one is the own, one shares the domain, two are across the network
        ("all_to_all", 6000 * 1 / 4 / 1e6 / 8),
        ("scale_out", 6000 * 2 / 4 / 1e5 / 8),
        ("sequence_layer_ns", 2e-6 / 4),
        ("prompt_compute", 2 * 2 * ((ATTENTION + MLP + SHARED) / 2 + NORMS + ROUTER) / 2e9 / 4),
        ("prompt_experts", 2 * 2 * EXPERTS / 16 / 2e9 / 2),
        ("prompt_attention", 4000 * 400 * 400 / 2 / 200 / 1e9 / 4),
        ("prompt_all_reduce", 2 * 8000 / 1e6 / 4),
        ("prompt_all_to_all", 2 * (6000 / 4 / 1e6 + 6000 / 2 / 1e5) / 8),
    ],
)  # fmt: skip
def test_what_grows_with_sequences_is_shared_by_ranks_and_stages(name: str, expected: float) -> None:
    """TP2 x DP2 x PP2 with four ranks of experts, across two domains of two accelerators."""
    assert term(steps(WIDE), name).per_sequence == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("layer_us", 2e-3), ("tensor_hop_us", 2e-3 * 1), ("expert_hop_us", 1e-3 * 2), ("network_hop_us", 2e-3)],
)
def test_launches_and_hops_cost_each_layer_whatever_the_batch(name: str, expected: float) -> None:
    """Two layers; log2 of TP2 is one doubling, of EP4 two; a group of four crosses a domain of two."""
    assert term(steps(WIDE), name).fixed == pytest.approx(expected)


def test_hops_exist_only_where_there_is_something_to_hop_over() -> None:
    """A group that fills its domain crosses nothing; experts without a data-parallel attention are no dispatch."""
    inside = steps(Layout(tp=2, ep=2))
    assert term(inside, "network_hop_us").fixed == 0
    assert term(inside, "expert_hop_us").fixed == 0
    assert term(inside, "all_to_all").per_sequence == 0
    assert term(steps(Layout(tp=1, dp=2)), "all_to_all").per_sequence == 0
    assert term(steps(Layout(tp=1, dp=2, ep=2)), "all_to_all").per_sequence == pytest.approx(
        6000 / 2 / 1e6 / 2
    )


def test_an_all_reduce_wider_than_a_domain_also_crosses_the_network() -> None:
    """TP4 over domains of two: the inside as for two ranks; a half of the 8,000 B goes to the other domain and back."""
    found = steps(Layout(tp=4))
    assert term(found, "all_reduce").per_sequence == pytest.approx(8000 * 2 * 1 / 2 / 1e6)
    assert term(found, "scale_out").per_sequence == pytest.approx(8000 / 2 * 2 * 1 / 2 / 1e5)
    assert term(found, "prompt_all_reduce").per_sequence == pytest.approx(2 * (8000 / 1e6 + 4000 / 1e5))


def test_layers_of_each_kind_count_for_their_own_terms() -> None:
    """3 latent layers (with an indexer), 4 linear, 5 of Mamba."""
    latent = AttentionGroup(
        layers=3, kind="mla", heads=10, kv_lora_rank=512, rope_head_dim=64, nope_head_dim=128, index_heads=4, index_head_dim=50,
        index_topk=200,
    )  # fmt: skip
    linear = AttentionGroup(layers=4, kind="linear", parameters_per_layer=1)
    mamba = AttentionGroup(layers=5, kind="mamba", parameters_per_layer=1)
    found = steps(Layout(tp=1), latent, linear, mamba)
    counted = {
        name: round(term(found, name).fixed * 1000)
        for name in ("layer_us", "moe_layer_us", "latent_layer_us", "linear_layer_us", "sparse_layer_us")
    }
    assert counted == {
        "layer_us": 12, "moe_layer_us": 11, "latent_layer_us": 3, "linear_layer_us": 9, "sparse_layer_us": 3,
    }  # fmt: skip


def test_a_prompt_of_its_own_runs_on_every_tensor_rank_and_data_ranks_take_turns() -> None:
    """400 tokens: products, experts, attention, all-reduce and dispatch of TP2 x DP2 across two domains."""
    found = steps(Layout(tp=2, dp=2, ep=4))
    assert found.prompt(400) == pytest.approx(
        (
            2 * 400 * ((ATTENTION + MLP + SHARED) / 2 + NORMS + ROUTER) / 2e9 / 2, 2 * 400 * EXPERTS / 16 / 2e9,
            4000 * 400 * 400 / 2 / 1e9 / 2, 400 * 8000 / 1e6 / 2, 400 * (6000 / 4 / 1e6 + 6000 / 2 / 1e5) / 4,
        )
    )  # fmt: skip


def test_a_token_leaves_six_of_eight_experts_untouched() -> None:
    """Each sequence of a replica draws 2 of 8; a pipeline stage sees one of two sequences at a time."""
    assert steps(Layout(tp=1)).log_idle == pytest.approx(math.log(0.75))
    assert steps(Layout(tp=1, pp=2)).log_idle == pytest.approx(math.log(0.75) / 2)
    every = model(experts=2)
    used = steps_of(every, Layout(tp=1), share(Layout(tp=1)), MACHINE)
    assert used.log_idle == -math.inf


CURVE = Curve(
    fixed=10.0, slope=0.5, touched=8.0, idle=math.log(0.5), step_fixed=9.0, step_slope=0.25, first_fixed=100.0,
    first_slope=2.0, first_steps=3.0, first_bound=130.0, admission=0.5, per_step=2.0, places=16.0, output_tokens=50.0, pass_fixed=6.0,
    pass_touched=4.0,
)  # fmt: skip


def test_the_closed_form_by_hand() -> None:
    """At two sequences half of the experts is missed twice: 1/4; two tokens leave each step."""
    assert CURVE.tpot_ms(2) == pytest.approx((10 + 0.5 * 2 + 8 * 0.75) / 2)
    assert CURVE.step_ms(2) == pytest.approx(9 + 0.25 * 2 + 8 * 0.75)
    assert CURVE.ttft_ms(2) == pytest.approx(100 + 2 * 2 + 3 * (9 + 0.5 + 6))
    assert CURVE.bound_ms(2) == pytest.approx((6 + 4 * 0.75) / 2)


def test_the_first_token_waits_for_its_own_prompt() -> None:
    """One sequence: 100 + 2 + 3 · (9 + 0.25 + 4) = 141.75 is above the bound of 130; without waiting steps it is the bound."""
    assert CURVE.ttft_ms(1) == pytest.approx(141.75)
    assert replace(CURVE, first_steps=0.0).ttft_ms(1) == 130.0
    waiting = replace(CURVE, first_steps=0.0, first_fixed=0.0)
    assert waiting.ttft_ms(32) == pytest.approx(130 + 0.5 * 1 * 50 * CURVE.tpot_ms(16))
    assert largest_batch(waiting, ttft_ms=129.0, tpot_ms=None, max_batch=100) is None


def test_requests_beyond_the_places_wait_for_one() -> None:
    """32 requests for 16 places: each token as at 16; half of the wait for one whole turn of 50 tokens comes before the first."""
    assert CURVE.tpot_ms(32) == CURVE.tpot_ms(16)
    assert CURVE.step_ms(32) == CURVE.step_ms(16)
    assert CURVE.bound_ms(32) == CURVE.bound_ms(16)
    assert CURVE.ttft_ms(32) == pytest.approx(CURVE.ttft_ms(16) + 0.5 * 1 * 50 * CURVE.tpot_ms(16))
    assert CURVE.ttft_ms(24) == pytest.approx(CURVE.ttft_ms(16) + 0.5 * 0.5 * 50 * CURVE.tpot_ms(16))


def test_the_largest_batch_is_the_last_within_the_limits() -> None:
    """Limits at exactly what a batch of 14, of 7, of 3 takes are met by it and by no larger one; memory ends at 16."""
    assert largest_batch(CURVE, ttft_ms=None, tpot_ms=CURVE.tpot_ms(14), max_batch=100) == 14
    assert largest_batch(CURVE, ttft_ms=CURVE.ttft_ms(7), tpot_ms=None, max_batch=100) == 7
    assert largest_batch(CURVE, ttft_ms=CURVE.ttft_ms(7), tpot_ms=CURVE.tpot_ms(3), max_batch=100) == 3
    assert largest_batch(CURVE, ttft_ms=None, tpot_ms=None, max_batch=100) == 16
    assert largest_batch(CURVE, ttft_ms=None, tpot_ms=None, max_batch=5.9) == 5
    assert largest_batch(CURVE, ttft_ms=None, tpot_ms=CURVE.tpot_ms(1) - 0.01, max_batch=100) is None
    assert largest_batch(CURVE, ttft_ms=CURVE.ttft_ms(1), tpot_ms=None, max_batch=0.5) == 1
