"""The conversation so far: stays where the reader scrolled, keeps few widgets mounted, has a message cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message as Event
from textual.style import Style
from textual.widgets import Static

from tui.widgets.message import MessageView

if TYPE_CHECKING:
    from advisor.dialogue.messages import Message as Said

MOUNTED = 30
"""Messages kept as widgets; earlier ones come back on demand, so long sessions stay fast and small.

Each is laid out anew in a new width: as many as can be in the 50 ms that a resize may take."""


class Transcript(VerticalScroll):
    """Messages from oldest to newest.

    What the user said last goes to the top of the view as soon as its answer needs the room; before that the end stays
    in view. Once the reader scrolls, nothing moves by itself until they say something again.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "message", key_display="↑↓", id="transcript.up"),
        Binding("down,j", "move(1)", "Next message", show=False, id="transcript.down"),
        Binding("enter,o", "menu", "open", id="transcript.menu"),
        Binding("y,c", "copy", "copy", id="transcript.copy"),
        Binding("g,home", "first", "First message", show=False, id="transcript.first"),
        Binding("G,end", "last", "Last message", show=False, id="transcript.last"),
    ]
    HELP = (
        "The conversation. Walk through the messages, copy one, or open what it cites and the facts it shows."
    )

    class Scrolled(Event):
        """What lies below the view has changed. lines: how many lines are below; last_seen: the newest message begins in view."""

        def __init__(self, lines: int, last_seen: bool) -> None:
            super().__init__()
            self.lines = lines
            self.last_seen = last_seen

    class MenuRequested(Event):
        """The reader wants to act on a message."""

        def __init__(self, view: MessageView) -> None:
            super().__init__()
            self.view = view

    class CopyRequested(MenuRequested):
        """The reader wants a message in the clipboard."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  # Textual's name for it
        super().__init__(id=id)
        self.said: list[Said] = []
        self._hidden = 0
        self._cursor: MessageView | None = None
        self._topic: MessageView | None = None
        self._below = 0
        self._changing = asyncio.Lock()

    @property
    def views(self) -> list[MessageView]:
        """Mounted messages, oldest first."""
        return list(self.query_children(MessageView))

    @property
    def cursor(self) -> MessageView | None:
        """The message that keys act on: the one walked to, else the newest."""
        if self._cursor is not None and self._cursor.is_attached:
            return self._cursor
        views = self.views
        return views[-1] if views else None

    async def add(
        self, messages: Iterable[Said], *, stream: bool = False, topic: bool = False, turn: bool = False
    ) -> None:
        """Append messages; the newest `MOUNTED` stay mounted while the reader is at the end.

        stream: reveal them line by line. topic: the first of them is what the view follows from now on; turn: that too,
        unless the reader scrolled.
        """
        new = list(messages)
        if new:
            async with self._changing:
                await self._append(new, stream=stream, topic=topic, turn=turn)
            self.call_after_refresh(self.follow)

    async def _append(self, new: list[Said], *, stream: bool, topic: bool, turn: bool) -> None:
        self.finish_streaming()
        following = topic or self._topic is not None or not self._below
        self.said += new
        fresh = [MessageView(said) for said in new[-MOUNTED:]]
        if len(new) > MOUNTED:
            await self.remove_children(MessageView)
        await self.mount_all(fresh)
        if following:
            surplus = self.views[:-MOUNTED]
            if surplus:
                await self.remove_children(surplus)
            if topic or turn or self._topic is None or not self._topic.is_attached:
                self._topic = fresh[0]
        await self._note_hidden()
        if stream:
            for view in fresh:
                if view.said.role == "rackfit":
                    view.stream()

    async def clear(self) -> None:
        """Forget everything: another conversation follows."""
        async with self._changing:
            self.said = []
            self._topic = self._cursor = None
            await self.remove_children()
            self._hidden = 0

    def follow(self) -> None:
        """Scroll to the end, but not past the topic; tell what lies below."""
        if self._topic is not None and self._topic.is_attached:
            top = self._topic.virtual_region.y
            # not scroll_to, which counts as the reader's own scrolling
            self.scroll_target_y = self.scroll_y = min(self.max_scroll_y, top)
        self._tell_below()

    def on_message_view_revealed(self, event: MessageView.Revealed) -> None:
        """Follow what streams."""
        event.stop()
        self.call_after_refresh(self.follow)

    def release_anchor(self) -> None:
        """The reader scrolls: stay where they go."""
        super().release_anchor()
        self._topic = None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell what lies below now."""
        super().watch_scroll_y(old_value, new_value)
        self._tell_below()

    def on_resize(self) -> None:
        """Keep the topic in view in the new size."""
        self.call_after_refresh(self.follow)

    def _tell_below(self) -> None:
        below = max(0, round(self.max_scroll_y - self.scroll_y))
        if below != self._below:
            self._below = below
            self.post_message(self.Scrolled(below, self._last_seen))

    @property
    def _last_seen(self) -> bool:
        views = self.views
        return not views or views[-1].virtual_region.y - self.scroll_y < self.size.height

    async def show_earlier(self) -> None:
        """Mount up to `MOUNTED` of the messages before the first one shown."""
        async with self._changing:
            if not self._hidden:
                return
            start = max(0, self._hidden - MOUNTED)
            batch = [MessageView(said) for said in self.said[start : self._hidden]]
            first = self.views[0]
            await self.mount_all(batch, before=first)
            await self._note_hidden()
        first.scroll_visible(animate=False, top=True)

    async def _note_hidden(self) -> None:
        self._hidden = len(self.said) - len(self.views)
        notes = list(self.query_children("#earlier").results(Static))
        if not self._hidden:
            await self.remove_children("#earlier")
            return
        click = Style(underline=True) + Style.from_meta({"@click": "app.show_earlier"})
        text = Content.assemble(("↑ ", "$quiet"), Content(f"{self._hidden} earlier messages").stylize(click))
        if notes:
            notes[0].update(text)
        else:
            await self.mount(Static(text, id="earlier"), before=0)

    def finish_streaming(self) -> bool:
        """Show whatever still streams at once. True when something did."""
        streaming = [view for view in self.views[-6:] if view.shown < 1.0]
        for view in streaming:
            view.finish()
        return bool(streaming)

    def _place(self, view: MessageView | None, *, scroll: bool = True) -> None:
        for other in self.query_children(".-cursor"):
            other.remove_class("-cursor")
        self._cursor = view
        if view is not None:
            view.add_class("-cursor")
            if scroll:
                view.scroll_visible(animate=False)

    def _in_view(self, view: MessageView) -> bool:
        region, top = view.virtual_region, self.scroll_y
        return region.bottom > top and region.y < top + self.size.height

    async def action_move(self, step: int) -> None:
        """Move the message cursor; going above the first shown message brings earlier ones."""
        views = self.views
        if not views:
            return
        if self._cursor not in views:
            self._place(views[-1])
            return
        position = views.index(self._cursor) + step
        if position < 0 and self._hidden:
            await self.show_earlier()
            views = self.views
            position = max(0, views.index(self._cursor) - 1)
        self._place(views[max(0, min(len(views) - 1, position))])

    def action_first(self) -> None:
        """Go to the first message shown."""
        self._go(self.views[:1])

    def action_last(self) -> None:
        """Go to the newest message."""
        self._go(self.views[-1:])
        self.scroll_end(animate=False)

    def _go(self, views: Sequence[MessageView]) -> None:
        if views:
            self._place(views[0])

    def action_menu(self) -> None:
        """Ask for what can be done with the message."""
        if self.cursor is not None:
            self.post_message(self.MenuRequested(self.cursor))

    def action_copy(self) -> None:
        """Ask for the message to be copied."""
        if self.cursor is not None:
            self.post_message(self.CopyRequested(self.cursor))

    def on_focus(self) -> None:
        """Show the message cursor, on a message that is in view already: a click must not move the page."""
        seen = [view for view in self.views if self._in_view(view)]
        cursor = self.cursor
        self._place(cursor if cursor in seen or not seen else seen[-1], scroll=False)

    def on_blur(self) -> None:
        """Hide it."""
        for view in self.query_children(".-cursor"):
            view.remove_class("-cursor")
