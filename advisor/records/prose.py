"""Kinds that people read: concept, gotcha with its claims and corrections, source."""

from __future__ import annotations

from dataclasses import dataclass, field

from advisor.records.common import Entry
from advisor.records.conditions import Condition


@dataclass(frozen=True, kw_only=True)
class Concept(Entry):
    """A term of the field. `summary` is one sentence; `body` stands alone; `formula` carries its units."""

    summary: str
    body: str = ""
    formula: str = ""
    broader: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    prerequisites: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Says where a figure of the prose comes from: arithmetic over evidence, or a source that is quoted.

    `text` occurs literally in the prose and holds one number, or a range of two. `expression` yields the number (`upper`
    the second one of a range) from + - * / ( ) min max abs and the names of `inputs`, which name evidence values:
    `<evidence id>#<benchmark>/<scenario>` for the rate (the benchmark may carry its accuracy variant), the same with
    `@tpot_p99_ms` or another latency field, `<evidence id>#@accelerators`, `@nodes` or `@racks` for the scale. A quoted
    figure has `source` (id) and `locator` in place of an expression; it is not recomputed.
    """

    text: str
    expression: str = ""
    upper: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    source: str = ""
    locator: str = ""
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Correction:
    """A figure or statement that its author gave and that does not hold: the prose keeps `text`; this says what does.

    `expression` (and `upper` for a range) recompute the number in `corrected`, as in a claim; without one it is words.
    """

    text: str
    corrected: str
    reason: str
    expression: str = ""
    upper: str = ""
    inputs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Gotcha(Entry):
    """What went wrong for somebody, why, and what to do; `applies_when` lets the advisor raise it."""

    concepts: tuple[str, ...]
    symptom: str
    root_cause: str
    workaround: str
    notes: str = ""
    severity: str = "warning"
    applies_when: Condition | None = None
    claims: tuple[Claim, ...] = ()
    corrections: tuple[Correction, ...] = ()
    related: tuple[str, ...] = ()
    since: str = ""
    reviewed: str = ""
    trust: str = ""


@dataclass(frozen=True, kw_only=True)
class Source(Entry):
    """Where facts come from, and the words its licence asks for."""

    publisher: str
    url: str = ""
    retrieved: str = ""
    licence: str = ""
    citation: str = ""
    notice: str = ""
    note: str = ""
