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


def _with_numbers(lexicon: Lexicon, tokens: Sequence[Token]) -> list[Token]:
    """Number words as numbers, and multipliers (`2 million`, `10 万`) drawn into the number before them."""
    result: list[Token] = []
    place = 0
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
        elif token.text in lexicon.numbers:
            token = _number(token, lexicon.numbers[token.text], token.end)
        else:
            length = next((n for n in (3, 2, 1) if _measured(lexicon, tokens, place, n)), 0)
            if length:
                value = lexicon.measured["".join(t.text for t in tokens[place : place + length])]
                token = _number(token, value, tokens[place + length - 1].end)
                place += length - 1
        result.append(token)
        place += 1
    return result


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
