"""Hand-written excerpts of result rows, in the two shapes of the published summary files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def list_row(**changes: Any) -> dict[str, Any]:
    """A row in the shape of v5.1 and v6.0: one element of a list."""
    row = {
        "ID": "6.0-0001", "Submitter": "AMD", "Availability": "available", "Category": "closed", "Suite": "datacenter",
        "System": "AMD MI355X Custom Cluster", "Platform": "8xMI355X_2xEPYC_9575F", "UsedModel": "llama2-70b-99.9",
        "Model": "llama2-70b-99.9", "Scenario": "Offline", "Nodes": 1, "Accelerator": "AMD Instinct MI355X 288GB HBM3e",
        "a#": 8, "Total Accelerators": 8, "Location": "", "Software": "PyTorch 2.9.1, ROCm 7.0.0", "version": "v6.0",
        "inferred": 0, "weight_data_types": "fp4", "Performance_Result": 103480.0, "Performance_Units": "Tokens/s",
    }  # fmt: skip
    return row | changes


def object_row(**changes: Any) -> dict[str, Any]:
    """A row in the shape of v6.1: one value of an object keyed by index."""
    row = {
        "Organization": "NVIDIA", "Availability": "available", "Division": "closed", "SystemType": "datacenter",
        "SystemName": "NVIDIA GB300 NVL72 (72x GB300-288GB_aarch64, TensorRT)", "Model": "deepseek-r1",
        "Platform": "GB300-NVL72_GB300-288GB_aarch64x72_TRT", "Scenario": "Offline", "Result": 679740.0,
        "Units": "Tokens/s", "number_of_nodes": 18, "accelerator_model_name": "NVIDIA GB300", "accelerators_per_node": 4,
        "total_accelerators": 72, "framework": "TensorRT 10.14", "version": "v6.1", "inferred": 0, "weight_data_types": "fp4",
    }  # fmt: skip
    return row | changes


def write_list(folder: Path, *rows: Any) -> Path:
    """A summary file that is a list."""
    path = folder / "summary_results.json"
    path.write_text(json.dumps(rows))
    return path


def write_object(folder: Path, rows: dict[str, Any]) -> Path:
    """A summary file that is an object keyed by index."""
    path = folder / "summary.json"
    path.write_text(json.dumps(rows))
    return path
