"""What a condition means."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_base import said

from advisor.knowledge.build import condition_data
from advisor.reasoning.conditions import holds
from advisor.records import Condition, FactValue


def condition(data: dict[str, Any]) -> Condition:
    return msgspec.convert(condition_data(data), Condition)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"fact": "tpot_ms", "below": 15}, False),
        ({"fact": "tpot_ms", "at_most": 15}, True),
        ({"fact": "tpot_ms", "above": 15}, False),
        ({"fact": "tpot_ms", "at_least": 15}, True),
        ({"fact": "tpot_ms", "at_most": "15 ms"}, True),
        ({"fact": "tpot_ms", "is": 15}, True),
        ({"fact": "workload", "is": "offline"}, True),
        ({"fact": "workload", "in": ["server", "offline"]}, True),
        ({"fact": "workload", "in": ["server", "interactive"]}, False),
        ({"fact": "workload", "known": True}, True),
        ({"fact": "cooling", "known": True}, False),
        ({"fact": "cooling", "known": False}, True),
        ({"fact": "candidate_power_kw", "above": {"fact": "rack_kw"}}, True),
        ({"fact": "rack_kw", "at_least": {"fact": "candidate_power_kw"}}, False),
        ({"fact": "vendor", "is": {"fact": "candidate_vendor"}}, False),
        ({"fact": "spare", "is": False}, True),
        ({"all": [{"fact": "workload", "is": "offline"}, {"fact": "tpot_ms", "below": 20}]}, True),
        ({"any": [{"fact": "workload", "is": "server"}, {"fact": "tpot_ms", "below": 20}]}, True),
        ({"none": [{"fact": "workload", "is": "server"}, {"fact": "tpot_ms", "above": 20}]}, True),
        ({"none": [{"fact": "workload", "is": "server"}, {"fact": "tpot_ms", "below": 20}]}, False),
    ],
)
def test_each_comparison_and_group_means_what_its_name_says(data: dict[str, Any], expected: bool) -> None:
    """Strict and inclusive orderings differ at the boundary; groups combine; facts compare with facts."""
    facts = said(
        workload="offline",
        tpot_ms=15,
        candidate_power_kw=132.0,
        rack_kw=40.0,
        vendor="amd",
        candidate_vendor="nvidia",
        spare=False,
    )
    assert holds(condition(data), facts) is expected


@pytest.mark.parametrize(
    "comparison", [{"is": 1}, {"below": 5}, {"at_least": 0}, {"in": [1, 2]}, {"is": "x"}]
)
def test_a_fact_without_a_value_satisfies_no_comparison(comparison: dict[str, Any]) -> None:
    """What nobody knows is neither above nor below anything, so `none` of it holds."""
    atom = {"fact": "ttft_ms", **comparison}
    assert not holds(condition(atom), {})
    assert not holds(condition(atom), {"ttft_ms": FactValue(value=None, origin="said")})
    assert holds(condition({"none": [atom]}), {})


def test_a_range_is_known_but_holds_no_comparison() -> None:
    """The rack premium is known as 0.86 to 1.22: no single number may stand for it."""
    facts = {"rack_price_premium": FactValue(value=None, low=0.86, high=1.22, origin="assumed")}
    assert holds(condition({"fact": "rack_price_premium", "known": True}), facts)
    assert not holds(condition({"fact": "rack_price_premium", "above": 0.5}), facts)
    assert not holds(condition({"fact": "rack_price_premium", "below": 9}), facts)


def test_flags_and_numbers_do_not_mix() -> None:
    """`true` is not 1 in a rule, although Python thinks so."""
    assert not holds(condition({"fact": "spare", "is": 1}), said(spare=True))
    assert not holds(condition({"fact": "concurrency", "is": True}), said(concurrency=1))
    assert not holds(condition({"fact": "spare", "above": 0}), said(spare=True))


def test_an_entry_is_the_same_by_id_and_by_slug() -> None:
    """A rule that names `models/deepseek-r1` or `deepseek-r1` holds for either spelling of the value."""
    for written in ("models/deepseek-r1", "deepseek-r1"):
        atom = condition({"fact": "model", "is": written})
        assert holds(atom, said(model="models/deepseek-r1"))
        assert holds(atom, said(model="deepseek-r1"))
        assert not holds(atom, said(model="models/deepseek-r1-distill"))
    same = condition({"fact": "model", "is": {"fact": "other"}})
    assert holds(same, said(model="models/deepseek-r1", other="deepseek-r1"))
    assert not holds(condition({"fact": "vendor", "is": "b"}), said(vendor="a/b"))


ATOMS = st.one_of(
    st.builds(
        lambda fact, op, bound: {"fact": fact, op: bound},
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["above", "at_least", "below", "at_most"]),
        st.one_of(st.integers(-3, 3), st.just("2 ms"), st.just({"fact": "b"})),
    ),
    st.builds(
        lambda fact, value: {"fact": fact, "is": value},
        st.sampled_from("abc"),
        st.sampled_from([1, True, "x"]),
    ),
    st.builds(lambda fact, known: {"fact": fact, "known": known}, st.sampled_from("abc"), st.booleans()),
)
TREES = st.recursive(
    ATOMS,
    lambda parts: st.builds(
        lambda group, items: {group: items},
        st.sampled_from(["all", "any", "none"]),
        st.lists(parts, min_size=1, max_size=3),
    ),
    max_leaves=8,
)
VALUES = st.dictionaries(
    st.sampled_from("abc"), st.one_of(st.integers(-4, 4), st.booleans(), st.sampled_from("xy"))
)


@given(tree=TREES, values=VALUES)
def test_any_condition_gives_an_answer_for_any_values(tree: dict[str, Any], values: dict[str, Any]) -> None:
    """Conditions never raise, whatever types meet, and `none` is the opposite of `any`."""
    facts = said(**values)
    assert holds(condition({"any": [tree]}), facts) is holds(condition(tree), facts)
    assert holds(condition({"none": [tree]}), facts) is not holds(condition(tree), facts)
