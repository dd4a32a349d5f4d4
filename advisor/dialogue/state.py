"""What a conversation knows at one moment: the facts said, what was skipped, and the order of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import PRICE, PRICE_PREFIX, check_value
from advisor.reasoning.trace import show_fact
from advisor.records import FactValue, Scalar

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


class Fits:
    """Whether a knowledge base takes what was said when there was another one, or what somebody wrote into a session."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._known: dict[tuple[str, str], bool] = {}

    def __call__(self, name: str, fact: FactValue) -> bool:
        """Whether a fact of that name can have the value."""
        key = (name, repr(fact.value))
        if key not in self._known:
            self._known[key] = self._takes(name, fact)
        return self._known[key]

    def _takes(self, name: str, fact: FactValue) -> bool:
        spec = self._kb.facts.get(name)
        if fact.value is None:
            return False
        parts: Sequence[Scalar] = (fact.value,)
        if name.startswith(PRICE_PREFIX):
            if name.removeprefix(PRICE_PREFIX) not in self._kb.systems:
                return False
            name = PRICE
        elif spec is None or spec.scope != "requirement" or fact.low is not None or fact.high is not None:
            return False
        elif spec.type == "entry":
            parts = str(fact.value).split(",")
        try:
            return all(check_value(self._kb, name, part) == part for part in parts)
        except InputError:
            return False


def changes(kb: KnowledgeBase, before: State, after: State) -> list[str]:
    """The facts that differ between two states, in words."""
    return [
        f"{kb.facts[name].title if name in kb.facts else name}: "
        f"{show_fact(kb, name, before.said.get(name))} → {show_fact(kb, name, after.said.get(name))}"
        for name in dict.fromkeys((*before.said, *after.said))
        if before.said.get(name) != after.said.get(name)
    ]
