"""A bare answer to the question that was asked: `8192`, `25 tok/s`, `yes`, `the second`, `liquid`."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.dialogue.lexicon import Lexicon
from advisor.dialogue.line import Line
from advisor.dialogue.readings import Reading
from advisor.dialogue.text import Token
from advisor.dialogue.values import Quantity, read
from advisor.records import Fact, Scalar

_LONGEST = 9
_CLOSE = 84.0
_YES = frozenset(
    {"yes", "y", "yeah", "yep", "yup", "sure", "true", "correct", "ok", "okay", "si", "ja", "oui", "是"}
)
_NO = frozenset({"no", "n", "nope", "nah", "false", "none", "never", "nein", "non", "否"})
_ORDINALS = {
    "first": 0,
    "second": 1,
    "third": 2,
    "fourth": 3,
    "fifth": 4,
    "last": -1,
    "former": 0,
    "latter": -1,
}
_RATE_WORDS = frozenset({"tok", "token", "tokens", "toks", "tps", "t"})
_TIME_WORDS = frozenset(
    {"ms", "msec", "s", "sec", "secs", "second", "seconds", "millisecond", "milliseconds"}
)


def read_answer(lexicon: Lexicon, line: Line, fact: Fact) -> Reading | None:
    """The value of `fact` that a short line states, or None when the line is something else."""
    if not line.items or len(line.items) > _LONGEST:
        return None
    if fact.type in ("number", "integer"):
        return _number(lexicon, line, fact)
    words = [item.canon for item in line.items]
    if fact.type == "flag":
        if words[0] in _YES | _NO:
            return _reading(line, words[0] in _YES)
        return None
    if fact.type == "choice":
        return _choice(line, fact, words)
    return None


def pick(options: Sequence[str], text: str) -> int | None:
    """Which of the options a reply means: its number, an ordinal, or words that only one of them has; None if unclear."""
    from rapidfuzz import fuzz

    cleaned = " ".join(text.casefold().split()).strip(" .!()#")
    if cleaned.isascii() and cleaned.isdigit():
        place = int(cleaned[:6]) - 1
        return place if 0 <= place < len(options) else None
    words = cleaned.removeprefix("the ").removesuffix(" one").split()
    if len(words) == 1 and words[0] in _ORDINALS:
        place = _ORDINALS[words[0]]
        return place % len(options)
    folded = ["".join(c for c in option.casefold() if c.isalnum() or c == ".") for option in options]
    wanted = "".join(c for c in cleaned if c.isalnum() or c == ".")
    if not wanted:
        return None
    for test in (wanted.__eq__, lambda option: wanted in option):
        hits = [place for place, option in enumerate(folded) if test(option)]
        if len(hits) == 1:
            return hits[0]
    scores = sorted(
        ((fuzz.ratio(wanted, option), -place) for place, option in enumerate(folded)), reverse=True
    )
    clear = scores[0][0] >= _CLOSE and (len(scores) == 1 or scores[0][0] - scores[1][0] > 5)
    return -scores[0][1] if clear else None


def _number(lexicon: Lexicon, line: Line, fact: Fact) -> Reading | None:
    numbers = [index for index, item in enumerate(line.items) if item.canon[0] == "#"]
    if not numbers or len(numbers) > 2 or any(item.names or item.mention for item in line.items):
        return None
    words = {item.canon for index, item in enumerate(line.items) if index not in numbers}
    tokens = line.tokens[line.items[numbers[0]].first : line.items[numbers[-1]].last]
    quantity = _quantity(fact, tokens, words)
    if quantity is None:
        return None
    unit = {word for part in (fact.unit, *fact.words) for word in part.casefold().replace("/", " ").split()}
    known = (
        unit
        | _RATE_WORDS
        | _TIME_WORDS
        | lexicon.fillers
        | {"/", "per", "user", "k", "kw", "s", "#", ",", "."}
    )
    if (
        words
        - known
        - set(lexicon.terms["users"])
        - set(lexicon.terms["requests"])
        - set(lexicon.terms["simultaneous"])
    ):
        return None
    value = round(quantity.value) if fact.type == "integer" else float(f"{quantity.value:.6g}")
    if (fact.minimum is not None and value < fact.minimum) or (
        fact.maximum is not None and value > fact.maximum
    ):
        return None
    return _reading(line, value, quantity)


def _quantity(fact: Fact, tokens: Sequence[Token], words: set[str]) -> Quantity | None:
    if len(tokens) == 1 and tokens[0].number == 0:
        return Quantity(0)
    if fact.unit == "tokens":
        return read("tokens", tokens)
    if fact.unit != "ms":
        return read("count", tokens)
    if words & _RATE_WORDS and not words & {"ms", "msec"}:
        return read("speed", tokens)
    quantity = read("ms", tokens)
    if quantity is None or not words & (_TIME_WORDS - {"ms", "msec", "millisecond", "milliseconds"}):
        return quantity
    return Quantity(quantity.value * 1000)


def _choice(line: Line, fact: Fact, words: list[str]) -> Reading | None:
    values = [choice.value for choice in fact.choices]
    for choice in fact.choices:
        if {choice.value.casefold(), *(word.casefold() for word in choice.words)} & set(words):
            return _reading(line, choice.value)
    place = (
        pick([choice.label or choice.value for choice in fact.choices], line.source)
        if len(words) <= 4
        else None
    )
    return None if place is None else _reading(line, values[place])


def _reading(line: Line, value: Scalar, quantity: Quantity | None = None) -> Reading:
    span = line.place(0, len(line.items))
    return Reading(
        values=(value,), span=span, text=line.source[span[0] : span[1]],
        low=quantity.low if quantity else None, high=quantity.high if quantity else None,
    )  # fmt: skip
