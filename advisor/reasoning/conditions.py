"""What a condition means: whether it holds for a set of values, compiled once to a closure.

A comparison on a fact without a value does not hold, and neither does one between values of different types; so `none`
of it does. A fact known only as a range (`rack_price_premium`) is `known` and holds no comparison. A fact is `stated`
when its value was said or computed, not assumed.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Mapping

from advisor.records import KINDS, Condition, FactRef, Facts, FactValue, Scalar

Values = Mapping[str, Scalar | None]
"""Fact name -> value as conditions see it."""

Test = Callable[[Values], bool]

STATED = "stated:"
"""Prefix of the value that says whether a fact was stated."""

ORDERINGS: dict[str, Callable[[float, float], bool]] = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
}
"""Comparison as YAML spells it -> its meaning on numbers."""

_NUMBERS = frozenset((int, float))
_QUANTITY = re.compile(
    r"(-?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,3})?) (\S.{0,40})"
)


_STATED_ORIGINS = frozenset(("said", "computed"))


def holds(condition: Condition, facts: Facts) -> bool:
    """Whether a condition holds for these facts."""
    return compile_condition(condition)(values_of(facts))


def values_of(facts: Facts, names: Collection[str] | None = None) -> dict[str, Scalar | None]:
    """The plain values of facts; NaN for one known only as a range; `stated:<name>` for those said or computed.

    names: the only facts to take, for conditions that read no others.
    """
    values: dict[str, Scalar | None] = {}
    for name in facts if names is None else names:
        fact = facts.get(name)
        if fact is None:
            continue
        values[name] = (
            math.nan if fact.value is None and (fact.low is not None or fact.high is not None) else fact.value
        )
        if fact.origin in _STATED_ORIGINS:
            values[STATED + name] = True
    return values


def visible_value(fact: FactValue) -> Scalar | None:
    """The value of one fact as conditions see it."""
    if fact.value is None and (fact.low is not None or fact.high is not None):
        return math.nan
    return fact.value


def compile_condition(condition: Condition) -> Test:
    """The condition as a function of values. Never raises when called, whatever types the values have."""
    if condition.fact is not None:
        return _compile_atom(condition)
    if condition.all is not None:
        return _all(tuple(compile_condition(part) for part in condition.all))
    tests = tuple(compile_condition(part) for part in condition.any or condition.none or ())
    if condition.any is not None:
        return _any(tests)
    return _none(tests)


def quantity(text: str) -> tuple[float, str] | None:
    """Number and unit of a right side such as `15 ms`; None when it is not one."""
    match = _QUANTITY.fullmatch(text)
    return (float(match.group(1)), match.group(2)) if match else None


def bound_number(bound: object) -> float | None:
    """The number of a literal right side, its unit dropped; None for a reference or for text without a number."""
    if isinstance(bound, str):
        found = quantity(bound)
        return found[0] if found else None
    return float(bound) if isinstance(bound, (int, float)) and not isinstance(bound, bool) else None


def must_be_stated(condition: Condition) -> frozenset[str]:
    """Facts that must have been stated for a condition to hold: it does not depend on what is assumed for them."""
    if condition.stated is True:
        return frozenset((condition.fact or "",))
    return frozenset().union(*(must_be_stated(part) for part in condition.all or ()))


def same_value(left: Scalar | None, right: Scalar | None) -> bool:
    """Equality of two values: flags equal only flags, and an entry's slug equals its id."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left is not None and right is not None and bare(left) == bare(right)


def bare(value: Scalar) -> Scalar:
    """A value as it is compared: the id of an entry without its kind folder."""
    if isinstance(value, str) and "/" in value:
        kind, _, slug = value.partition("/")
        return slug if kind in KINDS else value
    return value


def _all(tests: tuple[Test, ...]) -> Test:
    if len(tests) == 2:
        first, second = tests
        return lambda values: first(values) and second(values)

    def test(values: Values) -> bool:
        for part in tests:  # noqa: SIM110  # a generator costs three times as much here
            if not part(values):
                return False
        return True

    return test


def _any(tests: tuple[Test, ...]) -> Test:
    def test(values: Values) -> bool:
        for part in tests:  # noqa: SIM110  # as above
            if part(values):
                return True
        return False

    return test


def _none(tests: tuple[Test, ...]) -> Test:
    found = _any(tests)
    return lambda values: not found(values)


def _compile_atom(atom: Condition) -> Test:
    name = atom.fact or ""
    comparison, right = atom.comparison
    if comparison == "known":
        return (
            (lambda values: values.get(name) is not None)
            if right
            else (lambda values: values.get(name) is None)
        )
    if comparison == "stated":
        key = STATED + name
        return lambda values: (values.get(key) is True) is right
    if comparison == "in":
        return _one_of(name, tuple(right) if isinstance(right, tuple) else ())
    if comparison == "is":
        if isinstance(right, FactRef):
            other = right.fact
            return lambda values: same_value(values.get(name), values.get(other))
        return _one_of(name, () if isinstance(right, tuple) else (right,))
    order = ORDERINGS[comparison]
    if isinstance(right, FactRef):
        return _ordered_facts(name, order, right.fact)
    number = bound_number(right)
    if number is None:
        return lambda _values: False

    def test(values: Values) -> bool:
        value = values.get(name)
        return value.__class__ in _NUMBERS and order(value, number)  # type: ignore[arg-type]  # a number by its class

    return test


def _one_of(name: str, allowed: tuple[Scalar, ...]) -> Test:
    flags = {value for value in allowed if isinstance(value, bool)}
    others = {bare(value) for value in allowed if not isinstance(value, bool)}

    def test(values: Values) -> bool:
        value = values.get(name)
        if value is None:
            return False
        return value in flags if value.__class__ is bool else bare(value) in others

    return test


def _ordered_facts(name: str, order: Callable[[float, float], bool], other: str) -> Test:
    def test(values: Values) -> bool:
        left, right = values.get(name), values.get(other)
        return left.__class__ in _NUMBERS and right.__class__ in _NUMBERS and order(left, right)  # type: ignore[arg-type]

    return test
