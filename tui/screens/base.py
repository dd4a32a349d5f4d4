"""A window over the chat: closes with escape, never loses what lies under it."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

T = TypeVar("T")


class Window(ModalScreen[T]):
    """Base of all windows."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "close", id="window.close")]

    def action_close(self) -> None:
        """Close without doing anything."""
        self.dismiss(None)
