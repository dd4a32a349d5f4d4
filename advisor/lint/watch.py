"""Waiting for a knowledge base to change, by looking at sizes and times a few times a second."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from advisor.knowledge.limits import MAX_ENTRIES, MAX_FOLDER_LEVELS
from advisor.reading import files_below


def changes(roots: Sequence[Path], *, seconds: float = 0.5) -> Iterator[None]:
    """Yield at once, and then each time that a file under a root was added, removed or written."""
    seen = state(roots)
    yield
    while True:
        time.sleep(seconds)
        now = state(roots)
        if now != seen:
            seen = now
            yield


def state(roots: Sequence[Path]) -> frozenset[tuple[str, int, int]]:
    """Path, size and time of the files under some folders, links not followed."""
    found: set[tuple[str, int, int]] = set()
    for root in roots:
        for entry in files_below(root, levels=MAX_FOLDER_LEVELS, names=MAX_ENTRIES):
            with contextlib.suppress(OSError):  # a file that vanished is a change the next time
                status = entry.stat(follow_symlinks=False)
                found.add((entry.path, status.st_size, status.st_mtime_ns))
    return frozenset(found)
