"""What an engine keeps for itself, worked out by hand with terms set to round numbers; the definition of throughput."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from test_memory_arithmetic import ONE, architecture, mixture

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Cell, Engine, Layout, Model
from advisor.sizing.activations import Batch, activation_bytes, batch_limits
from advisor.sizing.engines import TERMS, Profile, profile_of
from advisor.sizing.memory import Footprint, footprint, pick_checkpoint
from advisor.sizing.performance import predict
from advisor.units import GIB

NOTHING = (
    dict.fromkeys(TERMS, 0.0)
    | {name: 1.0 for name in TERMS if name.endswith("_multiple")}
    | {"block_tokens": 16.0}
)


def profile(kb: KnowledgeBase, engine: str = "vllm", **terms: float) -> Profile:
    return profile_of(kb, engine, "", NOTHING | terms)


def test_the_sampler_or_the_widest_layer_sets_the_peak(kb: KnowledgeBase) -> None:
    """10 sequences x 32,000 logits x 4 B and 100 tokens x 1,000 x 2 B against 100 x (3 x 4,000 + 4 x 1,000) x 2 B."""

    def peak(
        of: Any, layout: Layout = ONE, *, sequences: int = 10, tokens: int = 100, **terms: float
    ) -> float:
        return activation_bytes(
            of, layout, profile(kb, **terms), Batch(sequences=sequences, step_tokens=tokens)
        )

    dense = architecture()
    assert peak(dense) == 100 * (3 * 4000 + 4 * 1000) * 2
    assert peak(dense, logits_bytes_per_value=4) == 100 * 16_000 * 2  # 1.48 MB of sampler are below 3.2
    assert peak(dense, logits_bytes_per_value=4, sequences=100) == 100 * 32_000 * 4 + 100 * 1000 * 2
    assert peak(dense, Layout(tp=4)) == 100 * (3 * 1000 + 4 * 1000) * 2
    assert peak(dense, activation_gib=0.5) == 100 * 16_000 * 2 + GIB / 2
    experts = 100 * 2 * (3 * 500 + 1000) * 2
    assert peak(mixture(), expert_workspace=0.5) == 100 * 16_000 * 2 + experts / 2
    spread = 100 * 2 / 4 * (3 * 500 + 1000) * 2
    assert peak(mixture(), Layout(tp=1, dp=4, ep=4), expert_workspace=1) == 100 * 16_000 * 2 + spread
    sliced = 100 * 2 * (3 * 125 + 1000) * 2
    assert peak(mixture(), Layout(tp=4), expert_workspace=1) == 100 * (3 * 1000 + 4000) * 2 + sliced


def chip(gib: float, **more: Any) -> Accelerator:
    own: dict[str, Any] = {"vendor": "nvidia", "id": "accelerators/x"} | more
    return Accelerator(
        title="X", family="x", hbm_visible_bytes=Cell(value=gib * GIB), hbm_marketed_gb=Cell(value=gib), hbm_bandwidth_tb_per_s=Cell(value=4), **own
    )  # fmt: skip


DEFAULTS = {
    "large_accelerator_gib": 70, "max_num_seqs": 1024, "max_num_seqs_small": 256, "max_num_batched_tokens": 8192, "max_num_batched_tokens_small": 2048,
}  # fmt: skip


@pytest.mark.parametrize(
    ("gib", "more", "expected"),
    [
        (70, {}, (1024, 8192)), (69.9, {}, (256, 2048)), (180, {"huge_accelerator_gib": 180, "max_num_batched_tokens_huge": 16384}, (1024, 16384)),
        (179, {"huge_accelerator_gib": 180, "max_num_batched_tokens_huge": 16384}, (1024, 8192)),
        (80, {"whole_prefill_tokens": 32768}, (1024, 16000)), (80, {"whole_prefill_tokens": 16000}, (1024, 16000)), (80, {"whole_prefill_tokens": 15999}, (1024, 8192)),
        (80, {"sequences": 7, "step_tokens": 9}, (7, 9)),
    ],
)  # fmt: skip
def test_batch_defaults_follow_the_accelerators_memory(
    kb: KnowledgeBase, gib: float, more: dict[str, Any], expected: tuple[int, int]
) -> None:
    """vLLM's defaults double from 70 GiB on; whole prompts of 16,000 tokens make the step as long; what is given counts."""
    given = (
        {name: more.pop(name, None) for name in ("sequences", "step_tokens")}
        if more
        else {"sequences": None, "step_tokens": None}
    )
    found = batch_limits(profile(kb, **DEFAULTS, **more), chip(gib), context_tokens=16_000, **given)
    assert (found.sequences, found.step_tokens) == expected


def of(
    kb: KnowledgeBase,
    engine: str,
    card: Accelerator,
    layout: Layout = ONE,
    fraction: float | None = 0.5,
    **terms: float,
) -> Footprint:
    model = kb.models["models/llama-3.1-8b"]
    return footprint(
        kb, model, pick_checkpoint(model, "bf16"), card, layout, engine=engine, memory_fraction=fraction, overrides=NOTHING | terms
    )  # fmt: skip


def test_what_programs_see_of_the_memory(kb: KnowledgeBase) -> None:
    """NVIDIA's driver keeps its part, others show all; what was stated with the name is what programs see."""
    card = chip(80)
    assert of(kb, "vllm", card, driver_gib=2).program_bytes == 78 * GIB
    assert of(kb, "vllm", replace(card, vendor="amd"), driver_gib=2).program_bytes == 80 * GIB
    stated = replace(card, facts={"torch_total_gib": Cell(value=79)})
    assert of(kb, "vllm", stated, driver_gib=2).program_bytes == 79 * GIB


@pytest.mark.parametrize(
    ("engine", "pool"),
    [
        # 80 GiB, fraction 0.5, 4 of runtime, 3 of activations, 1 of graphs; W are the weights
        ("vllm", lambda w: 40 - w - 3 - 4), ("sglang", lambda w: (80 - 4) * 0.5 - w), ("tensorrt-llm", lambda w: (80 - 4 - 3 - w - 1) * 0.5),
    ],
)  # fmt: skip
def test_each_engine_means_something_else_by_its_fraction(kb: KnowledgeBase, engine: str, pool: Any) -> None:
    """Of everything (vLLM), of everything static (SGLang), of what is free in the end (TensorRT-LLM), by their manuals."""
    found = of(kb, engine, chip(80), runtime_gib=4, activation_gib=3, cuda_graph_gib=1)
    weights = found.weights_bytes
    activation = found.activation_bytes
    assert activation >= 3 * GIB
    extra = (activation - 3 * GIB) / GIB
    expected = pool(weights / GIB) - {"vllm": extra, "sglang": 0.0, "tensorrt-llm": extra / 2}[engine]
    assert found.pool_bytes == pytest.approx(expected * GIB)
    assert found.reserve_bytes == pytest.approx(80 * GIB - weights - found.pool_bytes)


def test_graphs_and_communication_come_on_top_where_they_do(kb: KnowledgeBase) -> None:
    """Graphs within the budget lower the pool; several accelerators need buffers, one does not; pipeline stages alone neither."""
    plain = of(kb, "vllm", chip(80), cuda_graph_gib=1).pool_bytes
    assert plain - of(kb, "vllm", chip(80), cuda_graph_gib=1, graphs_in_budget=1).pool_bytes == pytest.approx(
        GIB
    )
    for layout, held in (
        (Layout(tp=1), 0),
        (Layout(tp=2), 2),
        (Layout(tp=1, dp=2), 2),
        (Layout(tp=1, pp=2), 0),
    ):
        without = of(kb, "vllm", chip(80), layout).pool_bytes
        assert without - of(kb, "vllm", chip(80), layout, communication_gib=2).pool_bytes == pytest.approx(
            held * GIB
        )


def test_a_fraction_of_its_own_leaves_the_reserve(kb: KnowledgeBase) -> None:
    """1 + 2 x 2,048/1,024 + 8 x 4/8 = 9 GiB of 100: 0.91; a floor of 20 counts from 60 GiB on."""
    auto: dict[str, float] = {
        "auto_reserve_gib": 1, "auto_reserve_gib_per_1024_step_tokens": 2, "auto_reserve_gib_per_8_ranks": 8, "max_num_batched_tokens": 2048,
    }  # fmt: skip
    wide = Layout(tp=4)
    assert of(kb, "vllm", chip(100), wide, None, **auto).memory_fraction == 0.91
    assert of(kb, "vllm", chip(100), wide, None, **auto, auto_reserve_floor_gib=20).memory_fraction == 0.8
    assert of(kb, "vllm", chip(50), wide, None, **auto, auto_reserve_floor_gib=20).memory_fraction == 0.82
    assert of(kb, "vllm", chip(100), Layout(tp=2, pp=2), None, **auto).memory_fraction == 0.91
    usual = of(kb, "vllm", chip(100), wide, None)
    assert usual.memory_fraction == profile_of(kb, "vllm").memory_fraction
    assert of(kb, "vllm", chip(100), wide, 0.7, **auto).memory_fraction == 0.7


def test_throughput_is_tokens_over_the_time_of_a_request(kb: KnowledgeBase) -> None:
    """16 requests of 256 tokens on 8 accelerators: 16 x 256 over the first token and 255 more, by Little's law."""
    model, system = kb.models["models/llama-3.1-70b"], kb.systems["systems/hgx-h200"]
    assert isinstance(model, Model)
    found = predict(
        kb, model, pick_checkpoint(model, "fp8"), system, kb.accelerators[system.accelerator], Layout(tp=8), batch_per_replica=16, input_tokens=1024, output_tokens=256,
    )  # fmt: skip
    seconds = (found.ttft_ms.value + 255 * found.tpot_ms.value) / 1000
    assert found.throughput_per_accelerator.value == pytest.approx(16 * 256 / seconds / 8)
    slowest = (found.ttft_ms.high + 255 * found.tpot_ms.high) / 1000
    fastest = (found.ttft_ms.low + 255 * found.tpot_ms.low) / 1000
    assert found.throughput_per_accelerator.low == pytest.approx(16 * 256 / slowest / 8)
    assert found.throughput_per_accelerator.high == pytest.approx(16 * 256 / fastest / 8)
    units = (found.ttft_ms.unit, found.tpot_ms.unit, found.throughput_per_accelerator.unit)
    assert units == ("ms", "ms", "tokens/s")


@pytest.mark.parametrize(
    ("version", "since", "before", "applies"),
    [
        ("0.8.3", "0.8", "", True), ("0.7.9", "0.8", "", False), ("0.8", "0.8.0", "", True), ("0.10.1", "0.9", "", True), ("v0.9rc1", "", "0.9", False),
        ("0.8.9", "", "0.9", True), ("0.9.5", "0.9", "0.10", True), ("0.10", "0.9", "0.10", False), ("nightly", "0.1", "", False), ("", "0.1", "", False),
        ("1.0 (V0)", "0.8", "", False),
    ],
)  # fmt: skip
def test_terms_of_a_version_apply_within_its_span(
    kb: KnowledgeBase, version: str, since: str, before: str, applies: bool
) -> None:
    """From the first release on, up to and without the last; a name without a number is the version that was measured."""

    vllm = kb.find("engines", "vllm")
    assert isinstance(vllm, Engine)
    change = replace(vllm.versions[0], since=since, before=before, terms={"runtime_gib": Cell(value=99)})
    own = KnowledgeBase(
        [entry if entry.id != vllm.id else replace(vllm, versions=(change,)) for entry in kb.entries.values()]
    )
    assert (profile_of(own, "vllm", version)["runtime_gib"] == 99) is applies


@pytest.mark.parametrize(
    "term", ["block_tokens", "vocabulary_multiple", "mxfp4_hidden_multiple", "mxfp4_intermediate_multiple"]
)
def test_a_size_to_round_up_to_is_at_least_one(kb: KnowledgeBase, term: str) -> None:
    """Nothing can be rounded up to a multiple of zero: the term is named, and what would be right."""
    assert profile_of(kb, "vllm", "", {term: 1.0})[term] == 1
    with pytest.raises(InputError, match=f"^{term}: 0.5 is not a size; give 1 or more"):
        profile_of(kb, "vllm", "", {term: 0.5})
