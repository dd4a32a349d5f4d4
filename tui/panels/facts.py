"""Facts: every input with its value and where it comes from; enter changes one, delete forgets it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tui.paint import ORIGIN_MARK, clip
from tui.panels.base import Panel, hint

if TYPE_CHECKING:
    from advisor.records import FactValue
    from tui.engine import Snapshot

_TITLE_WIDTH = 28
_ORDER = {"said": 0, "assumed": 1, "derived": 2, "computed": 2, "": 3}
_ORIGIN_STYLE = {"said": "bold $text-accent", "assumed": "$quiet", "derived": "$text-secondary"}


class FactList(OptionList):
    """The facts; enter changes one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "change", id="facts.change")]


class FactsPanel(Panel):
    """The requirement as a list."""

    NAME = "facts"
    FOCUS = "#fact-list"
    HELP = "The inputs of the answer. ● said by you, ○ assumed, ∴ derived. Enter changes a fact and the answer follows."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete,backspace", "forget", "forget", key_display="del", id="facts.forget"),
    ]

    def compose(self) -> ComposeResult:
        """Legend, list, and more about the current fact."""
        yield Static(hint("● said   ○ assumed   ∴ derived   · not stated"), classes="legend")
        yield FactList(id="fact-list", markup=False)
        yield Static("", id="fact-detail", classes="detail")

    def draw(self, snapshot: Snapshot) -> None:
        """List the facts of the requirement, what was said first."""
        facts = self.query_one(OptionList)
        highlighted = facts.highlighted
        facts.clear_options()
        facts.add_options(list(_options(snapshot)))
        facts.highlighted = min(highlighted or 0, facts.option_count - 1) if facts.option_count else None

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Tell where the value comes from and what the fact means."""
        event.stop()
        snapshot = self._drawn
        fact = snapshot.kb.facts.get(event.option.id or "") if snapshot else None
        if snapshot is None or fact is None:
            return
        value = _values(snapshot).get(fact.name)
        origin = _origin(value)
        lines = [Content(fact.title).stylize("bold")]
        if value is not None and origin:
            lines.append(Content(f"{origin}: {value.text}" if value.text else origin))
        lines += [Content(text).stylize("$quiet") for text in (fact.help or fact.why,) if text]
        self.query_one("#fact-detail", Static).update(Content("\n").join(lines))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Edit the fact."""
        event.stop()
        if event.option.id:
            self.rackfit.action_edit_fact(event.option.id)

    def action_forget(self) -> None:
        """Forget the highlighted fact."""
        facts = self.query_one(OptionList)
        option = facts.highlighted_option
        if option is not None and option.id:
            self.rackfit.set_facts({option.id: None})


def _values(snapshot: Snapshot) -> dict[str, FactValue]:
    answer = snapshot.recommendation
    return {**(answer.requirement if answer else {}), **snapshot.facts}


def _options(snapshot: Snapshot) -> Iterator[Option]:
    from advisor.report import parts

    values = _values(snapshot)
    known = sorted(
        (fact for fact in snapshot.kb.facts.values() if fact.scope == "requirement"),
        key=lambda fact: (fact.order, fact.name),
    )
    rows = [(fact, values.get(fact.name)) for fact in known]
    rows.sort(key=lambda row: _ORDER[_origin(row[1])])
    for fact, value in rows:
        origin = _origin(value)
        if origin == "" and not fact.flag:
            continue
        text = (
            parts.fact_value(snapshot.kb, fact.name, value) if value is not None and origin else "not stated"
        )
        title = clip(Content(fact.title), _TITLE_WIDTH - 1).plain
        yield Option(
            Content.assemble(
                (f"{ORIGIN_MARK.get(origin, '·')} ", _ORIGIN_STYLE.get(origin, "$quiet")),
                title.ljust(_TITLE_WIDTH),
                (text, "bold" if origin == "said" else "" if origin else "$quiet"),
            ),
            id=fact.name,
        )


def _origin(value: FactValue | None) -> str:
    return "" if value is None or (value.value is None and value.low is None) else value.origin
