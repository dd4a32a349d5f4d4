"""Single conditions, effects and facts held against the vocabulary: every finding with its place and what would be right."""

from __future__ import annotations

from typing import Any

import pytest
from hardware_base import accelerator
from rule_base import base, choice, fact, flag, rule

from advisor.reasoning.problem import RuleProblem
from advisor.reasoning.verify_types import check_types
from advisor.records import Entry

FACTS: tuple[Entry, ...] = (
    fact("tpot_ms", unit="ms", minimum=0.1, maximum=1e6, question="How fast?", ask="decisive"),
    fact("rack_kw", unit="kW", minimum=0.5, maximum=2000, suggestions=[40, 132]),
    fact("link", unit="GB/s"), fact("context", "integer", unit="tokens"), fact("memory", unit="GiB", maximum=100),
    fact("share"), fact("silent", ask="always"), fact("private", question="Really?", ask="never"),
    fact("computed", computed_by="sizing"), fact("candidate_kw", unit="kW", scope="candidate"),
    choice("workload", "offline", "server", "interactive"), choice("cooling", "air", "liquid"), flag("spare"), fact("note", "text"),
    fact("chip", "entry", entry_kind="accelerators"),
)  # fmt: skip


def found(*entries: Entry) -> list[RuleProblem]:
    return list(check_types(base(accelerator("h100"), *FACTS, *entries)))


def of_condition(atom: dict[str, Any]) -> list[RuleProblem]:
    return found(rule("r", atom, {"warn": "answer"}))


@pytest.mark.parametrize(
    "atom",
    [
        {"fact": "tpot_ms", "below": 15}, {"fact": "tpot_ms", "below": "15 ms"}, {"fact": "tpot_ms", "below": 0.1}, {"fact": "tpot_ms", "is": 1e6},
        {"fact": "workload", "is": "server"}, {"fact": "workload", "in": ["server", "offline"]}, {"fact": "spare", "is": True},
        {"fact": "workload", "known": True}, {"fact": "spare", "stated": True}, {"fact": "note", "is": "anything"},
        {"fact": "chip", "is": "h100"}, {"fact": "chip", "is": "accelerators/h100"}, {"fact": "share", "above": 1e9},
        {"fact": "rack_kw", "above": {"fact": "candidate_kw"}}, {"fact": "workload", "is": {"fact": "cooling"}},
    ],
)  # fmt: skip
def test_what_is_right_is_not_found(atom: dict[str, Any]) -> None:
    """Values within the range, ends included, known choices, entries by slug or id, facts of one type and unit."""
    assert of_condition(atom) == []


@pytest.mark.parametrize(
    ("written", "unit_of", "fix"),
    [
        # the definitions of the prefixes and units: s, W, MW, TB/s, 8 bit = 1 byte, k = 1024 tokens, GB = 1e9 B
        ("2 s", "tpot_ms", "write 2000 ms"), ("500 us", "tpot_ms", "write 0.5 ms"), ("2 min", "tpot_ms", "write 120000 ms"),
        ("40000 W", "rack_kw", "write 40 kW"), ("1.5 MW", "rack_kw", "write 1500 kW"), ("1.8 TB/s", "link", "write 1800 GB/s"),
        ("400 Gbit/s", "link", "write 50 GB/s"), ("8 k tokens", "context", "write 8192 tokens"), ("80 GB", "memory", "write 74.5058 GiB"),
        ("3 parsecs", "rack_kw", "write 40 kW"), ("3 parsecs", "tpot_ms", "write 0.1 ms"), ("3 parsecs", "memory", "write 1 GiB"),
    ],
)  # fmt: skip
def test_another_unit_is_converted_or_an_example_given(written: str, unit_of: str, fix: str) -> None:
    """A unit that is known converts; for another one the finding shows a value as it would be written."""
    (problem,) = of_condition({"fact": unit_of, "below": written})
    assert (problem.kind, problem.where, problem.fix) == ("wrong-unit", ("when", "below"), fix)
    assert problem.message.endswith(f", not in {written.partition(' ')[2]}")


@pytest.mark.parametrize(
    ("atom", "kind", "where", "message", "fix"),
    [
        ({"fact": "spare", "above": 1}, "wrong-type", ("above",), "'above' orders numbers, but spare is a flag", "use `is` or `in`"),
        ({"fact": "workload", "below": 1}, "wrong-type", ("below",),
         "'below' orders numbers, but workload is one of offline, server, interactive", "use `is` or `in`"),
        ({"fact": "rack_kw", "above": 0.4}, "out-of-range", ("above",), "0.4 kW is outside what rack_kw can be (0.5 to 2000 kW)",
         "write a value 0.5 to 2000 kW; check the unit"),
        ({"fact": "rack_kw", "is": 2001}, "out-of-range", ("is",), "2001 kW is outside what rack_kw can be (0.5 to 2000 kW)",
         "write a value 0.5 to 2000 kW; check the unit"),
        ({"fact": "memory", "is": 101}, "out-of-range", ("is",), "101 GiB is outside what memory can be (up to 100 GiB)",
         "write a value up to 100 GiB; check the unit"),
        ({"fact": "workload", "in": ["server", "offlin"]}, "wrong-type", ("in", 1), "workload is never 'offlin'", "did you mean offline?"),
        ({"fact": "cooling", "is": "zzz"}, "wrong-type", ("is",), "cooling is never 'zzz'", "one of air, liquid"),
        ({"fact": "share", "is": True}, "wrong-type", ("is",), "share is a number, not True", "write a number in its unit"),
        ({"fact": "workload", "is": 3}, "wrong-type", ("is",), "workload is a choice, not 3", "write it as text: '3'"),
        ({"fact": "note", "is": True}, "wrong-type", ("is",), "note is a text, not True", "write it as text: 'true'"),
        ({"fact": "spare", "is": 1}, "wrong-type", ("is",), "spare is yes or no, not 1", "write true or false"),
        ({"fact": "chip", "is": "h10"}, "wrong-type", ("is",), "no entry 'h10', so chip is never that",
         "write the id of an entry in accelerators; nearest: accelerators/h100"),
        ({"fact": "rack_kw", "above": {"fact": "rack"}}, "unknown-fact", ("above", "fact"), "no fact 'rack'", "did you mean rack_kw?"),
        ({"fact": "rack_kw", "above": {"fact": "zzz"}}, "unknown-fact", ("above", "fact"), "no fact 'zzz'",
         "add a fact of this name in facts/"),
        ({"fact": "rack_kw", "above": {"fact": "spare"}}, "wrong-type", ("above",), "'above' needs two numbers, but spare is a flag",
         "name a fact that holds a number"),
        ({"fact": "workload", "above": {"fact": "cooling"}}, "wrong-type", ("above",),
         "'above' needs two numbers, but workload is a choice", "compare it with `is`"),
        ({"fact": "rack_kw", "is": {"fact": "share"}}, "wrong-unit", ("is",), "rack_kw is in kW, share in no unit",
         "compare rack_kw with a fact in kW"),
        ({"fact": "share", "is": {"fact": "rack_kw"}}, "wrong-unit", ("is",), "share is in no unit, rack_kw in kW",
         "compare share with a fact in the same unit"),
        ({"fact": "spare", "is": {"fact": "workload"}}, "wrong-type", ("is",), "spare is a flag, workload a choice",
         "compare spare with another flag"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_with_its_place_and_its_mending(
    atom: dict[str, Any], kind: str, where: tuple[Any, ...], message: str, fix: str
) -> None:
    """One finding for one mistake."""
    (problem,) = of_condition(atom)
    assert (problem.kind, problem.entry_id, problem.where) == (kind, "rules/r", ("when", *where))
    assert (problem.message, problem.fix) == (message, fix)


def test_groups_are_searched_to_the_bottom() -> None:
    """`none` within `any` within `all`, each with its index."""
    wrong = {"fact": "spare", "above": 1}
    fine = {"fact": "spare", "is": True}
    (problem,) = of_condition({"all": [fine, {"any": [fine, {"none": [fine, fine, wrong]}]}]})
    assert problem.where == ("when", "all", 1, "any", 1, "none", 2, "above")


ALWAYS = {"fact": "spare", "known": True}


@pytest.mark.parametrize(
    ("effect", "scope"),
    [
        ({"favour": "node"}, "comparison"), ({"require": "none"}, "comparison"), ({"forbid": "candidate"}, "candidate"),
        ({"forbid": "high"}, "comparison"), ({"forbid": "medium"}, "comparison"), ({"ask": "tpot_ms"}, "requirement"),
        ({"assume": "tpot_ms", "value": 50}, "requirement"), ({"assume": "rack_kw", "value": {"fact": "rack_kw"}}, "requirement"),
        ({"warn": "node"}, "comparison"), ({"warn": "rack"}, "comparison"), ({"warn": "candidate"}, "candidate"),
        ({"warn": "answer"}, "requirement"), ({"warn": "tpot_ms"}, "requirement"),
    ],
)  # fmt: skip
def test_effects_that_do_something_are_not_found(effect: dict[str, Any], scope: str) -> None:
    """Verdicts and confidence in comparisons, exclusion of candidates, questions and assumptions about the requirement."""
    assert found(rule("r", ALWAYS, effect, scope=scope)) == []


@pytest.mark.parametrize(
    ("effect", "scope", "kind", "where", "fix"),
    [
        ({"favour": "node"}, "candidate", "bad-effect", ("favour",), "give the rule `scope: comparison`, and other effects a rule of their own"),
        ({"require": "rack"}, "requirement", "bad-effect", ("require",), "give the rule `scope: comparison`, and other effects a rule of their own"),
        ({"favour": "nodes"}, "comparison", "bad-effect", ("favour",), "give the rule `scope: comparison`, and other effects a rule of their own"),
        ({"forbid": "candidate"}, "comparison", "bad-effect", ("forbid",), "give the rule `scope: candidate`, and other effects a rule of their own"),
        ({"forbid": "high"}, "candidate", "bad-effect", ("forbid",), "give the rule `scope: comparison`"),
        ({"forbid": "low"}, "comparison", "bad-effect", ("forbid",), "give the rule `scope: comparison`"),
        ({"ask": "tpot_ms"}, "comparison", "bad-effect", ("ask",), "questions come before sizing: give the rule `scope: requirement`"),
        ({"ask": "tpot"}, "requirement", "unknown-fact", ("ask",), "did you mean tpot_ms?"),
        ({"ask": "silent"}, "requirement", "bad-effect", ("ask",), "give facts/silent a `question` and `ask: decisive`"),
        ({"ask": "private"}, "requirement", "bad-effect", ("ask",), "give facts/private a `question` and `ask: decisive`"),
        ({"assume": "tpot", "value": 1}, "requirement", "unknown-fact", ("assume",), "did you mean tpot_ms?"),
        ({"assume": "tpot_ms"}, "requirement", "bad-effect", ("assume",), "add `value:`"),
        ({"assume": "tpot_ms", "value": "x"}, "requirement", "wrong-type", ("value",), "write a number in ms"),
        ({"assume": "tpot_ms", "value": {"fact": "rack_kw"}}, "requirement", "wrong-unit", ("value",), "compare tpot_ms with a fact in ms"),
        ({"assume": "candidate_kw", "value": 1}, "requirement", "bad-effect", ("assume",), "give the rule `scope: candidate`"),
        ({"assume": "computed", "value": 1}, "requirement", "bad-effect", ("assume",), "assume one of the facts it is computed from, or let a rule warn"),
        ({"warn": "zzz"}, "comparison", "unknown-fact", ("warn",), "add a fact of this name in facts/"),
        ({"warn": "answer", "text": "at {tpot} a token"}, "comparison", "unknown-fact", ("text",), "did you mean tpot_ms?"),
    ],
)  # fmt: skip
def test_effects_that_do_nothing_are_found(
    effect: dict[str, Any], scope: str, kind: str, where: tuple[str, ...], fix: str
) -> None:
    """The second effect of a rule, so that its index is told."""
    problems = found(rule("r", ALWAYS, {"warn": "answer"}, effect, scope=scope))
    assert [(p.kind, p.where, p.fix) for p in problems] == [(kind, ("then", 1, *where), fix)]


def test_a_reason_may_name_only_facts_that_exist() -> None:
    """Names in braces are filled in when the rule speaks."""
    (problem,) = found(rule("r", ALWAYS, {"warn": "answer"}, reason="because {rack_kw} and {rak_kw}"))
    assert (problem.kind, problem.where, problem.fix) == (
        "unknown-fact",
        ("reason",),
        "did you mean rack_kw?",
    )


@pytest.mark.parametrize(
    ("entry", "kind", "where", "fix"),
    [
        (choice("empty"), "wrong-type", ("type",), "add `choices`"),
        (fact("nameless", "entry"), "wrong-type", ("type",), "add `entry_kind`"),
        (fact("child", derived_from=["rack_kw", "tpot"]), "unknown-fact", ("derived_from", 1), "did you mean tpot_ms?"),
        (fact("small", maximum=5, suggestions=[1, 6]), "out-of-range", ("suggestions", 1), "write a value up to 5; check the unit"),
        (fact("large", minimum=5, assumed={"value": 1, "why": "a guess"}), "out-of-range", ("assumed", "value"), "write a value from 5; check the unit"),
    ],
)  # fmt: skip
def test_a_fact_is_held_against_itself(entry: Entry, kind: str, where: tuple[Any, ...], fix: str) -> None:
    """Choices that are missing, parents that do not exist, suggestions and assumptions out of range."""
    (problem,) = found(entry)
    assert (problem.kind, problem.entry_id, problem.where, problem.fix) == (kind, entry.id, where, fix)
