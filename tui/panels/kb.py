"""KB: every entry, found by full-text search or browsed by kind."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from tui.markdown import KIND_FOLDERS
from tui.paint import flow
from tui.panels.base import Panel, hint
from tui.widgets.drawn import Drawn

if TYPE_CHECKING:
    from advisor.knowledge.base import KnowledgeBase
    from tui.engine import Snapshot

SHOWN = 60


class KnowledgePanel(Panel):
    """Search field, kinds and results."""

    NAME = "kb"
    FOCUS = "#kb-search"
    HELP = "Type to search titles, names and texts. ↓ goes to the results, enter reads one, ctrl+g shows it in the graph."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "results", "results", show=False, id="kb.results"),
        Binding("ctrl+g", "graph", "in the graph", key_display="^g", priority=True, id="kb.graph"),
        Binding("ctrl+k", "kind", "next kind", key_display="^k", priority=True, id="kb.kind"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._kind = ""

    def compose(self) -> ComposeResult:
        """Field, line of kinds, list."""
        yield Input(placeholder="Search the knowledge base", id="kb-search", compact=True)
        yield KindsLine()
        yield OptionList(id="kb-results", markup=False)

    def draw(self, snapshot: Snapshot) -> None:  # noqa: ARG002  # the base keeps it
        """Start with everything."""
        self._search()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search while typing."""
        event.stop()
        self._search()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Read the first result for what is in the field now, also when the list is still behind."""
        event.stop()

        async def work() -> None:
            if self._drawn is not None:
                found = await self.rackfit.compute(
                    "searching", _find, self._drawn.kb, event.value, self._kind
                )
                if found:
                    self.rackfit.action_open_entry(found[0][0])

        self.run_worker(self.rackfit.guard(work), group="open")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Read the entry."""
        event.stop()
        if event.option.id:
            self.rackfit.action_open_entry(event.option.id)

    def action_results(self) -> None:
        """Go from the field to the results."""
        self.query_one(OptionList).focus()

    def action_graph(self) -> None:
        """Show the highlighted entry in the graph."""
        option = self.query_one(OptionList).highlighted_option
        if option is not None and option.id:
            self.rackfit.show_in_graph(option.id)

    def action_kind(self) -> None:
        """Restrict to the next kind of entry; after the last one, to none."""
        if self._drawn is None:
            return
        kinds = ["", *_counts(self._drawn.kb)]
        self._kind = kinds[(kinds.index(self._kind) + 1) % len(kinds)]
        self._search()

    def _search(self) -> None:
        text = self.query_one(Input).value

        async def work() -> None:
            snapshot = self._drawn
            if snapshot is None:
                return
            found = await self.rackfit.compute("searching", _find, snapshot.kb, text, self._kind)
            results = self.query_one(OptionList)
            results.clear_options()
            results.add_options(_option(*row) for row in found)
            results.highlighted = 0 if found else None
            self.query_one(KindsLine).show(_counts(snapshot.kb), self._kind, len(found))

        self.run_worker(self.rackfit.guard(work), exclusive=True)


class KindsLine(Drawn):
    """How many entries of each kind there are, the chosen kind reversed, and how many are listed."""

    def __init__(self) -> None:
        super().__init__(id="kb-kinds", classes="legend")
        self._counts: dict[str, int] = {}
        self._kind = ""
        self._found = 0

    def show(self, counts: dict[str, int], kind: str, found: int) -> None:
        """Show other numbers."""
        self._counts, self._kind, self._found = counts, kind, found
        self.redraw()

    def lines(self, width: int) -> list[Content]:
        """The kinds, wrapped between them, and the number listed."""
        total = sum(self._counts.values())
        parts = [Content(f"all {total}").stylize("" if self._kind else "bold reverse")]
        parts += [
            Content(f"{kind} {count}").stylize("bold reverse" if kind == self._kind else "$quiet")
            for kind, count in self._counts.items()
        ]
        more = f"first {SHOWN} listed" if self._found >= SHOWN else f"{self._found} listed"
        return [*flow(parts, width, gap=2), hint(f"{more} · ctrl+k next kind")]


def _counts(kb: KnowledgeBase) -> dict[str, int]:
    counts = Counter(entry.kind for entry in kb.entries.values())
    return {kind: counts[kind] for kind in KIND_FOLDERS if counts[kind]}


def _find(kb: KnowledgeBase, text: str, kind: str) -> list[tuple[str, str, str]]:
    """(id, title, excerpt) of the entries to show."""
    if not text.strip():
        order = {folder: place for place, folder in enumerate(KIND_FOLDERS)}
        entries = [entry for entry in kb.entries.values() if kind in ("", entry.kind)]
        entries.sort(key=lambda entry: (order.get(entry.kind, len(order)), entry.id))
        return [(entry.id, entry.title, str(getattr(entry, "summary", ""))) for entry in entries[:SHOWN]]
    from advisor.knowledge.search import search

    return [(hit.id, hit.title, hit.excerpt) for hit in search(kb, text, limit=SHOWN, kind=kind)]


def _option(entry_id: str, title: str, excerpt: str) -> Option:
    kind = entry_id.partition("/")[0]
    first = Content.assemble((title, "bold"), (f"   {kind}", "$text-accent"))
    return Option(
        Content("\n").join([first, Content(f"  {excerpt}").stylize("$quiet")]) if excerpt else first,
        id=entry_id,
    )
