"""Traps of the published result files, each on the row that has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import rows

from advisor.evidence.mlperf import import_results
from advisor.knowledge import KnowledgeBase
from advisor.records import Evidence


def one(folder: Path, row: dict[str, Any]) -> Evidence:
    path = rows.write_list(folder, row) if "Submitter" in row else rows.write_object(folder, {"7": row})
    done = import_results(path)
    assert not done.problems
    return done.entries[0]


@pytest.mark.parametrize(("named", "nodes", "total"), [(87, 11, 88), (94, 12, 96)])
def test_the_count_in_the_accelerator_name_wins_over_the_total(
    tmp_path: Path, named: int, nodes: int, total: int
) -> None:
    """AMD's v6.0 clusters of 87 and 94 state totals of 88 and 96 (nodes times places): the name counts, and is given why."""
    scale = one(
        tmp_path,
        rows.list_row(
            Platform=f"{named}xMI355X_{2 * nodes}xEPYC_9575F", Nodes=nodes, Accelerator=f"AMD Instinct MI355X 288GB HBM3e (x{named})",
            **{"Total Accelerators": total},
        ),
    ).scale  # fmt: skip
    assert (scale.accelerators, scale.stated_accelerators) == (named, total)
    assert str(total) in scale.note
    assert f"{nodes} nodes x 8" in scale.note


def test_288_accelerators_are_four_racks(tmp_path: Path) -> None:
    """NVIDIA's x288 system still calls itself `72x`: four racks on InfiniBand, not one domain."""
    scale = one(
        tmp_path,
        rows.object_row(
            Platform="GB300-NVL72_GB300-288GB_aarch64x288_TRT", number_of_nodes=72, total_accelerators=288
        ),
    ).scale
    assert (scale.accelerators, scale.unit, scale.racks) == (288, "multi-rack", 4)
    assert "no common scale-up domain" in scale.note


@pytest.mark.parametrize(("count", "nodes"), [(1, 1), (4, 1), (8, 2), (16, 4), (64, 16)])
def test_part_of_a_rack_is_a_slice(tmp_path: Path, count: int, nodes: int) -> None:
    """x1, x4, x8, x16 and x64 of an NVL72 are slices of a 72-GPU product; nobody sells them as nodes."""
    scale = one(
        tmp_path,
        rows.object_row(
            Platform=f"GB300-NVL72_GB300-288GB_aarch64x{count}_TRT", number_of_nodes=nodes, total_accelerators=count,
            accelerators_per_node=min(count, 4),
        ),
    ).scale  # fmt: skip
    assert scale.unit == "slice"
    assert f"{count} of the 72" in scale.note


def test_half_a_preview_rack_is_a_slice_of_vr200(tmp_path: Path) -> None:
    """Nebius's v6.1 VR200 system is x36, nine trays."""
    entry = one(
        tmp_path,
        rows.object_row(
            Organization="Nebius", Platform="VR200-NVL72_aarch64x36", accelerator_model_name="NVIDIA VR200", number_of_nodes=9,
            total_accelerators=36, Availability="preview",
        ),
    )  # fmt: skip
    assert (entry.accelerator, entry.scale.unit, entry.availability) == (
        "accelerators/vr200",
        "slice",
        "preview",
    )


@pytest.mark.parametrize(
    ("name", "nodes", "total"),
    [
        ("AMD Instinct MI300X 192GB HBM3 (x32), AMD Instinct MI325X 256GB HBM3e (x16)", 6, 48),
        ("AMD Instinct MI325X 256GB HBM3E (x16), AMD Instinct MI300X 192GB HBM3 (x8)", 3, 24),
        ("AMD Instinct MI300X 192GB HBM3 (x2x8) and AMD Instinct MI355X 288GB HBM3e (x2x8)", 4, 32),
        ("NVIDIA H200-SXM-141GB + AMD Instinct MI350X 288GB HBM3e", 2, 16),
    ],
)
def test_mixed_silicon_has_no_accelerator(tmp_path: Path, name: str, nodes: int, total: int) -> None:
    """MangoBoost's and Cisco's mixed clusters keep their total but have no accelerator to divide by."""
    entry = one(tmp_path, rows.list_row(Accelerator=name, Nodes=nodes, **{"Total Accelerators": None}))
    assert entry.scale.mixed_silicon
    assert entry.accelerator is None
    assert entry.scale.accelerators == total


@pytest.mark.parametrize("name", ["", None, "None"])
def test_a_cpu_only_row_divides_by_nothing(tmp_path: Path, name: str | None) -> None:
    """Intel's CPU rows have an empty accelerator, an empty `a#` and a total of 0."""
    entry = one(
        tmp_path,
        rows.list_row(
            Submitter="Intel",
            Platform="1-node-2S-GNR_128C",
            Accelerator=name,
            **{"a#": "", "Total Accelerators": 0},
        ),
    )
    assert entry.scale.accelerators == 0
    assert "CPU only" in entry.scale.note


def test_99_and_99_9_are_one_run(tmp_path: Path) -> None:
    """Two rows with the same rate to the last digit are one run that met both accuracy targets."""
    path = rows.write_list(
        tmp_path, *(rows.list_row(Model=m, UsedModel=m) for m in ("llama2-70b-99", "llama2-70b-99.9"))
    )
    (result,) = import_results(path).entries[0].results
    assert result.accuracy_variants == ("99", "99.9")


def test_99_and_99_9_with_different_rates_are_two_runs(tmp_path: Path) -> None:
    """HPE's v5.1 server of eight RTX PRO 6000 did run twice: 26,205.8 and 26,205.3 tokens/s."""
    path = rows.write_list(
        tmp_path,
        rows.list_row(Model="llama2-70b-99", UsedModel="llama2-70b-99", Performance_Result=26205.8),
        rows.list_row(Performance_Result=26205.3),
    )
    assert [r.accuracy_variants for r in import_results(path).entries[0].results] == [("99",), ("99.9",)]


def test_spellings_of_model_and_scenario_fold_together(tmp_path: Path) -> None:
    """Intel's v6.0 rows spell `llama3_1-8b`, Nebius's and AMD's spell `offline`: the same benchmark and scenario."""
    entry = one(tmp_path, rows.list_row(UsedModel="llama3_1-8b", Model="llama3.1-8b", Scenario="offline"))
    assert (entry.results[0].benchmark, entry.results[0].model, entry.results[0].scenario) == (
        "llama3.1-8b", "models/llama-3.1-8b", "offline",
    )  # fmt: skip


def test_queries_that_are_tokens(tmp_path: Path) -> None:
    """NVIDIA's v5.1 llama3.1-8b Interactive row says Queries/s but holds tokens/s (its log: 797.76 samples/s)."""
    (result,) = one(
        tmp_path,
        rows.list_row(
            ID="5.1-0072", Submitter="NVIDIA", Platform="B200-SXM-180GBx8_TRT", Accelerator="NVIDIA B200-SXM-180GB",
            UsedModel="llama3.1-8b", Model="llama3.1-8b", Scenario="Interactive", Performance_Result=102903.0,
            Performance_Units="Queries/s", version="v5.1",
        ),
    ).results  # fmt: skip
    assert result.metric == "tokens_per_s"
    assert "Queries/s" in result.note


@pytest.mark.parametrize(("scenario", "units", "metric"), [("Offline", "Samples/s", "samples_per_s"), ("Server", "Queries/s", "queries_per_s")])  # fmt: skip
def test_samples_stay_samples(tmp_path: Path, scenario: str, units: str, metric: str) -> None:
    """Qwen3-VL counts samples and queries; no output length of ours makes tokens of them."""
    row = rows.object_row(Model="qwen3-vl-235b-a22b", Scenario=scenario, Units=units, Result=129.36)
    (result,) = one(tmp_path, row).results
    assert (result.metric, result.value) == (metric, 129.36)


@pytest.mark.parametrize("stated", ["fp32", "bf16"])
def test_a_data_type_that_contradicts_the_checkpoint(tmp_path: Path, stated: str) -> None:
    """Qwen3-VL on GB200 and GB300 says fp32 (v6.0) or bf16 (v6.1), but the served checkpoint was NVFP4."""
    (result,) = one(
        tmp_path, rows.object_row(Model="qwen3-vl-235b-a22b", Units="Samples/s", weight_data_types=stated)
    ).results
    assert (result.precision, result.precision_as_stated) == ("fp4", stated)
    assert "NVFP4" in result.note


def test_a_list_of_tensor_types_is_no_precision(tmp_path: Path) -> None:
    """Nebius's `BF16/F32/F8_E4M3/U8` lists the tensors of a file: the precision served stays unknown."""
    row = rows.object_row(
        Model="qwen3-vl-235b-a22b", Units="Samples/s", weight_data_types="BF16/F32/F8_E4M3/U8",
        accelerator_model_name="NVIDIA B300-SXM-270GB", Platform="B300-SXM-270GBx8_TRT", number_of_nodes=1,
        accelerators_per_node=8, total_accelerators=8,
    )  # fmt: skip
    assert one(tmp_path, row).results[0].precision is None


@pytest.mark.parametrize(
    ("stated", "precision"),
    [
        ("fp4", "fp4"), ("MXFP4", "fp4"), ("NVFP4 weights and activations; FP8 KV cache", "fp4"), ("NVFP4, FP8 (KV cache)", "fp4"),
        ("nvfp4, fp8-kv", "fp4"), ("NVFP4 weights with FP8 KV cache", "fp4"), ("fp4 weights, fp8 KV cache", "fp4"),
        ("fp8 (static per-tensor PTQ, NVIDIA ModelOpt)", "fp8"), ("INT8", "int8"), ("UINT4", "int4"), ("UNSET", None),
        ("fp8,fp4", None),
    ],
)  # fmt: skip
def test_precision_is_that_of_the_weights(tmp_path: Path, stated: str, precision: str | None) -> None:
    """The spellings that the rounds use, with the KV cache's precision left aside."""
    assert one(tmp_path, rows.list_row(weight_data_types=stated)).results[0].precision == precision


def test_a_platform_name_that_counts_idle_accelerators(tmp_path: Path) -> None:
    """Red Hat's v5.1 `XE8640_4xH100_vLLM` used one of its four GPUs."""
    row = rows.list_row(
        Submitter="RedHat", Platform="XE8640_4xH100_vLLM", Accelerator="NVIDIA H100-SXM-80GB", version="v5.1",
        **{"a#": 1, "Total Accelerators": None},
    )  # fmt: skip
    scale = one(tmp_path, row).scale
    assert (scale.accelerators, scale.unit) == (1, "slice")
    assert "name says 4" in scale.note


def test_v5_1_rows_have_no_total(tmp_path: Path) -> None:
    """In v5.1 the count is nodes times accelerators per node: Cisco's 4 nodes of 8 H100."""
    row = rows.list_row(
        Submitter="Cisco",
        Platform="HGX-H100_H100-SXM-80GBx32_TRT",
        Accelerator="NVIDIA H100-SXM-80GB",
        Nodes=4,
    )
    del row["Total Accelerators"]
    scale = one(tmp_path, row).scale
    assert (scale.accelerators, scale.unit, scale.nodes) == (32, "multi-node", 4)


def test_inferred_is_not_estimated(tmp_path: Path) -> None:
    """`inferred: 1` marks a folder whose name differs from the log's scenario: the result stays audited."""
    assert one(tmp_path, rows.list_row(inferred=1)).grade == "audited"


def test_measured_power_is_kept(tmp_path: Path) -> None:
    """Lenovo's v5.1 B200 node drew 10,401 W at the wall: the only LLM power figures there are."""
    row = rows.list_row(has_power=True, Power_Result=10400.9988793425, Power_Units="Watts")
    assert one(tmp_path, row).results[0].power_w == 10401.0


def test_preview_and_rdi_rows_are_kept(kb: KnowledgeBase) -> None:
    """CoreWeave's GB300 slice of v5.1, NVIDIA's and Nebius's VR and the rdi rows of v6.1 are in, marked as such."""
    marked = {
        (e.round, e.submitter, e.availability) for e in kb.evidence.values() if e.availability != "available"
    }
    assert {
        ("v5.1", "CoreWeave", "preview"), ("v6.0", "Intel", "preview"), ("v6.1", "NVIDIA", "preview"),
        ("v6.1", "Nebius", "preview"), ("v6.1", "Naeem Khoshnevis", "rdi"),
    } <= marked  # fmt: skip


def test_a_board_of_four_is_not_part_of_a_rack(kb: KnowledgeBase) -> None:
    """Red Hat's and Lambda's NVL4 systems of v6.1 are boards of four GPUs on their own."""
    boards = [e for e in kb.evidence.values() if "NVL4" in e.platform]
    assert boards
    assert {e.scale.unit for e in boards} == {"node"}


def test_open_division_is_kept_apart(tmp_path: Path) -> None:
    """AMD's v5.1 pruned 405B is another model run under a benchmark's name: open, and what ran is noted."""
    entry = one(
        tmp_path, rows.list_row(Category="open", UsedModel="llama3_1-405b_pruned", Model="llama3.1-405b")
    )
    assert entry.division == "open"
    assert entry.id.endswith("-open")
    assert entry.results[0].note == "ran llama3_1-405b_pruned"
