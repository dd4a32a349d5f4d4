"""Weights and cache of made-up models with round widths, worked out by hand; how parts fall on ranks, stages and blocks."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from advisor.records import Architecture, AttentionGroup, Cell, Checkpoint, FeedForwardGroup, Layout, Model
from advisor.sizing.kv_cache import has_growing_cache, kv_cost
from advisor.sizing.tensors import count_parameters, layer_tensors, mtp_tensors, side_tensors
from advisor.sizing.weights import checkpoint_bytes, weights_bytes

FULL = AttentionGroup(layers=4, heads=10, kv_heads=2, head_dim=100)
DENSE = FeedForwardGroup(layers=4, kind="dense", intermediate=4000)
ATTENTION, MLP, EDGE = (
    2 * 1000 * 1000 + 2 * 200 * 1000,
    3 * 4000 * 1000,
    32_000 * 1000,
)  # a layer, a layer, one end

ONE = Layout(tp=1)


def architecture(
    *attention: AttentionGroup, ffn: tuple[FeedForwardGroup, ...] = (), **more: Any
) -> Architecture:
    own = attention or (FULL,)
    layers = sum(group.layers for group in own)
    return Architecture(
        type="round", hidden=1000, vocabulary=32_000, attention=own,
        feed_forward=ffn or (FeedForwardGroup(layers=layers, kind="dense", intermediate=4000),), **more,
    )  # fmt: skip


def model(of: Architecture) -> Model:
    return Model(
        id="models/round", title="Round", family="round", parameters_total=Cell(value=1), context_limit=Cell(value=8192), architecture=of,
        checkpoints=(Checkpoint(precision="bf16"),),
    )  # fmt: skip


def weights(
    of: Architecture, layout: Layout = ONE, checkpoint: Checkpoint | None = None, **terms: float
) -> float:
    return weights_bytes(model(of), checkpoint or Checkpoint(precision="bf16"), layout, terms)


def test_a_dense_model_on_one_accelerator() -> None:
    """Two bytes for each matrix, both ends and 2 x 4 + 1 norms; tied ends count once."""
    expected = 4 * (ATTENTION + MLP) + 2 * EDGE + 9 * 1000
    assert weights(architecture()) == 2 * expected
    assert weights(architecture(tied_embeddings=True)) == 2 * (expected - EDGE)
    assert checkpoint_bytes(model(architecture()), Checkpoint(precision="bf16")) == 2 * expected
    counted = count_parameters(architecture())
    assert counted.total == expected
    assert counted.active == expected - EDGE  # the embedding is looked up, not multiplied
    assert (counted.embedding, counted.attention, counted.experts, counted.other) == (
        2 * EDGE,
        4 * ATTENTION,
        0,
        4 * MLP + 9000,
    )
    assert count_parameters(architecture(tied_embeddings=True)).active == expected - EDGE


def test_tensor_parallelism_cuts_matrices_and_copies_heads_and_norms() -> None:
    """TP4 with two KV heads: each rank holds one of them; queries in heads of 2.5 are rounded up to three."""
    expected = 4 * (2 * 1000 * 300 + 2 * 100 * 1000 + MLP / 4) + 2 * EDGE / 4 + 9000
    assert weights(architecture(), Layout(tp=4)) == 2 * expected
    assert weights(architecture(), Layout(tp=2)) == 2 * (4 * (ATTENTION + MLP) / 2 + EDGE + 9000)


def test_pipeline_stages_hold_their_layers_and_the_larger_end() -> None:
    """Two stages of two layers (norms in proportion), three of at most two; one end each."""
    assert weights(architecture(), Layout(tp=1, pp=2)) == 2 * (2 * (ATTENTION + MLP) + 9000 / 2 + EDGE)
    assert weights(architecture(), Layout(tp=1, pp=3)) == 2 * (2 * (ATTENTION + MLP) + 9000 / 2 + EDGE)
    assert weights(architecture(), Layout(tp=1, pp=4)) == pytest.approx(
        2 * (ATTENTION + MLP + 9000 / 4 + EDGE)
    )


def mixture(dense: int = 1, moe: int = 3, **more: Any) -> Architecture:
    own: dict[str, Any] = {
        "intermediate": 500,
        "experts": 8,
        "experts_per_token": 2,
        "shared_experts": 1,
        "shared_intermediate": 500,
        **more,
    }
    groups = (
        FeedForwardGroup(layers=dense, kind="dense", intermediate=4000),
        FeedForwardGroup(layers=moe, kind="moe", **own),
    )
    return architecture(ffn=groups)


EXPERT, ROUTER = 3 * 500 * 1000, 8 * 1000


def test_experts_lie_on_the_ranks_of_their_group() -> None:
    """8 experts over EP4 of TP2 x DP2: two whole ones each; without EP each rank has a slice of all eight."""
    ends, attention = 2 * EDGE, 4 * ATTENTION
    alone = attention + ends + 9000 + MLP + 3 * (9 * EXPERT + ROUTER)
    assert weights(mixture()) == 2 * alone
    spread = attention / 2 + EDGE + 9000 + MLP / 2 + 3 * (2 * EXPERT + EXPERT / 2 + ROUTER)
    assert weights(mixture(), Layout(tp=2, dp=2, ep=4)) == 2 * spread
    sliced = attention / 2 + EDGE + 9000 + MLP / 2 + 3 * (8 * EXPERT / 2 + EXPERT / 2 + ROUTER)
    assert weights(mixture(), Layout(tp=2)) == 2 * sliced
    uneven = weights(mixture(), Layout(tp=1, dp=3, ep=3))
    assert uneven == 2 * (
        attention + ends + 9000 + MLP + 3 * (3 * EXPERT + EXPERT + ROUTER)
    )  # 8 over 3 is 3 on the fullest


def test_leading_dense_layers_fall_on_the_first_stage() -> None:
    """One dense and three mixture layers in two stages: the second has two of the heavier kind, not one and a half."""
    heavy = 9 * EXPERT + ROUTER
    assert weights(mixture(), Layout(tp=1, pp=2)) == 2 * (2 * ATTENTION + 9000 / 2 + EDGE + 2 * heavy)
    in_turn = mixture(2, 2)
    assert weights(in_turn, Layout(tp=1, pp=2)) == 2 * (
        2 * ATTENTION + 9000 / 2 + EDGE + (2 * MLP + 2 * heavy) / 2
    )


def test_active_parameters_are_the_experts_that_a_token_visits() -> None:
    """Two of eight, the shared one, router, attention, head."""
    counted = count_parameters(mixture())
    assert counted.experts == 3 * 8 * EXPERT
    assert counted.active == 4 * ATTENTION + 9000 + MLP + 3 * (2 * EXPERT + EXPERT + ROUTER) + EDGE


def test_a_latent_space_for_experts_has_projections() -> None:
    """Experts of width 400 between two projections of 400 x 1,000 a layer."""
    narrow = mixture(latent_size=400)
    assert count_parameters(narrow).experts == 3 * 8 * 3 * 500 * 400
    assert count_parameters(narrow).total - count_parameters(mixture()).total == 3 * (
        2 * 400 * 1000 - 8 * 3 * 500 * 600
    )


LATENT = AttentionGroup(
    layers=2,
    kind="mla",
    heads=10,
    q_lora_rank=300,
    kv_lora_rank=200,
    rope_head_dim=20,
    nope_head_dim=80,
    v_head_dim=60,
)


def test_latent_attention_by_hand() -> None:
    """Down and up for queries, one latent for keys and values, up to both for all heads, out."""
    per_layer = 300 * 1000 + 10 * 100 * 300 + 220 * 1000 + 10 * 140 * 200 + 1000 * 600
    assert count_parameters(architecture(LATENT)).attention == 2 * per_layer

    plain = replace(LATENT, q_lora_rank=0)
    assert count_parameters(architecture(plain)).attention == 2 * (
        10 * 100 * 1000 + 220 * 1000 + 10 * 140 * 200 + 1000 * 600
    )
    sparse = replace(LATENT, index_heads=4, index_head_dim=50)
    indexer = 4 * 50 * 300 + 50 * 1000 + 4 * 1000
    assert count_parameters(architecture(sparse)).attention == 2 * (per_layer + indexer)
    split = weights(architecture(LATENT), Layout(tp=2))
    cut = 300 * 1000 + 220 * 1000 + (10 * 100 * 300 + 10 * 140 * 200 + 1000 * 600) / 2
    assert split == 2 * (2 * (cut + MLP / 2) + EDGE + 5000)
    absorbed = weights(architecture(LATENT), Layout(tp=2), absorbed_mla=1)
    assert absorbed - split == 2 * 2 * 10 * 140 * 200 / 2  # a 16-bit copy of the up projection


def test_attention_with_gates_shared_keys_and_reused_caches() -> None:
    """A gate doubles the queries; keys that serve as values save a projection; reused caches save both."""

    def of(**changes: Any) -> int:
        return count_parameters(architecture(replace(FULL, **changes))).attention

    assert of() == 4 * ATTENTION
    assert of(output_gate=True) == 4 * (ATTENTION + 1000 * 1000)
    assert of(key_is_value=True) == 4 * (ATTENTION - 200 * 1000)
    assert of(shares_kv_with_previous=True) == 4 * 2 * 1000 * 1000
    assert of(v_head_dim=50) == 4 * (1000 * 1000 + 200 * 1000 + 100 * 1000 + 500 * 1000)


def test_blocks_with_their_own_count_are_cut_but_for_what_is_copied() -> None:
    """5,000 values a layer of which 1,000 are on every rank: TP2 holds 3,000."""
    state = AttentionGroup(
        layers=2, kind="mamba", parameters_per_layer=5000, copied_parameters_per_layer=1000
    )
    bare = architecture(state)
    assert [t.role for t in layer_tensors(bare)][:2] == ["mamba", "mamba"]
    assert weights(bare, Layout(tp=2)) == 2 * (2 * (3000 + MLP / 2) + EDGE + 5000)
    linear = AttentionGroup(layers=1, kind="linear", parameters_per_layer=5000)
    assert next(iter(layer_tensors(architecture(linear)))).role == "linear_attention"
    none = AttentionGroup(layers=1, kind="none")
    assert count_parameters(architecture(none)).attention == 0


def test_what_stands_beside_the_decoder() -> None:
    """A tower of 700,000 values, 1,024 learned positions, 500 others; a rotary table of 64 values for 2,048 positions."""
    whole = architecture(vision_parameters=700_000, learned_positions=1024, other_parameters=500)
    beside = 700_000 + 1024 * 1000 + 500
    assert sum(t.values for t in side_tensors(whole)) == beside
    assert count_parameters(whole).total - count_parameters(architecture()).total == beside
    assert weights(whole) - weights(architecture()) == 2 * beside
    assert weights(architecture(rope_dim=64, rope_positions=2048)) - weights(architecture()) == 2 * 64 * 2048


def test_draft_layers_are_loaded_for_speculation_only() -> None:
    """One more layer of the last kind and a projection of two inputs, in 16 bit."""
    drafted = architecture(mtp_layers=2)
    assert sum(t.values for t in mtp_tensors(drafted)) == 2 * (2 * 1000 * 1000 + ATTENTION + MLP)
    plain, on = (
        weights_bytes(model(drafted), Checkpoint(precision="bf16"), Layout(tp=1), {}, speculative=s)
        for s in (False, True)
    )
    assert on - plain == 2 * 2 * (2 * 1000 * 1000 + ATTENTION + MLP)


def test_quantised_weights_keep_what_recipes_keep() -> None:
    """FP8: one byte inside the layers; both ends and norms in 16 bit; parts kept by the checkpoint too."""
    inside, kept = 4 * (ATTENTION + MLP), 2 * EDGE + 9000
    assert weights(architecture(), checkpoint=Checkpoint(precision="fp8")) == inside + 2 * kept
    parts = Checkpoint(precision="fp8", kept_16bit=("attention", "embedding", "head"))
    assert weights(architecture(), checkpoint=parts) == 4 * MLP + 2 * (kept + 4 * ATTENTION)
    eight = Checkpoint(precision="fp4", kept_16bit=("embedding", "head"), kept_8bit=("attention",))
    assert weights(architecture(), checkpoint=eight) == 4 * ATTENTION + 4 * MLP * 4.5 / 8 + 2 * kept
    first = Checkpoint(precision="fp8", layers_kept_16bit=1)
    assert weights(architecture(), checkpoint=first) == inside * 3 / 4 + 2 * inside / 4 + 2 * kept
    assert weights(architecture(), checkpoint=Checkpoint(precision="fp32")) == 4 * (inside + kept)
    grouped = Checkpoint(precision="int4", format="gptq", group_size=32)
    assert weights(architecture(), checkpoint=grouped) == inside * 4.625 / 8 + 2 * kept


def test_files_larger_than_the_shapes_count_in_full() -> None:
    """Up to 15 % more is left alone; 20 % more is spread over everything."""
    computed = checkpoint_bytes(model(architecture()), Checkpoint(precision="bf16"))
    for factor, expected in ((1.15, 1.0), (1.2, 1.2), (0.5, 1.0)):
        stated = Checkpoint(precision="bf16", size_bytes=Cell(value=computed * factor))
        assert weights(architecture(), checkpoint=stated) == pytest.approx(computed * expected)


def test_terms_of_an_engine() -> None:
    """A vocabulary padded to a multiple, what loading leaves on several accelerators, padded rows of per-tensor FP8."""
    padded = weights(architecture(), vocabulary_multiple=20_000)
    assert padded - weights(architecture()) == 2 * 2 * 8000 * 1000
    assert weights(architecture(), load_overhead_gib=1.0) == weights(architecture())
    assert (
        weights(architecture(), Layout(tp=2), load_overhead_gib=1.0) - weights(architecture(), Layout(tp=2))
        == 2**30
    )
    round_rows = Architecture(
        type="round", hidden=1024, vocabulary=1000, attention=(AttentionGroup(layers=1, heads=8, kv_heads=8, head_dim=128),),
        feed_forward=(FeedForwardGroup(layers=1, kind="dense", intermediate=1000),),
    )  # fmt: skip

    def padding(precision: str) -> float:
        own = Checkpoint(precision=precision)
        plain, more = (
            weights_bytes(model(round_rows), own, Layout(tp=1), {}, row_padding_bytes=bytes_)
            for bytes_ in (0.0, 256.0)
        )
        return more - plain

    assert (
        padding("fp8") == (4 * 1024 + 2 * 1000) * 256
    )  # rows of 1,024 B; the down projection's rows of 1,000 are not padded
    assert padding("bf16") == 0


def cost(
    *groups: AttentionGroup,
    precision: str = "bf16",
    tp: int = 1,
    pp: int = 1,
    context_parallel: int = 1,
    **terms: float,
) -> Any:
    return kv_cost(
        architecture(*groups), precision, tp=tp, pp=pp, terms=terms, context_parallel=context_parallel
    )


SLIDING = AttentionGroup(layers=6, kind="sliding", heads=10, kv_heads=2, head_dim=100, window=128)


def test_keys_and_values_of_each_head_and_layer() -> None:
    """4 layers x 2 heads x 200 values x 2 B; 1 B in FP8; one head per rank at least; a stage holds its layers."""
    assert cost().bytes_per_token == 4 * 2 * 200 * 2
    assert cost(precision="fp8").bytes_per_token == 4 * 2 * 200
    assert cost(tp=2).bytes_per_token == cost(tp=8).bytes_per_token == 4 * 200 * 2
    assert cost(pp=2).bytes_per_token == 2 * 2 * 200 * 2
    assert cost(pp=3).bytes_per_token == 2 * 2 * 200 * 2
    assert cost(context_parallel=2).bytes_per_token == 4 * 2 * 200 * 2 / 2


def test_sequences_take_whole_blocks() -> None:
    """17 tokens are two blocks of 16; spread over two ranks, 33 are two blocks on each."""
    assert cost().sequence_bytes(16) == 3200 * 16
    assert cost().sequence_bytes(17) == 3200 * 32
    assert cost(block_tokens=64).sequence_bytes(65) == 3200 * 128
    assert cost(context_parallel=2).sequence_bytes(33) == 3200 * 32


def test_a_window_holds_its_tokens_and_those_of_a_step() -> None:
    """128 of window: 127 and the step's, rounded to blocks, never more than the context."""
    found = cost(SLIDING)
    per = 6 * 2 * 200 * 2
    assert found.sequence_bytes(1000) == per * 128
    assert found.sequence_bytes(50) == per * 64
    assert found.sequence_bytes(1000, step_tokens=100) == per * math.ceil(227 / 16) * 16
    assert found.sequence_bytes(150, step_tokens=100) == per * 160


def test_separate_pools_give_windows_a_share() -> None:
    """Full and sliding layers: the sliding pool is a tenth of the tokens; alone it is the pool."""
    both = cost(FULL, SLIDING, sliding_pool_ratio=0.1)
    assert both.bytes_per_token == pytest.approx(4 * 800 + 6 * 800 * 0.1)
    assert cost(SLIDING, sliding_pool_ratio=0.1).bytes_per_token == 6 * 800
    assert both.sequence_bytes(1000) == 4 * 800 * 1008 + 6 * 800 * 128


def test_a_shared_pool_pads_unlike_groups() -> None:
    """4 full and 6 sliding layers in groups of four (six is 1.5 times): two layers of padding; a spare block a window."""
    found = cost(FULL, SLIDING, group_hybrid_layers=1)
    assert found.padding_layers == 2
    assert found.bytes_per_token == (4 + 8) * 800
    assert found.sequence_bytes(1000) == 4 * 800 * 1008 + 8 * 800 * (128 + 16)

    close = cost(FULL, replace(SLIDING, layers=5), group_hybrid_layers=1)  # 5 < 1.5 x 4: groups of five
    assert close.padding_layers == 1
    assert close.bytes_per_token == (5 + 5) * 800


def test_states_are_kept_per_sequence_in_whole_pages() -> None:
    """3 linear layers of 6,000 values in 32 bit and 500 in 16: 25,000 B a layer; in a shared pool a page of 800 B x 32 tokens holds one."""
    linear = AttentionGroup(
        layers=3, kind="linear", state_values=6000, conv_values=500, parameters_per_layer=1
    )
    apart = cost(FULL, linear)
    assert apart.state_bytes == 3 * 25_000
    assert apart.sequence_bytes(16) == 3 * 25_000 + 3200 * 16
    assert cost(FULL, linear, tp=2).state_bytes == 3 * 12_500
    shared = cost(FULL, linear, group_hybrid_layers=1)
    assert shared.block_tokens == 32
    assert shared.padding_layers == 1  # groups of four: three states are padded to four
    assert shared.state_bytes == 4 * 32 * 800
    assert shared.bytes_per_token == (4 + 4) * 800
    alone = kv_cost(architecture(linear), "bf16", tp=1, pp=1, terms={})
    assert (alone.bytes_per_token, alone.state_bytes, alone.sequence_bytes(10**6)) == (0, 75_000, 75_000)
    assert not has_growing_cache(architecture(linear))
    assert has_growing_cache(architecture(FULL, linear))


def test_a_latent_is_copied_and_an_indexer_adds_its_keys() -> None:
    """220 values of 2 B whatever TP; in 8 bit 220; with an indexer 50 + 4 B more, or an engine's own size."""

    assert cost(LATENT).bytes_per_token == cost(LATENT, tp=4).bytes_per_token == 2 * 220 * 2
    sparse = replace(LATENT, index_heads=4, index_head_dim=50, index_topk=64)
    assert cost(sparse).bytes_per_token == 2 * (440 + 54)
    assert cost(sparse, precision="fp8").bytes_per_token == 2 * (220 + 54)
    assert cost(sparse, precision="fp8", sparse_mla_fp8_bytes=656).bytes_per_token == 2 * (656 + 54)
    assert cost(sparse, sparse_mla_fp8_bytes=656).bytes_per_token == 2 * (440 + 54)


def test_layers_that_share_a_cache_or_have_none_take_nothing() -> None:
    """Reused caches and layers without attention; cross attention is kept like a full layer."""

    shared = replace(FULL, shares_kv_with_previous=True)
    assert cost(FULL, shared, AttentionGroup(layers=3, kind="none")).bytes_per_token == 3200
    assert cost(replace(FULL, kind="cross")).bytes_per_token == 3200
    assert cost(replace(FULL, v_head_dim=50)).bytes_per_token == 4 * 2 * 150 * 2


def test_a_stage_holds_its_part_of_every_kind() -> None:
    """Two stages halve full, windowed and recurrent layers alike, in a shared pool and in separate ones."""
    linear = AttentionGroup(
        layers=2, kind="linear", state_values=6000, conv_values=500, parameters_per_layer=1
    )
    for terms in ({}, {"group_hybrid_layers": 1.0}):
        whole, half = (cost(FULL, SLIDING, linear, pp=pp, **terms) for pp in (1, 2))
        assert half.bytes_per_token == whole.bytes_per_token / 2
        assert half.state_bytes == whole.state_bytes / 2
        assert half.sequence_bytes(1000) == whole.sequence_bytes(1000) / 2
