"""The kinds of explanation, as values: everything a view needs to show one, and nothing it must compute."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.reasoning.proof import Proof
from advisor.records import Citation, Flip, Level, Pair, Recommendation, Verdict


@dataclass(frozen=True, kw_only=True)
class Parting:
    """One fact where the proofs part. needed: what the rival's rule would need; subject: the system it is about, if any."""

    fact: str
    actual: str
    needed: str
    rule: str
    subject: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """A verdict against its rival. partings: nearest to the conclusion first. weights: strength per side where both spoke."""

    chosen: Verdict
    rival: str
    partings: tuple[Parting, ...]
    weights: dict[str, float]
    spoke_for_rival: tuple[Proof, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WhyNot:
    """Why a side or a system was not chosen. proofs: of what keeps it out; contrast: against the verdict, when it is feasible."""

    target: str
    chosen: Verdict
    excluded: bool
    proofs: tuple[Proof, ...] = ()
    contrast: Contrast | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Excluded:
    """Systems that are out for the same reason. rule: its id, if a rule says so; titles: of the systems."""

    reason: str
    rule: str
    titles: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Lowered:
    """One rule that took a confidence away, with its proof. holds_while: the condition under which it does."""

    level: str
    proof: Proof
    holds_while: str


@dataclass(frozen=True, kw_only=True)
class HowSure:
    """The confidence, what lowered it, and what would raise it."""

    level: Level
    lowered: tuple[Lowered, ...]


@dataclass(frozen=True, kw_only=True)
class FactChange:
    """A fact before and after, in words."""

    fact: str
    title: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class CandidateChange:
    """What a change does to one system, in words: in or out, and its fleet."""

    system: str
    title: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Two answers compared. facts: those that differ, derived ones included. fired, unfired: rules that spoke only after, only before."""

    before: Recommendation
    after: Recommendation
    facts: tuple[FactChange, ...]
    candidates: tuple[CandidateChange, ...]
    fired: tuple[str, ...]
    unfired: tuple[str, ...]

    @property
    def verdict_changes(self) -> bool:
        """Whether the verdict is another one."""
        return self.before.verdict != self.after.verdict


@dataclass(frozen=True, kw_only=True)
class WhatWouldChange:
    """What would turn the verdict: nearest changes of inputs, and where the rivals' proofs part."""

    flips: tuple[Flip, ...]
    contrasts: tuple[Contrast, ...]


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """One assumed input. source: the rule or fact that assumed it; flag: how to say it instead."""

    fact: str
    title: str
    value: str
    why: str
    source: str
    flag: str


@dataclass(frozen=True, kw_only=True)
class Ground:
    """The evidence of an answer: citations and the pairs compared."""

    citations: tuple[Citation, ...]
    pairs: tuple[Pair, ...]
