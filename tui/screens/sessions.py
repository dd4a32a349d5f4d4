"""Window of saved conversations: go on with one, rename it, delete it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.access import rackfit
from tui.screens.base import Window
from tui.screens.confirm import Confirm

if TYPE_CHECKING:
    from advisor.dialogue.sessions import SessionInfo, SessionStore
    from tui.engine import Opened


class Sessions(Window[str]):
    """Returns the id of the conversation to go on with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "rename", "rename", id="sessions.rename"),
        Binding("d,delete", "delete", "delete", id="sessions.delete"),
    ]

    def compose(self) -> ComposeResult:
        """List, field for a name, keys."""
        with Vertical(classes="window") as window:
            window.border_title = Content("Saved conversations")
            yield OptionList(id="session-list", markup=False)
            yield Input(placeholder="New name", id="session-name", compact=True)
            yield Static("", id="session-note", classes="legend")

    def on_mount(self) -> None:
        """Read what is saved."""
        self.query_one(Input).display = False
        self._load()

    def _load(self) -> None:
        async def work() -> None:
            infos, current = await rackfit(self).compute(
                "reading the saved conversations", _saved, rackfit(self).engine.opened
            )
            options = self.query_one(OptionList)
            chosen = self._chosen
            options.clear_options()
            options.add_options(_option(info, current) for info in infos)
            others = [info.id for info in infos if info.id != current]
            wanted = chosen if chosen in others else next(iter(others), "")
            options.highlighted = options.get_option_index(wanted) if wanted else None
            self._note(
                "enter go on · r rename · d delete · esc close"
                if infos
                else "nothing is saved yet · esc close"
            )

        self.run_worker(rackfit(self).guard(work), exclusive=True)

    def _note(self, text: str) -> None:
        self.query_one("#session-note", Static).update(Content(text))

    @property
    def _chosen(self) -> str:
        option = self.query_one(OptionList).highlighted_option
        return option.id or "" if option is not None else ""

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go on with it."""
        self.dismiss(event.option.id)

    def action_rename(self) -> None:
        """Ask for a new name."""
        if self._chosen:
            field = self.query_one(Input)
            field.display = True
            field.value = ""
            field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Rename."""
        chosen, name = self._chosen, event.value
        self.query_one(Input).display = False
        self.query_one(OptionList).focus()
        self._change(lambda store: store.rename(chosen, name))

    def action_delete(self) -> None:
        """Delete after a question: this cannot be undone."""
        chosen = self._chosen
        if not chosen:
            return

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._change(lambda store: store.delete(chosen))

        text = "The conversation is deleted for good."
        self.app.push_screen(Confirm("Delete?", text, yes="Delete it", no="Keep it"), answered)

    def action_close(self) -> None:
        """Leave the field first, then the window."""
        field = self.query_one(Input)
        if field.display:
            field.display = False
            self.query_one(OptionList).focus()
        else:
            self.dismiss(None)

    def _change(self, function: Callable[[SessionStore], object]) -> None:
        async def work() -> None:
            from advisor.errors import RackfitError

            def change(opened: Opened) -> None:
                if opened.store is not None:
                    function(opened.store)

            try:
                await rackfit(self).engine.with_opened(change)
            except (RackfitError, OSError) as error:
                self.notify(str(error), severity="error", markup=False)
            self._load()

        self.run_worker(rackfit(self).guard(work))


def _saved(opened: Opened) -> tuple[tuple[SessionInfo, ...], str]:
    """The saved sessions, and the id of the present one."""
    infos = opened.store.saved() if opened.store is not None else ()
    return infos, opened.session.id if opened.session is not None else ""


def _option(info: SessionInfo, current: str) -> Option:
    here = info.id == current
    first = " ".join(info.first.split())[:60]
    line = Content.assemble(
        ("● " if here else "  ", "$text-accent"), (info.name, "bold"), (f"  {info.changed} UTC  {info.turns} turns", "$quiet"),
        f"\n    {first}" if first else "", ("  (this one)" if here else "", "$quiet"),
    )  # fmt: skip
    return Option(line, id=info.id, disabled=here)
