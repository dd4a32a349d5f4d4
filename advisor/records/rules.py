"""Facts, rules and calibrations: what the engine may ask, conclude and predict with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from advisor.records.common import Entry, Origin, Scalar, Trust
from advisor.records.conditions import Condition, FactRef

FactType = Literal["number", "integer", "choice", "flag", "text", "entry"]
Scope = Literal["requirement", "candidate", "comparison"]
EffectKind = Literal["favour", "require", "forbid", "assume", "ask", "warn"]

RESERVED_FLAGS = frozenset({
    "--config", "--explain", "--fact", "--format", "--help", "--kb", "--no-flips", "--output", "--price", "--steps", "--x", "--y",
})  # fmt: skip
"""Options that the commands with a flag for every fact have of their own."""


@dataclass(frozen=True, kw_only=True)
class Assumed:
    """Default of a fact when the user says nothing; low and high where the default is a range."""

    value: Scalar | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""
    source: str = ""
    trust: Trust = "unverified"
    date: str = ""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One allowed value of a choice fact. words: what people type for it."""

    value: str
    label: str = ""
    help: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Fact(Entry):
    """Something that can be asked, assumed or computed; the only names a condition may use.

    name: as conditions spell it (`tpot_ms`). scope: requirement facts come from the user or defaults, candidate facts
    hold for one system under consideration, comparison facts for the best node against the best rack.
    ask: `always` (in `order`), `decisive` (only while an answer can still change the verdict) or `never`.
    derived_from: facts whose values settle this one. computed_by: the part of rackfit that computes it (empty: said,
    assumed or set by rules). used_by: parts that read it directly, beside the conditions that do. words: names of
    the fact; patterns: how people write its value (docs/dialogue.md); mentions: things people name that have no entry
    or choice of their own: recognised in a sentence and named in the answer.
    """

    name: str
    type: FactType
    scope: Scope = "requirement"
    unit: str = ""
    entry_kind: str = ""
    choices: tuple[Choice, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    question: str = ""
    why: str = ""
    help: str = ""
    ask: Literal["always", "decisive", "never"] = "never"
    order: int = 1000
    suggestions: tuple[Scalar, ...] = ()
    flips: bool = True
    assumed: Assumed | None = None
    flag: str = ""
    words: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    mentions: tuple[Choice, ...] = ()
    derived_from: tuple[str, ...] = ()
    computed_by: str = ""
    used_by: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a rule does: exactly one kind with its target. `text` may name facts in braces: `{candidate_power_kw}`.

    favour, require: a verdict (`node`, `rack`, `either`, `none`). forbid: `candidate` (or `node`, `rack`) in candidate
    scope, a confidence (`high`, `medium`) in comparison scope. assume: a fact that has no value yet gets `value`.
    ask: a fact to ask about before others. warn: what the warning is about (a fact, `node`, `rack`, `candidate`, `answer`).
    """

    kind: EffectKind
    target: str
    value: Scalar | FactRef | None = None
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Rule(Entry):
    """When a condition holds, then effects follow, because of the entries named.

    scope: what one run is about, inferred from the effects when empty; a rule reads facts of its own scope and of the
    requirement. precedence: of conclusions that conflict, the highest decides; strength: they add up within one
    precedence. note: why this strength, this threshold.
    """

    scope: Scope | Literal[""] = ""
    when: Condition
    then: tuple[Effect, ...]
    strength: float = 1.0
    precedence: int = 0
    reason: str
    because: tuple[str, ...] = ()
    stage: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Calibration(Entry):
    """Fitted terms of the performance model, written by `rackfit calibrate`; do not edit by hand.

    accelerator, engine: what it was fitted for, empty where it holds for any. fitted: date of the newest measurement
    used. terms, first_terms: coefficients of time per output token and of time to first token, unit in the name; none
    where a target has no terms. factors, first_factors: per model (`type/layers x hidden/experts precision`), what is left
    after the terms. data: what was fitted. residuals: quantiles of measured / predicted when the row's like was left out.
    """

    accelerator: str = ""
    accelerator_family: str = ""
    engine: str = ""
    fitted: str = ""
    terms: dict[str, float] = field(default_factory=dict)
    first_terms: dict[str, float] = field(default_factory=dict)
    factors: dict[str, float] = field(default_factory=dict)
    first_factors: dict[str, float] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    residuals: dict[str, float] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class FactValue:
    """Value of one fact in one answer, and where it comes from. `because` names the rule, flag or computation."""

    value: Scalar | None
    origin: Origin
    because: str = ""
    low: float | None = None
    high: float | None = None
    text: str = ""


Facts = dict[str, FactValue]
"""Fact name -> value: the one form in which a requirement travels from the dialogue to the engine."""
