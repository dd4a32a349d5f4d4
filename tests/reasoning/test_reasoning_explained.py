"""Explanations beside the common ones: of the verdict itself, of what was never considered, of a rival that was spoken for, of gone rules."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from rule_base import answer_of, base, choice, fact, flag, rule, said

from advisor.knowledge import KnowledgeBase
from advisor.reasoning import explain
from advisor.reasoning.explain import contrast, render, what_if, what_would_change, why, why_not
from advisor.reasoning.proof import ProofBuilder
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import said as usable
from advisor.reasoning.trace import describe_condition, show_value
from advisor.records import Condition, Exclusion, FactRef, Flip, Recommendation, Scalar

REASONING: dict[str, Scalar] = {"model": "deepseek-r1", "weight_precision": "fp4", "tpot_ms": 15}


def answer(kb: KnowledgeBase, **values: Scalar) -> Recommendation:
    return recommend(kb, usable(kb, values), flips=False)


@pytest.fixture(scope="module")
def rack(shipped: KnowledgeBase) -> Recommendation:
    """DeepSeek-R1 at 15 ms per token: a rack."""
    return answer(shipped, **REASONING)


def test_asked_why_not_the_verdict_the_answer_is_why(shipped: KnowledgeBase, rack: Recommendation) -> None:
    """`why not a rack` of a rack: no contrast, no `why not`, but the proof."""
    explained = why_not(shipped, rack, "rack")
    assert (explained.excluded, explained.contrast) == (False, None)
    assert explained.proofs == (why(shipped, rack),)
    text = render(shipped, explained)
    assert text.startswith("  The verdict is rack.")
    assert "Why not" not in text


def test_asked_why_not_the_recommended_system_the_answer_is_that_it_is(
    shipped: KnowledgeBase, rack: Recommendation
) -> None:
    """Its arithmetic follows, since that is what there is to say."""
    assert rack.best_rack is not None
    explained = why_not(shipped, rack, rack.best_rack)
    title = shipped.entries[rack.best_rack].title
    assert explained.note == f"{title} is what the answer recommends"
    assert explained.contrast is None
    assert explained.proofs[0].arithmetic


def test_a_system_that_was_left_out_by_the_question_is_said_to_be(shipped: KnowledgeBase) -> None:
    """Only HGX B300 was asked about, so nothing is known of HGX H100 here, and nothing is proved."""
    explained = why_not(shipped, answer(shipped, **REASONING, system="hgx-b300"), "systems/hgx-h100")
    assert (
        explained.note
        == "systems/hgx-h100 was not considered; the systems or the accelerator were restricted"
    )
    assert (explained.excluded, explained.proofs) == (False, ())


def test_a_what_if_that_restricts_the_systems_says_which_fall_out(
    shipped: KnowledgeBase, rack: Recommendation
) -> None:
    """Asking about one system takes the others out of consideration, which is not the same as excluding them."""
    change = what_if(shipped, rack, usable(shipped, dict(REASONING)), {"system": "hgx-b300"}, recommend)
    after = {candidate.system: candidate.after for candidate in change.candidates}
    assert after["systems/gb300-nvl72"] == "not considered"
    assert "systems/hgx-b300" not in after


def test_a_rival_without_a_candidate_says_so(shipped: KnowledgeBase) -> None:
    """Among nodes alone there is no rack to exclude."""
    explained = why_not(shipped, answer(shipped, **REASONING, system="hgx-b300"), "rack")
    assert explained.excluded
    assert "No rack was considered." in render(shipped, explained)


SIDES = (
    flag("cheap"), flag("fast"), fact("nodes"),
    rule("cheap", {"fact": "cheap", "is": True}, {"favour": "node"}, strength=2.0),
    rule("fast", {"fact": "fast", "is": True}, {"favour": "rack"}),
)  # fmt: skip


def test_a_rival_that_was_outweighed_is_shown_with_what_spoke_for_it() -> None:
    """Strength 2 for nodes against 1 for racks: both sums, and the rule that spoke for the rack."""
    kb = base(*SIDES)
    given = answer_of(kb, said(cheap=True, fast=True))
    assert given.verdict == "node"
    assert render(kb, contrast(kb, given, "rack")).splitlines() == [
        "Where node and rack part:",
        "  Both were spoken for; the weights add up to node 2, rack 1.",
        "  for rack: fast: favour rack (+1) [rules/fast]",
    ]


def test_a_rival_that_no_rule_concludes_is_said_to_have_none() -> None:
    """Nothing in this rule base ever says `either`."""
    kb = base(*SIDES)
    given = answer_of(kb, said(cheap=True, fast=False))
    assert "  No rule concludes either." in render(kb, contrast(kb, given, "either"))
    assert "fast: no; rack needs yes [rules/fast]" in render(kb, contrast(kb, given, "rack"))


def test_flips_come_before_the_contrasts(shipped: KnowledgeBase, rack: Recommendation) -> None:
    """The nearest changes in their own words, or as from and to when they have none; without any, that too is said."""
    flips = (
        Flip(fact="tpot_ms", from_="15 ms", to="62 ms", verdict="node", text="From 62 ms on it is nodes."),
        Flip(fact="cooling", from_="not known", to="air", verdict="node"),
    )
    lines = render(shipped, what_would_change(shipped, replace(rack, flips=flips))).splitlines()
    assert lines[:3] == [
        "Nearest changes that turn the verdict:",
        "  From 62 ms on it is nodes.",
        "  cooling not known → air: node",
    ]
    none = render(shipped, what_would_change(shipped, replace(rack, flips=())))
    assert none.startswith("No change of a single input that was tried turns the verdict.")


def test_an_answer_without_evidence_and_assumptions_says_so(
    shipped: KnowledgeBase, rack: Recommendation
) -> None:
    """What an answer rests on is never left blank."""
    bare = replace(rack, evidence=(), requirement={}, comparison=replace(rack.comparison, pairs=()))
    assert "No evidence entry stands behind this answer" in render(shipped, explain.ground(bare))
    assert render(shipped, explain.assumptions(shipped, bare)) == "Nothing was assumed."


def test_each_pair_is_told_with_what_else_differs(shipped: KnowledgeBase, rack: Recommendation) -> None:
    """Both rates, the ratio, a tie where it is one, and the confounders where there are any."""
    pair = rack.comparison.pairs[0]
    plain = replace(pair, confounders=(), tie=False)
    tied = replace(pair, confounders=("software: a against b", "precision: fp4 against fp8"), tie=True)
    alone = replace(rack, evidence=(), comparison=replace(rack.comparison, pairs=(plain, tied)))
    _, first, second = render(shipped, explain.ground(alone)).splitlines()
    assert first.endswith("×")
    assert second.endswith(
        "× (a tie within the noise); differs in software: a against b, precision: fp4 against fp8"
    )


class TestGone:
    """An answer may name what a later knowledge base no longer holds: the name stands for itself."""

    def test_a_rule(self, shipped: KnowledgeBase, rack: Recommendation) -> None:
        """Its id is all that is known."""
        proof = ProofBuilder(shipped, rack).rule("rules/withdrawn")
        assert (proof.claim, proof.parts) == ("rules/withdrawn", ())

    def test_a_system(self, shipped: KnowledgeBase, rack: Recommendation) -> None:
        """It was not among the candidates."""
        assert ProofBuilder(shipped, rack).candidate("systems/withdrawn").claim == (
            "systems/withdrawn was not considered"
        )

    def test_a_candidate_that_was_never_sized(self, shipped: KnowledgeBase) -> None:
        """Out by a constraint that is no rule, and without memory: the text of the exclusion is all the proof there is."""
        given = answer(shipped, **REASONING, cooling="air")
        out = next(c for c in given.candidates if c.system == "systems/gb300-nvl72")
        other = replace(
            out, memory=None, exclusions=(Exclusion(constraint="floor", text="The floor holds 500 kg."),)
        )
        rest = tuple(c for c in given.candidates if c.unit == "node")
        changed = replace(given, candidates=(*rest, other))
        proof = ProofBuilder(shipped, changed).candidate("systems/gb300-nvl72")
        assert "The floor holds 500 kg" in proof.detail
        assert (proof.arithmetic, proof.parts) == ((), ())
        assert "floor" not in {node.key for node in why(shipped, changed).walk()}


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition(fact="vendor", known=True), "vendor known"),
        (Condition(fact="vendor", known=False), "vendor not known"),
        (Condition(fact="tpot_ms", stated=True), "tpot_ms stated"),
        (Condition(fact="spare", is_=True), "spare is yes"),
        (Condition(fact="rack_kw", above=FactRef(fact="power_kw")), "rack_kw above power_kw"),
        (Condition(fact="workload", in_=("server", "interactive")), "workload in server, interactive"),
        (
            Condition(all=(Condition(fact="spare", is_=False), Condition(fact="tpot_ms", at_most=15.5))),
            "(spare is no and tpot_ms at most 15.5)",
        ),
        (
            Condition(any=(Condition(fact="spare", is_=False), Condition(fact="tpot_ms", at_least=20))),
            "(spare is no or tpot_ms at least 20)",
        ),
        (Condition(none=(Condition(fact="spare", is_=True),)), "not spare is yes"),
        (
            Condition(none=(Condition(fact="spare", is_=True), Condition(fact="vendor", is_="amd"))),
            "neither spare is yes nor vendor is amd",
        ),
    ],
)
def test_a_condition_is_told_in_the_words_of_its_file(condition: Condition, words: str) -> None:
    """As in messages to the author of a rule: names and literals, groups in brackets."""
    assert describe_condition(condition) == words


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("workload", "offline", "workload of offline"),
        ("workload", "batch", "batch"),
        ("note", "free text", "free text"),
        ("unheard_of", 3, "3"),
        ("share", 0.25, "25 %"),
        ("tpot_ms", math.nan, "a range"),
        ("spare", 1, "1 unit"),
        ("spare", 2, "2 units"),
    ],
)
def test_a_value_is_shown_by_what_its_fact_knows(name: str, value: Scalar, words: str) -> None:
    """Labels of choices, units, shares in per cent; what no fact explains stands as it is."""
    labelled = choice("workload", "offline")
    kb = base(
        replace(labelled, choices=(replace(labelled.choices[0], label="workload of offline"),)),  # type: ignore[attr-defined,call-arg]
        fact("note", "text"), fact("share", unit="fraction"), fact("tpot_ms", unit="ms"), fact("spare", unit="units"),
    )  # fmt: skip
    assert show_value(kb, name, value) == words
