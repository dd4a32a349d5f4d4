"""Checks over regions: rules that can never fire, that add nothing to another, that contradict, and gaps between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.engine import scope_of
from advisor.reasoning.problem import RuleProblem, Where
from advisor.reasoning.support import conclusions, failing_parts
from advisor.reasoning.trace import describe_condition, describe_effect
from advisor.reasoning.verify_region import (
    LIMIT,
    Point,
    SearchTooLargeError,
    describe_point,
    domains_for,
    find_point,
    variables,
)
from advisor.records import Condition, Effect, Rule, Scope

_OPPOSED = {
    ("node", "rack"),
    ("rack", "node"),
    ("none", "node"),
    ("none", "rack"),
    ("node", "none"),
    ("rack", "none"),
}


@dataclass(frozen=True)
class _Region:
    """A rule with what the checks ask of it again and again."""

    rule: Rule
    scope: Scope
    names: frozenset[str]


def check_regions(kb: KnowledgeBase, sound: Sequence[Rule]) -> Iterator[RuleProblem]:
    """Problems of the regions that rules cover. `sound`: the rules whose facts and values exist."""
    regions: list[_Region] = []
    for rule in sound:
        scope = scope_of(kb, rule)
        if _meet(kb, scope, (rule.when, True)) is None:
            yield _never_fires(kb, rule.id, rule.when, scope, ("when",))
        else:
            regions.append(_Region(rule, scope, frozenset(variables(rule.when))))
    redundant: set[str] = set()
    for problem in _subsumed(kb, regions):
        redundant.add(problem.entry_id)
        yield problem
    yield from _contradictions(kb, [region for region in regions if region.rule.id not in redundant])
    yield from _gaps(kb, [region.rule for region in regions])


def check_gotcha_regions(kb: KnowledgeBase, unsound: set[str]) -> Iterator[RuleProblem]:
    """Gotchas whose condition nothing can satisfy. They may read facts of every scope."""
    for gotcha in kb.gotchas.values():
        if gotcha.applies_when is None or gotcha.id in unsound:
            continue
        scopes: tuple[Scope, ...] = ("candidate", "comparison")
        if all(_meet(kb, scope, (gotcha.applies_when, True)) is None for scope in scopes):
            yield _never_fires(kb, gotcha.id, gotcha.applies_when, "comparison", ("applies_when",))


def _meet(kb: KnowledgeBase, scope: Scope, *wanted: tuple[Condition, bool]) -> Point | None:
    """A point where the conditions hold or fail as wanted; a search given up counts as one with an empty example."""
    try:
        return find_point(wanted, domains_for(kb, [condition for condition, _ in wanted], scope))
    except SearchTooLargeError:
        return {}


def _never_fires(
    kb: KnowledgeBase, entry_id: str, when: Condition, scope: Scope, where: Where
) -> RuleProblem:
    """Name the parts that exclude each other: drop every part of an `all` that is not needed for the conflict."""
    parts = list(enumerate(when.all or ()))
    for part in list(parts):
        rest = tuple(condition for index, condition in parts if index != part[0])
        if rest and _meet(kb, scope, (Condition(all=rest), True)) is None:
            parts.remove(part)
    place: Where = (*where, "all", parts[-1][0]) if parts else where
    foreign = [name for name in when.facts() if kb.facts[name].scope not in ("requirement", scope)]
    if foreign:
        fact = kb.facts[foreign[0]]
        message = f"{fact.name} is a {fact.scope} fact, not known in scope {scope}"
        fix = f"give the rule `scope: {fact.scope}` or read another fact"
    else:
        names = dict.fromkeys(describe_condition(condition) for _, condition in parts)
        message = f"nothing satisfies this condition: {' and '.join(names) or describe_condition(when)}"
        fix = "correct a bound or a value, or remove the rule"
    return RuleProblem(kind="never-fires", entry_id=entry_id, where=place, message=message, fix=fix)


def _subsumed(kb: KnowledgeBase, regions: Sequence[_Region]) -> Iterator[RuleProblem]:
    by_effect: dict[tuple[Scope, str, str], list[_Region]] = defaultdict(list)
    for region in regions:
        for kind, target in dict.fromkeys((effect.kind, effect.target) for effect in region.rule.then):
            by_effect[region.scope, kind, target].append(region)
    dropped: set[str] = set()
    for group in by_effect.values():
        for one, other in combinations(group, 2):
            for narrow, wide in ((other, one), (one, other)):
                if narrow.rule.id in dropped or wide.rule.id in dropped or not _implies(kb, narrow, wide):
                    continue
                if _covers(wide.rule, narrow.rule):
                    dropped.add(narrow.rule.id)
                    both = _meet(kb, narrow.scope, (narrow.rule.when, True), (wide.rule.when, True))
                    yield RuleProblem(
                        kind="subsumed",
                        entry_id=narrow.rule.id,
                        where=("when",),
                        message=f"whenever this holds, {wide.rule.id} holds too and concludes the same",
                        fix=f"remove it, or narrow {wide.rule.id}, or conclude something else",
                        example=describe_point(kb, both or {}),
                    )


def _covers(wide: Rule, narrow: Rule) -> bool:
    """Whether everything the narrow rule concludes is concluded by the wide one, at the same rank."""
    if wide.precedence != narrow.precedence:
        return False
    return all(
        any(
            (a.kind, a.target, a.value) == (b.kind, b.target, b.value)
            and (a.kind != "warn" or (a.text or wide.reason) == (b.text or narrow.reason))
            for a in wide.then
        )
        for b in narrow.then
    )


def _implies(kb: KnowledgeBase, narrow: _Region, wide: _Region) -> bool:
    """Whether the wide rule holds wherever the narrow one does; one that reads more facts does not."""
    if not wide.names <= narrow.names:
        return False
    return _meet(kb, narrow.scope, (narrow.rule.when, True), (wide.rule.when, False)) is None


def _contradictions(kb: KnowledgeBase, regions: Sequence[_Region]) -> Iterator[RuleProblem]:
    groups: dict[tuple[str, str, Scope, int], list[tuple[_Region, int, Effect]]] = defaultdict(list)
    for region in regions:
        for index, effect in enumerate(region.rule.then):
            if effect.kind in ("require", "favour", "assume"):
                target = effect.target if effect.kind == "assume" else ""
                groups[effect.kind, target, region.scope, region.rule.precedence].append(
                    (region, index, effect)
                )
    for (kind, *_), members in groups.items():
        for (first, _, one), (second, index, other) in combinations(members, 2):
            point = _clash(kb, kind, first, second) if _opposed(one, other) else None
            if point is not None:
                spoken = describe_effect(other, second.rule.strength)
                against = describe_effect(one, first.rule.strength)
                yield RuleProblem(
                    kind="contradiction",
                    entry_id=second.rule.id,
                    where=("then", index, kind),
                    message=f"'{spoken}' contradicts '{against}' of {first.rule.id}",
                    fix="give one of them a higher `precedence`, or conditions that exclude each other",
                    example=describe_point(kb, point),
                )


def _opposed(one: Effect, other: Effect) -> bool:
    if one.kind == "assume":
        return one.value != other.value
    return one.target != other.target and (one.kind == "require" or (one.target, other.target) in _OPPOSED)


def _clash(kb: KnowledgeBase, kind: str, first: _Region, second: _Region) -> Point | None:
    """A point where two opposed rules leave nothing to choose by.

    Requirements clash wherever both hold, assumptions wherever both hold with equal strength. Preferences are meant to be
    weighed, so they clash only when one can never count: the same region, or one inside the other at equal strength.
    """
    even = first.rule.strength == second.rule.strength
    if kind == "assume" and not even:
        return None
    if kind == "favour":
        inside = _implies(kb, first, second), _implies(kb, second, first)
        if not all(inside) and not (any(inside) and even):
            return None
    return _meet(kb, first.scope, (first.rule.when, True), (second.rule.when, True))


def _gaps(kb: KnowledgeBase, rules: Sequence[Rule]) -> Iterator[RuleProblem]:
    """A point for which no rule concludes a verdict, reported at the rule that comes nearest to speaking there."""
    verdicts = [rule for rule in rules if any(conclusions(rule))]
    if not verdicts:
        return
    conditions = [rule.when for rule in verdicts]
    try:
        point = find_point([(c, False) for c in conditions], domains_for(kb, conditions, "comparison"))
    except SearchTooLargeError:
        yield RuleProblem(
            kind="gap",
            entry_id=verdicts[0].id,
            where=("when",),
            message=f"whether every input gets a verdict could not be proved within {LIMIT:,} steps",
            fix="add a rule of low precedence for all that is left, or simplify the conditions",
        )
        return
    if point is None:
        return
    distance = {rule.id: sum(1 for _ in failing_parts(rule.when, point)) for rule in verdicts}
    nearest = min(verdicts, key=lambda rule: (distance[rule.id], rule.precedence, rule.id))
    yield RuleProblem(
        kind="gap",
        entry_id=nearest.id,
        where=("when",),
        message="no rule concludes a verdict for some inputs; this one comes nearest",
        fix="widen a condition, or add a rule of low precedence for what is left",
        example=describe_point(kb, point),
    )
