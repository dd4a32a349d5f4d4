"""Conditions, as rules and gotchas carry them: `{all|any|none: [...]}` or one comparison on one fact."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.records.common import Scalar


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One node of a condition tree: exactly one of the groups, or `fact` with exactly one comparison.

    above/below are strict, at_least/at_most are not. `known: true` holds when the fact has a value.
    `any` is spelled `any` in YAML.
    """

    all: tuple[Condition, ...] | None = None
    any: tuple[Condition, ...] | None = None
    none: tuple[Condition, ...] | None = None
    fact: str | None = None
    # the two comparisons that are Python keywords are renamed at load time
    is_: Scalar | None = None
    in_: tuple[Scalar, ...] | None = None
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    known: bool | None = None
