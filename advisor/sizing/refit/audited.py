"""Fit the factors of audited rates to the evidence, and measure them by leaving models, accelerators and rounds out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Calibration, Evidence, Model, Result
from advisor.sizing.audited_base import base_rate
from advisor.sizing.audited_rates import AUDITED, case_labels
from advisor.sizing.benchmark_load import benchmark_loads, mean_of_tail
from advisor.sizing.refit.regression import Fit, Grouping, fit_rows

DEVIATIONS: dict[str, float] = {
    "scenario": 0.2, "model": 0.2, "model scenario": 0.2, "family": 0.2, "accelerator": 0.25,
    "accelerator scenario": 0.08, "precision model": 0.1, "round": 0.05, "model round": 0.15, "size scenario": 0.2,
    "model size scenario": 0.2,
}  # fmt: skip
"""Prior standard deviation of each grouping's factors, in logarithms; chosen by leaving out."""
_LEVEL_DEVIATION = 0.5
"""The same for the level common to all results."""
SHARES = (0.2, 0.25, 0.35, 0.45)
"""Candidates for the mean prompt as a share of the longest."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One audited result. rate: output tokens/s per accelerator; bases: rate of the serving model per candidate share."""

    entry: Evidence
    result: Result
    rate: float
    labels: Mapping[str, str]
    bases: Mapping[float, float]

    @property
    def model(self) -> str:
        """Slug of the model."""
        return self.labels["model"]

    @property
    def accelerator(self) -> str:
        """Slug of the accelerator."""
        return self.labels["accelerator"]


def audited_cases(kb: KnowledgeBase) -> list[Case]:
    """Closed-division results in tokens/s of one kind of accelerator, at a stated precision, that the serving model covers."""
    loads, tail = benchmark_loads(kb), round(mean_of_tail(kb), 3)
    cases: list[Case] = []
    for entry in kb.evidence.values():
        silicon = kb.entries.get(entry.accelerator or "")
        if entry.division != "closed" or not isinstance(silicon, Accelerator) or entry.scale.mixed_silicon:
            continue
        large = entry.scale.unit in ("rack", "multi-rack")
        domain = 72 if large else min(8, entry.scale.accelerators)
        for result in entry.results:
            model, load = kb.entries.get(result.model), loads.get(result.model)
            if (
                load is None
                or not isinstance(model, Model)
                or result.precision is None
                or result.metric != "tokens_per_s"
            ):
                continue
            bases = {
                share: rate for share in SHARES
                if (rate := base_rate(
                    kb, model, result.precision, silicon, load, result.scenario, domain=domain, prompt_share=share,
                    mean_of_tail=tail,
                )) is not None
            }  # fmt: skip
            if len(bases) < len(SHARES) or result.value <= 0:
                continue
            labels = case_labels(
                model=model.slug, scenario=result.scenario, precision=result.precision, accelerator=silicon.slug,
                family=silicon.family, large=large, round_=entry.round,
            )  # fmt: skip
            cases.append(
                Case(
                    entry=entry,
                    result=result,
                    rate=result.value / entry.scale.accelerators,
                    labels=labels,
                    bases=bases,
                )
            )
    return cases


def fit_audited(cases: Sequence[Case], share: float) -> Fit:
    """Factors on the time per token."""
    base = np.array([[1 / case.bases[share]] for case in cases])
    groupings = [
        Grouping(name=name, labels=[case.labels[name] for case in cases], deviation=deviation)
        for name, deviation in DEVIATIONS.items()
    ]
    return fit_rows(
        base, np.array([1 / case.rate for case in cases]), prior_mean=np.ones(1),
        prior_deviation=np.array([_LEVEL_DEVIATION]), coefficients=[], factors=groupings,
    )  # fmt: skip


def predicted_rate(fit: Fit, case: Case, share: float) -> float:
    """Rate of a case by a fit that may not have seen it."""
    return case.bases[share] / (float(fit.coefficient({})[0]) * fit.factor(case.labels))


def left_out_ratios(cases: Sequence[Case], share: float, part: Callable[[Case], str]) -> list[float]:
    """Measured / predicted of every case, each part predicted from a fit of the others."""
    ratios = [math.nan] * len(cases)
    parts = [part(case) for case in cases]
    for label in sorted(set(parts)):
        fit = fit_audited([case for case, other in zip(cases, parts, strict=True) if other != label], share)
        for i, case in enumerate(cases):
            if parts[i] == label:
                ratios[i] = case.rate / predicted_rate(fit, case, share)
    return ratios


def newest_round(cases: Sequence[Case]) -> str:
    """The latest round by number."""
    return max(
        (case.entry.round for case in cases), key=lambda name: [int(n) for n in name.lstrip("v").split(".")]
    )


def newest_ratios(cases: Sequence[Case], share: float) -> list[float]:
    """Measured / predicted of the newest round's cases from a fit of the older rounds."""
    newest = newest_round(cases)
    fit = fit_audited([case for case in cases if case.entry.round != newest], share)
    return [case.rate / predicted_rate(fit, case, share) for case in cases if case.entry.round == newest]


def best_share(cases: Sequence[Case]) -> float:
    """The prompt share with the smallest error on models and on pairs of model and accelerator left out."""

    def error(share: float) -> float:
        parts: tuple[Callable[[Case], str], ...] = (_model, _pair)
        return sum(median(abs(1 / r - 1) for r in left_out_ratios(cases, share, part)) for part in parts)

    return min(SHARES, key=error)


def _model(case: Case) -> str:
    return case.model


def _accelerator(case: Case) -> str:
    return case.accelerator


def _pair(case: Case) -> str:
    return f"{case.model} {case.accelerator}"


LEFT_OUT: dict[str, tuple[Callable[[Case], str], float]] = {
    "model and accelerator seen separately": (_pair, 0.035),
    "new model": (_model, 0.025),
    "new accelerator": (_accelerator, 0.05),
}
"""How close the data of a case are -> (what is left out to measure it, tail of the residuals outside the 90 % interval).

Tails below 5 % where few groups were left out, or results of a later round are meant too: with these, parts left out in
turn and the newest round fall inside the others' interval nine times in ten (tests/benchmarks/leave_out.py).
"""


def audited_entry(kb: KnowledgeBase) -> Calibration:
    """The entry fitted to the evidence of this knowledge base."""
    cases = audited_cases(kb)
    share = best_share(cases)
    fit = fit_audited(cases, share)
    level = float(fit.coefficient({})[0])
    factors = {
        f"{grouping}: {label}": _rounded(math.exp(-value))
        for grouping, parts in fit.factors.items()
        for label, value in parts.items()
    }
    scenarios = {
        key: _rounded(value / level) for key, value in factors.items() if key.startswith("scenario: ")
    }
    residuals: dict[str, float] = {}
    for like, (part, tail) in LEFT_OUT.items():
        ratios = left_out_ratios(cases, share, part)
        residuals[f"{like} 5%"] = _rounded(float(np.quantile(ratios, tail)))
        residuals[f"{like} 95%"] = _rounded(float(np.quantile(ratios, 1 - tail)))
    return Calibration(
        id=AUDITED, title="Audited rates over the serving model's", fitted="",
        terms={"prompt_share": share, "mean_of_tail": round(mean_of_tail(kb), 3)},
        factors=dict(sorted({**factors, **scenarios}.items())),
        data={
            "results": len(cases), "systems": len({case.entry.id for case in cases}), "newest_round": newest_round(cases),
            "models": sorted({case.model for case in cases}), "accelerators": sorted({case.accelerator for case in cases}),
        },
        residuals=residuals, sources=tuple(sorted({case.entry.source for case in cases})),
        note="Factors multiply the rate of the serving model; the level common to all is in the scenarios.",
    )  # fmt: skip


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
