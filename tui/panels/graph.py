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
              "accelerators": "▪", "facts": "?", "sources": "§", "calibration": "~"}  # fmt: skip
START = "concepts/scale-up-domain"


class GraphPanel(Panel):
    """The neighbourhood of one entry."""

    NAME = "graph"
    FOCUS = "#neighbours"
    HELP = "Walk the knowledge base: enter goes to a neighbour, backspace returns, o reads the entry in the middle."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "walk", "go there", priority=True, id="graph.walk"),
        Binding("backspace,left", "back", "back", key_display="⌫", id="graph.back"),
        Binding("o", "open", "read", id="graph.open"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._path: list[str] = []

    def compose(self) -> ComposeResult:
        """Where we are, and the neighbours."""
        yield Static("", id="centre", classes="legend")
        yield OptionList(id="neighbours", markup=False)

    def draw(self, snapshot: Snapshot) -> None:
        """Show the current entry; the first time, the concept most linked."""
        if not self._path:
            start = _start(snapshot.kb)
            if start is None:
                return
            self._path = [start]
        self._show()

    def go(self, entry_id: str) -> None:
        """Put an entry in the middle."""
        if not self._path or self._path[-1] != entry_id:
            self._path.append(entry_id)
        self._show()

    def _show(self) -> None:
        snapshot = self._drawn or self.rackfit.engine.snapshot
        if snapshot is None or not self._path:
            return
        centre = snapshot.kb.entries.get(self._path[-1])
        neighbours = self.query_one(OptionList)
        neighbours.clear_options()
        if centre is None:
            self.query_one("#centre", Static).update(hint(f"{self._path[-1]} is not in this knowledge base"))
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
        for heading, ids in _groups(snapshot.kb, centre.id).items():
            neighbours.add_option(
                Option(Content(f"{heading} ({len(ids)})").stylize("bold $text-primary"), disabled=True)
            )
            for entry_id in ids:
                entry = snapshot.kb.entries[entry_id]
                neighbours.add_option(
                    Option(
                        Content.assemble((f"  {_KIND_MARK.get(entry.kind, '·')} ", "$text-accent"), entry.title,
                                         (f"   {entry.id}", "$quiet")),
                        id=entry_id if neighbours_free(neighbours, entry_id) else None,
                    )
                )  # fmt: skip
        neighbours.action_first()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Walk to the neighbour."""
        event.stop()
        if event.option.id:
            self.go(event.option.id)

    def action_walk(self) -> None:
        """Walk to the highlighted neighbour."""
        self.query_one(OptionList).action_select()

    def action_back(self) -> None:
        """Return to where we came from."""
        if len(self._path) > 1:
            self._path.pop()
            self._show()

    def action_open(self) -> None:
        """Read the entry in the middle."""
        if self._path:
            self.rackfit.action_open_entry(self._path[-1])


def neighbours_free(options: OptionList, entry_id: str) -> bool:
    """True while no option carries this id (an entry can hang from the centre in two ways)."""
    return all(option.id != entry_id for option in options.options)


def _start(kb: KnowledgeBase) -> str | None:
    if START in kb.entries:
        return START
    return max(kb.concepts, key=lambda name: (kb.graph.degree(name), name), default=None)


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
