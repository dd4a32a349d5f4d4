"""An answer as Markdown: headline, reasons, fleets, memory, evidence, confidence, flips, gotchas, assumptions, notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.summary import cost_words
from advisor.records import Exclusion, Recommendation
from advisor.report import parts
from advisor.units import format_ratio
from advisor.visible import inert

_SHOWN = 6
"""Feasible systems in the table of fleets; the others are named."""


def render_markdown(kb: KnowledgeBase, answer: Recommendation, *, explain: str = "") -> str:
    """The whole answer. `explain`: a rendered proof to add."""
    sections = [
        _opening(answer), _requirement(kb, answer), _fleets(answer), _memory(answer), _comparison(answer), _excluded(answer),
        _flips(answer), _gotchas(answer), _list("Warnings", answer.warnings), _list("Assumptions", answer.assumptions),
        _explained(explain), _evidence(answer), _list("Notices", answer.disclaimers),
    ]  # fmt: skip
    return "\n\n".join("\n".join(lines) for lines in (list(section) for section in sections) if lines) + "\n"


def _opening(answer: Recommendation) -> Iterable[str]:
    yield f"# {inert(answer.headline)}"
    yield ""
    yield f"**Verdict: {answer.verdict}** · confidence **{answer.confidence.level}**"
    yield ""
    yield inert(answer.summary)
    if answer.confidence.reasons:
        yield ""
        yield (
            f"Why {answer.confidence.level}: "
            + "; ".join(inert(reason) for reason in answer.confidence.reasons)
            + "."
        )


def _requirement(kb: KnowledgeBase, answer: Recommendation) -> Iterable[str]:
    yield "## What was asked\n\n| fact | value | origin |\n|---|---|---|"
    for name, value in answer.requirement.items():
        if value.origin in ("said", "assumed", "derived") and (
            value.value is not None or value.low is not None
        ):
            yield (
                f"| {inert(parts.fact_label(kb, name))} | {inert(parts.fact_value(kb, name, value))} "
                f"| {inert(parts.origin_words(value))} |"
            )


def _fleets(answer: Recommendation) -> Iterable[str]:
    feasible = [c for c in parts.feasible_first(answer) if c.feasible]
    rest = feasible[_SHOWN:]
    feasible = feasible[:_SHOWN]
    if feasible:
        yield "## Fleets\n\n| system | layout | fleet | per accelerator | latency |\n|---|---|---|---|---|"
    for candidate in feasible:
        yield (
            f"| {inert(candidate.title)} | {parts.layout_words(candidate)} | {parts.fleet_words(candidate)} "
            f"| {parts.estimate(candidate.throughput_per_accelerator)} | {parts.latency_words(candidate)} |"
        )
    if rest:
        yield ""
        yield f"Also feasible: {', '.join(inert(c.title) for c in rest)}; the JSON form has them all."
    compared = [c for c in feasible if c.system in (answer.best_node, answer.best_rack)]
    for candidate in compared:
        yield ""
        yield f"{inert(candidate.title)}, step by step:"
        yield ""
        for step in candidate.arithmetic:
            yield f"- {inert(step)}"
        fleet = candidate.fleet
        if fleet is not None and fleet.power_kw is not None:
            yield f"- power {fleet.power_kw:,.1f} kW at the systems' maximum; one unit down costs {fleet.capacity_lost_on_failure:.0%}{_covered(fleet.spare_systems)}"
        if fleet is not None and fleet.cost is not None:
            million = fleet.cost.usd_per_million_output_tokens
            tail = f", USD {million:,.2f} per million output tokens" if million is not None else ""
            yield f"- USD {fleet.cost.usd_per_hour:,.2f} an hour ({inert(fleet.cost.price_origin)}){tail}"


def _covered(spares: int) -> str:
    return " of what is installed, which the spare covers" if spares else ""


def _memory(answer: Recommendation) -> Iterable[str]:
    compared = [c for c in answer.candidates if c.system in (answer.best_node, answer.best_rack) and c.memory]
    if not compared:
        compared = [c for c in parts.feasible_first(answer) if c.memory][:2]
    if not compared:
        return
    yield "## Memory per accelerator\n"
    yield "| | " + " | ".join(inert(c.title) for c in compared) + " |"
    yield "|---" * (len(compared) + 1) + "|"
    columns = [dict(parts.memory_rows(c)) for c in compared]
    for name in dict.fromkeys(key for column in columns for key in column):
        yield f"| {name} | " + " | ".join(column.get(name, "–") for column in columns) + " |"


def _comparison(answer: Recommendation) -> Iterable[str]:
    compared = answer.comparison
    if compared.rack_over_node is None and not compared.pairs:
        return
    yield "## Rack against node, per accelerator\n"
    for name, value in (
        ("Rack over node", compared.rack_over_node),
        ("Silicon effect (node to slice of a rack)", compared.silicon_effect),
        ("Scale effect (slice to whole rack)", compared.scale_effect),
    ):
        if value is not None:
            span = (
                "" if value.low == value.high else f" ({format_ratio(value.low)}–{format_ratio(value.high)})"
            )
            note = f": {inert(value.note)}" if value.note else ""
            yield f"- {name}: **{format_ratio(value.value)}**{span}, {value.basis}{note}"
        else:
            yield f"- {name}: unknown"
    band = compared.noise_band
    if band.spread is not None:
        yield f"- Noise: the same silicon differs by {format_ratio(band.spread)} over {band.submissions} submissions"
    else:
        why = (
            "fewer than two submissions on the same silicon"
            if compared.pairs
            else "no comparable pair to tell it from; the doubt is that of the rates"
        )
        yield f"- Noise: unknown, {why}"
    cost = cost_words(compared)
    if cost:
        yield f"- {cost}"
    if compared.break_even_premium is not None:
        yield f"- Break-even premium: a rack accelerator may cost {format_ratio(compared.break_even_premium)} a node's"
    for confounder in compared.confounders:
        yield f"- Confounded: {inert(confounder)}"
    if compared.pairs:
        yield ""
        yield f"Comparable pairs ({parts.DERIVED_NOTE} per accelerator):\n"
        for pair in compared.pairs:
            yield f"- {inert(parts.pair_words(pair))}"


def _excluded(answer: Recommendation) -> Iterable[str]:
    """Excluded systems; those out for one reason together, each under the reason it shares with most others."""
    excluded = [candidate for candidate in answer.candidates if not candidate.feasible]
    reasons = {c.system: [_exclusion(item) for item in c.exclusions] or [_NO_POINT] for c in excluded}
    shared = Counter(reason for own in reasons.values() for reason in own)
    groups: dict[str, list[str]] = {}
    for candidate in excluded:
        reason = max(reasons[candidate.system], key=lambda text: shared[text])
        groups.setdefault(reason, []).append(inert(candidate.title))
    if groups:
        yield "## Excluded\n"
    for reason, titles in groups.items():
        yield f"- {', '.join(titles)}: {reason}"


_NO_POINT = "no operating point meets the limits."


def _exclusion(item: Exclusion) -> str:
    nearest = f" Would pass: {inert(item.nearest)}." if item.nearest else ""
    return f"{inert(item.text.rstrip('.'))}.{nearest} (`{item.constraint}`)"


def _flips(answer: Recommendation) -> Iterable[str]:
    yield "## What would change the verdict\n"
    if not answer.flips_searched:
        yield "Not searched for."
    elif not answer.flips:
        yield "No single change of an input that was tried changes it."
    for flip in answer.flips:
        yield f"- {inert(flip.text)}"


def _gotchas(answer: Recommendation) -> Iterable[str]:
    if answer.gotchas:
        yield "## Gotchas that apply\n"
    for gotcha in answer.gotchas:
        yield f"- {inert(gotcha.title)} (`{gotcha.id}`): {inert(gotcha.why)}"


def _list(title: str, items: tuple[str, ...]) -> Iterable[str]:
    if items:
        yield f"## {title}\n"
    for item in items:
        yield f"- {inert(item)}"


def _explained(text: str) -> Iterable[str]:
    if text:
        yield "## Proof\n"
        yield from ("    " + line for line in text.splitlines())


def _evidence(answer: Recommendation) -> Iterable[str]:
    if answer.evidence:
        yield "## Evidence\n"
    cited = [citation for citation in answer.evidence if citation.figures]
    for citation in cited or answer.evidence[:_SHOWN]:
        yield f"- {inert(citation.text)} ({citation.grade}) `{citation.id}`"
        for figure in citation.figures:
            yield f"  - {inert(figure)}"
    rest = len(answer.evidence) - len(cited or answer.evidence[:_SHOWN])
    if rest > 0:
        yield f"- and {rest} more behind the rates; the JSON form has them all"
