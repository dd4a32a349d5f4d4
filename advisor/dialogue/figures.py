"""Figures that somebody names: where one of the answer's comes from, and a claimed factor held against what is known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from advisor.evidence.figures import round_key
from advisor.evidence.pairs import find_pairs
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import text as value_of
from advisor.reasoning.summary import cost_words
from advisor.reasoning.weight import weighty
from advisor.records import Candidate, Pair, Recommendation
from advisor.units import format_count, format_ratio
from advisor.visible import inert

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_FACTOR = re.compile(_NUMBER.pattern + r"(?=[\s-]?(?:x|×|times|fold)(?!\w))", re.IGNORECASE)
_RUNS = 4
_MIXED_METHODS = "gotchas/bench-interactive-ratio-mixes-method"


def origin(kb: KnowledgeBase, answer: Recommendation, text: str) -> str:
    """The arithmetic in which a figure named in the text stands, and the runs it starts from; empty when none is found."""
    wanted = {_plain(match[0]) for match in _NUMBER.finditer(text)}
    lines: list[str] = []
    for candidate in _in_order(answer):
        rate = candidate.throughput_per_accelerator
        figures = {_plain(m[0]) for step in candidate.arithmetic for m in _NUMBER.finditer(step)}
        if rate is not None:
            figures |= {_plain(format_count(value)) for value in (rate.value, rate.low, rate.high)}
        if not wanted & figures:
            continue
        lines = [
            f"{inert(candidate.title)}, step by step:",
            *(f"- {inert(step)}" for step in candidate.arithmetic),
        ]
        lines += _runs(kb, answer, candidate)
        break
    if not lines and wanted & {_plain(m[0]) for m in _NUMBER.finditer(cost_words(answer.comparison))}:
        lines = list(_cost(answer))
    return "\n".join(lines)


def _plain(digits: str) -> str:
    return digits.replace(",", "").rstrip(".")


def _in_order(answer: Recommendation) -> Sequence[Candidate]:
    best = (answer.best_node, answer.best_rack)
    return sorted((c for c in answer.candidates if c.feasible), key=lambda c: c.system not in best)


def _runs(kb: KnowledgeBase, answer: Recommendation, candidate: Candidate) -> Iterator[str]:
    rate = candidate.throughput_per_accelerator
    behind = frozenset(rate.evidence) if rate is not None else frozenset()
    own = [citation for citation in weighty(kb, answer) if citation.id in behind]
    for citation in own[:_RUNS]:
        yield f"- from `{citation.id}`" + "".join(f"\n  - {inert(figure)}" for figure in citation.figures)
    if len(own) > _RUNS:
        yield f"- and {len(own) - _RUNS} more runs; `show me the evidence` lists them"
    fits = sorted(i for i in behind if i not in kb.evidence)
    if fits:
        yield "- from the model of speed: " + ", ".join(f"`{i}`" for i in fits)


def _cost(answer: Recommendation) -> Iterator[str]:
    compared = answer.comparison
    yield f"{inert(cost_words(compared))}:"
    fleets = [c.fleet for c in answer.candidates if c.system in (answer.best_node, answer.best_rack)]
    if compared.break_even_premium is not None and all(fleets):
        counts = {c.unit: c.fleet.accelerators_installed for c in _in_order(answer) if c.fleet and c.system in (answer.best_node, answer.best_rack)}  # fmt: skip
        if len(counts) == 2:
            yield f"- {counts['rack']:,} accelerators in racks over {counts['node']:,} in nodes, times the price of one in a rack over one in a node"
    yield "- with the doubt: both rates at opposite ends of what is known of them, whole units counted again"


def claim(kb: KnowledgeBase, answer: Recommendation, text: str) -> str:
    """A claimed factor of the rack over the node beside the factor of this case and those of audited pairs."""
    found = _FACTOR.search(text) or next(reversed([*_NUMBER.finditer(text)]), None)
    claimed = float(_plain(found[0])) if found else None
    said = f"A factor of {format_count(claimed)}" if claimed else "The factor"
    ratio = answer.comparison.rack_over_node
    lines = [f"{said} for the rack, per accelerator, held against what is known here:"]
    if ratio is not None:
        inside = claimed is None or ratio.low <= claimed <= ratio.high
        lines.append(
            f"- this case: {format_ratio(ratio.value)} ({format_ratio(ratio.low)} to {format_ratio(ratio.high)}), {ratio.basis}"
            + ("" if inside else "; the claim lies outside")
        )
    pairs = find_pairs(kb, model=value_of(answer.requirement, "model"), kind="node-rack")
    lines += [f"- {line}" for line in _by_scenario(pairs)] or [
        "- no audited pair of a node and a rack ran this model"
    ]
    if claimed is not None and pairs and claimed > max(pair.ratio for pair in pairs):
        lines.append("- no audited pair of this model comes near it")
    lines.append(
        "\nAsk what stands on the other side: another generation or precision, one speed per user, a whole rack against one node, "
        f"or prefill and decode in separate pools on one side alone (`{_MIXED_METHODS}`)."
    )
    return "\n".join(lines)


def _by_scenario(pairs: Sequence[Pair]) -> Iterator[str]:
    """Lowest and highest ratio of the newest round of each scenario, the best grade's alone where there are several."""
    for scenario in dict.fromkeys(pair.scenario for pair in pairs):
        own = [pair for pair in pairs if pair.scenario == scenario]
        newest = max((pair.round for pair in own), key=round_key)
        grade = min(pair.grade for pair in own if pair.round == newest)
        ranked = sorted((p for p in own if (p.round, p.grade) == (newest, grade)), key=lambda p: p.ratio)
        low, high = ranked[0], ranked[-1]
        who = "one submitter on both sides" if grade in "AB" else "different submitters"
        span = (
            format_ratio(low.ratio)
            if low is high
            else f"{format_ratio(low.ratio)} to {format_ratio(high.ratio)}"
        )
        yield f"audited {inert(high.benchmark)} {scenario} {newest}: {span}, {who} (grade {grade}); `{high.large.evidence}`"
