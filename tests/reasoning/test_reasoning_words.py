"""Conditions, effects, values and answers in words, as the person who wrote or reads them would put it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hardware_base import accelerator, rate, sized, system
from rule_base import base, choice, fact, flag, rule
from test_rules_conditions import condition

from advisor.knowledge.build import build_record
from advisor.reasoning.comparison import compare_best
from advisor.reasoning.engine import Decision, FiredEffect
from advisor.reasoning.summary import headline, summary
from advisor.reasoning.trace import (
    condition_in_words,
    describe_condition,
    describe_effect,
    fill_text,
    named_facts,
    show_fact,
    show_value,
)
from advisor.records import Effect, Estimate, Exclusion, FactRef, FactValue, Layout, Verdict

KB = base(
    accelerator("h"), accelerator("hr"), accelerator("b", family="two"),
    fact("tpot_ms", unit="ms"), fact("context", "integer", unit="tokens"), fact("share", unit="fraction"), fact("premium", unit="ratio"),
    fact("growth", unit="percent"), fact("users", unit="sequences"), fact("power", unit="kW"), fact("bare"), flag("spare"), fact("s", unit="s"),
    fact("chip", "entry", entry_kind="accelerators"), choice("cooling", "air", "liquid"),
    build_record("facts", {"id": "facts/load", "title": "Kind of load", "name": "load", "type": "choice",
                           "choices": [{"value": "offline", "label": "Offline work"}, {"value": "server"}]}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("tpot_ms", 15, "15 ms"), ("tpot_ms", 1500, "1,500 ms"), ("context", 131072, "128k tokens"), ("share", 0.756, "76 %"), ("growth", 20, "20 %"),
        ("users", 1, "1 sequence"), ("users", 2, "2 sequences"), ("power", 1, "1 kW"), ("s", 1, "1 s"), ("bare", 3, "3"), ("spare", True, "yes"),
        ("spare", False, "no"), ("load", "offline", "Offline work"), ("load", "server", "server"), ("load", "other", "other"),
        ("chip", "accelerators/h", "H"), ("chip", "hr", "HR"), ("chip", "accelerators/none", "accelerators/none"), ("cooling", "air", "air"),
        ("premium", 1.2, "1.20×"), ("unheard", 3, "3"), ("unheard", "x", "x"), ("tpot_ms", float("nan"), "a range"),
    ],
)  # fmt: skip
def test_values_carry_their_unit(name: str, value: Any, shown: str) -> None:
    """Tokens in thousands, fractions in per cent, one of many in the singular, labels and titles for words."""
    assert show_value(KB, name, value) == shown
    assert show_fact(KB, name, FactValue(value=value, origin="said")) == shown


def test_ranges_and_gaps_of_facts() -> None:
    """Both ends of a range, one end alone, and what is not known."""
    assert (
        show_fact(KB, "premium", FactValue(value=None, low=0.86, high=1.22, origin="assumed"))
        == "0.86× to 1.22×"
    )
    assert show_fact(KB, "tpot_ms", FactValue(value=None, low=5, origin="assumed")) == "5 ms"
    assert show_fact(KB, "tpot_ms", FactValue(value=None, high=7, origin="assumed")) == "7 ms"
    assert show_fact(KB, "tpot_ms", FactValue(value=None, origin="assumed")) == "not known"
    assert show_fact(KB, "tpot_ms", None) == "not known"
    assert show_fact(KB, "bare", FactValue(value=0, origin="said")) == "0"


@pytest.mark.parametrize(
    ("data", "written", "read"),
    [
        ({"fact": "tpot_ms", "at_most": 15}, "tpot_ms at most 15", "tpot_ms at most 15 ms"),
        ({"fact": "tpot_ms", "at_least": "15 ms"}, "tpot_ms at least 15 ms", "tpot_ms at least 15 ms"),
        ({"fact": "tpot_ms", "above": 2.5}, "tpot_ms above 2.5", "tpot_ms more than 2.50 ms"),
        ({"fact": "tpot_ms", "below": {"fact": "s"}}, "tpot_ms below s", "tpot_ms less than 's'"),
        ({"fact": "tpot_ms", "below": {"fact": "zzz"}}, "tpot_ms below zzz", "tpot_ms less than 'zzz'"),
        ({"fact": "load", "is": "offline"}, "load is offline", "Kind of load is Offline work"),
        ({"fact": "load", "in": ["offline", "server"]}, "load in offline, server", "Kind of load is Offline work or server"),
        ({"fact": "spare", "is": True}, "spare is yes", "spare: yes"),
        ({"fact": "spare", "is": False}, "spare is no", "spare: no"),
        ({"fact": "spare", "known": True}, "spare known", "spare known"),
        ({"fact": "spare", "known": False}, "spare not known", "spare not known"),
        ({"fact": "spare", "stated": False}, "spare not stated", "spare not stated"),
        ({"fact": "zzz", "is": 3}, "zzz is 3", "zzz is 3"),
        ({"all": [{"fact": "spare", "is": True}, {"fact": "bare", "is": 1}]}, "(spare is yes and bare is 1)", "(spare: yes and bare is 1)"),
        ({"any": [{"fact": "spare", "is": True}, {"fact": "bare", "is": 1}]}, "(spare is yes or bare is 1)", "(spare: yes or bare is 1)"),
        ({"all": [{"fact": "bare", "is": 1}]}, "bare is 1", "bare is 1"),
        ({"none": [{"fact": "bare", "is": 1}]}, "not bare is 1", "not bare is 1"),
        ({"none": [{"fact": "spare", "is": True}]}, "not spare is yes", "spare: no"),
        ({"none": [{"fact": "spare", "is": True}, {"fact": "bare", "is": 1}]}, "neither spare is yes nor bare is 1", "neither spare: yes nor bare is 1"),
    ],
)  # fmt: skip
def test_conditions_are_read_as_written_and_as_understood(
    data: dict[str, Any], written: str, read: str
) -> None:
    """Names and bounds for the author; titles, units and labels for the reader."""
    assert describe_condition(condition(data)) == written
    assert condition_in_words(KB, condition(data)) == read


def test_about_one_fact_its_title_is_left_out() -> None:
    """`at most 15 ms`, also inside groups; other facts keep theirs."""
    assert (
        condition_in_words(KB, condition({"fact": "tpot_ms", "at_most": 15}), about="tpot_ms")
        == "at most 15 ms"
    )
    both = condition({"all": [{"fact": "tpot_ms", "above": 5}, {"fact": "bare", "is": 1}]})
    assert condition_in_words(KB, both, about="tpot_ms") == "(more than 5 ms and bare is 1)"
    denied = condition({"none": [{"fact": "spare", "is": False}]})
    assert condition_in_words(KB, denied, about="spare") == "yes"


@pytest.mark.parametrize(
    ("effect", "strength", "words"),
    [
        (Effect(kind="favour", target="node"), 2.0, "favour node (+2)"), (Effect(kind="favour", target="rack"), 1.0, "favour rack (+1)"),
        (Effect(kind="assume", target="kv_precision", value="fp8"), 1.0, "assume kv_precision = fp8"),
        (Effect(kind="assume", target="a", value=FactRef(fact="b")), 1.0, "assume a = the value of b"),
        (Effect(kind="forbid", target="candidate"), 1.0, "forbid candidate"), (Effect(kind="require", target="node"), 3.0, "require node"),
    ],
)  # fmt: skip
def test_effects_in_a_few_words(effect: Effect, strength: float, words: str) -> None:
    """Only what is favoured has a weight."""
    assert describe_effect(effect, strength) == words


def test_names_in_braces_are_filled_in() -> None:
    """With the value as people read it, or that it is not known."""
    text = "at {tpot_ms} with {users}"
    assert named_facts(text) == ("tpot_ms", "users")
    assert fill_text(KB, text, {"tpot_ms": FactValue(value=15, origin="said")}) == "at 15 ms with not known"
    assert fill_text(KB, "nothing to fill", {}) == "nothing to fill"


NODE, RACK = system("box", "h", 8), system("cabinet", "hr", 72)
SYSTEMS = base(accelerator("h"), accelerator("hr"), accelerator("b", family="two"), NODE, RACK)


def compared(
    *, demand: float | None = None, node: Estimate | None = None, rack: Estimate | None = None, tp: int = 8
) -> Any:
    sides = [
        sized(NODE, node or rate(100), demand=demand, tp=tp),
        sized(RACK, rack or rate(150), demand=demand, tp=tp),
    ]
    return compare_best(SYSTEMS, {}, sides)


@pytest.mark.parametrize(
    ("verdict", "demand", "line"),
    [
        ("node", 3200.0, "4 replicas × 8 GPUs on 4 nodes (box): 32 installed, 0 idle"),
        ("node", 700.0, "1 replica × 8 GPUs on 1 node (box): 8 installed, 0 idle"),
        ("rack", 12_000.0, "10 replicas × 8 GPUs on 2 racks (cabinet): 144 installed, 64 idle"),
        ("none", 700.0, "No candidate meets this requirement"),
        ("either", 700.0, "1 replica × 8 GPUs on 1 node (box): 8 installed, 0 idle or 1 replica × 8 GPUs on 1 rack (cabinet): 72 installed, 64 idle"),
        ("node", None, "1 replica × 8 GPUs on 1 node (box): 8 installed, 0 idle, one full unit since no load was stated"),
    ],
)  # fmt: skip
def test_the_answer_in_one_line(verdict: Verdict, demand: float | None, line: str) -> None:
    """Replicas, units, what is installed and idle; singular where there is one."""
    assert headline(verdict, compared(demand=demand)) == line


def test_several_units_without_a_load_are_those_that_were_named() -> None:
    """Two nodes without a load: the accelerators were counted by the user. One GPU is no `GPUs`."""
    found = compared(tp=1)
    assert found.node is not None
    fleet = replace(found.node.candidate.fleet, systems=2)
    side = replace(found.node, candidate=replace(found.node.candidate, fleet=fleet))
    line = headline("node", replace(found, node=side))
    assert line.endswith("as many full units as the accelerators you named; no load was stated")
    assert "1 replica × 1 GPU on 2 nodes" in line


def test_without_a_fleet_only_the_verdict_is_left() -> None:
    """A side that was not sized has nothing to say."""
    found = compared()
    assert headline("rack", replace(found, rack=None)) == "Verdict: rack"
    bare = replace(found.node, candidate=replace(found.node.candidate, fleet=None))
    assert headline("node", replace(found, node=bare)) == "Verdict: node"


def told(found: Any, verdict: Verdict = "node") -> str:
    sides = [side for side in (found.node, found.rack) if side]
    return summary(verdict, Decision(verdict=verdict, decided_by=()), found, sides)


def test_the_paragraph_names_rates_ratio_and_cost() -> None:
    """150 over 100 with an equal price is 0.67 of the cost; the ground of each rate is named."""
    text = told(compared())
    assert text.startswith(
        "The node (box) 100 tokens/s per accelerator, audited and the rack (cabinet) 150 tokens/s per accelerator, audited."
    )
    assert "Per accelerator the rack gives 1.50× of the node" in text
    assert "the rack fleet costs 0.67× the node fleet." in text
    assert "tie" not in text
    assert "which is a tie" in told(compared(rack=rate(100)))


def test_the_cost_is_said_at_the_rates_and_with_the_doubt_about_them() -> None:
    """150 over 100 known within a factor of 2 each way: 0.67, and 0.33 to 1.33; whose prices they are is said."""
    doubted = compared(node=rate(100, 50, 200, basis="calibrated"))
    assert (
        "At these rates and over the range of prices seen the rack fleet costs 0.67× the node fleet, with the doubt about the "
        "rates 0.33× to 1.33×, which is a tie." in told(doubted)
    )
    own = replace(doubted, comparison=replace(doubted.comparison, prices_said=True))
    assert "over your prices the rack fleet costs 0.67×" in told(own)


def test_the_paragraph_says_what_the_ratio_is_worth() -> None:
    """Of two modelled rates, of two generations, of audited pairs without a slice, and split where there is one."""
    modelled = compared(rack=rate(150, basis="calibrated"))
    assert "a ratio of the two rates and not of a comparable pair" in told(modelled)
    assert "which are of different generations" in told(replace(modelled, one_generation=False))
    audited = compared()
    assert "no slice was measured" in told(audited)
    split = replace(audited.comparison, silicon_effect=rate(1.1), scale_effect=rate(1.36))
    assert "the silicon gives 1.10× (node to slice), the scale 1.36× (slice to rack)" in told(
        replace(audited, comparison=split)
    )


def test_confounders_are_named_by_their_kind_and_effect() -> None:
    """Each kind once, of an audited ratio only."""
    found = compared()
    named = ("submitter: A against B", "scale effect: software: x against y", "submitter: C against D")
    confounded = replace(found, comparison=replace(found.comparison, confounders=named))
    assert "The ratio is confounded by submitter, software (scale effect)." in told(confounded)
    ratio = replace(confounded.comparison.rack_over_node, basis="calibrated")
    modelled = replace(confounded, comparison=replace(confounded.comparison, rack_over_node=ratio))
    assert "confounded" not in told(modelled)
    assert "confounded" not in told(found)


def test_a_group_wider_than_a_node_is_explained() -> None:
    """Sixteen on the rack are wider than the node's eight; eight are not."""
    found = compared()

    def wide(width: int) -> str:
        candidate = replace(found.rack.candidate, layout=Layout(tp=width))
        return told(replace(found, rack=replace(found.rack, candidate=candidate)))

    assert "On the rack one replica spans 16 GPUs, a group wider than the 8 of a node" in wide(16)
    assert "wider than" not in wide(8)


def test_a_lone_side_is_told_alone() -> None:
    """Nothing is compared with nothing."""
    found = compare_best(SYSTEMS, {}, [sized(NODE, rate(100))])
    assert told(found) == "The node (box) 100 tokens/s per accelerator, audited."
    assert "on the" not in summary(
        "none", Decision(verdict="none", decided_by=()), compare_best(SYSTEMS, {}, []), []
    )


def test_where_nothing_serves_the_nearest_points_are_named() -> None:
    """The first reason of each excluded system with what would pass, each reason once, four at most; guesses come last."""
    out = sized(NODE, rate(100), feasible=False)
    reasons = (
        Exclusion(constraint="rules/a", text="Too hot.", nearest="liquid cooling"),
        Exclusion(constraint="rules/b", text="Too late."),
    )
    first = replace(out, candidate=replace(out.candidate, exclusions=reasons))
    second = replace(out, candidate=replace(out.candidate, title="other", exclusions=reasons[1:]))
    nothing = compare_best(SYSTEMS, {}, [])
    text = summary("none", Decision(verdict="none", decided_by=()), nothing, [first, second])
    assert text == "box: Too hot (would pass: liquid cooling). other: Too late."
    unknown = replace(second, facts={"candidate_measured": FactValue(value=False, origin="computed")})
    told_last = replace(unknown, candidate=replace(unknown.candidate, title="unknown", exclusions=(Exclusion(constraint="rules/c", text="No result"),)))  # fmt: skip
    text = summary("none", Decision(verdict="none", decided_by=()), nothing, [told_last, second, first])
    assert text == "box: Too hot (would pass: liquid cooling). other: Too late. unknown: No result."
    many = summary("none", Decision(verdict="none", decided_by=()), nothing, [first] * 6)
    assert many == "box; box; box and 3 more: Too hot (would pass: liquid cooling)."
    apart = [
        replace(first, candidate=replace(out.candidate, exclusions=(Exclusion(constraint="rules/d", text=f"Reason {i}"),)))
        for i in range(6)
    ]  # fmt: skip
    assert summary("none", Decision(verdict="none", decided_by=()), nothing, apart).count("Reason") == 4
    assert summary("node", Decision(verdict="node", decided_by=()), nothing, [first]) == ""


def test_what_decided_is_said_in_the_rules_own_words() -> None:
    """The texts of the deciding effects, three at most, each a sentence."""
    spoken = [
        rule(f"r{n}", {"fact": "spare", "known": True}, {"favour": "node", "text": f"reason {n}."})
        for n in range(5)
    ]
    fired = tuple(FiredEffect(rule=each, effect=each.then[0], subject="") for each in spoken)  # type: ignore[attr-defined]
    found = compare_best(SYSTEMS, {}, [sized(NODE, rate(100))])
    text = summary("node", Decision(verdict="node", decided_by=fired), found, [found.node])  # type: ignore[list-item]
    assert text.endswith("audited. reason 0. reason 1. reason 2.")
