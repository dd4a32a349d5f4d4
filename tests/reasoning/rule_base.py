"""A small rule base for tests of the rule language: built in memory, nothing of the shipped one."""

from __future__ import annotations

from typing import Any

from advisor.knowledge import KnowledgeBase
from advisor.knowledge.build import build_record
from advisor.reasoning.confidence import confidence
from advisor.reasoning.engine import decide, run_rules
from advisor.records import Comparison, Entry, Facts, FactValue, NoiseBand, Recommendation, Scalar


def fact(name: str, type_: str = "number", **extra: Any) -> Entry:
    """A fact entry with only what a test is about."""
    return build_record(
        "facts",
        {"id": f"facts/{name.replace('_', '-')}", "title": name, "name": name, "type": type_, **extra},
    )


def flag(name: str, **extra: Any) -> Entry:
    """A yes-or-no fact."""
    return fact(name, "flag", **extra)


def choice(name: str, *values: str, **extra: Any) -> Entry:
    """A fact with a closed list of values."""
    return fact(name, "choice", choices=[{"value": value} for value in values], **extra)


def rule(slug: str, when: dict[str, Any], *then: dict[str, Any], **extra: Any) -> Entry:
    """A rule entry from the YAML form of its condition and effects."""
    data = {
        "id": f"rules/{slug}",
        "title": slug,
        "reason": f"because of {slug}",
        "when": when,
        "then": list(then),
    }
    return build_record("rules", data | extra)


def said(**values: Scalar) -> Facts:
    """Facts as a user would have said them."""
    return {name: FactValue(value=value, origin="said") for name, value in values.items()}


def base(*entries: Entry) -> KnowledgeBase:
    """A knowledge base of these entries."""
    return KnowledgeBase(sorted(entries, key=lambda entry: entry.id))


def answer_of(kb: KnowledgeBase, facts: Facts) -> Recommendation:
    """An answer made of a run over the comparison alone: verdict, confidence and trace, without candidates."""
    run = run_rules(kb, facts, scope="comparison")
    decision = decide(run.effects)
    requirement = {
        name: value
        for name, value in sorted(facts.items())
        if name in kb.facts and kb.facts[name].scope == "requirement"
    }
    return Recommendation(
        verdict=decision.verdict or "none",
        confidence=confidence(run.effects),
        summary="",
        headline="",
        requirement=requirement,
        candidates=(),
        comparison=Comparison(
            rack_over_node=None,
            silicon_effect=None,
            scale_effect=None,
            noise_band=NoiseBand(spread=None, submissions=0),
            confounders=(),
            pairs=(),
        ),
        flips=(),
        gotchas=(),
        trace=run.trace,
        evidence=(),
        assumptions=(),
        warnings=(),
        disclaimers=(),
        decided_by=tuple(fired.rule.id for fired in decision.decided_by),
    )
