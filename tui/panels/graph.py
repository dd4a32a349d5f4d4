"""Graph: one entry in the middle, what it links to and what hangs from it around it; enter walks on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tui.panels.base import Panel, hint

if TYPE_CHECKING:
    from advisor.knowledge.base import KnowledgeBase
    from tui.engine import Snapshot

_FORWARD = {
    "broader": "broader",
    "related": "related",
    "prerequisites": "know first",
    "concepts": "about",
    "because": "because of",
    "reads": "reads the facts",
    "claims": "figures computed from",
    "accelerator": "accelerator",
    "system": "system",
    "model": "model",
    "evidence": "evidence",
    "source": "source",
    "sources": "sources",
}
_BACKWARD = {
    "broader": "narrower",
    "related": "related",
    "prerequisites": "needed for",
    "because": "rules that rest on it",
    "reads": "read by",
    "claims": "figures that use it",
}
_KIND_MARK = {"concepts": "◇", "gotchas": "!", "evidence": "≡", "rules": "→", "models": "◆", "systems": "▣",
              "accelerators": "▪", "facts": "?", "sources": "§", "calibration": "~", "engines": "*"}  # fmt: skip
START = "concepts/scale-up"
MOST_SHOWN = 40
"""Neighbours of one kind of link that are listed."""


class Neighbours(OptionList):
    """The neighbours; enter goes to one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "go there", id="graph.walk")]


class GraphPanel(Panel):
    """The neighbourhood of one entry."""

    NAME = "graph"
    FOCUS = "#neighbours"
    HELP = "Walk the knowledge base: enter goes to a neighbour, backspace returns, o reads the entry in the middle."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("backspace,left", "back", "back", key_display="⌫", id="graph.back"),
        Binding("o", "open", "read", id="graph.open"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._path: list[str] = []

    def compose(self) -> ComposeResult:
        """Where we are, and the neighbours."""
        yield Static("", id="centre", classes="legend")
        yield Neighbours(id="neighbours", markup=False)

    def draw(self, snapshot: Snapshot) -> None:  # noqa: ARG002  # the base keeps it
        """Show the current entry; the first time, the concept most linked."""
        self._show()

    def go(self, entry_id: str) -> None:
        """Put an entry in the middle."""
        if not self._path or self._path[-1] != entry_id:
            self._path.append(entry_id)
        self._show()

    def _show(self) -> None:
        snapshot = self._drawn or self.rackfit.snapshot
        if snapshot is not None:
            self.run_worker(self.rackfit.guard(self._load, snapshot.kb), exclusive=True)

    async def _load(self, kb: KnowledgeBase) -> None:
        """Read the neighbourhood in the advisor's thread (the first time builds the graph), then draw it."""
        wanted = self._path[-1] if self._path else ""
        centre, groups = await self.rackfit.compute("reading the graph", _neighbourhood, kb, wanted)
        if not self._path and centre:
            self._path = [centre]
        if centre:
            self._fill(kb, centre, groups)

    def _fill(self, kb: KnowledgeBase, centre_id: str, groups: dict[str, list[str]]) -> None:
        neighbours = self.query_one(OptionList)
        neighbours.clear_options()
        centre = kb.entries.get(centre_id)
        if centre is None:
            self.query_one("#centre", Static).update(hint(f"{centre_id} is not in this knowledge base"))
            return
        trail = " › ".join(step.partition("/")[2] for step in self._path[-4:-1])
        summary = str(getattr(centre, "summary", ""))
        lines = [hint(f"{trail} ›")] if trail else []
        lines += [
            Content.assemble((f"{_KIND_MARK.get(centre.kind, '·')} ", "$text-accent"), (centre.title, "bold"),
                             (f"   {centre.id}", "$quiet")),
        ]  # fmt: skip
        lines += [Content(summary)] if summary else []
        self.query_one("#centre", Static).update(Content("\n").join(lines))
        options: list[Option] = []
        used: set[str] = set()
        for heading, ids in groups.items():
            options.append(
                Option(Content(f"{heading} ({len(ids)})").stylize("bold $text-primary"), disabled=True)
            )
            for entry_id in ids[:MOST_SHOWN]:
                entry = kb.entries[entry_id]
                line = Content.assemble((f"  {_KIND_MARK.get(entry.kind, '·')} ", "$text-accent"), entry.title,
                                        (f"   {entry.id}", "$quiet"))  # fmt: skip
                # an entry can hang from the centre in two ways; only one option may carry its id
                options.append(
                    Option(line, id=None if entry_id in used else entry_id, disabled=entry_id in used)
                )
                used.add(entry_id)
            if len(ids) > MOST_SHOWN:
                options.append(
                    Option(hint(f"    and {len(ids) - MOST_SHOWN} more: search them in KB"), disabled=True)
                )
        neighbours.add_options(options)
        neighbours.action_first()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Walk to the neighbour."""
        event.stop()
        if event.option.id:
            self.go(event.option.id)

    def action_back(self) -> None:
        """Return to where we came from."""
        if len(self._path) > 1:
            self._path.pop()
            self._show()

    def action_open(self) -> None:
        """Read the entry in the middle."""
        if self._path:
            self.rackfit.action_open_entry(self._path[-1])


def _neighbourhood(kb: KnowledgeBase, wanted: str) -> tuple[str, dict[str, list[str]]]:
    """An entry and what is around it; without a wish, the start or the concept most linked."""
    centre = wanted or (
        START
        if START in kb.entries
        else max(kb.concepts, key=lambda name: (kb.graph.degree(name), name), default="")
    )
    return centre, _groups(kb, centre)


def _groups(kb: KnowledgeBase, centre: str) -> dict[str, list[str]]:
    """Heading -> neighbours: outgoing relations by their name, incoming ones by what they mean from here."""
    groups: dict[str, dict[str, None]] = {}
    if centre not in kb.graph:
        return {}
    for _, target, data in kb.graph.out_edges(centre, data=True):
        groups.setdefault(_FORWARD.get(data["relation"], data["relation"]), {})[target] = None
    for origin, _, data in kb.graph.in_edges(centre, data=True):
        relation = data["relation"]
        heading = _BACKWARD.get(relation) or f"{origin.partition('/')[0]} that name it"
        groups.setdefault(heading, {})[origin] = None
    order = ["broader", "narrower", "know first", "needed for", "related"]
    names = sorted(
        groups, key=lambda heading: (order.index(heading) if heading in order else len(order), heading)
    )
    return {heading: sorted(groups[heading]) for heading in names}
