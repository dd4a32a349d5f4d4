"""What differs between the two sides of a comparison beside their scale, in words."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.evidence.figures import Figure, altered

SLACK = 0.2
"""Share of its latency limit that a run may leave unused before its rate says little about the limit."""

_LENGTH_TOLERANCE = 0.02
_TEXT = 60


def software_key(software: str) -> str:
    """Software stacks as compared: case, spaces and the order of the parts do not matter."""
    return ",".join(sorted(" ".join(part.split()).casefold() for part in software.split(",")))


def limit_use(figure: Figure) -> dict[str, float]:
    """Share of each latency limit that the run's p99 used, by `TTFT`, `TPOT`, `end-to-end`; empty when not known."""
    latency = figure.result.latency
    if latency is None:
        return {}
    pairs = {
        "TTFT": (latency.ttft_p99_ms, latency.ttft_limit_ms),
        "TPOT": (latency.tpot_p99_ms, latency.tpot_limit_ms),
        "end-to-end": (latency.e2e_p99_ms, latency.e2e_limit_ms),
    }
    return {name: p99 / limit for name, (p99, limit) in pairs.items() if p99 is not None and limit}


def confounders(small: Figure, large: Figure) -> tuple[str, ...]:
    """All known differences, most telling first; `small` is named before `large`."""
    return tuple(_confounders(small, large))


def _confounders(small: Figure, large: Figure) -> Iterator[str]:
    a, b = small.entry, large.entry
    if small.submitter != large.submitter:
        yield f"submitter: {a.submitter} against {b.submitter}"
    if software_key(a.software) != software_key(b.software):
        yield f"software: {_cut(a.software)} against {_cut(b.software)}"
    if small.result.precision != large.result.precision or small.result.precision is None:
        yield f"precision: {small.result.precision or 'not known'} against {large.result.precision or 'not known'}"
    if (
        not set(small.result.accuracy_variants) & set(large.result.accuracy_variants)
        and small.result.accuracy_variants
    ):
        yield f"accuracy: {small.benchmark} against {large.benchmark}"
    yield from _layout(small, large)
    if a.availability != b.availability:
        yield f"availability: {a.availability} against {b.availability}"
    for figure in (small, large):
        if altered(figure.entry):
            yield f"hardware: {figure.entry.submitter} ran {altered(figure.entry)}"
    yield from _slack(small, large)
    yield from _output_length(small, large)


def _layout(small: Figure, large: Figure) -> Iterator[str]:
    a, b = small.result, large.result
    known = {True: "disaggregated", False: "not disaggregated", None: "not known"}
    if a.disaggregated != b.disaggregated or (a.disaggregated is None and a.scenario == "interactive"):
        yield f"disaggregation: {known[a.disaggregated]} against {known[b.disaggregated]}"
    if ("speculative" in a.topology) != ("speculative" in b.topology):
        yield "speculative decoding: on one side only, as far as is known"
    if a.group_width and b.group_width and a.group_width != b.group_width:
        yield f"group width: {a.group_width} against {b.group_width} accelerators"
    for result, figure in ((a, small), (b, large)):
        if "recipe" in result.topology:
            yield f"recipe: {figure.entry.submitter} {figure.accelerators} ran {result.topology}"


def _slack(small: Figure, large: Figure) -> Iterator[str]:
    if small.result.scenario == "offline":
        return
    uses = [limit_use(small), limit_use(large)]
    if not all(uses):
        yield "SLA slack: not known, no run log" if not any(uses) else "SLA slack: known on one side only"
    if any(use and max(use.values()) < 1 - SLACK for use in uses):
        yield "SLA slack: p99 used " + " against ".join(_used(use) for use in uses) + " of the limit"


def _used(use: dict[str, float]) -> str:
    return ", ".join(f"{name} {share:.0%}" for name, share in use.items()) or "an unknown part"


def _output_length(small: Figure, large: Figure) -> Iterator[str]:
    lengths = []
    for figure in (small, large):
        samples = figure.result.latency.samples_per_s if figure.result.latency else None
        if not samples or figure.result.metric != "tokens_per_s":
            return
        lengths.append(figure.result.value / samples)
    if abs(lengths[0] - lengths[1]) > _LENGTH_TOLERANCE * min(lengths):
        yield f"output length: {lengths[0]:,.0f} against {lengths[1]:,.0f} tokens per sample"


def _cut(text: str) -> str:
    return (text if len(text) <= _TEXT else text[: _TEXT - 1].rstrip() + "…") or "not stated"
