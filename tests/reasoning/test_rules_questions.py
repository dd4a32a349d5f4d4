"""Only questions whose answer can still change the verdict are asked, the most decisive first."""

from __future__ import annotations

from dataclasses import replace

from rule_base import answer_of, base, choice, fact, flag, rule, said

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.engine import run_rules
from advisor.reasoning.questions import next_question, possible_answers, weigh_questions
from advisor.records import Entry, Facts, Recommendation


def asked(name: str, order: int, **extra: object) -> dict[str, object]:
    return {"question": f"What is {name}?", "why": f"{name} matters.", "order": order, **extra}


ENTRIES: tuple[Entry, ...] = (
    fact("model", "entry", entry_kind="models", **asked("model", 10, ask="always")),
    choice("cooling", "air", "liquid", **asked("cooling", 30, ask="decisive")),
    fact("tpot_ms", unit="ms", suggestions=[200, 40, 15], **asked("tpot_ms", 20, ask="decisive")),
    flag("spare", **asked("spare", 40, ask="decisive")),
    fact("growth", **asked("growth", 50, ask="decisive")),
    rule("air", {"fact": "cooling", "is": "air"}, {"require": "node"}),
    rule("tight", {"fact": "tpot_ms", "at_most": 15}, {"favour": "rack"}, strength=2),
    rule("usual", {"fact": "model", "known": True}, {"favour": "node"}),
)


def recommend(kb: KnowledgeBase, facts: Facts, *, flips: bool) -> Recommendation:
    assert not flips
    if "model" not in facts:
        raise InputError("which model?")
    requirement = run_rules(kb, facts, scope="requirement").facts
    return replace(answer_of(kb, requirement), requirement=requirement)


def test_what_is_always_needed_is_asked_first() -> None:
    """Without a model there is nothing to size."""
    question = next_question(base(*ENTRIES), {}, recommend)
    assert question is not None
    assert (question.fact, question.text, question.considered) == ("model", "What is model?", ())


def test_the_question_that_can_change_the_verdict_is_asked_with_the_reason() -> None:
    """Only a limit of 15 ms turns the node into a rack; cooling, a spare and growth turn nothing."""
    kb = base(*ENTRIES)
    question = next_question(kb, said(model="models/x"), recommend)
    assert question is not None
    assert question.fact == "tpot_ms"
    assert question.reason == "the verdict is node now; 15 ms gives rack"
    assert question.answers == (200, 40, 15)
    weighed = {considered.fact: considered.changes for considered in question.considered}
    assert weighed == {"tpot_ms": 1 / 3, "cooling": 0.0, "spare": 0.0, "growth": 0.0}


def test_once_the_limit_is_tight_cooling_decides() -> None:
    """What is decisive depends on what was said before."""
    question = next_question(base(*ENTRIES), said(model="models/x", tpot_ms=15), recommend)
    assert question is not None
    assert question.fact == "cooling"
    assert question.reason == "the verdict is rack now; air gives node"


def test_nothing_is_asked_when_no_answer_can_change_the_verdict() -> None:
    """A conversation ends when it has nothing left to find out, and can say so."""
    kb = base(*ENTRIES)
    facts = said(model="models/x", tpot_ms=200, cooling="air")
    assert next_question(kb, facts, recommend) is None
    reasons = {considered.reason for considered in weigh_questions(kb, facts, recommend)}
    assert reasons == {"no answer tried changes the verdict node"}


def test_a_skipped_question_is_not_asked_again() -> None:
    """Whoever does not want to answer is asked the next best thing, or nothing."""
    kb = base(*ENTRIES)
    assert next_question(kb, said(model="models/x"), recommend, skipped={"tpot_ms"}) is None


def test_a_rule_can_put_a_question_before_equally_decisive_ones() -> None:
    """Of two questions that could both turn the verdict, the one a rule asks for comes first."""
    more = (
        rule("prefer", {"fact": "spare", "is": True}, {"require": "rack"}),
        rule("ask", {"fact": "model", "known": True}, {"ask": "spare"}),
        flag("growing", **asked("growing", 5, ask="decisive")),
        rule("grow", {"fact": "growing", "is": True}, {"require": "rack"}),
    )
    question = next_question(base(*ENTRIES, *more), said(model="models/x"), recommend)
    assert question is not None
    assert (question.fact, question.considered[0].requested_by) == ("spare", "rules/ask")
    assert [considered.fact for considered in question.considered[:2]] == ["spare", "growing"]


def test_answers_to_a_number_without_suggestions_are_what_the_rules_tell_apart() -> None:
    """A new fact needs no suggestions: its rules' thresholds and points around them are tried."""
    kb = base(
        fact("floor_kg", minimum=0), rule("floor", {"fact": "floor_kg", "below": 900}, {"forbid": "rack"})
    )
    answers = possible_answers(kb, kb.facts["floor_kg"])
    assert any(isinstance(a, (int, float)) and a < 900 for a in answers)
    assert any(isinstance(a, (int, float)) and a >= 900 for a in answers)
