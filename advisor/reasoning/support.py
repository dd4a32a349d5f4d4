"""Which facts keep a condition as it is: while they keep their values, nothing else can change whether it holds.

A value that is missing supports too: `cooling` not known is what lets a liquid-cooled rack pass.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import Values, compile_condition, values_of
from advisor.records import Condition, Effect, Facts, Rule

Rank = tuple[bool, int]
"""`require` before `favour`, then precedence."""


def supporting_facts(condition: Condition, facts: Facts, known: Collection[str] = ()) -> tuple[str, ...]:
    """Facts that keep a condition which holds holding; where several sets would do, one with few not in `known`."""
    return _support(condition, values_of(facts), known, holds=True)


def blocking_facts(condition: Condition, facts: Facts, known: Collection[str] = ()) -> tuple[str, ...]:
    """Facts that keep a condition which does not hold from holding; chosen as for `supporting_facts`."""
    return _support(condition, values_of(facts), known, holds=False)


def failing_parts(condition: Condition, values: Values) -> Iterator[Condition]:
    """The parts that keep a condition from holding; of `none` the parts that hold, wrapped again."""
    if compile_condition(condition)(values):
        return
    if condition.all is not None:
        for part in condition.all:
            yield from failing_parts(part, values)
    elif condition.none is not None:
        for part in condition.none:
            if compile_condition(part)(values):
                yield Condition(none=(part,))
    else:
        yield condition


def conclusions(rule: Rule) -> Iterator[Effect]:
    """The effects of a rule that conclude a verdict."""
    return (effect for effect in rule.then if effect.kind in ("favour", "require"))


def rank_of(rule: Rule, effect: Effect) -> Rank:
    """How a conclusion ranks among others."""
    return effect.kind == "require", rule.precedence


def deciding_rank(kb: KnowledgeBase, decided_by: Iterable[str]) -> Rank | None:
    """The rank at which the verdict was decided; None when no rule decided it."""
    rules = [kb.rules[rule_id] for rule_id in decided_by if rule_id in kb.rules]
    return max((rank_of(rule, effect) for rule in rules for effect in conclusions(rule)), default=None)


def _support(condition: Condition, values: Values, known: Collection[str], *, holds: bool) -> tuple[str, ...]:
    if condition.fact is not None:
        names = condition.facts()
        missing = [name for name in names if values.get(name) is None]
        return names if holds or not missing else (missing[0],)
    if condition.none is not None:
        return _support(Condition(any=condition.none), values, known, holds=not holds)
    parts = condition.all or condition.any or ()
    if (condition.all is not None) is holds:
        sets = [_support(part, values, known, holds=holds) for part in parts]
        return tuple(dict.fromkeys(name for names in sets for name in names))
    enough = [part for part in parts if compile_condition(part)(values) is holds]
    options = [_support(part, values, known, holds=holds) for part in enough]
    return min(options, key=lambda names: sum(name not in known for name in names), default=())
