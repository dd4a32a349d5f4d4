"""What understanding returns: readings with their place in the text, what is ambiguous, what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from advisor.records import Scalar

Span = tuple[int, int]
"""First character and the one after the last, in the text as typed."""

Why = Literal["excluded", "observed", "aside", "range", "unknown", "cut"]
"""excluded: said not to be so; observed: a measurement, no target; aside: no fact of a requirement; range: beyond what
the fact can be; unknown: not understood."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One fact read. values: one, or several when several were mentioned; low, high: ends of a range as written.

    choices: other values it may mean; the first of `values` is then only the likeliest.
    """

    values: tuple[Scalar, ...]
    span: Span
    text: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def value(self) -> Scalar | tuple[Scalar, ...]:
        """The value, or all of them when several were mentioned."""
        return self.values[0] if len(self.values) == 1 else self.values


@dataclass(frozen=True, kw_only=True)
class Ambiguous:
    """Words that may mean several things: ask back with the choices, the likeliest first."""

    fact: str
    choices: tuple[str, ...]
    span: Span
    text: str


@dataclass(frozen=True, kw_only=True)
class Ignored:
    """Words that were recognised and left out (excluded by `not`, a measurement), or not understood."""

    text: str
    span: Span
    why: Why
    fact: str = ""
    value: str = ""


@dataclass(frozen=True, kw_only=True)
class Scaled:
    """A change by a factor. facts: which it may be, the likeliest first; none when it refers to what was said last."""

    facts: tuple[str, ...]
    factor: float
    span: Span
    text: str


@dataclass(frozen=True, kw_only=True)
class Understood:
    """A sentence, understood. act: what is asked for in detail (`undo`, `why_not`); intent: the coarse kind of it.

    scaled: a change by a factor of something said before.
    """

    intent: str
    act: str
    facts: Mapping[str, Reading] = field(default_factory=dict)
    ambiguous: tuple[Ambiguous, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    concepts: tuple[str, ...] = ()
    scaled: Scaled | None = None
