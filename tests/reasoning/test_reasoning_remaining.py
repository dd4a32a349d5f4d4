"""Small promises of the records that an answer is made of: reasons of the confidence, confounders, what spoke against, values of unlike types."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hardware_base import rate, sized, system
from rule_base import answer_of, base, fact, flag, rule
from rule_base import said as facts_of
from test_reasoning_proofs import KB, candidate_of, small_answer, value
from test_rules_conditions import condition

from advisor.knowledge import KnowledgeBase
from advisor.reasoning import explanation_brief as brief
from advisor.reasoning.conditions import holds, values_of, visible_value
from advisor.reasoning.confidence import confidence
from advisor.reasoning.contrast import contrast
from advisor.reasoning.engine import decide, run_rules
from advisor.reasoning.explain import difference
from advisor.reasoning.proof import ProofBuilder
from advisor.reasoning.recommend import conclude
from advisor.reasoning.requirement import said
from advisor.records import Estimate, Exclusion, FactValue, NoiseBand

VOCABULARY = (fact("load", unit="ms", used_by=["sizing"]), flag("spare", used_by=["sizing"]))


def test_what_spoke_against_and_what_was_outranked_are_kept() -> None:
    """3 for the node against 1 for the rack; a preference of lower rank is neither; of a balance nothing is against."""
    kb = base(
        *VOCABULARY, rule("a", {"fact": "load", "above": 1}, {"favour": "node"}, strength=3.0), rule("b", {"fact": "load", "above": 1}, {"favour": "rack"}),
        rule("low", {"fact": "load", "above": 1}, {"favour": "rack"}, precedence=-1), rule("even", {"fact": "spare", "is": True}, {"favour": "rack"}, strength=2.0),
    )  # fmt: skip

    def names(part: Any) -> list[str]:
        return [fired.rule.slug for fired in part]

    plain = decide(run_rules(kb, facts_of(load=2), scope="comparison").effects)
    assert (plain.verdict, plain.sums) == ("node", {"node": 3, "rack": 1})
    assert (names(plain.decided_by), names(plain.against), names(plain.outranked)) == (["a"], ["b"], ["low"])
    even = decide(run_rules(kb, facts_of(load=2, spare=True), scope="comparison").effects)
    assert even.verdict == "either"
    assert (names(even.decided_by), names(even.against), names(even.outranked)) == (
        ["a", "b", "even"],
        [],
        ["low"],
    )


def test_confidence_gives_its_reasons() -> None:
    """The texts of the rules that lowered it, or what an unlowered one rests on."""
    kb = base(
        *VOCABULARY,
        rule("r", {"fact": "load", "above": 1}, {"forbid": "high", "text": "too little is known"}),
    )
    lowered = confidence(run_rules(kb, facts_of(load=2), scope="comparison").effects)
    assert lowered.level == "medium"
    assert len(lowered.reasons) == 1
    assert "too little is known" in lowered.reasons[0]
    plain = confidence(run_rules(kb, facts_of(load=1), scope="comparison").effects)
    assert plain.level == "high"
    assert plain.reasons[0].startswith("no rule lowers it")


@pytest.mark.parametrize(
    ("fact_value", "known"),
    [
        (FactValue(value=None, low=1, origin="assumed"), True), (FactValue(value=None, high=1, origin="assumed"), True),
        (FactValue(value=None, low=1, high=2, origin="assumed"), True), (FactValue(value=None, origin="assumed"), False), (FactValue(value=3, origin="said"), True),
    ],
)  # fmt: skip
def test_a_range_is_known_and_compares_with_nothing(fact_value: FactValue, known: bool) -> None:
    """By either end; the two ways of reading a fact agree."""
    facts = {"load": fact_value}
    assert holds(condition({"fact": "load", "known": True}), facts) is known
    assert (visible_value(fact_value) is not None) is known
    assert repr(visible_value(fact_value)) == repr(values_of(facts)["load"])
    assert holds(condition({"fact": "load", "above": 2}), facts) is (fact_value.value == 3)


@pytest.mark.parametrize(
    ("literal", "stated", "fires"),
    [(15, 15.0, True), (15.0, 15, True), (1, True, False), (True, 1, False), (True, True, True)],
)
def test_numbers_are_equal_whatever_their_type_and_flags_are_none(
    literal: Any, stated: Any, fires: bool
) -> None:
    """15 and 15.0 are one value, 1 and yes are not."""
    kb = base(*VOCABULARY, rule("r", {"fact": "load", "is": literal}, {"warn": "answer"}))
    assert bool(run_rules(kb, facts_of(load=stated), scope="requirement").effects) is fires


def test_disaggregation_and_speculation_confound(kb: KnowledgeBase) -> None:
    """What rules are told is whether one side alone ran them: DeepSeek-R1 interactive is disaggregated on one side, Llama 2 offline on neither."""
    for case, expected in (
        ({"model": "deepseek-r1", "weight_precision": "fp4", "workload": "interactive"}, True),
        ({"model": "llama-2-70b", "weight_precision": "fp4", "workload": "offline"}, False),
    ):
        compared = conclude(kb, said(kb, case)).compared
        named = any(
            "disaggregat" in text or "speculative" in text for text in compared.comparison.confounders
        )
        assert named is expected
        assert compared.facts["confounded"].value is expected


def test_rules_below_the_deciding_rank_do_not_count_in_a_contrast() -> None:
    """A weaker preference for the rival is left out, and those after it in the file are still read."""
    kb = base(
        *VOCABULARY, rule("a-decides", {"fact": "load", "above": 1}, {"favour": "rack"}), rule("b-weaker", {"fact": "load", "above": 1}, {"favour": "node"}, precedence=-1),
        rule("c-rival", {"fact": "spare", "is": True}, {"favour": "node"}),
    )  # fmt: skip

    parted = contrast(kb, answer_of(kb, facts_of(load=2)), "node")
    assert parted.weights == {"rack": 1.0}
    assert [(p.fact, p.rule) for p in parted.partings] == [("spare", "rules/c-rival")]


def test_figures_of_the_comparison_stand_under_the_names_of_their_facts() -> None:
    """Also those that no rule read."""
    estimate = Estimate(value=1.5, low=1, high=2, unit="ratio", basis="audited", evidence=())
    given = small_answer()
    whole = replace(
        given.comparison, cost_ratio_low=0.5, cost_ratio_high=0.9, rack_over_node=estimate, silicon_effect=replace(estimate, value=1.2),
        scale_effect=replace(estimate, value=1.25), noise_band=NoiseBand(spread=1.1, submissions=3),
    )  # fmt: skip
    facts = ProofBuilder(KB, replace(given, comparison=whole)).facts()
    figures = {
        name: fact.value for name, fact in facts.items() if fact.because == "comparison" and name != "gain"
    }
    assert figures == {
        "cost_ratio_low": 0.5, "cost_ratio_high": 0.9, "rack_over_node": 1.5, "silicon_effect": 1.2, "scale_effect": 1.25, "noise_spread": 1.1,
    }  # fmt: skip
    assert "silicon_effect" not in ProofBuilder(KB, given).facts()


def test_a_fact_of_a_candidate_is_explained_for_each_candidate() -> None:
    """The heat of one system is not that of another; a fact of the requirement is given once."""
    given = replace(small_answer(), candidates=(candidate_of("box", "h"), candidate_of("cabinet", "hr")))
    builder = ProofBuilder(KB, given)
    builder._known = {
        name: {"heat": value(kw, "computed"), "load": value(15)}
        for name, kw in (("systems/box", 10), ("systems/cabinet", 20))
    }
    first, second = (builder.fact("heat", name) for name in ("systems/box", "systems/cabinet"))
    assert (first.claim, second.claim) == ("heat: 10 kW", "heat: 20 kW")
    assert "as above" not in (first.detail, second.detail)
    assert [builder.fact("load", name).detail for name in ("systems/box", "systems/cabinet")][1] == "as above"


def test_what_a_change_lets_in_or_moves_is_listed_best_first() -> None:
    """A system that comes in says from where, one that grows both fleets; more than four are counted."""
    hot = (Exclusion(constraint="rules/too-hot", text="Too hot"),)

    def several(*feasible: str) -> tuple[Any, ...]:
        return tuple(
            candidate_of(n, "h", feasible=n in feasible, exclusions=() if n in feasible else hot)
            for n in "abcdef"
        )

    before = replace(small_answer(), candidates=several("a"), best_node="systems/a", headline="x")
    after = replace(before, candidates=several(*"abcdef"), best_node="systems/c")
    lines = brief.difference(KB, difference(KB, before, after)).splitlines()
    came = [line.strip() for line in lines if "→" in line]
    assert came[0] == "c: out → 1 node, 8 accelerators, 7 idle"
    assert len(came) == 4
    assert any("1 more system" in line for line in lines)
    grown = replace(
        candidate_of("a", "h"), fleet=sized(system("a", "h", 8), rate(100), demand=2000).candidate.fleet
    )
    moved = replace(before, candidates=(grown,))
    (line,) = [
        line.strip()
        for line in brief.difference(
            KB, difference(KB, replace(before, candidates=(candidate_of("a", "h"),)), moved)
        ).splitlines()
        if "→" in line
    ]
    assert line == "a: 1 node, 8 accelerators, 7 idle → 3 nodes, 24 accelerators, 4 idle"


def test_the_chain_is_told_only_between_two_sides() -> None:
    """With the best node alone there is nothing to compare; without a chain there is no line about it."""
    given = replace(
        small_answer(), candidates=(candidate_of("box", "h"),), best_node="systems/box", headline="x"
    )
    chained = replace(given, comparison=replace(given.comparison, chain=("1.5 = 3 / 2",)))
    assert "Rack against node" not in brief.why(KB, chained)
    both = replace(
        chained,
        candidates=(candidate_of("box", "h"), candidate_of("cabinet", "hr")),
        best_rack="systems/cabinet",
    )
    assert "Rack against node:" in brief.why(KB, both)
    assert "Rack against node" not in brief.why(KB, replace(both, comparison=given.comparison))
