"""Reading window: an entry of the knowledge base, the records of a pair, or the help, as a page."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from advisor.visible import visible
from tui.access import rackfit
from tui.markdown import lay_out, links_in
from tui.screens.base import Window
from tui.screens.picker import Picker
from tui.widgets.drawn import Drawn


class Page(Drawn):
    """A Markdown text laid out for its width."""

    def __init__(self, text: str) -> None:
        super().__init__(id="page")
        self.text = text

    def show(self, text: str) -> None:
        """Show another text."""
        self.text = text
        self.redraw()

    def lines(self, width: int) -> list[Content]:
        """The text."""
        return lay_out(visible(self.text), width)


class Reader(Window[None]):
    """A page with its title, scrolled by keys; links open further pages, backspace returns."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "close", "Close", show=False, id="reader.quit"),
        Binding("l,enter", "links", "links", id="reader.links"),
        Binding("y,c", "copy", "copy", id="reader.copy"),
        Binding("g", "graph", "in the graph", id="reader.graph"),
        Binding("backspace,left", "back", "back", key_display="⌫", id="reader.back"),
        Binding("j", "scroll(1)", "Down", show=False, id="reader.down"),
        Binding("k", "scroll(-1)", "Up", show=False, id="reader.up"),
    ]

    def __init__(self, title: str, text: str, *, entry_id: str = "") -> None:
        super().__init__()
        self._pages = [(title, text, entry_id)]

    @property
    def entry_id(self) -> str:
        """The entry on the page; empty for other pages."""
        return self._pages[-1][2]

    def compose(self) -> ComposeResult:
        """Page and hint."""
        title, text, _ = self._pages[-1]
        with Vertical(classes="window -tall") as window:
            window.border_title = Content(title)
            with VerticalScroll(id="page-scroll"):
                yield Page(text)
            yield Static(self._hint(), id="page-hint", classes="legend")

    def _hint(self) -> Content:
        _, text, entry_id = self._pages[-1]
        keys = ["esc close", "↑↓ scroll", "y copy"]
        keys += ["enter links"] if links_in(text) else []
        keys += ["g in the graph"] if entry_id else []
        keys += ["⌫ back"] if len(self._pages) > 1 else []
        return Content(" · ".join(keys)).stylize("$quiet")

    def show(self, title: str, text: str, *, entry_id: str = "") -> None:
        """Go on to another page."""
        self._pages.append((title, text, entry_id))
        self._update()

    def _update(self) -> None:
        title, text, _ = self._pages[-1]
        self.query_one(Page).show(text)
        self.query_one(".window", Vertical).border_title = Content(title)
        self.query_one("#page-hint", Static).update(self._hint())
        self.query_one("#page-scroll", VerticalScroll).scroll_home(animate=False)

    def action_back(self) -> None:
        """Return to the page before."""
        if len(self._pages) > 1:
            self._pages.pop()
            self._update()

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one("#page-scroll", VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_links(self) -> None:
        """Choose among the links of the page."""
        links = [link for link in links_in(self._pages[-1][1]) if link != self.entry_id]
        if not links:
            return
        self.app.push_screen(Picker("Open", [(link, Content(link)) for link in links]), self._open)

    def _open(self, link: str | None) -> None:
        if link:
            rackfit(self).open(link)

    def action_copy(self) -> None:
        """Copy the page as Markdown."""
        rackfit(self).copy(self._pages[-1][1])

    def action_graph(self) -> None:
        """Show the entry in the graph."""
        if self.entry_id:
            app, entry_id = rackfit(self), self.entry_id
            self.dismiss(None)
            app.show_in_graph(entry_id)
