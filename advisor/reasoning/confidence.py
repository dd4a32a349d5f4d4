"""How sure the answer is: the highest level that no rule forbids, with the rules' reasons."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.reasoning.engine import FiredEffect
from advisor.records import Confidence, Level

_LEVELS: tuple[Level, ...] = ("high", "medium", "low")


def confidence(effects: Sequence[FiredEffect]) -> Confidence:
    """The highest of high, medium and low that no fired `forbid` effect names, and why the higher ones are out."""
    caps = [e for e in effects if e.effect.kind == "forbid" and e.effect.target in _LEVELS]
    forbidden = {e.effect.target for e in caps}
    level: Level = next((level for level in _LEVELS if level not in forbidden), "low")
    reasons = dict.fromkeys(f"{e.effect.text.rstrip('.')} ({e.rule.id})" for e in caps)
    return Confidence(
        level=level,
        reasons=tuple(reasons) or ("no rule lowers it: audited evidence, few assumptions, no tie",),
    )
