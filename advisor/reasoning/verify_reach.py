"""Checks of what reaches what: facts nothing reads, questions nobody would ever be asked, facts that settle each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import must_be_stated
from advisor.reasoning.problem import RuleProblem, Where
from advisor.reasoning.trace import named_facts
from advisor.records import Fact, FactRef


def check_reach(kb: KnowledgeBase) -> Iterator[RuleProblem]:
    """Problems of facts that reach nothing or go in circles."""
    read, telling = _read(kb), _telling(kb)
    for fact in kb.facts.values():
        if fact.name not in read:
            yield RuleProblem(
                kind="unread-fact",
                entry_id=fact.id,
                where=("name",),
                message=f"no rule, gotcha or computation reads {fact.name}",
                fix="write a rule that reads it, name what does in `used_by`, or remove it",
            )
        elif fact.question and (fact.ask == "never" or fact.name not in telling):
            yield RuleProblem(
                kind="unasked-question",
                entry_id=fact.id,
                where=("question",),
                message="the question is never asked: " + _why_unasked(fact),
                fix="set `ask: decisive` and let a rule conclude from it, or drop the question",
            )
        elif fact.ask != "never" and not fact.question:
            yield RuleProblem(
                kind="unasked-question",
                entry_id=fact.id,
                where=("ask",),
                message=f"`ask: {fact.ask}` without a question",
                fix="add `question`, or set `ask: never`",
            )
    yield from _cycles(kb)


def _why_unasked(fact: Fact) -> str:
    if fact.ask == "never":
        return "`ask` is never"
    return "no answer to it can change a verdict"


def _read(kb: KnowledgeBase) -> set[str]:
    """Facts that anything reads."""
    names: set[str] = set()
    for rule in kb.rules.values():
        names.update(rule.when.facts(), named_facts(rule.reason))
        for effect in rule.then:
            names.update(named_facts(effect.text))
            if isinstance(effect.value, FactRef):
                names.add(effect.value.fact)
    for gotcha in kb.gotchas.values():
        if gotcha.applies_when is not None:
            names.update(gotcha.applies_when.facts())
    for fact in kb.facts.values():
        names.update(fact.derived_from)
        if fact.used_by:
            names.add(fact.name)
    return names


def _telling(kb: KnowledgeBase) -> set[str]:
    """Facts that can change a verdict: read by what sizes or concludes, or settling a fact that is."""
    names = {fact.name for fact in kb.facts.values() if fact.used_by}
    for rule in kb.rules.values():
        if any(effect.kind in ("favour", "require", "forbid") for effect in rule.then):
            names.update(rule.when.facts())
    parents: dict[str, set[str]] = defaultdict(set)
    for fact in kb.facts.values():
        parents[fact.name].update(fact.derived_from)
    for rule in kb.rules.values():
        for effect in rule.then:
            if effect.kind == "assume":
                parents[effect.target].update(rule.when.facts())
    stack = list(names)
    while stack:
        for parent in parents[stack.pop()] - names:
            names.add(parent)
            stack.append(parent)
    return names


def _cycles(kb: KnowledgeBase) -> Iterator[RuleProblem]:
    """Circles among facts that rules assume or that are derived from each other, each reported once."""
    edges: dict[str, dict[str, tuple[str, Where]]] = defaultdict(dict)
    ruled: set[str] = set()  # what these facts depend on, the conditions of the rules say more exactly
    for rule in kb.rules.values():
        depends = set(rule.when.facts()) - must_be_stated(rule.when)
        for index, effect in enumerate(rule.then):
            if effect.kind == "assume":
                ruled.add(effect.target)
                own = depends | ({effect.value.fact} if isinstance(effect.value, FactRef) else set())
                for name in sorted(own):
                    edges[effect.target].setdefault(name, (rule.id, ("then", index, "assume")))
    for fact in kb.facts.values():
        if fact.computed_by or fact.name not in ruled:
            for index, name in enumerate(fact.derived_from):
                edges[fact.name].setdefault(name, (fact.id, ("derived_from", index)))
    reported: set[str] = set()
    for start in sorted(edges):
        path = _circle(edges, start)
        if path and not reported & set(path):
            reported |= set(path)
            entry_id, where = edges[path[0]][path[1 % len(path)]]
            shown = " ← ".join([*path, path[0]])
            yield RuleProblem(
                kind="cycle",
                entry_id=entry_id,
                where=where,
                message=f"{path[0]} is settled from itself: {shown}",
                fix="remove one step, or let it read the stated value only (`stated: true`)",
            )


def _circle(edges: dict[str, dict[str, tuple[str, Where]]], start: str) -> list[str]:
    """The names of a circle through `start`, beginning there; empty when there is none."""
    trail = {start: ""}
    stack = [start]
    while stack:
        name = stack.pop()
        for other in edges.get(name, {}):
            if other == start:
                path = [name]
                while trail[path[-1]]:
                    path.append(trail[path[-1]])
                return path[::-1]
            if other not in trail:
                trail[other] = name
                stack.append(other)
    return []
