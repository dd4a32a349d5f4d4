"""Which rules can hold at all for given values, found without testing every rule.

Every rule is filed under comparisons of which at least one must hold when its condition does: equalities by fact and
value, orderings by fact in the order of their thresholds. A rule without such comparisons is always tested.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from advisor.reasoning.conditions import Values, bare, bound_number
from advisor.records import Condition, FactRef, Scalar

_NUMBERS = frozenset((int, float))

_Columns = tuple[list[float], list[int]]
"""Thresholds in rising order, and the position at each."""


class _Filed:
    """Positions of the conditions that need one fact, by what they need of it."""

    def __init__(self) -> None:
        self.known: list[int] = []
        self.equal: dict[tuple[type, Scalar], list[int]] = defaultdict(list)
        self.rising: list[tuple[float, int]] = []
        self.falling: list[tuple[float, int]] = []

    def columns(
        self,
    ) -> tuple[Sequence[int], Mapping[tuple[type, Scalar], Sequence[int]], _Columns | None, _Columns | None]:
        """What `RuleIndex.candidates` looks at, in the form it needs."""
        return self.known, dict(self.equal), _columns(self.rising), _columns(self.falling)


class RuleIndex:
    """Positions of conditions by what they need."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self._always: list[int] = []
        filed: dict[str, _Filed] = defaultdict(_Filed)
        for position, condition in enumerate(conditions):
            cover = _cover(condition)
            if cover is None:
                self._always.append(position)
            for atom in cover or ():
                _file(filed[atom.fact or ""], atom, position)
        self._filed = [(name, *place.columns()) for name, place in filed.items()]

    def candidates(self, values: Values) -> list[int]:
        """Positions of the conditions that may hold, in order: all that do hold are among them."""
        found = set(self._always)
        for name, known, equal, rising, falling in self._filed:
            value = values.get(name)
            if value is None:
                continue
            if known:
                found.update(known)
            if equal:
                hit = equal.get((_class(value), bare(value)))
                if hit:
                    found.update(hit)
            if (rising or falling) and value.__class__ in _NUMBERS:
                if rising:
                    thresholds, positions = rising
                    found.update(positions[: bisect_right(thresholds, value)])
                if falling:
                    thresholds, positions = falling
                    found.update(positions[bisect_left(thresholds, value) :])
        return sorted(found)


def _file(place: _Filed, atom: Condition, position: int) -> None:
    comparison, right = atom.comparison
    number = bound_number(right)
    if comparison in ("above", "at_least") and number is not None:
        place.rising.append((number, position))
    elif comparison in ("below", "at_most") and number is not None:
        place.falling.append((number, position))
    elif comparison in ("is", "in") and not isinstance(right, FactRef):
        for literal in right if isinstance(right, tuple) else (right,):
            place.equal[_class(literal), bare(literal)].append(position)
    else:
        place.known.append(position)


def _class(value: Scalar) -> type:
    """Flags apart from numbers, whole numbers together with fractions."""
    return float if value.__class__ is int else value.__class__


def _columns(rows: Iterable[tuple[float, int]]) -> _Columns | None:
    ordered = sorted(rows)
    if not ordered:
        return None
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
