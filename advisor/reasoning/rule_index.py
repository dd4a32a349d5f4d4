"""Which rules can hold at all for given values, found without testing every rule.

Every rule is filed under comparisons of which at least one must hold when its condition does: equalities by fact and
value, orderings by fact in the order of their thresholds. A rule without such comparisons is always tested.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence

from advisor.reasoning.conditions import Values, bare, bound_number
from advisor.records import Condition, FactRef, Scalar

_NUMBERS = frozenset((int, float))


class RuleIndex:
    """Positions of conditions by what they need."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self._always: list[int] = []
        self._equal: dict[tuple[str, type, Scalar], list[int]] = defaultdict(list)
        self._known: dict[str, list[int]] = defaultdict(list)
        rising: dict[str, list[tuple[float, int]]] = defaultdict(list)
        falling: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for position, condition in enumerate(conditions):
            cover = _cover(condition)
            if cover is None:
                self._always.append(position)
            for atom in cover or ():
                self._file(atom, position, rising, falling)
        self._rising = {name: _columns(rows) for name, rows in rising.items()}
        self._falling = {name: _columns(rows) for name, rows in falling.items()}
        self._names = tuple({*rising, *falling, *self._known, *(name for name, _, _ in self._equal)})

    def _file(
        self,
        atom: Condition,
        position: int,
        rising: dict[str, list[tuple[float, int]]],
        falling: dict[str, list[tuple[float, int]]],
    ) -> None:
        name = atom.fact or ""
        comparison, right = atom.comparison
        number = bound_number(right)
        if comparison in ("above", "at_least") and number is not None:
            rising[name].append((number, position))
        elif comparison in ("below", "at_most") and number is not None:
            falling[name].append((number, position))
        elif comparison in ("is", "in") and not isinstance(right, FactRef):
            for literal in right if isinstance(right, tuple) else (right,):
                self._equal[name, _class(literal), bare(literal)].append(position)
        else:
            self._known[name].append(position)

    def candidates(self, values: Values) -> list[int]:
        """Positions of the conditions that may hold, in order: all that do hold are among them."""
        found = set(self._always)
        equal, known, rising, falling = self._equal, self._known, self._rising, self._falling
        for name in self._names:
            value = values.get(name)
            if value is None:
                continue
            if name in known:
                found.update(known[name])
            hit = equal.get((name, _class(value), bare(value)))
            if hit:
                found.update(hit)
            if value.__class__ in _NUMBERS:
                if name in rising:
                    thresholds, positions = rising[name]
                    found.update(positions[: bisect_right(thresholds, value)])
                if name in falling:
                    thresholds, positions = falling[name]
                    found.update(positions[bisect_left(thresholds, value) :])
        return sorted(found)


def _class(value: Scalar) -> type:
    """Flags apart from numbers, whole numbers together with fractions."""
    return float if value.__class__ is int else value.__class__


def _columns(rows: Iterable[tuple[float, int]]) -> tuple[list[float], list[int]]:
    ordered = sorted(rows)
    return [threshold for threshold, _ in ordered], [position for _, position in ordered]


def _cover(condition: Condition) -> tuple[Condition, ...] | None:
    """Comparisons of which one must hold for the condition to hold; None when there are none to name."""
    if condition.fact is not None:
        return None if condition.known is False or condition.stated is False else (condition,)
    if condition.all is not None:
        covers = [cover for cover in map(_cover, condition.all) if cover is not None]
        return min(covers, key=_cost, default=None)
    if condition.any is not None:
        parts: list[Condition] = []
        for cover in map(_cover, condition.any):
            if cover is None:
                return None
            parts += cover
        return tuple(parts)
    return None


def _cost(cover: tuple[Condition, ...]) -> int:
    """How often a cover is likely met: equalities rarely, orderings half the time, `known` and references nearly always."""
    total = 0
    for atom in cover:
        comparison, right = atom.comparison
        if comparison in ("known", "stated") or isinstance(right, FactRef):
            total += 10
        else:
            total += 1 if comparison in ("is", "in") else 4
    return total
