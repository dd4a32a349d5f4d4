"""Longest-match lookup of names in a token stream, whatever stands between their parts: `gpt-oss 120b`, `GPT_OSS:120B`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from advisor.dialogue.text import Token

P = TypeVar("P")
SEPARATORS = frozenset({"-", "_", "/", ":"})
"""Tokens that may stand between the parts of a name."""
_SHORT = 2


@dataclass(slots=True)
class _Node(Generic[P]):
    payloads: list[P] = field(default_factory=list)
    below: dict[str, tuple[_Node[P], bool]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit(Generic[P]):
    """A name found: what it stands for, the token after its last one, and how many parts it has."""

    payloads: tuple[P, ...]
    end: int
    parts: int


class NameTrie(Generic[P]):
    """Names -> payloads. A digit after one or two letters must be glued to them (`H100`, `R1`), unless the name has a space."""

    def __init__(self) -> None:
        self._root: _Node[P] = _Node()

    def add(self, name: Sequence[Token], payload: P) -> None:
        """Add a name as tokens; a name of nothing but separators is ignored."""
        node = self._root
        previous: Token | None = None
        for token in name:
            if token.text in SEPARATORS:
                continue
            tight = previous is not None and token.glued and is_tight(previous, token)
            known = node.below.get(token.text)
            child = known[0] if known else _Node[P]()
            node.below[token.text] = (child, tight and (known is None or known[1]))
            node, previous = child, token
        if node is not self._root and payload not in node.payloads:
            node.payloads.append(payload)

    def longest(self, tokens: Sequence[Token], start: int) -> Hit[P] | None:
        """The longest name that starts at `start`, or None."""
        node = self._root
        place, parts = start, 0
        best: Hit[P] | None = None
        joined = True
        while place < len(tokens):
            token = tokens[place]
            if parts and token.text in SEPARATORS and token.text not in node.below:
                joined = token.glued
                place += 1
                if place >= len(tokens):
                    break
                token = tokens[place]
            elif parts:
                joined = True
            found = node.below.get(token.text)
            if found is None and parts and token.text.endswith("s") and token.text.isalpha():
                # the plural of a name that ends in a word: `DGX Sparks`
                singular = node.below.get(token.text[:-1])
                if singular is not None and singular[0].payloads:
                    return Hit(tuple(singular[0].payloads), place + 1, parts + 1)
            if found is None or (found[1] and not (token.glued and joined)):
                break
            node = found[0]
            place += 1
            parts += 1
            if node.payloads:
                best = Hit(tuple(node.payloads), place, parts)
        return best


def is_tight(letters: Token, digits: Token) -> bool:
    """Whether two tokens are one short name such as `r1`, `k2.5` or `mi300`, which only make sense glued."""
    return (
        digits.number is not None
        and letters.number is None
        and letters.text.isalpha()
        and len(letters.text) <= _SHORT
    )
