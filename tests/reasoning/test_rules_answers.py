"""Rules, explanations and questions on whole answers of the shipped knowledge base, and with a rule of one's own."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.reasoning.explain import (
    assumptions,
    difference,
    explain_text,
    ground,
    how_sure,
    render,
    what_if,
    what_would_change,
    why,
    why_not,
)
from advisor.reasoning.questions import next_question, weigh_questions
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import said
from advisor.reasoning.verify import verify_rules
from advisor.records import Recommendation, Scalar

REASONING = {"model": "deepseek-r1", "weight_precision": "fp4", "tpot_ms": 15}


def answer(kb: KnowledgeBase, **values: Scalar) -> Recommendation:
    return recommend(kb, said(kb, values), flips=False)


def test_the_proof_of_a_verdict_reaches_what_was_said_and_the_evidence(shipped: KnowledgeBase) -> None:
    """DeepSeek-R1 at 15 ms per token is a rack: the tree goes from the rule down to the model, the limit and audited rows."""
    given = answer(shipped, **REASONING)
    proof = why(shipped, given)
    assert given.verdict == "rack"
    nodes = list(proof.walk())
    stated = {node.key for node in nodes if node.origin == "said"}
    assert {"tpot_ms", "weight_precision"} <= stated
    evidence = {entry for node in nodes for entry in node.evidence}
    assert any(entry.startswith("evidence/mlperf-v6") for entry in evidence)
    assert all(entry in shipped.entries for entry in evidence)
    assert any(node.arithmetic for node in nodes)
    assert set(given.decided_by) <= {node.key for node in nodes if node.kind == "rule"}


def test_without_liquid_the_rack_is_out_by_the_rule_named(shipped: KnowledgeBase) -> None:
    """An air-cooled room excludes liquid-only racks, and `why not rack` says which rule and which fact."""
    given = answer(shipped, **REASONING, cooling="air")
    assert given.verdict == "node"
    explained = why_not(shipped, given, "rack")
    assert explained.excluded
    gb300 = next(proof for proof in explained.proofs if proof.key == "systems/gb300-nvl72")
    assert [part.key for part in gb300.parts] == ["rules/site-air-only"]
    assert {"cooling", "candidate_air_cooled"} <= set(gb300.facts())
    assert explained.contrast is not None
    parted = {(part.fact, part.subject) for part in explained.contrast.partings}
    assert ("cooling", "systems/gb200-nvl72") in parted or ("cooling", "systems/gb300-nvl72") in parted
    text = explain_text(shipped, given, "rack")
    assert text.startswith("Why not rack: it is out")
    assert "Cooling of the room: Air only (you said so" in text


@pytest.mark.parametrize("what", ["verdict", "node", "rack", "systems/hgx-b300", "systems/vr-nvl72"])
def test_every_explanation_is_plain_text(shipped: KnowledgeBase, what: str) -> None:
    """No markup, no unfilled braces, no unknown names."""
    text = explain_text(shipped, answer(shipped, **REASONING), what)
    assert text
    assert "{" not in text
    assert "None" not in text


def test_a_what_if_keeps_the_base_and_shows_what_it_changes(shipped: KnowledgeBase) -> None:
    """Air cooling turns the rack into a node: the difference names the fact, the racks that fall out and the rule."""
    base = said(shipped, dict(REASONING))
    before = recommend(shipped, base, flips=False)
    change = what_if(shipped, before, base, {"cooling": "air"}, recommend)
    assert (change.before, change.verdict_changes, change.after.verdict) == (before, True, "node")
    assert ("cooling", "not known", "Air only") in [(f.fact, f.before, f.after) for f in change.facts]
    assert "rules/site-air-only" in change.fired
    out = {c.system: c.after for c in change.candidates}
    assert out["systems/gb300-nvl72"] == f"out ({shipped.rules['rules/site-air-only'].title})"
    back = what_if(
        shipped, change.after, said(shipped, {**REASONING, "cooling": "air"}), {"cooling": None}, recommend
    )
    assert back.after.verdict == before.verdict
    assert difference(shipped, before, before).facts == ()


def test_the_other_explanations_speak_about_the_same_answer(shipped: KnowledgeBase) -> None:
    """How sure, what would change it, what was assumed and on what ground."""
    given = answer(shipped, **REASONING)
    assert render(shipped, how_sure(shipped, given)).startswith(f"Confidence: {given.confidence.level}")
    assumed = {item.fact: item for item in assumptions(shipped, given)}
    assert "tpot_ms" not in assumed
    assert assumed["rack_price_premium"].value == "0.86× to 1.22×"
    assert all(item.why and item.source for item in assumed.values())
    assert ground(given).citations == given.evidence
    assert {c.rival for c in what_would_change(shipped, given).contrasts} == {"node"}
    for explanation in (
        how_sure(shipped, given),
        assumptions(shipped, given),
        ground(given),
        what_would_change(shipped, given),
    ):
        assert render(shipped, explanation)


def test_the_decisive_question_about_a_reasoning_model_is_its_limit(shipped: KnowledgeBase) -> None:
    """After model, precision and context, the limit per token can still turn the verdict."""
    facts = said(shipped, {"model": "deepseek-r1", "weight_precision": "fp4", "context_tokens": 8192})
    question = next_question(shipped, facts, recommend)
    assert question is not None
    assert question.fact == "tpot_ms"
    assert "15 ms gives rack" in question.reason


FACT = """\
id: facts/raised-floor
title: Raised floor
name: raised_floor
type: flag
question: Does the room have a raised floor?
why: A rack of more than a tonne may be too heavy for it.
ask: decisive
order: 55
flag: --raised-floor
"""
RULE = """\
id: rules/floor-load
title: A raised floor carries no full rack
when: {fact: raised_floor, is: true}
then:
  - forbid: rack
reason: A full rack stands on four feet and weighs more than a raised floor takes.
"""


@pytest.fixture
def overlay(tmp_path: Path) -> KnowledgeBase:
    for kind, name, text in (("facts", "raised-floor", FACT), ("rules", "floor-load", RULE)):
        folder = tmp_path / kind
        folder.mkdir()
        (folder / f"{name}.yaml").write_text(text)
    return load_knowledge([tmp_path], cache=False)


def test_a_new_rule_with_a_new_fact_changes_answers_questions_and_checks_without_code(
    overlay: KnowledgeBase,
) -> None:
    """Two YAML files: the fact can be said, is asked where it decides, excludes racks by name, and the rule base stays sound."""
    assert answer(overlay, **REASONING).verdict == "rack"
    given = answer(overlay, **REASONING, raised_floor=True)
    assert given.verdict == "node"
    racks = [c for c in given.candidates if c.unit == "rack"]
    assert all("rules/floor-load" in [e.constraint for e in c.exclusions] for c in racks)
    assert "Raised floor: yes (you said so)" in explain_text(overlay, given, "rack")
    weighed = {c.fact: c.changes for c in weigh_questions(overlay, said(overlay, dict(REASONING)), recommend)}
    assert weighed["raised_floor"] == 0.5
    assert verify_rules(overlay) == ()


@pytest.mark.parametrize("model", ["llama-3.1-70b", "deepseek-r1"])
def test_tightening_a_limit_never_makes_a_system_feasible(shipped: KnowledgeBase, model: str) -> None:
    """A longer context or a tighter limit per token takes systems out and never brings one in."""

    def feasible(**values: Scalar) -> set[str]:
        given = answer(shipped, model=model, weight_precision="fp8", **values)
        return {candidate.system for candidate in given.candidates if candidate.feasible}

    by_context = [feasible(context_tokens=tokens) for tokens in (4096, 32768, 131072)]
    assert by_context[0] >= by_context[1] >= by_context[2]
    by_limit = [feasible(tpot_ms=limit) for limit in (100, 40, 15, 5)]
    assert all(loose >= tight for loose, tight in pairwise(by_limit))
