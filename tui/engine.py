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

from tui.garbage import no_collection
from tui.markdown import prepare

if TYPE_CHECKING:
    from advisor.dialogue.messages import Message
    from advisor.dialogue.sessions import Session, SessionStore
    from advisor.knowledge.base import KnowledgeBase
    from advisor.records import Facts, Recommendation

R = TypeVar("R")


class Advisor(Protocol):
    """What the screen asks of a conversation."""

    @property
    def facts(self) -> Facts:
        """What was said."""

    recommendation: Recommendation | None
    transcript: list[Message]
    closed: bool

    def open(self) -> list[Message]:
        """Greeting, or what a resumed conversation needs to say."""

    def say(self, text: str) -> list[Message]:
        """Answer a line of the user."""

    def set_fact(self, name: str, value: Any) -> list[Message]:
        """Set one fact, or forget it with None. Raises InputError when the value is not allowed."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A conversation ready to go, and where it is saved. unsaved: why it is not."""

    kb: KnowledgeBase
    conversation: Advisor
    session: Session | None = None
    store: SessionStore | None = None
    unsaved: str = ""


Opener = Callable[[str | None, "Opened | None"], Opened]
"""Opens a new conversation (None), the latest saved one (empty) or the one named; may take what was open before."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The state after the latest call; panels draw it and compute nothing."""

    kb: KnowledgeBase
    facts: Facts
    recommendation: Recommendation | None


class Engine:
    """Calls the advisor from the event loop without holding it up."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="advisor")
        self._waiting = 0
        self.opened: Opened | None = None
        self.snapshot: Snapshot | None = None

    @property
    def wanted(self) -> bool:
        """True while the user waits for an answer: long background work should end itself then."""
        return self._waiting > 0

    async def run(self, function: Callable[..., R], *arguments: Any) -> R:
        """Run any function in the advisor's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: function(*arguments))

    async def start(self, resume: str | None) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        """Open a conversation in the place of the present one. Returns what was said in it before, and what it opens with.

        Raises RackfitError when the knowledge base or the session cannot be used; the present one stays then.
        """

        def work() -> tuple[tuple[Message, ...], tuple[Message, ...]]:
            with no_collection():
                opened = self._opener(resume, self.opened)
                prepare()
                new = opened.conversation.open()
            if self.opened is not None:
                _leave(self.opened)
            self.opened = opened
            self._take_snapshot()
            transcript = opened.conversation.transcript
            return tuple(transcript[: len(transcript) - len(new)]), tuple(new)

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

    async def with_opened(self, function: Callable[[Opened], R]) -> R:
        """Run a function of what is open in the advisor's thread."""

        def work() -> R:
            assert self.opened is not None, "nothing is asked before start() returned"
            return function(self.opened)

        return await self.run(work)

    async def _converse(self, function: Callable[[Advisor], list[Message]]) -> tuple[Message, ...]:
        def work(opened: Opened) -> tuple[Message, ...]:
            try:
                return tuple(function(opened.conversation))
            finally:
                self._take_snapshot()

        self._waiting += 1
        try:
            return await self.with_opened(work)
        finally:
            self._waiting -= 1

    def _take_snapshot(self) -> None:
        assert self.opened is not None
        conversation = self.opened.conversation
        self.snapshot = Snapshot(
            kb=self.opened.kb, facts=dict(conversation.facts), recommendation=conversation.recommendation
        )

    async def close(self) -> None:
        """Close the session; a call that still runs is not waited for longer than a second."""
        opened = self.opened
        if opened is not None:
            self._waiting += 1
            closing = self._pool.submit(_leave, opened)
            await asyncio.wait([asyncio.wrap_future(closing)], timeout=1.0)
        self._pool.shutdown(wait=False, cancel_futures=True)


def _leave(opened: Opened) -> None:
    """Close the session."""
    if opened.session is not None:
        opened.session.close()


def shipped_opener(overlays: Sequence[Path]) -> Opener:
    """Opens conversations over the shipped knowledge base with overlays, saved under the user's state folder."""

    def work(resume: str | None, before: Opened | None) -> Opened:
        from advisor.dialogue.conversation import Conversation
        from advisor.dialogue.sessions import SessionStore
        from advisor.errors import InputError
        from advisor.knowledge.loader import load_knowledge

        kb = before.kb if before is not None else load_knowledge(overlays)
        store = SessionStore()
        session: Session | None = None
        unsaved = ""
        try:
            session = store.create() if resume is None else store.open(resume)
        except OSError as error:
            if resume is not None:
                raise InputError(f"cannot open the saved conversation: {error.strerror or error}") from error
            unsaved = error.strerror or str(error)
        return Opened(
            kb=kb, conversation=Conversation(kb, session), session=session, store=store, unsaved=unsaved
        )

    return work
