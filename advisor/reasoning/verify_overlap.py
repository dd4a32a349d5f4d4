"""Checks over regions: rules that can never fire, that add nothing to another, that contradict, and gaps between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import compile_condition
from advisor.reasoning.engine import scope_of
from advisor.reasoning.problem import RuleProblem, Where
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


def check_regions(kb: KnowledgeBase, sound: Sequence[Rule]) -> Iterator[RuleProblem]:
    """Problems of the regions that rules cover. `sound`: the rules whose facts and values exist."""
    fireable = []
    for rule in sound:
        if _meet(kb, scope_of(kb, rule), (rule.when, True)) is None:
            yield _never_fires(kb, rule.id, rule.when, scope_of(kb, rule), ("when",))
        else:
            fireable.append(rule)
    redundant = set()
    for problem in _subsumed(kb, fireable):
        redundant.add(problem.entry_id)
        yield problem
    yield from _contradictions(kb, [rule for rule in fireable if rule.id not in redundant])
    yield from _gaps(kb, fireable)


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


def _subsumed(kb: KnowledgeBase, rules: Sequence[Rule]) -> Iterator[RuleProblem]:
    by_effect: dict[tuple[Scope, str, str], list[Rule]] = defaultdict(list)
    for rule in rules:
        for effect in rule.then:
            by_effect[scope_of(kb, rule), effect.kind, effect.target].append(rule)
    done: set[tuple[str, str]] = set()
    dropped: set[str] = set()
    for (scope, _, _), group in by_effect.items():
        for first, second in combinations(group, 2):
            for narrow, wide in ((second, first), (first, second)):
                pair = (narrow.id, wide.id)
                if pair in done or narrow.id in dropped or wide.id in dropped:
                    continue
                done.add(pair)
                if _covers(wide, narrow) and _implies(kb, scope, narrow.when, wide.when):
                    dropped.add(narrow.id)
                    yield RuleProblem(
                        kind="subsumed",
                        entry_id=narrow.id,
                        where=("when",),
                        message=f"whenever this holds, {wide.id} holds too and concludes the same",
                        fix=f"remove it, or narrow {wide.id}, or conclude something else",
                        example=_example(kb, scope, (narrow.when, True), (wide.when, True)),
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


def _implies(kb: KnowledgeBase, scope: Scope, narrow: Condition, wide: Condition) -> bool:
    if not set(variables(wide)) <= set(variables(narrow)):
        return False
    return _meet(kb, scope, (narrow, True), (wide, False)) is None


def _contradictions(kb: KnowledgeBase, rules: Sequence[Rule]) -> Iterator[RuleProblem]:
    groups: dict[tuple[str, str, int], list[tuple[Rule, int, Effect]]] = defaultdict(list)
    for rule in rules:
        for index, effect in enumerate(rule.then):
            target = effect.target if effect.kind == "assume" else ""
            groups[effect.kind, target, rule.precedence].append((rule, index, effect))
    for (kind, _, _), members in groups.items():
        if kind not in ("require", "favour", "assume"):
            continue
        for (first, _, one), (second, index, other) in combinations(members, 2):
            if not _opposed(one, other):
                continue
            point = _clash(kb, kind, first, second)
            if point is not None:
                yield RuleProblem(
                    kind="contradiction",
                    entry_id=second.id,
                    where=("then", index, kind),
                    message=f"'{describe_effect(other, second.strength)}' contradicts '{describe_effect(one, first.strength)}' of {first.id}",
                    fix="give one of them a higher `precedence`, or conditions that exclude each other",
                    example=describe_point(kb, point),
                )


def _opposed(one: Effect, other: Effect) -> bool:
    if one.kind == "assume":
        return one.value != other.value
    return one.target != other.target and (one.kind == "require" or (one.target, other.target) in _OPPOSED)


def _clash(kb: KnowledgeBase, kind: str, first: Rule, second: Rule) -> Point | None:
    """A point where two opposed rules leave nothing to choose by.

    Requirements clash wherever both hold, assumptions wherever both hold with equal strength. Preferences are meant to be
    weighed, so they clash only when one can never count: the same region, or one inside the other at equal strength.
    """
    scope = scope_of(kb, first)
    if scope != scope_of(kb, second) or (kind == "assume" and first.strength != second.strength):
        return None
    if kind == "favour":
        inside = _implies(kb, scope, first.when, second.when), _implies(kb, scope, second.when, first.when)
        if not all(inside) and not (any(inside) and first.strength == second.strength):
            return None
    return _meet(kb, scope, (first.when, True), (second.when, True))


def _gaps(kb: KnowledgeBase, rules: Sequence[Rule]) -> Iterator[RuleProblem]:
    """A point for which no rule concludes a verdict, reported at the rule that comes nearest to speaking there."""
    verdicts = [rule for rule in rules if any(effect.kind in ("favour", "require") for effect in rule.then)]
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
    nearest = min(verdicts, key=lambda rule: (_distance(rule.when, point), rule.precedence, rule.id))
    yield RuleProblem(
        kind="gap",
        entry_id=nearest.id,
        where=("when",),
        message="no rule concludes a verdict for some inputs; this one comes nearest",
        fix="widen a condition, or add a rule of low precedence for what is left",
        example=describe_point(kb, point),
    )


def _distance(condition: Condition, point: Point) -> int:
    """How many comparisons of a condition the point settles otherwise."""
    return sum(1 for atom in condition.atoms() if not compile_condition(atom)(point))


def _example(kb: KnowledgeBase, scope: Scope, *wanted: tuple[Condition, bool]) -> str:
    return describe_point(kb, _meet(kb, scope, *wanted) or {})
