"""Which evidence an answer cites, and for which figures."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.evidence.citation import cite
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.candidates import Sized
from advisor.reasoning.comparison import Compared
from advisor.records import Citation, RaisedGotcha


def citations(
    kb: KnowledgeBase, compared: Compared, sized: Sequence[Sized], gotchas: Sequence[RaisedGotcha]
) -> tuple[Citation, ...]:
    """Every evidence entry that a figure of the answer rests on: rates, pairs, and the claims of the gotchas raised."""
    wanted: dict[str, dict[str, None]] = {}
    for pair in compared.comparison.pairs:
        for half in (pair.small, pair.large):
            figure = (
                f"{pair.benchmark} {pair.scenario}: {half.value:,.10g} / {half.accelerators} = {half.per_accelerator:,.6g} "
                f"{pair.metric.replace('_per_s', '/s')} per accelerator"
            )
            wanted.setdefault(half.evidence, {})[figure] = None
    for side in sized:
        rate = side.candidate.throughput_per_accelerator if side.candidate.feasible else None
        for entry_id in rate.evidence if rate else ():
            wanted.setdefault(entry_id, {})
    for raised in gotchas:
        for claim in kb.gotchas[raised.id].claims:
            for reference in claim.inputs.values():
                wanted.setdefault(reference.partition("#")[0], {})
    return tuple(
        cite(kb, entry_id, figures=tuple(figures))
        for entry_id, figures in wanted.items()
        if entry_id in kb.evidence
    )
