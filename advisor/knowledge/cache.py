"""A content-keyed cache of records: JSON, never pickled; a corrupt, foreign or unwritable one is ignored."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from types import GenericAlias
from typing import Any

import msgspec

from advisor.atomic import PREFIX, replace_file
from advisor.knowledge.limits import MAX_TOTAL_BYTES
from advisor.reading import read_found
from advisor.records import KINDS, Entry

_KEPT = 8
"""Files of one sort that stay in the cache folder."""
_LARGEST = 2 * MAX_TOTAL_BYTES
"""Bytes of one cache file."""


@lru_cache(maxsize=1)
def _stored_type() -> Any:
    """The records of one state of a knowledge base, in one list for each kind folder."""
    lists = [(kind, GenericAlias(list, (record,))) for kind, record in KINDS.items()]
    return msgspec.defstruct("Stored", [("fingerprint", str), *lists])


def load_cached(fingerprint: str) -> list[Entry] | None:
    """The entries stored under `fingerprint`, in id order, or None."""
    raw = read_blob(f"kb-{fingerprint}.json")
    if raw is None:
        return None
    try:
        stored = msgspec.json.decode(raw, type=_stored_type())
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if stored.fingerprint != fingerprint:
        return None
    return [entry for kind in sorted(KINDS) for entry in getattr(stored, kind)]


def save_cached(fingerprint: str, entries: Iterable[Entry]) -> None:
    """Store entries, given in id order; failures are ignored, since a cache is only a speed-up."""
    by_kind: dict[str, list[Entry]] = {kind: [] for kind in KINDS}
    for entry in entries:
        by_kind[entry.kind].append(entry)
    write_blob(f"kb-{fingerprint}.json", msgspec.json.encode({"fingerprint": fingerprint, **by_kind}))


def cache_folder() -> Path | None:
    """The user's cache folder for rackfit; None when there is none."""
    from platformdirs import user_cache_path

    try:
        return user_cache_path("rackfit", appauthor=False)
    except (OSError, RuntimeError, KeyError):
        return None


def read_blob(name: str) -> bytes | None:
    """The bytes of one cache file, None when there is none or it cannot be read."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        return read_found(folder / name, _LARGEST)
    except (OSError, ValueError):
        return None


def write_blob(name: str, content: bytes) -> None:
    """Write one cache file atomically and drop the oldest of its sort (`kb-…`, `lint-…`). Failures are ignored."""
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError, ValueError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(folder / name, content, private=True, durable=False)
        _prune(folder, f"{name.partition('-')[0]}-*", _KEPT)
        # what killed processes left behind; the newest of them may still be written
        _prune(folder, f"{PREFIX}*", _KEPT)


def _prune(folder: Path, pattern: str, kept: int) -> None:
    def age(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except OSError:
            return 0.0

    for old in sorted(folder.glob(pattern), key=age, reverse=True)[kept:]:
        with contextlib.suppress(OSError):
            old.unlink()
