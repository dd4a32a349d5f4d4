"""Mistakes in rules and facts that are rare: two facts of one name, comparisons of text, assumptions of nothing, endless searches."""

from __future__ import annotations

from typing import Any

import pytest
from rule_base import base, choice, fact, flag, rule

from advisor.reasoning import verify_region
from advisor.reasoning.problem import RuleProblem
from advisor.reasoning.verify import verify_rules
from advisor.records import Entry

FACTS: tuple[Entry, ...] = (
    fact("tpot_ms", unit="ms", minimum=0.1, maximum=1e6, used_by=["sizing"]),
    choice("workload", "offline", "server", used_by=["evidence"]),
    fact("site", "text", used_by=["evidence"]),
    fact("hall", "text", used_by=["evidence"]),
    fact("output_tokens", used_by=["sizing"]),
    flag("spare", used_by=["sizing"]),
)


def problems(*entries: Entry) -> list[RuleProblem]:
    return list(verify_rules(base(*FACTS, *entries)))


def only(*entries: Entry) -> RuleProblem:
    found = problems(*entries)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("atom", "message", "fix"),
    [
        ({"fact": "tpot_ms", "below": {"fact": "workload"}}, "'below' needs two numbers, but workload is a choice", "name a fact that holds a number"),
        ({"fact": "workload", "above": {"fact": "tpot_ms"}}, "'above' needs two numbers, but workload is a choice", "name a fact that holds a number"),
        ({"fact": "site", "at_least": {"fact": "hall"}}, "'at_least' needs two numbers, but site is a text", "compare it with `is`"),
    ],
)  # fmt: skip
def test_only_numbers_have_an_order(atom: dict[str, Any], message: str, fix: str) -> None:
    """Two texts may be equal; none is above the other."""
    found = only(rule("r", atom, {"warn": "answer"}))
    assert (found.kind, found.message, found.fix) == ("wrong-type", message, fix)


def test_an_assumption_of_nothing_is_found() -> None:
    """`assume: output_tokens` without a value would leave the fact as unknown as it was."""
    found = only(rule("r", {"fact": "spare", "is": True}, {"assume": "output_tokens"}))
    assert (found.kind, found.where, found.fix) == ("bad-effect", ("then", 0, "assume"), "add `value:`")


def test_a_stronger_assumption_wins_without_a_contradiction() -> None:
    """Two values for one fact, of different strength: the stronger holds wherever both speak."""
    rules = (
        ("one", {"fact": "workload", "is": "offline"}, 100),
        ("two", {"fact": "spare", "is": True}, 200),
    )

    def found(strength: float) -> list[str]:
        entries = [
            rule(slug, when, {"assume": "output_tokens", "value": value}, strength=strength if slug == "two" else 1.0)
            for slug, when, value in rules
        ]  # fmt: skip
        return [problem.kind for problem in problems(*entries)]

    assert found(2.0) == []
    assert found(1.0) == ["contradiction"]


def test_two_facts_of_one_name_are_found() -> None:
    """Conditions know facts by name, so the second would never be read."""
    twin = fact("spare", "flag", used_by=["sizing"], id="facts/spare-units")
    found = [p for p in problems(twin) if p.kind == "unknown-fact"]
    assert [(p.where, p.fix) for p in found] == [(("name",), "rename one of them")]
    assert "has the name spare too" in found[0].message


@pytest.mark.parametrize(
    ("entry", "message", "fix"),
    [
        (fact("colour", "choice", used_by=["sizing"]), "a choice without choices takes no value", "add `choices`"),
        (fact("place", "entry", used_by=["sizing"]), "an entry fact must say which kind", "add `entry_kind`"),
    ],
)  # fmt: skip
def test_a_fact_must_say_what_it_takes(entry: Entry, message: str, fix: str) -> None:
    """A list of choices, or the kind of entry."""
    found = only(entry)
    assert (found.kind, found.where, found.message, found.fix) == ("wrong-type", ("type",), message, fix)


@pytest.mark.parametrize(
    ("one", "two", "example"),
    [
        ({"fact": "site", "is": "Ulm"}, {"fact": "site", "known": True}, "site = Ulm"),
        ({"fact": "tpot_ms", "stated": True}, {"fact": "spare", "is": True}, "spare = yes, tpot_ms stated"),
        ({"fact": "tpot_ms", "stated": False}, {"fact": "spare", "is": True}, "spare = yes, tpot_ms not stated"),
    ],
)  # fmt: skip
def test_a_contradiction_is_shown_at_a_point_of_any_kind(
    one: dict[str, Any], two: dict[str, Any], example: str
) -> None:
    """Texts by the words that the rules compare with, and whether a value was stated."""
    found = problems(
        rule("one", one, {"require": "node"}), rule("two", two, {"require": "rack"}),
        rule("rest", {"fact": "spare", "known": True}, {"favour": "either"}, precedence=-1),
        rule("rest-unknown", {"fact": "spare", "known": False}, {"favour": "either"}, precedence=-1),
    )  # fmt: skip
    assert [(p.kind, p.example) for p in found] == [("contradiction", example)]


def test_any_text_that_no_rule_names_has_a_region_too() -> None:
    """Ulm and Bonn are spoken for; a third place, and none at all, are not."""
    found = problems(
        rule("ulm", {"fact": "site", "is": "Ulm"}, {"favour": "node"}),
        rule("bonn", {"fact": "site", "is": "Bonn"}, {"favour": "rack"}),
        rule("none", {"fact": "site", "known": False}, {"favour": "either"}),
    )
    assert [(p.kind, p.example) for p in found] == [("gap", "site = text 1")]


def test_a_search_without_end_is_given_up_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be decided is a finding of its own, never silence."""
    monkeypatch.setattr(verify_region, "LIMIT", 1)
    found = problems(
        rule("one", {"all": [{"fact": "tpot_ms", "below": 20}, {"fact": "spare", "is": True}]}, {"favour": "rack"}),
        rule("two", {"fact": "tpot_ms", "above": 20}, {"favour": "node"}),
    )  # fmt: skip
    gaps = [p for p in found if p.kind == "gap"]
    assert len(gaps) == 1
    assert "could not be proved within" in gaps[0].message
    assert gaps[0].fix.startswith("add a rule of low precedence for all that is left")
