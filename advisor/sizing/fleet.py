"""From demand to whole systems: replicas, accelerators, units, idle, spares, power and money. Plain arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.records import Cost, Fleet, Layout, System
from advisor.units import HOURS_PER_MILLION_SECONDS


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What the fleet must carry. None where the user stated nothing.

    output_tokens_per_s: completed output tokens per second, all users together, growth included.
    sequences: sequences that must be resident in KV at the same time.
    """

    output_tokens_per_s: float | None = None
    sequences: float | None = None

    @property
    def stated(self) -> bool:
        """Whether any demand was stated."""
        return self.output_tokens_per_s is not None or self.sequences is not None


def replicas_needed(
    demand: Demand, layout: Layout, *, rate_per_accelerator: float | None, sequences_per_replica: int
) -> tuple[int, str]:
    """Replicas for a demand, and the term that sets the number (`throughput`, `memory` or `one replica`).

    rate_per_accelerator: output tokens/s; sequences_per_replica: what its KV capacity holds at the asked context.
    """
    by_rate = by_memory = 1
    if demand.output_tokens_per_s and rate_per_accelerator:
        by_rate = math.ceil(demand.output_tokens_per_s / (rate_per_accelerator * layout.accelerators) - 1e-9)
    if demand.sequences and sequences_per_replica > 0:
        by_memory = math.ceil(demand.sequences / sequences_per_replica - 1e-9)
    needed = max(by_rate, by_memory, 1)
    if needed == 1:
        return 1, "one replica"
    return needed, "throughput" if by_rate >= by_memory else "memory"


def build_fleet(
    system: System,
    layout: Layout,
    replicas: int,
    *,
    spare_systems: int = 0,
    price: tuple[float, str] | None = None,
    output_tokens_per_s: float | None = None,
    capacity_tokens_per_s: float | None = None,
) -> Fleet:
    """Whole units that hold `replicas` replicas, with `spare_systems` more.

    A replica does not cross a unit, except one that is wider than a unit and takes several. price: USD per
    accelerator-hour and its origin. usd_per_million_output_tokens is at the stated demand, else at full capacity.
    """
    per_unit = system.accelerators // layout.accelerators
    if per_unit >= 1:
        units = math.ceil(replicas / per_unit)
    else:
        units = replicas * math.ceil(layout.accelerators / system.accelerators)
    needed = replicas * layout.accelerators
    installed = (units + spare_systems) * system.accelerators
    power = float(system.power_kw.number) if system.power_kw is not None else None
    cost = None
    if price is not None:
        hourly = installed * price[0]
        served = output_tokens_per_s or capacity_tokens_per_s
        per_million = hourly * HOURS_PER_MILLION_SECONDS / served if served else None
        cost = Cost(
            usd_per_hour=hourly,
            usd_per_million_output_tokens=per_million,
            price_usd_per_accelerator_hour=price[0],
            price_origin=price[1],
        )
    return Fleet(
        accelerators_needed=needed,
        systems=units + spare_systems,
        spare_systems=spare_systems,
        accelerators_installed=installed,
        accelerators_idle=installed - needed,
        replicas=replicas,
        utilisation=needed / installed,
        power_kw=power * (units + spare_systems) if power is not None else None,
        failure_domain=system.accelerators,
        capacity_lost_on_failure=1 / (units + spare_systems),
        cost=cost,
    )


def demand_from(
    *,
    throughput_tokens_per_s: float | None,
    requests_per_second: float | None,
    concurrency: float | None,
    output_tokens: float | None,
    tpot_ms: float | None,
    growth_percent: float = 0.0,
    offline: bool = False,
) -> tuple[Demand, tuple[str, ...]]:
    """Convert what the user stated into one demand, with the arithmetic as sentences.

    Requests: rate x output tokens. Concurrent users: each reads 1000 / tpot_ms tokens/s while it is served (only with
    a latency limit; offline, concurrency is a batch and says nothing of a rate). The largest stated rate counts.
    """
    growth = 1 + growth_percent / 100
    rates: list[float] = []
    steps: list[str] = []
    if throughput_tokens_per_s:
        rates.append(throughput_tokens_per_s)
        steps.append(f"demand {throughput_tokens_per_s:,.0f} output tok/s as stated")
    if requests_per_second and output_tokens:
        rates.append(requests_per_second * output_tokens)
        steps.append(
            f"{requests_per_second:,.4g} requests/s × {output_tokens:,.0f} output tokens = {rates[-1]:,.0f} tok/s"
        )
    if concurrency and tpot_ms and not offline:
        rates.append(concurrency * 1000 / tpot_ms)
        steps.append(
            f"{concurrency:,.0f} requests in flight ÷ {tpot_ms:g} ms a token = {rates[-1]:,.0f} tok/s"
        )
    if growth != 1 and (rates or concurrency):
        steps.append(f"growth {growth_percent:g} % on top")
    return (
        Demand(
            output_tokens_per_s=max(rates) * growth if rates else None,
            sequences=concurrency * growth if concurrency else None,
        ),
        tuple(steps),
    )
