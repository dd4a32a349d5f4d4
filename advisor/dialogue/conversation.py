"""One user's conversation over one knowledge base: turns, transcript, and the session that saves them. Deterministic."""

from __future__ import annotations

from advisor.dialogue import phrases
from advisor.dialogue.messages import Chip, Message
from advisor.dialogue.sessions import Session, Turn, stamp
from advisor.dialogue.state import Fits, State
from advisor.dialogue.turns import Turns
from advisor.errors import RackfitError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import check_value
from advisor.records import Facts, FactValue, Scalar


class Conversation(Turns):
    """A conversation. Each turn is saved to `session` when there is one; turns that it already has are taken up.

    facts: what was said. question: the open one. recommendation: the answer to the facts as they are, None before there
    is one. transcript: every message, the user's included.
    """

    def __init__(self, kb: KnowledgeBase, session: Session | None = None) -> None:
        super().__init__(kb)
        self.session = session
        self.transcript: list[Message] = []
        self._saving = session is not None

    def open(self) -> list[Message]:
        """The greeting and the first question, or what a resumed conversation has to say."""
        turns = self.session.turns if self.session else ()
        messages = (
            self._resume(turns) if turns else [self._told("answer", phrases.GREETING), *self._advance()]
        )
        if self.session and self.session.copied_from:
            messages.insert(
                0,
                Message(
                    role="notice", kind="notice", markdown=phrases.open_elsewhere(self.session.copied_from)
                ),
            )
        self.transcript.extend(messages)
        return messages

    def begin(self, facts: Facts) -> list[Message]:
        """Start from a requirement stated elsewhere: the answer to it, with defaults for what was not said."""
        state = self._state.with_facts(facts)
        for fact in self.kb.facts.values():
            if fact.ask == "always" and fact.name not in facts:
                state = state.skipping(fact.name)
        self._move(state)
        return self._finish(self._advance())

    def say(self, text: str) -> list[Message]:
        """Answer a line of the user. Never raises for any text."""
        text = text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be saved
        self.transcript.append(Message(role="user", kind="echo", markdown=text))
        try:
            messages = self._reply(text)
        except RackfitError as error:
            messages = [self._told("error", phrases.failed(str(error)))]
        return self._finish(messages, typed=text)

    def set_fact(self, name: str, value: Scalar | None) -> list[Message]:
        """Set one fact, or forget it with None. Raises InputError when the value is not allowed."""
        if value is None:
            self._move(self._state.without({name}))
        else:
            checked = check_value(self.kb, name, value)
            self._move(
                self._state.with_facts({name: FactValue(value=checked, origin="said", because="chat")})
            )
        try:
            messages = self._advance()
        except RackfitError as error:
            messages = [self._told("error", phrases.failed(str(error)))]
        return self._finish(messages, fact=name)

    def _finish(self, messages: list[Message], *, typed: str = "", fact: str = "") -> list[Message]:
        self.transcript.extend(messages)
        left_at_once = self.closed and self.session is not None and not self.session.turns
        if self.session is not None and self._saving and not left_at_once:
            answer = self.recommendation
            turn = Turn(
                at=stamp(), typed=typed, fact=fact, messages=tuple(messages), said=self.facts, skipped=self._state.skipped,
                headline=answer.headline if answer else "", fingerprint=self.kb.fingerprint,
            )  # fmt: skip
            try:
                self.session.append(turn)
            except OSError as error:
                self._saving = False
                notice = Message(
                    role="notice",
                    kind="notice",
                    markdown=phrases.not_saved(error.strerror or "the disk refuses"),
                )
                self.transcript.append(notice)
                return [*messages, notice]
        return messages

    def _resume(self, turns: tuple[Turn, ...]) -> list[Message]:
        """Take up saved turns: the transcript as it was, the state of the last turn, the answer of today's evidence."""
        assert self.session is not None
        fits = Fits(self.kb)
        for turn in turns:
            if turn.typed:
                self.transcript.append(Message(role="user", kind="echo", markdown=turn.typed))
            self.transcript.extend(turn.messages)
            said = {name: fact for name, fact in turn.said.items() if fits(name, fact)}
            state = State(said=said, skipped=turn.skipped, answered=tuple(said))
            if state != self._state:
                self._past.append(self._state)
                self._state = state
        last = turns[-1]
        self._eager = bool(last.headline)
        messages = [
            Message(role="notice", kind="notice", markdown=phrases.resumed(self.session.id, len(turns)))
        ]
        gone = [self._title(name) for name in last.said if name not in self._state.said]
        if gone:
            messages.append(Message(role="notice", kind="notice", markdown=phrases.no_longer_known(gone)))
        try:
            following = self._advance()
        except RackfitError as error:
            following = [self._told("error", phrases.failed(str(error))), *self._open_question()]
        if last.fingerprint != self.kb.fingerprint and last.headline and self.recommendation:
            text = phrases.evidence_changed(last.headline, self.recommendation.headline)
            messages.append(Message(role="notice", kind="notice", markdown=text))
        return messages + following


__all__ = ["Chip", "Conversation", "Message"]
