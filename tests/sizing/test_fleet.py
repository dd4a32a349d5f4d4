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
