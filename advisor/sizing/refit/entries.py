"""Calibration entries from a fit: one per accelerator and engine measured, and what holds where nothing was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from advisor.atomic import replace_file
from advisor.knowledge import KnowledgeBase
from advisor.reading import holds
from advisor.records import Accelerator, Calibration, Estimate
from advisor.sizing.calibration import SERVING, serving_id
from advisor.sizing.refit.accuracy import Judged, judge
from advisor.sizing.refit.regression import Fit
from advisor.sizing.refit.serving import LeftOut, Row, ServingFit
from advisor.sizing.steps import FIRST_TERMS, STEP_TERMS

_DIGITS = 4
"""Significant digits kept: fewer than the fit's own noise, so that another machine writes the same file."""
_OWN_QUANTILES = 60
"""Rows from which an accelerator and engine have an interval of their own."""
_TAIL = 0.05
NEW_MODEL_TAIL = 0.025
"""Share of residuals left outside the 90 % interval on each side. Few models were left out, in any arrangement of pools, so
their tail is narrower: then a model left out falls inside the others' interval about nine times in ten."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A fit with the rows behind it and the predictions that left them out."""

    fit: ServingFit
    rows: Sequence[Row]
    configurations: LeftOut
    models: LeftOut
    accelerators: LeftOut
    fingerprint: str
    newest: str
    name: str
    sources: tuple[str, ...] = ()


def serving_entries(kb: KnowledgeBase, measured: Measured) -> list[Calibration]:
    """All serving entries, in id order."""
    accelerators = sorted({row.observation.accelerator.id for row in measured.rows})
    engines = sorted({row.engine for row in measured.rows})
    entries = [
        _entry(kb, measured, accelerator, engine)
        for accelerator, engine in product(("", *accelerators), ("", *engines))
    ]
    return sorted(entries, key=lambda entry: entry.id)


def _entry(kb: KnowledgeBase, measured: Measured, accelerator: str, engine: str) -> Calibration:
    record = kb.entries.get(accelerator)
    slug = record.slug if record is not None else ""
    own = [
        i for i, row in enumerate(measured.rows)
        if row.known and (not engine or row.engine == engine)
        and (not accelerator or row.observation.accelerator.id == accelerator)
    ]  # fmt: skip
    labels = {"engine": engine, "accelerator": slug, "both": f"{slug} {engine}"}
    where = record.title if record is not None else "any accelerator"
    note = ""
    if not own:
        note = "Nothing was measured for this pair: its terms are those of the accelerator and of the engine elsewhere."
    return Calibration(
        id=serving_id(slug, engine), title=f"Serving latency: {where}, {engine or 'any engine'}", accelerator=accelerator,
        accelerator_family=record.family if isinstance(record, Accelerator) else "", engine=engine, fitted=measured.newest,
        terms=_terms(STEP_TERMS, measured.fit.step, labels), first_terms=_terms(FIRST_TERMS, measured.fit.first, labels),
        factors=_factors(measured, measured.fit.step, slug, engine),
        first_factors=_factors(measured, measured.fit.first, slug, engine),
        data={
            "rows": len(own), "runs": len({measured.rows[i].observation.run for i in own}),
            "models": sorted({measured.rows[i].exact for i in own}), "table": measured.name,
            "table_rows": len(measured.rows), "table_sha256": measured.fingerprint,
        },
        residuals=_residuals(measured, own), note=note, sources=measured.sources or _sources(kb),
    )  # fmt: skip


def _sources(kb: KnowledgeBase) -> tuple[str, ...]:
    """Sources of the present serving entries, so that fitting the same table again changes nothing."""
    return tuple(sorted({s for e in kb.calibrations.values() if e.id.startswith(SERVING) for s in e.sources}))


def _terms(names: Mapping[str, str], fit: Fit, labels: Mapping[str, str]) -> dict[str, float]:
    return {name: _rounded(value) for name, value in zip(names, fit.coefficient(labels), strict=True)}


def _factors(measured: Measured, fit: Fit, accelerator: str, engine: str) -> dict[str, float]:
    """Per model and precision fitted anywhere: the product of what was learned at each level that applies here."""
    found: dict[str, float] = {}
    for row in measured.rows:
        if not row.known:
            continue
        labels = {
            "model": row.shape, "model_engine": f"{row.shape} {engine}", "model_precision": row.exact,
            "case": f"{row.exact} {accelerator} {engine}", "mode": "",
        }  # fmt: skip
        found[row.exact] = _rounded(fit.factor(labels))
        found.setdefault(row.shape, _rounded(fit.factor({**labels, "model_precision": "", "case": ""})))
    modes = fit.factors["mode"]
    shared, apart = modes.get(f"shared {engine}", 0.0), modes.get(f"disaggregated {engine}", 0.0)
    found = {key: _rounded(value * float(np.exp(shared))) for key, value in found.items()}
    found["disaggregated"] = _rounded(float(np.exp(apart - shared)))
    return dict(sorted(found.items()))


def _residuals(measured: Measured, own: Sequence[int]) -> dict[str, float]:
    """Measured / predicted at both ends of the 90 % interval, by how close the fit's data are and by mode."""
    rows = measured.rows
    shared = [i for i, row in enumerate(rows) if row.known and row.observation.prefill is None]
    apart = [i for i, row in enumerate(rows) if row.known and row.observation.prefill is not None]
    guessed = [i for i, row in enumerate(rows) if not row.known]
    mine = [i for i in own if rows[i].observation.prefill is None]
    result: dict[str, float] = {}
    for name, left_out, chosen in (
        ("seen", measured.configurations, mine if len(mine) >= _OWN_QUANTILES else shared),
        ("seen disaggregated", measured.configurations, apart),
        ("seen elsewhere", measured.accelerators, shared),
        ("seen elsewhere disaggregated", measured.accelerators, apart),
        ("new accelerator", measured.accelerators, shared),
        ("new accelerator disaggregated", measured.accelerators, apart),
        ("new model", measured.models, shared + apart),
        ("layout guessed", measured.configurations, guessed),
    ):
        for which, target in enumerate(("tpot", "ttft")):
            ratios = [_measured(rows[i], which) / left_out.predicted[i][which] for i in chosen]
            tail = NEW_MODEL_TAIL if left_out is measured.models else _TAIL
            for end, quantile in (("5%", tail), ("95%", 1 - tail)) if ratios else ():
                result[f"{target} {name} {end}"] = _rounded(float(np.quantile(ratios, quantile)))
    return result


def _measured(row: Row, which: int) -> float:
    return row.observation.ttft_ms if which else row.observation.tpot_ms


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def to_yaml(entry: Calibration) -> str:
    """The entry as a file of the knowledge base."""
    fields: dict[str, Any] = {"id": entry.id, "title": entry.title}
    for name in ("accelerator", "accelerator_family", "engine", "fitted", "terms", "first_terms", "factors",
                 "first_factors", "data", "residuals", "note", "sources"):  # fmt: skip
        value = getattr(entry, name)
        if value:
            fields[name] = list(value) if isinstance(value, tuple) else value
    body = yaml.safe_dump(fields, sort_keys=False, width=120, allow_unicode=True, default_flow_style=False)
    return (
        "# yaml-language-server: $schema=../../schemas/calibration.schema.json\n"
        "# Written by `rackfit calibrate`; a change by hand is lost at the next fit.\n" + body
    )


def left_out_judged(kb: KnowledgeBase, measured: Measured) -> list[Judged]:
    """Every row predicted by the fit that left its configuration out, in the interval that its entry of `kb` gives."""
    found: list[Judged] = []
    for index, row in enumerate(measured.rows):
        tpot, ttft = measured.configurations.predicted[index]
        for judged in judge(kb, [row.observation])[0]:
            whole = judged.prediction
            prediction = replace(
                whole, tpot_ms=_moved(whole.tpot_ms, tpot), ttft_ms=_moved(whole.ttft_ms, ttft)
            )
            found.append(replace(judged, prediction=prediction))
    return found


def _moved(estimate: Estimate, value: float) -> Estimate:
    """The same relative interval around another value."""
    scale = value / estimate.value
    return replace(estimate, value=value, low=estimate.low * scale, high=estimate.high * scale)


def write_entries(
    entries: Sequence[Calibration], folder: Path, *, replace_serving: bool = False
) -> tuple[int, int]:
    """(written, unchanged) files of `folder`/calibration; a file whose content would not change is left alone.

    replace_serving: serving entries that this fit did not produce are removed.
    """
    written = unchanged = 0
    for entry in entries:
        path = folder / f"{entry.id}.yaml"
        text = to_yaml(entry).encode()
        if holds(path, text):
            unchanged += 1
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
        written += 1
    if replace_serving:
        kept = {folder / f"{entry.id}.yaml" for entry in entries}
        for path in folder.glob(f"{SERVING}-*.yaml"):
            if path not in kept:
                path.unlink()
    return written, unchanged
