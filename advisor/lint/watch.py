"""Waiting for a knowledge base to change, by looking at sizes and times a few times a second."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from advisor.knowledge.limits import MAX_ENTRIES, MAX_FOLDER_LEVELS


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
    folders = [(str(root), 0) for root in roots]
    while folders and len(found) < MAX_ENTRIES:
        folder, level = folders.pop()
        try:
            with os.scandir(folder) as listing:
                for entry in listing:
                    if entry.is_dir(follow_symlinks=False):
                        if level < MAX_FOLDER_LEVELS:
                            folders.append((entry.path, level + 1))
                    else:
                        status = entry.stat(follow_symlinks=False)
                        found.add((entry.path, status.st_size, status.st_mtime_ns))
        except OSError:  # a folder that vanished, or may not be read, is a change of its own next time
            continue
    return frozenset(found)
