"""The main screen: conversation on the left, panels on the right; below 100 columns everything is a tab."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from tui.access import rackfit
from tui.panels import PANELS, build
from tui.widgets.bars import CHAT, KeyBar, StatusBar, TabBar
from tui.widgets.completion import Completion
from tui.widgets.prompt import Prompt
from tui.widgets.replies import Replies
from tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tui.engine import Snapshot
    from tui.panels.base import Panel
    from tui.settings import History


WIDE = 100
"""Columns from which conversation and panels stand side by side."""


class ChatScreen(Screen[None]):
    """Status line, conversation, panels, keys."""

    AUTO_FOCUS = "#prompt"
    HORIZONTAL_BREAKPOINTS = []  # noqa: RUF012  # Textual's own form
    """None: classes would restyle everything after the first layout of a new size, and lay it out again."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back to the conversation", show=False, id="chat.leave"),
    ]

    def __init__(self, history: History, commands: Iterable[tuple[str, str]]) -> None:
        super().__init__()
        self._completion = Completion(commands)
        self._prompt = Prompt(history, self._completion)
        self._shown = "facts"
        self._in_panel = False
        self._beyond_prompt = False
        self._snapshot: Snapshot | None = None

    def compose(self) -> ComposeResult:
        """The frame; a panel is mounted when it is first shown."""
        titles = {name: (key, title) for name, (key, title, *_) in PANELS.items()}
        yield StatusBar()
        yield TabBar({CHAT: ("", "Chat"), **titles}, id="tabs-top")
        with Horizontal(id="body"):
            with Vertical(id="conversation"):
                yield Transcript(id="transcript")
                yield Static("", id="more")
                yield Replies()
                yield self._completion
                yield self._prompt
            yield Static("", id="divider")
            with Vertical(id="side"):
                yield TabBar(titles, id="tabs-side")
        yield KeyBar()

    def on_mount(self) -> None:
        """Mark the current tab; a wide screen gets its panel after the first frame."""
        self._arrange(self.app.size.width)
        self._mark_tabs()
        self.call_after_refresh(self._follow_width)

    # what is on screen

    @property
    def wide(self) -> bool:
        """True when panels stand beside the conversation."""
        return self.app.size.width >= WIDE

    @property
    def prompt(self) -> Prompt:
        """Where the user types."""
        return self._prompt

    @property
    def transcript(self) -> Transcript:
        """The conversation so far."""
        return self.query_one(Transcript)

    @property
    def panel_name(self) -> str:
        """The panel on screen, or `chat` when only the conversation is."""
        return self._shown if self.wide or self._in_panel else CHAT

    async def show_panel(self, name: str, *, enter: bool = True) -> None:
        """Bring a panel (or `chat`) on screen and, with `enter`, go into it."""
        if name == CHAT:
            self._in_panel = False
            self._arrange(self.app.size.width)
            self._mark_tabs()
            if enter:
                self._prompt.focus()
            return
        self._shown = name
        if enter or not self.wide:
            self._in_panel = True
            self._arrange(self.app.size.width)
        panel = await self._mounted(name)
        for other in self.query("#side > .panel"):
            other.display = other is panel
        self._mark_tabs()
        panel.take(self._snapshot)
        if enter:
            panel.enter()

    async def _mounted(self, name: str) -> Panel:
        from tui.panels.base import Panel

        found = list(self.query(f"#panel-{name}").results(Panel))
        if found:
            return found[0]
        panel = build(name)
        await self.query_one("#side").mount(panel)
        return panel

    def panel(self, name: str) -> Panel:
        """A panel that was shown before."""
        from tui.panels.base import Panel

        return self.query_one(f"#panel-{name}", Panel)

    def _mark_tabs(self) -> None:
        self.query_one("#tabs-side", TabBar).current = self._shown
        self.query_one("#tabs-top", TabBar).current = self._shown if self._in_panel else CHAT

    def _arrange(self, columns: int) -> None:
        """Wide: conversation and panel side by side. Narrow: one at a time, chosen by the tabs on top."""
        wide = columns >= WIDE
        shown = {
            "#tabs-top": not wide,
            "#conversation": wide or not self._in_panel,
            "#divider": wide,
            "#side": wide or self._in_panel,
            "#tabs-side": wide,
        }
        for part, display in shown.items():
            widget = self.query_one(part)
            if widget.display != display:
                widget.display = display

    async def _follow_width(self) -> None:
        """Beside the conversation there is always a panel."""
        if self.wide and self.is_current and self.is_running:
            await self.show_panel(self._shown, enter=False)

    def on_resize(self, event: Resize) -> None:
        """Arrange the parts before the new size is laid out; mount the panel that a wider screen shows.

        On a screen that has become narrow stays what the user is in.
        """
        side = self.query_one("#side")
        if event.size.width < WIDE and self.query_one("#tabs-side").display:
            self._in_panel = self.focused is not None and side in self.focused.ancestors
        self._arrange(event.size.width)
        self._mark_tabs()
        if self.wide and self.is_mounted and not self.query("#side > .panel"):
            self.call_after_refresh(self._follow_width)

    def take(self, snapshot: Snapshot) -> None:
        """Show a new state: status line and the visible panel."""
        self._snapshot = snapshot
        self.query_one(StatusBar).answer = snapshot.recommendation
        if self.panel_name != CHAT:
            for panel in self.query(f"#panel-{self._shown}"):
                panel.take(snapshot)  # type: ignore[attr-defined]  # only panels carry these ids

    # events of the parts

    async def on_tab_bar_chosen(self, event: TabBar.Chosen) -> None:
        """Switch panels."""
        event.stop()
        await self.show_panel(event.name, enter=event.enter)

    def on_prompt_sent(self, event: Prompt.Sent) -> None:
        """Say what was typed."""
        event.stop()
        rackfit(self).submit(event.text)

    def on_prompt_paged(self, event: Prompt.Paged) -> None:
        """Scroll the conversation from the prompt."""
        event.stop()
        transcript = self.transcript
        if event.pages < 0:
            transcript.scroll_page_up(animate=False)
        else:
            transcript.scroll_page_down(animate=False)

    def on_transcript_scrolled(self, event: Transcript.Scrolled) -> None:
        """Say that the conversation goes on below."""
        event.stop()
        more = self.query_one("#more", Static)
        more.set_class(event.lines > 0, "-open")
        self.query_one(Replies).away = not event.last_seen
        noun = "line" if event.lines == 1 else "lines"
        more.update(
            Content(f"▼ {event.lines} more {noun} below · PgDn").stylize("$text-accent"), layout=False
        )

    def on_prompt_left(self, event: Prompt.Left) -> None:
        """From the prompt to the replies when there are any: they stand above it, but come after it."""
        event.stop()
        replies = self.query_one(Replies)
        if replies.choices:
            self._beyond_prompt = True
            replies.focus()
        else:
            self.focus_next()

    def on_replies_left(self, event: Replies.Left) -> None:
        """From the replies on as from the prompt, or back to it."""
        event.stop()
        self.set_focus(self._prompt)
        if event.step > 0 and self._beyond_prompt:
            self.focus_next()
        self._beyond_prompt = False

    def on_replies_chosen(self, event: Replies.Chosen) -> None:
        """Reply."""
        event.stop()
        self._prompt.focus()
        rackfit(self).submit(event.text)

    def on_transcript_menu_requested(self, event: Transcript.MenuRequested) -> None:
        """Offer what can be done with a message."""
        event.stop()
        if isinstance(event, Transcript.CopyRequested):
            rackfit(self).copy(event.view.markdown)
        else:
            rackfit(self).message_menu(event.view)

    on_transcript_copy_requested = on_transcript_menu_requested

    async def action_leave(self) -> None:
        """Step back once: close completions, finish streaming, return to the prompt. What was typed stays."""
        if self._completion.close() or self.transcript.finish_streaming():
            return
        if not self.wide:
            await self.show_panel(CHAT)
        self._prompt.focus()
