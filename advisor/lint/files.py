"""Writing files so that a reader, or a crash, only ever sees the old or the new text, whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from advisor.errors import InputError


def write_atomically(path: Path, text: str) -> None:
    """Replace a file by new text, with its permissions kept. Raises InputError when that is not possible."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
