"""Mutations for fuzzing: reproducible from a seed, without anything to install."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from types import FrameType

from fuzz_specs import Spec

MAX_BYTES = 20_000
SECONDS = 5.0
"""What one input may take; more is a fault."""


class TooSlowError(Exception):
    """An input took longer than SECONDS."""


def inputs(spec: Spec, seed: int) -> Iterator[bytes]:
    """Endless inputs: the seeds as they are, then mutations of them, mixed with words of the format."""
    rng = random.Random(seed)
    seeds = list(spec.seeds())
    yield from seeds
    while True:
        data = rng.choice(seeds)
        for _ in range(rng.choice((1, 1, 2, 3, 8))):
            data = _mutate(rng, data, seeds, spec.words)[:MAX_BYTES]
        yield data


def _mutate(rng: random.Random, data: bytes, seeds: list[bytes], words: object) -> bytes:
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((0, 1, 1, 2, 4, 8, 32, 200)))
    choice = rng.randrange(9)
    if choice == 0:  # another byte
        return data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :]
    if choice == 1:  # without a part
        return data[:start] + data[end:]
    if choice == 2:  # a part repeated
        return data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:]
    if choice in (3, 4) and words:  # a word of the format put in, or in the place of a part
        word = rng.choice(list(words))  # type: ignore[call-overload]  # a sequence of words
        return data[:start] + word + data[end if choice == 4 else start :]
    if choice == 5:  # the start of one, the end of another
        other = rng.choice(seeds)
        return data[:start] + other[rng.randrange(len(other) + 1) :]
    if choice == 6:  # parts swapped
        middle = rng.randrange(start, len(data) + 1)
        return data[start:middle] + data[:start] + data[middle:]
    if choice == 7:  # digits changed
        digits = [i for i, c in enumerate(data) if 48 <= c <= 57]
        if digits:
            at = rng.choice(digits)
            return data[:at] + rng.choice((b"0", b"9", b"-1", b"99999999", b"1e99", b"0.5")) + data[at + 1 :]
    return data[:start] + bytes(rng.randrange(256) for _ in range(rng.choice((1, 2, 6)))) + data[start:]


def run_one(spec: Spec, data: bytes) -> None:
    """Run a target on one input. Raises whatever is wrong with it, TooSlowError included."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"more than {SECONDS:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        spec.run(data)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def search(
    spec: Spec, *, seed: int, count: int | None = None, seconds: float | None = None
) -> Iterator[tuple[int, bytes, BaseException]]:
    """(number, input, fault) of the faults found in `count` inputs or `seconds`."""
    until = time.monotonic() + seconds if seconds is not None else None
    for number, data in enumerate(inputs(spec, seed)):
        if (count is not None and number >= count) or (until is not None and time.monotonic() > until):
            return
        try:
            run_one(spec, data)
        except Exception as error:
            yield number, data, error
