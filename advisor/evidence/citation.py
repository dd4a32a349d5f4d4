"""From a figure back to its source, in the words that the benchmark's owner asks for."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.errors import UnknownIdError
from advisor.evidence.figures import UNIT_NAMES
from advisor.knowledge import KnowledgeBase
from advisor.records import Citation, Evidence, Pair, Result
from advisor.units import shown

VERIFIED = "Result verified by MLCommons Association."
DERIVED = "derived, not verified by MLCommons"
"""The mark beside every figure per accelerator, ratio or sum of ours."""

_UNVERIFIED = "Result not verified by MLCommons Association."


def cite(
    kb: KnowledgeBase, evidence_id: str, result: Result | None = None, *, figures: Sequence[str] = ()
) -> Citation:
    """The citation of an evidence entry, of one of its results when given.

    figures: derived figures shown beside it, each of which is marked as derived. `verified` is about what is shown: an
    audited result as published is verified, any figure derived from it is not. Raises UnknownIdError.
    """
    entry = kb.evidence.get(evidence_id)
    if entry is None:
        raise UnknownIdError(f"no evidence {shown(evidence_id)}")
    marked = tuple(figure if DERIVED in figure else f"{figure} ({DERIVED})" for figure in figures)
    verified = entry.grade == "audited" and not marked
    results = (result,) if result is not None else entry.results
    return Citation(
        id=entry.id,
        text=_text(kb, entry, results, verified),
        grade=entry.grade,
        verified=verified,
        figures=marked,
    )


def derived_footnote(pair: Pair) -> str:
    """The footnote that a ratio of two results needs: its basis, both records, and that nobody verified it."""
    sides = (pair.small, pair.large)
    records = " and ".join(
        f"{side.record} ({side.submitter}, {side.accelerators} accelerators)" for side in sides
    )
    return (
        f"Rate per accelerator is not the primary metric of MLPerf® Inference {pair.round} {pair.benchmark} {pair.scenario};"
        f" entries {records} divided by their accelerators. {_UNVERIFIED}"
    )


def notices(kb: KnowledgeBase, evidence_ids: Sequence[str]) -> tuple[str, ...]:
    """The notice texts of the sources behind some evidence, each once."""
    found: dict[str, None] = {}
    for entry_id in evidence_ids:
        entry = kb.evidence.get(entry_id)
        source = kb.sources.get(entry.source) if entry else None
        if source is not None and source.notice:
            found.setdefault(" ".join(source.notice.split()), None)
    return tuple(found)


def _text(kb: KnowledgeBase, entry: Evidence, results: Sequence[Result], verified: bool) -> str:
    source = kb.sources.get(entry.source)
    listed = "; ".join(
        f"{r.benchmark}{'-' + r.accuracy_variants[-1] if r.accuracy_variants else ''} {r.scenario}"
        f" {r.value:,.10g} {UNIT_NAMES[r.metric]} (entry {r.record})"
        for r in results
    )
    count = entry.scale.accelerators
    system = (
        f"{entry.system_name} [{entry.platform}]"
        if entry.platform and entry.platform != entry.system_name
        else entry.system_name
    )
    where = " " + " ".join((source.citation or source.title).split()) if source is not None else ""
    status = "" if entry.grade != "audited" else f" {VERIFIED if verified else _UNVERIFIED}"
    return (
        f"{entry.submitter}, {system}, {count} accelerators, {entry.division} division, {entry.availability}:"
        f" {listed}.{where}{status}"
    )
