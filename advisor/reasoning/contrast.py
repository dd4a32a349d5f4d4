"""Why one and not the other: the first facts where the proof of the verdict and the proof of its rival part."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import values_of
from advisor.reasoning.explanations import Contrast, Parting
from advisor.reasoning.proof import ProofBuilder
from advisor.reasoning.support import conclusions, deciding_rank, failing_parts, rank_of
from advisor.reasoning.trace import condition_in_words, show_fact
from advisor.records import Condition, Facts, Recommendation, Rule


def contrast(kb: KnowledgeBase, answer: Recommendation, rival: str) -> Contrast:
    """Why the verdict is not `rival` (`node`, `rack`, `either` or `none`)."""
    builder = ProofBuilder(kb, answer)
    facts = builder.facts()
    floor = deciding_rank(kb, answer.decided_by) or (False, -1000)
    fired = {step.rule for step in answer.trace if step.fired}
    weights: dict[str, float] = {}
    spoke: list[str] = []
    missing: list[Rule] = []
    for rule in kb.rules.values():
        for effect in conclusions(rule):
            if rank_of(rule, effect) < floor:
                continue
            if rule.id in fired:
                weights[effect.target] = weights.get(effect.target, 0.0) + rule.strength
                if effect.target == rival:
                    spoke.append(rule.id)
            elif effect.target == rival:
                missing.append(rule)
    missing.sort(key=lambda rule: _nearness(rule, rival, facts))
    partings = [part for rule in missing for part in _partings(kb, rule, facts)]
    feasible = f"{rival}_feasible"
    if any(parting.fact == feasible for parting in partings):
        partings = [*_exclusions(kb, builder, rival), *(p for p in partings if p.fact == feasible)]
    return Contrast(
        chosen=answer.verdict,
        rival=rival,
        partings=_distinct(partings),
        weights=weights,
        spoke_for_rival=tuple(builder.rule(rule_id) for rule_id in spoke),
    )


def _nearness(rule: Rule, rival: str, facts: Facts) -> tuple[bool, int, int, str]:
    """Order of the rival's rules: those that outrank or weigh against the verdict before those that leave no choice."""
    required, precedence = max(rank_of(rule, e) for e in conclusions(rule) if e.target == rival)
    return required, -precedence, sum(1 for _ in failing_parts(rule.when, values_of(facts))), rule.id


def _partings(kb: KnowledgeBase, rule: Rule, facts: Facts, subject: str = "") -> Iterator[Parting]:
    for part in failing_parts(rule.when, values_of(facts)):
        name = part.facts()[0]
        yield Parting(
            fact=name,
            actual=show_fact(kb, name, facts.get(name)),
            needed=condition_in_words(kb, part, about=name),
            rule=rule.id,
            subject=subject,
            reason=rule.title,
        )


def _exclusions(kb: KnowledgeBase, builder: ProofBuilder, unit: str) -> Iterator[Parting]:
    """For each excluded candidate of a kind, the facts its excluding rules read and what would pass."""
    for candidate in builder.answer.candidates:
        if candidate.unit != unit:
            continue
        facts = builder.facts(candidate.system)
        for exclusion in candidate.exclusions:
            rule = kb.rules.get(exclusion.constraint)
            for name in rule.when.facts() if rule is not None else ():
                if rule is not None and name in facts:
                    yield Parting(
                        fact=name,
                        actual=show_fact(kb, name, facts[name]),
                        needed=exclusion.nearest or condition_in_words(kb, Condition(none=(rule.when,))),
                        rule=rule.id,
                        subject=candidate.system,
                        reason=exclusion.text,
                    )


def _distinct(partings: list[Parting]) -> tuple[Parting, ...]:
    """Each fact and need once; a fact of the requirement once over all candidates."""
    kept: dict[tuple[str, str, str], Parting] = {}
    for parting in partings:
        kept.setdefault((parting.fact, parting.needed, parting.actual), parting)
    return tuple(kept.values())
