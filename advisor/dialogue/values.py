"""What the number in a phrase is worth: token counts, durations, rates, ranges and lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from advisor.dialogue.text import Token
from advisor.units import KIB, MIB

Form = Literal["one", "range", "list", "slashed", "unit"]
Role = Literal["value", "factor", "divisor"]

_SECONDS: dict[str, float] = {
    "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "seconde": 1, "secondes": 1, "secondo": 1, "секунду": 1, "초": 1, "秒": 1, "segundo": 1, "segundos": 1, "sekunde": 1, "sekunden": 1,
    "min": 60, "mins": 60, "minute": 60, "minutes": 60, "m": 60, "分": 60, "分 钟": 60, "minuto": 60,
    "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600, "小 时": 3600, "hora": 3600, "stunde": 3600, "heure": 3600,
    "d": 86400, "day": 86400, "days": 86400, "daily": 86400, "天": 86400, "日": 86400, "dia": 86400, "tag": 86400, "jour": 86400,
    "week": 604800, "weeks": 604800, "wk": 604800, "周": 604800,
    "month": 2629800, "months": 2629800, "mo": 2629800, "月": 2629800, "year": 31557600, "yr": 31557600, "年": 31557600,
}  # fmt: skip
"""Seconds of a unit of time, tokens separated by a space; a month is a twelfth of a year of 365.25 days."""
_MILLISECONDS: dict[str, float] = {
    "us": 1e-3, "ms": 1, "msec": 1, "msecs": 1, "millis": 1, "millisecond": 1, "milliseconds": 1, "毫 秒": 1, "milisegundos": 1,
    **{unit: seconds * 1000 for unit, seconds in _SECONDS.items() if seconds == 1},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ValueType:
    """One slot type: its form, the unit words it must carry, and the part it plays in the fact's value.

    bare: no filler such as `about` may stand before it.
    """

    form: Form
    units: tuple[str, ...] = ()
    role: Role = "value"
    bare: bool = False


TYPES: dict[str, ValueType] = {
    "count": ValueType("range"),
    "counts": ValueType("list"),
    "slashed": ValueType("slashed"),
    "times": ValueType("one", role="factor"),
    "once": ValueType("one", role="factor"),
    "several": ValueType("one"),
    "per_node": ValueType("one", bare=True),
    "plain": ValueType("range", bare=True),
    "nodes": ValueType("one"),
    "node_size": ValueType("one"),
    "batch": ValueType("range"),
    "large": ValueType("range"),
    "number": ValueType("range"),
    "tokens": ValueType("range"),
    "window": ValueType("range"),
    "long": ValueType("range"),
    "round": ValueType("one"),
    "kwindow": ValueType("one"),
    "pair": ValueType("one"),
    "kpair": ValueType("one"),
    "speed": ValueType("range"),
    "ceiling": ValueType("range"),
    "streamed": ValueType("range"),
    "ms": ValueType("range"),
    "pace": ValueType("range", tuple(_MILLISECONDS)),
    "duration": ValueType("range", tuple(_MILLISECONDS)),
    "period": ValueType("unit", tuple(_SECONDS), role="divisor"),
    "span": ValueType("one", tuple(_SECONDS), role="divisor"),
}  # fmt: skip
"""Slot type -> how it is written. `long` is a token count that is one by its look alone, `speed` and `streamed` are tokens/s
of one user, `pace` a time that can be one per token."""

_AT_LEAST = {"several": 2.0, "nodes": 2.0, "window": 256.0, "large": 1000.0}
_AT_MOST = {"batch": 8192.0, "streamed": 400.0}
_ONE_OF = {"per_node": (4.0, 8.0, 16.0), "node_size": (4.0, 8.0), "once": (1.0,)}
_WINDOWS = frozenset({4, 8, 16, 24, 32, 40, 48, 64, 80, 96, 100, 120, 128, 160, 192, 196, 200, 256, 512})
"""Thousands of tokens that contexts have: `32k sessions` are long ones, `10k sessions` are many."""
_KINDS_WITH_LOW = {"ms", "duration", "pace", "speed", "streamed", "ceiling"}
_SLOWEST_PACE_MS = 250.0
"""A bare time above this is no time per token."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value read from a slot; low and high when a range was written, all when a list was."""

    value: float
    low: float | None = None
    high: float | None = None
    all: tuple[float, ...] = ()


def tokens_value(token: Token) -> float | None:
    """A count of tokens: `k` is 1024 and `m` 1024²; None for other suffixes and for parts of a token."""
    scale = {"": 1, "k": KIB, "m": MIB}.get(token.suffix)
    if scale is None or token.number is None:
        return None
    return float(round(token.number * scale)) if scale > 1 else token.number


def read(kind: str, tokens: Sequence[Token]) -> Quantity | None:
    """The quantity that the tokens of a slot of type `kind` state; None when they cannot be one."""
    numbers = [place for place, token in enumerate(tokens) if token.number is not None]
    unit = " ".join(token.text for token in tokens[numbers[-1] + 1 if numbers else 0 :])
    if kind == "period":
        return Quantity(_SECONDS[unit])
    values = [_one(kind, tokens[place], unit) for place in numbers]
    found = [value for value in values if value is not None and math.isfinite(value) and value > 0]
    if len(found) != len(values) or not found:
        return None
    low, high = min(found), max(found)
    if TYPES[kind].form in ("list", "slashed"):
        return Quantity(found[0], all=tuple(dict.fromkeys(found)))
    if low == high:
        return Quantity(low)
    # the stricter end: what meets it meets the whole range
    return Quantity(low if kind in _KINDS_WITH_LOW else high, low=low, high=high)


def _one(kind: str, token: Token, unit: str) -> float | None:
    if kind in ("tokens", "window", "long", "pair", "kpair", "kwindow", "round"):
        value = tokens_value(token)
        if value is None or value != math.floor(value):
            return None
        if (
            value < _AT_LEAST.get(kind, 0.0)
            or (kind == "long" and not _looks_long(token, value))
            or (kind == "pair" and value < 100)
        ):
            return None
        if kind in ("kpair", "kwindow") and token.suffix != "k":
            return None
        if kind == "round" and (token.suffix or value % 1000 or not 4000 <= value <= 2e6):
            return None
        if kind == "kwindow" and token.number not in _WINDOWS:
            return None
        return value
    value = token.value
    if token.suffix and TYPES[kind].role == "factor":
        return None
    if not _AT_LEAST.get(kind, 0.0) <= value <= _AT_MOST.get(kind, math.inf) or (
        kind in _ONE_OF and value not in _ONE_OF[kind]
    ):
        return None
    if kind in ("speed", "streamed"):
        return 1000.0 / value if value > 0 else None
    if kind == "span":
        return value * _SECONDS[unit]
    if kind in ("duration", "pace"):
        value *= _MILLISECONDS[unit]
        return None if kind == "pace" and value > _SLOWEST_PACE_MS else value
    return value


def _looks_long(token: Token, value: float) -> bool:
    """`128k`, `1m`, `8192`, `131072`: what is written for a context and hardly for anything else."""
    if not 1000 <= value <= 20 * MIB or token.end - token.start > len(token.text) + 1:
        # a million spelt out counts something else
        return False
    return bool(token.suffix) or (value >= 2 * KIB and value % KIB == 0)
