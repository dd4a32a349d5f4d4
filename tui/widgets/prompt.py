"""The line the user types in: enter sends, pasted lines stay, history and completion while typing."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message as Event
from textual.widgets import TextArea

from tui.access import rackfit
from tui.settings import History
from tui.widgets.completion import Completion

MAX_CHARACTERS = 20_000


class Prompt(TextArea):
    """A text field that grows with its text. A line that ends in a backslash continues on enter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "send", id="prompt.send"),
        Binding("shift+enter,alt+enter", "newline", "New line", show=False, id="prompt.newline"),
        Binding("tab", "complete", "complete", show=False, id="prompt.complete"),
        Binding("up", "older", "history", key_display="↑", id="prompt.older"),
        Binding("down", "newer", "Newer line", show=False, id="prompt.newer"),
        Binding("pageup", "page(-1)", "Scroll up", show=False, id="prompt.page-up"),
        Binding("pagedown", "page(1)", "Scroll down", show=False, id="prompt.page-down"),
    ]
    HELP = "Type a question or an answer. `/` lists commands; names complete with tab; ↑ brings back earlier lines."

    class Sent(Event):
        """The user sent a text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Event):
        """The user moves on with tab."""

    class Paged(Event):
        """The user wants the transcript scrolled by pages."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    def __init__(self, recall: History, completion: Completion) -> None:
        super().__init__(
            id="prompt",
            compact=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            placeholder="Which model do you want to serve?",
        )
        self.recall = recall
        self._put = ""
        self._actions: dict[str, str] = {}
        self.completion = completion

    def on_mount(self) -> None:
        """Learn the keys, which the settings may have changed; keep the cursor steady when motion is unwanted."""
        chosen = rackfit(self).settings.keys
        for binding in Binding.make_bindings(Prompt.BINDINGS):
            for key in chosen.get(binding.id or "", binding.key).split(","):
                self._actions[key.strip()] = binding.action
        self.cursor_blink = self.app.animation_level != "none"

    def put(self, text: str) -> None:
        """Replace the text and go to its end."""
        self._put = text[:MAX_CHARACTERS]
        self.load_text(self._put)
        self.move_cursor(self.document.end)
        self.completion.close()

    def on_text_area_changed(self) -> None:
        """Offer completions for what is typed before the cursor; a line that was brought back is not typed."""
        if self.text == self._put:
            return
        row, column = self.cursor_location
        line = self.document.get_line(row)
        self.completion.offer(line[:column] if column == len(line) else "", first_line=row == 0)

    async def _on_paste(self, event: events.Paste) -> None:
        if len(self.text) + len(event.text) > MAX_CHARACTERS:
            event.stop()
            event.prevent_default()
            self.app.notify(
                f"That is {len(event.text):,} characters; at most {MAX_CHARACTERS:,} fit.", severity="warning"
            )

    async def on_key(self, event: events.Key) -> None:
        """Run our own keys here, in the order typed: a binding with priority would overtake letters still on their way."""
        action = "app.help" if event.character == "?" and not self.text else self._actions.get(event.key)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)
        elif event.is_printable and len(self.text) >= MAX_CHARACTERS:
            # a paste that the terminal does not tell from typing
            event.stop()
            event.prevent_default()
        await asyncio.sleep(0)  # so many keys at once would leave no room for anything else, signals included

    def action_send(self) -> None:
        """Send, take the chosen completion, or continue after a backslash."""
        if self.completion.chosen:
            self._accept()
        elif self.text.endswith("\\"):
            self.action_delete_left()
            self.insert("\n")
        elif self.text.strip():
            text = self.text.strip()
            self.recall.add(text)
            self.put("")
            self.post_message(self.Sent(text))

    def action_newline(self) -> None:
        """Insert a line break."""
        self.insert("\n")

    def action_complete(self) -> None:
        """Take the first or chosen completion; without one, move on: to the replies, else to the next part of the screen."""
        if self.completion.is_open:
            self._accept()
        else:
            self.post_message(self.Left())

    def _accept(self) -> None:
        taken = self.completion.take()
        if taken is not None:
            typed, text = taken
            row, column = self.cursor_location
            self.replace(text, (row, column - len(typed)), (row, column))

    def action_older(self) -> None:
        """Move up: in the completions, in the text, then in the history."""
        if self.completion.is_open:
            self.completion.move(-1)
        elif self.cursor_location[0] > 0:
            self.action_cursor_up()
        elif (line := self.recall.older(self.text)) is not None:
            self.put(line)

    def action_newer(self) -> None:
        """Move down: in the completions, in the text, then in the history."""
        if self.completion.is_open:
            self.completion.move(1)
        elif self.cursor_location[0] < self.document.line_count - 1:
            self.action_cursor_down()
        elif (line := self.recall.newer()) is not None:
            self.put(line)

    def action_page(self, pages: int) -> None:
        """Ask for the transcript to be scrolled."""
        self.post_message(self.Paged(pages))
