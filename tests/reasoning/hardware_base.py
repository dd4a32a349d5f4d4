"""A node and a rack with round numbers, in memory: what the arithmetic of prices and comparisons is worked out on."""

from __future__ import annotations

from typing import Any

from rule_base import base

from advisor.reasoning.candidates import Sized
from advisor.reasoning.engine import run_rules
from advisor.records import Accelerator, Candidate, Cell, Estimate, Layout, Memory, Price, System
from advisor.sizing.fleet import Demand, build_fleet, replicas_needed

GIB = 2.0**30


def accelerator(slug: str, family: str = "one", vendor: str = "nvidia") -> Accelerator:
    """80 GiB and 4 TB/s of a generation."""
    return Accelerator(
        id=f"accelerators/{slug}", title=slug.upper(), vendor=vendor, family=family, hbm_visible_bytes=Cell(value=80 * GIB),
        hbm_marketed_gb=Cell(value=80), hbm_bandwidth_tb_per_s=Cell(value=4),
    )  # fmt: skip


def system(slug: str, of: str, count: int = 8, *prices: Price, **more: Any) -> System:
    """A unit of `count` accelerators in one domain; more than eight are a rack."""
    own: dict[str, Any] = {
        "kind_of_unit": "rack" if count > 8 else "node", "accelerators": count, "scale_up_domain": count, "cooling": ("air",), **more,
    }  # fmt: skip
    return System(id=f"systems/{slug}", title=slug, accelerator=f"accelerators/{of}", prices=prices, **own)


def price(usd: float, seller: str = "cloud", basis: str = "on demand, list") -> Price:
    """A price per accelerator-hour."""
    return Price(usd_per_accelerator_hour=usd, seller=seller, basis=basis, date="2026-09")


def rate(value: float, low: float | None = None, high: float | None = None, **more: Any) -> Estimate:
    """Tokens/s per accelerator; audited and without an interval unless said."""
    own: dict[str, Any] = {"unit": "tokens/s", "basis": "audited", **more}
    return Estimate(
        value=value, low=value if low is None else low, high=value if high is None else high, **own
    )


def sized(
    of: System, estimate: Estimate, *, demand: float | None = None, tp: int = 1, sequences: int = 100, feasible: bool = True
) -> Sized:  # fmt: skip
    """A candidate with a fleet for a demand in tokens/s; one replica where none is stated."""
    layout = Layout(tp=tp)
    wanted = Demand(output_tokens_per_s=demand)
    replicas, _ = replicas_needed(
        wanted, layout, rate_per_accelerator=estimate.value, sequences_per_replica=sequences
    )
    memory = Memory(
        hbm_bytes=80 * GIB, weights_bytes=0, kv_bytes_per_token=1, kv_bytes_needed=0, kv_capacity_tokens=1,
        max_sequences=sequences, reserve_bytes=0,
    )  # fmt: skip
    candidate = Candidate(
        system=of.id, title=of.title, unit=of.kind_of_unit, accelerator=of.accelerator, fits=True, feasible=feasible,
        layout=layout, memory=memory, throughput_per_accelerator=estimate, latency=None, fleet=build_fleet(of, layout, replicas),
    )  # fmt: skip
    run = run_rules(base(), {}, scope="candidate")
    return Sized(candidate=candidate, facts={}, run=run, demand=wanted, rate=None)
