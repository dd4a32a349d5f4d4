"""The advisor behind the screen: everything that computes runs in one thread of its own, one call after the other.

The screen sees immutable snapshots only. The advisor's modules are imported in that thread, after the first frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from advisor.dialogue.conversation import Message

    from advisor.knowledge.base import KnowledgeBase
    from advisor.records import Facts, Recommendation

R = TypeVar("R")


class Advisor(Protocol):
    """What the screen asks of a conversation."""

    facts: Facts
    recommendation: Recommendation | None
    transcript: Sequence[Message]

    def open(self) -> list[Message]:
        """Greeting, or what a resumed conversation needs to say."""

    def say(self, text: str) -> list[Message]:
        """Answer a line of the user."""

    def set_fact(self, name: str, value: Any) -> list[Message]:
        """Set one fact, or forget it with None. Raises InputError when the value is not allowed."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A conversation ready to go. earlier: messages of a resumed session, already said."""

    kb: KnowledgeBase
    conversation: Advisor
    earlier: tuple[Message, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The state after the latest call; panels draw it and compute nothing."""

    kb: KnowledgeBase
    facts: Facts
    recommendation: Recommendation | None


class Engine:
    """Calls the advisor from the event loop without holding it up."""

    def __init__(self, opener: Callable[[], Opened]) -> None:
        self._opener = opener
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="advisor")
        self._opened: Opened | None = None
        self.snapshot: Snapshot | None = None
        self._waiting = 0

    @property
    def ready(self) -> bool:
        """True once the knowledge base is loaded."""
        return self._opened is not None

    @property
    def wanted(self) -> bool:
        """True while the user waits for an answer: long background work should end itself then."""
        return self._waiting > 0

    async def run(self, function: Callable[..., R], *arguments: Any) -> R:
        """Run any function in the advisor's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: function(*arguments))

    async def start(self) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        """Load everything. Returns the messages of a resumed session and the opening ones."""

        def work() -> tuple[tuple[Message, ...], tuple[Message, ...]]:
            opened = self._opener()
            new = tuple(opened.conversation.open())
            self._opened = opened
            self._take_snapshot()
            return opened.earlier, new

        return await self.run(work)

    async def say(self, text: str) -> tuple[Message, ...]:
        """Say something to the advisor; its answer."""
        return await self._converse(lambda conversation: conversation.say(text))

    async def set_facts(self, values: Mapping[str, Any]) -> tuple[Message, ...]:
        """Set or forget (None) facts; the answer to the last."""

        def change(conversation: Advisor) -> list[Message]:
            messages: list[Message] = []
            for name, value in values.items():
                messages = conversation.set_fact(name, value)
            return messages

        return await self._converse(change)

    async def with_conversation(self, function: Callable[[Advisor], R]) -> R:
        """Run a function of the conversation in the advisor's thread."""

        def work() -> R:
            assert self._opened is not None, "nothing is asked before start() returned"
            return function(self._opened.conversation)

        return await self.run(work)

    async def _converse(self, function: Callable[[Advisor], list[Message]]) -> tuple[Message, ...]:
        def work(conversation: Advisor) -> tuple[Message, ...]:
            try:
                return tuple(function(conversation))
            finally:
                self._take_snapshot()

        self._waiting += 1
        try:
            return await self.with_conversation(work)
        finally:
            self._waiting -= 1

    def _take_snapshot(self) -> None:
        assert self._opened is not None
        conversation = self._opened.conversation
        self.snapshot = Snapshot(
            kb=self._opened.kb, facts=dict(conversation.facts), recommendation=conversation.recommendation
        )

    def close(self) -> None:
        """Let a running call end without waiting for it."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def shipped_opener(overlays: Sequence[Path], resume: str | None) -> Callable[[], Opened]:
    """How to open the shipped knowledge base with overlays, and a saved session when `resume` names one."""

    def work() -> Opened:
        from advisor.dialogue.conversation import Conversation

        from advisor.knowledge.loader import load_knowledge

        kb = load_knowledge(overlays)
        return Opened(kb=kb, conversation=Conversation(kb))

    return work
