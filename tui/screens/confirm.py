"""Asking window: one question, two answers; the safe one is chosen at first."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tui.screens.base import Window


class Confirm(Window[bool]):
    """True when the user agrees, else None."""

    def __init__(self, title: str, text: str, *, yes: str, no: str) -> None:
        super().__init__()
        self._title, self._text, self._yes, self._no = title, text, yes, no

    def compose(self) -> ComposeResult:
        """Question and answers."""
        with Vertical(classes="window") as window:
            window.border_title = Content(self._title)
            yield Static(Content(self._text))
            yield OptionList(Option(self._no, id="no"), Option(self._yes, id="yes"), markup=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the answer."""
        self.dismiss(event.option.id == "yes" or None)
