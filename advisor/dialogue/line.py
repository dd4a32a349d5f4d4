"""A sentence as one canonical line: words as they are, numbers as `#`, recognised names as one capital letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from advisor.dialogue.lexicon import Lexicon, Name, with_memory
from advisor.dialogue.modelnames import Mention
from advisor.dialogue.patterns import ENTITIES
from advisor.dialogue.text import Token, tokens_of

_LETTER = {**ENTITIES, "value": "V"}
_PERCENTILES = (50, 75, 90, 95, 99, 99.9)
_MEMORIES = frozenset({16, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 180, 192, 256, 288})
"""Gigabytes that accelerators have."""
_LONGEST_SPELT = 8
_TENS = frozenset({20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0})
_CLAUSE_END = frozenset({",", ";", ".", "?", "!", "(", ")", "|"})


@dataclass(frozen=True, slots=True)
class Item:
    """One word of the canonical line, made of tokens first..last-1 of the sentence."""

    canon: str
    first: int
    last: int
    names: tuple[Name, ...] = ()
    mention: Mention | None = None


class Line:
    """The canonical line of a sentence and the way back to its tokens and characters."""

    def __init__(self, lexicon: Lexicon, text: str, tokens: Sequence[Token], items: Sequence[Item]) -> None:
        self.source = text
        self.tokens = tokens
        self.items = items
        written = [lexicon.marks.get(item.canon, item.canon) for item in items]
        self.text = " " + "".join(word + " " for word in written)
        self.words = frozenset(item.canon for item in items)
        self._at: dict[int, int] = {}
        place = 1
        for index, word in enumerate(written):
            self._at[place] = index
            place += len(word) + 1
        self._at[place] = len(items)

    def range(self, span: tuple[int, int]) -> range:
        """Indices of the items in a span of the canonical line (as a match reports it)."""
        return range(self._at[span[0]], self._at[span[1]])

    def tokens_in(self, span: tuple[int, int]) -> Sequence[Token]:
        """The tokens under a span of the canonical line."""
        inside = self.range(span)
        return (
            self.tokens[self.items[inside.start].first : self.items[inside.stop - 1].last] if inside else ()
        )

    def place(self, first: int, last: int) -> tuple[int, int]:
        """Characters of the text as typed under the items first..last-1."""
        return self.tokens[self.items[first].first].start, self.tokens[self.items[last - 1].last - 1].end

    def is_key(self, index: int) -> bool:
        """Whether the item is the key of a `key=value` written without spaces."""
        last = self.items[index].last
        following = self.tokens[last : last + 2]
        return len(following) == 2 and following[0].text == "=" and all(token.glued for token in following)

    def ends_clause(self, index: int) -> bool:
        """Whether the item is punctuation that closes a clause."""
        return self.items[index].canon in _CLAUSE_END


def read_line(lexicon: Lexicon, text: str) -> Line:
    """Tokenise a sentence and recognise the names of models and hardware."""
    tokens = with_memory(_with_numbers(lexicon, tokens_of(text)))
    found: list[Item] = []
    place = 0
    blocked = [False] * len(tokens)
    while place < len(tokens):
        hit = lexicon.names.longest(tokens, place)
        if hit is None or _goes_on(tokens, hit.end, hit.parts):
            place += 1
            continue
        kind = _kind(hit.payloads)
        start, end = place, hit.end
        if kind in ("accelerator", "rack", "node"):
            end = _absorb(lexicon, tokens, end)
            if place and tokens[place - 1].text.endswith("gb") and not blocked[place - 1]:
                start = place - 1
        found.append(Item(_LETTER[kind], start, end, hit.payloads))
        blocked[start:end] = [True] * (end - start)
        place = end
    for mention in lexicon.models.find(tokens, blocked):
        found.append(Item("M", mention.start, mention.end, mention=mention))
        blocked[mention.start : mention.end] = [True] * (mention.end - mention.start)
    found += [Item(_canonical(token), i, i + 1) for i, token in enumerate(tokens) if not blocked[i]]
    return Line(lexicon, text, tokens, sorted(found, key=lambda item: item.first))


def with_terms(lexicon: Lexicon, line: Line) -> Line:
    """The line with the terms of the field recognised as well, for what a sentence asks."""
    named = [item for item in line.items if item.canon[0].isupper() and item.canon != "G"]
    blocked = [False] * len(line.tokens)
    for item in named:
        blocked[item.first : item.last] = [True] * (item.last - item.first)
    items = list(named)
    place = 0
    while place < len(line.tokens):
        hit = None if blocked[place] else lexicon.concepts.longest(line.tokens, place)
        if hit is None or any(blocked[place : hit.end]):
            place += 1
            continue
        items.append(Item("C", place, hit.end, hit.payloads))
        blocked[place : hit.end] = [True] * (hit.end - place)
        place = hit.end
    items += [Item(_canonical(token), i, i + 1) for i, token in enumerate(line.tokens) if not blocked[i]]
    return Line(lexicon, line.source, line.tokens, sorted(items, key=lambda item: item.first))


def _kind(names: Sequence[Name]) -> str:
    kinds = {name.kind for name in names}
    for kind in ("accelerator", "node", "rack", "precision"):
        if kind in kinds:
            return kind
    return names[0].kind


def _canonical(token: Token) -> str:
    if token.number is not None:
        return "#" + token.suffix
    return "G" if token.text[0].isdigit() and token.text.endswith(("gb", "tb", "mb")) else token.text


def _goes_on(tokens: Sequence[Token], end: int, parts: int) -> bool:
    """Whether letters are glued to the name, so that it is the start of some other word (`r1x`, `p4d`)."""
    if end >= len(tokens) or not tokens[end].glued or parts > 2:
        return False
    text = tokens[end].text
    return text.isascii() and text.isalpha() and text not in ("s", "x", "sxm", "pcie", "nvl", "ada", "kv")


def _absorb(lexicon: Lexicon, tokens: Sequence[Token], end: int) -> int:
    """Take the plural s, the form factor and the memory size behind an accelerator's name into it."""
    suffixes = lexicon.suffixes
    while end < len(tokens):
        token = tokens[end]
        following = tokens[end + 1] if end + 1 < len(tokens) else None
        memory = _canonical(token) == "G"
        numbered = token.number is not None and token.glued and tokens[end - 1].text in ("sxm", "hbm")
        if (
            memory
            or numbered
            or _is_bare_memory(tokens, end)
            or (token.text in suffixes and (token.text != "s" or token.glued))
        ):
            end += 1
        elif token.text == "'" and following is not None and following.text == "s" and following.glued:
            end += 2
        elif token.text in ("(", "/", "-", "_") and following is not None and _canonical(following) == "G":
            closes = end + 2 < len(tokens) and tokens[end + 2].text == ")"
            if token.text == "(" and not closes:
                break
            end += 3 if token.text == "(" else 2
        elif (
            token.text in ("-", "_")
            and following is not None
            and following.text in suffixes
            and following.text != "s"
        ):
            end += 2
        else:
            break
    return end


def _is_bare_memory(tokens: Sequence[Token], place: int) -> bool:
    """Whether a number behind an accelerator is its memory in GB: `A100 80 x4`."""
    following = [token.text for token in tokens[place + 1 : place + 2]]
    return tokens[place].number in _MEMORIES and not tokens[place].suffix and following in (["x"], ["*"])


def _with_spaced_thousands(lexicon: Lexicon, tokens: Sequence[Token]) -> list[Token]:
    """`1 500 users` as one number. After a word that may own the first number (`llama 3 500 users`) both stay."""
    joined: list[Token] = []
    for token in tokens:
        before = joined[-1] if joined else None
        led = joined[-2].text if len(joined) > 1 else ""
        if (
            before is not None
            and before.number is not None
            and token.number is not None
            and (led in lexicon.leads or not led.isalnum())
            and led not in ("/", "-", "x", "*")
            and not (before.suffix or token.glued or "." in before.text)
            and 1 <= before.number < 1000
            and token.text[:3].isdigit()
            and len(token.text.rstrip("k")) == 3
            and token.text[1:3] == "00"
        ):
            joined[-1] = Token(
                before.text + token.text, before.start, token.end, before.glued,
                before.number * 1000 + token.number, token.suffix,
            )  # fmt: skip
        else:
            joined.append(token)
    return joined


def _with_numbers(lexicon: Lexicon, tokens: Sequence[Token]) -> list[Token]:
    """Number words as numbers, and multipliers (`2 million`, `10 万`) drawn into the number before them."""
    result: list[Token] = []
    place = 0
    tokens = _with_spaced_thousands(lexicon, tokens)
    while place < len(tokens):
        token = tokens[place]
        if token.number is not None:
            multiplier = lexicon.multipliers.get(tokens[place + 1].text) if place + 1 < len(tokens) else None
            if multiplier is not None and not token.suffix:
                result.append(_multiplied(token, multiplier, tokens[place + 1].end))
                place += 2
                continue
        elif (
            token.text == "p"
            and place + 1 < len(tokens)
            and tokens[place + 1].glued
            and tokens[place + 1].number in _PERCENTILES
        ):
            token = Token("percentile", token.start, tokens[place + 1].end, token.glued)
            place += 1
        elif spelt := _spelt(lexicon, tokens, place):
            token, length = spelt
            place += length - 1
        elif token.text == "and" and _ends_range(result, tokens, place):
            token = Token("to", token.start, token.end, token.glued)
        else:
            length = next((n for n in (3, 2, 1) if _measured(lexicon, tokens, place, n)), 0)
            if length:
                value = lexicon.measured["".join(t.text for t in tokens[place : place + length])]
                token = _number(token, value, tokens[place + length - 1].end)
                place += length - 1
        result.append(token)
        place += 1
    return result


def _spelt(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[Token, int] | None:
    """The number in words at `place` and how many tokens it takes: `forty`, `thirty-two`, `two hundred fifty`, `half a million`."""
    words = [token.text for token in tokens[place : place + _LONGEST_SPELT]]
    value, length = _part_of_one(lexicon, words) or _added(lexicon, words)
    if not length:
        return None
    token = _number(tokens[place], value, tokens[place + length - 1].end)
    multiplier = lexicon.multipliers.get(words[length]) if length < len(words) else None
    if multiplier is None:
        return token, length
    return _multiplied(token, multiplier, tokens[place + length].end), length + 1


def _part_of_one(lexicon: Lexicon, words: Sequence[str]) -> tuple[float, int] | None:
    """`half a million`, `a thousand`, `half a second`; not `half the context`, which is a factor."""
    if words[0] not in ("a", "half"):
        return None
    length = 2 if words[:2] == ["half", "a"] else 1
    following = words[length] if length < len(words) else ""
    if words[0] == "a" and following == "hundred":
        value, more = _added(lexicon, words[1:])
        return value, more + 1
    known = following in lexicon.multipliers or (words[0] == "half" and following in ("second", "sec", "s"))
    return (0.5 if words[0] == "half" else 1.0, length if known else 0)


def _added(lexicon: Lexicon, words: Sequence[str]) -> tuple[float, int]:
    """Hundreds, tens and units that follow one another, and how many words they take; 0 when no number starts here."""
    value, length = 0.0, 0
    while length < len(words):
        joined = length > 0 and words[length] in ("-", "and")
        word = words[length + joined] if length + joined < len(words) else ""
        number = lexicon.numbers.get(word, 0.0)
        if word == "hundred" and value < 10 and not joined:
            value = max(value, 1.0) * 100
        elif number and (
            not value or (value % 100 == 0 and number < 100) or (value % 100 in _TENS and number < 10)
        ):
            value += number
        else:
            break
        length += 1 + joined
    return value, length


def _ends_range(result: Sequence[Token], tokens: Sequence[Token], place: int) -> bool:
    """Whether the `and` at `place` is that of `between 200 and 400`."""
    return (
        len(result) > 1
        and result[-2].text == "between"
        and result[-1].number is not None
        and place + 1 < len(tokens)
        and tokens[place + 1].number is not None
    )


def _measured(lexicon: Lexicon, tokens: Sequence[Token], place: int, length: int) -> bool:
    word = "".join(token.text for token in tokens[place : place + length])
    after = place + length
    return word in lexicon.measured and after < len(tokens) and tokens[after].text in lexicon.measures


def _number(token: Token, value: float, end: int) -> Token:
    return Token(f"{value:g}", token.start, end, token.glued, float(value))


def _multiplied(token: Token, multiplier: str | float, end: int) -> Token:
    assert token.number is not None
    if isinstance(multiplier, str):
        return Token(token.text + multiplier, token.start, end, token.glued, token.number, multiplier)
    return _number(token, token.number * multiplier, end)
