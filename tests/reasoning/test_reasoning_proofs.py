"""Proofs of small answers, node by node, and what a whole answer says beside its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hardware_base import accelerator, rate, sized, system
from rule_base import answer_of, base, choice, fact, flag, rule
from test_rules_conditions import condition

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import holds
from advisor.reasoning.explain import assumptions, difference, explain_text, how_sure, why, why_not
from advisor.reasoning.explanation_text import render
from advisor.reasoning.proof import Proof, ProofBuilder
from advisor.reasoning.recommend import conclude, leaders, recommend
from advisor.reasoning.requirement import said
from advisor.reasoning.support import blocking_facts, failing_parts, supporting_facts
from advisor.records import (
    Candidate,
    Condition,
    Estimate,
    Exclusion,
    Facts,
    FactValue,
    Memory,
    Recommendation,
)

VOCABULARY = (
    fact("load", unit="ms"), fact("pace", unit="ms"), flag("spare"), flag("cool"), choice("cooling", "air", "liquid"),
    flag("node_feasible", scope="comparison", computed_by="reasoning"), flag("rack_feasible", scope="comparison", computed_by="reasoning"),
    fact("gain", unit="ratio", scope="comparison", computed_by="evidence", derived_from=["load", "missing"]), fact("missing", unit="ms"),
    fact("node_units", scope="comparison", computed_by="sizing"), fact("heat", unit="kW", scope="candidate", computed_by="sizing"),
)  # fmt: skip
RULES = (
    rule("assumes", {"fact": "load", "at_most": 20}, {"assume": "pace", "value": 50, "text": "usual at {load}"}, scope="requirement"),
    rule("decides", {"all": [{"fact": "pace", "at_least": 50}, {"fact": "gain", "above": 1}]}, {"favour": "rack"}, because=["sources/s"]),
    rule("rival", {"fact": "cooling", "is": "air"}, {"favour": "node"}),
    rule("weaker", {"fact": "spare", "is": True}, {"favour": "node"}, precedence=-1),
    rule("doubts", {"fact": "spare", "known": False}, {"forbid": "high"}),
    rule("doubts-more", {"fact": "load", "below": 20}, {"forbid": "medium"}),
    rule("too-hot", {"fact": "heat", "above": 40}, {"forbid": "candidate"}, scope="candidate"),
)  # fmt: skip
KB = base(
    accelerator("h"),
    accelerator("hr"),
    system("box", "h", 8),
    system("cabinet", "hr", 72),
    *VOCABULARY,
    *RULES,
)


def value(of: Any, origin: Any = "said", **more: Any) -> FactValue:
    return FactValue(value=of, origin=origin, **more)


def small_answer(**extra: FactValue) -> Recommendation:
    facts: Facts = {
        "load": value(15, because="--load"), "pace": value(50, "assumed", because="rules/assumes", text="usual at 15 ms"), "gain": value(1.5, "computed"),
        **extra,
    }  # fmt: skip
    return answer_of(KB, facts)


def outline(proof: Proof, depth: int = 0) -> list[str]:
    """Key of each node, indented."""
    return [
        f"{'  ' * depth}{proof.kind} {proof.key}",
        *(line for part in proof.parts for line in outline(part, depth + 1)),
    ]


def test_a_verdict_goes_back_to_what_was_said() -> None:
    """The rule, the assumed fact with the rule that assumed it, the said one; then the computed one with what it derives from, given above."""
    proof = why(KB, small_answer())
    assert outline(proof) == [
        "verdict rack", "  rule rules/decides", "    fact pace", "      rule rules/assumes", "        fact load", "    fact gain", "      fact load",
        "      fact missing", "  fact cooling",
    ]  # fmt: skip
    decides, cooling = proof.parts
    assert proof.claim == "Verdict: rack"
    assert decides.claim == "decides: favour rack (+1)"
    assert (decides.detail, decides.because) == ("because of decides", ("sources/s",))
    pace, gain = decides.parts
    assert (pace.claim, pace.origin, pace.detail) == ("pace: 50 ms", "assumed", "usual at 15 ms")
    (load,) = pace.parts[0].parts
    assert (load.claim, load.origin, load.detail) == ("load: 15 ms", "said", "--load")
    assert (gain.claim, gain.origin, gain.detail) == ("gain: 1.50×", "computed", "computed by evidence")
    assert [part.detail for part in gain.parts] == ["as above", ""]
    assert gain.parts[1].claim == "missing: not known"
    assert (cooling.claim, cooling.blocks) == ("cooling: not known", ("rules/rival",))
    assert proof.facts() == ("pace", "load", "gain", "missing", "cooling")


def test_rules_of_lower_rank_need_no_blocking() -> None:
    """The weaker rule could not decide otherwise, so what keeps it from holding is not asked."""
    assert "spare" not in why(KB, small_answer()).facts()


def test_the_evidence_of_a_comparison_is_cited_once() -> None:
    """Chain and pairs behind the first fact of evidence; a fact of sizing has the arithmetic of its side."""
    given = small_answer(node_units=value(4, "computed"))
    estimate = Estimate(
        value=1.5, low=1, high=2, unit="ratio", basis="audited", evidence=("evidence/a", "evidence/b")
    )
    candidate = replace(
        candidate_of("box", "h"),
        arithmetic=("4 × 8",),
        throughput_per_accelerator=replace(estimate, evidence=("evidence/c",)),
    )
    whole = replace(
        given, comparison=replace(given.comparison, chain=("1.5 = 3 / 2",), rack_over_node=estimate), candidates=(candidate,), best_node="systems/box",
        requirement={**given.requirement, "gain": value(1.5, "computed"), "node_units": value(4, "computed")},
    )  # fmt: skip
    builder = ProofBuilder(KB, whole)
    gain = builder.fact("gain")
    assert (gain.arithmetic, gain.evidence) == (("1.5 = 3 / 2",), ("evidence/a", "evidence/b"))
    units = builder.fact("node_units")
    assert (units.arithmetic, units.evidence) == (("4 × 8",), ("evidence/c",))
    assert builder.candidate("systems/box").arithmetic == ()  # given above


def candidate_of(
    slug: str, of: str, *, feasible: bool = True, exclusions: tuple[Exclusion, ...] = ()
) -> Candidate:
    home = system(slug, of, 72 if of == "hr" else 8)
    return replace(sized(home, rate(100), feasible=feasible).candidate, exclusions=exclusions)


def test_a_candidate_is_out_by_its_rules_or_in_by_its_arithmetic() -> None:
    """Texts and nearest points of what excludes it; memory where nothing fits; nothing for one that was not considered."""
    hot = (
        Exclusion(constraint="rules/too-hot", text="Too hot.", nearest="less than 40 kW"), Exclusion(constraint="memory", text="Too large"),
    )  # fmt: skip
    given = replace(
        small_answer(),
        candidates=(candidate_of("cabinet", "hr", feasible=False, exclusions=hot), candidate_of("box", "h")),
    )
    builder = ProofBuilder(KB, given)
    out = builder.candidate("systems/cabinet")
    assert out.claim == "cabinet: out"
    assert out.detail == "Too hot (would pass: less than 40 kW); Too large"
    assert [part.key for part in out.parts] == ["rules/too-hot"]
    inside = builder.candidate("systems/box")
    assert inside.claim == "box: meets the requirement"
    assert [(part.key, part.blocks) for part in inside.parts] == [("heat", ("rules/too-hot",))]
    assert builder.candidate("systems/other").claim == "systems/other was not considered"
    bare = replace(candidate_of("box", "h", feasible=False))
    assert (
        ProofBuilder(KB, replace(given, candidates=(bare,))).candidate("systems/box").detail
        == "no rate is known for it"
    )


def test_memory_stands_in_for_arithmetic() -> None:
    """60 GiB of weights and 10 of cache need 90 with the reserve; 80 are there."""
    gib = 2.0**30
    memory = Memory(
        hbm_bytes=80 * gib, weights_bytes=60 * gib, kv_bytes_per_token=1, kv_bytes_needed=10 * gib, kv_capacity_tokens=1, max_sequences=1, reserve_bytes=0,
        headroom_bytes=-10 * gib,
    )  # fmt: skip
    given = replace(small_answer(), candidates=(replace(candidate_of("box", "h"), memory=memory),))
    assert ProofBuilder(KB, given).candidate("systems/box").arithmetic == (
        "60.0 GiB of weights and 10.0 GiB of KV with the reserve need 90.0 GiB of 80.0 GiB per accelerator",
    )
    none = replace(given, candidates=(replace(given.candidates[0], memory=None),))
    assert ProofBuilder(KB, none).candidate("systems/box").arithmetic == ()


def test_feasibility_is_shown_by_the_best_or_by_all() -> None:
    """Where a node is feasible the best one shows it and the rules keep others out, each once; else every node is shown."""
    hot = (Exclusion(constraint="rules/too-hot", text="Too hot"),)
    three = tuple(
        candidate_of(name, "h", feasible=name == "box", exclusions=() if name == "box" else hot)
        for name in ("box", "one", "two")
    )
    given = replace(
        small_answer(node_feasible=value(True, "computed")), candidates=three, best_node="systems/box"
    )
    shown = ProofBuilder(
        KB, replace(given, requirement={**given.requirement, "node_feasible": value(True, "computed")})
    ).fact("node_feasible")
    assert shown.detail == "at least one node is not excluded"
    assert [part.key for part in shown.parts] == ["systems/box", "rules/too-hot"]
    assert shown.parts[1].claim == "one and 1 more out: too-hot"
    none = replace(
        given,
        candidates=three[1:],
        requirement={**given.requirement, "node_feasible": value(False, "computed")},
        best_node=None,
    )
    hidden = ProofBuilder(KB, none).fact("node_feasible")
    assert hidden.detail == "every node considered is excluded"
    assert [part.key for part in hidden.parts] == ["systems/one", "systems/two"]
    empty = replace(
        none, candidates=(), requirement={**given.requirement, "rack_feasible": value(False, "computed")}
    )
    assert ProofBuilder(KB, empty).fact("rack_feasible").detail == "no rack was considered"


def test_how_sure_lists_what_lowered_it_from_the_highest_level() -> None:
    """High was forbidden by what is not known, medium by the load; each says how long it holds."""
    sure = how_sure(KB, small_answer())
    assert sure.level == "low"
    assert [(item.level, item.proof.key, item.holds_while) for item in sure.lowered] == [
        ("high", "rules/doubts", "spare not known"), ("medium", "rules/doubts-more", "load less than 20 ms"),
    ]  # fmt: skip


def test_why_not_a_system_says_what_became_of_it() -> None:
    """Excluded, best of its kind, or merely outdone: each in its own words."""
    hot = (Exclusion(constraint="rules/too-hot", text="Too hot"),)
    rows = (
        candidate_of("box", "h"),
        candidate_of("second", "h"),
        candidate_of("cabinet", "hr"),
        candidate_of("oven", "hr", feasible=False, exclusions=hot),
    )
    given = replace(small_answer(), candidates=rows, best_node="systems/box", best_rack="systems/cabinet")
    notes = {
        name: why_not(KB, given, f"systems/{name}") for name in ("box", "second", "cabinet", "oven", "other")
    }
    assert notes["cabinet"].note == "cabinet is what the answer recommends"
    assert notes["box"].note == "box is the best node; the verdict is rack"
    assert notes["second"].note == (
        "it meets the requirement with 1 node, 8 accelerators, 7 idle; box was preferred with 1 node, 8 accelerators, 7 idle"
    )
    assert (
        notes["other"].note
        == "systems/other was not considered; the systems or the accelerator were restricted"
    )
    assert (notes["oven"].note, notes["oven"].excluded) == ("", True)
    assert [notes[name].excluded for name in ("box", "second", "cabinet", "other")] == [False] * 4
    assert notes["box"].contrast is not None
    assert notes["cabinet"].contrast is None
    assert notes["second"].contrast is None
    assert len(notes["other"].proofs) == 0
    racks_out = replace(given, verdict="node", candidates=(rows[0], rows[3]), best_rack=None)
    rack = why_not(KB, racks_out, "rack")
    assert rack.excluded
    assert [proof.key for proof in rack.proofs] == ["systems/oven"]
    assert why_not(KB, replace(racks_out, candidates=rows[:1]), "rack").note == "no rack was considered"
    assert not why_not(KB, given, "either").excluded


def test_a_difference_names_facts_systems_and_rules() -> None:
    """Only what changed: a value, a fleet, a system that fell out, rules that spoke before and now."""
    before = replace(small_answer(), candidates=(candidate_of("box", "h"), candidate_of("cabinet", "hr")))
    facts: Facts = {
        "load": value(30),
        "pace": value(50),
        "gain": value(1.5, "computed"),
        "spare": value(True),
    }
    hot = (Exclusion(constraint="rules/too-hot", text="x"), Exclusion(constraint="memory", text="Too large."))
    after = replace(
        answer_of(KB, facts),
        candidates=(candidate_of("box", "h"), candidate_of("cabinet", "hr", feasible=False, exclusions=hot)),
    )
    changed = difference(KB, before, after)
    assert [(c.fact, c.title, c.before, c.after) for c in changed.facts] == [
        ("load", "load", "15 ms", "30 ms"), ("spare", "spare", "not known", "yes"),
    ]  # fmt: skip
    assert [(c.title, c.before, c.after) for c in changed.candidates] == [
        ("cabinet", "1 rack, 72 accelerators, 71 idle", "out (too-hot; Too large)"),
    ]
    assert changed.fired == ("rules/weaker",)
    assert changed.unfired == ("rules/doubts", "rules/doubts-more")
    gone = difference(KB, before, replace(after, candidates=()))
    assert [c.after for c in gone.candidates] == ["not considered", "not considered"]
    bare = replace(candidate_of("box", "h", feasible=False))
    assert (
        difference(KB, before, replace(after, candidates=(bare,))).candidates[0].after
        == "out (no rate known)"
    )


def test_assumptions_say_why_and_how_to_say_it_instead() -> None:
    """What was said or has no value is no assumption."""
    found = assumptions(KB, small_answer())
    assert [(a.fact, a.value, a.why, a.source, a.flag) for a in found] == [
        ("pace", "50 ms", "usual at 15 ms", "rules/assumes", "--fact pace=…"),
    ]


def test_the_text_of_a_proof_is_indented_and_names_its_ground() -> None:
    """One line a node, its detail and what it rests on below it."""
    text = explain_text(KB, small_answer())
    assert text == render(KB, why(KB, small_answer())) == explain_text(KB, small_answer(), "rack")
    lines = text.splitlines()
    assert "Verdict: rack" in lines[0]
    order = [
        next(i for i, line in enumerate(lines) if part in line)
        for part in ("decides", "pace: 50 ms", "load: 15 ms", "gain: 1.50×")
    ]
    assert order == sorted(order)
    indents = [len(lines[i]) - len(lines[i].lstrip()) for i in order]
    assert indents[0] < indents[1] < indents[2]
    assert indents[3] == indents[1]
    assert any("because of decides" in line for line in lines)
    assert any("rests on sources/s" in line for line in lines)
    assert any("as above" in line for line in lines)


PLENTY: Facts = {"a": value(1), "b": value(2), "c": value(None)}


@pytest.mark.parametrize(
    ("data", "supports", "blocks"),
    [
        ({"fact": "a", "is": 1}, ("a",), None), ({"fact": "a", "is": 2}, None, ("a",)), ({"fact": "c", "is": 1}, None, ("c",)),
        ({"fact": "a", "below": {"fact": "b"}}, ("a", "b"), None), ({"fact": "a", "above": {"fact": "b"}}, None, ("a", "b")),
        ({"fact": "a", "above": {"fact": "c"}}, None, ("c",)), ({"all": [{"fact": "a", "is": 1}, {"fact": "b", "is": 2}]}, ("a", "b"), None),
        ({"all": [{"fact": "a", "is": 1}, {"fact": "b", "is": 3}]}, None, ("b",)), ({"any": [{"fact": "a", "is": 2}, {"fact": "b", "is": 2}]}, ("b",), None),
        ({"any": [{"fact": "a", "is": 2}, {"fact": "b", "is": 3}]}, None, ("a", "b")), ({"none": [{"fact": "a", "is": 2}, {"fact": "b", "is": 3}]}, ("a", "b"), None),
        ({"none": [{"fact": "a", "is": 2}, {"fact": "b", "is": 2}]}, None, ("b",)), ({"fact": "c", "known": False}, ("c",), None),
    ],
)  # fmt: skip
def test_the_facts_that_keep_a_condition_as_it_is(
    data: dict[str, Any], supports: tuple[str, ...] | None, blocks: tuple[str, ...] | None
) -> None:
    """All parts of an `all` that holds, one of an `any`; of a comparison with something unknown the unknown alone."""
    parsed = condition(data)
    if supports is not None:
        assert holds(parsed, PLENTY)
        assert supporting_facts(parsed, PLENTY) == supports
    else:
        assert not holds(parsed, PLENTY)
        assert blocking_facts(parsed, PLENTY) == blocks


def test_of_several_reasons_one_that_was_mentioned_is_taken() -> None:
    """Either of two facts supports: the one that the proof has already named."""
    either = condition({"any": [{"fact": "a", "is": 1}, {"fact": "b", "is": 2}]})
    assert supporting_facts(either, PLENTY) == ("a",)
    assert supporting_facts(either, PLENTY, {"b"}) == ("b",)


def test_parts_that_fail_are_found_at_the_bottom() -> None:
    """Within groups; a part of `none` that holds comes back denied."""
    values = {"a": 1, "b": 2}
    wanted = condition(
        {
            "all": [
                {"fact": "a", "is": 1},
                {"fact": "b", "is": 3},
                {"none": [{"fact": "a", "is": 1}, {"fact": "b", "is": 9}]},
            ]
        }
    )
    failing = list(failing_parts(wanted, values))
    assert failing == [
        condition({"fact": "b", "is": 3}),
        Condition(none=(condition({"fact": "a", "is": 1}),)),
    ]
    assert list(failing_parts(condition({"fact": "a", "is": 1}), values)) == []


# a whole answer of the shipped knowledge base

CASE = {"model": "deepseek-r1", "weight_precision": "fp4", "tpot_ms": 15}


@pytest.fixture(scope="module")
def given(kb: KnowledgeBase) -> Recommendation:
    return recommend(kb, said(kb, CASE), flips=False)


def test_every_assumption_is_told_once_with_its_value(kb: KnowledgeBase, given: Recommendation) -> None:
    """A line for each assumed fact with a value or a range, and for nothing else."""
    assumed = [
        name
        for name, f in given.requirement.items()
        if f.origin == "assumed" and (f.value is not None or f.low is not None)
    ]
    assert len(given.assumptions) == len(assumed)
    for name, line in zip(assumed, given.assumptions, strict=True):
        own = given.requirement[name]
        assert line.startswith(f"{kb.facts[name].title} ")
        if own.low is not None:
            assert f"{own.low:g} to {own.high:g}" in line
        if own.text:
            assert line.endswith(f": {own.text}")
    assert any(
        "0.86 to 1.22" in line for line in given.assumptions
    )  # the sourced range of the rack's premium


def test_gotchas_are_those_whose_condition_holds_gravest_first(
    kb: KnowledgeBase, given: Recommendation
) -> None:
    """For the requirement and comparison, or for one of the two best systems; each with the values it read."""
    core = conclude(kb, said(kb, CASE))
    views = [
        core.facts,
        *({**core.facts, **side.facts} for side in (core.compared.node, core.compared.rack) if side),
    ]
    expected = {
        g.id
        for g in kb.gotchas.values()
        if g.applies_when is not None and any(holds(g.applies_when, view) for view in views)
    }
    assert {raised.id for raised in given.gotchas} == expected
    graveness = [
        ("critical", "warning", "info").index(kb.gotchas[raised.id].severity) for raised in given.gotchas
    ]
    assert graveness == sorted(graveness)
    for raised in given.gotchas:
        assert raised.why.startswith("because ")
        assert raised.title == kb.gotchas[raised.id].title


def test_the_answer_names_what_it_rests_on(kb: KnowledgeBase, given: Recommendation) -> None:
    """Best systems, deciding rules, warnings with their rule, the trace of every run, notices of the sources cited."""
    core = conclude(kb, said(kb, CASE))
    assert given.best_node == (core.compared.node.candidate.system if core.compared.node else None)
    assert given.best_rack == (core.compared.rack.candidate.system if core.compared.rack else None)
    assert given.decided_by == tuple(fired.rule.id for fired in core.decision.decided_by)
    runs = [core.requirement, *(side.run for side in core.sized), core.concluded]
    assert len(given.trace) == sum(len(run.trace) for run in runs)
    told = [
        core.requirement,
        core.concluded,
        *(side.run for side in (core.compared.node, core.compared.rack) if side),
    ]
    warned = {fired.rule.id for run in told for fired in run.effects if fired.effect.kind == "warn"}
    assert {warning.rpartition("(")[2].rstrip(")") for warning in given.warnings} == warned
    assert len(set(given.warnings)) == len(given.warnings)
    cited = {citation.id for citation in given.evidence}
    assert {pair.small.evidence for pair in given.comparison.pairs[:1]} <= cited
    assert len(given.disclaimers) >= 1
    assert not given.flips_searched
    assert {candidate.system for candidate in given.candidates} == set(kb.systems)


def test_leaders_are_the_racks_their_siblings_and_the_two_best_nodes(kb: KnowledgeBase) -> None:
    """A search looks among few: measured racks on sale, nodes of their generation, and the two best nodes."""
    core = conclude(kb, said(kb, CASE))
    found = leaders(kb, core)
    measured = {entry.accelerator for entry in kb.evidence.values()}
    racks = {
        s
        for s, each in kb.systems.items()
        if each.kind_of_unit == "rack" and each.accelerator in measured and each.availability == "available"
    }
    families = {kb.accelerators[kb.systems[s].accelerator].family for s in racks}
    siblings = {
        s for s, each in kb.systems.items() if each.kind_of_unit == "node" and kb.accelerators[each.accelerator].family in families
    }  # fmt: skip
    assert racks | siblings <= found
    assert core.compared.node is not None
    assert core.compared.node.candidate.system in found
    assert len(found - racks - siblings) <= 2
    narrow = conclude(kb, said(kb, CASE), among=found)
    assert narrow.verdict == core.verdict
    assert {side.candidate.system for side in narrow.sized} == found
