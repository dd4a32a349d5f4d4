"""The audited rate per accelerator that is closest to a question."""

from __future__ import annotations

import math
from statistics import median

from advisor.evidence.figures import UNIT_NAMES, Figure, altered, figures_by_model, round_key, strictest
from advisor.evidence.noise import noise_band
from advisor.knowledge import KnowledgeBase
from advisor.records import Estimate, NoiseBand, Scenario

# unit asked for -> units that may stand in for it, nearest first
_STAND_INS = {
    "node": ("node", "multi-node", "slice"),
    "multi-node": ("multi-node", "node"),
    "slice": ("slice", "rack", "multi-rack"),
    "rack": ("rack", "multi-rack", "slice"),
    "multi-rack": ("multi-rack", "rack"),
}


def closest_rate(
    kb: KnowledgeBase,
    *,
    model: str,
    precision: str,
    scenario: Scenario | str,
    accelerator: str,
    unit: str | None = None,
    accelerators: int | None = None,
    include_preview: bool = False,
) -> Estimate | None:
    """Rate per accelerator from audited results of the latest round that has one, or None.

    Value: median over submissions; low and high: their range, or for a single submission the noise of its silicon.
    A stand-in for the unit asked for (a slice for a rack) is said in the note. Estimate.unit is the benchmark's own:
    samples/s and queries/s are never turned into tokens/s.
    """
    own = [
        figure
        for figure in figures_by_model(kb).get((model, str(scenario), accelerator), ())
        if figure.result.precision == precision
        and not altered(figure.entry)
        and (include_preview or figure.entry.availability == "available")
    ]
    for kind in _STAND_INS.get(unit or "", ("node", "rack", "multi-node", "slice", "multi-rack")):
        fitting = [figure for figure in own if figure.unit == kind]
        if fitting:
            return _estimate(kb, _nearest_size(fitting, accelerators), unit)
    return None


def _nearest_size(candidates: list[Figure], accelerators: int | None) -> list[Figure]:
    latest = max((f.entry.round for f in candidates), key=round_key)
    recent = strictest([f for f in candidates if f.entry.round == latest])
    wanted = accelerators or max(f.accelerators for f in recent)
    size = min({f.accelerators for f in recent}, key=lambda n: (abs(math.log(n / wanted)), -n))
    return [f for f in recent if f.accelerators == size]


def _estimate(kb: KnowledgeBase, chosen: list[Figure], unit: str | None) -> Estimate:
    rates = sorted(figure.per_accelerator for figure in chosen)
    first = chosen[0]
    value = median(rates)
    low, high, spread = rates[0], rates[-1], ""
    if len(rates) == 1:
        band = _noise(kb, first)
        factor = math.sqrt(band.spread) if band.spread else 1.0
        low, high = value / factor, value * factor
        spread = (
            f"; range from the noise of {band.submissions} submissions"
            if band.spread
            else "; noise not known"
        )
    kind = first.unit if unit in (None, first.unit) else f"{first.unit} in place of a {unit}"
    counted = f"median of {len(rates)} submissions" if len(rates) > 1 else first.entry.submitter
    return Estimate(
        value=value,
        low=low,
        high=high,
        unit=UNIT_NAMES[first.result.metric],
        basis="audited",
        evidence=tuple(figure.entry.id for figure in chosen),
        note=f"{first.benchmark} {first.result.scenario} {first.entry.round}, {kind} of {first.accelerators}, {counted}{spread}",
    )


def _noise(kb: KnowledgeBase, figure: Figure) -> NoiseBand:
    """The noise of the figure's silicon; where it stands alone, the widest of its generation in the same run."""
    own = kb.accelerators[figure.entry.accelerator or ""]
    family = [
        own,
        *(other for other in kb.accelerators.values() if other.family == own.family and other is not own),
    ]
    bands = [
        noise_band(kb, member.id, figure.result.benchmark, figure.result.scenario, figure.entry.round)
        for member in family
    ]
    return bands[0] if bands[0].spread else max(bands, key=lambda band: band.spread or 0.0)
