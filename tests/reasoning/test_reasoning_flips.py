"""The search for what would change a verdict, and axes of maps, against a verdict whose border is known beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hardware_base import system
from rule_base import base, choice, fact, flag

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.flips import Outcome, find_flips
from advisor.reasoning.heatmap import axis
from advisor.records import Facts, FactValue, Fleet, Flip, Layout
from advisor.sizing.fleet import build_fleet

NODES = build_fleet(system("n", "h", 8), Layout(tp=8), 4)
ONE_NODE = build_fleet(system("n", "h", 8), Layout(tp=8), 1)
RACKS = build_fleet(system("r", "h", 72), Layout(tp=8), 18)


def flips(
    evaluate: Callable[[Facts], Outcome], *entries: Any, said: dict[str, Any] | None = None, now: Any = "node"
) -> tuple[Flip, ...]:
    facts: Facts = {name: FactValue(value=value, origin="said") for name, value in (said or {}).items()}
    return find_flips(base(*entries), facts, facts, now, evaluate)


def border(
    name: str, at: float, *, above: bool = True, fleets: tuple[Fleet | None, Fleet | None] = (None, None)
) -> Callable[[Facts], Outcome]:
    """A rack from a value on (or below it), else a node."""

    def verdict(facts: Facts) -> Outcome:
        value = facts[name].value if name in facts else None
        past = isinstance(value, int | float) and (value >= at if above else value <= at)
        return ("rack" if past else "node", *fleets)

    return verdict


ASKED: dict[str, Any] = {"scope": "requirement", "ask": "always"}


@pytest.mark.parametrize("at", [101.0, 150.0, 299.0, 300.0, 301.0, 2000.0, 6400.0])
def test_the_nearest_larger_value_is_found_to_five_per_cent(at: float) -> None:
    """From 100 upwards, as far as 64 times: what is shown flips, and 5 % below it does not."""
    (found,) = flips(border("load", at), fact("load", unit="ms", **ASKED), said={"load": 100.0})
    assert found.verdict == "rack"
    assert found.from_ == 100.0
    assert isinstance(found.to, float)
    assert at <= found.to <= at * 1.05 * 1.005  # three digits are shown


@pytest.mark.parametrize("at", [99.0, 50.0, 34.0, 33.0, 2.0, 1.57])
def test_the_nearest_smaller_value_is_found_to_five_per_cent(at: float) -> None:
    """From 100 downwards, as far as a 64th."""
    (found,) = flips(border("load", at, above=False), fact("load", unit="ms", **ASKED), said={"load": 100.0})
    assert isinstance(found.to, float)
    assert at / 1.05 / 1.005 <= found.to <= at


def test_beyond_sixty_four_times_nothing_is_looked_for() -> None:
    """And an input at zero has no multiples."""
    assert flips(border("load", 6500.0), fact("load", **ASKED), said={"load": 100.0}) == ()
    assert flips(border("load", 1.0), fact("load", **ASKED), said={"load": 0.0}) == ()


def test_the_nearer_of_two_flips_is_shown() -> None:
    """150 is nearer to 100 than 20 is; 80 is nearer than 400: distance counts in factors."""

    def two(low: float, high: float) -> Callable[[Facts], Outcome]:
        def verdict(facts: Facts) -> Outcome:
            value = facts["load"].value
            assert isinstance(value, float)
            return ("rack" if value >= high or value <= low else "node", None, None)

        return verdict

    (up,) = flips(two(20, 150), fact("load", **ASKED), said={"load": 100.0})
    assert isinstance(up.to, float)
    assert up.to >= 150
    (down,) = flips(two(80, 400), fact("load", **ASKED), said={"load": 100.0})
    assert isinstance(down.to, float)
    assert down.to <= 80


def test_whole_numbers_flip_at_whole_numbers() -> None:
    """From 4 users, a rack from 7 on: exactly 7."""
    (found,) = flips(border("users", 7), fact("users", "integer", **ASKED), said={"users": 4})
    assert found.to == 7
    assert isinstance(found.to, int)
    (found,) = flips(border("users", 1, above=False), fact("users", "integer", **ASKED), said={"users": 4})
    assert found.to == 1


def test_limits_of_a_fact_are_not_passed() -> None:
    """A fact that ends at 250 is not asked at 300; one at its end has no way but down."""

    def reached(at: float, **limits: float) -> bool:
        return bool(flips(border("load", at), fact("load", **ASKED, **limits), said={"load": 100.0}))

    assert reached(280.0, maximum=300)
    assert not reached(280.0, maximum=299)
    falling = border("load", 40.0, above=False)
    assert flips(falling, fact("load", **ASKED, minimum=30), said={"load": 100.0})
    assert not flips(falling, fact("load", **ASKED, minimum=34), said={"load": 100.0})


def test_a_context_is_not_asked_beyond_the_models_limit() -> None:
    """At 8,192 of at most 16,384 tokens the next step (3 x) is out of the model's reach."""
    spec = (fact("context_tokens", "integer", **ASKED), fact("context_limit_tokens"))
    rising = border("context_tokens", 20_000)
    assert flips(rising, *spec, said={"context_tokens": 8192})
    assert not flips(rising, *spec, said={"context_tokens": 8192, "context_limit_tokens": 16_384})


def test_an_input_that_was_not_said_is_tried_at_its_suggestions() -> None:
    """Narrowed from the last suggestion that does not flip; the first one of all stands as it is."""
    spec = fact("load", **ASKED, suggestions=[10, 100, 1000])
    (found,) = flips(border("load", 60.0), spec)
    assert found.from_ is None
    assert isinstance(found.to, float)
    assert 60 <= found.to <= 63
    (first,) = flips(border("load", 5.0), spec)
    assert first.to == 10
    assert first.text == "load: not stated → 10 gives rack"


def test_a_choice_flips_to_the_first_other_value_that_does() -> None:
    """Values as the fact lists them, the current one left out; a flag has two."""

    def verdict(facts: Facts) -> Outcome:
        return ("rack" if facts["cooling"].value in ("liquid", "both") else "node", None, None)

    (found,) = flips(
        verdict, choice("cooling", "air", "fan", "liquid", "both", **ASKED), said={"cooling": "air"}
    )
    assert (found.from_, found.to) == ("air", "liquid")
    switched = flips(
        lambda facts: ("rack" if facts["spare"].value is False else "node", None, None), flag("spare", **ASKED), said={"spare": True}
    )  # fmt: skip
    assert [(f.from_, f.to) for f in switched] == [(True, False)]
    assert switched[0].text == "spare: yes → no gives rack"


def test_only_inputs_that_are_asked_for_are_varied() -> None:
    """Not those that nobody is asked for, nor computed ones; the price premium is varied though it is not asked."""
    rising = border("load", 150.0)
    assert not flips(rising, fact("load", scope="requirement", ask="never"), said={"load": 100.0})
    assert not flips(rising, fact("load", scope="candidate", ask="always"), said={"load": 100.0})
    assert not flips(rising, fact("load", **ASKED, flips=False), said={"load": 100.0})
    assert flips(rising, fact("load", scope="requirement", ask="decisive"), said={"load": 100.0})
    premium = fact("rack_price_premium", scope="requirement", ask="never")
    assert flips(border("rack_price_premium", 1.5), premium, said={"rack_price_premium": 1.0})


def test_a_second_load_is_not_added_to_the_one_stated() -> None:
    """Requests per second beside stated tokens per second would be two loads at once; alone they are tried."""
    spec = (
        fact("requests_per_second", **ASKED, suggestions=[1, 10]),
        fact("throughput_tokens_per_s", **ASKED, suggestions=[1000]),
    )
    rising = border("requests_per_second", 5)
    assert not flips(rising, *spec, said={"throughput_tokens_per_s": 500.0})
    assert [f.fact for f in flips(rising, *spec)] == ["requests_per_second"]


def test_a_value_that_cannot_be_asked_ends_the_search_in_its_direction() -> None:
    """Where a larger value contradicts the rest, only smaller ones are left."""

    def verdict(facts: Facts) -> Outcome:
        value = facts["load"].value
        assert isinstance(value, float)
        if value > 100:
            raise InputError("too large")
        return ("rack" if value <= 40 else "node", None, None)

    (found,) = flips(verdict, fact("load", **ASKED), said={"load": 100.0})
    assert isinstance(found.to, float)
    assert found.to <= 40


def test_flips_come_nearest_first_and_say_the_fleets() -> None:
    """A factor of 1.5 before one of 3, choices after them; each with what would then be bought."""

    def verdict(facts: Facts) -> Outcome:
        far, near, kind = (facts[name].value for name in ("far", "near", "kind"))
        assert isinstance(far, float)
        assert isinstance(near, float)
        return ("rack" if far >= 300 or near >= 150 or kind == "b" else "node", NODES, RACKS)

    spec = (fact("far", **ASKED), fact("near", unit="tokens", **ASKED), choice("kind", "a", "b", **ASKED))
    found = flips(verdict, *spec, said={"far": 100.0, "near": 100.0, "kind": "a"})
    assert [f.fact for f in found] == ["near", "far", "kind"]
    assert found[1].text == (
        "far: 100 → 300 gives rack (node 32 accelerators on 4 nodes, rack 144 accelerators on 2 racks)"
    )
    assert (found[1].node_fleet, found[1].rack_fleet) == (NODES, RACKS)
    single = flips(
        border("load", 150, fleets=(ONE_NODE, None)), fact("load", unit="GB", **ASKED), said={"load": 100.0}
    )
    assert single[0].text.endswith("gives rack (node 8 accelerators on 1 node)")
    assert single[0].text.startswith("load: 100 GB → 15")


def test_an_axis_is_even_in_factors(kb: KnowledgeBase) -> None:
    """1 to 1,000 in four steps: 1, 10, 100, 1,000; whole numbers for counts, each once."""
    assert axis(kb, "tpot_ms", 1, 1000, 4) == pytest.approx((1, 10, 100, 1000))
    assert axis(kb, "tpot_ms", 5, 20, 2) == (5, 20)
    assert axis(kb, "context_tokens", 1, 4, 7) == (1, 2, 3, 4)
    assert len(axis(kb, "tpot_ms", 1, 2, 400)) == 400


@pytest.mark.parametrize(
    ("name", "low", "high", "steps"),
    [
        ("tpot_ms", 0, 10, 4), ("tpot_ms", 10, 10, 4), ("tpot_ms", 20, 10, 4), ("tpot_ms", 1, 10, 1), ("tpot_ms", 1, 10, 401),
        ("tpot_ms", math.nan, 10, 4), ("workload", 1, 10, 4), ("nothing", 1, 10, 4),
        ("concurrency", 1e300, 1e308, 4), ("concurrency", 1, 1e300, 4), ("tpot_ms", 5e-324, 1, 4), ("growth_percent", 1, 1e18, 4),
    ],
)  # fmt: skip
def test_an_axis_needs_a_range_of_a_numeric_fact(
    kb: KnowledgeBase, name: str, low: float, high: float, steps: int
) -> None:
    """Above zero, low below high, inside what the fact can be, 2 to 400 steps."""
    with pytest.raises(InputError, match=rf"^axis {name}: "):
        axis(kb, name, low, high, steps)
