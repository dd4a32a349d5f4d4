"""Reading what users and strangers give: never more than a limit of it at once."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""Of a file that is read whole."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_bounded(path: Path, limit: int = MAX_TEXT_BYTES) -> bytes:
    """The bytes of a file that the user names; it may be a pipe. Raises OSError, ValueError when there are more than `limit`."""
    with path.open("rb") as handle:
        return _at_most(handle, limit)


def read_found(path: Path, limit: int = MAX_TEXT_BYTES) -> bytes:
    """The bytes of a file that lies where nobody looked: a regular one. Raises OSError, ValueError when it is larger than `limit`."""
    with open_found(path) as handle:
        if os.fstat(handle.fileno()).st_size > limit:
            raise ValueError(f"larger than {limit:,} bytes")
        return _at_most(handle, limit)


def holds(path: Path, content: bytes) -> bool:
    """Whether a file says exactly that already."""
    try:
        return read_found(path, len(content)) == content
    except (OSError, ValueError):
        return False


def _at_most(handle: IO[bytes], limit: int) -> bytes:
    raw = handle.read(limit + 1)
    if len(raw) > limit:
        raise ValueError(f"larger than {limit:,} bytes")
    return raw


def open_found(path: Path) -> IO[bytes]:
    """A regular file, open for reading. A pipe or a device, which may keep its reader waiting for ever, is an OSError."""
    descriptor = os.open(path, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def files_below(folder: Path, *, levels: int, names: int) -> Iterator[os.DirEntry[str]]:
    """The files under a folder that many levels deep; links are not followed, and after that many names the walk ends."""
    folders = [(str(folder), 0)]
    while folders:
        place, level = folders.pop()
        try:
            with os.scandir(place) as listing:
                found = sorted(islice(listing, max(0, names)), key=lambda entry: entry.name)
        except OSError:  # it vanished, or may not be read
            continue
        names -= len(found)
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                yield entry
            elif level < levels:
                folders.append((entry.path, level + 1))


def read_lines(handle: IO[bytes], limit: int) -> Iterator[tuple[int, str, bool]]:
    """(number from 1, text, whether it was cut) of each line. Of a line over `limit` bytes, the rest is passed over.

    What is not UTF-8 becomes U+FFFD; a byte-order mark at the start is left out.
    """
    number = 0
    while raw := handle.readline(limit):
        number += 1
        text = raw.decode("utf-8", "replace")
        cut = len(raw) == limit and not raw.endswith(b"\n")
        while raw and not raw.endswith(b"\n"):
            raw = handle.readline(limit)
        yield number, (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\r\n"), cut


def line_id(given: object, number: int) -> str | int:
    """The id of a batch line as it is answered: text or a whole number as given, its number without one."""
    return number if given is None else given if isinstance(given, (str, int)) else str(given)
