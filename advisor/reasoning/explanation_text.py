"""Explanations as plain text, indented by two spaces a level; the one place that words them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.explanations import (
    Assumption,
    Contrast,
    Difference,
    Ground,
    HowSure,
    Parting,
    WhatWouldChange,
    WhyNot,
)
from advisor.reasoning.proof import Proof
from advisor.units import format_count, format_ratio

_SHOWN = 3
_ORIGINS = {"said": "you said so", "assumed": "assumed", "derived": "follows", "computed": ""}


def render(kb: KnowledgeBase, explanation: object) -> str:
    """Any explanation of `advisor.reasoning.explain` as text without a final newline."""
    return "\n".join(_lines(explanation, kb))


@singledispatch
def _lines(explanation: object, _kb: KnowledgeBase) -> Iterator[str]:
    raise TypeError(f"not an explanation: {type(explanation).__name__}")


@_lines.register
def _proof(proof: Proof, _kb: KnowledgeBase) -> Iterator[str]:
    yield from _tree(proof, 0)


def _tree(proof: Proof, depth: int) -> Iterator[str]:
    pad = "  " * depth
    if proof.kind == "rule":
        yield f"{pad}because {proof.claim} [{proof.key}]"
        yield f"{pad}  {proof.detail}"
    elif proof.kind == "fact":
        so = f"; so not {_few(proof.blocks)}" if proof.blocks else ""
        yield f"{pad}{fact_line(proof)}{so}"
    else:
        yield f"{pad}{proof.claim}"
        if proof.detail:
            yield f"{pad}  {proof.detail}"
    for step in proof.arithmetic:
        yield f"{pad}    = {step}"
    if proof.evidence:
        yield f"{pad}    from {_few(proof.evidence)}"
    for part in proof.parts:
        yield from _tree(part, depth + 1)
    if proof.because:
        yield f"{pad}  rests on {', '.join(proof.because)}"


def fact_line(proof: Proof) -> str:
    """A fact of a proof with where it comes from."""
    origin = _ORIGINS[proof.origin] if proof.origin else ""
    grounds = ": ".join(part for part in (origin, proof.detail.rstrip(".")) if part)
    return f"{proof.claim}{f' ({grounds})' if grounds else ''}"


def parting_line(kb: KnowledgeBase, parting: Parting, rival: str) -> str:
    """One fact where two proofs part, and what the rival would need it to be."""
    title = kb.facts[parting.fact].title if parting.fact in kb.facts else parting.fact
    about = f" of {kb.entries[parting.subject].title}" if parting.subject in kb.entries else ""
    return f"{title}{about}: {parting.actual}; {rival} needs {parting.needed} [{parting.rule}]"


def _few(ids: tuple[str, ...]) -> str:
    """The first ids, and how many more there are."""
    more = len(ids) - _SHOWN
    return ", ".join(ids[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


@_lines.register
def _why_not(explanation: WhyNot, kb: KnowledgeBase) -> Iterator[str]:
    target = kb.entries[explanation.target].title if explanation.target in kb.entries else explanation.target
    if explanation.target != explanation.chosen:
        yield f"Why not {target}: {'it is out' if explanation.excluded else f'the verdict is {explanation.chosen}'}"
    if explanation.note:
        yield f"  {explanation.note[0].upper()}{explanation.note[1:]}."
    for proof in explanation.proofs:
        yield from _tree(proof, 1)
    if explanation.contrast is not None and not explanation.excluded:
        yield from _contrast(explanation.contrast, kb)


@_lines.register
def _contrast(explanation: Contrast, kb: KnowledgeBase) -> Iterator[str]:
    yield f"Where {explanation.chosen} and {explanation.rival} part:"
    if explanation.weights and explanation.rival in explanation.weights:
        sums = ", ".join(
            f"{side} {format_count(weight)}" for side, weight in sorted(explanation.weights.items())
        )
        yield f"  Both were spoken for; the weights add up to {sums}."
    for proof in explanation.spoke_for_rival:
        yield f"  for {explanation.rival}: {proof.claim} [{proof.key}]"
    for parting in explanation.partings:
        yield f"  {parting_line(kb, parting, explanation.rival)}"
    if not explanation.partings and explanation.rival not in explanation.weights:
        yield f"  No rule concludes {explanation.rival}."


@_lines.register
def _how_sure(explanation: HowSure, _kb: KnowledgeBase) -> Iterator[str]:
    yield f"Confidence: {explanation.level}"
    if not explanation.lowered:
        yield "  No rule lowers it."
    for item in explanation.lowered:
        yield f"  not {item.level}: {item.proof.detail} [{item.proof.key}]"
        yield f"    as long as {item.holds_while}"


@_lines.register
def _difference(explanation: Difference, kb: KnowledgeBase) -> Iterator[str]:
    before, after = explanation.before, explanation.after
    if explanation.verdict_changes:
        yield f"The verdict changes from {before.verdict} to {after.verdict}."
    else:
        yield f"The verdict stays {before.verdict}."
    yield f"  before: {before.headline}"
    yield f"  after:  {after.headline}"
    if before.confidence.level != after.confidence.level:
        yield f"  Confidence: {before.confidence.level} → {after.confidence.level}"
    for fact in explanation.facts:
        yield f"  {fact.title}: {fact.before} → {fact.after}"
    for candidate in explanation.candidates:
        yield f"  {candidate.title}: {candidate.before} → {candidate.after}"
    for label, rules in (("now holds", explanation.fired), ("no longer holds", explanation.unfired)):
        for rule_id in rules:
            title = kb.rules[rule_id].title if rule_id in kb.rules else rule_id
            yield f"  {label}: {title} [{rule_id}]"


@_lines.register
def _what_would_change(explanation: WhatWouldChange, kb: KnowledgeBase) -> Iterator[str]:
    if explanation.flips:
        yield "Nearest changes that turn the verdict:"
        for flip in explanation.flips:
            yield f"  {flip.text or f'{flip.fact} {flip.from_} → {flip.to}: {flip.verdict}'}"
    else:
        yield "No change of a single input that was tried turns the verdict."
    for rival in explanation.contrasts:
        yield from _contrast(rival, kb)


@_lines.register
def _ground(explanation: Ground, _kb: KnowledgeBase) -> Iterator[str]:
    if not explanation.citations:
        yield "No evidence entry stands behind this answer; it rests on the model of speed and on memory alone."
    for citation in explanation.citations:
        mark = "verified" if citation.verified else "not verified by its publisher"
        yield f"{citation.text} ({citation.grade}; {mark}) [{citation.id}]"
        for figure in citation.figures:
            yield f"  {figure}"
    for pair in explanation.pairs:
        confounders = f"; differs in {', '.join(pair.confounders)}" if pair.confounders else ""
        yield (
            f"{pair.round} {pair.benchmark} {pair.scenario}, {pair.kind}, grade {pair.grade}: "
            f"{pair.small.platform or pair.small.evidence} {format_count(pair.small.per_accelerator)} → "
            f"{pair.large.platform or pair.large.evidence} {format_count(pair.large.per_accelerator)} per accelerator, "
            f"{format_ratio(pair.ratio)}{' (a tie within the noise)' if pair.tie else ''}{confounders}"
        )


@_lines.register(tuple)
def _assumptions(explanation: tuple[Assumption, ...], _kb: KnowledgeBase) -> Iterator[str]:
    if not explanation:
        yield "Nothing was assumed."
    for item in explanation:
        yield f"{item.title}: {item.value} [{item.source}]; say it with {item.flag}"
        if item.why:
            yield f"  {item.why}"
