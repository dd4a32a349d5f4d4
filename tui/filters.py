"""What no text may send to the terminal, wherever it comes from."""

from __future__ import annotations

import unicodedata

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter


class PrintableOnly(LineFilter):
    """Drops characters that are no glyphs from everything that is drawn: the last guard against escape sequences."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  # Textual's
        """The same segments without control and format characters."""
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [
            segment
            if segment.text.isprintable()
            else Segment("".join(filter(_drawable, segment.text)), segment.style, segment.control)
            for segment in segments
        ]


def _drawable(character: str) -> bool:
    """True for glyphs and for spaces of any width; False for what moves the cursor, hides or turns its neighbours."""
    return character.isprintable() or unicodedata.category(character) == "Zs"
