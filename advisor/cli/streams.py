"""The only writers: standard output is data, standard error is narration. Control characters never pass."""

from __future__ import annotations

import sys

_KEPT = {"\n", "\t"}
_HIDDEN = {
    *(chr(c) for c in (0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF, 0x061C)),
    *(chr(c) for c in range(0x202A, 0x202F)),
    *(chr(c) for c in range(0x2066, 0x206A)),
}


def visible(text: str) -> str:
    """Text with control, bidirectional and zero-width characters written as escapes; newlines and tabs stay."""
    if text.isprintable() and not any(c in _HIDDEN for c in text):
        return text
    return "".join(
        c if c in _KEPT or (c.isprintable() and c not in _HIDDEN) else c.encode("unicode_escape").decode() for c in text
    )


def data(text: str, *, end: str = "\n") -> None:
    """Write to standard output."""
    sys.stdout.write(visible(text).encode(sys.stdout.encoding or "utf-8", "backslashreplace").decode(sys.stdout.encoding or "utf-8") + end)


def narrate(text: str) -> None:
    """Write one line to standard error."""
    sys.stderr.write(visible(" ".join(text.splitlines())) + "\n")
