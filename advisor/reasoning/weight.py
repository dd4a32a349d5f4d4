"""The evidence that a verdict rests on, the heaviest first; what other systems or warnings cite is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import rated_scenarios, text
from advisor.records import Candidate, Citation, Recommendation

_PAIRS = 3
"""Pairs whose ratio is compared; the others confirm them."""


def weighty(kb: KnowledgeBase, answer: Recommendation) -> tuple[Citation, ...]:
    """The citations behind the rates of the best node and rack and behind their comparison, in this order.

    One run of each side weighs most, the side of the verdict first; then the compared pairs, then the other runs of both in
    turn. Figures of other models and scenarios are left out where there are some of the asked ones.
    """
    known = {citation.id: citation for citation in answer.evidence}
    benchmarks, scenarios = _benchmarks(kb, answer), rated_scenarios(answer.requirement)
    used = [known[i] for i in dict.fromkeys(_ids(answer)) if i in known]
    own = [[figure for figure in citation.figures if figure.startswith(benchmarks)] for citation in used]
    asked = [[figure for figure in figures if _scenario(figure) in scenarios] for figures in own]
    chosen = asked if any(asked) else own
    weighed = [
        replace(citation, figures=_once(figures)) for citation, figures in zip(used, chosen, strict=True)
    ]
    return tuple(sorted(weighed, key=lambda citation: not citation.figures))


def _scenario(figure: str) -> str:
    """The scenario in `llama2-70b offline: 109343 / 8 = …`."""
    return figure.partition(":")[0].rpartition(" ")[2]


def _once(figures: Iterable[str]) -> tuple[str, ...]:
    """Figures without those that repeat one under another name of the benchmark."""
    return tuple({figure.partition(":")[2]: figure for figure in reversed(list(figures))}.values())[::-1]


def models_of_speed(kb: KnowledgeBase, answer: Recommendation) -> tuple[str, ...]:
    """Ids of the calibrations that the best systems' rates come from."""
    ids = (i for candidate in _best(answer) for i in _evidence(candidate))
    return tuple(dict.fromkeys(i for i in ids if i not in kb.evidence))


def _ids(answer: Recommendation) -> Iterator[str]:
    best = _best(answer)
    runs = [i for row in zip_longest(*(_evidence(c) for c in best)) for i in row if i is not None]
    yield from runs[: len(best)]
    comparison = answer.comparison
    if len(best) > 1:
        for pair in comparison.pairs[:_PAIRS]:
            yield from (pair.small.evidence, pair.large.evidence)
        for effect in (comparison.silicon_effect, comparison.scale_effect):
            yield from effect.evidence if effect is not None else ()
    yield from runs
    if len(best) > 1 and comparison.rack_over_node is not None:
        yield from comparison.rack_over_node.evidence


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
