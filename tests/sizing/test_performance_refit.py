"""Entries made of a fit, the coefficients read back from entries, and the fit of audited rates, on parts small enough to work out."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

from advisor.knowledge import KnowledgeBase
from advisor.records import Calibration, Layout
from advisor.sizing.calibration import coefficients_for, model_key, serving_id
from advisor.sizing.performance import predict
from advisor.sizing.refit import audited, serving
from advisor.sizing.refit.accuracy import Judged, slices
from advisor.sizing.refit.entries import Measured, serving_entries, to_yaml, write_entries
from advisor.sizing.refit.measured import read_row
from advisor.sizing.refit.regression import Fit
from advisor.sizing.refit.serving import LeftOut, Row, leave_out, row_of
from advisor.sizing.steps import FIRST_TERMS, STEP_TERMS

ROW = {
    "model_path": "llama-3.1-70b", "system": "hgx-h200", "backend": "vllm", "precision": "fp8", "isl": "1024", "osl": "256", "ttft_ms": "500", "tpot_ms": "20",
    "concurrency": "16", "tp_size": "8",
}  # fmt: skip
APART = {
    "mode": "disagg", "prefill_tp_size": "8", "prefill_num_workers": "2", "decode_tp_size": "8", "decode_num_workers": "4", "concurrency": "64",
}  # fmt: skip


def row(kb: KnowledgeBase, **changed: str) -> Row:
    return row_of(kb, read_row(kb, ROW | changed, 2))


def fit(**factors: dict[str, float]) -> Fit:
    """All coefficients 2 (a prior of 1 and a common part of ln 2), and these factors in logarithms."""
    names = ("model", "model_engine", "model_precision", "case", "mode")
    return Fit(
        prior_mean=np.zeros(len(STEP_TERMS)), common=np.full(len(STEP_TERMS), math.log(2)),
        coefficients={"engine": {}, "accelerator": {}, "both": {}}, factors={name: factors.get(name, {}) for name in names}, scale=0.1,
    )  # fmt: skip


def first_fit() -> Fit:
    return replace(
        fit(), prior_mean=np.zeros(len(FIRST_TERMS)), common=np.full(len(FIRST_TERMS), math.log(3))
    )


def measured(rows: list[Row], predicted: tuple[float, float], step: Fit) -> Measured:
    left = LeftOut(how="any", predicted=dict.fromkeys(range(len(rows)), predicted))
    return Measured(
        fit=SimpleNamespace(step=step, first=first_fit()), rows=rows, configurations=left,  # type: ignore[arg-type]
        models=replace(left, predicted=dict.fromkeys(range(len(rows)), (predicted[0] * 2, predicted[1] * 2))),
        accelerators=replace(left, predicted=dict.fromkeys(range(len(rows)), (predicted[0] * 4, predicted[1] * 4))), fingerprint="abc", newest="2026-05-01",
        name="table.csv", sources=("sources/s",),
    )  # fmt: skip


def test_entries_of_a_fit_by_hand(kb: KnowledgeBase) -> None:
    """One row per accelerator, engine and any; coefficients 2 and 3; factors of all levels multiplied, shared pools as the base.

    Measured 20 and 500 ms over predictions of 10 and 1,000: 2 and 0.5; a half of that without the model, a quarter without the accelerator.
    """
    shared, apart = row(kb), row(kb, **APART)
    shape, exact = model_key(shared.observation.model.architecture), shared.exact
    assert exact == f"{shape} fp8"
    step = fit(
        model={shape: math.log(2)}, model_engine={f"{shape} vllm": math.log(3)}, model_precision={exact: math.log(5)},
        case={f"{exact} h200 vllm": math.log(7)}, mode={"shared vllm": math.log(0.5), "disaggregated vllm": math.log(2)},
    )  # fmt: skip
    entries = {entry.id: entry for entry in serving_entries(kb, measured([shared, apart], (10, 1000), step))}
    assert list(entries) == [
        serving_id(),
        serving_id("", "vllm"),
        serving_id("h200"),
        serving_id("h200", "vllm"),
    ]
    own = entries["calibration/serving-h200-vllm"]
    assert set(own.terms.values()) == {2.0}
    assert set(own.first_terms.values()) == {3.0}
    assert own.factors[exact] == 2 * 3 * 5 * 7 * 0.5
    assert own.factors[shape] == 2 * 3 * 0.5
    assert own.factors["disaggregated"] == 4
    assert entries[serving_id()].factors[exact] == 2 * 5
    assert own.residuals["tpot seen 5%"] == own.residuals["tpot seen 95%"] == 2
    assert own.residuals["ttft seen disaggregated 95%"] == 0.5
    assert own.residuals["tpot new model 5%"] == 1
    assert (
        own.residuals["tpot seen elsewhere 95%"]
        == own.residuals["tpot new accelerator disaggregated 5%"]
        == 0.5
    )
    assert not any("layout guessed" in name for name in own.residuals)
    assert own.data == {
        "rows": 2,
        "runs": 1,
        "models": [exact],
        "table": "table.csv",
        "table_rows": 2,
        "table_sha256": "abc",
    }
    assert (own.fitted, own.accelerator, own.engine, own.accelerator_family) == (
        "2026-05-01",
        "accelerators/h200",
        "vllm",
        "hopper",
    )
    assert own.title == f"Serving latency: {kb.accelerators['accelerators/h200'].title}, vllm"
    assert entries[serving_id()].title == "Serving latency: any accelerator, any engine"
    assert own.sources == ("sources/s",)
    assert own.note == ""


def test_a_pair_that_nobody_measured_says_so(kb: KnowledgeBase) -> None:
    """H200 under vLLM and B200 under SGLang leave two pairs without rows of their own."""
    rows = [row(kb), row(kb, system="hgx-b200", backend="sglang")]
    entries = {entry.id: entry for entry in serving_entries(kb, measured(rows, (10, 1000), fit()))}
    empty = entries[serving_id("b200", "vllm")]
    assert empty.data["rows"] == 0
    assert empty.note.startswith("Nothing was measured for this pair")
    assert entries[serving_id("b200", "sglang")].data["rows"] == 1
    assert entries[serving_id("", "sglang")].data["rows"] == 1
    assert entries[serving_id("b200")].data["rows"] == 1
    assert len(entries) == 9


def test_entries_are_written_once_and_stale_ones_removed(tmp_path: Path) -> None:
    """An entry with the same text is left alone; serving entries of an earlier table go only when asked."""
    entry = Calibration(
        id="calibration/serving-a-b",
        title="T",
        terms={"x": 1.5},
        sources=("sources/s",),
        fitted="2026-05-01",
        engine="b",
    )
    text = to_yaml(entry)
    assert text.startswith(
        "# yaml-language-server: $schema=../../schemas/calibration.schema.json\n# Written by `rackfit calibrate`"
    )
    assert yaml.safe_load(text) == {
        "id": "calibration/serving-a-b", "title": "T", "engine": "b", "fitted": "2026-05-01", "terms": {"x": 1.5}, "sources": ["sources/s"],
    }  # fmt: skip
    assert write_entries([entry], tmp_path) == (1, 0)
    assert write_entries([entry], tmp_path) == (0, 1)
    other = replace(entry, id="calibration/serving-c-d")
    assert write_entries([entry, other], tmp_path) == (1, 1)
    audited = tmp_path / "calibration" / "audited.yaml"
    audited.write_text("id: x\n", encoding="utf-8")
    assert write_entries([entry], tmp_path, replace_serving=True) == (0, 1)
    assert {path.name for path in (tmp_path / "calibration").iterdir()} == {
        "serving-a-b.yaml",
        "audited.yaml",
    }


def entry_of(kb: KnowledgeBase, accelerator: str, engine: str, **more: Any) -> Calibration:
    exact = model_key(kb.models["models/llama-3.1-70b"].architecture, "fp8")
    slug = accelerator.rpartition("/")[2]
    own: dict[str, Any] = {
        "terms": dict.fromkeys(STEP_TERMS, 2.0), "first_terms": dict.fromkeys(FIRST_TERMS, 3.0), "factors": {exact: 5.0, "disaggregated": 7.0},
        "first_factors": {exact: 11.0, "disaggregated": 13.0}, "data": {"models": [exact]},
        "residuals": {"tpot seen 5%": 0.8, "tpot seen 95%": 1.3, "tpot seen disaggregated 95%": 1.4, "ttft seen 5%": 0.5, "tpot new accelerator 5%": 0.3},
    }  # fmt: skip
    return Calibration(
        id=serving_id(slug, engine), title="x", accelerator=accelerator, engine=engine, **(own | more)
    )


def test_the_closest_entry_gives_the_coefficients(kb: KnowledgeBase) -> None:
    """Its terms times the model's factor, pools apart on top; intervals by how close its data are, falling back to the shared ones."""
    model, chip = kb.models["models/llama-3.1-70b"], kb.accelerators["accelerators/h200"]
    others = [entry for entry in kb.entries.values() if not isinstance(entry, Calibration)]
    own, engine, anything = entry_of(kb, chip.id, "vllm"), entry_of(kb, "", "vllm"), entry_of(kb, "", "")

    def found(*entries: Calibration, precision: str = "fp8", **more: bool) -> Any:
        return coefficients_for(KnowledgeBase([*others, *entries]), model, precision, chip, "vllm", **more)

    exact = found(own, engine, anything)
    assert set(exact.step) == {10.0}
    assert set(exact.first) == {33.0}
    assert (exact.step_low, exact.step_high, exact.first_low, exact.first_high) == (0.8, 1.3, 0.5, 1.0)
    assert (exact.like, exact.basis, exact.entry) == ("seen", "calibrated", own.id)
    apart = found(own, disaggregated=True)
    assert (set(apart.step), set(apart.first)) == ({70.0}, {3 * 11 * 13.0})
    assert (apart.step_low, apart.step_high) == (0.8, 1.4)
    assert found(own, guessed=True).like == "layout guessed"
    other = found(own, precision="bf16")
    assert (other.like, set(other.step)) == ("new model", {2.0})
    shape = replace(own, factors={model_key(model.architecture): 4.0})
    elsewhere = found(shape, precision="bf16")
    assert (elsewhere.like, set(elsewhere.step)) == ("seen elsewhere", {8.0})
    assert found(engine, anything).entry == engine.id
    assert (found(anything).like, found(anything).step_low) == ("new accelerator", 0.3)


def test_without_any_fit_only_the_bound_is_known(kb: KnowledgeBase) -> None:
    """Data-sheet rates once, nothing per layer; an order of magnitude above it."""
    model, chip = kb.models["models/llama-3.1-70b"], kb.accelerators["accelerators/h200"]
    others = [entry for entry in kb.entries.values() if not isinstance(entry, Calibration)]
    bound = coefficients_for(KnowledgeBase(others), model, "fp8", chip, "vllm")
    step, first = (
        dict(zip(STEP_TERMS, bound.step, strict=True)),
        dict(zip(FIRST_TERMS, bound.first, strict=True)),
    )
    assert {name for name, value in step.items() if value} == {
        name for name, text in STEP_TERMS.items() if text.startswith("×")
    }
    assert {name for name, value in first.items() if value} == {
        name for name in FIRST_TERMS if name.startswith("own_")
    } | {"admission"}
    assert (bound.step_low, bound.step_high, bound.first_low, bound.first_high) == (1, 10, 1, 10)
    assert (bound.basis, bound.like, bound.entry) == ("bound", "bound", "")


def test_a_row_of_the_fit_by_hand(kb: KnowledgeBase) -> None:
    """16 in flight of many places, none waiting; separate pools queue the deployment's 64 requests on two prefill workers."""
    one, apart = row(kb), row(kb, **APART)
    assert (one.running, one.waiting, one.queued) == (16, 0, 16)
    assert (apart.running, apart.queued) == (16, 32)
    assert one.labels()["case"] == f"{one.exact} h200 vllm"
    assert one.labels()["both"] == "h200 vllm"
    assert (one.labels()["mode"], apart.labels()["mode"]) == ("shared vllm", "disaggregated vllm")
    assert one.configuration == row(kb, concurrency="64").configuration
    assert (
        len(
            {
                one.configuration,
                apart.configuration,
                row(kb, isl="2048").configuration,
                row(kb, tp_size="4").configuration,
            }
        )
        == 4
    )
    assert one.fold == row(kb, concurrency="64").fold
    terms = dict(zip(STEP_TERMS, one.step_terms, strict=True))
    alone = dict(zip(STEP_TERMS, one.decode_terms, strict=True))
    assert terms["prompt_compute"] > 0 == alone["prompt_compute"]
    assert terms["layer_us"] == pytest.approx(80e-3)
    crowded = row(kb, concurrency="100000")
    assert crowded.running < 100_000
    assert crowded.waiting == pytest.approx(100_000 / crowded.running - 1)


def test_parts_are_predicted_from_the_others(monkeypatch: pytest.MonkeyPatch, kb: KnowledgeBase) -> None:
    """Every row once, by a fit that did not see its part."""

    rows = [row(kb), row(kb, isl="2048"), row(kb, system="hgx-b200")]
    seen: list[list[Row]] = []

    def fitted(used: list[Row]) -> Any:
        seen.append(used)
        return SimpleNamespace(
            tpot_ms=lambda r: float(len(used)), ttft_ms=lambda r: r.observation.input_tokens
        )

    monkeypatch.setattr(serving, "fit_serving", fitted)
    left = leave_out(rows, "accelerator", lambda r: r.observation.accelerator.id)
    assert left.how == "accelerator"
    assert left.predicted == {0: (1.0, 1024.0), 1: (1.0, 2048.0), 2: (2.0, 1024.0)}
    assert seen == [rows[:2], rows[2:]] or seen == [rows[2:], rows[:2]]


def case(rate: float, round_: str = "v6.1", model: str = "m", **labels: str) -> Any:
    own = dict.fromkeys(audited.DEVIATIONS, "x") | {"model": model, "accelerator": "a"} | labels
    return audited.Case(
        entry=SimpleNamespace(round=round_),
        result=None,
        rate=rate,
        labels=own,
        bases=dict.fromkeys(audited.SHARES, 100.0),  # type: ignore[arg-type]
    )


def test_audited_rates_at_half_of_the_model_are_predicted_at_half() -> None:
    """Twenty results at 50 where the serving model says 100; one model at 25 is told apart; the newest round is predicted from the others."""
    cases = [*(case(50.0, model="m") for _ in range(20)), *(case(25.0, model="slow") for _ in range(20))]
    fitted = audited.fit_audited(cases, 0.25)
    assert audited.predicted_rate(fitted, cases[0], 0.25) == pytest.approx(50, rel=0.03)
    assert audited.predicted_rate(fitted, cases[-1], 0.25) == pytest.approx(25, rel=0.03)
    ratios = audited.left_out_ratios(cases, 0.25, lambda c: c.model)
    assert len(ratios) == 40
    assert max(ratios[:20]) == min(ratios[:20])
    assert ratios[0] > 1 > ratios[-1]  # the fast model from the slow one is above, the slow one below
    rounds = [*(case(50.0, "v9.1") for _ in range(5)), *(case(100.0, "v10.0") for _ in range(3))]
    assert audited.newest_round(rounds) == "v10.0"
    newest = audited.newest_ratios(rounds, 0.25)
    assert newest == pytest.approx([2.0] * 3, rel=0.05)


def test_errors_and_coverage_of_predictions(kb: KnowledgeBase) -> None:
    """Predicted 20 ms where 20, 16 and 40 were measured: 0, 25 and 50 % off, 25 in the middle; two of three inside 15 to 25."""
    observation = read_row(kb, ROW, 2)
    layout = Layout(tp=8)
    own = predict(
        kb, observation.model, observation.checkpoint, observation.system, observation.accelerator, layout, batch_per_replica=16, input_tokens=1024, output_tokens=256,
    )  # fmt: skip
    pace, first = (
        replace(own.tpot_ms, value=value, low=low, high=high)
        for value, low, high in ((20, 15, 25), (500, 400, 600))
    )
    told = replace(own, tpot_ms=pace, ttft_ms=first)
    judged = [
        Judged(observation=replace(observation, tpot_ms=t, ttft_ms=f), prediction=told)
        for t, f in ((20, 500), (16, 400), (40, 1000))
    ]
    found = {each.name: each for each in slices(judged)}
    assert list(found) == ["all", "mode shared", "accelerator h200", "engine vllm", "model llama-3.1-70b"]
    whole = found["all"]
    assert (whole.rows, whole.tpot_error, whole.tpot_coverage, whole.ttft_error, whole.ttft_coverage) == (
        3,
        0.25,
        pytest.approx(2 / 3),
        0.25,
        pytest.approx(2 / 3),
    )
    guessed = replace(observation, decode=replace(observation.decode, known=False))
    assert [s.name for s in slices([replace(judged[0], observation=guessed)])][
        1
    ] == "mode shared, layout unknown"
    assert slices([]) == []
