"""The only writers: standard output is data, standard error is narration. Control characters never pass."""

from __future__ import annotations

import sys

from advisor.visible import encodable, visible


def data(text: str, *, end: str = "\n") -> None:
    """Write to standard output."""
    sys.stdout.write(encodable(visible(text), sys.stdout.encoding or "utf-8") + end)


def narrate(text: str) -> None:
    """Write one line to standard error."""
    sys.stderr.write(encodable(visible(" ".join(text.splitlines())), sys.stderr.encoding or "utf-8") + "\n")
