"""A content-keyed cache of records: JSON, never pickled; a corrupt, foreign or unwritable one is ignored."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from advisor.records import (
    Accelerator,
    Calibration,
    Concept,
    Engine,
    Evidence,
    Fact,
    Gotcha,
    Model,
    Rule,
    Source,
    System,
)


class Stored(msgspec.Struct):
    """The records of one state of a knowledge base, by kind folder."""

    fingerprint: str
    concepts: list[Concept]
    gotchas: list[Gotcha]
    evidence: list[Evidence]
    models: list[Model]
    accelerators: list[Accelerator]
    systems: list[System]
    rules: list[Rule]
    facts: list[Fact]
    calibration: list[Calibration]
    engines: list[Engine]
    sources: list[Source]


def cache_folder() -> Path | None:
    """The user's cache folder for rackfit; None when there is none."""
    from platformdirs import user_cache_path

    try:
        return user_cache_path("rackfit", appauthor=False)
    except (OSError, RuntimeError, KeyError):
        return None


def load_cached(fingerprint: str) -> Stored | None:
    """The records stored under `fingerprint`, or None."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        stored = msgspec.json.decode((folder / f"kb-{fingerprint}.json").read_bytes(), type=Stored)
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return stored if stored.fingerprint == fingerprint else None


def save_cached(stored: Stored) -> None:
    """Store atomically; failures (read-only home, full disk) are ignored, since a cache is only a speed-up."""
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(msgspec.json.encode(stored))
            os.replace(name, folder / f"kb-{stored.fingerprint}.json")
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
        _prune(folder)


def _prune(folder: Path, keep: int = 6) -> None:
    def age(path: Path) -> Any:
        try:
            return path.stat().st_mtime
        except OSError:
            return 0.0

    for old in sorted(folder.glob("kb-*.json"), key=age, reverse=True)[keep:]:
        with contextlib.suppress(OSError):
            old.unlink()
