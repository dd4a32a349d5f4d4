"""A row of a result file as an entry, whole: every column of both shapes lands where it belongs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import rows

from advisor.errors import InputError
from advisor.evidence.mlperf import import_results
from advisor.evidence.mlperf.source import write_missing_sources
from advisor.records import Evidence, Result, Scale

MI355X = Evidence(
    id="evidence/mlperf-v6.0/amd/8xmi355x-2xepyc-9575f", title="AMD 8× MI355X, node, v6.0 (8xMI355X_2xEPYC_9575F)", source="sources/mlperf-v6.0", round="v6.0",
    submitter="AMD", system_name="AMD MI355X Custom Cluster", platform="8xMI355X_2xEPYC_9575F", accelerator="accelerators/mi355x",
    accelerator_as_stated="AMD Instinct MI355X 288GB HBM3e", scale=Scale(accelerators=8, nodes=1, unit="node"), software="PyTorch 2.9.1, ROCm 7.0.0",
    grade="audited",
    results=(
        Result(
            benchmark="llama2-70b", model="models/llama-2-70b", scenario="offline", metric="tokens_per_s", value=103480.0, record="6.0-0001",
            accuracy_variants=("99.9",), precision="fp4",
        ),
    ),
)  # fmt: skip
GB300 = Evidence(
    id="evidence/mlperf-v6.1/nvidia/gb300-nvl72-gb300-288gb-aarch64x72-trt", title="NVIDIA 72× GB300, rack, v6.1 (GB300-NVL72_GB300-288GB_aarch64x72_TRT)",
    source="sources/mlperf-v6.1", round="v6.1", submitter="NVIDIA", system_name="NVIDIA GB300 NVL72 (72x GB300-288GB_aarch64, TensorRT)",
    platform="GB300-NVL72_GB300-288GB_aarch64x72_TRT", accelerator="accelerators/gb300", accelerator_as_stated="NVIDIA GB300",
    scale=Scale(accelerators=72, nodes=18, unit="rack", racks=1), software="TensorRT 10.14", grade="audited",
    results=(
        Result(
            benchmark="deepseek-r1", model="models/deepseek-r1", scenario="offline", metric="tokens_per_s", value=679740.0, record="7", precision="fp4",
        ),
    ),
)  # fmt: skip


def test_a_row_of_the_list_shape_is_read_whole(tmp_path: Path) -> None:
    """v5.1 and v6.0: AMD's MI355X node, field by field as the row has them."""
    (entry,) = import_results(rows.write_list(tmp_path, rows.list_row())).entries
    assert entry == MI355X


def test_a_row_of_the_object_shape_is_read_whole(tmp_path: Path) -> None:
    """v6.1: NVIDIA's GB300 rack, its key as the record."""
    (entry,) = import_results(rows.write_object(tmp_path, {"7": rows.object_row()})).entries
    assert entry == GB300


@pytest.mark.parametrize(
    ("column", "missing"),
    [
        ("Submitter", True), ("Availability", True), ("Category", True), ("Suite", True), ("Platform", True), ("Model", True), ("Scenario", True),
        ("Performance_Result", True), ("Performance_Units", True), ("version", True), ("System", False), ("Software", False), ("Location", False),
    ],
)  # fmt: skip
def test_which_columns_a_row_needs(column: str, missing: bool, tmp_path: Path) -> None:
    """A row without one of them is named with the column; names of parts and software may be left out."""
    row = {name: value for name, value in rows.list_row().items() if name != column}
    found = import_results(rows.write_list(tmp_path, row))
    assert bool(found.problems) is missing
    if missing:
        assert column in found.problems[0].message


def one(folder: Path, **changes: Any) -> Evidence:
    (entry,) = import_results(rows.write_list(folder, rows.list_row(**changes))).entries
    return entry


def test_the_open_division_is_said_in_name_and_title(tmp_path: Path) -> None:
    """Its entries stand beside the closed ones of the same system; what was run instead of the benchmark's model is noted."""
    entry = one(tmp_path, Category="open")
    assert entry.division == "open"
    assert entry.id.endswith("/8xmi355x-2xepyc-9575f-open")
    assert ", open division" in entry.title
    named = one(tmp_path, Category="open", Platform="8xMI355X-open")
    assert named.id.endswith("/8xmi355x-open")
    assert one(tmp_path).results[0].note == ""


def test_a_system_without_accelerators_counts_its_nodes(tmp_path: Path) -> None:
    """CPU only: nothing to divide by; one host is a node, two are several."""
    cpu = {"Accelerator": "", "a#": 0, "Total Accelerators": None, "Platform": "2xEPYC"}
    single, double = (one(tmp_path, **cpu, Nodes=nodes) for nodes in (1, 2))
    assert (single.scale.unit, single.scale.nodes, single.scale.accelerators) == ("node", 1, 0)
    assert (double.scale.unit, double.scale.nodes) == ("multi-node", 2)
    assert "CPU only" in single.scale.note
    assert single.accelerator is None
    assert one(tmp_path, **cpu, Nodes=0).scale.nodes == 1


@pytest.mark.parametrize(
    ("power", "unit", "expected"),
    [
        (14300.26, "Watts", 14300.3),
        (0, "Watts", None),
        (14300, "Joules", None),
        (True, "Watts", None),
        ("14300", "Watts", None),
    ],
)
def test_power_is_taken_in_watts_alone(tmp_path: Path, power: Any, unit: str, expected: float | None) -> None:
    """Measured at the wall, to a tenth of a watt."""
    assert one(tmp_path, Power_Result=power, Power_Units=unit).results[0].power_w == expected


def test_two_accuracy_targets_of_one_run_are_one_result(tmp_path: Path) -> None:
    """Equal to the last digit: one run that met both; another digit: two runs; without a target nothing is merged."""

    def results(*changes: dict[str, Any]) -> list[tuple[tuple[str, ...], str]]:
        given = [rows.list_row(**each) for each in changes]
        (entry,) = import_results(rows.write_list(tmp_path, *given)).entries
        return [(r.accuracy_variants, r.record) for r in entry.results]

    loose, strict = (
        {"ID": name, "Model": model, "UsedModel": model}
        for name, model in (("a", "llama2-70b-99"), ("b", "llama2-70b-99.9"))
    )
    assert results(strict, loose) == [(("99", "99.9"), "a, b")]
    assert results(strict, loose | {"Performance_Result": 103481.0}) == [(("99",), "a"), (("99.9",), "b")]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Sources of rounds that nobody has are written beside the entries; a file in the place of a folder stops it."""

    entry = replace(MI355X, source="sources/mlperf-v9.9", round="v9.9")
    (path,) = write_missing_sources([entry, entry, MI355X], tmp_path, date(2026, 12, 1))
    assert path == tmp_path / "sources" / "mlperf-v9.9.yaml"
    text = path.read_text(encoding="utf-8")
    assert "v9.9" in text
    assert "2026-12-01" in text
    assert write_missing_sources([entry], tmp_path, date(2026, 12, 1)) == []
    blocked = tmp_path / "blocked"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_missing_sources([entry], blocked, date(2026, 12, 1))
