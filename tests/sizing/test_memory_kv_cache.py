"""KV cache: golden values are pool sizes and token counts that engines printed, and page tables read from engines."""

from __future__ import annotations

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.records import Model
from advisor.sizing.engines import profile_of
from advisor.sizing.kv_cache import KvCost, kv_cost
from advisor.sizing.kv_compressed import page_kinds
from advisor.units import GIB


def cost_of(
    kb: KnowledgeBase,
    name: str,
    kv: str = "bf16",
    *,
    tp: int = 1,
    pp: int = 1,
    engine: str = "vllm",
    dcp: int = 1,
) -> KvCost:
    model = kb.find("models", name)
    assert isinstance(model, Model)
    return kv_cost(
        model.architecture, kv, tp=tp, pp=pp, terms=profile_of(kb, engine).terms, context_parallel=dcp
    )


@pytest.mark.parametrize(
    ("name", "kv", "tp", "pool_gib", "tokens"),
    [
        ("llama-3.1-8b", "bf16", 1, 58.11, 476_016),  # grouped attention
        ("llama-3.1-8b", "fp8", 1, 58.11, 952_032),
        ("llama-3.1-8b", "bf16", 4, 67.44, 2_209_792),
        ("phi-2", "bf16", 1, 69.0, 226_112),  # a head of keys and values for each query head
        ("gemma-2-27b", "bf16", 1, 20.59, 58_672),  # every other layer slides, all are allocated
        ("gemma-3-4b", "bf16", 1, 62.51, 468_144),  # 29 sliding layers are padded to 30
        ("llama-4-scout", "bf16", 4, 16.75, 365_968),  # chunked
        ("gpt-oss-20b", "bf16", 1, 58.47, 1_277_184),
        ("kimi-k2", "bf16", 8, 46.8, 715_072),  # one latent for all heads, copied to each rank
        ("qwen3-vl-235b-a22b", "bf16", 4, 96.48, 2_152_528),
    ],
)
def test_pool_over_tokens_is_what_vllm_printed(
    kb: KnowledgeBase, name: str, kv: str, tp: int, pool_gib: float, tokens: int
) -> None:
    """`Available KV cache memory` over `GPU KV cache size` (llm-d-planner issue 205, vLLM recipes, MLPerf v6.0 logs)."""
    assert cost_of(kb, name, kv, tp=tp).bytes_per_token == pytest.approx(pool_gib * GIB / tokens, rel=2e-3)


def test_decode_context_parallelism_spreads_the_tokens_of_a_sequence(kb: KnowledgeBase) -> None:
    """Kimi-K2-Thinking: 46.8 GiB hold 715,072 tokens at TP 8 and 5,721,088 with the same ranks sharing tokens (vLLM recipes)."""
    assert cost_of(kb, "kimi-k2", tp=8, dcp=8).bytes_per_token == pytest.approx(
        46.8 * GIB / 5_721_088, rel=1e-3
    )


def test_sparse_attention_caches_the_keys_of_its_indexer(kb: KnowledgeBase) -> None:
    """GLM-5 on SGLang: 29.32 GiB for 314,304 tokens (voipmonitor/rtx6kpro): latent and 132 bytes for each of 78 layers."""
    assert cost_of(kb, "glm-5", tp=8, engine="sglang").bytes_per_token == pytest.approx(
        29.32 * GIB / 314_304, rel=1e-3
    )


def test_sliding_layers_stop_growing_at_their_window(kb: KnowledgeBase) -> None:
    """A gpt-oss sequence of 131,072 tokens: half of its layers keep 128 tokens and the step in flight (its config.json)."""
    cost = cost_of(kb, "gpt-oss-120b")
    growing = 18 * 2 * 8 * 64 * 2
    assert cost.sequence_bytes(131_072) == pytest.approx(growing * (131_072 + 128 + 16), rel=1e-3)
    assert cost.sequence_bytes(131_072, 8192) == pytest.approx(
        growing * (131_072 + 127 + 8192 + 16), rel=1e-3
    )


def test_a_whole_context_needs_what_the_check_of_vllm_says(kb: KnowledgeBase) -> None:
    """Qwen3-Coder 30B: 24.0 GiB for 262,144 tokens; Devstral 24B: 60.0 GiB for 393,216 (vLLM issue 34076, start-up error)."""
    assert cost_of(kb, "qwen3-coder-30b-a3b").sequence_bytes(262_144) / GIB == pytest.approx(24.0, abs=0.005)
    assert cost_of(kb, "devstral-small-2-24b").sequence_bytes(393_216) / GIB == pytest.approx(60.0, abs=0.005)


def test_linear_layers_keep_a_state_that_sets_the_block(kb: KnowledgeBase) -> None:
    """Qwen3.8 27B with an 8-bit cache: `Setting attention block size to 1568 tokens` (noonghunna/club-3090 issue 1047)."""
    cost = cost_of(kb, "qwen3.8-27b", "fp8")
    assert cost.block_tokens == 1568
    assert cost.state_bytes == 48 * 1568 * 2 * 4 * 256


def test_a_hybrid_holds_more_than_its_printed_tokens(kb: KnowledgeBase) -> None:
    """Qwen3.5 27B: 290,864 tokens printed, yet 33.04 sequences of 32,768 fit: 3.72 times as many (vLLM issue 40691)."""
    cost = cost_of(kb, "qwen3.5-27b")
    printed = 290_864 * cost.bytes_per_token
    assert printed / cost.sequence_bytes(32_768) == pytest.approx(33.04, rel=5e-3)


def test_compressed_attention_pages_match_the_engine_byte_for_byte(kb: KnowledgeBase) -> None:
    """DeepSeek-V4-Flash page table printed in vLLM issue 54703: entries and indexers, two window groups, two state groups."""
    model = kb.find("models", "deepseek-v4-flash")
    assert isinstance(model, Model)
    pages = {(kind.tokens, round(kind.page_bytes)) for kind in page_kinds(model.architecture.attention, 1.0)}
    assert pages == {(256, 1_002_240), (64, 823_680), (64, 786_240), (4, 870_912), (8, 656_640)}


def test_a_million_tokens_of_compressed_attention_cost_what_the_check_says(kb: KnowledgeBase) -> None:
    """DeepSeek-V4-Pro: 23.32 GiB for one sequence of 1,048,576 tokens with steps of 16,384 (vLLM issue 53961)."""
    assert cost_of(kb, "deepseek-v4-pro", "fp8", tp=8).sequence_bytes(
        1_048_576, 16_384
    ) / GIB == pytest.approx(23.32, abs=0.005)


def test_a_latent_cache_is_a_25th_of_what_head_counts_suggest(kb: KnowledgeBase) -> None:
    """DeepSeek-R1 at 131,072 tokens: 8.58 GiB, not the 213.5 GiB that two times heads times head size gives."""
    assert cost_of(kb, "deepseek-r1").sequence_bytes(131_072) / GIB == pytest.approx(8.58, abs=0.01)


def test_blocks_are_whole(kb: KnowledgeBase) -> None:
    """A sequence of one token takes a block of 16 (vLLM's default block size)."""
    cost = cost_of(kb, "llama-3.1-8b")
    assert cost.sequence_bytes(1) == 16 * 131_072
    assert cost.sequence_bytes(17) == 32 * 131_072
