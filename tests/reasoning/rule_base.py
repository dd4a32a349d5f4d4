"""A small rule base for tests of the rule language: built in memory, nothing of the shipped one."""

from __future__ import annotations

from typing import Any

from advisor.knowledge import KnowledgeBase
from advisor.knowledge.build import build_record
from advisor.records import Entry, Facts, FactValue, Scalar


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
