"""Proof trees: a conclusion, the rules it follows from, their facts, and where each fact comes from, down to what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.engine import CANDIDATES
from advisor.reasoning.support import (
    blocking_facts,
    conclusions,
    deciding_rank,
    rank_of,
    supporting_facts,
)
from advisor.reasoning.trace import show_fact
from advisor.records import (
    Candidate,
    Estimate,
    Facts,
    FactValue,
    Origin,
    Recommendation,
    Rule,
    TraceStep,
)
from advisor.units import format_bytes

ABOVE = "as above"
"""The detail of a fact that was proven earlier in the same proof."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """One node of a proof tree.

    claim: what is shown here, one line. kind: what the node is; key: its rule id, fact name or system id. detail: the rule's
    reason or the origin of the fact in words. arithmetic: steps behind a computed value. evidence: ids of evidence entries,
    because: ids of entries that a rule rests on. blocks: ids of rules that a fact keeps from concluding otherwise. parts:
    what it follows from; empty where the proof ends or was given above.
    """

    claim: str
    kind: Literal["verdict", "rule", "fact", "candidate"]
    key: str
    blocks: tuple[str, ...] = ()
    detail: str = ""
    origin: Origin | None = None
    arithmetic: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    parts: tuple[Proof, ...] = ()

    def walk(self) -> Iterator[Proof]:
        """The node itself and everything under it, depth first."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def facts(self) -> tuple[str, ...]:
        """Names of the facts that the proof mentions, in order."""
        return tuple(dict.fromkeys(node.key for node in self.walk() if node.kind == "fact"))


@dataclass
class ProofBuilder:
    """Builds the proofs of one answer. Each fact and each system is expanded once in a proof; later mentions are short."""

    kb: KnowledgeBase
    answer: Recommendation
    _seen: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._steps: dict[tuple[str, str], TraceStep] = {(s.rule, s.subject): s for s in self.answer.trace}
        self._candidates = {candidate.system: candidate for candidate in self.answer.candidates}
        self._reads: dict[str, Facts] = {}
        self._known: dict[str, Facts] = {}
        for step in self.answer.trace:
            own = self._reads.setdefault(step.subject, {})
            for name, value in step.reads.items():
                if value is not None and name not in self.answer.requirement:
                    own[name] = FactValue(
                        value=value, origin="computed", because=step.subject or "comparison"
                    )

    def verdict(self) -> Proof:
        """The proof of the verdict: the rules that decided, then the facts that keep others from deciding otherwise."""
        verdict = self.answer.verdict
        decided = tuple(self.rule(rule_id) for rule_id in self.answer.decided_by)
        floor = deciding_rank(self.kb, self.answer.decided_by)
        fired = {step.rule for step in self.answer.trace if step.fired}
        rivals = [
            rule
            for rule in self.kb.rules.values()
            for effect in conclusions(rule)
            if rule.id not in fired and floor is not None and rank_of(rule, effect) >= floor
            if effect.target != verdict or verdict == "either"
        ]
        return Proof(
            claim=f"Verdict: {verdict}",
            kind="verdict",
            key=verdict,
            detail=self.answer.headline,
            parts=(*decided, *self._blockers(rivals, "")),
        )

    def _blockers(self, rules: Sequence[Rule], subject: str) -> Iterator[Proof]:
        """The facts that keep rules from holding, few for many; each with the rules it blocks."""
        facts = self.facts(subject)
        blocked: dict[str, list[str]] = {}
        mentioned = {name for name, _ in self._seen}
        for rule in sorted(rules, key=lambda rule: len(rule.when.facts())):
            for name in blocking_facts(rule.when, facts, {*mentioned, *blocked}):
                blocked.setdefault(name, []).append(rule.id)
        for name, ids in blocked.items():
            yield replace(self.fact(name, subject), blocks=tuple(ids))

    def rule(self, rule_id: str, subject: str = "") -> Proof:
        """The proof of a rule that fired: its reason and the facts that made it hold."""
        rule = self.kb.rules.get(rule_id)
        step = self._steps.get((rule_id, subject))
        if rule is None:
            return Proof(claim=rule_id, kind="rule", key=rule_id)
        concluded = ", ".join(step.concluded) if step else ""
        facts = self.facts(subject)
        return Proof(
            claim=f"{rule.title}: {concluded}" if concluded else rule.title,
            kind="rule",
            key=rule_id,
            detail=step.reason if step else rule.reason,
            because=rule.because,
            parts=tuple(
                self.fact(name, subject)
                for name in supporting_facts(rule.when, facts, {name for name, _ in self._seen})
            ),
        )

    def candidate(self, system: str) -> Proof:
        """Why a system is in or out: the rules that exclude it, or the arithmetic of its fleet."""
        candidate = self._candidates.get(system)
        if candidate is None:
            return Proof(claim=f"{system} was not considered", kind="candidate", key=system)
        if not candidate.feasible:
            excluding = [exclusion.constraint for exclusion in candidate.exclusions]
            return Proof(
                claim=f"{candidate.title}: out",
                kind="candidate",
                key=system,
                detail=_exclusion_text(candidate),
                parts=tuple(self.rule(rule_id, system) for rule_id in excluding if rule_id in self.kb.rules),
            )
        arithmetic, evidence = self._candidate_grounds(candidate)
        return Proof(
            claim=f"{candidate.title}: meets the requirement",
            kind="candidate",
            key=system,
            arithmetic=arithmetic,
            evidence=evidence,
            parts=tuple(self._passes(system)),
        )

    def _passes(self, system: str) -> Iterator[Proof]:
        """Why no rule excludes a feasible candidate: the facts that keep each excluding rule from holding."""
        excluding = [
            rule
            for rule in self.kb.rules.values()
            if any(effect.kind == "forbid" and effect.target in CANDIDATES for effect in rule.then)
        ]
        return self._blockers(excluding, system)

    def _candidate_grounds(self, candidate: Candidate) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Arithmetic and evidence of a candidate, the first time they are asked for."""
        if ("grounds", candidate.system) in self._seen:
            return (), ()
        self._seen.add(("grounds", candidate.system))
        steps = candidate.arithmetic or _memory_steps(candidate)
        return steps, _evidence(candidate.throughput_per_accelerator)

    def facts(self, subject: str = "") -> Facts:
        """Every fact known about a subject (a system id, or empty for the comparison), the requirement included."""
        if subject not in self._known:
            compared = {} if subject else _comparison_facts(self.answer)
            read = self._reads.get(subject, {})
            self._known[subject] = {**self.answer.requirement, **compared, **read}
        return self._known[subject]

    def fact(self, name: str, subject: str = "") -> Proof:
        """The proof of a fact: what was said, what assumed it, or what it was computed from."""
        spec = self.kb.facts.get(name)
        value = self.facts(subject).get(name)
        title = spec.title if spec else name
        claim = f"{title}: {show_fact(self.kb, name, value)}"
        if value is None:
            return Proof(claim=claim, kind="fact", key=name)
        mark = (name, subject if spec is not None and spec.scope == "candidate" else "")
        if mark in self._seen:
            return Proof(claim=claim, kind="fact", key=name, origin=value.origin, detail=ABOVE)
        self._seen.add(mark)
        if value.origin in ("assumed", "derived") and value.because in self.kb.rules:
            rule = self.rule(value.because)
            return Proof(
                claim=claim, kind="fact", key=name, origin=value.origin, detail=value.text, parts=(rule,)
            )
        if value.origin != "computed":
            return Proof(
                claim=claim, kind="fact", key=name, origin=value.origin, detail=value.text or value.because
            )
        return self._computed(name, subject, claim, value)

    def _computed(self, name: str, subject: str, claim: str, value: FactValue) -> Proof:
        """A computed fact: feasibility from candidates, else the arithmetic and evidence of its side and what it derives from."""
        for unit in ("node", "rack"):
            if name == f"{unit}_feasible":
                return self._feasible(unit, claim, bool(value.value))
        spec = self.kb.facts.get(name)
        arithmetic, evidence = self._grounds(name, subject)
        parts = [self.fact(parent, subject) for parent in self._parents(name, subject)]
        by = spec.computed_by if spec else ""
        where = value.because if value.because in self.kb.entries else ""
        detail = f"computed by {by}" if by else "computed"
        return Proof(
            claim=claim,
            kind="fact",
            key=name,
            origin="computed",
            detail=f"{detail} from {where}" if where else detail,
            arithmetic=arithmetic,
            evidence=evidence,
            parts=tuple(parts),
        )

    def _parents(self, name: str, subject: str) -> tuple[str, ...]:
        """What a computed fact derives from: facts with a value, and once in a proof those of the requirement without one.

        Facts in between whose values no rule read give way to what they derive from.
        """
        known, parents, visited = self.facts(subject), dict[str, None](), {name}

        def visit(fact: str) -> None:
            for parent in self.kb.facts[fact].derived_from if fact in self.kb.facts else ():
                spec = self.kb.facts.get(parent)
                if parent in known:
                    parents[parent] = None
                elif spec is not None and spec.scope == "requirement":
                    if (parent, "") not in self._seen:
                        self._seen.add((parent, ""))
                        parents[parent] = None
                elif parent not in visited:
                    visited.add(parent)
                    visit(parent)

        visit(name)
        return tuple(parents)

    def _grounds(self, name: str, subject: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Arithmetic and evidence behind a computed fact: of the system it is about, or of the comparison. Each shown once."""
        spec = self.kb.facts.get(name)
        if spec is None or spec.computed_by not in ("sizing", "evidence"):
            return (), ()
        side = subject
        if spec.computed_by == "sizing" and not subject:
            best = {"node": self.answer.best_node, "rack": self.answer.best_rack}
            side = best.get(name.partition("_")[0]) or ""
        if side in self._candidates:
            return self._candidate_grounds(self._candidates[side])
        if spec.computed_by == "evidence" and ("grounds", "") not in self._seen:
            self._seen.add(("grounds", ""))
            comparison = self.answer.comparison
            pairs = [
                side for pair in comparison.pairs[:3] for side in (pair.small.evidence, pair.large.evidence)
            ]
            return comparison.chain, tuple(dict.fromkeys((*pairs, *_evidence(comparison.rack_over_node))))
        return (), ()

    def _feasible(self, unit: str, claim: str, feasible: bool) -> Proof:
        best = self.answer.best_node if unit == "node" else self.answer.best_rack
        all_of = [candidate for candidate in self.answer.candidates if candidate.unit == unit]
        own = [candidate.system for candidate in all_of]
        shown = [best] if feasible and best else own
        others = [
            candidate for candidate in all_of if not candidate.feasible and candidate.system not in shown
        ]
        detail = (
            f"at least one {unit} is not excluded" if feasible else f"every {unit} considered is excluded"
        )
        return Proof(
            claim=claim,
            kind="fact",
            key=f"{unit}_feasible",
            origin="computed",
            detail=detail if own else f"no {unit} was considered",
            parts=(*(self.candidate(system) for system in shown), *self._kept_out(others)),
        )

    def _kept_out(self, candidates: Sequence[Candidate]) -> Iterator[Proof]:
        """The rules that exclude other systems, each once: where one of them did not hold, the best could be another."""
        excluded: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            for exclusion in candidate.exclusions:
                if exclusion.constraint in self.kb.rules:
                    excluded.setdefault(exclusion.constraint, []).append(candidate)
        for rule_id, out in excluded.items():
            more = f" and {len(out) - 1} more" if len(out) > 1 else ""
            self._seen.add(("grounds", out[0].system))  # its arithmetic belongs to a question about it
            rule = self.rule(rule_id, out[0].system)
            yield replace(rule, claim=f"{out[0].title}{more} out: {self.kb.rules[rule_id].title}", because=())


def _comparison_facts(answer: Recommendation) -> Facts:
    """The figures of the comparison that no rule reads, under the names of their facts."""
    comparison = answer.comparison
    figures: dict[str, Estimate | float | None] = {
        "cost_ratio_low": comparison.cost_ratio_low,
        "cost_ratio_high": comparison.cost_ratio_high,
        "rack_over_node": comparison.rack_over_node,
        "silicon_effect": comparison.silicon_effect,
        "scale_effect": comparison.scale_effect,
        "noise_spread": comparison.noise_band.spread,
    }
    return {
        name: FactValue(
            value=f.value if isinstance(f, Estimate) else f, origin="computed", because="comparison"
        )
        for name, f in figures.items()
        if f is not None
    }


def _evidence(estimate: Estimate | None) -> tuple[str, ...]:
    return estimate.evidence if estimate is not None else ()


def _memory_steps(candidate: Candidate) -> tuple[str, ...]:
    """The memory of a candidate that no layout fits, per accelerator."""
    memory = candidate.memory
    if memory is None:
        return ()
    needed = memory.hbm_bytes - memory.headroom_bytes
    weights, kv, total = map(format_bytes, (memory.weights_bytes, memory.kv_bytes_needed, memory.hbm_bytes))
    return (
        f"{weights} of weights and {kv} of KV with the reserve need {format_bytes(needed)} of {total} per accelerator",
    )


def _exclusion_text(candidate: Candidate) -> str:
    texts: Iterable[str] = (
        exclusion.text.rstrip(".") + (f" (would pass: {exclusion.nearest})" if exclusion.nearest else "")
        for exclusion in candidate.exclusions
    )
    return "; ".join(texts) or "no rate is known for it"
