"""Writing files so that a reader, a crash or a full disk only ever leaves the old or the new content, whole."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

PREFIX = ".rackfit-"
"""How temporary files begin; a process that is killed may leave one behind, which nothing reads."""


def replace_file(path: Path, content: bytes, *, private: bool = False, durable: bool = True) -> None:
    """Give a file new content, and keep its permissions; a new file gets the umask's, or 0600 if private.

    A link or a pipe is replaced, not followed or waited for; a device (/dev/null) is written to, never replaced. `durable`
    waits for the disk. Raises OSError; whatever ends the writing, no temporary file stays.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)):
        path.write_bytes(content)
        return
    temporary = path.parent / f"{PREFIX}{os.urandom(8).hex()}.tmp"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, 0o600 if private else 0o666)
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
            out.flush()
            if durable:
                os.fsync(out.fileno())
        if mode is not None and stat.S_ISREG(mode) and not private:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
