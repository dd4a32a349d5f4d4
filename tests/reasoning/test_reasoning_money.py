"""Prices, the premium of a rack and what both fleets cost against each other, worked out by hand on round numbers."""

from __future__ import annotations

import pytest
from hardware_base import accelerator, price, rate, sized, system
from rule_base import base

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.comparison import Compared, compare_best, why_preferred
from advisor.reasoning.prices import any_price, list_price, premium_range, price_of
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import PRICE_PREFIX, said
from advisor.records import Estimate, Facts, FactValue, System

NODE, RACK = system("node", "h", 8, price(2.0)), system("rack", "hr", 72)
OLD = system("old", "a", 8, price(1.0), price(1.5, "second"))
CARDS = (
    accelerator("h"),
    accelerator("hr"),
    accelerator("a", family="zero"),
    accelerator("b", family="two"),
    accelerator("br", family="two"),
)
KB = base(*CARDS, NODE, RACK, OLD)


def priced(**usd: float) -> Facts:
    return {
        f"{PRICE_PREFIX}systems/{name}": FactValue(value=value, origin="said") for name, value in usd.items()
    }


def premium(low: float, high: float) -> Facts:
    return {"rack_price_premium": FactValue(value=None, low=low, high=high, origin="assumed")}


def test_stated_prices_are_the_users_and_settle_the_premium() -> None:
    """4 USD for the rack's accelerator over 2.50 for the node's are 1.6, whatever premium was assumed."""
    facts = priced(node=2.5, rack=4.0) | premium(0.5, 0.9)
    assert price_of(facts, NODE) == (2.5, "as you gave it")
    assert price_of(facts, OLD) is None
    assert any_price(facts)
    assert not any_price(premium(1, 2))
    assert premium_range(KB, facts, NODE, RACK) == (1.6, 1.6)


def test_one_stated_price_alone_says_nothing_of_the_ratio() -> None:
    """With the node's price only, the assumed range stands."""
    assert premium_range(KB, priced(node=2.5) | premium(0.86, 1.22), NODE, RACK) == (0.86, 1.22)
    assert premium_range(KB, priced(rack=2.5) | premium(0.86, 1.22), NODE, RACK) == (0.86, 1.22)


def test_a_stated_premium_is_a_point_and_none_is_parity() -> None:
    """A range needs both ends; without anything known an accelerator costs the same in both."""
    stated: Facts = {"rack_price_premium": FactValue(value=1.3, origin="said")}
    assert premium_range(KB, stated, NODE, RACK) == (1.3, 1.3)
    assert premium_range(KB, {}, NODE, RACK) == (1.0, 1.0)
    half: Facts = {"rack_price_premium": FactValue(value=1.1, low=0.9, origin="said")}
    assert premium_range(KB, half, NODE, RACK) == (1.1, 1.1)


def test_the_list_price_is_the_middle_one_of_lists_alone() -> None:
    """Owner's costs and reservations are no list prices; of an even number the upper middle counts."""
    of = system("x", "h", 8, price(3.0), price(9.0), price(1.0, basis="owner cost"), price(4.0), price(5.0))
    assert list_price(of) == 5.0
    assert list_price(system("y", "h", 8, price(3.0), price(2.0), price(1.0))) == 2.0
    assert list_price(system("z", "h", 8, price(1.0, basis="owner cost"))) is None


def test_another_generation_is_priced_by_sellers_that_list_both() -> None:
    """Node a at 1.00 and 1.50, its successor b at 2.00 and 4.50 of the same two sellers: 2 to 3 times; a third seller counts not."""
    newer = system(
        "newer",
        "b",
        8,
        price(2.0),
        price(2.6),
        price(4.5, "second"),
        price(1.0, "third"),
        price(0.5, basis="owner cost"),
    )
    rack = system("newrack", "br", 72, price(50.0))
    kb = base(*CARDS, NODE, OLD, newer, rack)
    assert premium_range(kb, premium(0.9, 1.2), OLD, rack) == pytest.approx((0.9 * 2, 1.2 * 3))
    assert premium_range(kb, premium(0.9, 1.2), newer, rack) == (0.9, 1.2)  # one generation
    assert premium_range(kb, premium(0.9, 1.2), system("bare", "a"), rack) == (0.9, 1.2)  # nobody lists both


def compared(
    node: Estimate, rack: Estimate, *, demand: float | None = None, facts: Facts | None = None
) -> Compared:
    both = [sized(NODE, node, demand=demand), sized(RACK, rack, demand=demand)]
    return compare_best(KB, facts or premium(0.9, 1.2), both)


def test_without_a_demand_money_per_token_is_the_premium_over_the_rates() -> None:
    """The rack gives 1.5 of the node at 0.9 to 1.2 of the price: 0.6 to 0.8 of the cost; equal at a premium of 1.5."""
    found = compared(rate(100), rate(150)).comparison
    assert found.cost_ratio_low == pytest.approx(0.6)
    assert found.cost_ratio_high == pytest.approx(0.8)
    assert found.break_even_premium == pytest.approx(1.5)
    assert not found.tie
    assert found.rack_over_node is not None
    assert found.rack_over_node.value == pytest.approx(1.5)


def test_a_modelled_interval_widens_the_cost_by_its_half_width() -> None:
    """A rate between 50 and 200 is known to a factor of 2 each way: 0.6/2 to 0.8 x 2, which holds 1; 0.6 to 0.8 as it is."""
    found = compared(rate(100, 50, 200, basis="calibrated"), rate(150)).comparison
    assert (found.cost_at_rates_low, found.cost_at_rates_high) == pytest.approx((0.6, 0.8))
    assert found.cost_ratio_low == pytest.approx(0.3)
    assert found.cost_ratio_high == pytest.approx(1.6)
    assert found.tie


@pytest.mark.parametrize(("rack", "tie"), [(90, True), (120, True), (89, False), (121, False)])
def test_a_tie_holds_up_to_the_ends_of_the_range(rack: float, tie: bool) -> None:
    """Premium 0.9 to 1.2: a rack at 0.9 (or 1.2) of the node's rate costs the same at one end."""
    assert compared(rate(100), rate(rack)).comparison.tie is tie


def test_with_a_demand_whole_units_are_paid_for() -> None:
    """7,000 tok/s at 100 each: 70 accelerators, 9 nodes (72) or one rack (72): 0.9 to 1.2 of the cost."""
    found = compared(rate(100), rate(100), demand=7000)
    assert found.comparison.cost_ratio_low == pytest.approx(0.9)
    assert found.comparison.cost_ratio_high == pytest.approx(1.2)
    assert found.comparison.break_even_premium == pytest.approx(1.0)
    small = compared(rate(100), rate(100), demand=1500).comparison  # two nodes against a rack
    assert small.break_even_premium == pytest.approx(16 / 72)
    assert small.cost_ratio_low == pytest.approx(0.9 * 72 / 16)


def test_doubt_recounts_the_units_at_each_end() -> None:
    """A node between 25 and 100 around 50 (a factor of 2, root 1.41 each side). 1,200 tok/s: 24 of it, three nodes.

    In the rack's favour: 1200 / 35.4 = 33.9, five nodes; against it: 1200 / 70.7 = 17, three nodes. The rack is one unit.
    """
    found = compared(rate(50, 25, 100, basis="calibrated"), rate(50), demand=1200).comparison
    assert found.break_even_premium == pytest.approx(24 / 72)
    assert (found.cost_at_rates_low, found.cost_at_rates_high) == pytest.approx((0.9 * 3, 1.2 * 3))
    assert found.cost_ratio_low == pytest.approx(0.9 * 72 / 40)
    assert found.cost_ratio_high == pytest.approx(1.2 * 72 / 24)


def test_rates_in_unlike_units_have_no_ratio() -> None:
    """Samples are not tokens."""
    found = compared(rate(100), rate(10, unit="samples/s")).comparison
    assert found.rack_over_node is None
    assert found.cost_ratio_low is None
    assert found.break_even_premium is None


def test_the_ratio_of_two_rates_spans_their_intervals_on_the_weaker_ground() -> None:
    """150 (120 to 180) over 100 (80 to 125): 1.5, from 120/125 to 180/80."""
    found = compared(
        rate(100, 80, 125, basis="bound"), rate(150, 120, 180, basis="calibrated")
    ).comparison.rack_over_node
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((1.5, 0.96, 2.25))
    assert found.basis == "bound"


@pytest.mark.parametrize(
    ("node", "rack", "overlap"),
    [((80, 120), (120, 180), True), ((80, 119), (120, 180), False), ((180, 300), (120, 180), True), ((181, 300), (120, 180), False)],
)  # fmt: skip
def test_intervals_overlap_when_they_share_a_value(
    node: tuple[float, float], rack: tuple[float, float], overlap: bool, kb: KnowledgeBase
) -> None:
    """Ends included."""
    facts = on_shipped(kb, rate(100, *node, basis="calibrated"), rate(150, *rack, basis="calibrated")).facts
    assert facts["intervals_overlap"].value is overlap


def on_shipped(
    kb: KnowledgeBase,
    node: Estimate,
    rack: Estimate,
    *,
    demand: float | None = None,
    extra: Facts | None = None,
) -> Compared:
    """The same comparison on shipped systems, whose facts rules read: a B200 node against a GB200 rack."""
    sides = [
        sized(kb.systems["systems/hgx-b200"], node, demand=demand, tp=2),
        sized(kb.systems["systems/gb200-nvl72"], rack, demand=demand, tp=4),
    ]
    facts: Facts = {
        "model": FactValue(value="models/gemma-2-9b", origin="said"), "workload": FactValue(value="offline", origin="said"),
        **priced(**{"hgx-b200": 4.0, "gb200-nvl72": 6.0}), **(extra or {}),
    }  # fmt: skip
    return compare_best(kb, facts, sides)


def test_rules_read_the_fleets_and_the_outcome(kb: KnowledgeBase) -> None:
    """10,000 tok/s at 100: 100 accelerators, 13 nodes of 8 or two racks of 72; the rack costs 1.5 x 144/104, the node wins."""
    extra: Facts = {
        "context_tokens": FactValue(value=8192, origin="assumed"), "kv_precision": FactValue(value="fp8", origin="said"),
        "growth_percent": FactValue(value=None, origin="assumed"),
    }  # fmt: skip
    found = on_shipped(kb, rate(100), rate(100, basis="calibrated"), demand=10_000, extra=extra)
    facts = {name: fact.value for name, fact in found.facts.items()}
    assert facts["cost_outcome"] == "node"
    assert facts["cost_ratio_low"] == facts["cost_ratio_high"] == pytest.approx(1.5 * 144 / 104)
    assert facts["node_installed"] == 104
    assert facts["rack_installed"] == 144
    assert facts["node_utilisation"] == pytest.approx(100 / 104)
    assert facts["rack_utilisation"] == pytest.approx(100 / 144)
    assert (facts["node_group_width"], facts["rack_group_width"]) == (2, 4)
    assert (facts["node_failure_domain"], facts["rack_failure_domain"]) == (8, 72)
    assert facts["demand_stated"] is True
    assert facts["assumed_count"] == 1
    assert facts["basis"] == "calibrated"
    assert facts["node_feasible"] is True
    assert facts["rack_feasible"] is True
    assert found.one_generation


def test_the_outcome_names_the_cheaper_side(kb: KnowledgeBase) -> None:
    """At 1.5 of the price: 1.4 of the rate is dearer, 1.6 cheaper, 1.5 a tie; a side that is missing leaves it unknown."""
    outcomes = [
        on_shipped(kb, rate(100), rate(value)).facts["cost_outcome"].value for value in (140, 150, 160)
    ]
    assert outcomes == ["node", "tie", "rack"]
    node = sized(kb.systems["systems/hgx-b200"], rate(100))
    alone = compare_best(kb, {}, [node])
    assert alone.facts["cost_outcome"].value == "unknown"
    assert alone.facts["rack_feasible"].value is False
    assert alone.rack is None
    assert alone.facts["demand_stated"].value is False


def choice(
    *candidates: tuple[System, Estimate], demand: float | None = None, facts: Facts | None = None
) -> tuple[str, str]:
    systems = [*(of for of, _ in candidates)]
    kb = base(*CARDS, *systems)
    found = compare_best(kb, facts or {}, [sized(of, estimate, demand=demand) for of, estimate in candidates])
    return (
        found.node.candidate.system.removeprefix("systems/") if found.node else "",
        found.rack.candidate.system.removeprefix("systems/") if found.rack else "",
    )  # fmt: skip


OTHER = system("other", "b", 8)


def test_without_a_demand_the_faster_accelerator_is_the_better_node() -> None:
    """Per accelerator, whatever the list says."""
    assert choice((NODE, rate(100)), (OTHER, rate(120))) == ("other", "")
    assert choice((NODE, rate(130)), (OTHER, rate(120))) == ("node", "")


def test_a_modelled_rate_counts_at_its_low_end() -> None:
    """150 that may be 90 does not beat an audited 100; 150 that is at least 110 does."""
    assert choice((NODE, rate(100)), (OTHER, rate(150, 90, 200, basis="calibrated"))) == ("node", "")
    assert choice((NODE, rate(100)), (OTHER, rate(150, 110, 200, basis="calibrated"))) == ("other", "")


def test_with_a_demand_the_smaller_fleet_wins_and_equal_ones_go_to_the_cheaper_list() -> None:
    """1,500 tok/s: 16 accelerators at 100, 24 at 80; at 90 both are 16 and the one with a list price is preferred."""
    assert choice((OTHER, rate(80)), (NODE, rate(100)), demand=1500) == ("node", "")
    assert choice((OTHER, rate(100)), (NODE, rate(95)), demand=1500) == ("node", "")
    assert choice((system("apart", "b", 8), rate(95)), (OTHER, rate(100)), demand=1500) == ("other", "")


def test_money_decides_where_prices_were_given() -> None:
    """100 tok/s at 2 USD beat 120 at 3; a system without a price comes after those with one."""
    assert choice((NODE, rate(100)), (OTHER, rate(120)), facts=priced(node=2.0, other=3.0)) == ("node", "")
    assert choice((NODE, rate(100)), (OTHER, rate(120)), facts=priced(node=2.0, other=2.3)) == ("other", "")
    assert choice((NODE, rate(100)), (OTHER, rate(500)), facts=priced(node=2.0)) == ("node", "")
    cheap = priced(node=2.0, other=1.0)
    assert choice((NODE, rate(100)), (OTHER, rate(70)), demand=1500, facts=cheap) == (
        "other",
        "",
    )  # 24 at 1 against 16 at 2


def test_among_racks_better_ground_outranks_a_higher_rate() -> None:
    """An audited rack of 100 is preferred to a modelled one of 300."""
    second = system("second", "br", 72)
    assert choice((second, rate(300, 290, 310, basis="calibrated")), (RACK, rate(100))) == ("", "rack")
    assert choice((second, rate(300)), (RACK, rate(100))) == ("", "second")


def test_a_node_of_the_racks_generation_on_better_ground_is_preferred() -> None:
    """The rack is of generation one: its sibling's audited 100 comes before another generation's modelled 200, not before an audited one."""
    modelled = rate(200, 190, 210, basis="calibrated")
    assert choice((OTHER, modelled), (NODE, rate(100)), (RACK, rate(100))) == ("node", "rack")
    assert choice((OTHER, rate(200)), (NODE, rate(100)), (RACK, rate(100))) == ("other", "rack")


def test_a_rack_of_the_nodes_generation_needs_to_be_no_dearer() -> None:
    """With 7,000 tok/s both racks are one unit: the sibling of the node is taken; with 100,000 the faster one is smaller."""
    second = system("second", "br", 72)
    rows = ((NODE, rate(500)), (RACK, rate(110)), (second, rate(120)))
    assert choice(*rows, demand=7000) == ("node", "rack")
    assert choice(*rows, demand=100_000) == ("node", "second")


@pytest.mark.parametrize(
    ("other", "demand", "prices", "words"),
    [
        (
            rate(150, 50, 200, basis="calibrated"),
            1500,
            {},
            "low end of its interval: 32 accelerators against 16",
        ),
        (
            rate(150, 50, 200, basis="calibrated"),
            None,
            {},
            "low end of its interval: 50 against 100 per accelerator",
        ),
        (rate(80), 1500, {}, "24 accelerators against 16"),
        (rate(80), None, {}, "80 against 100 per accelerator"),
        (rate(95), 1500, {}, "the fleets are equal; its list price is higher, or not known"),
        (rate(500), 1500, {"node": 2.0}, "no price was given for it, and prices were given"),
        (rate(100), 1500, {"node": 2.0, "other": 3.0}, "it costs 1.50× of node an hour"),
        (rate(100), None, {"node": 2.0, "other": 3.0}, "it costs 1.50× of node a unit of output"),
    ],
)
def test_why_a_node_was_preferred_is_what_preferred_it(
    other: Estimate, demand: float | None, prices: dict[str, float], words: str
) -> None:
    """1,500 tok/s at 100 are 16 accelerators in nodes of 8; the reason is the first difference in the order of preference."""
    kb = base(*CARDS, NODE, OTHER)
    facts = priced(**prices)
    if demand is not None:
        facts["throughput_tokens_per_s"] = FactValue(value=demand, origin="said")
    chosen, left = (sized(of, r, demand=demand) for of, r in ((NODE, rate(100)), (OTHER, other)))
    found = compare_best(kb, facts, [chosen, left])
    assert found.node == chosen
    assert why_preferred(kb, facts, chosen.candidate, left.candidate).endswith(words)


def test_why_a_rack_or_a_sibling_was_preferred() -> None:
    """By the ground of its rate, or by the generation it is compared with."""
    kb = base(*CARDS, NODE, OTHER, RACK, system("second", "br", 72))
    audited, guess = (
        sized(RACK, rate(100)),
        sized(kb.systems["systems/second"], rate(300, 290, 310, basis="calibrated")),
    )
    assert (
        why_preferred(kb, {}, audited.candidate, guess.candidate)
        == "its rate is calibrated, that of rack audited"
    )
    near, far = sized(NODE, rate(100)), sized(OTHER, rate(200))
    assert (
        why_preferred(kb, {}, near.candidate, far.candidate)
        == "node is of the generation that it is compared with"
    )


def test_what_cannot_serve_is_not_chosen() -> None:
    """A faster node that is not feasible is left out."""
    kb = base(*CARDS, NODE, OTHER)
    found = compare_best(kb, {}, [sized(NODE, rate(100)), sized(OTHER, rate(200), feasible=False)])
    assert found.node is not None
    assert found.node.candidate.system == NODE.id


@pytest.mark.parametrize(
    ("prices", "warned"),
    [
        ({}, False),
        ({"hgx-b200": 3.0}, True),
        ({"hgx-b200": 3.0, "gb300-nvl72": 4.0, "gb200-nvl72": 4.0}, False),
    ],
)
def test_a_price_for_one_side_alone_is_said_to_decide_nothing(
    shipped: KnowledgeBase, prices: dict[str, float], warned: bool
) -> None:
    """A quote for nodes without one for racks still leaves the assumed premium; with both, the range of list prices is no gotcha."""
    facts = said(
        shipped, {"model": "deepseek-r1", "weight_precision": "fp4", "tpot_ms": 25, "vendor": "nvidia"}
    )
    for name, usd in prices.items():
        facts[f"{PRICE_PREFIX}systems/{name}"] = FactValue(value=usd, origin="said")
    found = recommend(shipped, facts, flips=False)
    assert any("(rules/warn-one-price)" in warning for warning in found.warnings) is warned
    if len(prices) > 1:
        assert found.comparison.prices_said
        assert "gotchas/buy-premium-is-a-range" not in {gotcha.id for gotcha in found.gotchas}
