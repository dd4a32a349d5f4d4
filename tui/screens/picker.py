"""Choosing window: a filterable list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from tui.screens.base import Window

_FILTER_FROM = 10


class Picker(Window[str]):
    """Returns the id of the chosen item, None when closed. Long lists have a filter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "into_list", "To the list", show=False, id="picker.down"),
    ]

    def __init__(self, title: str, items: Sequence[tuple[str, Content]], *, current: str = "") -> None:
        super().__init__()
        self._title = title
        self._items = items
        self._current = current

    def compose(self) -> ComposeResult:
        """Filter and list."""
        with Vertical(classes="window") as window:
            window.border_title = Content(self._title)
            if len(self._items) >= _FILTER_FROM:
                yield Input(placeholder="Filter", id="picker-filter", compact=True)
            yield OptionList(id="picker-list", markup=False)

    def on_mount(self) -> None:
        """Fill the list."""
        self._fill("")
        ids = [item_id for item_id, _ in self._items]
        if self._current in ids:
            self.query_one(OptionList).highlighted = ids.index(self._current)

    def _fill(self, text: str) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        words = text.casefold().split()
        options.add_options(
            Option(content, id=item_id)
            for item_id, content in self._items
            if all(word in f"{item_id} {content.plain}".casefold() for word in words)
        )
        options.highlighted = 0 if options.option_count else None

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter."""
        self._fill(event.value)

    def on_input_submitted(self) -> None:
        """Choose the highlighted item."""
        self.query_one(OptionList).action_select()

    def action_into_list(self) -> None:
        """Go from the filter to the list."""
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the choice."""
        self.dismiss(event.option.id)
