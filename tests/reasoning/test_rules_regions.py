"""Regions of rules at their borders: which conclusions oppose each other, which gotchas never speak, where a rule runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_base import base, choice, fact, flag, rule
from test_reasoning_proofs import KB, candidate_of, small_answer, value
from test_rules_conditions import condition

from advisor.evidence.figures import round_key
from advisor.knowledge import KnowledgeBase
from advisor.knowledge.build import build_record
from advisor.reasoning.comparison import compare_best
from advisor.reasoning.conditions import compile_condition, must_be_stated
from advisor.reasoning.engine import Trace, run_rules, scope_of
from advisor.reasoning.explain import why
from advisor.reasoning.problem import PROBLEM_KINDS
from advisor.reasoning.proof import ProofBuilder
from advisor.reasoning.recommend import conclude
from advisor.reasoning.requirement import said
from advisor.reasoning.verify import verify_rules
from advisor.reasoning.verify_region import describe_point, domains_for, find_point
from advisor.records import Condition, Entry

VOCABULARY: tuple[Entry, ...] = (
    fact("load", unit="ms", minimum=0, maximum=100, used_by=["sizing"]), fact("users", "integer", minimum=0, maximum=50, used_by=["sizing"]),
    flag("spare", used_by=["sizing"]), choice("cooling", "air", "liquid", used_by=["sizing"]),
    fact("heat", unit="kW", scope="candidate", used_by=["sizing"]), fact("gain", scope="comparison", used_by=["evidence"]),
)  # fmt: skip


def kinds(*entries: Entry) -> list[str]:
    return sorted(problem.kind for problem in verify_rules(base(*VOCABULARY, *entries)))


SLOW, FAST = {"fact": "load", "above": 50}, {"fact": "load", "above": 50}


@pytest.mark.parametrize(
    ("kind", "one", "other", "clash"),
    [
        ("favour", "node", "rack", True), ("favour", "none", "node", True), ("favour", "none", "rack", True), ("favour", "either", "node", False),
        ("favour", "either", "rack", False), ("favour", "node", "node", False), ("require", "either", "node", True), ("require", "node", "rack", True),
        ("require", "none", "rack", True), ("require", "either", "none", True), ("require", "rack", "rack", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("turned", [False, True])
def test_which_conclusions_oppose_each_other(
    kind: str, one: str, other: str, clash: bool, turned: bool
) -> None:
    """Preferences for a balance oppose nothing; two different requirements leave no choice."""
    first, second = (other, one) if turned else (one, other)
    found = kinds(
        rule("a", SLOW, {kind: first}),
        rule("b", FAST, {kind: second}),
        rule("rest", {"none": [SLOW]}, {kind: first}),
    )
    assert ("contradiction" in found) is clash


def test_a_gotcha_that_nothing_satisfies_is_found_beside_a_broken_one() -> None:
    """The broken one has its own finding, and the search goes on to the next; candidate and comparison facts do not meet."""

    def gotcha(slug: str, when: dict[str, Any]) -> Entry:
        data = {
            "id": f"gotchas/{slug}", "title": slug, "severity": "info", "symptom": "s", "root_cause": "r", "workaround": "w", "concepts": [], "applies_when": when,
        }  # fmt: skip
        return build_record("gotchas", data)

    never = {"all": [{"fact": "load", "above": 60}, {"fact": "load", "below": 40}]}
    unlike = {"all": [{"fact": "heat", "above": 1}, {"fact": "gain", "above": 1}]}
    entries = (
        gotcha("a-broken", {"fact": "lod", "above": 1}), gotcha("b-never", never), gotcha("c-fine", {"fact": "heat", "above": 1}), gotcha("d-unlike", unlike),
        gotcha("e-fine", {"fact": "gain", "above": 1}),
    )  # fmt: skip
    found = [(p.kind, p.entry_id) for p in verify_rules(base(*VOCABULARY, *entries))]
    assert found == [
        ("unknown-fact", "gotchas/a-broken"),
        ("never-fires", "gotchas/b-never"),
        ("never-fires", "gotchas/d-unlike"),
    ]


def test_every_kind_that_can_be_found_is_described() -> None:
    """One rule base with a mistake of each kind; each has its line in the list of kinds."""
    broken = base(
        *VOCABULARY, fact("lonely"), fact("mute", question="What?", used_by=["sizing"]), fact("a", derived_from=["b"]), fact("b", derived_from=["a"]),
        rule("unknown", {"fact": "lod", "above": 1}, {"warn": "answer"}), rule("type", {"fact": "spare", "is": "x"}, {"warn": "answer"}),
        rule("unit", {"fact": "load", "above": "1 kW"}, {"warn": "answer"}), rule("range", {"fact": "load", "above": 101}, {"warn": "answer"}),
        rule("effect", {"fact": "load", "above": 1}, {"favour": "node"}, scope="requirement"),
        rule("never", {"all": [{"fact": "load", "above": 60}, {"fact": "load", "below": 40}]}, {"favour": "node"}),
        rule("wide", SLOW, {"favour": "node"}), rule("narrow", {"fact": "load", "above": 70}, {"favour": "node"}),
        rule("one", {"fact": "spare", "is": True}, {"require": "node"}), rule("two", {"fact": "spare", "is": True}, {"require": "rack"}),
    )  # fmt: skip
    found = {problem.kind for problem in verify_rules(broken)}
    assert found == set(PROBLEM_KINDS)


@pytest.mark.parametrize(
    ("effect", "when", "scope"),
    [
        ({"assume": "heat", "value": 1}, {"fact": "load", "above": 1}, "candidate"), ({"assume": "load", "value": 1}, {"fact": "heat", "above": 1}, "requirement"),
        ({"assume": "unheard", "value": 1}, {"fact": "load", "above": 1}, "requirement"), ({"ask": "gain"}, {"fact": "load", "above": 1}, "comparison"),
        ({"forbid": "candidate"}, {"fact": "load", "above": 1}, "candidate"), ({"forbid": "rack"}, {"fact": "load", "above": 1}, "candidate"),
        ({"forbid": "high"}, {"fact": "load", "above": 1}, "comparison"), ({"favour": "node"}, {"fact": "heat", "above": 1}, "comparison"),
        ({"warn": "answer"}, {"fact": "heat", "above": 1}, "candidate"), ({"warn": "answer"}, {"fact": "gain", "above": 1}, "comparison"),
        ({"warn": "answer"}, {"fact": "load", "above": 1}, "requirement"), ({"warn": "answer"}, {"fact": "unheard", "above": 1}, "requirement"),
        ({"warn": "answer"}, {"all": [{"fact": "heat", "above": 1}, {"fact": "gain", "above": 1}]}, "comparison"),
    ],
)  # fmt: skip
def test_a_rule_runs_where_its_first_telling_effect_acts(
    effect: dict[str, Any], when: dict[str, Any], scope: str
) -> None:
    """Else where the facts are known that it reads."""
    own = rule("r", when, {"warn": "answer"}, effect)
    assert scope_of(base(*VOCABULARY), own) == scope  # type: ignore[arg-type]


def test_a_trace_is_the_steps_of_its_runs() -> None:
    """Equal to any sequence of the same steps, and to nothing else."""
    kb = base(*VOCABULARY, rule("r", SLOW, {"warn": "answer"}))
    run = run_rules(kb, {"load": value(60)}, scope="requirement")
    trace = Trace([run, run])
    assert trace == [*run.trace, *run.trace]
    assert trace == Trace([run, run])
    assert trace != run.trace
    assert trace != 3
    assert (trace[0], trace[-1], trace[:1], len(trace)) == (run.trace[0], run.trace[0], run.trace[:1], 2)


def test_when_either_will_do_every_conclusion_is_a_rival() -> None:
    """What keeps the weights from tipping is asked of rules for all sides; of a plain verdict, only of the others'."""
    both = small_answer(cooling=value("air"))
    assert both.verdict == "either"
    assert [part.key for part in why(KB, both).parts] == ["rules/decides", "rules/rival"]
    plain = small_answer(cooling=value("liquid"))
    blocked = [rule_id for part in why(KB, plain).parts for rule_id in part.blocks]
    assert blocked == ["rules/rival"]


def test_a_side_is_shown_by_candidates_of_its_own_kind() -> None:
    """No rack stands in the proof that nodes are out."""
    out = tuple(
        candidate_of(name, of, feasible=False)
        for name, of in (("box", "h"), ("cabinet", "hr"), ("oven", "hr"))
    )
    given_ = small_answer()
    answer = replace(
        given_, candidates=out, requirement={**given_.requirement, "node_feasible": value(False, "computed"), "rack_feasible": value(False, "computed")}
    )  # fmt: skip
    builder = ProofBuilder(KB, answer)
    assert [part.key for part in builder.fact("node_feasible").parts] == ["systems/box"]
    assert [part.key for part in builder.fact("rack_feasible").parts] == ["systems/cabinet", "systems/oven"]


def test_the_age_of_evidence_is_counted_in_rounds(kb: KnowledgeBase) -> None:
    """DeepSeek-R1's pairs are of the newest round held: none behind. Llama 3.1 405B Server was last paired in v6.0: one behind v6.1."""
    rounds = sorted({e.round for e in kb.evidence.values() if e.round}, key=round_key)
    for case in (
        {"model": "deepseek-r1", "weight_precision": "fp4", "workload": "offline"}, {"model": "llama-3.1-405b", "weight_precision": "fp4", "workload": "server"},
    ):  # fmt: skip
        core = conclude(kb, said(kb, case))
        pairs = core.compared.comparison.pairs
        assert pairs
        newest = max((pair.round for pair in pairs), key=round_key)
        assert core.compared.facts["evidence_rounds_old"].value == len(rounds) - 1 - rounds.index(newest)
        grades = {pair.grade for pair in pairs}
        assert core.compared.facts["evidence_grade"].value == min(grades)
        effects = core.compared.comparison
        for name, estimate in (
            ("rack_over_node", effects.rack_over_node),
            ("silicon_effect", effects.silicon_effect),
            ("scale_effect", effects.scale_effect),
        ):
            assert (name in core.compared.facts) is (estimate is not None)
            if estimate is not None:
                assert core.compared.facts[name].value == estimate.value
    alone = compare_best(kb, {}, [])
    assert "evidence_rounds_old" not in alone.facts
    assert alone.facts["evidence_grade"].value == "none"


SMALL = st.recursive(
    st.one_of(
        st.builds(lambda n, c: {"fact": "users", c: n}, st.integers(0, 6), st.sampled_from(["above", "below", "at_least", "at_most", "is"])),
        st.builds(lambda b: {"fact": "spare", "is": b}, st.booleans()), st.builds(lambda b: {"fact": "cooling", "known": b}, st.booleans()),
        st.builds(lambda v: {"fact": "cooling", "in": [v]}, st.sampled_from(["air", "liquid"])),
    ),
    lambda parts: st.builds(lambda group, own: {group: own}, st.sampled_from(["all", "any", "none"]), st.lists(parts, min_size=1, max_size=3)),
    max_leaves=6,
)  # fmt: skip
ALL_POINTS = [
    {"users": users, "spare": spare, "cooling": cooling}
    for users, spare, cooling in product([*range(51), None], [True, False, None], ["air", "liquid", None])
]


@given(SMALL, SMALL, st.booleans())
def test_a_point_is_found_exactly_where_trying_all_finds_one(
    first: dict[str, Any], second: dict[str, Any], want: bool
) -> None:
    """52 numbers x 3 x 3 points in all: the search over few representatives neither misses nor invents a region."""
    own: list[tuple[Condition, bool]] = [(condition(first), True), (condition(second), want)]
    found = find_point(own, domains_for(base(*VOCABULARY), [each for each, _ in own], "requirement"))
    tests = [(compile_condition(each), wanted) for each, wanted in own]
    exists = any(all(test(point) is wanted for test, wanted in tests) for point in ALL_POINTS)
    assert (found is not None) is exists
    if found is not None:
        assert all(test(found) is wanted for test, wanted in tests)


def test_points_are_told_with_units() -> None:
    """Sorted by name: values, words, what is not known or stated."""
    point = {"load": 60, "cooling": "air", "spare": None, "stated:load": True, "stated:users": None}
    assert (
        describe_point(base(*VOCABULARY), point)
        == "cooling = air, load = 60 ms, spare not known, load stated, users not stated"
    )


def test_what_must_be_stated_is_read_from_every_part_of_an_all() -> None:
    """In an `any` another part may hold instead."""
    stated, other = {"fact": "load", "stated": True}, {"fact": "spare", "is": True}
    assert must_be_stated(condition({"all": [stated, other]})) == {"load"}
    assert must_be_stated(condition({"any": [stated, other]})) == set()
    assert must_be_stated(condition({"fact": "load", "stated": False})) == set()
