"""Layouts behind tables of measurements, and layouts that engines run, at the widths where they change."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Layout, Model, System
from advisor.sizing.folded import pool_layout, unfolded
from advisor.sizing.layouts import layout_problem, layouts_for
from advisor.sizing.refit.measured import Observation, newest, read_row


@pytest.mark.parametrize(
    ("widths", "expected"),
    [
        # tp, dp, experts' tensor width, experts' width
        ((8, 1, 1, 8), Layout(tp=8, ep=8)),
        ((8, 1, 8, 1), Layout(tp=8, ep=1)),
        ((1, 8, 1, 8), Layout(tp=1, dp=8, ep=8)),
        ((1, 8, 1, 16), Layout(tp=1, dp=8, ep=8)),  # no wider than the group
        ((64, 1, 8, 8), Layout(tp=8, ep=8)),  # 8 x 8 folded into one column
        ((8, 8, 8, 8), Layout(tp=1, dp=8, ep=8)),
        (
            (8, 8, 1, 64),
            Layout(tp=1, dp=8, ep=8),
        ),  # a data-parallel attention written beside TP of the same size
        ((8, 4, 1, 32), Layout(tp=8, dp=4, ep=32)),
        ((4, 1, 2, 2), Layout(tp=2, ep=2)),
        ((8, 1, 2, 4), Layout(tp=8, ep=4)),
        ((1, 1, 1, 1), Layout(tp=1)),
    ],
)
def test_columns_that_multiply_widths_are_unfolded(
    widths: tuple[int, int, int, int], expected: Layout
) -> None:
    """TP 64 with experts 8 x 8 is a group of eight; TP 8 beside DP 8 and EP 64 too."""
    tp, dp, moe_tp, moe_ep = widths
    assert pool_layout(tp=tp, dp=dp, moe_tp=moe_tp, moe_ep=moe_ep) == expected


@pytest.mark.parametrize(
    ("layout", "system", "expected"),
    [
        (Layout(tp=64, ep=8), "hgx-h200", Layout(tp=8, ep=8)),
        (Layout(tp=64, ep=8, pp=2), "hgx-h200", Layout(tp=8, ep=8, pp=2)),
        (Layout(tp=8, dp=8, ep=64), "hgx-h200", Layout(tp=1, dp=8, ep=8)),
        (Layout(tp=8, ep=8), "hgx-h200", None),  # inside the domain both readings run
        (Layout(tp=16, ep=1), "hgx-h200", None),
        (Layout(tp=16, ep=16), "hgx-h200", None),
        (Layout(tp=64, ep=8), "gb200-nvl72", None),
    ],
)
def test_only_a_group_wider_than_a_node_is_taken_for_a_folded_one(
    kb: KnowledgeBase, layout: Layout, system: str, expected: Layout | None
) -> None:
    """In a rack of 72 a group of 64 can run as it stands."""
    home = kb.systems[f"systems/{system}"]
    ran, note = unfolded(layout, home)
    assert ran == (expected or layout)
    assert bool(note) is (expected is not None)
    assert unfolded(layout, None) == (layout, "")


def test_the_note_says_both_readings(kb: KnowledgeBase) -> None:
    """64 accelerators with EP 8 are read as 8."""
    _, note = unfolded(Layout(tp=64, ep=8), kb.systems["systems/hgx-h200"])
    assert note == "64 accelerators with EP 8 read as a group of 8"


ROW = {
    "model_path": "deepseek-ai/DeepSeek-R1", "system": "hgx-h200", "backend": "vllm", "precision": "fp8", "isl": "1024", "osl": "256",
    "ttft_ms": "500", "tpot_ms": "20", "concurrency": "64", "tp_size": "8",
}  # fmt: skip


def row(kb: KnowledgeBase, **changed: str) -> Observation:
    cells: Mapping[str, str] = {name: value for name, value in {**ROW, **changed}.items() if value}
    return read_row(kb, cells, 2)


def test_a_row_is_read_as_it_stands(kb: KnowledgeBase) -> None:
    """64 requests on one group of eight; lengths and latencies as written."""
    found = row(kb, measured="2026-05-01")
    assert (found.decode.layout, found.decode.workers, found.prefill) == (Layout(tp=8), 1, None)
    assert (found.batch, found.concurrency) == (64, 64)
    assert (found.input_tokens, found.output_tokens, found.ttft_ms, found.tpot_ms) == (1024, 256, 500, 20)
    assert found.known
    assert found.run == ("systems/hgx-h200", 500, 20)
    assert newest([found, row(kb)]) == "2026-05-01"
    assert newest([]) == ""


@pytest.mark.parametrize(
    ("changed", "layout", "batch"),
    [
        ({"batch_size": "4", "concurrency": ""}, Layout(tp=8), 4),
        (
            {"batch_size": "4", "moe_ep_size": "8"},
            Layout(tp=8, ep=8),
            4,
        ),  # a batch is stated: it counts per rank, here one
        ({"tp_size": "1", "moe_ep_size": "8", "batch_size": "4"}, Layout(tp=1, dp=8, ep=8), 32),
        ({"tp_size": "1", "moe_ep_size": "8"}, Layout(tp=1, dp=8, ep=8), 64),
        ({"pp_size": "2"}, Layout(tp=8, pp=2), 64),
        (
            {"attention_dp_size": "1", "batch_size": "4"},
            Layout(tp=8),
            4,
        ),  # 64 > 1.5 x 4: the concurrency is of more than one
        ({"attention_dp_size": "1", "batch_size": "50"}, Layout(tp=8), 64),
        (
            {"attention_dp_size": "8", "tp_size": "1", "moe_ep_size": "8", "batch_size": "4"},
            Layout(tp=1, dp=8, ep=8),
            64,
        ),
        ({"attention_dp_size": "1", "batch_size": "4", "concurrency": ""}, Layout(tp=8), 4),
        ({"concurrency": "0.5"}, Layout(tp=8), 1),  # below one request there is nothing to measure
    ],
)
def test_what_runs_at_once_in_a_replica(
    kb: KnowledgeBase, changed: dict[str, str], layout: Layout, batch: float
) -> None:
    """A batch counts sequences of one data-parallel rank; concurrency those of the deployment."""
    found = row(kb, **changed)
    assert found.decode.layout == layout
    assert found.batch == batch


DISAGGREGATED = {
    "mode": "disagg", "prefill_tp_size": "4", "prefill_num_workers": "3", "decode_tp_size": "1", "decode_attention_dp_size": "8",
    "decode_moe_ep_size": "8", "decode_num_workers": "2", "concurrency": "200",
}  # fmt: skip


def test_separate_pools_are_read_each(kb: KnowledgeBase) -> None:
    """Three workers of TP4 prefill, two of DP8 decode: 200 requests are 100 for each."""
    found = row(kb, **DISAGGREGATED)
    assert found.prefill is not None
    assert (found.prefill.layout, found.prefill.workers) == (Layout(tp=4), 3)
    assert (found.decode.layout, found.decode.workers) == (Layout(tp=1, dp=8, ep=8), 2)
    assert found.batch == 100
    assert found.known


def test_a_stated_decode_batch_counts_per_rank(kb: KnowledgeBase) -> None:
    """16 on each of 8 ranks are 128 a worker, 256 in all where the concurrency is not given."""
    found = row(kb, **DISAGGREGATED | {"decode_batch_size": "16", "concurrency": ""})
    assert (found.batch, found.concurrency) == (128, 256)


@pytest.mark.parametrize(
    ("width", "concurrency", "layout", "workers"),
    [
        ("16", "256", Layout(tp=16, ep=16), 4),  # 16 sequences an accelerator: not yet busy
        ("16", "257", Layout(tp=1, dp=16, ep=16), 1),
        ("24", "24", Layout(tp=1, dp=24, ep=24), 1),  # wider than any tensor-parallel group that ran
        ("1", "8", Layout(tp=8, ep=8), 4),
    ],
)
def test_workers_that_no_row_states_are_guessed_and_marked(
    kb: KnowledgeBase, width: str, concurrency: str, layout: Layout, workers: int
) -> None:
    """Four workers of a narrow group at low load; one with data-parallel attention at high load or beyond 16."""
    found = row(kb, **DISAGGREGATED | {
        "decode_num_workers": "", "decode_tp_size": width, "decode_attention_dp_size": "", "decode_moe_ep_size": "", "concurrency": concurrency,
    })  # fmt: skip
    assert (found.decode.layout, found.decode.workers) == (layout, workers)
    assert not found.known
    assert found.batch == float(concurrency) / workers


@pytest.mark.parametrize(
    ("concurrency", "layout", "workers", "batch"),
    [("500", Layout(tp=8, ep=8), 4, 125), ("513", Layout(tp=1, dp=32, ep=32), 1, 513)],
)
def test_a_total_in_a_rack_is_a_prefill_worker_and_the_rest(
    kb: KnowledgeBase, concurrency: str, layout: Layout, workers: int, batch: float
) -> None:
    """36 accelerators of an NVL72 known only by their total: four prefill, 32 decode, as one group from 16 sequences each."""
    found = row(
        kb,
        system="gb200-nvl72",
        tp_size="36",
        moe_tp_size="36",
        attention_dp_size="1",
        concurrency=concurrency,
    )
    assert (found.decode.layout, found.decode.workers) == (layout, workers)
    assert found.batch == batch
    assert not found.known


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"isl": ""}, "isl: a positive number is needed"), ({"osl": "0"}, "osl: a positive number is needed"),
        ({"ttft_ms": "-1"}, "ttft_ms: a positive number"), ({"tpot_ms": "fast"}, "tpot_ms: 'fast' is not a number"),
        ({"tpot_ms": "nan"}, "is not a number"), ({"tpot_ms": "inf"}, "is not a number"),
        ({"concurrency": ""}, "neither concurrency nor a batch size"),
    ],
)  # fmt: skip
def test_a_row_without_its_figures_is_refused(
    kb: KnowledgeBase, changed: dict[str, str], message: str
) -> None:
    """Length, latency and load are needed, as positive numbers."""
    with pytest.raises(InputError, match=message):
        row(kb, **changed)


def found_layouts(
    kb: KnowledgeBase, model: str, system: str, limit: int | None = None
) -> list[tuple[int, int, int, int]]:
    record, home = kb.find("models", model), kb.find("systems", system)
    assert isinstance(record, Model)
    assert isinstance(home, System)
    return [(each.tp, each.pp, each.dp, each.ep) for each in layouts_for(record, home, limit)]


def test_a_dense_model_in_a_node_is_cut_by_tensor_parallelism(kb: KnowledgeBase) -> None:
    """Llama 3.1 70B (64 heads, 8 for keys and values): 1, 2, 4, 8; up to 4 when asked; 16 and 24 as stages across nodes."""
    node = [(1, 1, 1, 1), (2, 1, 1, 1), (4, 1, 1, 1), (8, 1, 1, 1)]
    assert found_layouts(kb, "llama-3.1-70b", "hgx-h200") == node
    assert found_layouts(kb, "llama-3.1-70b", "hgx-h200", 4) == node[:3]
    assert found_layouts(kb, "llama-3.1-70b", "hgx-h200", 24) == [*node, (8, 2, 1, 1), (8, 3, 1, 1)]
    assert found_layouts(kb, "llama-3.1-70b", "hgx-h200", 23) == [*node, (8, 2, 1, 1)]


def test_replicas_fill_the_unit(kb: KnowledgeBase) -> None:
    """Eight of one, four of two, two of four, one of eight in a node."""
    record = kb.find("models", "llama-3.1-70b")
    assert isinstance(record, Model)
    found = layouts_for(record, kb.systems["systems/hgx-h200"], 16)
    assert [layout.replicas for layout in found] == [8, 4, 2, 1, 1]


def test_heads_that_do_not_divide_are_continued_by_stages(kb: KnowledgeBase) -> None:
    """Qwen3 14B has 40 heads, 8 for keys and values: TP8 in a rack, and 16 and more as stages of TP8 up to its 40 layers."""
    found = found_layouts(kb, "qwen3-14b", "gb200-nvl72")
    assert found == [
        (1, 1, 1, 1),
        (2, 1, 1, 1),
        (4, 1, 1, 1),
        (8, 1, 1, 1),
        (8, 2, 1, 1),
        (8, 4, 1, 1),
        (8, 8, 1, 1),
    ]


def test_experts_also_run_beside_data_parallel_attention(kb: KnowledgeBase) -> None:
    """DeepSeek-R1, 256 experts of 2,048: widths of 2 to 72 in a rack; from TP16 slices of an expert are below 256 wide."""
    found = found_layouts(kb, "deepseek-r1", "gb200-nvl72")
    spread = [ep for tp, pp, dp, ep in found if dp > 1 and dp == ep and (tp, pp) == (1, 1)]
    assert spread == [2, 4, 8, 16, 24, 32, 36, 48, 64, 72]
    assert {tp: ep for tp, pp, dp, ep in found if dp == 1} == {1: 1, 2: 1, 4: 1, 8: 1, 16: 16, 32: 32, 64: 64}


@pytest.mark.parametrize(
    ("model", "layout", "problem"),
    [
        ("llama-3.1-70b", Layout(tp=8), ""), ("llama-3.1-70b", Layout(tp=16), ""),
        ("llama-3.1-70b", Layout(tp=3), "64 attention heads do not divide by tensor parallelism 3"),
        ("qwen3-14b", Layout(tp=5), "8 KV heads and tensor parallelism 5 do not divide"),
        ("llama-3.1-70b", Layout(tp=8, ep=2), "expert parallelism on a model without experts"),
        ("deepseek-r1", Layout(tp=8, ep=8), ""), ("deepseek-r1", Layout(tp=1, dp=8, ep=8), ""),
        ("deepseek-r1", Layout(tp=8, ep=9), "expert parallelism 9 over 8 accelerators of a stage"),
    ],
)  # fmt: skip
def test_what_engines_refuse(kb: KnowledgeBase, model: str, layout: Layout, problem: str) -> None:
    """Heads must divide; heads of keys and values may be copied to a multiple; experts need ranks to lie on."""
    assert layout_problem(kb.models[f"models/{model}"], layout) == problem
