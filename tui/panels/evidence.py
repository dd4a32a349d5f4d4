"""Evidence: comparable pairs of audited results, sortable; the effects and the noise above them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import DataTable, Static

from tui.paint import joined
from tui.panels.base import NO_ANSWER, Panel, hint

if TYPE_CHECKING:
    from advisor.records import Comparison, Estimate, Pair
    from tui.engine import Snapshot

_CONFOUNDERS_SHOWN = 3
_ROWS_AT_ONCE = 20
"""Rows added in one go; more would hold up the keyboard."""

COLUMNS: dict[str, tuple[str, Callable[[Pair], Any]]] = {
    "grade": ("grade", lambda pair: pair.grade),
    "ratio": ("ratio", lambda pair: pair.ratio),
    "benchmark": ("benchmark", lambda pair: pair.benchmark),
    "scenario": ("scenario", lambda pair: pair.scenario),
    "small": ("small side", lambda pair: (pair.small.accelerator, pair.small.accelerators)),
    "large": ("large side", lambda pair: (pair.large.accelerator, pair.large.accelerators)),
    "noise": ("noise", lambda pair: pair.noise_high),
    "round": ("round", lambda pair: pair.round),
    "kind": ("kind", lambda pair: pair.kind),
    "differs": ("differs in", lambda pair: pair.confounders),
}
"""Column -> heading and sort key."""


class PairTable(DataTable[Text]):
    """The pairs; enter opens the records of one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select_cursor", "open", id="evidence.open")]


class EvidencePanel(Panel):
    """The pairs behind the answer, or every pair in the knowledge base."""

    NAME = "evidence"
    FOCUS = "#pairs"
    HELP = (
        "Pairs of results that may be compared. ratio: large side per accelerator over small side per accelerator. "
        "Grade A: same submitter and round. ≈ marks a ratio inside the noise. Enter opens the records."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort", "sort by next", id="evidence.sort"),
        Binding("r", "reverse", "reverse", id="evidence.reverse"),
        Binding("a", "all", "all pairs", id="evidence.all"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._pairs: tuple[Pair, ...] = ()
        self._column = "grade"
        self._reversed = False
        self._all = False

    def compose(self) -> ComposeResult:
        """Effects and table."""
        yield Static("", id="effects", classes="legend")
        yield PairTable(id="pairs", cursor_type="row", zebra_stripes=True, cell_padding=1)
        yield Static("", id="pair-note", classes="legend")

    def draw(self, snapshot: Snapshot) -> None:
        """Show the pairs of the answer."""
        answer = snapshot.recommendation
        effects = _effects(answer.comparison) if answer else hint(NO_ANSWER)
        self.query_one("#effects", Static).update(effects)
        self._show_pairs(answer.comparison.pairs if answer else ()) if not self._all else self._fetch_all()

    def _fetch_all(self) -> None:
        async def work() -> None:
            snapshot = self._drawn
            if snapshot is not None:
                self._show_pairs(await self.rackfit.compute("reading all pairs", _every_pair, snapshot.kb))

        self.run_worker(self.rackfit.guard(work), exclusive=True)

    def _show_pairs(self, pairs: tuple[Pair, ...]) -> None:
        self._pairs = pairs
        self._fill()

    def _fill(self) -> None:
        self._pairs = tuple(sorted(self._pairs, key=COLUMNS[self._column][1], reverse=self._reversed))
        noun = "pair" if len(self._pairs) == 1 else "pairs"
        scope = f"{noun} in the knowledge base" if self._all else f"{noun} behind this answer"
        note = f"{len(self._pairs)} {scope}; rates per accelerator are derived, not verified by MLCommons Association"
        if not self._pairs and not self._all:
            note = "no comparable pair stands behind this answer; a shows all pairs"
        self.query_one("#pair-note", Static).update(hint(note))
        self.run_worker(self.rackfit.guard(self._add_rows), exclusive=True, group="rows")

    async def _add_rows(self) -> None:
        table = self.query_one(DataTable)
        table.clear(columns=True)
        for name, (title, _) in COLUMNS.items():
            arrow = (" ▼" if self._reversed else " ▲") if name == self._column else ""
            table.add_column(Text(title + arrow), key=name)
        for index, pair in enumerate(self._pairs):
            table.add_row(*_row(pair), key=str(index))
            if index % _ROWS_AT_ONCE == _ROWS_AT_ONCE - 1:
                await asyncio.sleep(0)

    def on_data_table_header_selected(self, event: DataTable.HeaderSelected) -> None:
        """Sort by the clicked column; again to reverse."""
        name = str(event.column_key.value)
        self._reversed = not self._reversed if name == self._column else False
        self._column = name
        self._fill()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Open the records of the pair."""
        event.stop()
        self._open(event.cursor_row)

    def _open(self, row: int) -> None:
        if 0 <= row < len(self._pairs):
            self.rackfit.open_pair(self._pairs[row])

    def action_sort(self) -> None:
        """Sort by the next column."""
        names = list(COLUMNS)
        self._column = names[(names.index(self._column) + 1) % len(names)]
        self._fill()

    def action_reverse(self) -> None:
        """Reverse the order."""
        self._reversed = not self._reversed
        self._fill()

    def action_all(self) -> None:
        """Switch between the pairs behind the answer and all pairs."""
        self._all = not self._all
        if self._drawn is not None:
            self.draw(self._drawn)


def _every_pair(kb: Any) -> tuple[Pair, ...]:
    from advisor.evidence.pairs import find_pairs

    pairs: tuple[Pair, ...] = find_pairs(kb)
    return pairs


def _row(pair: Pair) -> list[Text]:
    from advisor.units import format_ratio

    small, large = pair.small, pair.large
    return [
        Text(pair.grade, style="bold" if pair.grade == "A" else ""),
        Text(f"{'≈' if pair.tie else ' '}{format_ratio(pair.ratio)}", style="" if pair.tie else "bold"),
        Text(pair.benchmark),
        Text(pair.scenario),
        Text(f"{small.submitter} {_short(small.accelerator)} x{small.accelerators}"),
        Text(f"{large.submitter} {_short(large.accelerator)} x{large.accelerators}"),
        Text(f"{pair.noise_low:.2f}–{pair.noise_high:.2f}"),
        Text(pair.round),
        Text(pair.kind),
        Text(", ".join(pair.confounders) or "–"),
    ]


def _short(accelerator: str) -> str:
    return accelerator.rpartition("/")[2]


def _effects(comparison: Comparison) -> Content:
    from advisor.units import format_ratio

    def one(name: str, estimate: Estimate | None) -> Content:
        if estimate is None:
            return Content.assemble((f"{name} ", "$quiet"), "unknown")
        span = f" ({estimate.low:.2f}–{estimate.high:.2f})"
        return Content.assemble(
            (f"{name} ", "$quiet"), (format_ratio(estimate.value), "bold $foreground"), (span, "$quiet")
        )

    noise, whole = comparison.noise_band, comparison.rack_over_node
    spread = (
        f"{noise.spread:.2f}× over {noise.submissions} submissions" if noise.spread is not None else "unknown"
    )
    lines = [
        joined([one("rack over node per GPU", whole), whole.basis if whole else ""], " "),
        joined(
            ["  =", one("silicon", comparison.silicon_effect), "×", one("scale", comparison.scale_effect)],
            " ",
        ),
        Content.assemble(
            ("noise of the same silicon ", "$quiet"),
            spread,
            (" → a tie" if comparison.tie else "", "bold $foreground"),
        ),
    ]
    for text in comparison.confounders[:_CONFOUNDERS_SHOWN]:
        lines.append(Content.assemble(("differs: ", "$quiet"), text))
    if len(comparison.confounders) > _CONFOUNDERS_SHOWN:
        lines.append(
            Content(
                f"and {len(comparison.confounders) - _CONFOUNDERS_SHOWN} more; enter on a pair tells"
            ).stylize("$quiet")
        )
    return Content("\n").join(lines)
