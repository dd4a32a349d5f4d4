"""A checkout of a results repository: its summary, the system descriptions and the logs behind each row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from advisor.errors import InputError
from advisor.evidence.mlperf.latency import LoggedRun, read_log
from advisor.evidence.mlperf.rows import Row
from advisor.reading import files_below, read_found
from advisor.records import Latency, Metric
from advisor.units import shown

_SUMMARIES = ("summary_results.json", "summary.json")
_FACTS = {
    "cooling": "cooling",
    "accelerator_memory_capacity": "accelerator_memory",
    "accelerator_interconnect": "accelerator_interconnect",
    "host_memory_capacity": "host_memory",
    "hw_notes": "hardware_notes",
}
_MAX_BYTES = 1_000_000
_MAX_LOGS = 64
_MAX_LEVELS, _MAX_NAMES = 8, 20_000
"""How far logs are looked for under one folder."""
_LOG = "mlperf_log_summary.txt"


class Checkout:
    """A results repository on disk. Nothing outside its folder is ever read."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._known: dict[Path, list[LoggedRun]] = {}

    def summary(self) -> Path:
        """The summary file. Raises InputError that says which names were looked for."""
        found = [self.root / name for name in _SUMMARIES if (self.root / name).is_file()]
        if not found:
            raise InputError(
                f"{shown(str(self.root), 200)} holds no {' or '.join(_SUMMARIES)};"
                " give a checkout of a results repository, or the summary file itself"
            )
        return found[0]

    def facts(self, row: Row) -> dict[str, str]:
        """What the system description of a row says about the hardware, in its own words."""
        path = self._inside(self.root / row.division / row.submitter / "systems" / f"{row.platform}.json")
        data = _read_object(path) if path else {}
        facts = {}
        for theirs, ours in _FACTS.items():
            value = data.get(theirs)
            if isinstance(value, str) and value.strip():
                facts[ours] = " ".join(value.split())[:300]
        return facts

    def latency(self, row: Row, metric: Metric) -> Latency | None:
        """Latencies from the log of the performance run behind a row; None when no log has its rate."""
        for folder in self._run_folders(row):
            for run in self._runs(folder):
                if run.is_run_of(row.value, metric):
                    return run.latency
        return None

    def _runs(self, folder: Path) -> list[LoggedRun]:
        """The runs whose logs lie under a folder, which many rows may share."""
        if folder not in self._known:
            files = files_below(folder, levels=_MAX_LEVELS, names=_MAX_NAMES)
            logs = sorted(Path(file.path) for file in files if file.name == _LOG)[:_MAX_LOGS]
            read = [read_log(inside) for path in logs if (inside := self._inside(path))]
            self._known[folder] = [run for run in read if run is not None]
        return self._known[folder]

    def _run_folders(self, row: Row) -> list[Path]:
        base = (
            self.root
            / row.division
            / row.submitter
            / "results"
            / row.platform
            / row.used_model
            / row.scenario
        )
        places = [self.root / row.location] if row.location else []
        candidates = [self._inside(place) for place in [*places, base / "performance", base]]
        return [place for place in candidates if place is not None and place.is_dir()]

    def _inside(self, path: Path) -> Path | None:
        try:
            resolved = path.resolve()
        except (OSError, RuntimeError, ValueError):
            return None
        return resolved if resolved != self.root and resolved.is_relative_to(self.root) else None


def _read_object(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_found(path, _MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
