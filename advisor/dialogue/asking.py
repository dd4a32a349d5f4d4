"""Which question comes before the decisive ones, and the replies offered with a question."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.questions import Question
from advisor.records import FactValue, Scalar
from advisor.units import format_tokens

WORKLOAD_OR_LATENCY = ("workload", "tpot_ms", "ttft_ms")
"""One of these is asked for after the facts that are always asked: latency decides more verdicts than model size."""


def always_question(
    kb: KnowledgeBase, said: Mapping[str, FactValue], skipped: Collection[str]
) -> Question | None:
    """The first of the questions that every conversation asks and that is still open."""
    always = sorted(
        (f for f in kb.facts.values() if f.ask == "always"), key=lambda fact: (fact.order, fact.name)
    )
    name = next((fact.name for fact in always if fact.name not in said and fact.name not in skipped), None)
    return question_about(kb, name) if name else None


def workload_question(
    kb: KnowledgeBase, said: Mapping[str, FactValue], skipped: Collection[str]
) -> Question | None:
    """The kind of workload, when neither it nor a latency limit was said or skipped."""
    if any(name in said or name in skipped for name in WORKLOAD_OR_LATENCY):
        return None
    return question_about(kb, "workload")


def question_about(kb: KnowledgeBase, name: str) -> Question | None:
    """The question that asks for a fact; None when it has none."""
    fact = kb.facts.get(name)
    if fact is None or not fact.question:
        return None
    answers: tuple[Scalar, ...] = tuple(choice.value for choice in fact.choices) or fact.suggestions
    return Question(
        fact=name, text=fact.question, why=fact.why, help=fact.help, answers=answers, reason=fact.why
    )


def choices_of(kb: KnowledgeBase, question: Question) -> tuple[str, ...]:
    """Replies to offer, each of which can be said as it is; every question but the one for the model can be skipped."""
    fact = kb.facts.get(question.fact)
    unit = fact.unit if fact else ""
    offered = tuple(_reply(answer, unit) for answer in question.answers)
    return offered if question.fact == "model" else (*offered, "skip")


def _reply(answer: Scalar, unit: str) -> str:
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if unit == "tokens" and isinstance(answer, int | float):
        return format_tokens(answer).replace(",", "")
    return f"{answer:g}" if isinstance(answer, float) else str(answer)
