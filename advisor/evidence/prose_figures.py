"""Figures as prose writes them: which number, at which precision, and which ones need to be accounted for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

_NUMBER = r"[0-9][0-9,]{0,40}(?:\.[0-9]{1,40})?"
_RANGE = r"\s?(?:-|–|—|to)\s?"
_VALUE = re.compile(rf"(?P<sign>[-−](?=[0-9]))?(?P<number>{_NUMBER})(?P<scale>[kKMG](?![A-Za-z]))?")
_PAIR = re.compile(rf"(?P<low>{_NUMBER}){_RANGE}(?P<high>{_NUMBER})")
_SCALE = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
_RATE = (
    r"(?:output )?(?:tok(?:en)?s?|samples?|quer(?:y|ies)|requests?|req|q)\s?(?:/|\sper\s)\s?s(?:ec(?:ond)?)?\b"
    r"|(?:tok(?:en)?s?|samples?|requests?) (?:a|each) second\b|qps\b|tps\b"
    r"|(?:per|a|/)\s?(?:GPU|accelerator)\b(?!\s?(?:memory|hour))"
)
_UNIT = rf"(?:\s?(?:%|percent\b|per cent\b)|\s?(?:{_RATE}))"
_FIGURE = re.compile(rf"(?<![\w.,])[-−]?{_NUMBER}[kM]?(?:{_RANGE}{_NUMBER}[kM]?)?{_UNIT}", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Written:
    """A number as written: its value and the place of its last digit (1, 1/10, 1000 …)."""

    value: Fraction
    step: Fraction

    def agrees(self, computed: Fraction, *, coarsest: Fraction = Fraction(0)) -> bool:
        """Whether `computed` rounds to the number at the precision written, or at `coarsest` where that is coarser.

        An exact half rounds either way.
        """
        return abs(computed - self.value) * 2 <= max(self.step, coarsest)

    def rounded(self, computed: Fraction) -> str:
        """`computed` at the precision written."""
        digits = 0
        while self.step * 10**digits < 1 and digits < 30:
            digits += 1
        steps = round(computed / self.step)
        return f"{float(steps * self.step):,.{digits}f}"


def written_numbers(text: str) -> tuple[Written, ...]:
    """The first number of a figure, or both of a range, at their precision; empty when there is none."""
    first = _VALUE.search(text)
    if first is None:
        return ()
    pair = _PAIR.match(text, first.start("number"))
    if pair is not None:
        return (_written(pair["low"], "", ""), _written(pair["high"], "", ""))
    return (_written(first["number"], first["scale"] or "", first["sign"] or ""),)


def needing_account(prose: str) -> Iterator[tuple[int, int]]:
    """Start and end of every figure with a rate unit, a `per GPU` or a percent sign."""
    for match in _FIGURE.finditer(prose):
        yield match.start(), match.end()


def occurrences(text: str, prose: str) -> Iterator[tuple[int, int]]:
    """Where `text` stands in the prose as a whole figure: no digit goes on at either end."""
    if not text:
        return
    start = prose.find(text)
    while start >= 0:
        end = start + len(text)
        joined_before = text[0].isdigit() and re.search(r"[0-9][.,]?$", prose[max(0, start - 2) : start])
        joined_after = text[-1].isdigit() and re.match(r"[.,]?[0-9]", prose[end : end + 2])
        if not joined_before and not joined_after:
            yield start, end
        start = prose.find(text, start + 1)


def _written(number: str, scale: str, sign: str) -> Written:
    plain = number.replace(",", "")
    factor = _SCALE.get(scale, 1)
    digits = len(plain.partition(".")[2])
    value = Fraction(plain) * factor
    return Written(value=-value if sign else value, step=Fraction(factor, 10**digits))
