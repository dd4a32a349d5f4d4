"""The evidence that a verdict rests on, the heaviest first; what other systems or warnings cite is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import text
from advisor.records import Candidate, Citation, Recommendation

_PAIRS = 3
"""Pairs whose ratio is compared; the others confirm them."""


def weighty(kb: KnowledgeBase, answer: Recommendation) -> tuple[Citation, ...]:
    """The citations behind the rates of the best node and rack and behind their comparison, in this order.

    Runs with a figure in the comparison weigh most; among equals the side of the verdict comes first. Figures of other
    models and scenarios are left out where there are some of the asked ones.
    """
    known = {citation.id: citation for citation in answer.evidence}
    benchmarks, scenario = _benchmarks(kb, answer), text(answer.requirement, "workload")
    found = (known[i] for i in dict.fromkeys(_ids(answer)) if i in known)
    weighed = [
        replace(citation, figures=_of_the_case(citation.figures, benchmarks, scenario)) for citation in found
    ]
    return tuple(sorted(weighed, key=lambda citation: not citation.figures))


def _of_the_case(figures: Iterable[str], benchmarks: tuple[str, ...], scenario: str) -> tuple[str, ...]:
    """The figures of these benchmarks, in the asked scenario if there is one."""
    own = [figure for figure in figures if figure.startswith(benchmarks)]
    asked = [figure for figure in own if figure.partition(":")[0].endswith(f" {scenario}")] or own
    once = {figure.partition(":")[2]: figure for figure in reversed(asked)}
    return tuple(reversed(once.values()))


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
