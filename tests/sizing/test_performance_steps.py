"""Ideal step times from shapes and data sheets. Golden values are arithmetic on published shapes and data-sheet rates."""

from __future__ import annotations

import math

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Layout, Model, System
from advisor.sizing.memory import pick_checkpoint
from advisor.sizing.shares import share_of
from advisor.sizing.steps import FIRST_TERMS, STEP_TERMS, Line, Steps, machine_of, steps_of


def steps(kb: KnowledgeBase, model: str, precision: str, system: str, layout: Layout) -> Steps:
    record, home = kb.find("models", model), kb.find("systems", system)
    assert isinstance(record, Model)
    assert isinstance(home, System)
    accelerator = kb.entries[home.accelerator]
    assert isinstance(accelerator, Accelerator)
    checkpoint = pick_checkpoint(record, precision)
    share = share_of(record, checkpoint, layout, "fp8")
    return steps_of(record, layout, share, machine_of(accelerator, home, precision))


def line(found: Steps, term: str, *, context: float = 1536, prefill: bool = False) -> Line:
    return found.lines(1024, 1024, context, prefill=prefill)[list(STEP_TERMS).index(term)]


def test_one_pass_over_bf16_llama_8b_takes_hbm_time(kb: KnowledgeBase) -> None:
    """7.5e9 weights outside the embedding in 16 bit over the H100's 3.35 TB/s (data sheet): 4.48 ms, TP2 half of it."""
    alone = line(steps(kb, "llama-3.1-8b", "bf16", "hgx-h100", Layout(tp=1)), "dense_weights")
    assert alone.fixed == pytest.approx(7.505e9 * 2 / 3.35e9, rel=0.005)
    halved = line(steps(kb, "llama-3.1-8b", "bf16", "hgx-h100", Layout(tp=2)), "dense_weights")
    assert halved.fixed == pytest.approx(alone.fixed / 2, rel=0.01)


def test_a_batch_touches_experts_as_routing_draws_them(kb: KnowledgeBase) -> None:
    """DeepSeek-V3 routes 8 of 256: one token leaves 248/256 untouched, B tokens that share to the power of B."""
    found = steps(kb, "deepseek-v3", "fp8", "hgx-h200", Layout(tp=8, ep=8))
    assert math.exp(found.log_idle) == pytest.approx(248 / 256)
    whole = 58 * 256 * 3 * 7168 * 2048 / 8 / 4.8e9  # 58 MoE layers of 256 experts at one byte, 4.8 TB/s
    assert line(found, "expert_weights").touched == pytest.approx(whole, rel=0.01)


def test_data_parallel_ranks_read_only_their_own_cache(kb: KnowledgeBase) -> None:
    """MLA keeps one latent of 512 + 64 values a token and layer: TP copies it to each rank, DP attention splits requests."""
    tensor = line(steps(kb, "deepseek-v3", "fp8", "hgx-h200", Layout(tp=8, ep=8)), "cache")
    data = line(steps(kb, "deepseek-v3", "fp8", "hgx-h200", Layout(tp=1, dp=8, ep=8)), "cache")
    assert tensor.per_sequence == pytest.approx(61 * 576 * 1536 / 4.8e9, rel=0.01)
    assert data.per_sequence == pytest.approx(tensor.per_sequence / 8)


def test_sliding_windows_cap_what_a_token_reads(kb: KnowledgeBase) -> None:
    """gpt-oss-120b has 18 full layers and 18 with a window of 128: ten times the context costs less than ten times."""
    found = steps(kb, "gpt-oss-120b", "fp4", "hgx-h200", Layout(tp=1))
    short, long = (line(found, "cache", context=tokens).per_sequence for tokens in (1000, 10_000))
    assert long / short == pytest.approx((10_000 + 128) / (1000 + 128), rel=0.01)


def test_all_reduce_moves_two_copies_of_the_hidden_state_per_layer(kb: KnowledgeBase) -> None:
    """Llama-3.1-70B, TP8: 2 x 80 layers x 8192 x 2 B x 2 x 7/8 over 450 GB/s (NVLink 4, one direction)."""
    found = line(steps(kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=8)), "all_reduce")
    assert found.per_sequence == pytest.approx(2 * 80 * 8192 * 2 * 2 * 7 / 8 / 450e6)


def test_the_network_carries_only_what_leaves_the_domain(kb: KnowledgeBase) -> None:
    """A group of 16 crosses two HGX nodes but stays inside an NVL72; a group of 8 stays inside both."""
    wide, narrow = Layout(tp=1, dp=16, ep=16), Layout(tp=1, dp=8, ep=8)
    assert line(steps(kb, "deepseek-r1", "fp4", "hgx-b200", wide), "scale_out").per_sequence > 0
    assert line(steps(kb, "deepseek-r1", "fp4", "hgx-b200", narrow), "scale_out").per_sequence == 0
    assert line(steps(kb, "deepseek-r1", "fp4", "gb200-nvl72", wide), "scale_out").per_sequence == 0


def test_half_of_the_dispatch_of_sixteen_ranks_leaves_a_node_of_eight(kb: KnowledgeBase) -> None:
    """Eight of a token's sixteen possible ranks stand in the other node; the NIC is 18 times slower than NVLink 5."""
    found = steps(kb, "deepseek-r1", "fp4", "hgx-b200", Layout(tp=1, dp=16, ep=16))
    inside, outside = line(found, "all_to_all").per_sequence, line(found, "scale_out").per_sequence
    assert outside / inside == pytest.approx(8 / 7 * 900 / 50, rel=0.01)


def test_prompts_cost_decoding_steps_only_where_they_share_the_pool(kb: KnowledgeBase) -> None:
    """With a prefill pool of its own, no prefill work stands between two tokens."""
    found = steps(kb, "llama-3.1-70b", "fp8", "hgx-h200", Layout(tp=8))
    assert line(found, "prompt_compute", prefill=True).per_sequence > 0
    assert line(found, "prompt_compute", prefill=False).per_sequence == 0


def test_an_indexer_bounds_attention_but_scans_every_key(kb: KnowledgeBase) -> None:
    """GLM-5 selects 2,048 tokens: past them only the indexer's 128 bytes a token and layer still grow."""
    found = steps(kb, "glm-5", "fp8", "hgx-b200", Layout(tp=8, ep=8))
    a, b = (found.share.cache_bytes(tokens) for tokens in (10_000, 20_000))
    assert b - a == pytest.approx(10_000 * 128 * 78)


def test_every_term_says_its_unit() -> None:
    """A coefficient multiplies an ideal time or counts milli-, micro- or nanoseconds, and its name or text says which."""
    for name, meaning in (STEP_TERMS | FIRST_TERMS).items():
        assert meaning.startswith("×") or name.endswith(("_us", "_ns", "_ms")) or name == "steps"
