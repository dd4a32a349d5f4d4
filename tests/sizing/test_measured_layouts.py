"""Rows of measured latency that state less than a layout, and `rackfit calibrate --check` over tables that hold such rows."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.knowledge.locate import kb_folder
from advisor.records import Layout
from advisor.sizing.refit.measured import Observation, read_row

Rackfit = Callable[..., Any]
RACK = {
    "model_path": "deepseek-ai/DeepSeek-R1", "system": "gb200", "backend": "trtllm", "precision": "fp4", "isl": "1024", "osl": "1024",
    "ttft_ms": "232.462", "tpot_ms": "8.4445", "measured": "2025-11-17",
}  # fmt: skip
POOLS = {
    "prefill_num_workers": "1", "prefill_tp_size": "1", "prefill_attention_dp_size": "4", "prefill_moe_tp_size": "1",
    "prefill_moe_ep_size": "4", "decode_num_workers": "2", "decode_tp_size": "1", "decode_attention_dp_size": "8",
    "decode_moe_tp_size": "1", "decode_moe_ep_size": "8", "decode_batch_size": "137",
}  # fmt: skip


def whole(width: int, concurrency: int) -> dict[str, str]:
    """A row that folds a disaggregated deployment of a rack into one width."""
    return RACK | {
        "mode": "agg", "concurrency": str(concurrency), "batch_size": str(concurrency), "tp_size": str(width),
        "attention_dp_size": "1", "moe_tp_size": str(width), "moe_ep_size": "1",
    }  # fmt: skip


def sides(width: int, concurrency: int, system: str = "gb200") -> dict[str, str]:
    """A disaggregated row whose two sides both state one width, and no workers."""
    stated = {
        f"{side}_{name}": str(width) for side in ("prefill", "decode") for name in ("tp_size", "moe_tp_size")
    }
    return RACK | {"mode": "disagg", "concurrency": str(concurrency), "system": system} | stated


def read(kb: KnowledgeBase, row: dict[str, str]) -> Observation:
    return read_row(kb, row, 2)


@pytest.mark.parametrize(
    ("row", "layout", "workers", "batch"),
    [
        pytest.param(whole(36, 32), Layout(tp=8, ep=8), 4, 8, id="36 of a rack at low load: 32 decode in groups of eight"),
        pytest.param(whole(20, 1075), Layout(tp=1, dp=16, ep=16), 1, 1075, id="20 at 67 users each: 16 decode as one group"),
        pytest.param(sides(36, 32), Layout(tp=8, ep=8), 4, 8, id="both sides state the total"),
        pytest.param(sides(36, 8000), Layout(tp=1, dp=32, ep=32), 1, 8000, id="both sides state the total, busy"),
        pytest.param(sides(1, 15000), Layout(tp=1, dp=8, ep=8), 1, 15000, id="no width at all: the least that holds it"),
        pytest.param(sides(32, 10, "b200_sxm"), Layout(tp=1, dp=32, ep=32), 1, 10, id="wider than any tensor group that was run"),
    ],
)  # fmt: skip
def test_a_width_that_no_engine_runs_is_taken_for_a_whole_deployment(
    kb: KnowledgeBase, row: dict[str, str], layout: Layout, workers: int, batch: int
) -> None:
    """DeepSeek-R1 has 128 heads, which 36 and 20 do not divide: such widths are totals. They are guesses, so never fitted."""
    found = read(kb, row)
    assert (found.decode.layout, found.decode.workers, found.batch) == (layout, workers, batch)
    assert not found.known


@pytest.fixture
def checked(rackfit: Rackfit, tmp_path: Path) -> Callable[..., Any]:
    """`rackfit calibrate --check` over rows."""

    def run(*rows: dict[str, str], form: str = "text") -> Any:
        path = tmp_path / "table.csv"
        names = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=names, restval="")
            writer.writeheader()
            writer.writerows(rows)
        return rackfit("calibrate", "--check", path, "--format", form)

    return run


def test_every_arrangement_of_pools_is_judged_apart(checked: Callable[..., Any]) -> None:
    """One row with stated pools, one that states only a total: two slices of mode beside the one of all."""
    stated = RACK | POOLS | {"mode": "disagg", "concurrency": "2192"}
    ran = checked(stated, whole(36, 32), form="json")
    assert ran.status == 0, ran.err
    modes = {
        part["name"]: part["rows"]
        for part in json.loads(ran.out)
        if part["name"].startswith(("all", "mode "))
    }
    assert modes == {"all": 2, "mode disaggregated": 1, "mode shared, layout unknown": 1}


def test_a_prefill_pool_is_predicted_with_its_own_workers(checked: Callable[..., Any]) -> None:
    """More prefill workers for the same users shorten the first token and leave the pace of the others alone."""
    row = RACK | POOLS | {"mode": "disagg", "concurrency": "2192"}
    ran = checked(row, row | {"prefill_num_workers": "4"}, form="csv")
    few, many = csv.DictReader(ran.out.splitlines())
    assert float(many["predicted_ttft_ms"]) < float(few["predicted_ttft_ms"])
    assert many["predicted_tpot_ms"] == few["predicted_tpot_ms"]


def test_rows_that_cannot_be_used_are_summed_up_after_twenty(checked: Callable[..., Any]) -> None:
    """A table of another kind of file does not flood the terminal; nothing is left to judge, and that is no error of its own."""
    ran = checked(*[whole(36, 32) | {"system": "abacus"}] * 23)
    assert ran.status == 1
    assert ran.out.splitlines() == ["slice   rows  TPOT error  in 90 %  TTFT error  in 90 %"]
    lines = ran.err.splitlines()
    assert len(lines) == 21
    assert lines[0].startswith("row 2: no system 'abacus'")
    assert lines[-1] == "… and 3 more rows that cannot be used"


def test_a_row_that_cannot_have_run_is_refused_with_the_reason(checked: Callable[..., Any]) -> None:
    """671B parameters in 8 bit never ran on one accelerator of 141 GB; the rows around such a row count all the same."""
    alone = whole(1, 8) | {"system": "h200_sxm", "precision": "fp8"}
    ran = checked(alone, alone | {"tp_size": "8", "moe_tp_size": "8"}, form="csv")
    assert ran.status == 1
    assert [row["row"] for row in csv.DictReader(ran.out.splitlines())] == ["3"]
    (line,) = ran.err.splitlines()
    assert line.startswith("row 2: the weights need ")
    assert "give more accelerators or a smaller precision" in line


def test_without_a_table_only_the_audited_rates_are_fitted(rackfit: Rackfit, tmp_path: Path) -> None:
    """The shipped evidence gives the shipped entry: fitted again, it is byte for byte the same."""
    ran = rackfit("calibrate", "--output", tmp_path)
    assert ran.status == 0, ran.err
    (entry,) = (tmp_path / "calibration").iterdir()
    assert entry.read_bytes() == (kb_folder() / "calibration" / entry.name).read_bytes()
    assert "1 entries written, 0 unchanged" in ran.err


def test_without_numpy_the_package_to_install_is_named(
    rackfit: Rackfit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Fitting needs an extra that answering does not."""
    monkeypatch.setitem(sys.modules, "numpy", None)
    ran = rackfit("calibrate", "--output", tmp_path)
    assert ran.status == 2
    assert "calibrate needs numpy; install it with: pip install 'rackfit[calibrate]'" in ran.err
