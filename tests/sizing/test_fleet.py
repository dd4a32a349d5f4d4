"""From demand to whole systems. Golden values are the arithmetic of the sources named, done by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.records import Cell, Layout, System
from advisor.sizing.fleet import Demand, build_fleet, demand_from, replicas_needed


def system(accelerators: int, kind: str = "node", power_kw: float | None = None) -> System:
    return System(
        id=f"systems/x{accelerators}",
        title=f"{accelerators} accelerators",
        kind_of_unit=kind,
        accelerator="accelerators/x",
        accelerators=accelerators,
        scale_up_domain=accelerators,
        cooling=("air",),
        power_kw=Cell(value=power_kw) if power_kw else None,
    )


NODE, RACK = system(8, power_kw=14.3), system(72, "rack", power_kw=132.0)


def test_thirty_accelerators_of_demand_are_four_nodes_or_one_rack() -> None:
    """Whole-unit granularity as the domain notes state it: 30 GPUs fit 4 nodes (32) but need 1 rack (72)."""
    node, rack = build_fleet(NODE, Layout(tp=1), 30), build_fleet(RACK, Layout(tp=1), 30)
    assert (node.systems, node.accelerators_installed, node.accelerators_idle) == (4, 32, 2)
    assert (rack.systems, rack.accelerators_installed, rack.accelerators_idle) == (1, 72, 42)


def test_a_replica_never_crosses_a_unit_that_can_hold_it() -> None:
    """Nine replicas of TP8 fill one NVL72 (the audited DeepSeek-R1 topology of v6.0: 9 x TP8); ten need a second rack."""
    assert build_fleet(RACK, Layout(tp=8), 9).systems == 1
    assert build_fleet(RACK, Layout(tp=8), 10).systems == 2
    assert build_fleet(RACK, Layout(tp=16), 4).accelerators_idle == 8


def test_a_replica_wider_than_a_node_takes_whole_nodes() -> None:
    """A group of 16 occupies two 8-GPU nodes."""
    fleet = build_fleet(NODE, Layout(tp=8, pp=2), 3)
    assert (fleet.systems, fleet.accelerators_installed, fleet.accelerators_idle) == (6, 48, 0)


def test_a_spare_is_a_whole_unit_and_its_loss_is_counted() -> None:
    """One spare node on four lowers what one failure costs from 1/4 to 1/5 of the fleet; power counts all of them."""
    fleet = build_fleet(NODE, Layout(tp=8), 4, spare_systems=1)
    assert fleet.systems == 5
    assert fleet.capacity_lost_on_failure == pytest.approx(0.2)
    assert fleet.power_kw == pytest.approx(5 * 14.3)
    assert fleet.failure_domain == 8


def test_cost_per_million_tokens_from_an_hourly_price() -> None:
    """8 GPUs at 4.50 USD are 36 USD an hour; 10,000 tok/s are 36 million tokens an hour: 1 USD per million."""
    fleet = build_fleet(NODE, Layout(tp=8), 1, price=(4.50, "given"), output_tokens_per_s=10_000)
    assert fleet.cost is not None
    assert fleet.cost.usd_per_hour == pytest.approx(36.0)
    assert fleet.cost.usd_per_million_output_tokens == pytest.approx(1.0)


def test_users_with_a_latency_limit_are_a_rate() -> None:
    """500 users at 40 ms a token read 25 tok/s each (the reading speed of the audited Interactive limit): 12,500 tok/s."""
    demand, steps = demand_from(
        throughput_tokens_per_s=None,
        requests_per_second=None,
        concurrency=500,
        output_tokens=1024,
        tpot_ms=40,
    )
    assert demand.output_tokens_per_s == pytest.approx(12_500)
    assert demand.sequences == 500
    assert any("500" in step and "40" in step for step in steps)


def test_offline_concurrency_is_a_batch_and_not_a_rate() -> None:
    """Without a latency limit nothing says how fast each sequence must go; it only has to be resident."""
    demand, _ = demand_from(
        throughput_tokens_per_s=None,
        requests_per_second=None,
        concurrency=500,
        output_tokens=1,
        tpot_ms=40,
        offline=True,
    )
    assert demand.output_tokens_per_s is None
    assert demand.sequences == 500


def test_the_larger_of_two_stated_rates_counts() -> None:
    """20 requests/s of 300 output tokens are 6,000 tok/s; a stated 5,000 tok/s is covered by it."""
    demand, _ = demand_from(
        throughput_tokens_per_s=5000,
        requests_per_second=20,
        concurrency=None,
        output_tokens=300,
        tpot_ms=None,
    )
    assert demand.output_tokens_per_s == pytest.approx(6000)


@given(
    rate=st.floats(1, 1e6),
    width=st.sampled_from([1, 2, 4, 8, 16]),
    per=st.floats(1, 1e5),
    factor=st.floats(1, 50),
)
def test_more_demand_never_needs_fewer_replicas(rate: float, width: int, per: float, factor: float) -> None:
    """Replicas grow with demand, and always carry it."""
    layout = Layout(tp=width)
    few, _ = replicas_needed(
        Demand(output_tokens_per_s=rate), layout, rate_per_accelerator=per, sequences_per_replica=0
    )
    many, _ = replicas_needed(
        Demand(output_tokens_per_s=rate * factor), layout, rate_per_accelerator=per, sequences_per_replica=0
    )
    assert many >= few
    assert few * width * per >= rate * (1 - 1e-6)


@given(
    replicas=st.integers(1, 5000), width=st.sampled_from([1, 2, 4, 8]), accelerators=st.sampled_from([8, 72])
)
def test_a_fleet_is_whole_units_that_hold_every_replica(replicas: int, width: int, accelerators: int) -> None:
    """Installed is a multiple of the unit, at least what is needed, and never a whole unit too many."""
    fleet = build_fleet(system(accelerators), Layout(tp=width), replicas)
    assert fleet.accelerators_installed % accelerators == 0
    assert fleet.accelerators_installed >= replicas * width
    assert math.ceil(replicas / (accelerators // width)) == fleet.systems


@pytest.mark.parametrize(
    ("rate", "sequences", "expected"),
    [
        (None, None, (1, "one replica")),
        (800.0, None, (1, "one replica")),  # one replica of 8 at 100 gives 800
        (801.0, None, (2, "throughput")),
        (None, 64.0, (1, "one replica")),
        (None, 65.0, (2, "memory")),
        (2400.0, 65.0, (3, "throughput")),
        (801.0, 192.0, (3, "memory")),
        (1600.0, 128.0, (2, "throughput")),  # both set it: the rate is named
    ],
)
def test_the_larger_need_sets_the_replicas(
    rate: float | None, sequences: float | None, expected: tuple[int, str]
) -> None:
    """A replica of TP8 at 100 tokens/s an accelerator carries 800 tokens/s and, here, 64 sequences."""
    demand = Demand(output_tokens_per_s=rate, sequences=sequences)
    assert demand.stated is (rate is not None or sequences is not None)
    found = replicas_needed(demand, Layout(tp=8), rate_per_accelerator=100.0, sequences_per_replica=64)
    assert found == expected


def test_what_is_not_known_sets_nothing() -> None:
    """Without a rate, or without room for one sequence, a demand cannot be turned into replicas."""
    demand = Demand(output_tokens_per_s=1e6, sequences=1e6)
    assert replicas_needed(demand, Layout(tp=8), rate_per_accelerator=None, sequences_per_replica=0) == (
        1,
        "one replica",
    )


def test_growth_comes_on_top_of_every_demand() -> None:
    """25 % on 1,000 tok/s and on 80 users: 1,250 and 100; without growth the sentence is left out."""
    stated: dict[str, float | None] = {
        "throughput_tokens_per_s": 1000, "requests_per_second": None, "concurrency": 80, "output_tokens": None, "tpot_ms": None,
    }  # fmt: skip
    demand, steps = demand_from(**stated, growth_percent=25.0)  # type: ignore[arg-type]
    assert (demand.output_tokens_per_s, demand.sequences) == (1250, 100)
    assert steps == ("demand 1,000 output tok/s as stated", "growth 25 % on top")
    demand, steps = demand_from(**stated)  # type: ignore[arg-type]
    assert (demand.output_tokens_per_s, demand.sequences) == (1000, 80)
    assert len(steps) == 1


def test_growth_of_nothing_is_nothing() -> None:
    """No load stated: no demand, and no sentence about growth."""
    demand, steps = demand_from(
        throughput_tokens_per_s=None, requests_per_second=5, concurrency=None, output_tokens=None, tpot_ms=20,
        growth_percent=50.0,
    )  # fmt: skip
    assert demand == Demand()
    assert not demand.stated
    assert steps == ()
    waiting, steps = demand_from(
        throughput_tokens_per_s=None, requests_per_second=None, concurrency=80, output_tokens=None, tpot_ms=None,
        growth_percent=25.0,
    )  # fmt: skip
    assert waiting == Demand(sequences=100)
    assert steps == ("growth 25 % on top",)


def test_a_fleet_is_priced_at_the_demand_or_at_its_capacity() -> None:
    """16 GPUs at 2.25 USD are 36 USD an hour, spare included: 1 USD per million at 10,000 tok/s, 0.5 at 20,000, unknown without."""

    def cost(**served: float) -> tuple[float, float | None]:
        fleet = build_fleet(NODE, Layout(tp=8), 1, spare_systems=1, price=(2.25, "given"), **served)
        assert fleet.cost is not None
        assert fleet.cost.price_usd_per_accelerator_hour == 2.25
        assert fleet.cost.price_origin == "given"
        return fleet.cost.usd_per_hour, fleet.cost.usd_per_million_output_tokens

    assert cost(output_tokens_per_s=10_000, capacity_tokens_per_s=20_000) == pytest.approx((36, 1.0))
    assert cost(capacity_tokens_per_s=20_000) == pytest.approx((36, 0.5))
    assert cost() == (36, None)


def test_without_a_data_sheet_power_is_not_known() -> None:
    """No price, no cost; no power figure, no kilowatts; 1 of 2 units with 8 of 16 accelerators used."""
    fleet = build_fleet(system(8), Layout(tp=4), 2, spare_systems=1)
    assert fleet.power_kw is None
    assert fleet.cost is None
    assert (fleet.accelerators_needed, fleet.accelerators_idle, fleet.utilisation) == (8, 8, 0.5)
    assert fleet.replicas == 2
