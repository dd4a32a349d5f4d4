"""The largest batch of a deployment that stays within latency limits."""

from __future__ import annotations

from advisor.sizing.deployment import Curve


def largest_batch(
    curve: Curve, *, ttft_ms: float | None, tpot_ms: float | None, max_batch: float
) -> float | None:
    """Sequences per replica, at most `max_batch`, with both latencies within their limits; None when one alone exceeds them.

    Both latencies grow with the batch, so bisection finds the edge; it stops at whole sequences.
    """

    def within(batch: float) -> bool:
        return (tpot_ms is None or curve.tpot_ms(batch) <= tpot_ms) and (
            ttft_ms is None or curve.ttft_ms(batch) <= ttft_ms
        )

    top = max(1, int(min(max_batch, curve.places)))
    if not within(1.0):
        return None
    if within(float(top)):
        return float(top)
    low, high = 1, top
    while high - low > 1:
        middle = (low + high) // 2
        if within(float(middle)):
            low = middle
        else:
            high = middle
    return float(low)
