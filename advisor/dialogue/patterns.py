r"""Phrase patterns: the small language in which facts and acts say how people write them, compiled to bounded expressions.

    {count} [concurrent] <users>        a number, an optional word, a word list
    (ttft|first token) {duration}       alternatives; a duration carries its unit
    {times} x {count} {accelerator}     values of one fact in one pattern multiply
    {tokens} in {output_tokens:tokens} out
    ! only {count} <tok> / s            recognised and left out
    context ... {tokens}                up to four other words in between
    {speed} <rate> <per user> @ 5       counts as five words: more specific than it looks
    ^ undo                              at the start of the sentence
    {tokens} in $                       at its end
    \( {count} \)                       brackets that stand in the sentence

A pattern is matched against the canonical line: tokens separated by one space, `#` for a number (`#k` with its suffix) and
one capital letter for a recognised name. Every repetition is bounded, and so are the ways to read one line, so matching is
linear in the line.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache

from advisor.dialogue.text import tokens_of
from advisor.errors import KnowledgeError

ENTITIES = {"accelerator": "A", "rack": "R", "node": "B", "system": "[RB]", "model": "M", "precision": "P", "memory": "G", "concept": "C"}  # fmt: skip
"""Slot type -> letter (class) that stands for a recognised name in the canonical line."""

_NUMBER = "#[kmbtg]?"
_NUMBERS = frozenset({"#", "#k", "#m", "#b", "#t", "#g"})
"""The number as it stands in the canonical line, with and without a suffix."""
_BEFORE, _AFTER, _BOTH = "\x02", "\x03", "\x04"
"""Marks in the canonical line before words that may stand before a number, after one, or both: one class instead of a list."""
_GAP = r"(?:[^\s#,;.!?]+ ){0,4}?"
_WAYS = {"one": 0.0, "range": 1.0, "slashed": math.log2(6), "list": math.log2(7), "unit": 0.0}
"""Form of a number -> log2 of the places where it may end."""
_MAX_PATTERN = 500
_MAX_DEPTH = 12
_MAX_EXPRESSION = 200_000
"""Characters of one compiled expression: word lists that name one another would multiply."""
_MAX_WAYS = 12.0
"""log2 of the ways in which a pattern may read one and the same line: what a search costs where it fails in the end."""
_MAX_WAYS_TOGETHER = 65_536
"""Ways of all patterns in sum: a line is searched for each of them."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One value of a pattern: the facts it fills, its type (see `values.py`), and its group in the expression."""

    facts: tuple[str, ...]
    type: str
    group: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern of one fact or act.

    value: what the match means when it has no slots. weight: words that must be there, so the more specific wins.
    needs: word sets of which each must share a word with the line (a cheap test before the expression runs).
    dismissed: the match is recognised and left out. gapped: other words may stand in the middle.
    """

    owner: str
    source: str
    regex: str
    slots: tuple[Slot, ...]
    weight: int
    needs: tuple[frozenset[str], ...]
    value: str = ""
    dismissed: bool = False
    gapped: bool = False

    @property
    def expression(self) -> re.Pattern[str]:
        """The compiled expression; most patterns are ruled out by their words and never need it."""
        return _compiled(self.regex)


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex)


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of expression under construction, with the word sets it needs and how many words it must match.

    first: words it may begin with, None where that may be any. ways: log2 of the readings of one and the same line.
    """

    expression: str
    needs: tuple[frozenset[str], ...] = ()
    weight: int = 0
    kind: str = "words"
    first: frozenset[str] | None = None
    ways: float = 0.0


class PatternCompiler:
    """Compiles patterns with a set of word lists: `terms` for `<name>`, and the fillers allowed next to a number."""

    def __init__(self, terms: Mapping[str, Sequence[str]]) -> None:
        self._terms = dict(terms)
        self._parts: dict[str, _Part] = {}
        self._open: set[str] = set()
        self._ways = 0.0
        before, after = (self._filler_words(name) for name in ("fill before", "fill after"))
        self.marks: dict[str, str] = {
            word: (_BOTH if word in before and word in after else _BEFORE if word in before else _AFTER)
            + word
            for word in before | after
            if " " not in word
        }
        """Words as they stand in the canonical line, where they differ."""
        self._before = self._filler(before, _BEFORE, 5)
        self._after = self._filler(after, _AFTER, 2)
        self._join = f"(?:(?:{self._word('-')}|{self._word('_')}))?"
        number, joiners = _NUMBER, (self._word(word) for word in ("/", ",", "&", "and", "or", "vs"))
        self._forms = {
            "one": f"{number} ",
            "range": f"{number} (?:(?:{self._word('-')}|{self._word('~')}|{self._word('to')}){number} )?",
            "slashed": f"{number} (?:{self._word('/')}{number} ){{1,6}}",
            "list": f"{number} (?:(?:{self._word(',')})?(?:{'|'.join(joiners)})(?:{self._word('or')})?{number} ){{0,6}}",
        }

    def _filler_words(self, name: str) -> set[str]:
        return {" ".join(t.text for t in tokens_of(word)) for word in self._terms.get(name, ())}

    def _filler(self, words: Set[str], mark: str, most: int) -> str:
        if not words:
            return ""
        several = sorted((word for word in words if " " in word), key=len, reverse=True)
        phrases = ["".join(self._word(part) for part in word.split()) for word in several]
        return "(?:" + "|".join((*phrases, f"[{mark}{_BOTH}][^ ]+ ")) + f"){{0,{most}}}"

    def _word(self, word: str) -> str:
        """The expression of one word and the space behind it."""
        return re.escape(self.marks.get(word, word)) + " "

    def line_of(self, words: Iterable[str]) -> str:
        """Words as the text that expressions are matched against."""
        return " " + "".join(self.marks.get(word, word) + " " for word in words)

    def compile(self, source: str, owner: str, value: str = "") -> Pattern:
        """The compiled pattern. Raises KnowledgeError that quotes what cannot be read."""
        dismissed = source.startswith("!")
        anchored = source.startswith("^")
        reader = _Reader(source[1:] if dismissed or anchored else source, owner, self)
        part = reader.sequence()
        weight = part.weight
        ends = reader.rest[:1] == ["$"]
        if ends:
            reader.rest.pop(0)
        if reader.rest and reader.rest[0] == "@" and len(reader.rest) == 2 and reader.rest[1].isdigit():
            weight = int(reader.rest[1])
        elif reader.rest:
            raise KnowledgeError(f"{owner}: pattern {source!r}: unexpected {reader.rest[0]!r}")
        if part.ways > _MAX_WAYS:
            raise KnowledgeError(
                f"{owner}: pattern {source!r}: one line could be read in more than {2**_MAX_WAYS:,.0f} ways; use fewer optional"
                " parts, gaps, lists of numbers and alternatives that begin alike, or split the pattern"
            )
        self._ways += 2**part.ways
        if self._ways > _MAX_WAYS_TOGETHER:
            raise KnowledgeError(
                f"{owner}: pattern {source!r}: with this one, one line could be read in more than {_MAX_WAYS_TOGETHER:,} ways by all"
                " patterns together; use fewer patterns, or such with fewer optional parts and gaps"
            )
        regex = (r"(?<=\A )" if anchored else r"(?<= )") + part.expression + (r"\Z" if ends else "")
        return Pattern(
            owner,
            source,
            regex,
            tuple(reader.slots),
            weight,
            part.needs,
            value,
            dismissed,
            "..." in source,
        )

    def term(self, name: str, where: str) -> _Part:
        """The part of a word list. Raises KnowledgeError when there is none of that name."""
        if name not in self._parts:
            if name not in self._terms:
                raise KnowledgeError(
                    f"{where}: no word list <{name}>; such as {', '.join(sorted(self._terms)[:8])}"
                )
            if name in self._open:
                raise KnowledgeError(f"{where}: the word list <{name}> names itself")
            words = sorted(self._terms[name], key=len, reverse=True)
            self._open.add(name)
            try:
                self._parts[name] = _alternatives([self.entry(word, where) for word in words], where)
            finally:
                self._open.discard(name)
        return self._parts[name]

    def entry(self, word: str, where: str) -> _Part:
        """The part of one entry of a word list: a name, or alternatives in brackets that count as one word."""
        if not set("([|") & set(word):
            return self.literal(word, where)
        part = _Reader(word, where, self).sequence()
        return _Part(part.expression, part.needs, 1, first=part.first, ways=part.ways)

    def literal(self, word: str, where: str) -> _Part:
        """The part of one word or of a name with hyphens. Raises KnowledgeError when it holds a number."""
        tokens = [token for token in tokens_of(word) if token.text not in ("-", "_")] or tokens_of(word)
        if not tokens or any(token.number is not None for token in tokens):
            raise KnowledgeError(
                f"{where}: {word!r} cannot be a word of a pattern; write numbers as slots such as {{count}}"
            )
        expression = self._join.join(self._word(token.text) for token in tokens)
        needs = tuple(frozenset({token.text}) for token in tokens)
        return _Part(expression, needs, 1, first=needs[0])

    def _glue(self, before: str, after: str) -> str:
        """What may stand between two elements; between two numbers nothing, so that `4-5` is never a product."""
        if not before or "gap" in (before, after) or (before == after == "number") or after == "bare":
            return ""
        filler = self._before if after == "number" else self._after if before == "number" else ""
        return filler + self._join

    def value(self, kind: str, group: str) -> _Part:
        """The part of a slot of a type in `values.TYPES`."""
        from advisor.dialogue.values import TYPES

        shape = TYPES[kind]
        first = (frozenset(unit.split()[0] for unit in shape.units),) if shape.units else ()
        longest = sorted(shape.units, key=len, reverse=True)
        units = "|".join("".join(self._word(word) for word in unit.split()) for unit in longest)
        units = f"(?:{units})" if units else ""
        if shape.form == "unit":
            return _Part(f"(?P<{group}>{units})", first, first=frozenset().union(*first))
        body = self._forms[shape.form] + units
        kind_of_part = "bare" if shape.bare else "number"
        return _Part(
            f"(?P<{group}>{body})",
            (_NUMBERS, *first),
            kind=kind_of_part,
            first=_NUMBERS,
            ways=_WAYS[shape.form],
        )

    def joined(self, parts: Sequence[_Part], where: str) -> _Part:
        """The parts one after another, with what may stand between them. Raises KnowledgeError when they are too long."""
        expression = solid = ""
        for part in parts:
            piece = self._glue(solid, part.kind) + part.expression
            expression += f"(?:{piece})?" if part.kind == "optional" else piece
            _bounded(expression, where)
            solid = solid if part.kind == "optional" else part.kind
        needs = tuple(dict.fromkeys(need for part in parts for need in part.needs))
        kind = parts[0].kind if len(parts) == 1 else "words"
        return _Part(
            expression,
            needs,
            sum(part.weight for part in parts),
            kind,
            _first(parts),
            sum(p.ways for p in parts),
        )


def _bounded(expression: str, where: str) -> str:
    """The expression. Raises KnowledgeError when it is too long to be tried on every line."""
    if len(expression) > _MAX_EXPRESSION:
        raise KnowledgeError(
            f"{where}: its word lists make an expression of more than {_MAX_EXPRESSION:,} characters; shorten them"
        )
    return expression


def _alternatives(parts: Sequence[_Part], where: str) -> _Part:
    body = "|".join(dict.fromkeys(part.expression for part in parts))
    needs: tuple[frozenset[str], ...] = ()
    if all(part.needs for part in parts):
        # one word of each alternative is enough to know that the alternative may match
        needs = (frozenset().union(*(min(part.needs, key=len) for part in parts)),)
    kinds = {part.kind for part in parts}
    kind = kinds.pop() if len(kinds) == 1 else "words"
    first = _first_of_any(parts)
    ways = max(part.ways for part in parts) + math.log2(_rivals(parts))
    return _Part(_bounded(f"(?:{body})", where), needs, min(part.weight for part in parts), kind, first, ways)


def _first(parts: Sequence[_Part]) -> frozenset[str] | None:
    """Words that a sequence may begin with."""
    words: frozenset[str] = frozenset()
    for part in parts:
        if part.first is None:
            return None
        words |= part.first
        if part.kind != "optional":
            break
    return words


def _first_of_any(parts: Sequence[_Part]) -> frozenset[str] | None:
    """Words that one of some alternatives may begin with."""
    words: frozenset[str] = frozenset()
    for part in parts:
        if part.first is None:
            return None
        words |= part.first
    return words


def _rivals(parts: Sequence[_Part]) -> int:
    """How many of some alternatives may begin with the same word."""
    counts = Counter(word for part in parts for word in part.first or ())
    return max(counts.values(), default=0) + sum(part.first is None for part in parts)


class _Reader:
    """Recursive descent over one pattern."""

    _LEXEME = re.compile(
        r"\s*(\.\.\.|\\[()\[\]]|[()\[\]|@]|\{[a-z_,:]{1,80}\}|<[a-z_ ]{1,40}>|[^\s()\[\]|{}<>@]{1,60}|\S)"
    )

    def __init__(self, source: str, owner: str, compiler: PatternCompiler) -> None:
        if len(source) > _MAX_PATTERN:
            raise KnowledgeError(f"{owner}: a pattern is longer than {_MAX_PATTERN} characters; split it")
        self.rest = self._LEXEME.findall(source)
        self.slots: list[Slot] = []
        self._where = f"{owner}: pattern {source!r}"
        self._owner = owner
        self._compiler = compiler
        self._depth = 0

    def sequence(self) -> _Part:
        """Elements up to a closing bracket, a bar or the end."""
        parts: list[_Part] = []
        while self.rest and self.rest[0] not in (")", "]", "|", "@", "$"):
            parts.append(self._element(self.rest.pop(0)))
        if not parts:
            raise KnowledgeError(f"{self._where}: an empty alternative")
        return self._compiler.joined(parts, self._where)

    def _element(self, lexeme: str) -> _Part:
        if lexeme == "...":
            return _Part(_GAP, kind="gap", ways=math.log2(5))
        if lexeme in ("(", "["):
            group = self._group(")" if lexeme == "(" else "]")
            return (
                group
                if lexeme == "("
                else _Part(group.expression, kind="optional", first=group.first, ways=group.ways + 1)
            )
        if lexeme.startswith("{"):
            return self._slot(lexeme[1:-1])
        if lexeme.startswith("<") and len(lexeme) > 1:
            return self._compiler.term(lexeme[1:-1], self._where)
        return self._compiler.literal(lexeme.removeprefix("\\"), self._where)

    def _group(self, closing: str) -> _Part:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise KnowledgeError(f"{self._where}: more than {_MAX_DEPTH} brackets inside each other")
        parts = [self.sequence()]
        while self.rest and self.rest[0] == "|":
            self.rest.pop(0)
            parts.append(self.sequence())
        if not self.rest or self.rest.pop(0) != closing:
            raise KnowledgeError(f"{self._where}: a bracket is not closed; expected {closing!r}")
        self._depth -= 1
        return _alternatives(parts, self._where)

    def _slot(self, text: str) -> _Part:
        from advisor.dialogue.values import TYPES

        names, _, kind = text.rpartition(":")
        facts = tuple(names.split(",")) if names else (self._owner,)
        group = f"v{len(self.slots)}"
        if kind in ENTITIES:
            letter = ENTITIES[kind]
            self.slots.append(Slot(facts, kind, group))
            needs = (frozenset(letter.strip("[]")),)
            return _Part(f"(?P<{group}>{letter} )", needs, weight=1, kind="name", first=needs[0])
        if kind not in TYPES:
            raise KnowledgeError(
                f"{self._where}: no slot type {kind!r}; one of {', '.join((*TYPES, *ENTITIES))}"
            )
        self.slots.append(Slot(facts, kind, group))
        return self._compiler.value(kind, group)
