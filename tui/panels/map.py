"""Map: the verdict over two facts, with the current point; walk over it and ask there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from tui.paint import MAP_STYLE, VERDICT_LETTER, joined
from tui.panels.base import NO_ANSWER, Panel, hint
from tui.screens.picker import Picker
from tui.widgets.map_grid import CELL_WIDTH, LABEL_WIDTH, MapGrid, nearest

if TYPE_CHECKING:
    from advisor.knowledge.base import KnowledgeBase
    from advisor.reasoning.heatmap import Heatmap
    from advisor.records import Facts
    from tui.engine import Snapshot

DEFAULT_AXES = ("context_tokens", "concurrency")
_SPAN = 32.0
_MOST_COLUMNS, _MOST_ROWS = 60, 40
_RESIZE_PAUSE_SECONDS = 0.3
_MEANING = {"node": "nodes", "rack": "rack", "either": "either", "none": "nothing\u00a0fits"}


class _Superseded(Exception):  # noqa: N818  # a signal, not an error
    """A newer map was asked for."""


@dataclass(frozen=True)
class _Map:
    """A finished map: grid, place of the current point, labels of columns and rows."""

    grid: Heatmap
    current: tuple[int, int] | None
    labels: tuple[list[str], list[str]]


class MapPanel(Panel):
    """Heat map and what stands at the cursor."""

    NAME = "map"
    FOCUS = "#map-grid"
    HELP = "N nodes, R rack, = either, × nothing fits. ◉ is the current requirement. x and y choose the axes, enter asks there."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "axis(0)", "horizontal", id="map.x"),
        Binding("y", "axis(1)", "vertical", id="map.y"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._axes = list(DEFAULT_AXES)
        self._stop = threading.Event()
        self._steps = (0, 0)
        self._spans: dict[str, tuple[float, float]] = {}

    def compose(self) -> ComposeResult:
        """Legend, grid, point."""
        yield Static("", id="map-legend", classes="legend")
        yield MapGrid()
        yield Static("", id="map-point", classes="legend")

    def draw(self, snapshot: Snapshot) -> None:
        """Compute and draw the map of this requirement."""
        self._stop.set()
        if snapshot.recommendation is None:
            self.query_one("#map-legend", Static).update(hint(NO_ANSWER))
            self.query_one("#map-point", Static).update("")
            self.query_one(MapGrid).clear()
            return
        parts = [
            Content(f" {VERDICT_LETTER[word]} ").stylize(MAP_STYLE[word]) + f" {text}"
            for word, text in _MEANING.items()
        ]
        self.query_one("#map-legend", Static).update(joined([*parts, Content("◉ now")]))
        # after the refresh, since the room is known only then
        self.call_after_refresh(self.run_worker, self.rackfit.guard(self._compute, snapshot), exclusive=True)

    def _room(self) -> tuple[int, int]:
        size = self.query_one(MapGrid).content_size
        columns = min(_MOST_COLUMNS, max(6, (size.width - LABEL_WIDTH) // CELL_WIDTH))
        return columns, min(_MOST_ROWS, max(4, size.height - 1))

    async def _compute(self, snapshot: Snapshot) -> None:
        from advisor.errors import RackfitError

        self._steps = self._room()
        stop = self._stop = threading.Event()
        engine = self.rackfit.engine
        x_fact, y_fact = self._axes
        try:
            drawn = await self.rackfit.compute(
                "drawing the map",
                _evaluate,
                snapshot,
                x_fact,
                y_fact,
                self._steps,
                self._spans,
                lambda: stop.is_set() or engine.wanted,
            )
        except _Superseded:
            return
        except RackfitError as error:
            self.query_one("#map-point", Static).update(Content(f"! {error}"))
            return
        self.query_one(MapGrid).show(drawn.grid, drawn.current, drawn.labels)

    def on_resize(self) -> None:
        """Draw anew for another size, once it is settled."""

        def settled() -> None:
            if self.display and self._drawn is not None and self._room() != self._steps:
                self.draw(self._drawn)

        self.set_timer(_RESIZE_PAUSE_SECONDS, settled)

    def on_map_grid_moved(self) -> None:
        """Tell what stands at the cursor."""
        map_grid, snapshot = self.query_one(MapGrid), self._drawn
        if map_grid.grid is None or snapshot is None:
            return
        column, row = map_grid.cursor
        x_name, y_name = (snapshot.kb.facts[name].title for name in self._axes)
        word = map_grid.grid.cells[row][column]
        line = Content.assemble(
            (f"→ {x_name} ", "$quiet"), (map_grid.labels[0][column], "bold $foreground"),
            (f"   ↑ {y_name} ", "$quiet"), (map_grid.labels[1][row], "bold $foreground"),
            ("   ", ""), (f"{VERDICT_LETTER[word]} {_MEANING[word]}", "bold $foreground"),
        )  # fmt: skip
        self.query_one("#map-point", Static).update(line)

    def on_map_grid_chosen(self) -> None:
        """Make the point under the cursor the requirement."""
        map_grid = self.query_one(MapGrid)
        if map_grid.grid is None or self._drawn is None:
            return
        column, row = map_grid.cursor
        point = zip(self._axes, (map_grid.grid.xs[column], map_grid.grid.ys[row]), strict=True)
        facts = self._drawn.kb.facts
        self.rackfit.set_facts({n: int(v) if facts[n].type == "integer" else v for n, v in point})

    def action_axis(self, which: int) -> None:
        """Choose the fact of an axis."""
        if self._drawn is None:
            return
        facts = self._drawn.kb.facts.values()
        items = [
            (fact.name, Content(f"{fact.title}{f' ({fact.unit})' if fact.unit else ''}"))
            for fact in sorted(facts, key=lambda fact: (fact.order, fact.name))
            if fact.scope == "requirement" and fact.type in ("number", "integer") and fact.name != self._axes[1 - which] and fact.flag
        ]  # fmt: skip

        def chosen(name: str | None) -> None:
            if name is not None and self._drawn is not None:
                self._axes[which] = name
                self.draw(self._drawn)

        self.app.push_screen(
            Picker("Horizontal axis" if which == 0 else "Vertical axis", items, current=self._axes[which]),
            chosen,
        )


def _evaluate(
    snapshot: Snapshot,
    x_fact: str,
    y_fact: str,
    room: tuple[int, int],
    spans: dict[str, tuple[float, float]],
    stop: Callable[[], bool],
) -> _Map:
    """The map in the advisor's thread; ends early when `stop` says so."""
    from advisor.reasoning.heatmap import axis, heatmap

    kb = snapshot.kb
    requirement = snapshot.recommendation.requirement if snapshot.recommendation else {}
    known = {**requirement, **snapshot.facts}

    def progress(_cells: int) -> None:
        if stop():
            raise _Superseded

    axes: list[tuple[float, ...]] = []
    places: list[int | None] = []
    for name, steps in ((x_fact, room[0]), (y_fact, room[1])):
        now = _number(known, name)
        low, high = spans.get(name, (0.0, 0.0))
        if not low <= (now or low) <= high or not low:
            # the range stays while the point walks inside it
            spans[name] = low, high = _span(kb, known, name, now)
        values = list(axis(kb, name, low, high, steps))
        place = None
        if now is not None and values[0] <= now <= values[-1]:
            place = nearest(values, now)
            values[place] = now
        axes.append(tuple(values))
        places.append(place)
    grid = heatmap(
        kb, snapshot.facts, x_fact=x_fact, xs=axes[0], y_fact=y_fact, ys=axes[1], progress=progress
    )
    current = (places[0], places[1]) if places[0] is not None and places[1] is not None else None
    return _Map(
        grid, current, ([_label(kb, x_fact, v) for v in axes[0]], [_label(kb, y_fact, v) for v in axes[1]])
    )


def _number(known: Facts, name: str) -> float | None:
    value = known[name].value if name in known else None
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None
    )


def _span(kb: KnowledgeBase, known: Facts, name: str, now: float | None) -> tuple[float, float]:
    """Range to draw: around the present value, else around the usual ones, inside what the fact and the model allow."""
    fact = kb.facts[name]
    usual = [float(value) for value in fact.suggestions if isinstance(value, int | float) and value > 0]
    low, high = (
        (now / _SPAN, now * _SPAN) if now else (min(usual) / 4, max(usual) * 4) if usual else (1.0, 1000.0)
    )
    limit = _number(known, "context_limit_tokens") if name == "context_tokens" else None
    high = min(bound for bound in (high, fact.maximum, limit) if bound is not None)
    low = max(low, fact.minimum or 0.0, 1.0 if fact.type == "integer" else 1e-6)
    return (low, high) if low < high else (high / 2, high)


def _label(kb: KnowledgeBase, name: str, value: float) -> str:
    from advisor.units import format_count, format_tokens

    if kb.facts[name].unit == "tokens":
        return format_tokens(value) if value % 1024 == 0 else _short(value, 1024.0)
    return _short(value, 1000.0) if value >= 10_000 else format_count(value)


def _short(value: float, kilo: float) -> str:
    for size, letter in ((kilo * kilo, "M"), (kilo, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.0f}"
