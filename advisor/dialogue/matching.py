"""Phrases found in a line: which patterns match, which of them win, and which are excluded by a `not`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.dialogue.lexicon import Lexicon
from advisor.dialogue.line import Line
from advisor.dialogue.patterns import ENTITIES, Pattern, Slot
from advisor.dialogue.values import TYPES, Quantity, read

_OWNED = ("#", "P", "G")
"""Numbers, precisions and sizes belong to one phrase; words may serve several, as in `1024 in and out`."""
_LOOKBACK = 4
_ASKING = frozenset({"why", "if", "or", "whether", "么", "麼", "warum", "pourquoi"})


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


def find_phrases(lexicon: Lexicon, line: Line) -> list[Found]:
    """The phrases of a line in order of their place: the most specific win, and no number or cue is used twice.

    `TTFT 2s TPOT 100ms` can be read with the cue before or after its number; the reading that explains more is taken.
    """
    candidates = [
        found
        for pattern in lexicon.phrases.possible(line.words)
        for match in pattern.expression.finditer(line.text)
        if (found := _found(line, pattern, match)) is not None
    ]
    readings = [_choose(lexicon, line, candidates, number_first) for number_first in (True, False)]
    best = max(readings, key=lambda reading: (reading.numbers, reading.weight, reading.words))
    return [
        _with_exclusion(lexicon, line, found) for found in sorted(best.phrases, key=lambda f: f.items.start)
    ]


@dataclass(frozen=True, slots=True)
class _Choice:
    """One way to read a line, how many numbers it explains, how specific its phrases are in sum, and words explained."""

    phrases: tuple[Found, ...]
    numbers: int
    weight: int
    words: int


def _choose(lexicon: Lexicon, line: Line, candidates: Sequence[Found], number_first: bool) -> _Choice:
    def rank(found: Found) -> tuple[float, ...]:
        first = found.filled[0].items.start if found.filled else found.items.start
        leads = first == found.items.start
        return (-found.pattern.weight, leads != number_first, -len(found.items), found.items.start)

    taken: set[int] = set()
    chosen: list[Found] = []
    for found in sorted(candidates, key=rank):
        owned = _owned(lexicon, line, found)
        if not owned & taken:
            taken |= owned
            chosen.append(found)
    numbers = sum(line.items[index].canon[0] == "#" for index in taken)
    weight = sum(found.pattern.weight for found in chosen)
    return _Choice(tuple(chosen), numbers, weight, len(taken))


def _owned(lexicon: Lexicon, line: Line, found: Found) -> set[int]:
    """Items that no other phrase may use: the numbers, and the words that say what they are."""
    if not found.filled:
        return set(found.items)
    slots = {index for fill in found.filled for index in fill.items}
    owned = {index for index in slots if line.items[index].canon[0] in _OWNED}
    if not owned:
        return set()
    # a phrase with a gap reaches over other phrases; the words before its number are not its own
    first = max(slots) if found.pattern.gapped else found.items.start
    words = (i for i in found.items if i >= first and i not in slots)
    return owned | {
        i for i in words if line.items[i].canon.isalpha() and line.items[i].canon not in lexicon.fillers
    }


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
    items = line.range(match.span())
    if filled and filled[-1].items.stop < items.stop and line.is_key(items.stop - 1):
        # in `conc=512 gpu=b200` the word after the number starts the next pair
        return None
    return Found(pattern, items, tuple(filled))


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
    return any(
        tuple(before[-len(words) :]) == words and not _asks_why(before, len(words))
        for words in lexicon.negation
    )


def _asks_why(before: Sequence[str], length: int) -> bool:
    """Whether a negation of so many words ends a `why not H100`, which asks about it and does not exclude it."""
    if len(before) <= length:
        return False
    asking = before[-length - 1]
    return asking == "why" or (before[-length] in ("not", "不") and asking in _ASKING)


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
