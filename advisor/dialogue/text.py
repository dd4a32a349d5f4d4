"""A sentence as tokens: folded, bounded, and each token knows where it stands in the text as typed."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

MAX_CHARACTERS = 4000
"""Longer input is cut here; the cut is reported as ignored."""
LARGEST = 1e15
"""Numbers above this are no quantity anybody serves; they are read as unknown words."""

_SYMBOLS = str.maketrans({
    "×": "*", "✕": "*", "✖": "*", "∗": "*", "⋅": "*", "·": "*", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-",
    "～": "~", "〜": "~", "≈": "~", "’": "'", "‘": "'", "“": '"', "”": '"', "、": ", ", "。": ".", "，": ", ", "？": "?",
    "！": "!", "（": "(", "）": ")", "：": ":", "；": ";", "／": "/", "⁄": "/", "→": ">", "µ": "u",
})  # fmt: skip
_THIN = frozenset("\u00a0\u2009\u202f")
"""Spaces that do not break: between digits they group thousands."""
_TOKEN = re.compile(
    # a decimal comma, before a unit or behind a zero: `1,5 s`, `0,8`
    r"(?P<number>(?P<comma>(?<![a-z0-9.,])(?:0,[0-9]{1,3}(?![0-9,])|[0-9]{1,4},[0-9]{1,2}(?=\s?(?:s|sec|secs|seconds?|sekunden?|secondes?|segundos?"
    r"|secondi|ms|kw|k|mio|mill|million|millionen|tok)(?![a-z]))))"
    # thousands with dots, unless a unit of time or size makes it a fraction: `2.500 users`, but `2.250 s`
    r"|(?P<dotted>(?<![a-z0-9.,$€£-])[1-9][0-9]{0,2}(?:\.[0-9]{3}){1,5}(?![0-9]|\.[0-9]|\s?(?:[kmbtgsx]|sec|secs|seconds?|kw|[gt]i?b)(?![a-z])))"
    r"|(?<![a-z])[0-9]{1,3}(?:[,'_][0-9]{3}){1,5}(?![0-9])(?:\.[0-9]{1,30})?|[0-9]{1,40}(?:\.[0-9]{1,30})?(?:e[0-9]{1,4}(?![0-9a-z.]))?)"
    r"(?P<suffix>[kmbtg](?![a-z]))?"
    r"|(?P<times>(?<=[0-9])x(?=[a-z]{1,4}[0-9]|rtx|tesla|gaudi|nvidia|amd|dgx|hgx))"
    r"|(?P<word>[a-z]{1,60}(?:'[a-z]{1,4}(?![a-z]))?|[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]|[^\W\d_]{1,60})"
    r"|(?P<symbol>\S)"
)  # fmt: skip
_SEPARATED = str.maketrans("", "", ",'_")
_SPELT_OUT = {"whats": "what", "wheres": "where", "hows": "how", "whos": "who", "whys": "why"}
"""A question word with `is` drawn into it, and the question word."""
_SCALE = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12, "g": 1e9}


@dataclass(frozen=True, slots=True)
class Token:
    """One token. text: folded. start, end: characters of the text as typed. glued: nothing stands before it.

    For a number: `number` is its digits' value and `suffix` a letter glued to it (`128k`, `70b`); else number is None.
    """

    text: str
    start: int
    end: int
    glued: bool
    number: float | None = None
    suffix: str = ""

    @property
    def value(self) -> float:
        """The number with its suffix as a power of 1000. Raises TypeError for a token that is no number."""
        if self.number is None:
            raise TypeError(f"not a number: {self.text!r}")
        return self.number * _SCALE[self.suffix]


def fold(text: str) -> tuple[str, list[int]]:
    """Lower case without accents, compatibility forms or invisible characters; and where each character came from."""
    if text.isascii() and text.isprintable():
        return text.lower(), list(range(len(text)))
    folded: list[str] = []
    origin: list[int] = []
    for place, character in enumerate(text):
        if character < "\x80":
            pieces = character.lower() if character >= " " else " "
        else:
            digit = unicodedata.decimal(character, None)
            if digit is not None:
                pieces = str(digit)
            elif (
                character in _THIN
                and text[place - 1 : place].isdigit()
                and text[place + 1 : place + 2].isdigit()
            ):
                pieces = ""
            else:
                # letters lose their accents; CJK, kana and hangul stay whole
                form: Literal["NFKC", "NFKD"] = "NFKC" if character >= "\u3000" else "NFKD"
                pieces = (
                    unicodedata.normalize(form, character.translate(_SYMBOLS)).casefold().translate(_SYMBOLS)
                )
                pieces = "".join(
                    " " if category[0] == "Z" else piece
                    for piece in pieces
                    if (category := unicodedata.category(piece)) != "Mn" and category[0] != "C"
                )
        folded.append(pieces)
        origin.extend([place] * len(pieces))
    return "".join(folded), origin


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, at most MAX_CHARACTERS of it; linear in its length and total for any text."""
    folded, origin = fold(text[:MAX_CHARACTERS])
    tokens: list[Token] = []
    last = -1
    for match in _TOKEN.finditer(folded):
        start, end = match.span()
        begin, stop = origin[start], origin[end - 1] + 1
        glued, last = start == last, end
        digits = match["number"]
        if digits is None:
            word = (match["times"] or match["word"] or match["symbol"]).replace("'", "") or "'"
            asking = _SPELT_OUT.get(word)
            tokens.append(Token(asking or word, begin, stop, glued))
            if asking:
                tokens.append(Token("is", begin, stop, glued=True))
            continue
        if match["comma"]:
            digits = digits.replace(",", ".")
        elif match["dotted"]:
            digits = digits.replace(".", "")
        digits = digits.translate(_SEPARATED)
        number = float(digits)
        suffix = match["suffix"] or ""
        if not number <= LARGEST:
            tokens.append(Token(digits[:40], begin, stop, glued))
        else:
            tokens.append(Token(digits + suffix, begin, stop, glued, number, suffix))
    return _with(_spaced_suffixes(tokens))


def _with(tokens: list[Token]) -> list[Token]:
    """`w/` and `w/o` as the words they stand for."""
    spelt: list[Token] = []
    for token in tokens:
        before = spelt[-1] if spelt else None
        if token.glued and before is not None and before.text == "w" and token.text == "/":
            spelt[-1] = Token("with", before.start, token.end, before.glued)
        elif token.glued and before is not None and before.text == "with" and token.text == "o":
            spelt[-1] = Token("without", before.start, token.end, before.glued)
        else:
            spelt.append(token)
    return spelt


def _spaced_suffixes(tokens: list[Token]) -> list[Token]:
    """Join `70 B` and `128 K` into one number; a letter that starts another word (`2 B200`) stays."""
    joined: list[Token] = []
    for place, token in enumerate(tokens):
        before = joined[-1] if joined else None
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        if (
            token.text in ("k", "b")
            and before is not None
            and before.number is not None
            and not before.suffix
            and not (following is not None and following.glued and following.number is not None)
        ):
            joined[-1] = Token(
                before.text + token.text, before.start, token.end, before.glued, before.number, token.text
            )
        else:
            joined.append(token)
    return joined
