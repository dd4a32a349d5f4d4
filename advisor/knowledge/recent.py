"""A bounded memory of results: what was asked for lately stays, the rest is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")
_MISSING: Any = object()


class Recent:
    """Results by key in two generations of at most `size` each: when the young one is full, the old one is dropped.

    A result that is asked for again moves to the young generation, so what is in use is never lost.
    """

    def __init__(self, size: int = 20_000) -> None:
        self.size = size
        self._young: dict[Hashable, Any] = {}
        self._old: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result kept under a key, or what `make` gives, which is kept. What `make` raises is raised and nothing kept."""
        found: T = self._young.get(key, _MISSING)
        if found is not _MISSING:
            return found
        found = self._old.pop(key, _MISSING)
        if found is _MISSING:
            found = make()
        if len(self._young) >= self.size:
            self._old, self._young = self._young, {}
        self._young[key] = found
        return found
