"""Where the shipped knowledge base and schemas are: inside the wheel, or at the root of a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped(name: str) -> Path:
    """Folder `kb` or `schemas` as shipped with this installation."""
    packaged = _PACKAGE / "_data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name


def kb_folder() -> Path:
    """The shipped knowledge base."""
    return shipped("kb")


def schema_folder() -> Path:
    """The shipped schemas."""
    return shipped("schemas")
