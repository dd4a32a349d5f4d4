"""Latencies of runs: from a table of what the logs said, or from the logs themselves (mlperf_log_summary.txt)."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from advisor.errors import InputError
from advisor.evidence.mlperf.rows import Row
from advisor.reading import open_found, read_bounded
from advisor.records import Latency, Metric
from advisor.units import shown

_NS_PER_MS = 1e6
_TOLERANCE = 0.002
_LOG_LIMIT = 1_000_000
_Key = tuple[str, str, str, str, str, str]


@dataclass(frozen=True, kw_only=True)
class LoggedRun:
    """One run as its log tells it: rates to recognise it by, and its latencies."""

    tokens_per_s: float | None
    samples_per_s: float | None
    latency: Latency

    def is_run_of(self, value: float, metric: Metric) -> bool:
        """Whether the run's rate is `value`. Logs round, and the table lost the exponent of rates over a million."""
        own = self.tokens_per_s if metric == "tokens_per_s" else self.samples_per_s
        return own is not None and any(abs(own * scale - value) <= _TOLERANCE * value for scale in (1.0, 1e6))


class LatencyTable:
    """Logged runs by round, division, submitter, platform, model and scenario."""

    def __init__(self) -> None:
        self._runs: dict[_Key, list[LoggedRun]] = defaultdict(list)

    def __len__(self) -> int:
        return sum(len(runs) for runs in self._runs.values())

    def add(self, key: _Key, run: LoggedRun) -> None:
        """Remember one run."""
        self._runs[key].append(run)

    def find(self, row: Row, metric: Metric) -> Latency | None:
        """Latencies of the run behind a row: same system, model, scenario and rate."""
        key = (row.round, row.division, row.submitter, row.platform, row.used_model, row.scenario.casefold())
        for run in self._runs.get(key, ()):
            if run.is_run_of(row.value, metric):
                return run.latency
        return None


_IDENTITY = ("round", "division", "submitter", "platform", "model", "scenario")
"""Columns that name a run."""


def read_latency_csv(path: Path, table: LatencyTable) -> None:
    """Add the runs of a CSV table with the columns round … target_qps (times in ns). Raises InputError on a bad file."""
    try:
        text = read_bounded(path).decode("utf-8")
        with io.StringIO(text, newline="") as handle:
            reader = csv.DictReader(handle)
            needed = {*_IDENTITY, "tokens_per_s", "samples_per_s"}
            missing = needed - set(reader.fieldnames or ())
            if missing:
                raise InputError(f"{shown(str(path), 200)} has no column {', '.join(sorted(missing))}")
            for line in reader:
                if line.get("valid") not in (None, "", "VALID"):
                    continue
                round_, division, submitter, platform, model, scenario = (
                    line[name] or "" for name in _IDENTITY
                )
                key = (round_, division, submitter, platform, model, scenario.casefold())
                table.add(key, _from_csv(line))
    except OSError as error:
        raise InputError(f"{shown(str(path), 200)} cannot be read: {error.strerror}") from None
    except (ValueError, csv.Error) as error:  # too large, or not UTF-8
        raise InputError(f"{shown(str(path), 200)} is not a CSV table: {error}") from None


def _from_csv(line: dict[str, str]) -> LoggedRun:
    def number(column: str, scale: float = 1.0) -> float | None:
        try:
            value = float(line.get(column) or "")
        except ValueError:
            return None
        return _figure(value / scale)

    return LoggedRun(
        tokens_per_s=number("tokens_per_s"),
        samples_per_s=number("samples_per_s"),
        latency=Latency(
            ttft_p99_ms=number("ttft_p99_ns", _NS_PER_MS),
            tpot_p99_ms=number("tpot_p99_ns", _NS_PER_MS),
            ttft_p50_ms=number("ttft_p50_ns", _NS_PER_MS),
            tpot_p50_ms=number("tpot_p50_ns", _NS_PER_MS),
            ttft_limit_ms=number("ttft_limit_ns", _NS_PER_MS),
            tpot_limit_ms=number("tpot_limit_ns", _NS_PER_MS),
            e2e_p99_ms=number("e2e_p99_ns", _NS_PER_MS),
            samples_per_s=number("samples_per_s"),
            target_qps=number("target_qps"),
        ),
    )


def _figure(value: float) -> float | None:
    """A time in ms or a rate, rounded; None for what is neither (NaN, negative, beyond what an entry may hold)."""
    return round(value, 3) if 0 <= value <= _LARGEST else None


_LARGEST = 1e12
_LOG_LINES: dict[str, tuple[str, ...]] = {
    "tokens": ("completed tokens per second", "tokens per second"),
    "samples": ("completed samples per second", "samples per second"),
    "ttft_p99_ms": ("99.00 percentile first token latency (ns)",),
    "tpot_p99_ms": ("99.00 percentile time to output token (ns)",),
    "ttft_p50_ms": ("50.00 percentile first token latency (ns)",),
    "tpot_p50_ms": ("50.00 percentile time to output token (ns)",),
    "ttft_limit_ms": ("ttft_latency (ns)",),
    "tpot_limit_ms": ("tpot_latency (ns)",),
    "e2e_p99_ms": ("99.00 percentile latency (ns)",),
    "target_qps": ("target_qps",),
}
_LINE = re.compile(
    r"^[ \t]*(?P<name>[^:\r\n]{1,80}?)[ \t]*:[ \t]*(?P<value>[0-9][0-9.eE+-]{0,40})[ \t\r]*$", re.MULTILINE
)


def read_log(path: Path) -> LoggedRun | None:
    """The run of one mlperf_log_summary.txt; None when it cannot be read or is not valid."""
    try:
        with open_found(path) as handle:
            text = handle.read(_LOG_LIMIT).decode("utf-8", "replace")
    except OSError:
        return None
    if not re.search(r"^Result is\s*:\s*VALID\s*$", text, re.MULTILINE):
        return None
    stated = {match["name"].casefold(): match["value"] for match in _LINE.finditer(text)}

    def number(field: str, scale: float = 1.0) -> float | None:
        for name in _LOG_LINES[field]:
            try:
                value = float(stated[name])
            except (KeyError, ValueError):
                continue
            return _figure(value / scale)
        return None

    times = {field: number(field, _NS_PER_MS) for field in _LOG_LINES if field.endswith("_ms")}
    samples = number("samples")
    latency = Latency(samples_per_s=samples, target_qps=number("target_qps"), **times)
    return LoggedRun(tokens_per_s=number("tokens"), samples_per_s=samples, latency=latency)


def kept(latency: Latency, scenario: str, e2e_limit_ms: float | None) -> Latency:
    """What a result keeps: Offline has no latency bound, so only its rates; the others get their end-to-end limit."""
    if scenario == "offline":
        return Latency(samples_per_s=latency.samples_per_s, target_qps=latency.target_qps)
    positive = {
        name: None
        for name in ("ttft_limit_ms", "tpot_limit_ms")
        if not getattr(latency, name)  # LoadGen prints 0 for "no limit"
    }
    return replace(latency, e2e_limit_ms=e2e_limit_ms, **positive)
