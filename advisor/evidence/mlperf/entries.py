"""From result rows to evidence entries: one per round, submitter, system and division, in a stable order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from advisor.evidence.mlperf.latency import kept
from advisor.evidence.mlperf.precision import read_precision
from advisor.evidence.mlperf.rows import Problem, Row
from advisor.evidence.mlperf.scale import Hardware, read_hardware
from advisor.evidence.mlperf.tables import Benchmark, Tables
from advisor.records import Evidence, Latency, Metric, Result, Scenario
from advisor.units import shown

LatencySource = Callable[[Row, Metric], Latency | None]
FactSource = Callable[[Row], dict[str, str]]

_SCENARIOS: tuple[Scenario, ...] = ("offline", "server", "interactive")
_ODD_ORDER = 1.05
"""Ratio to the rate of a looser scenario above which a result gets a remark: waiting for latency costs throughput."""

_SLUG_LENGTH = 80
_VARIANT = re.compile(r"(?P<name>.+?)(?:-(?P<variant>99(?:\.9)?))?")
_GroupKey = tuple[str, str, str, str, str]


@dataclass(frozen=True, kw_only=True)
class Named:
    """A row with its benchmark recognised. model: id of the model that was run; variant: `99`, `99.9` or nothing."""

    row: Row
    benchmark: str
    known: Benchmark
    model: str
    variant: str
    scenario: Scenario


def name_row(row: Row, tables: Tables) -> Named | Problem | None:
    """Recognise benchmark, model and scenario. None: out of scope (another suite or task); a Problem: unknown."""
    if "datacenter" not in row.suite.split(","):
        return None
    benchmark, variant = _split(row.model, tables)
    if any(benchmark == name or benchmark.startswith(name + "-") for name in tables.out_of_scope):
        return None
    known = tables.benchmarks.get(benchmark)
    if known is None:
        have = ", ".join(tables.benchmarks)
        return Problem(record=row.record, message=f"unknown benchmark {shown(row.model)}; known are {have}")
    if row.run_scenario is None:
        return Problem(
            record=row.record,
            message=f"unknown scenario {shown(row.scenario)}; known are {', '.join(_SCENARIOS)}",
        )
    model = known.model
    if row.division == "open" and _split(row.used_model, tables)[0] != benchmark:
        run = next(
            (own for start, own in tables.open_models.items() if row.used_model.startswith(start)), None
        )
        if run is None:
            return Problem(
                record=row.record, message=f"unknown model {shown(row.used_model)} run in the open division"
            )
        model = run
    return Named(
        row=row, benchmark=benchmark, known=known, model=model, variant=variant, scenario=row.run_scenario
    )


def build_entries(
    named: Iterable[Named], tables: Tables, latency_of: LatencySource, facts_of: FactSource
) -> tuple[list[Evidence], list[Problem]]:
    """Evidence entries in id order, and the rows that could not be used (duplicates, unknown units)."""
    problems: list[Problem] = []
    groups: dict[_GroupKey, list[Named]] = {}
    seen: dict[tuple[str, ...], str] = {}
    for item in named:
        row = item.row
        group = (row.round, row.division, row.submitter, row.platform, row.availability)
        identity = (*group, row.used_model, item.benchmark, item.variant, item.scenario)
        if identity in seen:
            message = f"duplicate of record {seen[identity]}: {row.submitter} {row.platform} {row.model} {row.scenario}"
            problems.append(Problem(record=row.record, message=message))
            continue
        seen[identity] = row.record
        groups.setdefault(group, []).append(item)
    entries: list[Evidence] = []
    taken: set[str] = set()
    for _key, items in sorted(groups.items()):
        entry = _entry(items, tables, latency_of, facts_of, problems)
        if entry is not None:
            entries.append(_unique(entry, taken))
    return sorted(entries, key=lambda entry: entry.id), problems


def slug(text: str) -> str:
    """Lower-case kebab-case as ids want it; dots stay. Long names are cut."""
    return re.sub(r"[^a-z0-9.]+", "-", text.casefold()).strip("-.")[:_SLUG_LENGTH].strip("-.") or "unnamed"


def _split(model: str, tables: Tables) -> tuple[str, str]:
    match = _VARIANT.fullmatch(model)
    name, variant = (match["name"], match["variant"] or "") if match else (model, "")
    for benchmark, known in tables.benchmarks.items():
        if name in known.aliases:
            return benchmark, variant
    return name, variant


def _entry(
    items: list[Named],
    tables: Tables,
    latency_of: LatencySource,
    facts_of: FactSource,
    problems: list[Problem],
) -> Evidence | None:
    items = sorted(items, key=lambda i: (i.benchmark, _SCENARIOS.index(i.scenario), i.row.used_model))
    row = items[0].row
    hardware = read_hardware(row, tables)
    results: list[Result] = []
    for item in items:
        result = _result(item, hardware, tables, latency_of)
        if isinstance(result, Problem):
            problems.append(result)
            continue
        twin = next((n for n, other in enumerate(results) if _same_run(other, result)), None)
        if twin is None:
            results.append(result)
        else:
            results[twin] = _merged(results[twin], result)
    if not results:
        return None
    results = [_noted(result, results) for result in results]
    scale = hardware.scale
    size = f"{scale.accelerators}× {hardware.short}" if scale.accelerators else hardware.short
    division = ", open division" if row.division == "open" else ""
    return Evidence(
        id=f"evidence/mlperf-{row.round}/{slug(row.submitter)}/{_name(row)}",
        title=f"{row.submitter} {size}, {scale.unit}, {row.round}{division} ({row.platform})"[:160],
        source=f"sources/mlperf-{row.round}",
        round=row.round,
        submitter=row.submitter,
        system_name=row.system_name or row.platform,
        platform=row.platform,
        accelerator=hardware.accelerator,
        accelerator_as_stated=row.accelerator,
        scale=scale,
        availability=row.availability,
        division=row.division,
        software=row.software,
        grade="audited",
        results=tuple(results),
        facts=facts_of(row),
    )


def _name(row: Row) -> str:
    name = slug(row.platform)
    return name if row.division == "closed" or name.endswith("-open") else f"{name}-open"


def _result(item: Named, hardware: Hardware, tables: Tables, latency_of: LatencySource) -> Result | Problem:
    row = item.row
    stated = tables.units.get(row.units.casefold())
    if stated is None:
        return Problem(
            record=row.record, message=f"unknown unit {shown(row.units)}; known are {', '.join(tables.units)}"
        )
    notes = []
    metric = stated
    for rule in tables.unit_corrections:
        if (rule.round, rule.benchmark, rule.scenario, rule.stated) == (
            row.round,
            item.benchmark,
            item.scenario,
            stated,
        ):
            metric = rule.metric
            notes.append(rule.why)
    if metric != item.known.metric_of(item.scenario):
        wanted = item.known.metric_of(item.scenario)
        return Problem(
            record=row.record,
            message=f"{row.model} {row.scenario} in {row.units}; this benchmark reports {wanted}",
        )
    precision, remark = read_precision(row.weights, item.benchmark, hardware.accelerator, tables)
    latency = latency_of(row, metric)
    if latency is not None:
        latency = kept(latency, item.scenario, item.known.e2e_limit_ms.get(item.scenario))
    run = tables.run(
        row.round,
        row.submitter,
        hardware.accelerator,
        hardware.scale.accelerators,
        item.benchmark,
        item.scenario,
    )
    if row.division == "open" and row.used_model != row.model:
        notes.append(f"ran {row.used_model}")
    return Result(
        benchmark=item.benchmark,
        model=item.model,
        scenario=item.scenario,
        metric=metric,
        value=row.value,
        record=row.record,
        accuracy_variants=(item.variant,) if item.variant else (),
        precision=precision,
        precision_as_stated=row.weights if row.weights.casefold() != precision else "",
        latency=latency,
        topology=run.topology if run else "",
        disaggregated=run.disaggregated if run else None,
        group_width=run.group_width if run else None,
        power_w=round(row.power_w, 1) if row.power_w else None,
        note="; ".join(filter(None, (*notes, remark, run.note if run else ""))),
    )


def _noted(result: Result, others: list[Result]) -> Result:
    """The result with a remark when it is well above the same system's rate under a looser latency limit."""
    looser = _SCENARIOS[: _SCENARIOS.index(result.scenario)]
    for other in others:
        same = (other.benchmark, other.model, other.metric, other.note) == (
            result.benchmark,
            result.model,
            result.metric,
            result.note,
        )
        if same and other.scenario in looser and result.value > other.value * _ODD_ORDER:
            remark = f"above the {other.scenario} rate of the same system, as published"
            return replace(result, note="; ".join(filter(None, (result.note, remark))))
    return result


def _same_run(one: Result, other: Result) -> bool:
    """Whether two rows report one run: all but the accuracy variant is the same, to the last digit."""
    return bool(one.accuracy_variants and other.accuracy_variants) and _bare(one) == _bare(other)


def _bare(result: Result) -> Result:
    return replace(result, accuracy_variants=(), record="")


def _merged(one: Result, other: Result) -> Result:
    records = dict.fromkeys((*one.record.split(", "), *other.record.split(", ")))
    variants = sorted({*one.accuracy_variants, *other.accuracy_variants})
    return replace(one, accuracy_variants=tuple(variants), record=", ".join(records))


def _unique(entry: Evidence, taken: set[str]) -> Evidence:
    number, entry_id = 1, entry.id
    while entry_id in taken:
        number += 1
        entry_id = f"{entry.id}-{number}"
    taken.add(entry_id)
    return entry if entry_id == entry.id else replace(entry, id=entry_id)
