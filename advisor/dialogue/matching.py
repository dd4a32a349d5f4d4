"""Phrases found in a line: which patterns match, which of them win, and which are excluded by a `not`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from advisor.dialogue.lexicon import Lexicon
from advisor.dialogue.line import Line
from advisor.dialogue.patterns import ENTITIES, Pattern, Slot
from advisor.dialogue.values import TYPES, Quantity, read

_OWNED = ("#", "P", "G")
"""Numbers, precisions and sizes belong to one phrase; words may serve several, as in `1024 in and out`."""
_LOOKBACK = 4


@dataclass(frozen=True, slots=True)
class Filled:
    """A slot with what stands in it: a quantity, or the items of a name."""

    slot: Slot
    items: range
    quantity: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase that holds: its pattern, its items in the line, and its slots."""

    pattern: Pattern
    items: range
    filled: tuple[Filled, ...]
    excluded: bool = False


def find_phrases(lexicon: Lexicon, line: Line, patterns: Iterable[Pattern]) -> list[Found]:
    """The phrases of a line: the most specific first, no word used twice, in order of their place in the line."""
    candidates: list[tuple[tuple[float, ...], Found]] = []
    for pattern in patterns:
        if all(line.words & need for need in pattern.needs):
            for match in pattern.expression.finditer(line.text):
                found = _found(line, pattern, match)
                if found is not None:
                    candidates.append((_rank(line, found), found))
    candidates.sort(key=lambda pair: pair[0])
    taken: set[int] = set()
    chosen: list[Found] = []
    for _, found in candidates:
        owned = {index for fill in found.filled for index in fill.items if line.items[index].canon[0] in _OWNED}
        owned = owned or (set() if found.filled else set(found.items))
        if owned & taken:
            continue
        taken |= owned
        chosen.append(_with_exclusion(lexicon, line, found))
    return sorted(chosen, key=lambda found: found.items.start)


def _rank(line: Line, found: Found) -> tuple[float, ...]:
    first = found.filled[0].items.start if found.filled else found.items.start
    leads = first == found.items.start
    return (-found.pattern.weight, not leads, -len(found.items), found.items.start)


def _found(line: Line, pattern: Pattern, match: re.Match[str]) -> Found | None:
    filled: list[Filled] = []
    for slot in pattern.slots:
        span = match.span(slot.group)
        if span[0] < 0:
            continue
        items = line.range(span)
        if slot.type in ENTITIES:
            filled.append(Filled(slot, items))
            continue
        quantity = read(slot.type, line.tokens_in(span))
        if quantity is None:
            return None
        filled.append(Filled(slot, items, quantity))
    if pattern.slots and not filled:
        return None
    return Found(pattern, line.range(match.span()), tuple(filled))


def _with_exclusion(lexicon: Lexicon, line: Line, found: Found) -> Found:
    if not is_excluded(lexicon, line, found.items.start):
        return found
    return Found(found.pattern, found.items, found.filled, excluded=True)


def is_excluded(lexicon: Lexicon, line: Line, place: int) -> bool:
    """Whether a `not`, `no`, `instead of` … right before the item at `place` takes it out."""
    before: list[str] = []
    for index in range(place - 1, max(-1, place - 1 - _LOOKBACK), -1):
        if line.ends_clause(index):
            break
        before.insert(0, line.items[index].canon)
    while before and before[-1] in lexicon.negation_skip:
        before.pop()
    return any(before[-len(words) :] == list(words) for words in lexicon.negation) and not _asks_why(before)


def _asks_why(before: Sequence[str]) -> bool:
    """`why not H100` asks about it and does not exclude it."""
    return len(before) >= 2 and before[-1] == "not" and before[-2] in ("why", "if", "or", "whether")


def facts_of(found: Found) -> dict[str, Quantity]:
    """Fact -> quantity of a phrase's slots: factors multiply, a unit of time divides."""
    values: dict[str, Quantity] = {}
    for fill in found.filled:
        if fill.quantity is None or TYPES[fill.slot.type].role == "divisor":
            continue
        for fact in fill.slot.facts:
            values[fact] = _times(values[fact], fill.quantity) if fact in values else fill.quantity
    for fill in found.filled:
        if fill.quantity is not None and TYPES[fill.slot.type].role == "divisor":
            for fact in fill.slot.facts:
                if fact in values:
                    values[fact] = _times(values[fact], Quantity(1 / fill.quantity.value))
    return values


def _times(left: Quantity, right: Quantity) -> Quantity:
    factor = right.value
    return Quantity(
        left.value * factor,
        low=None if left.low is None else left.low * factor,
        high=None if left.high is None else left.high * factor,
        all=tuple(value * factor for value in left.all),
    )
