"""The turns of a conversation: what each act of the user does to the requirement, and what is said in return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from advisor.dialogue import explaining, phrases, replies
from advisor.dialogue.answers import pick
from advisor.dialogue.asking import always_question, choices_of, question_about, workload_question
from advisor.dialogue.forgetting import facts_named
from advisor.dialogue.messages import Chip, Message, MessageKind
from advisor.dialogue.readings import Understood
from advisor.dialogue.state import State, changes
from advisor.dialogue.stated import Ask, Stated, stated
from advisor.dialogue.understand import understand
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.explain import what_if as explain_what_if
from advisor.reasoning.questions import Question, next_question
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import check_value
from advisor.records import Facts, FactValue, Recommendation, Scalar

_MOST_REMEMBERED = 400


class Turns:
    """The requirement and the questions of one conversation, and the turns that move them.

    question: the open one. recommendation: of the facts as they are, None before the first answer. closed: the user left.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.question: Question | None = None
        self.recommendation: Recommendation | None = None
        self.closed = False
        self._state = State()
        self._past: list[State] = []
        self._ask: Ask | None = None
        self._what_if: State | None = None
        self._eager = False
        self._whole: Callable[[], Message] | None = None
        self._known: dict[object, Recommendation] = {}

    @property
    def facts(self) -> Facts:
        """The facts said so far, by name."""
        return dict(self._state.said)

    def _reply(self, text: str) -> list[Message]:
        if self._ask is not None:
            chosen = pick(self._ask.choices, text)
            if chosen is not None:
                return self._chosen(self._ask, self._ask.choices[chosen])
        expecting = self._ask.fact if self._ask else self.question.fact if self.question else None
        understood = understand(self.kb, text, expecting=expecting)
        handler = HANDLERS.get(understood.act, Turns._take_facts)
        return handler(self, text, understood)

    def _chosen(self, ask: Ask, choice: str) -> list[Message]:
        self._ask = None
        try:
            value: Scalar = check_value(self.kb, ask.fact, choice)
        except InputError as error:
            return [self._told("error", str(error)), *self._open_question()]
        fact = FactValue(value=value, origin="said", because="chat", text=choice)
        if ask.hypothetical and self.recommendation is not None:
            return self._suppose(self.recommendation, {ask.fact: fact})
        self._move(self._state.with_facts({ask.fact: fact}))
        return [self._echo({ask.fact: fact}, []), *self._advance()]

    def _take_facts(self, text: str, understood: Understood) -> list[Message]:
        """Facts become the base case; without any, the nearest things that can be done are named."""
        read = stated(self.kb, understood, self.facts)
        notes = [*read.notes, *_left_out(understood)]
        if not read.facts and not read.asks:
            if notes:
                return [self._told("echo", phrases.understood(notes)), *self._open_question()]
            return [self._told("answer", replies.nearest(self.kb, text)), *self._open_question()]
        self._eager = (
            self._eager
            or (understood.intent in ("size", "compare", "why") and "?" in text)
            or understood.act in ("size", "compare")
        )
        if read.facts:
            self._move(self._state.with_facts(read.facts))
        messages = [self._echo(read.facts, notes)] if read.facts or notes else []
        return messages + self._after(read)

    def _after(self, read: Stated) -> list[Message]:
        """The question back when something was ambiguous, otherwise the answer or the next question."""
        if read.asks:
            self._ask = read.asks[0]
            return [self._ask_message(self._ask)]
        self._ask = None
        return self._advance()

    def _what_if_turn(self, text: str, understood: Understood) -> list[Message]:
        """The difference a change makes; the base case stays. Before there is an answer, it is a plain statement."""
        if self.recommendation is None:
            return self._take_facts(text, understood)
        read = stated(self.kb, understood, self.facts)
        if read.asks:
            self._ask = replace(read.asks[0], hypothetical=True)
            return [self._ask_message(self._ask)]
        facts = {**read.facts, **self._multiplied(understood)}
        if not facts:
            return [self._told("answer", phrases.which_change())]
        return self._suppose(self.recommendation, facts)

    def _multiplied(self, understood: Understood) -> Facts:
        """What `double the users` or `half that` makes of a number said before, supposed last, or assumed."""
        scaled = understood.scaled
        if scaled is None:
            return {}
        last = self._what_if if self._what_if is not None and not scaled.facts else self._state
        names = scaled.facts or tuple(reversed(last.answered))
        assumed = self.recommendation.requirement if self.recommendation is not None else {}
        for known in (last.said, assumed):
            for name in names:
                value = known[name].value if name in known else None
                if isinstance(value, int | float) and not isinstance(value, bool):
                    return self._number(name, value * scaled.factor, scaled.text)
        return {}

    def _number(self, name: str, value: float, text: str) -> Facts:
        fact = self.kb.facts[name]
        low, high = fact.minimum or 0.0, fact.maximum or value
        value = min(max(value, low), high)
        number: Scalar = max(1, round(value)) if fact.type == "integer" else value
        return {name: FactValue(value=number, origin="said", because="chat", text=text)}

    def _suppose(self, base: Recommendation, facts: Facts) -> list[Message]:
        other = self._state.with_facts(facts)
        changed: dict[str, Scalar | None] = {
            name: other.said[name].value if name in other.said else None
            for name in {**self._state.said, **other.said}
            if self._state.said.get(name) != other.said.get(name)
        }
        difference = explain_what_if(self.kb, base, self.facts, changed, self._recommend)
        self._what_if = other
        told = explaining.what_if(self.kb, difference)
        self._whole = told.whole
        return [replace(told.message, chips=self._chips(facts))]

    def _keep(self, _text: str, _understood: Understood) -> list[Message]:
        if self._what_if is None:
            return [self._told("answer", phrases.NOTHING_KEPT)]
        self._move(self._what_if)
        return self._advance()

    def _compare(self, text: str, understood: Understood) -> list[Message]:
        """A table of the named systems beside the best node and rack, or the answer to a case stated with them."""
        if not understood.facts and self.recommendation is not None:
            return self._answer_now(text, understood)
        if "accelerator" not in understood.facts and "system" not in understood.facts:
            return self._take_facts(text, understood)
        if "model" in understood.facts or self.recommendation is None:
            return self._take_facts(text, understood)
        return [
            replies.comparison(self.kb, self.recommendation, self._state.said, understood, self._recommend)
        ]

    def _explain(self, text: str, understood: Understood) -> list[Message]:
        messages: list[Message] = []
        if self.recommendation is None and "model" in understood.facts:
            self._eager = True
            return self._take_facts(text, understood)
        if self.recommendation is None and "model" in self._state.said:
            self._eager = True
            messages = self._advance(ask=False)
        if self.recommendation is None:
            return [self._told("answer", phrases.NO_ANSWER_YET), *self._open_question()]
        told = explaining.explanation(self.kb, self.recommendation, understood, text)
        self._whole = told.whole
        return [*messages, told.message]

    def _show_more(self, _text: str, _understood: Understood) -> list[Message]:
        """The whole of the explanation that was shortened last."""
        if self._whole is None:
            return [self._told("answer", phrases.NOTHING_MORE), *self._open_question()]
        return [self._whole()]

    def _why_asked(self, _text: str, _understood: Understood) -> list[Message]:
        if self.question is None:
            return [self._told("answer", phrases.NO_QUESTION)]
        return [
            self._told("explanation", phrases.why_asked(self.question.why, self.question.reason)),
            *self._open_question(),
        ]

    def _look_up(self, text: str, understood: Understood) -> list[Message]:
        return [replies.look_up(self.kb, understood, text, self.recommendation), *self._open_question()]

    def _undo(self, _text: str, _understood: Understood) -> list[Message]:
        if not self._past:
            return [self._told("answer", phrases.NOTHING_TO_UNDO), *self._open_question()]
        before, self._state = self._state, self._past.pop()
        self._ask = self._whole = None
        return [self._told("answer", phrases.undone(changes(self.kb, before, self._state))), *self._advance()]

    def _back(self, _text: str, _understood: Understood) -> list[Message]:
        """Ask the last answered or skipped question again."""
        if self._ask is not None:
            self._ask = None
            return self._advance()
        last = self._state.last_question(self.kb)
        if last is None:
            return [self._told("answer", phrases.NO_EARLIER_QUESTION), *self._open_question()]
        was = self._state.said.get(last)
        self._move(self._state.without({last}))
        self.question = question_about(self.kb, last)
        self.recommendation = None
        value = replies.fact_text(self.kb, last, was) if was is not None else ""
        told = [self._told("answer", phrases.taken_back(self._title(last), value))] if was is not None else []
        return [*told, *self._open_question()]

    def _reset(self, _text: str, _understood: Understood) -> list[Message]:
        self._move(State())
        self._ask, self._what_if, self._eager = None, None, False
        self.recommendation = None
        return [self._told("answer", phrases.RESET), *self._advance()]

    def _skip(self, _text: str, _understood: Understood) -> list[Message]:
        if self._ask is not None:
            self._ask = None
            return self._advance()
        if self.question is None:
            return [self._told("answer", phrases.NO_QUESTION)]
        self._move(self._state.skipping(self.question.fact))
        return self._advance()

    def _answer_now(self, _text: str, _understood: Understood) -> list[Message]:
        self._eager = True
        return self._advance(ask=False)

    def _forget(self, text: str, understood: Understood) -> list[Message]:
        """Take back the facts named by a word for them, by their value, or by the words they were said in."""
        names = facts_named(self.kb, text, self._state.said, understood)
        if not names and understood.facts:
            return self._take_facts(text, understood)
        if not names:
            titles = [self._title(name) for name in self._state.said]
            return [self._told("answer", phrases.nothing_forgotten(titles)), *self._open_question()]
        self._move(self._state.without(set(names)))
        return [
            self._told("answer", phrases.forgotten([self._title(name) for name in names])),
            *self._advance(),
        ]

    def _say_phrase(self, _text: str, understood: Understood) -> list[Message]:
        if understood.act == "quit":
            self.closed = True
        return [self._told("answer", _PHRASES[understood.act])]

    def _courtesy(self, _text: str, _understood: Understood) -> list[Message]:
        return self._open_question() or [self._told("answer", phrases.HELP)]

    def _advance(self, *, ask: bool = True) -> list[Message]:
        """The answer, once there is enough to give one, and the next question."""
        said = self.facts
        before, self.recommendation, self._what_if = self.recommendation, None, None
        opening = always_question(self.kb, said, self._state.skipped)
        if "model" not in said:
            opening = question_about(self.kb, "model")
        if "model" not in said or (opening is not None and not self._eager):
            self.question = opening
            return self._open_question()
        answer = self._recommend(self.kb, said, flips=True)
        self.recommendation, self._eager = answer, True
        same = before is not None and before.requirement == answer.requirement
        text = phrases.same_answer(answer) if same else phrases.answer(answer, before)
        cited = explaining.cited(self.kb, answer)
        messages = [Message(role="rackfit", kind="answer", markdown=text, citations=cited)]
        if ask:
            skipped = self._state.skipped
            usual = workload_question(self.kb, said, skipped) if answer.verdict != "none" else None
            self.question = opening or usual or next_question(self.kb, said, self._recommend, skipped=skipped)
            messages += self._open_question() or [self._told("notice", phrases.NO_MORE_QUESTIONS)]
        return messages

    def _open_question(self) -> list[Message]:
        """The open question again, if there is one."""
        if self._ask is not None:
            return [self._ask_message(self._ask)]
        if self.question is None:
            return []
        text = phrases.question(self.question.text, self.question.help)
        return [
            Message(
                role="rackfit", kind="question", markdown=text, choices=choices_of(self.kb, self.question)
            )
        ]

    def _ask_message(self, ask: Ask) -> Message:
        return Message(
            role="rackfit",
            kind="question",
            markdown=phrases.question(self._title(ask.fact), ask.reason),
            choices=ask.choices,
        )

    def _recommend(self, kb: KnowledgeBase, said: Facts, *, flips: bool) -> Recommendation:
        """`recommend`, remembering what it answered in this conversation."""
        key = (flips, tuple(sorted((name, repr(fact.value)) for name, fact in said.items())))
        if key not in self._known:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = recommend(kb, said, flips=flips)
        return self._known[key]

    def _move(self, new: State) -> None:
        """Go to a new state; the old one can be undone to, and what explained its answer is past."""
        if new != self._state:
            self._past.append(self._state)
            self._state, self._whole = new, None

    def _echo(self, facts: Mapping[str, FactValue], notes: list[str]) -> Message:
        return Message(
            role="rackfit", kind="echo", markdown=phrases.understood(notes), chips=self._chips(facts)
        )

    def _chips(self, facts: Mapping[str, FactValue]) -> tuple[Chip, ...]:
        return tuple(
            Chip(
                fact=name,
                label=self._title(name),
                text=replies.fact_text(self.kb, name, fact),
                origin=fact.origin,
            )
            for name, fact in facts.items()
        )

    def _title(self, name: str) -> str:
        return replies.fact_title(self.kb, name)

    def _told(self, kind: MessageKind, text: str) -> Message:
        return Message(role="rackfit", kind=kind, markdown=text)


def _left_out(understood: Understood) -> list[str]:
    """Sentences on what was recognised and not used, and on numbers that nothing explained."""
    by_why: dict[str, list[str]] = {}
    for item in understood.ignored:
        by_why.setdefault(item.why, []).append(item.text)
    return phrases.left_out(
        by_why.get("excluded", []),
        by_why.get("observed", []),
        [*by_why.get("unknown", []), *by_why.get("cut", [])],
    )


_PHRASES = {
    "help": phrases.HELP,
    "quit": phrases.CLOSING,
    "export": phrases.EXPORT,
    "sessions": phrases.SESSIONS,
}
_Handler = Callable[[Turns, str, Understood], list[Message]]
HANDLERS: dict[str, _Handler] = {
    "why_asked": Turns._why_asked,
    "undo": Turns._undo,
    "back": Turns._back,
    "reset": Turns._reset,
    "skip": Turns._skip,
    "forget": Turns._forget,
    "keep": Turns._keep,
    "more": Turns._show_more,
    "answer": Turns._answer_now,
    "what_if": Turns._what_if_turn,
    "compare": Turns._compare,
    **dict.fromkeys(
        ("why", "why_not", "sure", "flips", "assumptions", "evidence", "figure", "claim"), Turns._explain
    ),
    **dict.fromkeys(("define", "show", "list_gotchas"), Turns._look_up),
    **dict.fromkeys(_PHRASES, Turns._say_phrase),
    "thanks": Turns._courtesy,
}
"""Act -> the turn that answers it; every other act states facts."""
