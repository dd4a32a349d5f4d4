"""Calibration entries from a fit: one per accelerator and engine measured, and what holds where nothing was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from advisor.atomic import replace_file
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Calibration
from advisor.sizing.calibration import serving_id
from advisor.sizing.refit import LeftOut, Row, ServingFit
from advisor.sizing.regression import Fit
from advisor.sizing.steps import FIRST_TERMS, STEP_TERMS

_DIGITS = 4
"""Significant digits kept: fewer than the fit's own noise, so that another machine writes the same file."""
_OWN_QUANTILES = 60
"""Rows from which an accelerator and engine have an interval of their own."""
_ENDS = (("5%", 0.05), ("95%", 0.95))


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
        residuals=_residuals(measured, own), note=note,
    )  # fmt: skip


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
    every = [i for i, row in enumerate(measured.rows) if row.known]
    result: dict[str, float] = {}
    for like, left_out, rows in (
        ("seen", measured.configurations, own if len(own) >= _OWN_QUANTILES else every),
        ("seen elsewhere", measured.accelerators, every), ("new accelerator", measured.accelerators, every),
        ("new model", measured.models, every),
    ):  # fmt: skip
        apart = [i for i in every if measured.rows[i].observation.prefill is not None]
        for kind, chosen in (("", rows), (" disaggregated", apart)):
            for target, which in (("tpot", 0), ("ttft", 1)):
                ratios = [_measured(measured.rows[i], which) / left_out.predicted[i][which] for i in chosen]
                for end, quantile in _ENDS:
                    if ratios:
                        result[f"{target} {like}{kind} {end}"] = _rounded(
                            float(np.quantile(ratios, quantile))
                        )
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


def write_entries(entries: Sequence[Calibration], folder: Path) -> tuple[int, int]:
    """(written, unchanged) files of `folder`/calibration; a file whose content would not change is left alone."""
    written = unchanged = 0
    for entry in entries:
        path = folder / f"{entry.id}.yaml"
        text = to_yaml(entry)
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            unchanged += 1
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
        written += 1
    return written, unchanged
