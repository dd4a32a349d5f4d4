"""The evidence that a verdict rests on, the heaviest first; what other systems or warnings cite is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import text
from advisor.records import Candidate, Citation, Recommendation

_PAIRS = 3
"""Pairs whose ratio is compared; the others confirm them."""


def weighty(kb: KnowledgeBase, answer: Recommendation) -> tuple[Citation, ...]:
    """The citations behind the rates of the best node and rack and behind their comparison, in this order.

    The side of the verdict comes first. Figures of other models are left out, unless a compared pair is of one.
    """
    known = {citation.id: citation for citation in answer.evidence}
    shown = _benchmarks(kb, answer)
    found = (known[i] for i in dict.fromkeys(_ids(answer)) if i in known)
    return tuple(
        replace(
            citation,
            figures=tuple(figure for figure in citation.figures if _benchmark(figure).startswith(shown)),
        )
        for citation in found
    )


def models_of_speed(kb: KnowledgeBase, answer: Recommendation) -> tuple[str, ...]:
    """Ids of the calibrations that the best systems' rates come from."""
    ids = (i for candidate in _best(answer) for i in _evidence(candidate))
    return tuple(dict.fromkeys(i for i in ids if i not in kb.evidence))


def _ids(answer: Recommendation) -> Iterator[str]:
    best = _best(answer)
    for candidate in best:
        yield from _evidence(candidate)
    if len(best) < 2:
        return
    comparison = answer.comparison
    if comparison.rack_over_node is not None:
        yield from comparison.rack_over_node.evidence
    for pair in comparison.pairs[:_PAIRS]:
        yield from (pair.small.evidence, pair.large.evidence)
    for effect in (comparison.silicon_effect, comparison.scale_effect):
        yield from effect.evidence if effect is not None else ()


def _best(answer: Recommendation) -> list[Candidate]:
    order = (
        (answer.best_rack, answer.best_node)
        if answer.verdict == "rack"
        else (answer.best_node, answer.best_rack)
    )
    by_id = {candidate.system: candidate for candidate in answer.candidates}
    return [by_id[system] for system in order if system in by_id]


def _evidence(candidate: Candidate) -> tuple[str, ...]:
    rate = candidate.throughput_per_accelerator
    return rate.evidence if rate is not None else ()


def _benchmarks(kb: KnowledgeBase, answer: Recommendation) -> tuple[str, ...]:
    """Names of the benchmarks of the asked model and of the compared pairs."""
    model = text(answer.requirement, "model")
    names = {
        r.benchmark
        for i in _ids(answer)
        if i in kb.evidence
        for r in kb.evidence[i].results
        if r.model == model
    }
    return tuple(names | {pair.benchmark for pair in answer.comparison.pairs[:_PAIRS]})


def _benchmark(figure: str) -> str:
    return figure.partition(":")[0]
