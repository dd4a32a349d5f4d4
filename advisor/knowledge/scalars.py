"""YAML 1.2 core scalars: the value of a plain word, and the words that YAML 1.1 readers take for something else."""

from __future__ import annotations

import re
from typing import Any

from advisor.knowledge.limits import MAX_DIGITS

_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_OLD_WORDS = frozenset(
    word for base in ("yes", "no", "on", "off", "y", "n") for word in (base, base.title(), base.upper())
)
_OLD_NUMBERS = re.compile(
    r"[-+]?0[0-9_]+|[-+]?[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?|[-+]?0b[01_]+|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
)
_NUMBER_STARTS = frozenset("+-.0123456789")


def parse_scalar(text: str) -> Any:
    """The YAML 1.2 core value of a plain scalar: null, a flag, an integer, a float, or else the text itself.

    `no`, `1:30`, `1_000` and dates stay text. So does a decimal with a leading zero (`012`), which readers disagree on.
    An integer of more than `MAX_DIGITS` digits and a float beyond the double range come back as infinity.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if _INT.fullmatch(text):
        digits = text.lstrip("+-")
        if len(digits) > 1 and digits[0] == "0":
            return text
        return int(text) if len(digits) <= MAX_DIGITS else float("inf")
    if _FLOAT.fullmatch(text):
        return float(text)
    if _BASED.fullmatch(text):
        return int(text, 0) if len(text) <= MAX_DIGITS else float("inf")
    return float(text.replace(".", "")) if _NOT_FINITE.fullmatch(text) else text


def read_otherwise(text: str) -> bool:
    """Whether a plain scalar is text here but a flag or a number to YAML 1.1 readers (`no`, `012`, `12:30`, `1_000`)."""
    if text in _OLD_WORDS:
        return True
    return text[:1] in _NUMBER_STARTS and len(text) <= 64 and _OLD_NUMBERS.fullmatch(text) is not None
