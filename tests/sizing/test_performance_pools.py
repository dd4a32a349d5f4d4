"""Separate pools for prompts and answers, as flags of `rackfit estimate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

ROW = (
    "estimate", "--model", "deepseek-ai/DeepSeek-V3", "--accelerator", "gb300", "--engine", "sglang", "--precision", "fp4",
    "--input-tokens", "8192", "--output-tokens", "1024", "--context", "9216", "--tp", "4", "--prefill-tp", "4",
    "--prefill-workers", "1", "--decode-workers", "4", "--format", "json",
)  # fmt: skip


@pytest.mark.parametrize(("concurrency", "measured_tpot_ms"), [("4", 6.7315), ("64", 12.0247)])
def test_concurrency_is_shared_by_the_decode_workers(
    rackfit: Callable[..., Any], concurrency: str, measured_tpot_ms: float
) -> None:
    """DeepSeek-V3 FP4 on GB300, SGLang 0.5.8, one prefill and four decode workers of TP4: TPOT as the table that
    aiconfigurator 0.12.0 ships has it, inside the predicted interval."""
    got = json.loads(rackfit(*ROW, "--concurrency", concurrency).out)
    assert got["tpot_ms"]["low"] <= measured_tpot_ms <= got["tpot_ms"]["high"]
    assert got["tpot_ms"]["value"] == pytest.approx(measured_tpot_ms, rel=0.25)
