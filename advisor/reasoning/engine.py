"""Forward chaining over the rule base: assumptions to a fixed point, then everything that holds, in one fixed order.

The facts that rules (or defaults) settle are visited in the order in which they depend on one another, so one pass
reaches the fixed point; the linter refuses cycles. Rules are considered by falling precedence, then by id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import overload

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import (
    STATED,
    Test,
    compile_condition,
    must_be_stated,
    values_of,
    visible_value,
)
from advisor.reasoning.rule_index import RuleIndex
from advisor.reasoning.trace import fill_text, trace_step
from advisor.records import (
    Effect,
    Fact,
    FactRef,
    Facts,
    FactValue,
    Origin,
    Rule,
    Scalar,
    Scope,
    TraceStep,
    Verdict,
)

VERDICTS: tuple[Verdict, ...] = ("node", "rack", "either", "none")
CANDIDATES = ("candidate", "node", "rack")
"""Targets of a `forbid` that excludes."""


@dataclass(frozen=True, kw_only=True)
class FiredEffect:
    """One effect of a rule whose condition held. `effect.text` is final: facts filled in, the rule's reason if it had none."""

    rule: Rule
    effect: Effect
    subject: str = ""

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the facts that the rule's condition is about."""
        return self.rule.when.facts()


@dataclass(frozen=True, kw_only=True)
class RuleRun:
    """Outcome of one run over one scope. facts: the input with what rules and defaults added. effects: what fired, in order."""

    kb: KnowledgeBase = field(repr=False)
    scope: Scope
    subject: str
    facts: Facts
    effects: tuple[FiredEffect, ...]
    fired: frozenset[str] = field(repr=False)

    @cached_property
    def trace(self) -> tuple[TraceStep, ...]:
        """Every rule of the scope: fired or not, the facts it read, what it concluded. Built when asked for."""
        concluded: dict[str, list[Effect]] = defaultdict(list)
        for fired in self.effects:
            concluded[fired.rule.id].append(fired.effect)
        compiled = program(self.kb, self.scope)
        return tuple(
            trace_step(
                self.kb,
                rule,
                self.subject,
                self.facts,
                rule.id in self.fired,
                concluded[rule.id],
                compiled.rule_reads[rule.id],
            )
            for rule in compiled.rules
        )


class Trace(Sequence[TraceStep]):
    """The steps of several runs, built when they are first looked at: most readers of an answer never do."""

    def __init__(self, runs: Sequence[RuleRun]) -> None:
        self._runs = tuple(runs)

    @cached_property
    def steps(self) -> tuple[TraceStep, ...]:
        """All steps, in the order of the runs."""
        return tuple(step for run in self._runs for step in run.trace)

    @overload
    def __getitem__(self, index: int) -> TraceStep: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TraceStep, ...]: ...
    def __getitem__(self, index: int | slice) -> TraceStep | tuple[TraceStep, ...]:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.steps == tuple(other)


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Verdict of a comparison's effects. sums: strength per verdict among the effects that decided.

    decided_by: the effects that spoke for the verdict; against: those of the same rank that spoke otherwise; outranked: the
    rest. Rank is `require` before `favour`, then precedence.
    """

    verdict: Verdict | None
    precedence: int | None = None
    sums: dict[str, float] = field(default_factory=dict)
    decided_by: tuple[FiredEffect, ...] = ()
    against: tuple[FiredEffect, ...] = ()
    outranked: tuple[FiredEffect, ...] = ()


class Program:
    """The rules of one scope, compiled."""

    def __init__(self, kb: KnowledgeBase, scope: Scope) -> None:
        own = [rule for rule in kb.rules.values() if scope_of(kb, rule) == scope]
        self.rules: tuple[Rule, ...] = tuple(sorted(own, key=lambda rule: (-rule.precedence, rule.id)))
        self.tests: tuple[Test, ...] = tuple(compile_condition(rule.when) for rule in self.rules)
        self.effects: tuple[tuple[Effect, ...], ...] = tuple(
            tuple(replace(effect, text=effect.text or rule.reason) for effect in rule.then)
            for rule in self.rules
        )
        self.rule_reads: dict[str, tuple[str, ...]] = {rule.id: rule.when.facts() for rule in self.rules}
        self.reads = frozenset(
            {
                "candidate_kind",
                *(name for reads in self.rule_reads.values() for name in reads),
                *(effect.target for rule in self.rules for effect in rule.then if effect.kind == "ask"),
            }
        )
        self.index = RuleIndex([rule.when for rule in self.rules])
        self.settlers: dict[str, list[tuple[Rule, Test, Effect]]] = defaultdict(list)
        for rule, test in zip(self.rules, self.tests, strict=True):
            for effect in rule.then:
                if effect.kind == "assume":
                    self.settlers[effect.target].append((rule, test, effect))
        for settlers in self.settlers.values():
            settlers.sort(key=lambda settler: (-settler[0].precedence, -settler[0].strength, settler[0].id))
        self.defaults: dict[str, Fact] = (
            {name: fact for name, fact in kb.facts.items() if fact.assumed} if scope == "requirement" else {}
        )
        self.order = dependency_order(
            {
                name: {
                    read
                    for rule, _, _ in self.settlers.get(name, ())
                    for read in set(rule.when.facts()) - must_be_stated(rule.when)
                }
                for name in sorted({*self.settlers, *self.defaults})
            }
        )


def scope_of(kb: KnowledgeBase, rule: Rule) -> Scope:
    """The scope a rule runs in: the stated one, else where its first telling effect acts.

    Excluding a candidate acts on candidates, a verdict or a confidence on the comparison, an assumption or a question
    where its fact belongs; a rule that only warns runs where the facts it reads are known.
    """
    if rule.scope:
        return rule.scope
    for effect in rule.then:
        if effect.kind == "forbid":
            return "candidate" if effect.target in CANDIDATES else "comparison"
        if effect.kind in ("favour", "require"):
            return "comparison"
        if effect.kind in ("assume", "ask"):
            target = kb.facts.get(effect.target)
            return target.scope if target else "requirement"
    scopes = {kb.facts[name].scope for name in rule.when.facts() if name in kb.facts}
    return "comparison" if "comparison" in scopes else "candidate" if "candidate" in scopes else "requirement"


def program(kb: KnowledgeBase, scope: Scope) -> Program:
    """The compiled rules of a scope, kept with the knowledge base."""
    key = ("rules", scope)
    if key not in kb.memo:
        kb.memo[key] = Program(kb, scope)
    compiled: Program = kb.memo[key]
    return compiled


def run_rules(kb: KnowledgeBase, facts: Facts, *, scope: Scope, subject: str = "") -> RuleRun:
    """Run the rules of a scope on facts until nothing changes.

    In requirement scope, facts nobody said or computed get what a rule assumes, else their default; values that an
    earlier run assumed or derived are settled anew, so a run on its own result changes nothing. `subject` names the
    candidate that a candidate run is about. The input is not changed.
    """
    compiled = program(kb, scope)
    settled = {name for name in compiled.order if name not in facts or _settled_before(facts[name])}
    known: Facts = {name: value for name, value in facts.items() if name not in settled}
    values = values_of(known, compiled.reads)
    for name in compiled.order:
        value = _settle(kb, compiled, name, known, values) if name in settled else None
        if value is not None:
            known[name] = value
            values[name] = visible_value(value)
    fired: list[Rule] = []
    effects: list[FiredEffect] = []
    kind = values.get("candidate_kind")
    for position in compiled.index.candidates(values):
        if not compiled.tests[position](values):
            continue
        rule = compiled.rules[position]
        fired.append(rule)
        for effect in compiled.effects[position]:
            if effect.kind == "assume" and (
                effect.target not in known or known[effect.target].because != rule.id
            ):
                continue
            if effect.kind == "ask" and values.get(STATED + effect.target):
                continue
            if effect.kind == "forbid" and scope == "candidate" and effect.target not in ("candidate", kind):
                continue
            if "{" in effect.text:
                effect = replace(effect, text=fill_text(kb, effect.text, known))
            effects.append(FiredEffect(rule=rule, subject=subject, effect=effect))
    return RuleRun(
        kb=kb,
        scope=scope,
        subject=subject,
        facts=known,
        effects=tuple(effects),
        fired=frozenset(rule.id for rule in fired),
    )


def decide(effects: tuple[FiredEffect, ...]) -> Decision:
    """The verdict of a comparison's effects; None when none of them concludes one.

    A `require` outranks every `favour`; among each, the highest precedence decides. Strengths of one rank add up, and equal
    sums of different verdicts give `either`.
    """
    spoken = [e for e in effects if e.effect.kind in ("favour", "require") and e.effect.target in VERDICTS]
    if not spoken:
        return Decision(verdict=None)
    ranks = [(e.effect.kind == "require", e.rule.precedence) for e in spoken]
    top = max(ranks)
    deciding = [e for e, rank in zip(spoken, ranks, strict=True) if rank == top]
    sums: dict[str, float] = {}
    for fired in deciding:
        sums[fired.effect.target] = sums.get(fired.effect.target, 0.0) + fired.rule.strength
    best = max(sums.values())
    leaders = [verdict for verdict in VERDICTS if abs(sums.get(verdict, -1.0) - best) < 1e-9]
    split = len(leaders) > 1
    verdict: Verdict = "either" if split else leaders[0]
    return Decision(
        verdict=verdict,
        precedence=top[1],
        sums=sums,
        decided_by=tuple(e for e in deciding if split or e.effect.target == verdict),
        against=tuple(e for e in deciding if not split and e.effect.target != verdict),
        outranked=tuple(e for e, rank in zip(spoken, ranks, strict=True) if rank != top),
    )


def dependency_order(reads: dict[str, set[str]]) -> tuple[str, ...]:
    """Names so that each comes after the names it reads; ties and cycles in the order given."""
    order: dict[str, None] = {}
    open_names: set[str] = set()

    def visit(name: str) -> None:
        if name in order or name in open_names:
            return
        open_names.add(name)
        for read in sorted(reads[name]):
            if read in reads:
                visit(read)
        open_names.discard(name)
        order[name] = None

    for name in reads:
        visit(name)
    return tuple(order)


def _settled_before(value: FactValue) -> bool:
    """Whether an earlier run set this value, from a rule or from a fact's default."""
    return value.origin in ("assumed", "derived") and value.because.startswith(("rules/", "facts/"))


def _settle(
    kb: KnowledgeBase, compiled: Program, name: str, known: Facts, values: dict[str, Scalar | None]
) -> FactValue | None:
    """What the first assuming rule that holds gives a fact, else its default, else None."""
    fact = kb.facts.get(name)
    for rule, test, effect in compiled.settlers.get(name, ()):
        if not test(values):
            continue
        value = effect.value
        if isinstance(value, FactRef):
            source = known.get(value.fact)
            value = source.value if source else None
        if value is not None:
            origin: Origin = "derived" if fact is not None and fact.derived_from else "assumed"
            text = fill_text(kb, effect.text or rule.reason, known)
            return FactValue(value=value, origin=origin, because=rule.id, text=text)
    if fact is None or name not in compiled.defaults or fact.assumed is None:
        return None
    assumed = fact.assumed
    return FactValue(
        value=assumed.value,
        low=assumed.low,
        high=assumed.high,
        origin="assumed",
        because=fact.id,
        text=assumed.why,
    )
