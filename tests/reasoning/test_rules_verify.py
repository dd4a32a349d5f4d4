"""The rule base is checked as a whole: each kind of mistake is found, at its place, with an example where it is about a region."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_base import base, choice, fact, flag, rule
from test_rules_conditions import TREES, condition

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.conditions import compile_condition
from advisor.reasoning.problem import PROBLEM_KINDS, RuleProblem
from advisor.reasoning.verify import verify_rules
from advisor.reasoning.verify_region import domains_for, find_point
from advisor.records import Entry

FACTS: tuple[Entry, ...] = (
    fact("tpot_ms", unit="ms", minimum=0.1, maximum=1e6, used_by=["sizing"]),
    fact("ttft_ms", unit="ms", minimum=1, maximum=1e7, used_by=["sizing"]),
    fact("rack_kw", unit="kW", minimum=0.5, maximum=2000, used_by=["reasoning"]),
    fact("nodes", "integer", minimum=0, used_by=["sizing"]),
    choice("workload", "offline", "server", "interactive", used_by=["evidence"]),
    flag("spare", used_by=["sizing"]),
    flag("candidate_fits", scope="candidate", used_by=["sizing"]),
)


def problems(*entries: Entry) -> list[RuleProblem]:
    return list(verify_rules(base(*FACTS, *entries)))


def only(*entries: Entry) -> RuleProblem:
    found = problems(*entries)
    assert len(found) == 1, found
    return found[0]


def warn(slug: str, when: dict[str, Any], **extra: Any) -> Entry:
    return rule(slug, when, {"warn": "answer"}, **extra)


def test_a_misspelt_fact_is_found_where_it_stands_with_the_nearest_name() -> None:
    """`tpot` is not a fact; `tpot_ms` is."""
    found = only(warn("r", {"all": [{"fact": "spare", "is": True}, {"fact": "tpot", "below": 15}]}))
    assert (found.kind, found.entry_id, found.where) == (
        "unknown-fact",
        "rules/r",
        ("when", "all", 1, "fact"),
    )
    assert found.fix == "did you mean tpot_ms?"


@pytest.mark.parametrize(
    ("atom", "kind", "step", "fix"),
    [
        ({"fact": "workload", "above": 3}, "wrong-type", "above", "use `is` or `in`"),
        ({"fact": "workload", "is": "ofline"}, "wrong-type", "is", "did you mean offline?"),
        ({"fact": "spare", "is": "yes"}, "wrong-type", "is", "write true or false"),
        ({"fact": "tpot_ms", "is": "fast"}, "wrong-type", "is", "write a number in ms"),
        ({"fact": "tpot_ms", "below": "fast"}, "wrong-type", "below", "write for example 0.1 ms"),
        ({"fact": "tpot_ms", "below": "0.5 s"}, "wrong-unit", "below", "write 500 ms"),
        (
            {"fact": "tpot_ms", "below": {"fact": "rack_kw"}},
            "wrong-unit",
            "below",
            "compare tpot_ms with a fact in ms",
        ),
        (
            {"fact": "rack_kw", "above": 40000},
            "out-of-range",
            "above",
            "write a value 0.5 to 2000 kW; check the unit",
        ),
        ({"fact": "nodes", "below": -1}, "out-of-range", "below", "write a value from 0; check the unit"),
        (
            {"fact": "spare", "is": {"fact": "workload"}},
            "wrong-type",
            "is",
            "compare spare with another flag",
        ),
    ],
)
def test_a_value_of_the_wrong_type_unit_or_size_is_found(
    atom: dict[str, Any], kind: str, step: str, fix: str
) -> None:
    """Every comparison is held against the fact's type, unit, choices and range, and the finding says what would be right."""
    found = problems(warn("r", atom))[0]
    assert (found.kind, found.where, found.fix) == (kind, ("when", step), fix)


def test_a_condition_nothing_satisfies_is_found_at_the_parts_that_exclude_each_other() -> None:
    """The finding names the two bounds that clash, not the whole condition."""
    found = only(
        warn(
            "r",
            {
                "all": [
                    {"fact": "spare", "is": True},
                    {"fact": "tpot_ms", "above": 20},
                    {"fact": "tpot_ms", "below": 10},
                ]
            },
        )
    )
    assert (found.kind, found.where) == ("never-fires", ("when", "all", 2))
    assert found.message == "nothing satisfies this condition: tpot_ms above 20 and tpot_ms below 10"


def test_a_fact_that_is_not_known_in_a_rules_scope_never_holds() -> None:
    """A comparison has no single candidate, so a candidate's fact is never known there."""
    found = only(
        rule("r", {"fact": "candidate_fits", "is": True}, {"favour": "node"}),
        rule("rest", {"none": [{"fact": "candidate_fits", "is": True}]}, {"favour": "node"}),
    )
    assert (found.kind, found.entry_id) == ("never-fires", "rules/r")
    assert found.message == "candidate_fits is a candidate fact, not known in scope comparison"


def test_no_whole_number_lies_between_two_neighbours() -> None:
    """`above 3 and below 4` is a gap for a count and a range for a time."""
    between = {"all": [{"fact": "nodes", "above": 3}, {"fact": "nodes", "below": 4}]}
    assert only(warn("r", between)).kind == "never-fires"
    assert (
        problems(warn("r", {"all": [{"fact": "tpot_ms", "above": 3}, {"fact": "tpot_ms", "below": 4}]})) == []
    )


def test_a_narrower_rule_that_concludes_the_same_is_subsumed() -> None:
    """Below 10 is below 15 already; the example is a point where both hold."""
    found = only(
        rule("wide", {"fact": "tpot_ms", "below": 15}, {"forbid": "high"}),
        rule(
            "narrow",
            {"all": [{"fact": "tpot_ms", "below": 10}, {"fact": "spare", "is": True}]},
            {"forbid": "high"},
        ),
    )
    assert (found.kind, found.entry_id) == ("subsumed", "rules/narrow")
    assert "rules/wide" in found.message
    assert "spare = yes" in found.example


def test_rules_that_conclude_something_else_or_outrank_are_not_subsumed() -> None:
    """A second step of a scale and a rule of higher precedence add something."""
    assert (
        problems(
            rule("wide", {"fact": "tpot_ms", "below": 15}, {"forbid": "high"}),
            rule("step", {"fact": "tpot_ms", "below": 10}, {"forbid": "medium"}),
            rule("rank", {"fact": "tpot_ms", "below": 10}, {"forbid": "high"}, precedence=5),
        )
        == []
    )


def test_two_requirements_that_meet_contradict_with_a_point_where_they_do() -> None:
    """Requiring both sides for one input leaves nothing to choose by."""
    found = [
        p
        for p in problems(
            rule("one", {"fact": "tpot_ms", "below": 20}, {"require": "rack"}),
            rule("two", {"fact": "ttft_ms", "above": 1000}, {"require": "node"}),
        )
        if p.kind == "contradiction"
    ]
    assert [(p.entry_id, p.where) for p in found] == [("rules/two", ("then", 0, "require"))]
    values = dict(part.split(" = ") for part in found[0].example.split(", "))
    assert float(values["tpot_ms"].split()[0]) < 20
    assert float(values["ttft_ms"].replace(",", "").split()[0]) > 1000


def test_requirements_that_never_meet_or_differ_in_precedence_do_not_contradict() -> None:
    """Exclusive conditions and a stated precedence both settle the conflict."""
    apart = problems(
        rule("one", {"fact": "tpot_ms", "below": 20}, {"require": "rack"}),
        rule("two", {"fact": "tpot_ms", "at_least": 20}, {"require": "node"}),
        rule("rest", {"fact": "tpot_ms", "known": False}, {"require": "either"}),
    )
    ranked = problems(
        rule("one", {"fact": "tpot_ms", "below": 20}, {"require": "rack"}),
        rule("two", {"fact": "ttft_ms", "above": 1000}, {"require": "node"}, precedence=1),
        rule("rest", {"none": [{"fact": "tpot_ms", "below": 20}]}, {"require": "either"}, precedence=-1),
    )
    assert [p for p in [*apart, *ranked] if p.kind == "contradiction"] == []


def test_preferences_are_weighed_unless_one_can_never_count() -> None:
    """Opposite favours may overlap, but not cancel each other wherever the one speaks."""
    rest = rule(
        "rest",
        {"none": [{"fact": "spare", "is": True}, {"fact": "nodes", "above": 3}]},
        {"favour": "either"},
        precedence=-1,
    )
    overlap = problems(
        rule("one", {"fact": "spare", "is": True}, {"favour": "node"}),
        rule("two", {"fact": "nodes", "above": 3}, {"favour": "rack"}),
        rest,
    )
    assert overlap == []
    inside = problems(
        rule("one", {"fact": "spare", "is": True}, {"favour": "node"}),
        rule(
            "two", {"all": [{"fact": "spare", "is": True}, {"fact": "nodes", "above": 3}]}, {"favour": "rack"}
        ),
        rest,
    )
    assert [(p.kind, p.entry_id) for p in inside if p.kind == "contradiction"] == [
        ("contradiction", "rules/two")
    ]


def test_two_assumptions_for_one_fact_contradict_where_both_hold() -> None:
    """Which value wins must not depend on the spelling of the rules' names."""
    found = problems(
        fact("output_tokens", used_by=["sizing"]),
        rule("one", {"fact": "workload", "is": "offline"}, {"assume": "output_tokens", "value": 100}),
        rule("two", {"fact": "spare", "is": True}, {"assume": "output_tokens", "value": 200}),
    )
    assert [(p.kind, p.entry_id, p.where) for p in found] == [
        ("contradiction", "rules/two", ("then", 0, "assume"))
    ]
    assert found[0].example == "spare = yes, workload = offline"


def test_a_fact_nothing_reads_and_a_question_nobody_is_asked_are_found() -> None:
    """An answer that changes nothing must not be asked for."""
    lonely = only(fact("floor_kg"))
    assert (lonely.kind, lonely.entry_id, lonely.where) == ("unread-fact", "facts/floor-kg", ("name",))
    idle = only(
        flag("raised_floor", question="Is the floor raised?", ask="decisive"),
        warn("r", {"fact": "raised_floor", "is": True}),
    )
    assert (idle.kind, idle.where) == ("unasked-question", ("question",))
    assert "no answer to it can change a verdict" in idle.message
    never = only(
        flag("raised_floor", question="Is the floor raised?"),
        rule("r", {"fact": "raised_floor", "is": True}, {"forbid": "rack"}),
    )
    assert (never.kind, never.message) == ("unasked-question", "the question is never asked: `ask` is never")


def test_facts_that_settle_each_other_are_a_cycle_unless_the_stated_value_is_meant() -> None:
    """Workload from limit and limit from workload is a circle of assumptions."""
    limit = rule("limit", {"fact": "workload", "is": "server"}, {"assume": "ttft_ms", "value": 2000})
    circle = only(
        limit, rule("kind", {"fact": "ttft_ms", "below": 500}, {"assume": "workload", "value": "interactive"})
    )
    assert circle.kind == "cycle"
    assert "ttft_ms ← workload ← ttft_ms" in circle.message
    stated = {"all": [{"fact": "ttft_ms", "stated": True}, {"fact": "ttft_ms", "below": 500}]}
    assert problems(limit, rule("kind", stated, {"assume": "workload", "value": "interactive"})) == []


def test_facts_derived_from_each_other_are_a_cycle() -> None:
    """Nothing ever settles two facts that each name the other, whether or not a part of the code computes them."""
    both = [flag("one", derived_from=["two"]), flag("two", derived_from=["one"])]
    reader = warn("r", {"all": [{"fact": "one", "is": True}, {"fact": "two", "is": True}]})
    assert [(p.kind, p.where) for p in problems(*both, reader)] == [("cycle", ("derived_from", 0))]


def test_a_region_without_a_verdict_is_a_gap_with_a_point_in_it() -> None:
    """Below 20 and above 20 leave 20 itself, and a limit nobody gave."""
    found = problems(
        rule("below", {"fact": "tpot_ms", "below": 20}, {"favour": "rack"}),
        rule("above", {"fact": "tpot_ms", "above": 20}, {"favour": "node"}),
        rule("unknown", {"fact": "tpot_ms", "known": False}, {"favour": "either"}),
    )
    assert [(p.kind, p.example) for p in found] == [("gap", "tpot_ms = 20 ms")]


@pytest.mark.parametrize(
    ("effect", "message"),
    [
        ({"favour": "node"}, "'favour: node' does nothing in scope candidate"),
        ({"forbid": "high"}, "'forbid: high' does nothing in scope candidate"),
        ({"ask": "tpot_ms"}, "tpot_ms has no question to ask"),
        ({"assume": "nodes", "value": 3}, "nodes belongs to scope requirement, the rule to candidate"),
    ],
)
def test_an_effect_that_does_nothing_where_it_stands_is_found(effect: dict[str, Any], message: str) -> None:
    """A rule about one candidate cannot conclude for both."""
    found = problems(rule("r", {"fact": "candidate_fits", "is": True}, effect, scope="candidate"))
    assert message in [p.message for p in found if p.kind == "bad-effect"]


def test_a_computed_fact_cannot_be_assumed() -> None:
    """What sizing computes is never missing, so the assumption would never count."""
    computed = fact("weights_gib", computed_by="sizing", used_by=["sizing"])
    found = only(computed, rule("r", {"fact": "spare", "is": True}, {"assume": "weights_gib", "value": 3}))
    assert (found.kind, found.where) == ("bad-effect", ("then", 0, "assume"))


def test_text_in_braces_must_name_a_fact() -> None:
    """A reader must not see `{tpot}`."""
    found = only(warn("r", {"fact": "spare", "is": True}, reason="More than {tpot} a token."))
    assert (found.kind, found.where) == ("unknown-fact", ("reason",))


def test_every_problem_is_of_a_described_kind(shipped: KnowledgeBase) -> None:
    """The kinds of the linter's codes are a closed list."""
    for found in [*verify_rules(shipped), *problems(fact("lonely"), warn("r", {"fact": "x", "is": 1}))]:
        assert found.kind in PROBLEM_KINDS


def test_the_shipped_rule_base_has_no_problem(shipped: KnowledgeBase) -> None:
    """No unknown name, no contradiction, no gap: the shipped rules are complete."""
    assert verify_rules(shipped) == ()


@pytest.mark.parametrize(
    "dropped", ["feasible-none", "feasible-node-only", "feasible-rack-only", "tie-nothing-speaks"]
)
def test_without_any_one_of_the_rules_that_close_it_the_shipped_rule_base_has_a_gap(
    shipped: KnowledgeBase, dropped: str
) -> None:
    """Completeness is proved, not assumed: take one rule away and the hole is named."""
    rest = KnowledgeBase([entry for entry in shipped.entries.values() if entry.id != f"rules/{dropped}"])
    assert [p.kind for p in set(verify_rules(rest)) - set(verify_rules(shipped))] == ["gap"]


def test_a_flag_among_numbers_hides_no_threshold() -> None:
    """`b is yes` beside `a is 1`, with a and b compared: in Python yes equals 1, and the region at a = 1 was lost."""
    kb = base(fact("a", unit="ms"), fact("b", unit="ms"))
    first = condition({"all": [{"fact": "a", "is": 1}, {"none": [{"fact": "a", "above": {"fact": "b"}}]}]})
    second = condition({"fact": "b", "is": True})
    point = find_point([(first, True), (second, False)], domains_for(kb, [first, second], "comparison"))
    assert point is not None
    assert point["a"] == 1


@settings(max_examples=150, deadline=None)
@given(
    tree=TREES,
    other=TREES,
    values=st.fixed_dictionaries({n: st.sampled_from([None, -5, -3, -2, 0, 1, 2, 3, 5]) for n in "abc"}),
)
def test_a_region_that_a_random_point_lies_in_is_always_found(
    tree: dict[str, Any], other: dict[str, Any], values: dict[str, Any]
) -> None:
    """The search never says `nothing satisfies this` where something does, and what it finds does satisfy it."""
    kb = base(fact("a", unit="ms"), fact("b", unit="ms"), fact("c", unit="ms"))
    first, second = condition(tree), condition(other)
    wanted = [(first, True), (second, False)]
    point = find_point(wanted, domains_for(kb, [first, second], "comparison"))
    if point is not None:
        assert compile_condition(first)(point)
        assert not compile_condition(second)(point)
    if compile_condition(first)(values) and not compile_condition(second)(values):
        assert point is not None
