"""The importer's tables: benchmarks, accelerator names and published run layouts, read from the YAML files beside this one."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import msgspec

from advisor.errors import KnowledgeError
from advisor.knowledge.yaml_source import parse_document
from advisor.records import Metric, Scenario


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One benchmark: the model it serves, its metric (and the one of Server and Interactive, when it differs)."""

    model: str
    metric: Metric
    metric_under_load: Metric | None = None
    accuracy_variants: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    e2e_limit_ms: dict[Scenario, float] = field(default_factory=dict)

    def metric_of(self, scenario: Scenario) -> Metric:
        """The metric that a scenario of this benchmark reports."""
        return self.metric if scenario == "offline" else self.metric_under_load or self.metric


@dataclass(frozen=True, kw_only=True)
class UnitCorrection:
    """Rows whose unit word is wrong: what they say, what they hold, and why we think so."""

    round: str
    benchmark: str
    scenario: Scenario
    stated: Metric
    metric: Metric
    why: str


@dataclass(frozen=True, kw_only=True)
class PrecisionCorrection:
    """Rows whose weight data type contradicts the served checkpoint; empty `accelerators` means any."""

    benchmark: str
    stated: tuple[str, ...]
    served: str | None
    why: str
    accelerators: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AcceleratorName:
    """How result files spell an accelerator. domain: accelerators of one scale-up fabric in the product sold.

    entry: whether the knowledge base describes it under this slug.
    """

    words: tuple[str, ...]
    slug: str
    domain: int
    entry: bool = True


@dataclass(frozen=True, kw_only=True)
class Run:
    """Layout of published runs of one system, benchmark and some scenarios."""

    round: str
    submitter: str
    accelerator: str
    accelerators: int
    benchmark: str
    scenarios: tuple[Scenario, ...]
    disaggregated: bool | None = None
    group_width: int | None = None
    topology: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Tables:
    """All of them."""

    benchmarks: dict[str, Benchmark]
    out_of_scope: tuple[str, ...]
    open_models: dict[str, str]
    units: dict[str, Metric]
    unit_corrections: tuple[UnitCorrection, ...]
    precision_corrections: tuple[PrecisionCorrection, ...]
    accelerators: tuple[AcceleratorName, ...]
    runs: tuple[Run, ...]

    def run(
        self, round_: str, submitter: str, accelerator: str | None, count: int, benchmark: str, scenario: str
    ) -> Run | None:
        """The published layout of a run, or None."""
        for run in self.runs:
            known = (
                run.round,
                run.submitter,
                "accelerators/" + run.accelerator,
                run.accelerators,
                run.benchmark,
            )
            if known == (round_, submitter, accelerator, count, benchmark) and scenario in run.scenarios:
                return run
        return None


@lru_cache(maxsize=1)
def load_tables() -> Tables:
    """Read the tables that ship with the importer. Raises KnowledgeError when one of them is damaged."""
    data: dict[str, object] = {}
    for name in ("benchmarks", "accelerators", "runs"):
        path = Path(__file__).with_name(f"{name}.yaml")
        document = parse_document(path.read_text("utf-8"), str(path))
        if document.findings or document.data is None:
            first = min(document.findings)
            raise KnowledgeError(first.message, path=first.path, line=first.line, column=first.column)
        data |= document.data
    return msgspec.convert(data, Tables)
