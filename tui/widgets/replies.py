"""Quick replies to the question asked: a row of buttons, one widget."""

from __future__ import annotations

import re
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message as Event
from textual.reactive import reactive
from textual.style import Style

from tui.markdown import lay_out
from tui.paint import clip, flow
from tui.widgets.drawn import Drawn


class Replies(Drawn, can_focus=True):
    """The choices of the current question; hidden when it has none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "choose", key_display="←→", id="replies.left"),
        Binding("right", "move(1)", "Next reply", show=False, id="replies.right"),
        Binding("enter,space", "reply", "reply", id="replies.send"),
        Binding("tab", "leave(1)", "Next part", show=False, id="replies.next"),
        Binding("shift+tab", "leave(-1)", "Back to the prompt", show=False, id="replies.back"),
    ]
    HELP = "Answers to the question on screen. ← and → choose, enter replies; any other text can be typed instead."

    choices: reactive[tuple[str, ...]] = reactive(())
    question: reactive[str] = reactive("")
    """What the choices answer, as Markdown; empty when they explain themselves."""
    away: reactive[bool] = reactive(False)
    """Whether the question is out of view, so that it is repeated above its choices."""
    position: reactive[int] = reactive(0)

    class Chosen(Event):
        """The user picked a reply."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Event):
        """The user moves on (1) or back (-1) with tab."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self) -> None:
        super().__init__(id="replies")

    def watch_choices(self, choices: tuple[str, ...]) -> None:
        """Show the row only while there is something to choose."""
        self.position = 0
        self.set_class(bool(choices), "-open")
        self.redraw()

    def watch_question(self) -> None:
        """Draw the other question."""
        self.redraw()

    def watch_away(self) -> None:
        """Repeat the question, or leave it to the conversation."""
        self.redraw()

    def watch_position(self) -> None:
        """Redraw with the cursor elsewhere."""
        self.redraw()

    def lines(self, width: int) -> list[Content]:
        """The question when it is out of view, and the buttons, the current one reversed when focused."""
        asked = self.choices and self.question and self.away
        above = [clip(lay_out(_asked(self.question), 10_000)[0], width)] if asked else []
        buttons = []
        for index, choice in enumerate(self.choices):
            current = self.has_focus and index == self.position
            click = Style.from_meta({"@click": f"app.reply({index})"})
            text = Content(f"▸{choice} " if current else f"[{choice}]")
            buttons.append(text.stylize("bold reverse" if current else "bold $text-accent").stylize(click))
        return [*above, *flow(buttons, width, gap=2)]

    def on_focus(self) -> None:
        """Redraw with the cursor."""
        self.redraw()

    def on_blur(self) -> None:
        """Redraw without it."""
        self.redraw()

    def action_move(self, step: int) -> None:
        """Move between the buttons."""
        if self.choices:
            self.position = (self.position + step) % len(self.choices)

    def action_leave(self, step: int) -> None:
        """Move on or back."""
        self.post_message(self.Left(step))

    def action_reply(self, index: int | None = None) -> None:
        """Reply with a button's text."""
        if self.choices:
            self.post_message(
                self.Chosen(self.choices[self.position if index is None else index % len(self.choices)])
            )


def _asked(markdown: str) -> str:
    """The question itself, which is the first bold part of what was said with it."""
    found = re.match(r"\*\*.+?\*\*", markdown)
    return found[0] if found else markdown
