"""What would change the verdict: for each input the nearest value that does, found by search."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from advisor.errors import RackfitError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import number
from advisor.records import Fact, Facts, FactValue, Fleet, Flip, Scalar, Verdict
from advisor.units import format_count, format_tokens

Outcome = tuple[Verdict, Fleet | None, Fleet | None]
"""Verdict, best node fleet, best rack fleet."""

_STEPS = (3, 9, 64)
_TOLERANCE = 1.05


def find_flips(
    kb: KnowledgeBase, said: Facts, whole: Facts, now: Verdict, evaluate: Callable[[Facts], Outcome]
) -> tuple[Flip, ...]:
    """The nearest flip of each askable input, nearest first.

    `said` are the user's facts, `whole` the completed requirement, `evaluate` the verdict for other said facts.
    """
    flips: list[tuple[float, Flip]] = []
    for fact in kb.facts.values():
        if fact.scope != "requirement" or not _searchable(fact) or _beside_the_load(fact, said):
            continue
        found = _numeric(fact, said, whole, now, evaluate) if fact.type in ("number", "integer") else _other_choice(fact, said, whole, now, evaluate)  # fmt: skip
        if found is not None:
            flips.append(found)
    flips.sort(key=lambda row: (row[0], row[1].fact))
    return tuple(flip for _, flip in flips)


def _searchable(fact: Fact) -> bool:
    asked = fact.ask in ("always", "decisive") and fact.type in ("number", "integer", "choice", "flag")
    return fact.flips and (asked or fact.name == "rack_price_premium")


_LOADS = frozenset(("concurrency", "throughput_tokens_per_s", "requests_per_second"))


def _beside_the_load(fact: Fact, said: Facts) -> bool:
    """A load in other units than the one stated: adding it asks about two loads at once."""
    return fact.name in _LOADS and fact.name not in said and not _LOADS.isdisjoint(said)


def _try(name: str, value: Scalar, said: Facts, evaluate: Callable[[Facts], Outcome]) -> Outcome | None:
    try:
        return evaluate({**said, name: FactValue(value=value, origin="said", because="what if")})
    except RackfitError:
        return None


def _other_choice(
    fact: Fact, said: Facts, whole: Facts, now: Verdict, evaluate: Callable[[Facts], Outcome]
) -> tuple[float, Flip] | None:
    values: Iterable[Scalar] = (
        (True, False) if fact.type == "flag" else tuple(choice.value for choice in fact.choices)
    )
    current = whole[fact.name].value if fact.name in whole else None
    for value in values:
        if value == current:
            continue
        outcome = _try(fact.name, value, said, evaluate)
        if outcome is not None and outcome[0] != now:
            return 2.0, _flip(fact, current, value, outcome)
    return None


def _numeric(
    fact: Fact, said: Facts, whole: Facts, now: Verdict, evaluate: Callable[[Facts], Outcome]
) -> tuple[float, Flip] | None:
    current = number(whole, fact.name)
    best: tuple[float, Flip] | None = None
    for direction in (1, -1):
        found = _nearest(fact, current, direction, said, whole, now, evaluate)
        if found is not None:
            value, outcome = found
            distance = abs(math.log(value / current)) if current else 1.0
            if best is None or distance < best[0]:
                best = (distance, _flip(fact, current, value, outcome))
        if current is None:
            break
    return best


def _nearest(
    fact: Fact,
    current: float | None,
    direction: int,
    said: Facts,
    whole: Facts,
    now: Verdict,
    evaluate: Callable[[Facts], Outcome],
) -> tuple[float, Outcome] | None:
    """The first step on a geometric grid that flips, then the boundary by bisection to 5 %."""
    if current is None:
        grid = [float(v) for v in fact.suggestions if isinstance(v, int | float)]
        inside = None
    elif current <= 0:
        return None
    else:
        grid = [current * step**direction for step in _STEPS]
        inside = current
    low, high = fact.minimum or 0.0, fact.maximum if fact.maximum is not None else math.inf
    if fact.name == "context_tokens":
        high = min(high, number(whole, "context_limit_tokens") or high)
    for raw in grid:
        value = _whole(fact, raw)
        if not low <= value <= high or value == current:
            continue
        outcome = _try(fact.name, value, said, evaluate)
        if outcome is None:
            return None
        if outcome[0] != now:
            return _bisect(fact, inside, value, outcome, said, now, evaluate)
        inside = value
    return None


def _bisect(
    fact: Fact, inside: float | None, outside: float, outcome: Outcome, said: Facts, now: Verdict, evaluate: Callable[[Facts], Outcome]
) -> tuple[float, Outcome]:  # fmt: skip
    while inside and max(inside, outside) / min(inside, outside) > _TOLERANCE:
        middle = _whole(fact, math.sqrt(inside * outside))
        if middle in (inside, outside):
            break
        tried = _try(fact.name, middle, said, evaluate)
        if tried is None:
            break
        if tried[0] == now:
            inside = middle
        else:
            outside, outcome = middle, tried
    return outside, outcome


def _whole(fact: Fact, value: float) -> float:
    return float(max(1, round(value))) if fact.type == "integer" else float(f"{value:.3g}")


def _flip(fact: Fact, current: Scalar | None, to: Scalar, outcome: Outcome) -> Flip:
    verdict, node, rack = outcome
    fleets = ", ".join(
        f"{name} {fleet.accelerators_installed} accelerators on {fleet.systems} {name}{'s' if fleet.systems != 1 else ''}"
        for name, fleet in (("node", node), ("rack", rack))
        if fleet is not None
    )
    to_value = int(to) if fact.type == "integer" and isinstance(to, float) else to
    text = f"{fact.title}: {_shown(fact, current)} → {_shown(fact, to_value)} gives {verdict}" + (
        f" ({fleets})" if fleets else ""
    )
    return Flip(
        fact=fact.name,
        from_=current,
        to=to_value,
        verdict=verdict,
        text=text,
        node_fleet=node,
        rack_fleet=rack,
    )


def _shown(fact: Fact, value: Scalar | None) -> str:
    if value is None:
        return "not stated"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if fact.unit == "tokens":
            return format_tokens(value)
        return f"{format_count(value)}{' ' + fact.unit if fact.unit else ''}"
    return str(value)
