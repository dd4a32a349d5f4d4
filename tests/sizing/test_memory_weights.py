"""Weights per accelerator: golden values are the lines that engines printed after loading (source in each test)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.records import Cell, Checkpoint, Layout, Model
from advisor.sizing.engines import profile_of
from advisor.sizing.memory import pick_checkpoint
from advisor.sizing.tensors import count_parameters
from advisor.sizing.weights import checkpoint_bytes, weights_bytes
from advisor.units import GIB


def model_of(kb: KnowledgeBase, name: str) -> Model:
    found = kb.find("models", name)
    assert isinstance(found, Model)
    return found


def loaded_gib(
    kb: KnowledgeBase,
    name: str,
    layout: Layout,
    checkpoint: Checkpoint,
    *,
    version: str = "",
    amd: bool = False,
) -> float:
    terms = profile_of(kb, "vllm", version).terms
    padding = terms["rocm_row_padding_bytes"] if amd else 0.0
    return weights_bytes(model_of(kb, name), checkpoint, layout, terms, row_padding_bytes=padding) / GIB


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("llama-3.1-8b", 8.03e9), ("llama-3.1-405b", 405.85e9), ("mixtral-8x7b", 46.7e9), ("deepseek-r1", 671e9),
        ("kimi-k2", 1026.4e9), ("qwen3-235b-a22b", 235.09e9), ("gpt-oss-120b", 116.83e9), ("gemma-2-27b", 27.23e9),
        ("minimax-text-01", 456e9), ("nemotron-h-56b", 56.3e9), ("command-r-plus-104b", 103.8e9), ("glm-5", 744e9),
    ],
)  # fmt: skip
def test_counted_parameters_are_the_published_ones(kb: KnowledgeBase, name: str, published: float) -> None:
    """Parameters counted from the shapes are the sizes on the models' hub pages and in their reports, within 0.2 %."""
    assert count_parameters(model_of(kb, name).architecture).total == pytest.approx(published, rel=2e-3)


@pytest.mark.parametrize(
    ("name", "active"),
    [("gpt-oss-120b", 5.13e9), ("gpt-oss-20b", 3.61e9), ("mixtral-8x22b", 39e9), ("deepseek-v2", 21e9)],
)
def test_active_parameters_are_the_published_ones(kb: KnowledgeBase, name: str, active: float) -> None:
    """What a token multiplies with: gpt-oss and DeepSeek-V2 model cards, Mixtral 8x22B announcement."""
    assert count_parameters(model_of(kb, name).architecture).active == pytest.approx(active, rel=0.01)


@pytest.mark.parametrize(
    ("name", "precision", "layout", "printed"),
    [
        ("llama-3.1-8b", "bf16", Layout(tp=1), 14.99),
        ("llama-3.1-8b", "bf16", Layout(tp=4), 3.77),
        ("llama-3.1-8b", "bf16", Layout(tp=1, pp=4), 4.26),
        ("llama-3.1-8b", "fp32", Layout(tp=1), 29.98),
        ("llama-3.1-8b", "int8", Layout(tp=1), 8.49),
        ("llama-3.1-8b", "int4", Layout(tp=1), 5.38),
        ("llama-3.3-70b", "fp8", Layout(tp=2), 33.88),
        ("gemma-2-27b", "bf16", Layout(tp=1), 50.72),
        ("gemma-3-4b", "bf16", Layout(tp=1), 8.58),
        ("granite-3.3-8b", "bf16", Layout(tp=1), 15.25),
        ("mistral-small-24b", "bf16", Layout(tp=1), 44.76),
        ("mixtral-8x7b", "bf16", Layout(tp=2), 43.51),
        ("qwen3-30b-a3b", "bf16", Layout(tp=1), 56.88),
        ("llama-4-scout", "bf16", Layout(tp=4), 53.12),
        ("gpt-oss-20b", "fp4", Layout(tp=1), 13.64),
        ("gpt-oss-20b", "fp4", Layout(tp=2), 7.01),
    ],
)
def test_vllm_on_h100_printed_the_same_weights(
    kb: KnowledgeBase, name: str, precision: str, layout: Layout, printed: float
) -> None:
    """`Model loading took … GiB` of vLLM 0.19.0 on H100 (llm-d-planner, issue 205), within 1 %."""
    checkpoint = pick_checkpoint(model_of(kb, name), precision)
    assert loaded_gib(kb, name, layout, checkpoint, version="0.19.0") == pytest.approx(printed, rel=0.01)


def test_a_recipe_that_keeps_attention_in_16_bit_is_heavier(kb: KnowledgeBase) -> None:
    """Llama 3.1 405B in FP8 on eight GPUs: 56.77 GiB with Meta's recipe, 49.32 with AMD's (dstackai/benchmarks)."""
    meta, quark = (c for c in model_of(kb, "llama-3.1-405b").checkpoints if c.precision == "fp8")
    assert loaded_gib(kb, "llama-3.1-405b", Layout(tp=8), meta) == pytest.approx(56.7677, rel=2e-3)
    assert loaded_gib(kb, "llama-3.1-405b", Layout(tp=8), quark, amd=True) == pytest.approx(49.3235, rel=3e-3)
    assert loaded_gib(kb, "llama-3.1-405b", Layout(tp=4), quark, amd=True) == pytest.approx(97.4347, rel=1e-3)


def test_mxfp4_experts_are_padded_as_the_kernel_wants(kb: KnowledgeBase) -> None:
    """gpt-oss-120b takes 65.97 GiB with Marlin and 64.38 GiB with Triton (vllm-project/vllm issues 23278 and 33155)."""
    checkpoint = pick_checkpoint(model_of(kb, "gpt-oss-120b"))
    assert loaded_gib(kb, "gpt-oss-120b", Layout(tp=1), checkpoint) == pytest.approx(65.97, rel=0.005)
    assert loaded_gib(kb, "gpt-oss-120b", Layout(tp=1), checkpoint, version="0.14.1") == pytest.approx(
        64.38, rel=0.005
    )


def test_sglang_prints_the_same_weights_for_a_small_mixture_of_experts(kb: KnowledgeBase) -> None:
    """Qwen3 30B-A3B: `mem usage=56.98 GB` (GiB) in a log of sgl-project/sglang pull request 18263."""
    terms = profile_of(kb, "sglang").terms
    model = model_of(kb, "qwen3-30b-a3b")
    assert weights_bytes(model, model.checkpoints[0], Layout(tp=1), terms) / GIB == pytest.approx(
        56.98, rel=3e-3
    )


def test_experts_are_cut_by_expert_parallelism_and_attention_is_copied_by_data_parallelism(
    kb: KnowledgeBase,
) -> None:
    """With eight ranks of attention data parallelism each holds all attention, an eighth of the experts and both ends."""
    model = model_of(kb, "deepseek-r1")
    checkpoint = pick_checkpoint(model, "bf16")
    counts = count_parameters(model.architecture)
    rank = weights_bytes(model, checkpoint, Layout(tp=1, dp=8, ep=8), {}) - 2 * 64 * 163840
    assert rank == pytest.approx(2 * (counts.total - counts.experts * 7 / 8), rel=1e-3)


def test_key_and_value_heads_are_copied_when_there_are_more_ranks(kb: KnowledgeBase) -> None:
    """Qwen3.5 has two KV heads: at TP 8 each rank holds one of them, four times what an even cut would give."""
    model = model_of(kb, "qwen3.5-397b-a17b")
    checkpoint = pick_checkpoint(model, "bf16")
    one, eight = (weights_bytes(model, checkpoint, Layout(tp=tp), {}) for tp in (1, 8))
    copied = sum(
        g.layers * 2 * g.head_dim * model.architecture.hidden
        for g in model.architecture.attention
        if g.kind == "full"
    )
    assert eight > one / 8 + 2 * copied * (1 - 1 / 4)


def test_multi_token_prediction_layers_count_only_with_speculation(kb: KnowledgeBase) -> None:
    """DeepSeek-V3 report: 671B parameters, 14B more for the MTP module, of which 11.5B are its own."""
    model = model_of(kb, "deepseek-v3")
    checkpoint = pick_checkpoint(model, "bf16")
    with_mtp, without = (
        weights_bytes(model, checkpoint, Layout(tp=1), {}, speculative=flag) for flag in (True, False)
    )
    assert (with_mtp - without) / 2 == pytest.approx(11.6e9, rel=0.02)


def test_nvfp4_costs_more_than_half_a_byte(kb: KnowledgeBase) -> None:
    """405B in NVFP4 is about 230 GB on disk (MLPerf v6.0, run_disagg_405B README): scales and 16-bit ends included."""
    model = model_of(kb, "llama-3.1-405b")
    assert checkpoint_bytes(model, pick_checkpoint(model, "fp4")) == pytest.approx(230e9, rel=0.03)


def test_a_checkpoint_larger_than_its_shapes_explain_counts_in_full(kb: KnowledgeBase) -> None:
    """A stated 4 TB on 16 accelerators is 250 GB each, whatever the shapes say: the files are what must be loaded."""
    model = kb.models["models/deepseek-r1"]
    checkpoint = replace(model.checkpoints[0], size_bytes=Cell(value=4e12))
    got = weights_bytes(model, checkpoint, Layout(tp=16, ep=16), {})
    assert got == pytest.approx(4e12 / 16, rel=0.05)
