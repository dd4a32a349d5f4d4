"""Rates under an audited benchmark's conditions. Golden values are audited results, divided by their accelerators."""

from __future__ import annotations

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.records import Estimate, Scenario
from advisor.sizing.audited_rates import audited_rate_model
from advisor.sizing.benchmark_load import benchmark_loads


def rate(
    kb: KnowledgeBase, model: str, precision: str, scenario: Scenario, accelerator: str, unit: str = "node"
) -> Estimate | None:
    return audited_rate_model(
        kb, model=f"models/{model}", precision=precision, scenario=scenario, accelerator=f"accelerators/{accelerator}",
        unit=unit,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "precision", "scenario", "accelerator", "unit", "audited"),
    [
        ("llama-2-70b", "fp4", "offline", "b200", "node", 12838),  # v6.1 CoreWeave B200 x8
        ("deepseek-r1", "fp4", "offline", "gb300", "rack", 9441),  # v6.1 NVIDIA GB300 x72
        ("gpt-oss-120b", "fp4", "server", "b300", "node", 12579),  # v6.1 NVIDIA B300 x8
        ("llama-3.1-8b", "fp8", "offline", "mi355x", "node", 19807),  # v6.1, median of five
        ("llama-3.1-405b", "fp4", "offline", "b200", "node", 206),  # v5.1, median of thirteen
    ],
)
def test_audited_results_lie_inside_the_interval(
    kb: KnowledgeBase, model: str, precision: str, scenario: Scenario, accelerator: str, unit: str, audited: float
) -> None:  # fmt: skip
    """Tokens/s per accelerator of MLPerf Inference v5.1 and v6.1."""
    found = rate(kb, model, precision, scenario, accelerator, unit)
    assert found is not None
    assert found.low <= audited <= found.high
    assert (found.basis, found.unit, found.evidence) == ("calibrated", "tokens/s", ("calibration/audited",))


def test_a_tighter_limit_never_gives_more(kb: KnowledgeBase) -> None:
    """Llama-2-70B on an accelerator nobody submitted it on: Interactive (40 ms) stays below Offline."""
    offline, interactive = (rate(kb, "llama-2-70b", "fp8", s, "h100") for s in ("offline", "interactive"))
    assert offline is not None
    assert interactive is not None
    assert interactive.value < offline.value


def test_models_without_a_benchmark_have_no_audited_rate(kb: KnowledgeBase) -> None:
    """Nothing audited says at which lengths Qwen3-235B would run."""
    assert rate(kb, "qwen3-235b-a22b", "fp8", "offline", "b200") is None


def test_an_unknown_accelerator_has_no_audited_rate(kb: KnowledgeBase) -> None:
    """An id without an entry is not guessed at."""
    assert rate(kb, "llama-2-70b", "fp8", "offline", "no-such") is None


def test_the_note_says_how_close_the_data_are(kb: KnowledgeBase) -> None:
    """A Gaudi 3 has no audited result here: new accelerator, with the wider interval."""
    known, foreign = (
        rate(kb, "llama-2-70b", "fp8", "offline", "h200"),
        rate(kb, "llama-2-70b", "fp8", "offline", "gaudi-3"),
    )
    assert known is not None
    assert foreign is not None
    assert known.note.endswith("this model and this silicon were audited, not together")
    assert foreign.note.endswith("this silicon was not audited, this model was")


def test_loads_of_benchmarks_come_from_the_evidence(kb: KnowledgeBase) -> None:
    """Reference output lengths of the benchmark: 294 tokens for Llama-2-70B, 3,886 for DeepSeek-R1, within a tenth; limits
    of 200 and 40 ms a token."""
    loads = benchmark_loads(kb)
    assert loads["models/llama-2-70b"].output_tokens == pytest.approx(294.45, rel=0.1)
    assert loads["models/deepseek-r1"].output_tokens == pytest.approx(3886.2, rel=0.1)
    assert loads["models/llama-2-70b"].tpot_ms == {"server": 200, "interactive": 40}
