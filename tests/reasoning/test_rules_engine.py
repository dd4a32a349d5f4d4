"""Forward chaining: what fires, in which order, and what wins."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rule_base import base, choice, fact, flag, rule, said
from test_rules_conditions import TREES, VALUES

from advisor.reasoning.engine import decide, run_rules, scope_of
from advisor.records import FactValue


def test_assumptions_chain_whatever_the_order_of_their_names() -> None:
    """A rule that reads an assumed fact sees it, even when its own id comes first."""
    kb = base(
        choice("workload", "server", "interactive", assumed={"value": "server"}),
        fact("tpot_ms", unit="ms"),
        choice("tpot_class", "open", "relaxed", derived_from=["tpot_ms"]),
        rule(
            "a-class",
            {"fact": "tpot_ms", "at_least": 80},
            {"assume": "tpot_class", "value": "relaxed"},
            scope="requirement",
        ),
        rule(
            "b-limit",
            {"fact": "workload", "is": "server"},
            {"assume": "tpot_ms", "value": 100},
            scope="requirement",
        ),
    )
    facts = run_rules(kb, {}, scope="requirement").facts
    assert facts["workload"] == FactValue(value="server", origin="assumed", because="facts/workload")
    assert facts["tpot_ms"] == FactValue(
        value=100, origin="assumed", because="rules/b-limit", text="because of b-limit"
    )
    assert (facts["tpot_class"].value, facts["tpot_class"].origin) == ("relaxed", "derived")


def test_what_the_user_said_is_never_replaced() -> None:
    """A rule may fill a gap, not correct its reader."""
    kb = base(
        choice("kv_precision", "bf16", "fp8", assumed={"value": "bf16"}),
        choice("weight_precision", "fp4"),
        rule(
            "kv",
            {"fact": "weight_precision", "is": "fp4"},
            {"assume": "kv_precision", "value": "fp8"},
            scope="requirement",
        ),
    )
    run = run_rules(kb, said(weight_precision="fp4", kv_precision="bf16"), scope="requirement")
    assert run.facts["kv_precision"] == FactValue(value="bf16", origin="said")
    assert run.effects == ()
    assert (
        run_rules(kb, said(weight_precision="fp4"), scope="requirement").facts["kv_precision"].value == "fp8"
    )


def test_of_two_assumptions_the_higher_precedence_wins_then_the_stronger() -> None:
    """Conflicts end by what the rules state, not by the order of files."""
    kb = base(
        fact("ttft_ms"),
        flag("x"),
        rule(
            "a", {"fact": "x", "is": True}, {"assume": "ttft_ms", "value": 1}, scope="requirement", strength=1
        ),
        rule(
            "b", {"fact": "x", "is": True}, {"assume": "ttft_ms", "value": 2}, scope="requirement", strength=3
        ),
        rule(
            "c",
            {"fact": "x", "is": False},
            {"assume": "ttft_ms", "value": 3},
            scope="requirement",
            precedence=9,
        ),
    )
    assert run_rules(kb, said(x=True), scope="requirement").facts["ttft_ms"].value == 2
    assert run_rules(kb, said(x=False), scope="requirement").facts["ttft_ms"].value == 3


def test_a_value_can_be_taken_from_another_fact() -> None:
    """Weights are served as released unless somebody asks otherwise."""
    kb = base(
        choice("weight_precision", "fp8", "fp4"),
        choice("model_native_precision", "fp8", "fp4"),
        rule(
            "native",
            {"fact": "model_native_precision", "known": True},
            {"assume": "weight_precision", "value": {"fact": "model_native_precision"}},
            scope="requirement",
        ),
    )
    assert (
        run_rules(kb, said(model_native_precision="fp4"), scope="requirement").facts["weight_precision"].value
        == "fp4"
    )


def test_an_assumption_without_a_value_to_take_assumes_nothing() -> None:
    """A copied fact that nobody knows leaves its copy unknown, and the run goes on."""
    kb = base(
        flag("x"),
        fact("copy"),
        fact("source"),
        rule(
            "r",
            {"fact": "x", "is": True},
            {"assume": "copy", "value": {"fact": "source"}},
            {"warn": "x"},
            scope="requirement",
        ),
    )
    run = run_rules(kb, said(x=True), scope="requirement")
    assert "copy" not in run.facts
    assert [fired.effect.kind for fired in run.effects] == ["warn"]


def test_a_run_on_its_own_result_changes_nothing_and_follows_a_changed_input() -> None:
    """Assumed and derived values are settled anew, so a what-if can start from an answered requirement."""
    kb = base(
        choice("workload", "server", "interactive"),
        fact("tpot_ms"),
        rule(
            "i",
            {"fact": "workload", "is": "interactive"},
            {"assume": "tpot_ms", "value": 40},
            scope="requirement",
        ),
        rule(
            "s",
            {"fact": "workload", "is": "server"},
            {"assume": "tpot_ms", "value": 100},
            scope="requirement",
        ),
    )
    first = run_rules(kb, said(workload="server"), scope="requirement").facts
    assert run_rules(kb, first, scope="requirement").facts == first
    changed = first | said(workload="interactive")
    assert run_rules(kb, changed, scope="requirement").facts["tpot_ms"].value == 40
    del changed["workload"]
    assert "tpot_ms" not in run_rules(kb, changed, scope="requirement").facts


def test_a_limit_that_was_stated_is_told_from_one_that_was_assumed() -> None:
    """Workload and limit each settle the other: the stated one decides, and neither feeds on its own assumption."""
    kb = base(
        choice("workload", "server", "interactive", assumed={"value": "server"}),
        fact("tpot_ms"),
        rule(
            "from-limit",
            {"all": [{"fact": "tpot_ms", "stated": True}, {"fact": "tpot_ms", "at_most": 50}]},
            {"assume": "workload", "value": "interactive"},
            scope="requirement",
        ),
        rule(
            "i",
            {"fact": "workload", "is": "interactive"},
            {"assume": "tpot_ms", "value": 40},
            {"ask": "tpot_ms"},
            scope="requirement",
        ),
        rule(
            "s", {"fact": "workload", "is": "server"}, {"assume": "tpot_ms", "value": 20}, scope="requirement"
        ),
    )
    stated = run_rules(kb, said(tpot_ms=15), scope="requirement")
    assert stated.facts["workload"].value == "interactive"
    assert [fired.effect.kind for fired in stated.effects] == ["assume"]
    assumed = run_rules(kb, said(workload="interactive"), scope="requirement")
    assert assumed.facts["tpot_ms"].value == 40
    assert [fired.effect.kind for fired in assumed.effects] == ["assume", "ask"]
    nothing = run_rules(kb, {}, scope="requirement").facts
    assert (nothing["workload"].value, nothing["tpot_ms"].value) == ("server", 20)
    assert run_rules(kb, nothing, scope="requirement").facts == nothing


def test_a_candidate_is_forbidden_by_its_kind() -> None:
    """`forbid: rack` speaks to racks only; `forbid: candidate` to the one at hand."""
    kb = base(
        flag("narrow_doors"),
        choice("candidate_kind", "node", "rack", scope="candidate"),
        rule("doors", {"fact": "narrow_doors", "is": True}, {"forbid": "rack"}, scope="candidate"),
    )
    rack = run_rules(
        kb, said(narrow_doors=True, candidate_kind="rack"), scope="candidate", subject="systems/r"
    )
    assert [(fired.rule.id, fired.effect.target, fired.subject) for fired in rack.effects] == [
        ("rules/doors", "rack", "systems/r")
    ]
    assert run_rules(kb, said(narrow_doors=True, candidate_kind="node"), scope="candidate").effects == ()


def test_texts_name_facts_in_their_units() -> None:
    """A sentence with braces shows the value a reader would check."""
    kb = base(
        fact("rack_kw", unit="kW"),
        fact("candidate_power_kw", unit="kW", scope="candidate"),
        rule(
            "power",
            {"fact": "candidate_power_kw", "above": {"fact": "rack_kw"}},
            {"forbid": "candidate"},
            scope="candidate",
            reason="It draws {candidate_power_kw}; the position supplies {rack_kw}.",
        ),
    )
    run = run_rules(kb, said(rack_kw=40.0, candidate_power_kw=132.0), scope="candidate")
    assert run.effects[0].effect.text == "It draws 132 kW; the position supplies 40 kW."


def test_the_trace_holds_every_rule_of_the_scope_fired_or_not() -> None:
    """An unfired rule shows what it read, so `why not` can be answered."""
    kb = base(
        flag("x"),
        rule("yes", {"fact": "x", "is": True}, {"favour": "node"}, strength=2),
        rule("no", {"all": [{"fact": "x", "is": False}]}, {"favour": "rack"}),
    )
    steps = {step.rule: step for step in run_rules(kb, said(x=True), scope="comparison").trace}
    assert (steps["rules/yes"].fired, steps["rules/yes"].concluded) == (True, ("favour node (+2)",))
    assert (steps["rules/no"].fired, steps["rules/no"].reads, steps["rules/no"].concluded) == (
        False,
        {"x": True},
        (),
    )


def test_the_highest_precedence_decides_and_strengths_add_up_within_it() -> None:
    """A cost outcome outranks any number of preferences; preferences are weighed against each other; a balance is `either`."""
    entries = [
        flag("cost"),
        flag("one"),
        flag("two"),
        flag("three"),
        rule("cost", {"fact": "cost", "is": True}, {"favour": "rack"}, precedence=80),
        rule("one", {"fact": "one", "is": True}, {"favour": "node"}, strength=1),
        rule("two", {"fact": "two", "is": True}, {"favour": "node"}, strength=1),
        rule("three", {"fact": "three", "is": True}, {"favour": "rack"}, strength=2),
    ]
    kb = base(*entries)

    def verdict(**facts: Any) -> str | None:
        return decide(run_rules(kb, said(**facts), scope="comparison").effects).verdict

    assert verdict(cost=True, one=True, two=True) == "rack"
    assert verdict(one=True, three=True) == "rack"
    assert verdict(one=True, two=True, three=True) == "either"
    assert verdict(one=True) == "node"
    assert verdict() is None


def test_what_must_be_is_not_outweighed_by_what_would_be_nice() -> None:
    """A `require` outranks favours of any precedence; of two, the higher precedence counts."""
    kb = base(
        flag("x"),
        flag("y"),
        rule("must", {"fact": "x", "is": True}, {"require": "node"}),
        rule("nice", {"fact": "x", "is": True}, {"favour": "rack"}, strength=5, precedence=50),
        rule("only", {"fact": "y", "is": True}, {"require": "rack"}, precedence=100),
    )
    decision = decide(run_rules(kb, said(x=True), scope="comparison").effects)
    assert decision.verdict == "node"
    assert [fired.rule.id for fired in decision.outranked] == ["rules/nice"]
    assert decide(run_rules(kb, said(x=True, y=True), scope="comparison").effects).verdict == "rack"


def test_a_rule_without_a_scope_runs_where_its_effects_act() -> None:
    """An author writes what follows, not where the engine must look."""
    kb = base(
        flag("x"),
        flag("c", scope="candidate"),
        flag("d", scope="comparison"),
        rule("excludes", {"fact": "x", "is": True}, {"forbid": "rack"}),
        rule("concludes", {"fact": "x", "is": True}, {"favour": "rack"}),
        rule("caps", {"fact": "x", "is": True}, {"forbid": "high"}),
        rule("assumes", {"fact": "x", "is": True}, {"assume": "x", "value": True}),
        rule("warns-early", {"fact": "x", "is": True}, {"warn": "x"}),
        rule("warns-of-one", {"fact": "c", "is": True}, {"warn": "candidate"}),
        rule("warns-of-both", {"fact": "d", "is": True}, {"warn": "answer"}),
    )
    assert {entry.slug: scope_of(kb, entry) for entry in kb.rules.values()} == {
        "excludes": "candidate",
        "concludes": "comparison",
        "caps": "comparison",
        "assumes": "requirement",
        "warns-early": "requirement",
        "warns-of-one": "candidate",
        "warns-of-both": "comparison",
    }


RULES = st.lists(
    st.tuples(TREES, st.sampled_from(["node", "rack", "either"]), st.integers(1, 3)), max_size=12
)


@given(rules=RULES, values=VALUES, order=st.randoms())
def test_the_index_finds_exactly_the_rules_that_hold(
    rules: list[Any], values: dict[str, Any], order: Any
) -> None:
    """No rule is skipped for speed, and the order of facts and of files changes nothing."""
    entries = [rule(f"r{i}", tree, {"favour": to}, strength=s) for i, (tree, to, s) in enumerate(rules)]
    facts = said(**values)
    run = run_rules(base(*entries), facts, scope="comparison")
    from advisor.reasoning.conditions import holds

    assert run.fired == {entry.id for entry in entries if holds(entry.when, facts)}  # type: ignore[attr-defined]
    items = list(facts.items())
    order.shuffle(items)
    order.shuffle(entries)
    again = run_rules(base(*entries), dict(items), scope="comparison")
    assert [fired.rule.id for fired in again.effects] == [fired.rule.id for fired in run.effects]
    assert decide(again.effects).verdict == decide(run.effects).verdict
