"""The lines that frame the screen: the answer so far, the tabs, and the keys that work now."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message as Event
from textual.reactive import reactive
from textual.style import Style

from tui.paint import clip, confidence, joined, verdict
from tui.widgets.drawn import Drawn

if TYPE_CHECKING:
    from advisor.records import Recommendation

CHAT = "chat"


class StatusBar(Drawn):
    """Product name, verdict, confidence and headline; what is being worked on while something takes long."""

    answer: reactive[Recommendation | None] = reactive(None)
    busy: reactive[str] = reactive("")

    def __init__(self) -> None:
        super().__init__(id="status")

    def watch_answer(self) -> None:
        """Show the new verdict."""
        self.redraw(layout=False)

    def watch_busy(self) -> None:
        """Show or hide what is being worked on."""
        self.redraw(layout=False)

    def lines(self, width: int) -> list[Content]:
        """One line."""
        parts: list[Content | str] = [Content("rackfit").stylize("bold $text-primary")]
        if self.answer is not None:
            headline = Content(self.answer.headline)
            parts += [verdict(self.answer.verdict), confidence(self.answer.confidence.level), headline]
        elif not self.busy:
            parts.append(Content("8-GPU nodes, or a 72-GPU rack?").stylize("$quiet"))
        if self.busy:
            parts.insert(1, Content(f"⋯ {self.busy}").stylize("bold $text-accent"))
        return [clip(joined(parts), width)]


class TabBar(Drawn, can_focus=True):
    """Names of the panels, one of them current. Drawn as one line; keys and clicks choose."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", "panel", key_display="←→", id="tabs.left"),
        Binding("right", "step(1)", "Next panel", show=False, id="tabs.right"),
        Binding("enter,down", "enter", "go in", id="tabs.enter"),
    ]
    HELP = "The panels. ← and → switch, enter goes into the panel."

    current: reactive[str] = reactive("")

    class Chosen(Event):
        """The user chose a panel. enter: go into it, too."""

        def __init__(self, name: str, *, enter: bool) -> None:
            super().__init__()
            self.name = name
            self.enter = enter

    def __init__(self, tabs: dict[str, tuple[str, str]], *, id: str) -> None:  # noqa: A002  # Textual's name for it
        super().__init__(id=id)
        self._tabs = tabs

    def watch_current(self) -> None:
        """Mark the new tab."""
        self.redraw(layout=False)

    def lines(self, width: int) -> list[Content]:
        """` F2 Facts │ F3 Fit │ …`, the current one reversed; keys are left out where they do not fit."""
        for separator, with_keys in ((" │ ", True), (" ", True), (" │ ", False), (" ", False), ("", False)):
            line = self._line(separator, with_keys=with_keys)
            if line.cell_length <= width:
                return [line]
        return [clip(line, width)]

    def _line(self, separator: str, *, with_keys: bool) -> Content:
        parts = []
        for name, (key, title) in self._tabs.items():
            click = Style.from_meta({"@click": f"app.panel({name!r})"})
            hint = Content(f"{key} ").stylize("$quiet") if with_keys and key else Content("")
            label = Content.assemble(" ", hint, title, " ").stylize(click)
            parts.append(label.stylize("bold reverse") if name == self.current else label)
        return Content(separator).stylize("$quiet").join(parts)

    def action_step(self, step: int) -> None:
        """Choose a neighbour."""
        names = list(self._tabs)
        place = names.index(self.current) if self.current in names else 0
        self.post_message(self.Chosen(names[(place + step) % len(names)], enter=False))

    def action_enter(self) -> None:
        """Go into the current panel."""
        self.post_message(self.Chosen(self.current, enter=True))


class KeyBar(Drawn):
    """Keys that work now: those of the focused part first, then the ones that always work; never cut in the middle."""

    ALWAYS: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("?", "help", "app.help"),
        ("^p", "commands", "app.command_palette"),
        ("F2-F8", "panels", "app.next_panel"),
        ("F9", "export", "app.export"),
        ("^q", "quit", "app.quit"),
    )

    def __init__(self) -> None:
        super().__init__(id="keys")

    def on_mount(self) -> None:
        """Follow the focus."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.redraw(layout=False))

    def lines(self, width: int) -> list[Content]:
        """As many keys as fit."""
        always = [self._key(key, text, action) for key, text, action in self.ALWAYS]
        here = [
            active.binding
            for active in self.screen.active_bindings.values()
            if active.binding.show and active.node is not self.app and active.enabled
        ]
        first = {binding.description: binding for binding in reversed(here)}
        local = [
            self._key(self.app.get_key_display(b), b.description, b.action) for b in reversed(first.values())
        ]
        at_prompt = self.screen.focused is not None and self.screen.focused.id == "prompt"
        back = [] if at_prompt else [self._key("esc", "back", "")]
        line = Content("")
        for part in [*always[:2], *back, *local, *always[2:]]:
            longer = joined([line, part])
            if longer.cell_length <= width:
                line = longer
        return [line]

    @staticmethod
    def _key(key: str, text: str, action: str) -> Content:
        click = Style.from_meta({"@click": action}) if action.startswith("app.") else Style()
        return Content.assemble((key, "bold $text-accent"), " ", (text, "$foreground")).stylize(click)
