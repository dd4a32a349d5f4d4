"""Which question to ask next: the one whose answer can still change the verdict, found by trying its answers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from advisor.errors import RackfitError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import same_value
from advisor.reasoning.engine import run_rules
from advisor.reasoning.trace import show_value
from advisor.reasoning.verify_region import domains_for
from advisor.records import Fact, Facts, FactValue, Recommendation, Scalar, Verdict


class Recommender(Protocol):
    """What `advisor.reasoning.recommend.recommend` is."""

    def __call__(self, kb: KnowledgeBase, said: Facts, /, *, flips: bool) -> Recommendation:
        """The answer to what was said."""


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One possible answer and the verdict it leads to; None where it cannot be used."""

    value: Scalar
    verdict: Verdict | None


@dataclass(frozen=True, kw_only=True)
class Considered:
    """One question that was considered, its answers tried. changes: the share of answers that change the verdict."""

    fact: str
    tried: tuple[Tried, ...] = ()
    changes: float = 0.0
    requested_by: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What to ask. reason: why this one now. considered: all questions weighed, most decisive first."""

    fact: str
    text: str
    why: str = ""
    help: str = ""
    answers: tuple[Scalar, ...] = ()
    reason: str = ""
    considered: tuple[Considered, ...] = ()


def next_question(
    kb: KnowledgeBase, facts: Facts, recommend: Recommender, *, skipped: Collection[str] = ()
) -> Question | None:
    """The question to ask after `facts` were said; None when no answer to any can change the verdict.

    Facts with `ask: always` come first, in their order. Then the answers of every other question are tried with
    `recommend` (without flips), and the one with the largest share of answers that change the verdict is asked; a rule's
    `ask`, then the fact's order break ties. `skipped` are facts that the user does not want to answer.
    """
    for fact in _open(kb, facts, skipped, "always"):
        return _question(fact, f"{fact.title} is always asked first: {fact.why}", (), facts)
    weighed = weigh_questions(kb, facts, recommend, skipped=skipped)
    if not weighed or not weighed[0].changes:
        return None
    best = weighed[0]
    return _question(kb.facts[best.fact], best.reason, weighed, facts)


def weigh_questions(
    kb: KnowledgeBase, facts: Facts, recommend: Recommender, *, skipped: Collection[str] = ()
) -> tuple[Considered, ...]:
    """Every decisive question still open, most decisive first, with the verdict of each answer tried."""
    try:
        now = recommend(kb, facts, flips=False)
    except RackfitError:
        return ()
    requested = {
        fired.effect.target: fired.rule.id
        for fired in run_rules(kb, facts, scope="requirement").effects
        if fired.effect.kind == "ask"
    }
    weighed = [
        _weigh(kb, fact, facts, now, recommend, requested.get(fact.name, ""))
        for fact in _open(kb, facts, skipped, "decisive")
    ]
    return tuple(
        sorted(weighed, key=lambda c: (-c.changes, not c.requested_by, kb.facts[c.fact].order, c.fact))
    )


def possible_answers(kb: KnowledgeBase, fact: Fact) -> tuple[Scalar, ...]:
    """The answers worth trying: the fact's suggestions, else its choices, yes and no, or what the rules tell apart."""
    if fact.suggestions:
        return fact.suggestions
    if fact.type == "choice":
        return tuple(choice.value for choice in fact.choices)
    if fact.type == "flag":
        return (True, False)
    readers = [rule.when for rule in kb.rules.values() if fact.name in rule.when.facts()]
    return tuple(v for v in domains_for(kb, readers, fact.scope).get(fact.name, ()) if v is not None)


def _open(kb: KnowledgeBase, facts: Facts, skipped: Collection[str], ask: str) -> list[Fact]:
    """Questions of one kind that are neither answered nor skipped, in their order."""
    return sorted(
        (
            fact
            for fact in kb.facts.values()
            if fact.ask == ask
            and fact.question
            and fact.name not in skipped
            and not _answered(facts.get(fact.name))
        ),
        key=lambda fact: (fact.order, fact.name),
    )


def _answered(value: FactValue | None) -> bool:
    return value is not None and value.value is not None and value.origin in ("said", "computed")


def _weigh(
    kb: KnowledgeBase,
    fact: Fact,
    facts: Facts,
    now: Recommendation,
    recommend: Recommender,
    requested_by: str,
) -> Considered:
    current = now.requirement.get(fact.name)
    tried = []
    for value in possible_answers(kb, fact):
        if current is not None and same_value(current.value, value):
            verdict: Verdict | None = now.verdict
        else:
            verdict = _verdict(kb, {**facts, fact.name: FactValue(value=value, origin="said")}, recommend)
        tried.append(Tried(value=value, verdict=verdict))
    usable = [t for t in tried if t.verdict is not None]
    changing = [t for t in usable if t.verdict != now.verdict]
    if changing:
        shown = ", ".join(f"{show_value(kb, fact.name, t.value)} gives {t.verdict}" for t in changing)
        reason = f"the verdict is {now.verdict} now; {shown}"
    else:
        reason = f"no answer tried changes the verdict {now.verdict}"
    return Considered(
        fact=fact.name,
        tried=tuple(tried),
        changes=len(changing) / len(usable) if usable else 0.0,
        requested_by=requested_by,
        reason=reason,
    )


def _verdict(kb: KnowledgeBase, facts: Facts, recommend: Recommender) -> Verdict | None:
    try:
        return recommend(kb, facts, flips=False).verdict
    except RackfitError:
        return None


def _question(fact: Fact, reason: str, considered: tuple[Considered, ...], facts: Facts) -> Question:
    current = facts.get(fact.name)
    offered = tuple(choice.value for choice in fact.choices) or fact.suggestions
    if fact.type == "flag":
        offered = (True, False)
    return Question(
        fact=fact.name,
        text=fact.question,
        why=fact.why,
        help=fact.help,
        answers=tuple(v for v in offered if current is None or not same_value(current.value, v)),
        reason=reason,
        considered=considered,
    )
