"""Pieces of an answer as short strings, shared by the text, Markdown and HTML views."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.trace import show_fact
from advisor.records import Candidate, Estimate, FactValue, Pair, Recommendation
from advisor.units import format_bytes, format_count, format_ms, format_ratio

VERDICT_WORDS = {
    "node": "8-GPU nodes",
    "rack": "a 72-GPU rack",
    "either": "either: a tie",
    "none": "neither: nothing on offer meets this",
}
DERIVED_NOTE = "derived, not verified by MLCommons Association"


def estimate(value: Estimate | None) -> str:
    """`15,779 (14,900–16,600) tokens/s, audited`; a dash when there is none."""
    if value is None:
        return "–"
    span = "" if value.low == value.high else f" ({format_count(value.low)}–{format_count(value.high)})"
    return f"{format_count(value.value)}{span} {value.unit}, {value.basis}"


def fact_value(kb: KnowledgeBase, name: str, value: FactValue) -> str:
    """The value of a fact with its unit, or its range; choices as they are typed."""
    if value.value is None and value.low is None and value.high is None:
        return "not stated"
    if isinstance(value.value, str) and value.value not in kb.entries:
        return value.value
    return show_fact(kb, name, value)


def fact_label(kb: KnowledgeBase, name: str) -> str:
    """What a fact is called."""
    fact = kb.facts.get(name)
    return fact.title if fact else name.replace("_", " ")


def origin_words(value: FactValue) -> str:
    """`said`, or `assumed: why`."""
    return f"{value.origin}: {value.text}" if value.text else value.origin


def memory_rows(candidate: Candidate) -> Iterable[tuple[str, str]]:
    """The memory arithmetic of one candidate, per accelerator."""
    memory = candidate.memory
    if memory is None:
        return
    yield "visible HBM", format_bytes(memory.hbm_bytes)
    yield "weights", format_bytes(memory.weights_bytes)
    yield "KV for the asked load", format_bytes(memory.kv_bytes_needed)
    yield "reserve, activations included", format_bytes(memory.reserve_bytes)
    yield "left" if memory.headroom_bytes >= 0 else "short by", format_bytes(abs(memory.headroom_bytes))
    yield "KV per token", format_bytes(memory.kv_bytes_per_token)
    yield (
        "KV room of a replica",
        f"{format_count(memory.kv_capacity_tokens)} tokens, {memory.max_sequences:,} sequences",
    )


def layout_words(candidate: Candidate) -> str:
    """`TP8 · 9 replicas a system`, of a feasible candidate."""
    layout = candidate.layout
    assert layout is not None
    parts = [f"TP{layout.tp}"]
    parts += [f"PP{layout.pp}"] if layout.pp > 1 else []
    parts += [f"EP{layout.ep}"] if layout.ep > 1 else []
    parts += [f"DP{layout.dp}"] if layout.dp > 1 else []
    noun = "replica" if layout.replicas == 1 else "replicas"
    return f"{' '.join(parts)} · {layout.replicas} {noun} a system"


def gpus(count: int) -> str:
    """`1 GPU`, `8 GPUs`."""
    return f"{count} GPU{'' if count == 1 else 's'}"


def fleet_words(candidate: Candidate) -> str:
    """`2 replicas × 8 GPUs on 2 nodes: 16 installed, 0 idle`, of a feasible candidate."""
    fleet, layout = candidate.fleet, candidate.layout
    assert fleet is not None
    assert layout is not None
    noun = "replica" if fleet.replicas == 1 else "replicas"
    unit = candidate.unit if fleet.systems == 1 else f"{candidate.unit}s"
    spare = f", {fleet.spare_systems} of them spare" if fleet.spare_systems else ""
    return (
        f"{fleet.replicas} {noun} × {gpus(layout.accelerators)} on {fleet.systems} {unit}{spare}: "
        f"{fleet.accelerators_installed} installed, {fleet.accelerators_idle} idle"
    )


def pair_words(pair: Pair) -> str:
    """One comparable pair with its arithmetic."""
    unit = pair.metric.replace("_per_s", "/s")
    small, large = pair.small, pair.large
    tie = ", inside the noise: a tie" if pair.tie else ""
    return (
        f"{pair.round} {pair.benchmark} {pair.scenario}: {small.submitter} x{small.accelerators} "
        f"{small.value:,.10g}/{small.accelerators} = {format_count(small.per_accelerator)} → {large.submitter} "
        f"x{large.accelerators} {large.value:,.10g}/{large.accelerators} = {format_count(large.per_accelerator)} {unit} "
        f"per accelerator: {format_ratio(pair.ratio)} (grade {pair.grade}{tie})"
    )


def latency_words(candidate: Candidate) -> str:
    """TTFT and TPOT of one candidate."""
    latency = candidate.latency
    if latency is None:
        return "not estimated"
    parts = []
    if latency.ttft_ms is not None:
        parts.append(f"TTFT {format_ms(latency.ttft_ms.value)} ({latency.ttft_ms.basis})")
    if latency.tpot_ms is not None:
        parts.append(f"TPOT {format_ms(latency.tpot_ms.value)} ({latency.tpot_ms.basis})")
    return ", ".join(parts) or "not estimated"


def feasible_first(answer: Recommendation) -> list[Candidate]:
    """Candidates in the order a reader wants: the two compared, the other feasible ones, then those excluded."""
    best = (answer.best_node, answer.best_rack)
    return sorted(
        answer.candidates,
        key=lambda c: (best.index(c.system) if c.system in best else 2, not c.feasible, c.system),
    )
