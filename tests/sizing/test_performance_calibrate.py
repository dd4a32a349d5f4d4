"""`rackfit calibrate`: what it writes, that it writes it once, and what it says about bad input."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.records import Accelerator, Layout, Model, System
from advisor.sizing.memory import pick_checkpoint
from advisor.sizing.performance import predict

Run = Callable[..., Any]


def write_table(kb: KnowledgeBase, path: Path, *, slower: float = 1.0) -> None:
    """Eighty made-up rows: the shipped calibration's own predictions, times a constant."""
    rows = []
    for name, precision, widths in (("llama-3.1-70b", "fp8", (2, 4, 8)), ("gpt-oss-120b", "fp4", (1, 2, 4))):
        for system_name, column in (("hgx-h200", "h200_sxm"), ("hgx-b200", "b200_sxm")):
            model, system = kb.find("models", name), kb.find("systems", system_name)
            assert isinstance(model, Model)
            assert isinstance(system, System)
            accelerator = kb.entries[system.accelerator]
            assert isinstance(accelerator, Accelerator)
            for width in widths:
                for batch in (1, 4, 8, 16, 32, 64, 128):
                    found = predict(
                        kb, model, pick_checkpoint(model, precision), system, accelerator, Layout(tp=width),
                        batch_per_replica=batch, input_tokens=1024, output_tokens=1024, engine="vllm",
                    )  # fmt: skip
                    rows.append({
                        "model_path": model.hf_id, "system": column, "backend": "vllm", "precision": precision, "mode": "agg",
                        "isl": 1024, "osl": 1024, "concurrency": batch, "batch_size": batch, "tp_size": width, "pp_size": 1,
                        "attention_dp_size": 1, "moe_tp_size": width, "moe_ep_size": 1, "measured": "2026-05-01",
                        "ttft_ms": f"{found.ttft_ms.value:.4f}", "tpot_ms": f"{found.tpot_ms.value * slower:.4f}",
                    })  # fmt: skip
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def table(kb: KnowledgeBase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("measured") / "table.csv"
    write_table(kb, path)
    return path


def test_the_same_table_writes_the_same_files(rackfit: Run, table: Path, tmp_path: Path) -> None:
    """A second fit of the same data leaves every file as it is; what an older table had covered is gone."""
    stale = tmp_path / "calibration" / "serving-h20-vllm.yaml"
    stale.parent.mkdir()
    stale.write_text("id: calibration/serving-h20-vllm\ntitle: old\n", encoding="utf-8")
    first = rackfit("calibrate", "--measured", str(table), "--output", str(tmp_path))
    assert first.status == 0, first.err
    assert not stale.exists()
    before = {path.name: path.read_bytes() for path in (tmp_path / "calibration").iterdir()}
    second = rackfit("calibrate", "--measured", str(table), "--output", str(tmp_path))
    assert "0 entries written" in second.err
    assert {path.name: path.read_bytes() for path in (tmp_path / "calibration").iterdir()} == before
    entry = yaml.safe_load(before["serving-h200-vllm.yaml"])
    assert entry["fitted"] == "2026-05-01"
    assert entry["data"]["rows"] == 42
    assert load_knowledge([tmp_path]).calibrations["calibration/serving-h200-vllm"].terms == entry["terms"]


def test_servers_measured_slower_are_predicted_slower(
    rackfit: Run, kb: KnowledgeBase, tmp_path: Path
) -> None:
    """A table at 1.5 times the shipped pace, fitted and laid over, is predicted to a few per cent."""
    table = tmp_path / "slow.csv"
    write_table(kb, table, slower=1.5)
    folder = tmp_path / "kb"
    folder.mkdir()
    assert rackfit("calibrate", "--measured", str(table), "--output", str(folder)).status == 0
    checked = rackfit("calibrate", "--check", str(table), "--kb", str(folder), "--format", "json")
    overall = yaml.safe_load(checked.out)[0]
    assert overall["name"] == "all"
    assert overall["tpot_error"] < 0.06
    assert (
        yaml.safe_load(rackfit("calibrate", "--check", str(table), "--format", "json").out)[0]["tpot_error"]
        > 0.25
    )


def test_check_lists_rows_and_writes_nothing(rackfit: Run, table: Path, tmp_path: Path) -> None:
    """CSV of every row with its prediction and interval."""
    found = rackfit("calibrate", "--check", str(table), "--format", "csv", "--output", str(tmp_path))
    lines = found.out.splitlines()
    assert lines[0].startswith("row,model,accelerator,engine,mode,ttft_ms")
    assert len(lines) == 85
    assert list(tmp_path.iterdir()) == []


def test_rows_that_cannot_be_used_are_named_and_the_rest_counts(
    rackfit: Run, table: Path, tmp_path: Path
) -> None:
    """Exit status 1, one line per bad row with its number."""
    broken = tmp_path / "broken.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    lines[3] = lines[3].replace("h200_sxm", "abacus")
    broken.write_text("\n".join(lines), encoding="utf-8")
    found = rackfit("calibrate", "--check", str(broken))
    assert found.status == 1
    assert "row 4: no system 'abacus'" in found.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--measured", "no-such.csv"), "--measured: 'no-such.csv' is not a file"),
        (("--output", "no-such-folder"), "--output: 'no-such-folder' is not a folder"),
        (("--format", "csv"), "it needs --check CSV"),
        (("--source", "sources/unheard-of"), "--source: no entry 'sources/unheard-of'"),
    ],
)
def test_bad_usage_is_one_line(
    rackfit: Run, arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    """Status 2 and what would be right."""
    output = () if "--output" in arguments else ("--output", str(tmp_path))
    found = rackfit("calibrate", *arguments, *output)
    assert found.status == 2
    assert message in found.err
    assert len(found.err.splitlines()) == 1


def test_too_few_rows_are_not_fitted(rackfit: Run, table: Path, tmp_path: Path) -> None:
    """Ten rows say nothing about twenty-two terms."""
    short = tmp_path / "short.csv"
    short.write_text("\n".join(table.read_text(encoding="utf-8").splitlines()[:11]), encoding="utf-8")
    found = rackfit("calibrate", "--measured", str(short), "--output", str(tmp_path))
    assert found.status == 2
    assert "at least 50" in found.err


def test_shipped_entries_say_what_they_were_fitted_to(kb: KnowledgeBase) -> None:
    """Date of the newest measurement, rows, models, fingerprint of the table, residuals and sources."""
    for entry in kb.calibrations.values():
        if not entry.id.startswith("calibration/serving-"):
            continue
        assert entry.fitted == "2026-04-22"
        assert entry.data["table_rows"] == 2773
        assert entry.residuals["tpot new model 5%"] < 1 < entry.residuals["tpot new model 95%"]
        assert set(entry.sources) == {"sources/nvidia-aiconfigurator", "sources/inferencex"}
