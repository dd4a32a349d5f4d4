"""The input space that conditions cut into regions, and a search for a concrete point in one of them.

Each fact takes a few values that stand for all others: its choices; for numbers the thresholds of the conditions looked at
and points between and beyond them. Facts compared with each other share their points. A search over these values finds a
point in every region that has one, so a failure to find one is a proof, up to dependencies between computed facts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import STATED, Values, bound_number, compile_condition
from advisor.reasoning.trace import show_value
from advisor.records import Condition, Fact, FactRef, Scalar, Scope

Point = dict[str, Scalar | None]
"""Values of some facts: a representative of a region. A fact without a value is None; facts left out do not matter."""

Test3 = Callable[[Values], bool | None]

LIMIT = 200_000
"""Steps of one search before it gives up."""


class SearchTooLargeError(Exception):
    """A search was given up; nothing is proved."""


def variables(condition: Condition) -> tuple[str, ...]:
    """What a point must settle for a condition: facts, and `stated:<fact>` where it asks for that."""
    names = dict.fromkeys(condition.facts())
    names |= dict.fromkeys(
        STATED + (atom.fact or "") for atom in condition.atoms() if atom.stated is not None
    )
    return tuple(names)


def find_point(
    wanted: Sequence[tuple[Condition, bool]], domains: dict[str, tuple[Scalar | None, ...]]
) -> Point | None:
    """Values under which each condition holds or fails as wanted, as few as say so; None when there are none.

    Raises SearchTooLargeError after LIMIT steps.
    """
    constraints = [(_compile3(condition), want, variables(condition)) for condition, want in wanted]
    point: Point = {}
    if _Search(domains).run(constraints, point) is not None:
        return None
    for name in list(point):
        rest = {other: value for other, value in point.items() if other != name}
        if all(test(rest) is want for test, want, _ in constraints):
            point = rest
    return point


_Constraint = tuple[Test3, bool, tuple[str, ...]]


@dataclass
class _Search:
    """Depth-first search that jumps back over variables which have no part in a conflict."""

    domains: dict[str, tuple[Scalar | None, ...]]
    steps: int = 0

    def run(self, unsettled: Sequence[_Constraint], point: Point) -> set[str] | None:
        """Extend `point` until every constraint holds: None on success, else the variables to blame."""
        self.steps += 1
        if self.steps > LIMIT:
            raise SearchTooLargeError
        pending: list[_Constraint] = []
        branch, fewest = "", math.inf
        for constraint in unsettled:
            test, want, names = constraint
            outcome = test(point)
            if outcome is None:
                pending.append(constraint)
                unassigned = [name for name in names if name not in point]
                if len(unassigned) < fewest:
                    branch, fewest = unassigned[0], len(unassigned)
            elif outcome is not want:
                return {name for name in names if name in point}
        if not pending:
            return None
        blamed: set[str] = set()
        for value in self.domains[branch]:
            point[branch] = value
            conflict = self.run(pending, point)
            if conflict is None:
                return None
            if branch not in conflict:
                blamed = conflict
                break
            blamed |= conflict
        del point[branch]
        return blamed - {branch}


def domains_for(
    kb: KnowledgeBase, conditions: Iterable[Condition], scope: Scope
) -> dict[str, tuple[Scalar | None, ...]]:
    """Values that represent each variable of the conditions, for rules that run in `scope`."""
    thresholds: dict[str, set[Scalar]] = defaultdict(set)
    linked: dict[str, set[str]] = defaultdict(set)
    names: dict[str, None] = {}
    for condition in conditions:
        names |= dict.fromkeys(variables(condition))
        for atom in condition.atoms():
            name = atom.fact or ""
            comparison, right = atom.comparison
            if isinstance(right, FactRef):
                linked[name].add(right.fact)
                linked[right.fact].add(name)
            elif isinstance(right, tuple) or comparison == "is":
                literals = right if isinstance(right, tuple) else (right,)
                # flags have no thresholds, and in a set True would hide 1
                thresholds[name].update(literal for literal in literals if not isinstance(literal, bool))
            elif comparison not in ("known", "stated"):
                number = bound_number(right)
                if number is not None:
                    thresholds[name].add(number)
    result: dict[str, tuple[Scalar | None, ...]] = {}
    for name in names:
        if name.startswith(STATED):
            result[name] = (True, None)
            continue
        group = _component(name, linked)
        values = set().union(*(thresholds[member] for member in group))
        if len(group) > 1:
            values |= {end for member in group for end in _ends(kb.facts.get(member))}
        result[name] = _values(kb, name, values, len(group), scope)
    return result


def describe_point(kb: KnowledgeBase, point: Point) -> str:
    """A point in words: `tpot_ms = 12 ms, workload = offline, cooling not known`."""
    parts = []
    for name, value in sorted(point.items()):
        if name.startswith(STATED):
            bare = name.removeprefix(STATED)
            parts.append(f"{bare} {'stated' if value else 'not stated'}")
        elif value is None:
            parts.append(f"{name} not known")
        elif isinstance(value, str):
            parts.append(f"{name} = {value}")
        else:
            parts.append(f"{name} = {show_value(kb, name, value)}")
    return ", ".join(parts)


def _component(name: str, linked: dict[str, set[str]]) -> set[str]:
    found, stack = {name}, [name]
    while stack:
        for other in linked.get(stack.pop(), ()):
            if other not in found:
                found.add(other)
                stack.append(other)
    return found


def _ends(fact: Fact | None) -> Iterable[float]:
    return (end for end in (fact.minimum, fact.maximum) if end is not None) if fact is not None else ()


def _values(
    kb: KnowledgeBase, name: str, literals: set[Scalar], width: int, scope: Scope
) -> tuple[Scalar | None, ...]:
    fact = kb.facts.get(name)
    if fact is None or fact.scope not in ("requirement", scope):
        return (None,)
    always = fact.assumed is not None and fact.assumed.value is not None
    values = _known_values(kb, fact, literals, width)
    return values if always else (*values, None)


def _known_values(
    kb: KnowledgeBase, fact: Fact, literals: set[Scalar], width: int
) -> tuple[Scalar | None, ...]:
    if fact.type == "flag":
        return (True, False)
    if fact.type == "choice":
        return tuple(choice.value for choice in fact.choices)
    if fact.type in ("number", "integer"):
        numbers = {float(v) for v in literals if isinstance(v, (int, float))}
        return _points(fact, sorted(numbers), width)
    texts = sorted(v for v in literals if isinstance(v, str))
    if fact.type == "entry":
        others = [i for i in kb.entries if i.startswith(fact.entry_kind + "/") and i not in texts]
        return (*texts, *others[: width + 1]) or (f"{fact.entry_kind}/any",)
    return (*texts, *(f"text {number}" for number in range(1, width + 1)))


def _points(fact: Fact, thresholds: list[float], width: int) -> tuple[Scalar | None, ...]:
    """The thresholds themselves, `width` points in each gap between them, and some on either side."""
    low = -math.inf if fact.minimum is None else fact.minimum
    high = math.inf if fact.maximum is None else fact.maximum
    inside = [t for t in thresholds if low <= t <= high]
    first = inside[0] if inside else (low if low > -math.inf else min(0.0, high))
    last = inside[-1] if inside else first
    step = max(1.0, abs(first), abs(last)) / 2
    bottom = low if low > -math.inf else first - step * (width + 1)
    top = high if high < math.inf and high - last < 4 * step * (width + 1) else last + step * (width + 1)
    ends = sorted({bottom, *inside, min(top, high)})
    points = set(ends)
    for left, right in pairwise(ends):
        points.update(_between(left, right, width, whole=fact.type == "integer"))
    if fact.type == "integer":
        return tuple(int(p) for p in sorted(points) if p == math.floor(p))
    return tuple(int(p) if p == math.floor(p) else p for p in sorted(points) if low <= p <= high)


def _between(left: float, right: float, count: int, *, whole: bool) -> Iterable[float]:
    for index in range(1, count + 1):
        value = left + (right - left) * index / (count + 1)
        rounded = float(round(value))
        if left < rounded < right and (whole or right - left > 2):
            yield rounded
        elif not whole:
            yield float(f"{value:.4g}") if left < float(f"{value:.4g}") < right else value
    if whole and right - left <= count + 1:
        yield from (float(n) for n in range(math.floor(left) + 1, math.ceil(right)))


def _compile3(condition: Condition) -> Test3:
    """The condition over a partial point: None where it depends on what is not settled yet."""
    if condition.fact is not None:
        return _compile3_atom(condition)
    tests = tuple(_compile3(part) for part in condition.all or condition.any or condition.none or ())
    stop = condition.all is None
    """The outcome of a part that settles the group: False for `all`, True for `any` and `none`."""
    negated = condition.none is not None

    def test(values: Values) -> bool | None:
        outcome: bool | None = not stop
        for part in tests:
            result = part(values)
            if result is stop:
                return stop is not negated
            if result is None:
                outcome = None
        return outcome if outcome is None else outcome is not negated

    return test


def _compile3_atom(atom: Condition) -> Test3:
    names = variables(atom)
    needed = tuple(name for name in names if atom.stated is None or name.startswith(STATED))
    plain = compile_condition(atom)
    if len(needed) == 1:
        only = needed[0]
        return lambda values: plain(values) if only in values else None
    return lambda values: plain(values) if all(name in values for name in needed) else None
