"""What an earlier import knew and this one does not: latencies and hardware facts survive an import without logs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgspec

from advisor.knowledge.build import build_record
from advisor.knowledge.limits import MAX_FILE_BYTES
from advisor.knowledge.yaml_source import parse_document
from advisor.reading import read_found
from advisor.records import Evidence, Result


def keep_earlier(entries: Iterable[Evidence], folder: Path) -> list[Evidence]:
    """Entries with the latencies and facts that their files under `folder` hold and that the import itself lacks.

    Only for the same figure: benchmark, scenario, accuracy and value. A file that cannot be read is replaced as a whole.
    """
    return [_merged(entry, _earlier(entry, folder)) for entry in entries]


def _earlier(entry: Evidence, folder: Path) -> Evidence | None:
    path = folder / f"{entry.id}.yaml"
    try:
        document = parse_document(read_found(path, MAX_FILE_BYTES).decode("utf-8"), str(path))
    except (OSError, ValueError):  # too large, or not UTF-8
        return None
    if document.data is None or document.findings:
        return None
    try:
        record = build_record("evidence", document.data)
    except msgspec.ValidationError:
        return None
    return record if isinstance(record, Evidence) else None


def _merged(entry: Evidence, earlier: Evidence | None) -> Evidence:
    if earlier is None:
        return entry
    known = {_figure(result): result.latency for result in earlier.results}
    results = tuple(
        result if result.latency else replace(result, latency=known.get(_figure(result)))
        for result in entry.results
    )
    return replace(entry, results=results, facts=entry.facts or earlier.facts)


def _figure(result: Result) -> tuple[str, str, tuple[str, ...], float]:
    return (result.benchmark, result.scenario, result.accuracy_variants, result.value)
