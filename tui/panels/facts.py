"""Facts: every input with its value and where it comes from; enter changes one, delete forgets it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tui.paint import ORIGIN_MARK
from tui.panels.base import Panel, hint

if TYPE_CHECKING:
    from advisor.records import FactValue
    from tui.engine import Snapshot

_ORIGIN_STYLE = {"said": "bold $text-accent", "assumed": "$quiet", "derived": "$text-secondary"}


class FactsPanel(Panel):
    """The requirement as a list."""

    NAME = "facts"
    FOCUS = "#fact-list"
    HELP = "The inputs of the answer. ● said by you, ○ assumed, ∴ derived. Enter changes a fact and the answer follows."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "change", "change", priority=True, id="facts.change"),
        Binding("delete,backspace", "forget", "forget", key_display="del", id="facts.forget"),
    ]

    def compose(self) -> ComposeResult:
        """Legend and list."""
        yield Static(hint("● said   ○ assumed   ∴ derived   · not stated"), classes="legend")
        yield OptionList(id="fact-list", markup=False)

    def draw(self, snapshot: Snapshot) -> None:
        """List the facts of the requirement, what was said first."""
        facts = self.query_one(OptionList)
        highlighted = facts.highlighted
        facts.clear_options()
        facts.add_options(list(_options(snapshot)))
        facts.highlighted = min(highlighted or 0, facts.option_count - 1) if facts.option_count else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Edit the fact."""
        event.stop()
        if event.option.id:
            self.rackfit.action_edit_fact(event.option.id)

    def action_change(self) -> None:
        """Edit the highlighted fact."""
        self.query_one(OptionList).action_select()

    def action_forget(self) -> None:
        """Forget the highlighted fact."""
        facts = self.query_one(OptionList)
        option = facts.highlighted_option
        if option is not None and option.id:
            self.rackfit.set_facts({option.id: None})


def _options(snapshot: Snapshot) -> Iterator[Option]:
    from advisor.report import parts

    answer = snapshot.recommendation
    values: dict[str, FactValue] = {**(answer.requirement if answer else {}), **snapshot.facts}
    known = sorted(
        (fact for fact in snapshot.kb.facts.values() if fact.scope == "requirement"),
        key=lambda fact: (fact.order, fact.name),
    )
    order = {"said": 0, "assumed": 1, "derived": 2, "computed": 2, "": 3}
    rows = [(fact, values.get(fact.name)) for fact in known]
    rows.sort(key=lambda row: order[_origin(row[1])])
    wide = max((len(fact.title) for fact, _ in rows), default=0)
    for fact, value in rows:
        origin = _origin(value)
        if origin == "" and fact.ask == "never" and not fact.flag:
            continue
        text = (
            parts.fact_value(snapshot.kb, fact.name, value) if value is not None and origin else "not stated"
        )
        because = f"   {value.text}" if value is not None and value.text and origin != "said" else ""
        yield Option(
            Content.assemble(
                (f"{ORIGIN_MARK.get(origin, '·')} ", _ORIGIN_STYLE.get(origin, "$quiet")),
                fact.title.ljust(wide + 2),
                (text, "bold" if origin == "said" else "" if origin else "$quiet"),
                (because, "$quiet"),
            ),
            id=fact.name,
        )


def _origin(value: FactValue | None) -> str:
    return "" if value is None or (value.value is None and value.low is None) else value.origin
