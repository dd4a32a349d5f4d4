"""How what was read from a sentence is compared with what it should be, as the utterance files state it.

A wanted value is a scalar, a list of acceptable values, or `{all_of: [...]}` for several mentioned together. Numbers may
differ by 1 %. A fact among the optional ones may be read or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Score:
    """Counts over sentences; wrong holds one line for each sentence that is not right."""

    right: int = 0
    extra: int = 0
    missing: int = 0
    intents: int = 0
    whole: int = 0
    sentences: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Share of the facts read that were right."""
        return self.right / max(1, self.right + self.extra)

    @property
    def recall(self) -> float:
        """Share of the facts stated that were read."""
        return self.right / max(1, self.right + self.missing)

    def add(self, wanted: Mapping[str, Any], read: Mapping[str, Any]) -> None:
        """Count one sentence."""
        problems = fact_problems(wanted, read["facts"])
        self.sentences += 1
        self.right += len(wanted["slots"]) - sum(kind != "extra" for kind, _ in problems)
        self.extra += sum(kind in ("extra", "wrong") for kind, _ in problems)
        self.missing += sum(kind in ("missing", "wrong") for kind, _ in problems)
        intents = wanted["intent"] if isinstance(wanted["intent"], list) else [wanted["intent"]]
        understood = read["intent"] in intents
        self.intents += understood
        self.whole += understood and not problems
        if problems or not understood:
            notes = [note for _, note in problems] + (
                [] if understood else [f"intent {read['intent']}, not {intents}"]
            )
            self.wrong.append(f"{wanted['text']!r}: {'; '.join(notes)}")


def fact_problems(wanted: Mapping[str, Any], facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is wrong with the facts read: (`wrong`, `missing` or `extra`, a note) each."""
    problems = []
    for name, value in wanted["slots"].items():
        if name not in facts:
            problems.append(("missing", f"{name} missing, want {value}"))
        elif not acceptable(facts[name], value):
            problems.append(("wrong", f"{name} = {facts[name]}, want {value}"))
    optional = wanted.get("optional_slots") or {}
    extra = [name for name in facts if name not in wanted["slots"] and name not in optional]
    return problems + [("extra", f"{name} = {facts[name]} was not said") for name in extra]


def acceptable(value: Any, wanted: Any) -> bool:
    """Whether a value that was read is one of those wanted."""
    values = value if isinstance(value, list) else [value]
    for option in wanted if isinstance(wanted, list) else [wanted]:
        if isinstance(option, dict):
            all_of = option["all_of"]
            if len(values) == len(all_of) and all(any(_same(v, w) for v in values) for w in all_of):
                return True
        elif len(values) == 1 and _same(values[0], option):
            return True
    return False


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, int | float) and isinstance(right, int | float):
        return abs(left - right) <= 0.01 * abs(right) + 1e-9
    return bool(left == right)
