"""Fits or not, on what, and what would help. Golden values: what is known to run, and pools that engines printed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Layout, Model, System
from advisor.sizing.changes import cheapest_changes
from advisor.sizing.layouts import layout_problem, layouts_for, smallest_fit
from advisor.sizing.memory import fit, footprint, kv_precision_of, pick_checkpoint
from advisor.units import GIB


def entries(kb: KnowledgeBase, model: str, accelerator: str) -> tuple[Model, Accelerator]:
    one, other = kb.find("models", model), kb.find("accelerators", accelerator)
    assert isinstance(one, Model)
    assert isinstance(other, Accelerator)
    return one, other


def system_of(kb: KnowledgeBase, name: str) -> tuple[System, Accelerator]:
    system = kb.find("systems", name)
    assert isinstance(system, System)
    return system, kb.accelerators[system.accelerator]


@pytest.mark.parametrize(
    ("model", "precision", "accelerator", "fits"),
    [
        ("llama-3.1-405b", "bf16", "h200", True),
        ("llama-3.1-405b", "bf16", "h100", False),
        ("deepseek-r1", "fp8", "h200", True),
        ("deepseek-r1", "fp8", "h100", False),
        ("deepseek-r1", "fp4", "b200", True),
        ("kimi-k2", "fp8", "h200", False),
        ("kimi-k2", "int4", "h200", True),
    ],
)
def test_what_one_eight_gpu_node_is_known_to_hold(
    kb: KnowledgeBase, model: str, precision: str, accelerator: str, fits: bool
) -> None:
    """405B in 16 bit and DeepSeek in 8 bit need H200, not H100; Kimi K2 in 8 bit is a terabyte (vendors' deployment guides)."""
    own, chip = entries(kb, model, accelerator)
    memory = fit(
        kb, own, pick_checkpoint(own, precision), chip, Layout(tp=8), context_tokens=4096, sequences=1
    )
    assert (memory.headroom_bytes >= 0) is fits
    assert memory.limiting == ("weights" if not fits else memory.limiting)


@pytest.mark.parametrize(
    ("engine", "model", "accelerator", "tp", "fraction", "tokens"),
    [
        ("vllm", "llama-3.3-70b", "h100", 4, 0.95, 708_992),  # llm-d-planner issue 205, FP8
        ("sglang", "kimi-k2.5", "mi355x", 8, 0.82604, 2_454_421),  # start-up log, ajith-sirra-amd/Issues
        (
            "sglang",
            "deepseek-r1",
            "h200",
            8,
            0.82,
            509_000,
        ),  # observed value in ai-dynamo/aisimulate pull request 263
        ("sglang", "glm-5", "rtx-pro-6000", 8, 0.92, 314_304),  # voipmonitor/rtx6kpro, NVFP4
    ],
)
def test_capacity_from_scratch_is_within_ten_percent_of_the_log(
    kb: KnowledgeBase, engine: str, model: str, accelerator: str, tp: int, fraction: float, tokens: int
) -> None:
    """Accelerator, engine and fraction alone lead to the token count that the server printed."""
    own, chip = entries(kb, model, accelerator)
    precision = {"llama-3.3-70b": "fp8", "glm-5": "fp4"}.get(model, "")
    memory = fit(
        kb, own, pick_checkpoint(own, precision), chip, Layout(tp=tp), context_tokens=8192, sequences=1, engine=engine,
        memory_fraction=fraction, kv_precision="bf16",
    )  # fmt: skip
    assert memory.kv_capacity_tokens == pytest.approx(tokens, rel=0.10)


def test_sglang_counts_its_fraction_of_weights_and_pool(kb: KnowledgeBase) -> None:
    """204.63 GiB are left for the pool beside 56.98 GiB of weights at 0.911 on MI355X (sgl-project/sglang pull request 18263)."""
    own, chip = entries(kb, "qwen3-30b-a3b", "mi355x")
    base = footprint(kb, own, own.checkpoints[0], chip, Layout(tp=1), engine="sglang", memory_fraction=0.911)
    assert base.pool_bytes / GIB == pytest.approx(204.63, rel=5e-3)


@pytest.mark.parametrize(("accelerator", "mib", "tp"), [("h100", 81_559, 1), ("h200", 143_771, 8)])
def test_sglang_without_a_fraction_keeps_its_reserve(
    kb: KnowledgeBase, accelerator: str, mib: int, tp: int
) -> None:
    """512 MiB, 1.5 MiB a token of an 8,192-token chunk, 2 MiB for each of 256 graphs and 128 MiB a rank (SGLang's server_args.py)."""
    own, chip = entries(kb, "llama-3.1-70b", accelerator)
    base = footprint(kb, own, own.checkpoints[0], chip, Layout(tp=tp), engine="sglang")
    reserved = 512 + 1.5 * 8192 + 2 * 256 + 128 * tp
    assert base.memory_fraction == pytest.approx(1 - reserved / mib, abs=6e-4)


def test_the_same_fraction_means_less_in_tensorrt_llm(kb: KnowledgeBase) -> None:
    """TensorRT-LLM takes its fraction of what is free after loading, vLLM of the whole card (API reference of KvCacheConfig)."""
    own, chip = entries(kb, "llama-3.1-8b", "h100")
    pools = {
        engine: footprint(
            kb, own, own.checkpoints[0], chip, Layout(tp=1), engine=engine, memory_fraction=0.5
        ).pool_bytes
        for engine in ("vllm", "tensorrt-llm")
    }
    assert pools["tensorrt-llm"] > pools["vllm"]


def test_the_activation_peak_fell_with_version_0_17(kb: KnowledgeBase) -> None:
    """Qwen3-14B on H100: 5.64 GiB up to 0.16, 2.23 GiB from 0.17 (llm-d-planner, version series of issue 205)."""
    own, chip = entries(kb, "qwen3-14b", "h100")
    for version, peak in (("0.16.0", 5.64), ("0.17.0", 2.23)):
        base = footprint(
            kb, own, own.checkpoints[0], chip, Layout(tp=1), engine="vllm", engine_version=version
        )
        assert base.activation_bytes / GIB == pytest.approx(peak, rel=0.05)


def test_needed_and_headroom_add_up_to_the_accelerator(kb: KnowledgeBase) -> None:
    """Weights, reserve, KV of the load and headroom are the visible memory, to the byte."""
    own, chip = entries(kb, "deepseek-r1", "h200")
    memory = fit(kb, own, own.checkpoints[0], chip, Layout(tp=8), context_tokens=8192, sequences=32)
    total = memory.weights_bytes + memory.reserve_bytes + memory.kv_bytes_needed + memory.headroom_bytes
    assert total == pytest.approx(memory.hbm_bytes, abs=1)


def test_no_sequences_asks_for_weights_alone(kb: KnowledgeBase) -> None:
    """With no load the KV cache needs nothing, and capacity is what is left."""
    own, chip = entries(kb, "llama-3.1-70b", "h200")
    memory = fit(kb, own, own.checkpoints[0], chip, Layout(tp=2), context_tokens=4096, sequences=0)
    assert memory.kv_bytes_needed == 0
    assert memory.max_sequences > 0


@settings(max_examples=40, deadline=None)
@given(context=st.integers(1, 200_000), sequences=st.integers(0, 2000), extra=st.integers(1, 500))
def test_more_load_never_leaves_more_room(
    kb: KnowledgeBase, context: int, sequences: int, extra: int
) -> None:
    """Headroom falls with context and with concurrency."""
    own, chip = entries(kb, "gpt-oss-120b", "b200")

    def room(tokens: int, concurrent: int) -> float:
        layout = Layout(tp=2)
        return fit(
            kb, own, own.checkpoints[0], chip, layout, context_tokens=tokens, sequences=concurrent
        ).headroom_bytes

    assert room(context, sequences + extra) <= room(context, sequences)
    assert room(context + extra, sequences) <= room(context, sequences)


def test_a_rack_offers_groups_that_a_node_does_not(kb: KnowledgeBase) -> None:
    """DeepSeek-R1 decode ran on groups of 16 in an NVL72 (MLPerf v6.0 Interactive); an eight-GPU node ends at 8."""
    model, _ = entries(kb, "deepseek-r1", "b200")
    node, _ = system_of(kb, "hgx-b200")
    rack, _ = system_of(kb, "gb200-nvl72")
    assert max(layout.accelerators for layout in layouts_for(model, node)) == 8
    assert any(layout.dp == 16 and layout.ep == 16 for layout in layouts_for(model, rack))
    assert [layout.accelerators for layout in layouts_for(model, node)] == sorted(
        layout.accelerators for layout in layouts_for(model, node)
    )


def test_a_wider_limit_spans_nodes_by_pipeline(kb: KnowledgeBase) -> None:
    """Kimi K2 in 8 bit takes 16 accelerators of 80 GB (its deployment guide): TP inside a node, pipeline stages across."""
    model, _ = entries(kb, "kimi-k2", "h100")
    node, chip = system_of(kb, "hgx-h100")
    load = {"context_tokens": 8192, "sequences": 1}
    inside = smallest_fit(kb, model, pick_checkpoint(model, "fp8"), node, chip, **load)
    across = smallest_fit(kb, model, pick_checkpoint(model, "fp8"), node, chip, width_limit=32, **load)
    assert not inside.fits
    assert (across.layout.tp, across.layout.pp, across.fits) == (8, 2, True)


def test_heads_that_do_not_divide_get_pipeline_stages(kb: KnowledgeBase) -> None:
    """Phi-4 has 40 heads over 10 KV heads: TP 8 is refused, so eight accelerators are used as two stages of TP 2 and so on."""
    model, _ = entries(kb, "phi-4", "h100")
    node, _ = system_of(kb, "hgx-h100")
    assert layout_problem(model, Layout(tp=4))
    assert all(not layout_problem(model, layout) for layout in layouts_for(model, node))


def test_the_changes_offered_make_it_fit(kb: KnowledgeBase) -> None:
    """DeepSeek-R1 on eight H200 with 64 sequences of 32k: fewer, shorter, narrower weights or attention data parallelism."""
    own, chip = entries(kb, "deepseek-r1", "h200")
    load = {"context_tokens": 32_768, "sequences": 64, "engine": "vllm"}
    changes = cheapest_changes(kb, own, own.checkpoints[0], chip, Layout(tp=8), load)
    assert "at most 19 concurrent sequences instead of 64" in changes
    assert any(change.startswith("attention data parallelism 8") for change in changes)
    spread = fit(kb, own, own.checkpoints[0], chip, Layout(tp=1, dp=8, ep=8), **load)  # type: ignore[arg-type]  # mixed values
    assert spread.headroom_bytes >= 0


def test_nothing_is_offered_when_it_fits(kb: KnowledgeBase) -> None:
    """A load that fits has no changes."""
    own, chip = entries(kb, "llama-3.1-8b", "h100")
    assert (
        cheapest_changes(
            kb, own, own.checkpoints[0], chip, Layout(tp=1), {"context_tokens": 4096, "sequences": 1}
        )
        == ()
    )


def test_precisions_by_name_or_by_format(kb: KnowledgeBase) -> None:
    """A precision picks the model's own checkpoint; one that nobody published gets a usual recipe; nonsense is refused."""
    model, _ = entries(kb, "deepseek-r1", "h200")
    assert pick_checkpoint(model).precision == "fp8"
    assert pick_checkpoint(model, "fp4").format == "nvfp4"
    assert pick_checkpoint(model, "mxfp4").hf_id.startswith("amd/")
    assert "recipe" in pick_checkpoint(model, "int8").note
    with pytest.raises(InputError, match="fp9"):
        pick_checkpoint(model, "fp9")
    assert kv_precision_of(pick_checkpoint(model, "fp4")) == "fp8"
    with pytest.raises(InputError, match="fp3"):
        kv_precision_of(pick_checkpoint(model), "fp3")
