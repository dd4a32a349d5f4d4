"""What all panels share: they draw a snapshot when they are visible, and know where the focus goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from tui.access import rackfit

if TYPE_CHECKING:
    from tui.app import RackfitApp
    from tui.engine import Snapshot


class Panel(Vertical):
    """Base of all panels. `draw` is called with a new snapshot while visible, and on becoming visible."""

    NAME: ClassVar[str] = ""
    FOCUS: ClassVar[str] = ""
    """Selector of the widget that gets the focus."""

    DEFAULT_CLASSES = "panel"

    def __init__(self) -> None:
        super().__init__(id=f"panel-{self.NAME}")
        self._drawn: Snapshot | None = None

    @property
    def rackfit(self) -> RackfitApp:
        """The application."""
        return rackfit(self)

    def take(self, snapshot: Snapshot | None) -> None:
        """Draw unless this snapshot is on screen already."""
        if snapshot is not None and snapshot is not self._drawn:
            self._drawn = snapshot
            self.run_worker(self.rackfit.guard(self._draw, snapshot), group="draw")

    async def _draw(self, snapshot: Snapshot) -> None:
        self.draw(snapshot)

    def draw(self, snapshot: Snapshot) -> None:
        """Show a snapshot."""
        raise NotImplementedError

    def enter(self) -> None:
        """Take the focus."""
        target = self.query(self.FOCUS).first(Widget) if self.FOCUS else self
        target.focus()


def hint(text: str) -> Content:
    """A quiet line of explanation."""
    return Content(text).stylize("$quiet")


NO_ANSWER = "There is no answer yet. Name a model in the conversation, such as `Llama 3.1 70B in fp8`."
"""What panels say that need an answer."""
