"""The way from any widget to the application, typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.message_pump import MessagePump

if TYPE_CHECKING:
    from tui.app import RackfitApp


def rackfit(node: MessagePump) -> RackfitApp:
    """The application that a widget or screen belongs to."""
    return cast("RackfitApp", node.app)
