"""Rate per accelerator under an audited benchmark's conditions, from factors fitted to the audited results.

rate = rate of the serving model x a factor per scenario, model, silicon generation, accelerator, precision and round. The
factors hold what tuned submissions reach beyond, or short of, the measured servers behind the serving model.
"""

from __future__ import annotations

from collections.abc import Mapping

from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Calibration, Estimate, Model, Scenario
from advisor.sizing.audited_base import base_rate
from advisor.sizing.benchmark_load import benchmark_loads

AUDITED = "calibration/audited"
"""Entry fitted to the audited results."""


def case_labels(
    *, model: str, scenario: str, precision: str, accelerator: str, family: str, large: bool, round_: str
) -> dict[str, str]:
    """Name of each grouping -> the label of one case. large: a whole rack rather than a node or a slice."""
    size = "rack" if large else "node"
    return {
        "scenario": scenario, "model": model, "model scenario": f"{model} {scenario}", "family": family,
        "accelerator": accelerator, "accelerator scenario": f"{accelerator} {scenario}",
        "precision model": f"{precision} {model}", "round": round_, "model round": f"{model} {round_}", "size scenario": f"{size} {scenario}",
        "model size scenario": f"{model} {size} {scenario}",
    }  # fmt: skip


def audited_rate_model(
    kb: KnowledgeBase,
    *,
    model: str,
    precision: str,
    scenario: Scenario,
    accelerator: str,
    unit: str | None = None,
) -> Estimate | None:
    """Output tokens/s per accelerator in a scenario of the newest round, or None where no benchmark or fit covers the case.

    model, accelerator: ids. unit: `rack` or `multi-rack` for a group that may use the whole domain, anything else for at
    most eight accelerators. The interval is that of results left out of the fit.
    """
    entry = kb.calibrations.get(AUDITED)
    load = benchmark_loads(kb).get(model)
    record, silicon = kb.entries.get(model), kb.entries.get(accelerator)
    if entry is None or load is None or not isinstance(record, Model) or not isinstance(silicon, Accelerator):
        return None
    large = unit in ("rack", "multi-rack")
    base = base_rate(
        kb, record, precision, silicon, load, scenario, domain=_LARGE if large else _SMALL,
        prompt_share=entry.terms["prompt_share"], mean_of_tail=entry.terms["mean_of_tail"],
    )  # fmt: skip
    if base is None:
        return None
    labels = case_labels(
        model=record.slug, scenario=scenario, precision=precision, accelerator=silicon.slug, family=silicon.family,
        large=large, round_=str(entry.data.get("newest_round", "")),
    )  # fmt: skip
    value = base * product_of(entry.factors, labels)
    low, high, like = _interval(entry, labels)
    return Estimate(
        value=value, low=value * low, high=value * high, unit="tokens/s", basis="calibrated", evidence=(entry.id,),
        note=f"{load.benchmark} {scenario} as audited in {entry.data.get('newest_round', '')}; {_NEARNESS.get(like, like)}",
    )  # fmt: skip


_NEARNESS = {
    "new model": "this model was not audited, this silicon was",
    "new accelerator": "this silicon was not audited, this model was",
    "model and accelerator seen separately": "this model and this silicon were audited, not together",
}
"""How close the audited results are, in words for people."""
_SMALL, _LARGE = 8, 72
"""Accelerators of one replica at most: an eight-GPU node, a rack of one domain."""


def product_of(factors: Mapping[str, float], labels: Mapping[str, str]) -> float:
    """Product of the factors of a case; a label that was not fitted counts one."""
    result = 1.0
    for grouping, label in labels.items():
        result *= factors.get(f"{grouping}: {label}", 1.0)
    return result


def _interval(entry: Calibration, labels: Mapping[str, str]) -> tuple[float, float, str]:
    """(low, high, how close the data are) as measured / predicted."""
    if f"model: {labels['model']}" not in entry.factors:
        like = "new model"
    elif f"accelerator: {labels['accelerator']}" not in entry.factors:
        like = "new accelerator"
    else:
        like = "model and accelerator seen separately"
    return entry.residuals.get(f"{like} 5%", 1.0), entry.residuals.get(f"{like} 95%", 1.0), like
