"""Base of the widgets that draw themselves as one piece of content."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget


class Drawn(Widget):
    """Lines laid out for the width, kept until the width or the matter changes. Links keep the style they are drawn with."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id, classes=classes)
        self.auto_links = False
        self._width = -1
        self._lines: list[Content] = []

    def lines(self, width: int) -> list[Content]:
        """The lines at this width."""
        raise NotImplementedError

    def laid_out(self, width: int) -> list[Content]:
        """The lines, from the last call when the width is the same."""
        if width != self._width:
            self._width, self._lines = width, self.lines(max(8, width))
        return self._lines

    def redraw(self, *, layout: bool = True) -> None:
        """Draw anew: the matter has changed. layout: and the number of lines may have."""
        self._width = -1
        self.refresh(layout=layout)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  # Textual's
        """Lines at this width."""
        return max(1, len(self.laid_out(width)))

    def render(self) -> Content:
        """All lines."""
        return Content("\n").join(self.laid_out(self.content_size.width) or [Content(" ")])
