"""The only place that knows 1024 from 1000: units of memory, tokens, time and rate, parsed and printed."""

from __future__ import annotations

import math
import re

from advisor.errors import InputError

KIB, MIB, GIB, TIB = 1024, 1024**2, 1024**3, 1024**4
KB, MB, GB, TB = 1000, 1000**2, 1000**3, 1000**4
HOURS_PER_MILLION_SECONDS = 1e6 / 3600.0
"""Hours in 1e6 seconds: USD/GPU-hour divided by tok/s, times this and per million tokens."""

BITS_PER_VALUE: dict[str, float] = {
    "fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "fp6": 6, "fp4": 4, "int4": 4,
}  # fmt: skip
"""Bits of one stored value, scales excluded."""

_NUMBER = re.compile(
    r"[+-]?(?=\.?\d)(?:\d{1,30}(?:[_,]\d{3}){0,10}|\d{0,30})(?:\.\d{0,30})?(?:[eE][+-]?\d{1,4})?"
)
_TOKEN_SUFFIX = {"": 1.0, "k": 1024.0, "m": 1024.0 * 1024.0}


def parse_number(text: str, *, what: str) -> float:
    """Read a plain finite decimal number. `what` names the input in the error.

    Raises InputError for anything else, NaN and infinity included.
    """
    cleaned = text.strip()
    if not cleaned or len(cleaned) > 64 or not _NUMBER.fullmatch(cleaned):
        raise InputError(f"{what}: {shown(text)} is not a number; write for example 4096 or 0.5")
    value = float(re.sub("[_,]", "", cleaned))
    if not math.isfinite(value):
        raise InputError(f"{what}: {shown(text)} is not a finite number")
    return value


def parse_tokens(text: str, *, what: str = "tokens") -> int:
    """Read a token count: `8192`, `128k` (131,072: context sizes are powers of two) or `1M` (1,048,576).

    Raises InputError when it is not a positive whole number of at most 1e9 tokens.
    """
    cleaned = text.strip().lower().removesuffix("tokens").removesuffix("tok").strip()
    suffix = cleaned[-1:] if cleaned[-1:] in ("k", "m") else ""
    value = parse_number(cleaned.removesuffix(suffix), what=what) * _TOKEN_SUFFIX[suffix]
    if not 1 <= value <= 1e9 or value != math.floor(value):
        raise InputError(
            f"{what}: {shown(text)} is out of range; give 1 to 1,000,000,000 tokens, such as 8192 or 128k"
        )
    return int(value)


def shown(text: str, limit: int = 60) -> str:
    """Quote user text for a message: control and format characters escaped, cut at `limit` characters."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    return f"'{safe}{'…' if len(text) > limit else ''}'"


def format_bytes(value: float) -> str:
    """Print bytes as GiB (binary), the unit that engines log: `35.2 GiB`; small values as MiB or KiB."""
    magnitude = abs(value)
    for unit, name in ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if magnitude >= unit:
            return f"{value / unit:,.1f} {name}"
    return f"{value:,.0f} B"


def format_count(value: float) -> str:
    """Print a count or rate with thousands separators and no more digits than carry meaning."""
    if not math.isfinite(value):
        return "unbounded"
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:,.2f}"


def format_tokens(value: float) -> str:
    """Print a token count: exact powers of 1024 as `128k` or `1M`, others with separators."""
    if value >= 1024 and value % 1024 == 0 and value < 1024 * 1024:
        return f"{int(value) // 1024}k"
    if value >= 1024 * 1024 and value % (1024 * 1024) == 0:
        return f"{int(value) // (1024 * 1024)}M"
    return format_count(value)


def format_ms(value: float) -> str:
    """Print milliseconds; from ten seconds on, seconds."""
    return f"{value / 1000:,.1f} s" if value >= 10_000 else f"{format_count(value)} ms"


def format_ratio(value: float) -> str:
    """Print a ratio to two decimals with its sign of multiplication: `1.09×`."""
    return f"{value:.2f}×"
