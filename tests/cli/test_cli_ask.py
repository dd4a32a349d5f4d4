"""`rackfit ask`: the examples that the product was founded on. Golden figures are audited MLPerf Inference results
(v6.0 and v6.1, records named in the evidence entries) and the arithmetic on them that the seed entry states."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.knowledge.schema import check_data

Rackfit = Callable[..., Any]
SEED = "gotchas/bench-mlperf-rack-scale-is-per-gpu-negative-for-70b"
LLAMA = ("ask", "--model", "llama-2-70b", "--precision", "fp4", "--context", "4096", "--format", "json")


def answer(rackfit: Rackfit, *arguments: str, status: int = 0) -> dict[str, Any]:
    ran = rackfit(*arguments)
    assert ran.status == status, ran.err
    plain: dict[str, Any] = json.loads(ran.out)
    assert check_data("recommendation", plain) == []
    return plain


def test_llama_2_70b_offline_is_a_node_by_tie_break(rackfit: Rackfit) -> None:
    """The GB300 rack's edge per GPU is silicon, inside premium and noise: a tie, broken towards the smaller unit."""
    got = answer(rackfit, *LLAMA, "--workload", "offline")
    assert got["verdict"] == "node"
    assert got["comparison"]["tie"]
    assert SEED in [gotcha["id"] for gotcha in got["gotchas"]]
    silicon, scale = got["comparison"]["silicon_effect"], got["comparison"]["scale_effect"]
    assert silicon["value"] == pytest.approx(1.20, abs=0.03)
    assert scale["value"] <= 1.0


def test_the_seed_figures_appear_as_derived_from_their_totals(rackfit: Rackfit) -> None:
    """131464/8 = 16433, 1136100/72 = 15779 and 109277/8 = 13660, each with its evidence, none of them verified."""
    got = answer(rackfit, *LLAMA, "--workload", "offline")
    figures = [(c["id"], f) for c in got["evidence"] for f in c["figures"]]
    for total, count, per in (("131464", 8, "16433"), ("1136100", 72, "15779"), ("109277", 8, "13660")):
        hit = [entry for entry, figure in figures if f"{total} / {count} = {per} " in figure]
        assert hit, f"{total} / {count} = {per} is not shown"
    assert all(not c["verified"] for c in got["evidence"] if c["figures"])


def test_interactive_answers_from_interactive_evidence_and_says_what_is_confounded(rackfit: Rackfit) -> None:
    """v6.0: GB300 x72 814128 tok/s against B300 x8 65464.8 tok/s, across submitters, disaggregation unknown on one side."""
    got = answer(rackfit, *LLAMA, "--workload", "interactive")
    totals = {side["value"] for pair in got["comparison"]["pairs"] for side in (pair["small"], pair["large"])}
    assert {814128.0, 65464.8} <= totals
    assert got["comparison"]["confounders"]


def test_deepseek_r1_at_15_ms_is_a_rack(rackfit: Rackfit) -> None:
    """v6.0 Interactive: 250634 tok/s on GB300 x72 against 617 per GPU on B300 x8, a ratio of 5.64, with a group of 16."""
    got = answer(
        rackfit, "ask", "--model", "deepseek-r1", "--precision", "fp4", "--tpot-ms", "15", "--format", "json"
    )
    assert got["verdict"] == "rack"
    assert any("disaggregation" in c for c in got["comparison"]["confounders"])
    rack = next(c for c in got["candidates"] if c["system"] == got["best_rack"])
    assert rack["layout"]["tp"] * rack["layout"]["dp"] * rack["layout"]["pp"] >= 16


def test_long_context_shows_memory_layout_and_fleet_on_both_sides(rackfit: Rackfit) -> None:
    """DeepSeek-R1 at 128k context and 512 users: both sides are sized down to bytes per accelerator."""
    got = answer(
        rackfit, "ask", "--model", "deepseek-r1", "--precision", "fp4", "--context", "131072", "--concurrency", "512",
        "--format", "json",
    )  # fmt: skip
    for best in (got["best_node"], got["best_rack"]):
        candidate = next(c for c in got["candidates"] if c["system"] == best)
        assert candidate["memory"]["weights_bytes"] > 0
        assert candidate["memory"]["kv_bytes_per_token"] > 0
        assert candidate["layout"]["tp"] >= 1
        assert candidate["fleet"]["accelerators_installed"] >= candidate["fleet"]["accelerators_needed"] > 0


def test_a_small_demand_is_nodes_by_granularity(rackfit: Rackfit) -> None:
    """Domain notes: a demand of 30 GPUs is 4 nodes (32) but a whole rack (72)."""
    demand = 30 * 13_000
    got = answer(rackfit, *LLAMA, "--workload", "offline", "--throughput", str(demand))
    assert got["verdict"] == "node"
    node = next(c for c in got["candidates"] if c["system"] == got["best_node"])
    assert node["fleet"]["accelerators_installed"] <= 32


def test_air_cooling_excludes_a_liquid_rack_by_a_named_rule(rackfit: Rackfit) -> None:
    """NVL72 racks are liquid-cooled only; the rule that excludes them is named."""
    got = answer(rackfit, *LLAMA, "--workload", "offline", "--cooling", "air")
    assert got["verdict"] == "node"
    racks = [c for c in got["candidates"] if c["unit"] == "rack" and c["accelerator"] == "accelerators/gb300"]
    assert [
        e["constraint"] for c in racks for e in c["exclusions"] if e["constraint"].startswith("rules/site-")
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", "lama-9-70b"), "llama-"),
        (("--model", "llama-2-70b", "--context", "-5"), "--context"),
        (("--model", "llama-2-70b", "--context", "1e99"), "--context"),
        (("--model", "llama-2-70b", "--precision", "fp5"), "fp8"),
        (("--model", "llama-2-70b", "--kb", "/nonexistent"), "/nonexistent"),
        (("--model", "llama-2-70b", "--tpot-ms", "nan"), "--tpot-ms"),
        (("--model", "llama-2-70b", "--price", "hgx-b300"), "--price"),
        (("--model", "llama-2-70b", "--fact", "colour=red"), "colour"),
        (("--context", "4096"), "model"),
    ],
)
def test_bad_input_is_one_line_and_status_2(rackfit: Rackfit, arguments: tuple[str, ...], says: str) -> None:
    """Every unusable input names itself and what would be right, on one line of standard error."""
    ran = rackfit("ask", *arguments)
    assert ran.status == 2
    assert ran.out == ""
    assert len(ran.err.strip().splitlines()) == 1
    assert says in ran.err


def test_a_broken_overlay_is_one_line_with_its_place(rackfit: Rackfit, tmp_path: Path) -> None:
    """A YAML error in an overlay names file, line and column."""
    (tmp_path / "gotchas").mkdir()
    (tmp_path / "gotchas" / "x.yaml").write_text("id: gotchas/x\ntitle: [broken\n", "utf-8")
    ran = rackfit("ask", "--model", "llama-2-70b", "--kb", tmp_path)
    assert ran.status == 2
    assert "x.yaml:" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("how sure", "medium"),
        ("what if kv is bf16", "bf16"),
        ("what would change your mind", "single input"),
        ("what did you assume", "Accuracy variant"),
        ("why not rack", "rack"),
        ("show me the evidence", "GB300"),
    ],
)
def test_explain_answers_questions_about_the_answer(rackfit: Rackfit, question: str, says: str) -> None:
    """`--explain` takes what the chat takes, and replies about this requirement."""
    got = answer(rackfit, *LLAMA, "--workload", "offline", "--explain", question)
    assert says.casefold() in got["explanation"].casefold()
    assert "no answer yet" not in got["explanation"]
