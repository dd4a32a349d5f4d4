"""Writing what the lint writes: reports, baselines, mended and new entries."""

from __future__ import annotations

from pathlib import Path

from advisor.atomic import replace_file
from advisor.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Give a file new text, whole or not at all. Raises InputError when that is not possible."""
    try:
        replace_file(path, text.encode("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
