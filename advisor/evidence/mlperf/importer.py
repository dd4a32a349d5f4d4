"""Import of one results file or checkout: rows in, evidence entries and problems out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from advisor.evidence.mlperf.checkout import Checkout
from advisor.evidence.mlperf.entries import Named, build_entries, name_row
from advisor.evidence.mlperf.latency import LatencyTable, read_latency_csv
from advisor.evidence.mlperf.rows import Problem, Row, parse_rows, read_summary
from advisor.evidence.mlperf.tables import load_tables
from advisor.records import Evidence, Latency, Metric


@dataclass(frozen=True, kw_only=True)
class Import:
    """Outcome of one import. rows: read in all; left_out: rows of other suites and tasks; latencies: rows with logs."""

    file: str
    entries: tuple[Evidence, ...]
    problems: tuple[Problem, ...]
    rows: int
    left_out: int

    @property
    def results(self) -> int:
        """Results in all entries; the two accuracy variants of one run are one result."""
        return sum(len(entry.results) for entry in self.entries)

    @property
    def latencies(self) -> int:
        """Results whose run's log is known."""
        return sum(result.latency is not None for entry in self.entries for result in entry.results)

    def availability(self) -> Counter[str]:
        """Number of entries by availability."""
        return Counter(entry.availability for entry in self.entries)


def import_results(
    path: Path, *, round_: str = "", division: str = "", latency_file: Path | None = None
) -> Import:
    """Read results from a summary file, or from the checkout of a results repository when `path` is a folder.

    round_: refuse rows of other rounds (and fill in a missing one); division: keep only `closed` or `open`.
    latency_file: table of latencies; without it, tables `*.latency.csv` beside the summary file are used.
    Raises InputError when a file cannot be read at all; single bad rows become problems.
    """
    tables = load_tables()
    checkout = Checkout(path) if path.is_dir() else None
    summary = checkout.summary() if checkout else path
    table = LatencyTable()
    beside = [] if checkout else sorted(filter(Path.is_file, summary.parent.glob("*.latency.csv")))
    for source in [latency_file] if latency_file else beside:
        read_latency_csv(source, table)

    def latency_of(row: Row, metric: Metric) -> Latency | None:
        found = table.find(row, metric)
        return checkout.latency(row, metric) if found is None and checkout else found

    def facts_of(row: Row) -> dict[str, str]:
        return checkout.facts(row) if checkout else {}

    problems: list[Problem] = []
    named: list[Named] = []
    rows = left_out = 0
    for row in parse_rows(read_summary(summary), round_):
        rows += 1
        item = row if isinstance(row, Problem) else name_row(row, tables)
        if isinstance(item, Problem):
            problems.append(item)
        elif item is None or (division and item.row.division != division):
            left_out += 1
        else:
            named.append(item)
    entries, more = build_entries(named, tables, latency_of, facts_of)
    return Import(
        file=str(summary), entries=tuple(entries), problems=(*problems, *more), rows=rows, left_out=left_out
    )
