"""What a conversation knows at one moment: the facts said, what was skipped, and the order of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.trace import show_fact
from advisor.records import FactValue

_HARDWARE = ("accelerator", "system")


@dataclass(frozen=True)
class State:
    """Facts said, facts whose question was skipped, and both in the order in which that happened."""

    said: Mapping[str, FactValue] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()

    def with_facts(self, facts: Mapping[str, FactValue]) -> State:
        """The state after saying `facts`; hardware said anew replaces hardware said before, and its count."""
        gone = {*_HARDWARE, "accelerator_count"} if set(_HARDWARE) & set(facts) else set()
        kept = {name: fact for name, fact in self.said.items() if name not in gone}
        held = {*kept, *self.skipped} - set(facts)
        answered = tuple(name for name in self.answered if name in held)
        return State(said={**kept, **facts}, skipped=self.skipped, answered=(*answered, *facts))

    def without(self, names: set[str]) -> State:
        """The state with facts taken back, and their questions open again."""
        return State(
            said={name: fact for name, fact in self.said.items() if name not in names},
            skipped=tuple(name for name in self.skipped if name not in names),
            answered=tuple(name for name in self.answered if name not in names),
        )

    def skipping(self, name: str) -> State:
        """The state after leaving a question out."""
        return State(said=self.said, skipped=(*self.skipped, name), answered=(*self.answered, name))

    def last_question(self, kb: KnowledgeBase) -> str | None:
        """The fact whose question was answered or skipped last."""
        names = [
            name for name in (*self.skipped, *self.answered) if name in kb.facts and kb.facts[name].question
        ]
        return names[-1] if names else None


def changes(kb: KnowledgeBase, before: State, after: State) -> list[str]:
    """The facts that differ between two states, in words."""
    return [
        f"{kb.facts[name].title if name in kb.facts else name}: "
        f"{show_fact(kb, name, before.said.get(name))} → {show_fact(kb, name, after.said.get(name))}"
        for name in dict.fromkeys((*before.said, *after.said))
        if before.said.get(name) != after.said.get(name)
    ]
