"""One message of the transcript: a single widget, laid out for its width, revealed line by line while it streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.geometry import Size
from textual.message import Message as Event
from textual.reactive import reactive
from textual.style import Style

from advisor.visible import visible
from tui.markdown import LINK_STYLE, lay_out, link_style, links_in
from tui.paint import ORIGIN_MARK, flow, wrap
from tui.widgets.drawn import Drawn

if TYPE_CHECKING:
    from advisor.dialogue.messages import Chip
    from advisor.dialogue.messages import Message as Said

STREAM_STEPS = 12
"""An answer is revealed in at most this many steps."""

_GUTTER = {"user": "❯ ", "notice": "· ", "error": "! "}
_GUTTER_STYLE = {"user": "bold $text-primary", "notice": "$quiet", "error": "bold $text-error"}


class MessageView(Drawn):
    """Draws a message. `said` is the record of the dialogue, or plain text typed by the user."""

    DEFAULT_CLASSES = "message"

    class Revealed(Event):
        """More lines of the message are visible."""

    shown: reactive[float] = reactive(1.0, layout=True)
    """Part of the lines that is visible, 0 to 1."""

    def __init__(self, said: Said) -> None:
        super().__init__(classes=f"-{'error' if said.kind == 'error' else said.role}")
        self.said = said

    @property
    def markdown(self) -> str:
        """The message as text to copy."""
        return self.said.markdown

    @property
    def chips(self) -> tuple[Chip, ...]:
        """Facts that the message shows."""
        return self.said.chips

    @property
    def links(self) -> tuple[str, ...]:
        """Entries and addresses to open: the citations first, then those in the text, each once."""
        return tuple(dict.fromkeys((*self.said.citations, *links_in(self.said.markdown))))

    def stream(self) -> None:
        """Reveal the lines one after the other from now on."""
        self.shown = 0.0
        steps = max(1, min(STREAM_STEPS, len(self.laid_out(self.content_size.width or 60))))

        def step() -> None:
            self.shown = min(1.0, self.shown + 1 / steps)
            if self.shown >= 1.0:
                timer.stop()

        timer = self.set_interval(1 / 30, step)

    def watch_shown(self) -> None:
        """Keep the view on what is being revealed."""
        if self.parent is not None and self.is_mounted:
            self.post_message(self.Revealed())

    def finish(self) -> None:
        """Show everything now."""
        self.shown = 1.0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  # Textual's
        """Lines at this width, as far as revealed."""
        return max(1, self._count(len(self.laid_out(width))))

    def render(self) -> Content:
        """The visible lines."""
        lines = self.laid_out(self.content_size.width)
        return Content("\n").join(lines[: self._count(len(lines))] or [Content(" ")])

    def _count(self, lines: int) -> int:
        return lines if self.shown >= 1.0 else int(lines * self.shown)

    def lines(self, width: int) -> list[Content]:
        """Gutter and text, chips, sources."""
        role = "error" if self.said.kind == "error" else self.said.role
        gutter = _GUTTER.get(role, "")
        room = width - len(gutter)
        text = visible(self.said.markdown)
        body = wrap(Content(text), room) if role == "user" else lay_out(text, room)
        lines = [
            Content.assemble((gutter if index == 0 else " " * len(gutter), _GUTTER_STYLE.get(role, "")), line)
            for index, line in enumerate(body)
        ]
        if self.said.chips:
            lines += [Content(""), *flow([chip_content(chip) for chip in self.said.chips], width)]
        cited = [link for link in self.said.citations if link not in links_in(self.said.markdown)]
        if cited:
            marks = [
                Content.assemble(f"[{number}] ", Content(link).stylize(link_style(link)).stylize(LINK_STYLE))
                for number, link in enumerate(cited, 1)
            ]
            lines += [Content(""), *flow([Content("Sources").stylize("$quiet"), *marks], width)]
        return lines


def chip_content(chip: Chip) -> Content:
    """A fact as a chip that opens its editor when clicked: `● Model: Llama 3.1 70B`."""
    edit = Style.from_meta({"@click": f"app.edit_fact({chip.fact!r})"})
    mark = ORIGIN_MARK.get(chip.origin, "●")
    return Content.assemble(
        (f"{mark} ", "$text-accent"),
        (f"{chip.label}: ", "$quiet"),
        Content(chip.text).stylize(edit).stylize(LINK_STYLE),
    )
