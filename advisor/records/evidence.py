"""Measured results: one system in one source, with what was run and how fast."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from advisor.records.common import Entry, Grade

Scenario = Literal["offline", "server", "interactive"]
Metric = Literal["tokens_per_s", "samples_per_s", "queries_per_s"]
EvidenceUnit = Literal["node", "slice", "rack", "multi-node", "multi-rack"]


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How big the system under test was. `accelerators` is the count to divide by; 0 for a CPU-only row.

    stated_accelerators: the total that the result file gives, when it differs; `note` says why.
    """

    accelerators: int
    nodes: int
    unit: EvidenceUnit
    racks: int = 0
    stated_accelerators: int | None = None
    mixed_silicon: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Latency:
    """p99 and limits in ms as the run's log printed them; None where no log is known."""

    ttft_p99_ms: float | None = None
    tpot_p99_ms: float | None = None
    ttft_p50_ms: float | None = None
    tpot_p50_ms: float | None = None
    ttft_limit_ms: float | None = None
    tpot_limit_ms: float | None = None
    e2e_p99_ms: float | None = None
    e2e_limit_ms: float | None = None
    samples_per_s: float | None = None
    target_qps: float | None = None


@dataclass(frozen=True, kw_only=True)
class Result:
    """One audited or measured figure of the whole system.

    benchmark: name without the accuracy variant (`llama2-70b`); accuracy_variants: `99`, `99.9` that share this run.
    value: in `metric`. record: id in the source file. precision: of the weights as served, None when unknown;
    precision_as_stated keeps the file's own words where they say more or something else. topology, disaggregated and
    group_width (accelerators of the largest model-parallel group) are known where the submitter published its
    configuration. power_w: measured at the wall by the benchmark's own method, whole system.
    """

    benchmark: str
    model: str
    scenario: Scenario
    metric: Metric
    value: float
    record: str
    accuracy_variants: tuple[str, ...] = ()
    precision: str | None = None
    precision_as_stated: str = ""
    latency: Latency | None = None
    topology: str = ""
    disaggregated: bool | None = None
    group_width: int | None = None
    power_w: float | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Evidence(Entry):
    """One system in one source: who ran it, on how much of what, and the results.

    accelerator: id of the accelerator entry, None for mixed silicon or hardware without an entry. facts: what the
    system description says about the hardware, in its own words.
    """

    source: str
    round: str = ""
    submitter: str
    system_name: str
    platform: str = ""
    accelerator: str | None = None
    accelerator_as_stated: str = ""
    system: str | None = None
    scale: Scale
    availability: Literal["available", "preview", "rdi"] = "available"
    division: Literal["closed", "open"] = "closed"
    software: str = ""
    grade: Grade
    results: tuple[Result, ...]
    facts: dict[str, str] = field(default_factory=dict)
    note: str = ""
