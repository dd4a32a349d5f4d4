"""Choices of the user that outlive the session, and pictures of the screen."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.content import Content

from tui.frame import FrameApp
from tui.settings import save_settings
from tui.themes import CHOICES


class PreferencesApp(FrameApp):
    """Actions that change how the screen looks."""

    def action_theme(self) -> None:
        """Choose a theme."""
        self.pick(
            "Theme",
            [(name, Content(title)) for name, title in CHOICES.items()],
            self.action_set_theme,
            current=self.theme,
        )

    def action_set_theme(self, name: str) -> None:
        """Switch to a theme and remember it."""
        self.theme = name
        self.settings.theme = name
        self._remember()

    def action_toggle_motion(self) -> None:
        """Turn streaming on or off."""
        self.settings.motion = not self.settings.motion
        self.animation_level = "full" if self.settings.motion else "none"
        self._remember()
        self.notify(f"Motion is {'on' if self.settings.motion else 'off'}.")

    def action_toggle_cursor(self) -> None:
        """Show or hide the terminal's own cursor at the place of typing."""
        self.settings.cursor = not self.settings.cursor
        self.show_cursor()
        self._remember()
        self.notify(f"The terminal's cursor is {'shown' if self.settings.cursor else 'hidden'}.")

    def show_cursor(self) -> None:
        """Tell the terminal whether to show its cursor; Textual keeps it where the user types."""
        if self._driver is not None and not self.is_headless:
            self._driver.write("\x1b[?25h" if self.settings.cursor else "\x1b[?25l")
            self._driver.flush()

    def _remember(self) -> None:
        async def work() -> None:
            if not await asyncio.to_thread(save_settings, self.settings):
                self.notify("The settings could not be saved; they hold until you quit.", severity="warning")

        self.run_worker(self.guard(work), group="settings")

    async def action_toggle_maximize(self) -> None:
        """Give the focused part the whole screen, or give it back."""
        await self.screen.run_action("minimize" if self.screen.maximized else "maximize")

    def action_picture(self) -> None:
        """Save the screen as SVG."""
        from tui.screens.export import free_path

        path = free_path(Path("rackfit-screen.svg"))
        self.save_screenshot(path=str(path.parent), filename=path.name)
        self.notify(f"Saved {path}", markup=False)
