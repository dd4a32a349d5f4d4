"""How much the same silicon differs between submissions of one round: the band inside which a ratio says nothing."""

from __future__ import annotations

from advisor.evidence.figures import Figure, altered, figures_by_run, strictest, unqualified
from advisor.knowledge import KnowledgeBase
from advisor.records import NoiseBand

_WHOLE = ("node", "rack")


def noise_band(kb: KnowledgeBase, accelerator: str, benchmark: str, scenario: str, round: str) -> NoiseBand:  # noqa: A002 - the field's name
    """Max/min per accelerator over submissions of one accelerator, benchmark, scenario and round.

    Only units of one kind and size count (nodes, or racks; slices where neither has two), at one precision, unaltered
    and available: what is left to differ is chassis, host and tuning.
    """
    key = ("noise", accelerator, unqualified(benchmark), scenario, round)
    if key not in kb.memo:
        own = figures_by_run(kb).get((round, unqualified(benchmark), scenario), ())
        kb.memo[key] = _band([f for f in strictest(own) if f.entry.accelerator == accelerator])
    band: NoiseBand = kb.memo[key]
    return band


def noise_of(kb: KnowledgeBase, *sides: Figure) -> NoiseBand:
    """The widest known band of the silicon on either side of a comparison."""
    bands = [
        noise_band(
            kb, side.entry.accelerator or "", side.result.benchmark, side.result.scenario, side.entry.round
        )
        for side in sides
    ]
    return max(bands, key=lambda band: (band.spread is not None, band.spread or 0.0))


def _band(candidates: list[Figure]) -> NoiseBand:
    stock = [f for f in candidates if f.entry.availability == "available" and not altered(f.entry)]
    groups: dict[tuple[str, int, str | None, str], list[Figure]] = {}
    for figure in stock:
        size = 0 if figure.unit in _WHOLE else figure.accelerators
        own = (figure.unit, size, figure.result.precision, figure.result.metric)
        groups.setdefault(own, []).append(figure)
    if not groups:
        return NoiseBand(spread=None, submissions=0, note="no submission on this silicon")
    unit, size, precision, _metric = best = max(
        groups, key=lambda own: (own[0] in _WHOLE, len(groups[own]), str(own))
    )
    rates = sorted(figure.per_accelerator for figure in groups[best])
    name = groups[best][0].entry.accelerator_as_stated
    what = f"{name} {unit}s of {size}" if size else f"{name} {unit}s"
    submitters = len({figure.submitter for figure in groups[best]})
    note = f"{len(rates)} {what} of {submitters} submitters at {precision or 'unknown precision'}"
    if len(rates) < 2:
        return NoiseBand(spread=None, submissions=len(rates), note=note)
    return NoiseBand(spread=rates[-1] / rates[0], submissions=len(rates), note=note)
