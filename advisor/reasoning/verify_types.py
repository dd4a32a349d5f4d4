"""Checks of single rules, conditions and facts: names that exist, values of the right type, in the right unit and range."""

from __future__ import annotations

import math
from collections.abc import Iterator
from difflib import get_close_matches

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import ORDERINGS, quantity
from advisor.reasoning.engine import CANDIDATES, VERDICTS, scope_of
from advisor.reasoning.problem import RuleProblem, Where
from advisor.reasoning.trace import named_facts
from advisor.records import Condition, Effect, Fact, FactRef, Gotcha, Rule, Scalar

_NUMERIC = ("number", "integer")
_UNIT_FACTORS = {("s", "ms"): 1000.0, ("W", "kW"): 0.001, ("MW", "kW"): 1000.0, ("TB/s", "GB/s"): 1000.0,
                 ("Gbit/s", "GB/s"): 0.125, ("k tokens", "tokens"): 1024.0, ("GB", "GiB"): 1e9 / 2**30,
                 ("us", "ms"): 0.001, ("min", "ms"): 60_000.0}  # fmt: skip
"""(written unit, unit of the fact) -> factor, for the correction that a finding proposes."""


def check_types(kb: KnowledgeBase) -> Iterator[RuleProblem]:
    """Problems of each rule, gotcha condition and fact on its own."""
    for rule in kb.rules.values():
        yield from check_condition(kb, rule.id, rule.when, ("when",))
        for index, effect in enumerate(rule.then):
            yield from _check_effect(kb, rule, index, effect)
        yield from _check_text(kb, rule.id, rule.reason, ("reason",))
    for gotcha in kb.gotchas.values():
        if isinstance(gotcha, Gotcha) and gotcha.applies_when is not None:
            yield from check_condition(kb, gotcha.id, gotcha.applies_when, ("applies_when",))
    for entry in kb.entries.values():
        if isinstance(entry, Fact):
            yield from _check_fact(kb, entry)


def check_condition(
    kb: KnowledgeBase, entry_id: str, condition: Condition, where: Where
) -> Iterator[RuleProblem]:
    """Problems of a condition tree: each comparison against the fact it names."""
    for group in ("all", "any", "none"):
        for index, part in enumerate(getattr(condition, group) or ()):
            yield from check_condition(kb, entry_id, part, (*where, group, index))
    if condition.fact is None:
        return
    fact = kb.facts.get(condition.fact)
    if fact is None:
        yield _unknown(kb, entry_id, (*where, "fact"), condition.fact)
        return
    comparison, right = condition.comparison
    place = (*where, comparison)
    if isinstance(right, FactRef):
        yield from _check_reference(kb, entry_id, place, fact, comparison, right.fact)
    elif comparison in ORDERINGS:
        yield from _check_ordering(entry_id, place, fact, comparison, right)
    elif comparison == "in" and isinstance(right, tuple):
        for index, value in enumerate(right):
            yield from _check_value(kb, entry_id, (*place, index), fact, value)
    elif comparison == "is" and not isinstance(right, tuple):
        yield from _check_value(kb, entry_id, place, fact, right)


def _check_reference(
    kb: KnowledgeBase, entry_id: str, place: Where, fact: Fact, comparison: str, name: str
) -> Iterator[RuleProblem]:
    other = kb.facts.get(name)
    if other is None:
        yield _unknown(kb, entry_id, (*place, "fact"), name)
        return
    numeric = fact.type in _NUMERIC and other.type in _NUMERIC
    if comparison in ORDERINGS and not numeric:
        wrong = fact if fact.type not in _NUMERIC else other
        yield _problem(
            "wrong-type", entry_id, place, f"'{comparison}' needs two numbers, but {wrong.name} is a {wrong.type}",
            "compare it with `is`" if fact.type == other.type else "name a fact that holds a number",
        )  # fmt: skip
    elif numeric and fact.unit != other.unit:
        yield _problem(
            "wrong-unit", entry_id, place,
            f"{fact.name} is in {fact.unit or 'no unit'}, {other.name} in {other.unit or 'no unit'}",
            f"compare {fact.name} with a fact in {fact.unit or 'the same unit'}",
        )  # fmt: skip
    elif not numeric and fact.type != other.type:
        yield _problem(
            "wrong-type", entry_id, place, f"{fact.name} is a {fact.type}, {other.name} a {other.type}",
            f"compare {fact.name} with another {fact.type}",
        )  # fmt: skip


def _check_ordering(
    entry_id: str, place: Where, fact: Fact, comparison: str, right: object
) -> Iterator[RuleProblem]:
    if fact.type not in _NUMERIC:
        allowed = f"one of {', '.join(c.value for c in fact.choices)}" if fact.choices else f"a {fact.type}"
        yield _problem(
            "wrong-type", entry_id, place, f"'{comparison}' orders numbers, but {fact.name} is {allowed}",
            "use `is` or `in`",
        )  # fmt: skip
        return
    if isinstance(right, str):
        found = quantity(right)
        if found is None:
            yield _problem(
                "wrong-type", entry_id, place, f"{right!r} is not a number with a unit",
                f"write for example {_sample(fact)}",
            )  # fmt: skip
            return
        number, unit = found
        if unit != fact.unit:
            factor = _UNIT_FACTORS.get((unit, fact.unit))
            mended = f"{number * factor:g} {fact.unit}" if factor else _sample(fact)
            yield _problem(
                "wrong-unit", entry_id, place, f"{fact.name} is in {fact.unit or 'no unit'}, not in {unit}",
                f"write {mended}",
            )  # fmt: skip
            return
    else:
        number = float(right) if isinstance(right, (int, float)) else math.nan
    yield from _check_range(entry_id, place, fact, number)


def _check_value(
    kb: KnowledgeBase, entry_id: str, place: Where, fact: Fact, value: Scalar
) -> Iterator[RuleProblem]:
    """Whether one literal can be a value of a fact."""
    wrong = _type_problem(fact, value)
    if wrong:
        yield _problem("wrong-type", entry_id, place, *wrong)
    elif fact.type in _NUMERIC and isinstance(value, (int, float)):
        yield from _check_range(entry_id, place, fact, float(value))
    elif fact.type == "choice" and value not in [choice.value for choice in fact.choices]:
        allowed = [choice.value for choice in fact.choices]
        near = get_close_matches(str(value), allowed, n=1)
        yield _problem(
            "wrong-type", entry_id, place, f"{fact.name} is never {value!r}",
            f"did you mean {near[0]}?" if near else f"one of {', '.join(allowed)}",
        )  # fmt: skip
    elif fact.type == "entry" and not {str(value), f"{fact.entry_kind}/{value}"} & kb.entries.keys():
        near = list(kb.nearest(str(value), kind=fact.entry_kind, limit=3)) if fact.entry_kind else []
        yield _problem(
            "wrong-type", entry_id, place, f"no entry {value!r}, so {fact.name} is never that",
            f"write the id of an entry in {fact.entry_kind}" + (f"; nearest: {near[0]}" if near else ""),
        )  # fmt: skip


def _type_problem(fact: Fact, value: Scalar) -> tuple[str, str] | None:
    if fact.type == "flag":
        return (
            None
            if isinstance(value, bool)
            else (f"{fact.name} is yes or no, not {value!r}", "write true or false")
        )
    if fact.type in _NUMERIC:
        if isinstance(value, (bool, str)):
            return f"{fact.name} is a number, not {value!r}", f"write a number in {fact.unit or 'its unit'}"
        return None
    if isinstance(value, str):
        return None
    return f"{fact.name} is a {fact.type}, not {value!r}", f"write it as text: '{str(value).lower()}'"


def _check_range(entry_id: str, place: Where, fact: Fact, number: float) -> Iterator[RuleProblem]:
    unit = f" {fact.unit}" if fact.unit else ""
    low, high = fact.minimum, fact.maximum
    if (low is not None and number < low) or (high is not None and number > high):
        span = (
            f"from {low:g}" if high is None else f"up to {high:g}" if low is None else f"{low:g} to {high:g}"
        )
        yield _problem(
            "out-of-range", entry_id, place, f"{number:g}{unit} is outside what {fact.name} can be ({span}{unit})",
            f"write a value {span}{unit}; check the unit",
        )  # fmt: skip


def _check_effect(kb: KnowledgeBase, rule: Rule, index: int, effect: Effect) -> Iterator[RuleProblem]:
    where: Where = ("then", index, effect.kind)
    scope = scope_of(kb, rule)
    if effect.text:
        yield from _check_text(kb, rule.id, effect.text, ("then", index, "text"))
    if effect.kind in ("assume", "ask"):
        fact = kb.facts.get(effect.target)
        if fact is None:
            yield _unknown(kb, rule.id, where, effect.target)
        elif effect.kind == "ask":
            if fact.ask == "never" or not fact.question:
                yield _problem(
                    "bad-effect", rule.id, where, f"{effect.target} has no question to ask",
                    f"give {fact.id} a `question` and `ask: decisive`",
                )  # fmt: skip
        else:
            yield from _check_assumption(kb, rule, index, effect, fact)
    allowed = _allowed(effect, scope)
    if allowed is not None and effect.target not in allowed[0]:
        yield _problem(
            "bad-effect",
            rule.id,
            where,
            f"'{effect.kind}: {effect.target}' does nothing in scope {scope}",
            allowed[1],
        )
    if (
        effect.kind == "warn"
        and effect.target not in ("node", "rack", "candidate", "answer")
        and effect.target not in kb.facts
    ):
        yield _unknown(kb, rule.id, where, effect.target)


def _allowed(effect: Effect, scope: str) -> tuple[tuple[str, ...], str] | None:
    """Targets that an effect may have in a scope, and what to do otherwise."""
    if effect.kind in ("favour", "require"):
        return (
            VERDICTS if scope == "comparison" else ()
        ), "give the rule `scope: comparison`, and other effects a rule of their own"
    if effect.kind == "forbid":
        if effect.target in CANDIDATES:
            return (
                CANDIDATES if scope == "candidate" else ()
            ), "give the rule `scope: candidate`, and other effects a rule of their own"
        return (("high", "medium") if scope == "comparison" else ()), "give the rule `scope: comparison`"
    if effect.kind == "ask" and scope != "requirement":
        return (), "questions come before sizing: give the rule `scope: requirement`"
    return None


def _check_assumption(
    kb: KnowledgeBase, rule: Rule, index: int, effect: Effect, fact: Fact
) -> Iterator[RuleProblem]:
    place: Where = ("then", index, "value")
    scope = scope_of(kb, rule)
    if fact.scope != scope:
        yield _problem(
            "bad-effect", rule.id, ("then", index, "assume"), f"{fact.name} belongs to scope {fact.scope}, the rule to {scope}",
            f"give the rule `scope: {fact.scope}`",
        )  # fmt: skip
    if fact.computed_by:
        yield _problem(
            "bad-effect", rule.id, ("then", index, "assume"), f"{fact.name} is computed ({fact.computed_by}), so it is never assumed",
            "assume one of the facts it is computed from, or let a rule warn",
        )  # fmt: skip
    if isinstance(effect.value, FactRef):
        yield from _check_reference(kb, rule.id, place, fact, "is", effect.value.fact)
    elif effect.value is None:
        yield _problem(
            "bad-effect",
            rule.id,
            ("then", index, "assume"),
            f"assumes no value for {fact.name}",
            "add `value:`",
        )
    else:
        yield from _check_value(kb, rule.id, place, fact, effect.value)


def _check_text(kb: KnowledgeBase, entry_id: str, text: str, where: Where) -> Iterator[RuleProblem]:
    for name in named_facts(text):
        if name not in kb.facts:
            yield _unknown(kb, entry_id, where, name)


def _check_fact(kb: KnowledgeBase, fact: Fact) -> Iterator[RuleProblem]:
    other = kb.facts.get(fact.name)
    if other is not None and other.id != fact.id:
        yield _problem(
            "unknown-fact",
            fact.id,
            ("name",),
            f"{other.id} has the name {fact.name} too",
            "rename one of them",
        )
    if fact.type == "choice" and not fact.choices:
        yield _problem(
            "wrong-type", fact.id, ("type",), "a choice without choices takes no value", "add `choices`"
        )
    if fact.type == "entry" and not fact.entry_kind:
        yield _problem(
            "wrong-type", fact.id, ("type",), "an entry fact must say which kind", "add `entry_kind`"
        )
    for index, name in enumerate(fact.derived_from):
        if name not in kb.facts:
            yield _unknown(kb, fact.id, ("derived_from", index), name)
    for index, value in enumerate(fact.suggestions):
        yield from _check_value(kb, fact.id, ("suggestions", index), fact, value)
    if fact.assumed is not None and fact.assumed.value is not None:
        yield from _check_value(kb, fact.id, ("assumed", "value"), fact, fact.assumed.value)


def _unknown(kb: KnowledgeBase, entry_id: str, where: Where, name: str) -> RuleProblem:
    near = get_close_matches(name, kb.facts, n=3, cutoff=0.5)
    fix = f"did you mean {near[0]}?" if near else "add a fact of this name in facts/"
    return _problem("unknown-fact", entry_id, where, f"no fact '{name}'", fix)


def _problem(kind: str, entry_id: str, where: Where, message: str, fix: str) -> RuleProblem:
    return RuleProblem(kind=kind, entry_id=entry_id, where=where, message=message, fix=fix)


def _sample(fact: Fact) -> str:
    number = next((s for s in fact.suggestions if isinstance(s, (int, float))), fact.minimum or 1)
    return f"{number:g} {fact.unit}".strip()
