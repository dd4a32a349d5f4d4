"""What an accelerator costs against another: stated prices, else the premium range, scaled between generations by list prices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import PRICE_PREFIX, number
from advisor.records import Facts, System


def price_of(facts: Facts, system: System) -> tuple[float, str] | None:
    """USD per accelerator-hour that the user gave for a system, and its origin."""
    price = number(facts, PRICE_PREFIX + system.id)
    return (price, "as you gave it") if price is not None else None


def any_price(facts: Facts) -> bool:
    """Whether the user gave a price at all: then systems without one cannot be compared in money."""
    return any(name.startswith(PRICE_PREFIX) for name in facts)


def list_price(system: System) -> float | None:
    """Median list price of a system, USD per accelerator-hour; None where no seller lists it."""
    listed = sorted(price.usd_per_accelerator_hour for price in system.prices if "list" in price.basis)
    return listed[len(listed) // 2] if listed else None


def premium_range(kb: KnowledgeBase, facts: Facts, node: System, rack: System) -> tuple[float, float]:
    """Price of a rack's accelerator over a node's, lowest and highest.

    Stated prices of both settle it. Else the premium within one generation, times what one seller asks for the node of
    the rack's generation over this node, where the two are of different generations and some seller lists both.
    """
    own, other = price_of(facts, node), price_of(facts, rack)
    if own and other:
        return other[0] / own[0], other[0] / own[0]
    premium = facts.get("rack_price_premium")
    low = high = 1.0
    if premium is not None and premium.low is not None and premium.high is not None:
        low, high = premium.low, premium.high
    elif premium is not None:
        low = high = number(facts, "rack_price_premium") or 1.0
    cheaper, dearer = _between_generations(kb, node, rack)
    return low * cheaper, high * dearer


def _between_generations(kb: KnowledgeBase, node: System, rack: System) -> tuple[float, float]:
    """Price of the rack generation's node over this node at sellers that list both; 1 within one generation or without any."""
    key = ("price of generations", node.id, rack.id)
    if key not in kb.memo:
        family = kb.accelerators[rack.accelerator].family
        siblings = [
            system
            for system in kb.systems.values()
            if system.kind_of_unit == "node" and kb.accelerators[system.accelerator].family == family
        ]
        ratios: list[float] = []
        if kb.accelerators[node.accelerator].family != family:
            base = _by_seller([node])
            for seller, price in _by_seller(siblings).items():
                if seller in base:
                    ratios.append(price / base[seller])
        kb.memo[key] = (min(ratios, default=1.0), max(ratios, default=1.0))
    found: tuple[float, float] = kb.memo[key]
    return found


def _by_seller(systems: Iterable[System]) -> dict[tuple[str, str], float]:
    """(seller, basis) -> lowest list price."""
    lowest: dict[tuple[str, str], float] = defaultdict(lambda: float("inf"))
    for system in systems:
        for price in system.prices:
            if "list" in price.basis:
                offer = (price.seller, price.basis)
                lowest[offer] = min(lowest[offer], price.usd_per_accelerator_hour)
    return dict(lowest)
