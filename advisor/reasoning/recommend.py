"""The answer to one requirement: size every candidate, compare the best node and rack, let the rules conclude."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from advisor.evidence.citation import notices
from advisor.evidence.held import has_results
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.candidates import Sized, consider, size_candidate
from advisor.reasoning.comparison import Compared, compare_best, preference
from advisor.reasoning.conditions import Test, compile_condition, values_of
from advisor.reasoning.confidence import confidence
from advisor.reasoning.engine import Decision, RuleRun, Trace, decide, run_rules
from advisor.reasoning.flips import Outcome, find_flips
from advisor.reasoning.requirement import complete
from advisor.reasoning.sources import citations
from advisor.reasoning.summary import headline, summary
from advisor.reasoning.trace import show_fact
from advisor.records import Facts, RaisedGotcha, Recommendation, Verdict


@dataclass(frozen=True, kw_only=True)
class Core:
    """Everything that leads to the verdict of one requirement, before it is told."""

    requirement: RuleRun
    sized: tuple[Sized, ...]
    compared: Compared
    concluded: RuleRun
    decision: Decision

    @property
    def verdict(self) -> Verdict:
        """The verdict; `none` when no rule concluded anything."""
        return self.decision.verdict or "none"

    @property
    def facts(self) -> Facts:
        """Requirement and comparison facts together."""
        return {**self.requirement.facts, **self.concluded.facts}


def conclude(kb: KnowledgeBase, said: Facts, *, among: Container[str] | None = None) -> Core:
    """The verdict of a requirement and what it rests on, without flips, gotchas and words.

    among: ids of the systems to consider, sized in brief, for searches; None for all. Raises InputError when no model is given or a value cannot be used.
    """
    requirement = complete(kb, said)
    sized = tuple(
        size_candidate(kb, requirement.facts, system, brief=among is not None)
        for system in consider(kb, requirement.facts)
        if among is None or system.id in among
    )
    compared = compare_best(kb, requirement.facts, sized)
    concluded = run_rules(kb, {**requirement.facts, **compared.facts}, scope="comparison")
    return Core(
        requirement=requirement,
        sized=sized,
        compared=compared,
        concluded=concluded,
        decision=decide(concluded.effects),
    )


def leaders(kb: KnowledgeBase, core: Core) -> frozenset[str]:
    """Ids of the systems that can win near a requirement: racks on known silicon, their sibling nodes, the two best nodes.

    What varies one input at a time looks among these; a far system that wins only far away is not seen.
    """
    preview = core.requirement.facts.get("include_preview")
    racks = [
        s
        for s in core.sized
        if s.candidate.unit == "rack"
        and has_results(kb, s.candidate.accelerator)
        and (kb.systems[s.candidate.system].availability == "available" or (preview and preview.value))
    ]
    families = {kb.accelerators[s.candidate.accelerator].family for s in racks}
    nodes = [s for s in core.sized if s.candidate.unit == "node"]
    siblings = [s for s in nodes if kb.accelerators[s.candidate.accelerator].family in families]
    best = sorted(
        (s for s in nodes if s.candidate.feasible), key=lambda s: preference(kb, core.requirement.facts, s)
    )
    return frozenset(s.candidate.system for s in (*racks, *siblings, *best[:2]))


def recommend(kb: KnowledgeBase, said: Facts, *, flips: bool = True) -> Recommendation:
    """The whole answer to what was said. Raises InputError when no model is given or a value cannot be used."""
    core = conclude(kb, said)
    compared = core.compared
    runs = (core.requirement, *(s.run for s in core.sized), core.concluded)
    best = [side for side in (compared.node, compared.rack) if side]
    gotchas = tuple(_gotchas(kb, core))
    cited = citations(kb, core.facts, core.compared, core.sized, gotchas)

    near = leaders(kb, core)

    def outcome(facts: Facts) -> Outcome:
        other = conclude(kb, facts, among=near)
        sides = other.compared.node, other.compared.rack
        node, rack = (side.candidate.fleet if side else None for side in sides)
        return other.verdict, node, rack

    sure = confidence(core.concluded.effects)
    return Recommendation(
        verdict=core.verdict,
        confidence=sure,
        headline=headline(core.verdict, compared),
        summary=summary(core.verdict, core.decision, compared, core.sized),
        requirement=dict(core.requirement.facts),
        candidates=tuple(s.candidate for s in core.sized),
        comparison=compared.comparison,
        flips=find_flips(kb, said, core.requirement.facts, core.verdict, outcome) if flips else (),
        gotchas=gotchas,
        trace=Trace(runs),
        evidence=cited,
        assumptions=tuple(_assumptions(kb, core)),
        warnings=_warnings(core, best),
        disclaimers=notices(kb, [citation.id for citation in cited]),
        best_node=compared.node.candidate.system if compared.node else None,
        best_rack=compared.rack.candidate.system if compared.rack else None,
        decided_by=tuple(fired.rule.id for fired in core.decision.decided_by),
        knowledge_fingerprint=kb.fingerprint,
        flips_searched=flips,
    )


def _gotchas(kb: KnowledgeBase, core: Core) -> Iterable[RaisedGotcha]:
    """Gotchas whose condition holds for the requirement and the comparison, or for one of the two best candidates."""
    best = [side for side in (core.compared.node, core.compared.rack) if side]
    views = [core.facts, *({**core.facts, **side.facts} for side in best)]
    values = [values_of(view) for view in views]
    for gotcha_id, test, reads in _conditions(kb):
        facts = next((view for view, own in zip(views, values, strict=True) if test(own)), None)
        if facts is not None:
            read = ", ".join(
                f"{kb.facts[name].title if name in kb.facts else name} {show_fact(kb, name, facts[name])}"
                for name in reads
                if name in facts and facts[name].value is not None
            )
            yield RaisedGotcha(id=gotcha_id, title=kb.gotchas[gotcha_id].title, why=f"because {read}")


_SEVERITIES = ("critical", "warning", "info")


def _conditions(kb: KnowledgeBase) -> Sequence[tuple[str, Test, tuple[str, ...]]]:
    """Id, compiled condition and facts read of every gotcha that the advisor can raise, the gravest first."""
    if "gotcha_conditions" not in kb.memo:
        kb.memo["gotcha_conditions"] = [
            (gotcha.id, compile_condition(gotcha.applies_when), gotcha.applies_when.facts())
            for gotcha in sorted(kb.gotchas.values(), key=lambda g: (_SEVERITIES.index(g.severity), g.id))
            if gotcha.applies_when is not None
        ]
    compiled: Sequence[tuple[str, Test, tuple[str, ...]]] = kb.memo["gotcha_conditions"]
    return compiled


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _assumptions(kb: KnowledgeBase, core: Core) -> Iterable[str]:
    for name, value in core.requirement.facts.items():
        if value.origin != "assumed" or (value.value is None and value.low is None):
            continue
        if name == "rack_price_premium" and core.compared.comparison.prices_said:
            continue
        fact = kb.facts.get(name)
        label = fact.title if fact else name
        unit = f" {fact.unit}" if fact and fact.unit and fact.unit not in ("ratio", "fraction") else ""
        shown = (
            f"{value.low:g} to {value.high:g}"
            if value.low is not None and value.high is not None
            else _value(value.value)
        )
        yield f"{label} {shown}{unit}" + (f": {value.text}" if value.text else "")


def _warnings(core: Core, best: Sequence[Sized]) -> tuple[str, ...]:
    """What rules warn of: about the requirement, the two systems compared (by name), and the comparison."""
    about = [("", core.requirement), *((f"{s.candidate.title}: ", s.run) for s in best), ("", core.concluded)]
    return tuple(
        dict.fromkeys(
            f"{subject}{fired.effect.text.rstrip('.')} ({fired.rule.id})"
            for subject, run in about
            for fired in run.effects
            if fired.effect.kind == "warn"
        )
    )
