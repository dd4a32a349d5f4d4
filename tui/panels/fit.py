"""Fit: how the memory of each system's accelerators would be used, and the fleet that follows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from tui.access import rackfit
from tui.paint import BLOCK_STYLE, BLOCKS, bar, clip, flow, hang, joined
from tui.panels.base import NO_ANSWER, Panel, hint
from tui.widgets.drawn import Drawn

if TYPE_CHECKING:
    from advisor.records import Candidate
    from tui.engine import Snapshot

_MOUNTED_AT_ONCE = 5
"""Systems mounted in one go; more would hold up the keyboard."""

_LEGEND = {
    "weights": "weights",
    "kv": "KV cache",
    "reserve": "reserve",
    "free": "free",
    "over": "does not fit",
}


class CandidateRow(Drawn):
    """One system: verdict of the fit, bar, fleet; the arithmetic when opened."""

    opened: reactive[bool] = reactive(False)

    def __init__(self, candidate: Candidate, *, best: bool) -> None:
        super().__init__(classes="candidate")
        self.candidate = candidate
        self.best = best

    def watch_opened(self) -> None:
        """Show or hide the arithmetic."""
        self.redraw()

    def lines(self, width: int) -> list[Content]:
        """Name, bar, fleet."""
        return list(self._parts(width))

    def _parts(self, width: int) -> Iterator[Content]:
        from advisor.report import parts
        from advisor.units import format_bytes

        candidate, memory = self.candidate, self.candidate.memory
        mark, style = ("✓", "$text-success") if candidate.feasible else ("✗", "$text-error")
        name = joined([
            Content.assemble((f"{mark} ", f"bold {style}"), (candidate.title, "bold")),
            Content(candidate.unit).stylize("$quiet"),
            Content("best of its kind").stylize("bold $text-accent") if self.best else Content(""),
        ])  # fmt: skip
        yield clip(name, width)
        if memory is not None:
            used = [("weights", memory.weights_bytes), ("kv", memory.kv_bytes_needed),
                    ("reserve", memory.reserve_bytes)]  # fmt: skip
            yield Content("  ") + bar(used, memory.hbm_bytes, max(8, width - 2))
            room = "free" if memory.headroom_bytes >= 0 else "short"
            figures = [
                Content(f"weights {format_bytes(memory.weights_bytes)}"),
                Content(f"KV {format_bytes(memory.kv_bytes_needed)}"),
                Content(f"{room} {format_bytes(abs(memory.headroom_bytes))}").stylize(
                    "bold $text-error" if room == "short" else ""
                ),
                Content(f"of {format_bytes(memory.hbm_bytes)} per GPU"),
            ]
            yield from (Content("  ") + line for line in flow(figures, width - 2, gap=2))
        if candidate.feasible and candidate.fleet is not None:
            yield from hang(f"{parts.layout_words(candidate)} → {parts.fleet_words(candidate)}", width)
        for exclusion in candidate.exclusions[: None if self.opened else 1]:
            nearest = f"; nearest that passes: {exclusion.nearest}" if exclusion.nearest else ""
            yield from hang(
                Content(f"out: {exclusion.text.rstrip('.')}{nearest}").stylize("$text-error"), width
            )
        if self.opened:
            for label, text in parts.memory_rows(candidate):
                yield clip(Content.assemble("    ", (f"{label:<24}", "$quiet"), text), width)
            yield from hang(f"rate per GPU {parts.estimate(candidate.throughput_per_accelerator)}", width, 4)
            yield from hang(f"latency {parts.latency_words(candidate)}", width, 4)
            for line in candidate.arithmetic:
                yield from hang(Content(line).stylize("$quiet"), width, 4)


class FitList(VerticalScroll):
    """The systems, with a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "system", key_display="↑↓", id="fit.up"),
        Binding("down,j", "move(1)", "Next system", show=False, id="fit.down"),
        Binding("enter,space", "open_row", "arithmetic", id="fit.toggle"),
        Binding("o", "open", "open entry", id="fit.open"),
    ]
    position: reactive[int] = reactive(0)

    @property
    def rows(self) -> list[CandidateRow]:
        """The systems shown."""
        return list(self.query_children(CandidateRow))

    def watch_position(self) -> None:
        """Mark the current system."""
        for index, row in enumerate(self.rows):
            row.set_class(index == self.position, "-cursor")
            if index == self.position:
                row.scroll_visible(animate=False)

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        self.position = max(0, min(len(self.rows) - 1, self.position + step))

    def action_open_row(self) -> None:
        """Show or hide the arithmetic."""
        if self.position < len(self.rows):
            row = self.rows[self.position]
            row.opened = not row.opened

    def action_open(self) -> None:
        """Open the system's entry."""
        if self.position < len(self.rows):
            rackfit(self).action_open_entry(self.rows[self.position].candidate.system)


class FitPanel(Panel):
    """Memory bars per system."""

    NAME = "fit"
    FOCUS = "#fit-list"
    HELP = "Memory of one accelerator in each system: █ weights ▓ KV cache ▒ reserve ░ free. Enter shows the arithmetic."

    def compose(self) -> ComposeResult:
        """Legend and systems."""
        legend = Content("  ").join(
            Content.assemble((BLOCKS[name], BLOCK_STYLE[name]), f" {text}") for name, text in _LEGEND.items()
        )
        yield Static(legend, classes="legend")
        yield FitList(id="fit-list")

    def draw(self, snapshot: Snapshot) -> None:
        """One row per system, feasible ones first."""
        from advisor.report import parts

        answer = snapshot.recommendation
        best = {answer.best_node, answer.best_rack} if answer else set()
        rows = (
            [CandidateRow(c, best=c.system in best) for c in parts.feasible_first(answer)] if answer else []
        )
        self.run_worker(self.rackfit.guard(self._replace, rows), exclusive=True)

    async def _replace(self, rows: list[CandidateRow]) -> None:
        systems = self.query_one(FitList)
        await systems.remove_children()
        if not rows:
            await systems.mount(Static(hint(NO_ANSWER)))
        for start in range(0, len(rows), _MOUNTED_AT_ONCE):
            await systems.mount_all(rows[start : start + _MOUNTED_AT_ONCE])
            if not start:
                systems.position = 0
                systems.watch_position()
            await asyncio.sleep(0)
