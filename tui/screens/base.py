"""A window over the chat: closes with escape, never loses what lies under it."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

T = TypeVar("T")


class Window(ModalScreen[T]):
    """Base of all windows."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "close", id="window.close")]

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close, once and only on top: a second key that came before the window went would close what lies under it."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def action_close(self) -> None:
        """Close without doing anything."""
        self.dismiss(None)
