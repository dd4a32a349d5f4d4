"""Texts that say nearly the same, found through the runs of words they share, in time linear in the text."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

_PUNCTUATION = ".,;:!?()[]{}\"'"
_RUN = 4
"""Words in a run."""

_KEEP_ONE_IN = 6
"""Share of words that start a run which is compared: the same words in every text, so that equal runs meet."""

_MAX_OWNERS = 24
"""A run in more texts than this is boilerplate and is not followed further."""

SIMILAR = 0.6
"""Share of the smaller text's runs from which on two texts are called near duplicates."""

_MIN_RUNS = 5
"""Texts with fewer compared runs are too short to tell."""


def similar_pairs(texts: Mapping[str, str]) -> Iterator[tuple[str, str, float]]:
    """(later, earlier, share of runs in common) for each text that repeats one before it, at most one pair a text."""
    starts: dict[str, bool] = {}
    owners: dict[int, list[str]] = {}
    sizes: dict[str, int] = {}
    for name, text in texts.items():
        runs = _runs(text, starts)
        sizes[name] = len(runs)
        shared: dict[str, int] = {}
        for run in runs:
            holders = owners.setdefault(run, [])
            for other in holders:
                shared[other] = shared.get(other, 0) + 1
            if len(holders) < _MAX_OWNERS:
                holders.append(name)
        if shared and len(runs) >= _MIN_RUNS:
            other = max(
                shared, key=lambda holder: shared[holder] / max(min(len(runs), sizes[holder]), _MIN_RUNS)
            )
            share = shared[other] / max(min(len(runs), sizes[other]), _MIN_RUNS)
            if share >= SIMILAR:
                yield name, other, share


def _runs(text: str, starts: dict[str, bool]) -> set[int]:
    """Hashes of the runs that begin with a chosen word. starts: which words are chosen, filled as words are met."""
    words = text.lower().split()
    for word in set(words).difference(starts):
        starts[word] = zlib.crc32(word.strip(_PUNCTUATION).encode()) % _KEEP_ONE_IN == 0
    return {
        zlib.crc32(" ".join(words[index : index + _RUN]).encode())
        for index, word in enumerate(words[: 1 - _RUN])
        if starts[word]
    }
