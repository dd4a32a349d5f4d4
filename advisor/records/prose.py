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
    """Binds a figure, as the prose writes it, to arithmetic over evidence.

    `text` occurs literally in the prose. `inputs` names evidence values as `<evidence id>#<benchmark>/<scenario>`
    (`@accelerators`, `@nodes` for the scale). `expression` uses + - * / and the input names.
    """

    text: str
    expression: str
    inputs: dict[str, str] = field(default_factory=dict)
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class Correction:
    """A figure that its author gave and that does not recompute: the prose keeps `text`; this says what is right."""

    text: str
    corrected: str
    reason: str
    expression: str = ""
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
