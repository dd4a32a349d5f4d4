"""One entry as a page of Markdown: what it says, its figures with their sources, and what links to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from advisor.knowledge.base import KnowledgeBase
from advisor.knowledge.graph import links_of
from advisor.reasoning.trace import describe_condition
from advisor.records import Alternative, Cell, Condition, Entry, Evidence, Gotcha, Price, Result, Source
from advisor.units import format_bytes, format_count
from advisor.visible import inert, inert_paragraphs, one_line

_PROSE_FIELDS = (
    "summary",
    "body",
    "formula",
    "symptom",
    "root_cause",
    "workaround",
    "notes",
    "reason",
    "question",
    "why",
    "help",
)
_SKIPPED = {
    "id",
    "title",
    "aliases",
    "sources",
    "claims",
    "corrections",
    "results",
    "prices",
    "notice",
    "citation",
    *_PROSE_FIELDS,
}
_UNVERIFIED = "unverified"


def entry_page(kb: KnowledgeBase, entry: Entry) -> str:
    """Markdown of one entry, whole."""
    lines = [f"# {inert(entry.title)}", "", f"`{entry.id}`"]
    if entry.aliases:
        lines += ["", "Also called " + ", ".join(inert(alias) for alias in entry.aliases) + "."]
    for name in _PROSE_FIELDS:
        text = getattr(entry, name, "")
        if text:
            heading = "" if name in ("summary", "body") else f"## {name.replace('_', ' ').capitalize()}\n\n"
            lines += ["", heading + _prose(entry, name, str(text))]
    if isinstance(entry, Gotcha):
        lines += list(_gotcha_parts(entry))
    if isinstance(entry, Evidence):
        lines += list(_results_table(entry))
    rows = list(_field_rows(entry))
    if rows:
        lines += ["", "## Facts", "", "| field | value | trust | source |", "|---|---|---|---|", *rows]
    if prices := getattr(entry, "prices", ()):
        lines += list(_price_table(prices))
    lines += list(_link_lists(kb, entry))
    lines += list(_source_lines(kb, entry))
    return "\n".join(lines) + "\n"


def _prose(entry: Entry, name: str, text: str) -> str:
    if name == "formula":
        return f"    {one_line(text)}"
    shown = inert_paragraphs(text)
    if isinstance(entry, Gotcha):
        for correction in entry.corrections:
            written = inert(correction.text)
            if written in shown:
                shown = shown.replace(written, f"{written} *(corrected: {inert(correction.corrected)})*", 1)
    return shown


def _gotcha_parts(entry: Gotcha) -> Iterable[str]:
    if entry.corrections:
        yield "\n## Corrections\n"
        for item in entry.corrections:
            yield f"- “{inert(item.text)}” → **{inert(item.corrected)}**: {inert(item.reason)}"
    if entry.claims:
        yield "\n## Figures and what they are computed from\n\n| figure | arithmetic | inputs |\n|---|---|---|"
        for claim in entry.claims:
            inputs = ", ".join(f"{inert(k)} = {inert(v)}" for k, v in claim.inputs.items())
            quoted = "; ".join(inert(part) for part in (claim.source, claim.locator) if part)
            to = f" to {inert(claim.upper)}" if claim.upper else ""
            yield f"| {inert(claim.text)} | {inert(claim.expression)}{to} | {inputs or quoted} |"
        yield "\nFigures per accelerator are derived from audited totals; they are not verified by MLCommons Association."


def _results_table(entry: Evidence) -> Iterable[str]:
    per_accelerator = entry.scale.accelerators > 0 and not entry.scale.mixed_silicon
    yield "\n## Results\n\n| benchmark | scenario | value | unit | per accelerator (derived) | p99 TTFT / TPOT ms | record |"
    yield "|---|---|---|---|---|---|---|"
    for result in entry.results:
        derived = format_count(result.value / entry.scale.accelerators) if per_accelerator else "not defined"
        variants = f" ({', '.join(result.accuracy_variants)})" if result.accuracy_variants else ""
        yield (
            f"| {inert(result.benchmark)}{variants} | {result.scenario} | {result.value:,.10g} | {_unit(result)} | {derived} "
            f"| {_latency(result)} | {inert(result.record)} |"
        )


def _unit(result: Result) -> str:
    return result.metric.replace("_per_s", "/s")


def _latency(result: Result) -> str:
    latency = result.latency
    if latency is None or latency.tpot_p99_ms is None:
        return "–"
    ttft = f"{latency.ttft_p99_ms:,.0f}" if latency.ttft_p99_ms is not None else "–"
    return f"{ttft} / {latency.tpot_p99_ms:,.1f}"


def _price_table(prices: tuple[Price, ...]) -> Iterable[str]:
    yield "\n## List prices\n\n| USD per accelerator-hour | seller | basis | date | trust |\n|---|---|---|---|---|"
    for price in prices:
        yield (
            f"| {price.usd_per_accelerator_hour:g} | {inert(price.seller)} | {inert(price.basis)} "
            f"| {price.date} | {_trust(price.trust)} |"
        )


def _field_rows(value: Any, prefix: str = "") -> Iterable[str]:
    for spec in fields(value):
        item = getattr(value, spec.name)
        name = f"{prefix}{spec.name}"
        if (not prefix and spec.name in _SKIPPED) or item in (None, "", (), {}):
            continue
        yield from _rows(name, item)


def _rows(name: str, item: Any) -> Iterable[str]:
    if isinstance(item, Cell):
        yield f"| {name} | {_value(name, item.value)} | {_trust(item.trust)} | {_origin(item)} |"
        for other in item.alternatives:
            yield f"| {name} (disagrees) | {_value(name, other.value)} | {_trust(other.trust)} | {_origin(other)} |"
    elif isinstance(item, Condition):
        yield f"| {name} | {inert(describe_condition(item))} | | |"
    elif isinstance(item, dict):
        for key, part in item.items():
            yield from _rows(f"{name}.{inert(key)}", part)
    elif isinstance(item, tuple):
        if all(not is_dataclass(part) for part in item):
            yield f"| {name} | {', '.join(inert(part) for part in item)} | | |"
        else:
            for index, part in enumerate(item, 1):
                yield from _rows(f"{name} {index}", part)
    elif is_dataclass(item):
        parts = [
            f"{s.name} {inert(getattr(item, s.name))}" for s in fields(item) if _plain(getattr(item, s.name))
        ]
        yield f"| {name} | {', '.join(parts)} | | |"
        for spec in fields(item):
            part = getattr(item, spec.name)
            if not _plain(part) and part not in (None, "", (), {}, False, 0):
                yield from _rows(f"{name}.{spec.name}", part)
    else:
        yield f"| {name} | {_value(name, item)} | | |"


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and value not in ("", 0, False)


def _value(name: str, value: Any) -> str:
    if name.endswith("_bytes") and isinstance(value, int | float):
        return f"{format_bytes(value)} ({value / 1e9:,.1f} GB)"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else inert(value)


def _trust(trust: str) -> str:
    return f"**{trust}**" if trust == _UNVERIFIED else trust


def _origin(cell: Cell | Alternative) -> str:
    parts = [inert(part) for part in (cell.source, cell.locator, cell.note) if part]
    return "; ".join(parts)


def _link_lists(kb: KnowledgeBase, entry: Entry) -> Iterable[str]:
    out = {
        link.target: link.relation
        for link in links_of(entry)
        if link.relation not in ("sources", "source", "claims")
    }
    if out:
        yield "\n## Links\n"
        for target, relation in out.items():
            known = kb.entries.get(target)
            yield f"- {relation}: {inert(known.title) if known else 'missing'} (`{target}`)"
    incoming = (
        sorted({(o, d["relation"]) for o, _, d in kb.graph.in_edges(entry.id, data=True)})
        if entry.id in kb.graph
        else []
    )
    if incoming and not isinstance(entry, Source):
        yield "\n## Linked from\n"
        for origin, relation in incoming[:40]:
            yield f"- {inert(kb.entries[origin].title)} (`{origin}`, {relation})"
        if len(incoming) > 40:
            yield f"- and {len(incoming) - 40} more: `rackfit graph {entry.id}`"


def _source_lines(kb: KnowledgeBase, entry: Entry) -> Iterable[str]:
    if isinstance(entry, Source):
        for part in (entry.citation, entry.notice):
            if part:
                yield f"\n{inert(part)}"
        return
    ids = [*entry.sources, *([entry.source] if isinstance(entry, Evidence) else [])]
    known = [kb.sources[i] for i in dict.fromkeys(ids) if i in kb.sources]
    if known:
        yield "\n## Sources\n"
        for source in known:
            where = inert(source.url or source.publisher)
            yield f"- {inert(source.title)}: {where} (`{source.id}`)"
            if source.notice:
                yield f"  {inert(source.notice)}"
