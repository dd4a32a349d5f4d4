"""Which evidence an answer cites, and for which figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.evidence.citation import cite
from advisor.evidence.figures import UNIT_NAMES
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.candidates import Sized
from advisor.reasoning.comparison import Compared
from advisor.reasoning.requirement import rated_scenarios, text
from advisor.records import Citation, Facts, RaisedGotcha, Result


def citations(
    kb: KnowledgeBase,
    facts: Facts,
    compared: Compared,
    sized: Sequence[Sized],
    gotchas: Sequence[RaisedGotcha],
) -> tuple[Citation, ...]:
    """Every evidence entry that a figure of the answer rests on: rates, pairs, and the claims of the gotchas raised.

    Those behind the best node's and rack's rates come first, with the results that the rates were taken from. Each figure
    per accelerator carries its arithmetic, in digits without separators so that it can be searched for. An entry without a
    figure is cited for its result on the asked model and scenario.
    """
    wanted: dict[str, dict[str, None]] = {}
    best = _rate_figures(kb, facts, compared)
    for entry_id, figure in (*best, *_pair_figures(compared), *_claim_figures(kb, gotchas)):
        wanted.setdefault(entry_id, {})[figure] = None
    for entry_id in _behind_rates(sized):
        wanted.setdefault(entry_id, {})
    model, scenarios = text(facts, "model"), rated_scenarios(facts)
    found: list[Citation] = []
    for entry_id, figures in wanted.items():
        entry = kb.evidence.get(entry_id)
        if entry is None:
            continue
        own = [result for result in entry.results if result.model == model]
        result = min(
            own,
            key=lambda r: (r.scenario not in scenarios, r.scenario != text(facts, "workload")),
            default=None,
        )
        found.append(cite(kb, entry_id, result, figures=tuple(figures)))
    return tuple(found)


def grounds(compared: Compared, sized: Sequence[Sized]) -> frozenset[str]:
    """Ids of the evidence that a verdict rests on: its pairs and the rates of what fits."""
    return frozenset((*_behind_rates(sized), *(entry_id for entry_id, _ in _pair_figures(compared))))


def _rate_figures(kb: KnowledgeBase, facts: Facts, compared: Compared) -> Iterator[tuple[str, str]]:
    """Results of the asked model that the rates of the best node and rack rest on."""
    model, scenarios = text(facts, "model"), rated_scenarios(facts)
    sides = [side for side in (compared.node, compared.rack) if side is not None]
    for entry_id in dict.fromkeys(_behind_rates(sides)):
        entry = kb.evidence.get(entry_id)
        if entry is None or entry.scale.accelerators <= 0:
            continue
        own = [result for result in entry.results if result.model == model]
        for scenario in scenarios:
            result = next((r for r in own if r.scenario == scenario), None)
            if result is not None:
                yield entry_id, _figure(
                    _named(result.benchmark, result), scenario, result.value, entry.scale.accelerators, UNIT_NAMES[result.metric]
                )  # fmt: skip


def _behind_rates(sized: Sequence[Sized]) -> Iterator[str]:
    for side in sized:
        rate = side.candidate.throughput_per_accelerator if side.candidate.feasible else None
        yield from rate.evidence if rate else ()


def _pair_figures(compared: Compared) -> Iterator[tuple[str, str]]:
    extra = (compared.silicon_pair, compared.scale_pair)
    for pair in (*compared.comparison.pairs, *(pair for pair in extra if pair is not None)):
        for half in (pair.small, pair.large):
            figure = _figure(
                pair.benchmark, pair.scenario, half.value, half.accelerators, UNIT_NAMES[pair.metric]
            )
            yield half.evidence, figure


def _claim_figures(kb: KnowledgeBase, gotchas: Sequence[RaisedGotcha]) -> Iterator[tuple[str, str]]:
    """Rates per accelerator behind the raised gotchas' claims about one run."""
    for raised in gotchas:
        for claim in kb.gotchas[raised.id].claims:
            divided = any(reference.endswith("#@accelerators") for reference in claim.inputs.values())
            for reference in claim.inputs.values():
                entry_id, _, run = reference.partition("#")
                entry = kb.evidence.get(entry_id)
                if not divided or entry is None or run.startswith("@") or entry.scale.accelerators <= 0:
                    continue
                name, _, scenario = run.rpartition("/")
                for result in entry.results:
                    if result.scenario == scenario and name.startswith(result.benchmark):
                        yield (
                            entry_id,
                            _figure(
                                name,
                                scenario,
                                result.value,
                                entry.scale.accelerators,
                                UNIT_NAMES[result.metric],
                            ),
                        )
                        break


def _named(name: str, result: Result) -> str:
    """The benchmark with its strictest accuracy variant, as pairs name it."""
    return f"{result.benchmark}-{result.accuracy_variants[-1]}" if result.accuracy_variants else name


def _figure(benchmark: str, scenario: str, total: float, accelerators: int, unit: str) -> str:
    per = total / accelerators
    digits = f"{per:.0f}" if per >= 100 else f"{per:.4g}"
    return f"{benchmark} {scenario}: {total:.10g} / {accelerators} = {digits} {unit} per accelerator"
