"""Keeping the garbage collector from stopping the screen: a pass over the knowledge base takes longer than a key press."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG, _MIDDLE, _OLD = 1000, 20, 100
"""Passes over everything come a hundred times as rarely as passes over what is young."""


def make_passes_rare() -> None:
    """Set the collector's thresholds for a program that keeps much and drops little."""
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)


@contextmanager
def no_collection() -> Iterator[None]:
    """No pass while something large and lasting is built, and none over it afterwards."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
