"""What a replica holds, in words: tokens as engines log them, and sequences of the asked context."""

from __future__ import annotations

import pytest

from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.records import Layout, Memory
from advisor.sizing.changes import capacity
from advisor.sizing.estimate import EstimateRequest, estimate
from advisor.sizing.layouts import layout_problem
from advisor.sizing.memory import fit, pick_checkpoint


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    return load_knowledge()


def held(kb: KnowledgeBase, model_id: str, context: int) -> Memory:
    model = kb.models[model_id]
    return fit(
        kb, model, pick_checkpoint(model, "bf16"), kb.accelerators["accelerators/h200"], Layout(tp=2),
        kv_precision="bf16", context_tokens=context, sequences=0,
    )  # fmt: skip


def test_tokens_and_sequences_agree_where_every_layer_keeps_all(kb: KnowledgeBase) -> None:
    """Llama 3.1 70B has full attention in every layer: sequences are tokens over the context, nothing to explain."""
    memory = held(kb, "models/llama-3.1-70b", 32_768)
    assert memory.max_sequences == memory.kv_capacity_tokens // 32_768
    assert capacity(memory, 32_768).endswith(f"tokens, {memory.max_sequences} sequences of 32k")


def test_a_hybrid_says_why_its_tokens_do_not_add_up(kb: KnowledgeBase) -> None:
    """Qwen3.5 27B keeps a state in three layers of four: 33 sequences of 32,768 fit where 290,864 tokens are logged (vLLM issue 40691)."""
    memory = held(kb, "models/qwen3.5-27b", 32_768)
    assert memory.max_sequences * 32_768 > 3 * memory.kv_capacity_tokens
    words = capacity(memory, 32_768)
    assert "tokens of short sequences, or" in words
    assert words.endswith("some layers keep only a part")


def test_without_a_precision_the_released_checkpoint_is_taken(kb: KnowledgeBase) -> None:
    """DeepSeek-R1 was released in FP8: 671 billion weights of one byte over eight accelerators, not the half of its FP4 checkpoint."""
    answer = estimate(kb, EstimateRequest(model="deepseek-r1", accelerator="h200", tp=8))
    assert answer.memory.weights_bytes * 8 / 1e9 == pytest.approx(
        688, rel=0.05
    )  # 688.6 GB of files on the hub


def test_experts_in_parallel_need_experts(kb: KnowledgeBase) -> None:
    """Llama has none to spread."""
    assert "without experts" in layout_problem(kb.models["models/llama-3.1-70b"], Layout(tp=8, ep=8))
    assert not layout_problem(kb.models["models/deepseek-r1"], Layout(tp=8, ep=8))
