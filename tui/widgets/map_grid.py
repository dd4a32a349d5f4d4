"""The heat map itself: letters on coloured cells, the current point, and a cursor to walk with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message as Event
from textual.reactive import reactive

from tui.paint import MAP_STYLE, VERDICT_LETTER, clip
from tui.widgets.drawn import Drawn

if TYPE_CHECKING:
    from advisor.reasoning.heatmap import Heatmap

CELL_WIDTH = 2
LABEL_WIDTH = 9
_TICK_ROWS = 4
_TICK_GAP = 4


class MapGrid(Drawn, can_focus=True):
    """Rows from the largest y down; `◉` stands before the letter of the current point, `▸` before the cursor's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1,0)", "point", key_display="←↑↓→", id="map.left"),
        Binding("right", "move(1,0)", "Right", show=False, id="map.right"),
        Binding("up", "move(0,1)", "Up", show=False, id="map.up"),
        Binding("down", "move(0,-1)", "Down", show=False, id="map.down"),
        Binding("enter", "choose", "ask there", id="map.choose"),
        Binding("c", "current", "current point", id="map.current"),
    ]

    cursor: reactive[tuple[int, int]] = reactive((0, 0))

    class Moved(Event):
        """The cursor moved."""

    class Chosen(Event):
        """The user wants the point under the cursor as the requirement."""

    def __init__(self) -> None:
        super().__init__(id="map-grid")
        self.grid: Heatmap | None = None
        self.current: tuple[int, int] | None = None
        self.labels: tuple[list[str], list[str]] = ([], [])

    def show(
        self, grid: Heatmap, current: tuple[int, int] | None, labels: tuple[list[str], list[str]]
    ) -> None:
        """Draw a grid. current: column and row of the present requirement; labels: of every column and row."""
        walked = self._walked(grid)
        self.grid, self.current, self.labels = grid, current, labels
        self.cursor = walked or current or (len(grid.xs) // 2, len(grid.ys) // 2)
        self.redraw()

    def clear(self) -> None:
        """Draw nothing."""
        self.grid = None
        self.redraw()

    def _walked(self, grid: Heatmap) -> tuple[int, int] | None:
        """Where the cursor goes on another grid of the same axes; None when it stood on the current point."""
        old = self.grid
        if (
            old is None
            or (old.x_fact, old.y_fact) != (grid.x_fact, grid.y_fact)
            or self.cursor == self.current
        ):
            return None
        x, y = old.xs[self.cursor[0]], old.ys[self.cursor[1]]
        return nearest(grid.xs, x), nearest(grid.ys, y)

    def watch_cursor(self) -> None:
        """Draw the cursor elsewhere."""
        self.redraw(layout=False)
        self.post_message(self.Moved())

    def lines(self, width: int) -> list[Content]:
        """Rows with labels, then the labels of the columns."""
        grid = self.grid
        if grid is None:
            return []
        rows = []
        for row in range(len(grid.ys) - 1, -1, -1):
            label = self.labels[1][row] if (len(grid.ys) - 1 - row) % _TICK_ROWS == 0 else ""
            cells = Content("").join(self._cell(column, row) for column in range(len(grid.xs)))
            rows.append(clip(Content.assemble((f"{label:>{LABEL_WIDTH - 1}} ", "$quiet"), cells), width))
        return [*rows, clip(Content(self._ticks()).stylize("$quiet"), width)]

    def _cell(self, column: int, row: int) -> Content:
        assert self.grid is not None
        word = self.grid.cells[row][column]
        here, walked = (column, row) == self.current, self.has_focus and (column, row) == self.cursor
        mark = "◉" if here else "▸" if walked else " "
        style = MAP_STYLE[word] + (" reverse bold" if walked else " bold" if here else "")
        return Content(mark + VERDICT_LETTER[word]).stylize(style)

    def _ticks(self) -> str:
        line = " " * LABEL_WIDTH
        for column, label in enumerate(self.labels[0]):
            at = LABEL_WIDTH + column * CELL_WIDTH
            if at >= len(line.rstrip()) + (_TICK_GAP if line.strip() else 0):
                line = line.ljust(at) + label
        return line

    def on_focus(self) -> None:
        """Show the cursor."""
        self.redraw(layout=False)

    def on_blur(self) -> None:
        """Hide it."""
        self.redraw(layout=False)

    def action_move(self, columns: int, rows: int) -> None:
        """Walk."""
        if self.grid is not None:
            column, row = self.cursor
            self.cursor = (
                max(0, min(len(self.grid.xs) - 1, column + columns)),
                max(0, min(len(self.grid.ys) - 1, row + rows)),
            )

    def action_current(self) -> None:
        """Go to the current point."""
        if self.current is not None:
            self.cursor = self.current

    def action_choose(self) -> None:
        """Make the point under the cursor the requirement."""
        self.post_message(self.Chosen())


def nearest(values: Sequence[float], value: float) -> int:
    """Index of the value closest to another."""
    return min(range(len(values)), key=lambda index: abs(values[index] - value))
