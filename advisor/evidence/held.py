"""What audited runs of a model were held to and how they ran: latency limits, output lengths, group widths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Literal

from advisor.knowledge import KnowledgeBase
from advisor.records import Evidence


def _closed(kb: KnowledgeBase) -> Iterator[Evidence]:
    """Entries of the closed division: open runs may have changed the model or missed the limits."""
    return (entry for entry in kb.evidence.values() if entry.division == "closed")


def audited_limits(
    kb: KnowledgeBase, of: Literal["tpot", "ttft"] = "tpot"
) -> Mapping[tuple[str, str], float]:
    """(model id, scenario) -> the tightest limit in ms that evidence in this knowledge base was held to."""
    name = ("audited_limits", of)
    if name not in kb.memo:
        found: dict[tuple[str, str], float] = {}
        for entry in _closed(kb):
            for result in entry.results:
                latency = result.latency
                limit = (
                    None
                    if latency is None
                    else latency.tpot_limit_ms
                    if of == "tpot"
                    else latency.ttft_limit_ms
                )
                if limit is not None:
                    key = (result.model, result.scenario)
                    found[key] = min(limit, found.get(key, limit))
        kb.memo[name] = found
    limits: Mapping[tuple[str, str], float] = kb.memo[name]
    return limits


def audited_output_tokens(kb: KnowledgeBase, model_id: str) -> int | None:
    """Mean output length of a model's audited runs: median over runs of tokens/s divided by samples/s, where logs tell."""
    key = ("audited_output", model_id)
    if key not in kb.memo:
        lengths = [
            result.value / result.latency.samples_per_s
            for entry in _closed(kb)
            for result in entry.results
            if result.model == model_id
            and result.metric == "tokens_per_s"
            and result.latency is not None
            and result.latency.samples_per_s
        ]
        kb.memo[key] = round(median(lengths)) if lengths else None
    found: int | None = kb.memo[key]
    return found


def group_width(kb: KnowledgeBase, model_id: str, scenario: str, accelerator_id: str) -> int:
    """Widest model-parallel group that a published run of this model, scenario and silicon used; 0 when none is known."""
    if "group_widths" not in kb.memo:
        widths: dict[tuple[str, str, str], int] = {}
        for entry in _closed(kb):
            for result in entry.results:
                key = (result.model, result.scenario, entry.accelerator or "")
                widths[key] = max(widths.get(key, 0), result.group_width or 0)
        kb.memo["group_widths"] = widths
    known: Mapping[tuple[str, str, str], int] = kb.memo["group_widths"]
    return known.get((model_id, scenario, accelerator_id), 0)


def has_results(kb: KnowledgeBase, accelerator_id: str) -> bool:
    """Whether any result on this silicon is in the knowledge base."""
    if "accelerators_with_results" not in kb.memo:
        kb.memo["accelerators_with_results"] = {entry.accelerator for entry in kb.evidence.values()}
    known: set[str | None] = kb.memo["accelerators_with_results"]
    return accelerator_id in known
