"""Explanations of an answer as plain structures: why, why not, how sure, what if, what would change it, on what ground."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.contrast import contrast
from advisor.reasoning.explanation_text import render
from advisor.reasoning.explanations import (
    Assumption,
    CandidateChange,
    Contrast,
    Difference,
    FactChange,
    Ground,
    HowSure,
    Lowered,
    Parting,
    WhatWouldChange,
    WhyNot,
)
from advisor.reasoning.proof import Proof, ProofBuilder
from advisor.reasoning.requirement import check_value
from advisor.reasoning.trace import condition_in_words, show_fact
from advisor.records import Candidate, Facts, FactValue, Level, Recommendation, Scalar

_LEVELS: tuple[Level, ...] = ("high", "medium", "low")


def why(kb: KnowledgeBase, answer: Recommendation) -> Proof:
    """The proof tree of the verdict, down to said facts, arithmetic and evidence."""
    return ProofBuilder(kb, answer).verdict()


def why_not(kb: KnowledgeBase, answer: Recommendation, target: str) -> WhyNot:
    """Why not `node`, `rack`, `either`, `none` or one system (its id)."""
    builder = ProofBuilder(kb, answer)
    if "/" in target:
        return _why_not_system(builder, answer, target)
    if target == answer.verdict:
        proof = builder.verdict()
        return WhyNot(
            target=target,
            chosen=answer.verdict,
            excluded=False,
            proofs=(proof,),
            note=f"the verdict is {target}",
        )
    own = [candidate for candidate in answer.candidates if candidate.unit == target]
    excluded = target in ("node", "rack") and not any(candidate.feasible for candidate in own)
    return WhyNot(
        target=target,
        chosen=answer.verdict,
        excluded=excluded,
        proofs=tuple(builder.candidate(candidate.system) for candidate in own) if excluded else (),
        contrast=contrast(kb, answer, target),
        note=f"no {target} was considered" if excluded and not own else "",
    )


def _why_not_system(builder: ProofBuilder, answer: Recommendation, system: str) -> WhyNot:
    found = next((candidate for candidate in answer.candidates if candidate.system == system), None)
    best = {answer.best_node, answer.best_rack}
    if found is None:
        note = f"{system} was not considered; the systems or the accelerator were restricted"
    elif not found.feasible:
        note = ""
    elif system in best and found.unit == answer.verdict:
        note = f"{found.title} is what the answer recommends"
    elif system in best:
        note = f"{found.title} is the best {found.unit}; the verdict is {answer.verdict}"
    else:
        rival = answer.best_node if found.unit == "node" else answer.best_rack
        other = next((candidate for candidate in answer.candidates if candidate.system == rival), None)
        note = (
            f"it meets the requirement with {_fleet(found)}; {other.title} was preferred with {_fleet(other)}"
            if other
            else ""
        )
    return WhyNot(
        target=system,
        chosen=answer.verdict,
        excluded=found is not None and not found.feasible,
        proofs=(builder.candidate(system),) if found else (),
        contrast=contrast(builder.kb, answer, found.unit)
        if found and found.feasible and system in best and found.unit != answer.verdict
        else None,
        note=note,
    )


def how_sure(kb: KnowledgeBase, answer: Recommendation) -> HowSure:
    """The confidence with each rule that lowered it and what would have to change for that rule not to hold."""
    builder = ProofBuilder(kb, answer)
    lowered = []
    for step in answer.trace:
        rule = kb.rules.get(step.rule)
        if rule is None or not step.fired:
            continue
        for effect in rule.then:
            if effect.kind == "forbid" and effect.target in _LEVELS:
                holds = condition_in_words(kb, rule.when).removeprefix("(").removesuffix(")")
                lowered.append(Lowered(level=effect.target, proof=builder.rule(rule.id), holds_while=holds))
    lowered.sort(key=lambda item: _LEVELS.index(item.level))
    return HowSure(level=answer.confidence.level, lowered=tuple(lowered))


def what_if(
    kb: KnowledgeBase,
    before: Recommendation,
    said: Facts,
    changes: Mapping[str, Scalar | None],
    recommend: Callable[..., Recommendation],
) -> Difference:
    """The difference that changed inputs make. A change to None takes an input back. `recommend` is the engine's.

    Raises InputError when a changed value cannot be used.
    """
    changed: Facts = dict(said)
    for name, value in changes.items():
        if value is None:
            changed.pop(name, None)
        else:
            changed[name] = FactValue(value=check_value(kb, name, value), origin="said", because="what if")
    return difference(kb, before, recommend(kb, changed, flips=False))


def difference(kb: KnowledgeBase, before: Recommendation, after: Recommendation) -> Difference:
    """Two answers compared: facts, systems and rules that differ."""
    names = dict.fromkeys((*before.requirement, *after.requirement))
    facts = tuple(
        FactChange(fact=name, title=kb.facts[name].title if name in kb.facts else name, before=old, after=new)
        for name in names
        if (old := show_fact(kb, name, before.requirement.get(name)))
        != (new := show_fact(kb, name, after.requirement.get(name)))
    )
    olds = {candidate.system: candidate for candidate in before.candidates}
    news = {candidate.system: candidate for candidate in after.candidates}
    candidates = tuple(
        CandidateChange(system=system, title=(news.get(system) or olds[system]).title, before=old, after=new)
        for system in dict.fromkeys((*olds, *news))
        if (old := _status(kb, olds.get(system))) != (new := _status(kb, news.get(system)))
    )
    spoke, speak = ({step.rule for step in answer.trace if step.fired} for answer in (before, after))
    return Difference(
        before=before,
        after=after,
        facts=facts,
        candidates=candidates,
        fired=tuple(sorted(speak - spoke)),
        unfired=tuple(sorted(spoke - speak)),
    )


def what_would_change(kb: KnowledgeBase, answer: Recommendation) -> WhatWouldChange:
    """The nearest change of each input that turns the verdict, and where the rivals' proofs part from it."""
    rivals = [side for side in ("node", "rack") if side != answer.verdict]
    return WhatWouldChange(
        flips=answer.flips, contrasts=tuple(contrast(kb, answer, rival) for rival in rivals)
    )


def assumptions(kb: KnowledgeBase, answer: Recommendation) -> tuple[Assumption, ...]:
    """Every input that was assumed, with why and how to say it instead."""
    found = []
    for name, value in answer.requirement.items():
        spec = kb.facts.get(name)
        if value.origin != "assumed" or spec is None or (value.value is None and value.low is None):
            continue
        found.append(
            Assumption(
                fact=name,
                title=spec.title,
                value=show_fact(kb, name, value),
                why=value.text,
                source=value.because,
                flag=spec.flag or f"--fact {name}=…",
            )
        )
    return tuple(found)


def ground(answer: Recommendation) -> Ground:
    """The evidence behind the answer."""
    return Ground(citations=answer.evidence, pairs=answer.comparison.pairs)


def explain_text(kb: KnowledgeBase, answer: Recommendation, what: str = "verdict") -> str:
    """An explanation as plain text: of the verdict, of `node` or `rack` (why, or why not), or of a system by its id."""
    if what == "verdict" or what == answer.verdict:
        return render(kb, why(kb, answer))
    return render(kb, why_not(kb, answer, what))


def _status(kb: KnowledgeBase, candidate: Candidate | None) -> str:
    """What became of a system: its fleet, or the rules that keep it out."""
    if candidate is None:
        return "not considered"
    if not candidate.feasible:
        rules = (kb.rules.get(exclusion.constraint) for exclusion in candidate.exclusions)
        texts = [
            rule.title if rule is not None else exclusion.text.rstrip(".")
            for rule, exclusion in zip(rules, candidate.exclusions, strict=True)
        ]
        return f"out ({'; '.join(texts) or 'no rate known'})"
    return _fleet(candidate)


def _fleet(candidate: Candidate) -> str:
    fleet = candidate.fleet
    if fleet is None:
        return "no fleet"
    units = candidate.unit if fleet.systems == 1 else f"{candidate.unit}s"
    return f"{fleet.systems} {units}, {fleet.accelerators_installed} accelerators, {fleet.accelerators_idle} idle"


__all__ = [
    "Assumption",
    "CandidateChange",
    "Contrast",
    "Difference",
    "FactChange",
    "Ground",
    "HowSure",
    "Lowered",
    "Parting",
    "Proof",
    "WhatWouldChange",
    "WhyNot",
    "assumptions",
    "contrast",
    "difference",
    "explain_text",
    "ground",
    "how_sure",
    "render",
    "what_if",
    "what_would_change",
    "why",
    "why_not",
]
