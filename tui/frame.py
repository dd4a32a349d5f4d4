"""The application's frame: settings, theme, the engine, and the one way to wait for work."""

from __future__ import annotations

import asyncio
import os
import sys
from codecs import getincrementaldecoder
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from rich.console import Console
from textual import constants
from textual.app import App
from textual.content import Content
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import Theme

from tui.commands import SLASH
from tui.engine import Engine, Opener
from tui.filters import PrintableOnly
from tui.screens.chat import ChatScreen
from tui.settings import History, Settings, keep_defect, load_settings
from tui.themes import THEMES, VARIABLES, default_theme
from tui.widgets.bars import StatusBar

if TYPE_CHECKING:
    from textual.driver import Driver
    from textual.worker import WorkType

    from tui.engine import Snapshot

R = TypeVar("R")

PROGRESS_AFTER_SECONDS = 0.2
"""Work that takes longer is named in the status line."""


def _colors() -> str | None:
    """How many colours the terminal has, as Rich names it: `truecolor`, `256`, `standard`."""
    system = cast('Literal["auto"]', constants.COLOR_SYSTEM)
    return Console(color_system=system, force_terminal=True).color_system


class FrameApp(App[None]):
    """What the groups of actions build on."""

    def __init__(
        self,
        opener: Opener,
        *,
        first: str = "",
        resume: str | None = None,
        settings: Settings | None = None,
        history: History | None = None,
    ) -> None:
        self.settings = settings if settings is not None else load_settings()
        no_color = "NO_COLOR" in os.environ
        # known before the stylesheet is first read, so that it is read only once
        self.set_reactive(
            FrameApp.theme, default_theme(self.settings.theme, no_color=no_color, color_system=_colors())
        )
        super().__init__(ansi_color=True if no_color else None)
        self.history = history if history is not None else History()
        self.engine = Engine(opener)
        self._works: dict[object, str] = {}
        self._first = first
        self._resume = resume
        self._printable = PrintableOnly()
        self._loaded = asyncio.Event()
        self.failure = ""
        """Why the application had to end, for the caller to print."""
        if self.settings.keys:
            self.set_keymap(self.settings.keys)
        if not self.settings.motion:
            self.animation_level = "none"

    @property
    def available_themes(self) -> dict[str, Theme]:
        """Textual's themes and ours."""
        return {**super().available_themes, **THEMES}

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's filters, and ours last."""
        return [*super().get_line_filters(), self._printable]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Variables of the stylesheet that a theme may leave out."""
        return VARIABLES

    def get_default_screen(self) -> Screen[Any]:
        """The chat."""
        return ChatScreen(self.history, ((word, command.help) for word, command in SLASH.items()))

    def get_driver_class(self) -> type[Driver]:
        """The driver of the terminal, made to take bytes that are not UTF-8, where Textual's own would end with a traceback."""
        driver = super().get_driver_class()
        module = sys.modules[driver.__module__]
        if hasattr(module, "getincrementaldecoder"):
            vars(module)["getincrementaldecoder"] = lambda name: partial(
                getincrementaldecoder(name), errors="replace"
            )
        return driver

    @property
    def chat(self) -> ChatScreen:
        """The main screen, below whatever window is open."""
        screen = self.screen_stack[0]
        assert isinstance(screen, ChatScreen)
        return screen

    @property
    def snapshot(self) -> Snapshot | None:
        """The latest state of the conversation; None while the knowledge base loads."""
        return self.engine.snapshot

    @property
    def served(self) -> bool:
        """True when the screen is shown in a browser."""
        return os.environ.get("TEXTUAL_DRIVER", "").endswith("WebDriver")

    async def busy(self, what: str, work: Any) -> Any:
        """Await something; name it in the status line when it takes long."""
        mark = object()

        def tell(text: str) -> None:
            self._works[mark] = text
            self._name_work()

        timer = self.set_timer(PROGRESS_AFTER_SECONDS, lambda: tell(what))
        try:
            return await work
        finally:
            timer.stop()
            self._works.pop(mark, None)
            self._name_work()

    def _name_work(self) -> None:
        for status in self.screen_stack[0].query(StatusBar):
            status.busy = next(reversed(self._works.values()), "")

    def guard(self, function: Callable[..., Awaitable[object]], *arguments: Any) -> WorkType[None]:
        """`function` with these arguments as the work of a worker: a defect in it is told and kept, and the screen lives on."""

        async def guarded() -> None:
            try:
                await function(*arguments)
            except Exception as error:  # whatever it is, the conversation must survive it
                if self._exit:  # of a screen that is being taken down, nothing can be shown any more
                    return
                self.notify(await self.defect(error), severity="error", markup=False)

        return guarded

    async def defect(self, error: Exception) -> str:
        """Keep the traceback of a defect for a report; what to tell the user."""
        if "RACKFIT_DEBUG" in os.environ:
            raise error
        place = await asyncio.to_thread(keep_defect, error)
        where = f" The details are in {place}." if place else ""
        return f"That hit a defect in rackfit ({type(error).__name__}). The conversation goes on; please report it.{where}"

    async def compute(self, what: str, function: Callable[..., R], *arguments: Any) -> R:
        """Run a function in the advisor's thread, with progress."""
        result: R = await self.busy(what, self.engine.run(function, *arguments))
        return result

    def pick(
        self,
        title: str,
        items: list[tuple[str, Content]],
        then: Callable[[str], object],
        *,
        current: str = "",
    ) -> None:
        """Let the user choose one of `items` (id and text), then do something with its id."""
        from tui.screens.picker import Picker

        def chosen(item: str | None) -> None:
            if item is not None:
                then(item)

        self.push_screen(Picker(title, items, current=current), chosen)
