"""What an audited benchmark asks of a server: lengths and limits, from the evidence and from what its rules publish."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from advisor.knowledge import KnowledgeBase
from advisor.records import Scenario

WORKLOADS = "calibration/benchmark-workloads"
"""Entry with the published lengths."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """Lengths in tokens and limits in ms. context_tokens: mean context while decoding beyond the prompt."""

    benchmark: str
    max_input_tokens: float
    output_tokens: float
    answer_context_tokens: float
    tpot_ms: Mapping[str, float]


def benchmark_loads(kb: KnowledgeBase) -> Mapping[str, Load]:
    """Model id -> load of its benchmark, for benchmarks whose prompts' longest length is published and that count tokens."""
    if "benchmark loads" not in kb.memo:
        kb.memo["benchmark loads"] = _read(kb)
    loads: Mapping[str, Load] = kb.memo["benchmark loads"]
    return loads


def prompt_tokens(kb: KnowledgeBase, model_id: str) -> int | None:
    """Mean prompt of a model's benchmark as the fit of audited rates takes it: a share of the longest, which alone is published."""
    load = benchmark_loads(kb).get(model_id)
    fitted = kb.calibrations.get("calibration/audited")
    share = fitted.terms.get("prompt_share") if fitted is not None else None
    return round(load.max_input_tokens * share) if load is not None and share else None


def mean_of_tail(kb: KnowledgeBase) -> float:
    """Median TPOT over its 99th percentile, median over the audited runs under a limit whose logs are known; 1 without any."""
    ratios = [
        result.latency.tpot_p50_ms / result.latency.tpot_p99_ms
        for entry in kb.evidence.values()
        for result in entry.results
        if result.scenario != "offline" and result.latency and result.latency.tpot_p50_ms and result.latency.tpot_p99_ms
    ]  # fmt: skip
    return median(ratios) if ratios else 1.0


def _read(kb: KnowledgeBase) -> dict[str, Load]:
    workloads = kb.calibrations.get(WORKLOADS)
    longest = workloads.data.get("max_input_tokens", {}) if workloads is not None else {}
    spread = workloads.data.get("output_tokens_deviation", {}) if workloads is not None else {}
    outputs: dict[str, list[float]] = defaultdict(list)
    limits: dict[tuple[str, Scenario], list[float]] = defaultdict(list)
    models: dict[str, str] = {}
    for entry in kb.evidence.values():
        for result in entry.results:
            if result.benchmark not in longest or result.metric != "tokens_per_s":
                continue
            models.setdefault(result.benchmark, result.model)
            if result.latency is None:
                continue
            if result.latency.samples_per_s:
                outputs[result.benchmark].append(result.value / result.latency.samples_per_s)
            if result.latency.tpot_limit_ms and result.scenario != "offline":
                limits[result.benchmark, result.scenario].append(result.latency.tpot_limit_ms)
    found: dict[str, Load] = {}
    for benchmark, model in sorted(models.items()):
        if not outputs[benchmark]:
            continue
        mean = median(outputs[benchmark])
        second = math.hypot(mean, float(spread.get(benchmark, 0.0)))
        found[model] = Load(
            benchmark=benchmark, max_input_tokens=float(longest[benchmark]), output_tokens=mean,
            answer_context_tokens=second * second / mean / 2,
            tpot_ms={s: min(values) for (name, s), values in limits.items() if name == benchmark},
        )  # fmt: skip
    return found
