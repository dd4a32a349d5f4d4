"""Conditions, as rules and gotchas carry them: `{all|any|none: [...]}` or one comparison on one fact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from advisor.records.common import Scalar


@dataclass(frozen=True, kw_only=True)
class FactRef:
    """The value of another fact in the place of a literal: `above: {fact: rack_kw}`."""

    fact: str


Bound = float | str | FactRef
"""Right side of an ordering: a number in the fact's unit, the same with its unit written (`15 ms`), or another fact."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One node of a condition tree: exactly one of the groups, or `fact` with exactly one comparison.

    above/below are strict, at_least/at_most are not. `known: true` holds when the fact has a value, `stated: true` when
    that value was said or computed rather than assumed. `any` is spelled `any` in YAML.
    """

    all: tuple[Condition, ...] | None = None
    any: tuple[Condition, ...] | None = None
    none: tuple[Condition, ...] | None = None
    fact: str | None = None
    # the two comparisons that are Python keywords are renamed at load time
    is_: Scalar | FactRef | None = None
    in_: tuple[Scalar, ...] | None = None
    above: Bound | None = None
    at_least: Bound | None = None
    below: Bound | None = None
    at_most: Bound | None = None
    known: bool | None = None
    stated: bool | None = None

    def atoms(self) -> Iterator[Condition]:
        """The comparisons of this tree, from left to right."""
        if self.fact is not None:
            yield self
        for group in (self.all, self.any, self.none):
            for part in group or ():
                yield from part.atoms()

    @property
    def comparison(self) -> tuple[str, Bound | Scalar | tuple[Scalar, ...]]:
        """The comparison of an atom as the YAML spells it, and its right side: `("at_most", 15)`.

        Raises ValueError for a group.
        """
        for name in ("is_", "in_", "above", "at_least", "below", "at_most", "known", "stated"):
            right = getattr(self, name)
            if right is not None:
                return name.rstrip("_"), right
        raise ValueError("a group has no comparison of its own")

    def facts(self) -> tuple[str, ...]:
        """Names of the facts that decide this condition, right sides included, in order of appearance."""
        names: dict[str, None] = {}
        for atom in self.atoms():
            names.setdefault(atom.fact or "", None)
            right = atom.comparison[1]
            if isinstance(right, FactRef):
                names.setdefault(right.fact, None)
        return tuple(names)
