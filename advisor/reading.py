"""Reading what users and strangers give: never more than a limit of it at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""Of a file that is read whole."""


def read_bounded(path: Path, limit: int = MAX_TEXT_BYTES) -> bytes:
    """The bytes of a file. Raises OSError, ValueError when there are more than `limit`."""
    with path.open("rb") as handle:
        raw = handle.read(limit + 1)
    if len(raw) > limit:
        raise ValueError(f"larger than {limit:,} bytes")
    return raw


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
