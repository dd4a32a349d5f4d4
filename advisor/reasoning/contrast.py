"""Why one and not the other: the first facts where the proof of the verdict and the proof of its rival part."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import compile_condition, values_of
from advisor.reasoning.explanations import Contrast, Parting
from advisor.reasoning.proof import ProofBuilder
from advisor.reasoning.trace import describe_condition, show_fact
from advisor.records import Condition, Effect, Facts, Recommendation, Rule


def contrast(kb: KnowledgeBase, answer: Recommendation, rival: str) -> Contrast:
    """Why the verdict is not `rival` (`node`, `rack`, `either` or `none`)."""
    builder = ProofBuilder(kb, answer)
    facts = builder.facts()
    deciding = [kb.rules[rule_id] for rule_id in answer.decided_by if rule_id in kb.rules]
    floor = max((_rank(rule, answer.verdict) for rule in deciding), default=(False, -1000))
    fired = {step.rule for step in answer.trace if step.fired}
    weights: dict[str, float] = {}
    spoke: list[str] = []
    missing: list[Rule] = []
    for rule in kb.rules.values():
        for effect in _conclusions(rule):
            if _rank(rule, effect.target) < floor:
                continue
            if rule.id in fired:
                weights[effect.target] = weights.get(effect.target, 0.0) + rule.strength
                if effect.target == rival:
                    spoke.append(rule.id)
            elif effect.target == rival:
                missing.append(rule)
    partings = [part for rule in missing for part in _partings(kb, rule, facts)]
    partings.sort(
        key=lambda p: (-kb.rules[p.rule].precedence, _failing_count(kb.rules[p.rule], facts), p.rule)
    )
    if any(parting.fact == f"{rival}_feasible" for parting in partings):
        partings = [*_exclusions(kb, answer, rival), *(p for p in partings if p.fact == f"{rival}_feasible")]
    return Contrast(
        chosen=answer.verdict,
        rival=rival,
        partings=_distinct(partings),
        weights=weights,
        spoke_for_rival=tuple(builder.rule(rule_id) for rule_id in spoke),
    )


def failing_parts(condition: Condition, facts: Facts) -> Iterator[Condition]:
    """The comparisons that keep a condition from holding; of `none` the parts that hold, wrapped again."""
    values = values_of(facts)
    if compile_condition(condition)(values):
        return
    if condition.all is not None:
        for part in condition.all:
            yield from failing_parts(part, facts)
    elif condition.none is not None:
        for part in condition.none:
            if compile_condition(part)(values):
                yield Condition(none=(part,))
    else:
        yield condition


def _conclusions(rule: Rule) -> Iterator[Effect]:
    return (effect for effect in rule.then if effect.kind in ("favour", "require"))


def _rank(rule: Rule, target: str) -> tuple[bool, int]:
    """How a rule's conclusion for a verdict ranks: `require` before `favour`, then precedence."""
    return any(e.kind == "require" and e.target == target for e in rule.then), rule.precedence


def _failing_count(rule: Rule, facts: Facts) -> int:
    return sum(1 for _ in failing_parts(rule.when, facts))


def _partings(kb: KnowledgeBase, rule: Rule, facts: Facts, subject: str = "") -> Iterator[Parting]:
    for part in failing_parts(rule.when, facts):
        name = part.facts()[0]
        yield Parting(
            fact=name,
            actual=show_fact(kb, name, facts.get(name)),
            needed=describe_condition(part),
            rule=rule.id,
            subject=subject,
            reason=rule.title,
        )


def _exclusions(kb: KnowledgeBase, answer: Recommendation, unit: str) -> Iterator[Parting]:
    """For each excluded candidate of a kind, the facts its excluding rules read and what would pass."""
    builder = ProofBuilder(kb, answer)
    for candidate in answer.candidates:
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
                        needed=exclusion.nearest or f"not ({describe_condition(rule.when)})",
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
