"""Exporting window: what to export, as what, and where to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.access import rackfit
from tui.screens.base import Window

WHAT: dict[str, tuple[str, str, str]] = {
    "conversation-markdown": ("Decision and conversation", "Markdown", ".md"),
    "conversation-html": ("Decision and conversation", "HTML", ".html"),
    "conversation-json": ("Decision and conversation", "JSON", ".json"),
    "answer-markdown": ("Answer alone", "Markdown", ".md"),
    "answer-html": ("Answer alone", "HTML", ".html"),
    "answer-json": ("Answer alone", "JSON", ".json"),
}
"""Export -> what, form, ending of the file name."""

Exporter = Callable[[str, Path], Awaitable[str]]
"""Writes an export of `WHAT` to a path; returns what is wrong, or an empty text."""


class Export(Window[None]):
    """A list of forms and the file name, which follows the form."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "Next form", show=False, priority=True, id="export.down"),
        Binding("up", "move(-1)", "Previous form", show=False, priority=True, id="export.up"),
    ]

    def __init__(self, stem: str, exporter: Exporter, *, answered: bool, local: bool) -> None:
        """`local`: the file is written here, where names can be taken already."""
        super().__init__()
        self._stem = stem
        self._export = exporter
        self._local = local
        self._offered = ""
        self._forms = [name for name in WHAT if answered or name.startswith("conversation")]
        self._confirmed = ""

    def compose(self) -> ComposeResult:
        """Forms, path, problem."""
        with Vertical(classes="window") as window:
            window.border_title = Content("Export")
            yield OptionList(
                *(
                    Option(Content.assemble(WHAT[name][0].ljust(28), (WHAT[name][1], "$quiet")), id=name)
                    for name in self._forms
                ),
                id="export-forms",
                markup=False,
            )
            yield Static(Content("File"), classes="legend")
            yield Input(id="export-path", compact=True)
            yield Static("", id="export-problem")
            yield Static(Content("↑↓ form · enter save · esc cancel").stylize("$quiet"), classes="legend")

    def on_mount(self) -> None:
        """Start with the first form."""
        forms = self.query_one(OptionList)
        forms.highlighted = 0
        forms.can_focus = False
        self.query_one(Input).focus()

    def action_move(self, step: int) -> None:
        """Choose another form."""
        forms = self.query_one(OptionList)
        forms.highlighted = ((forms.highlighted or 0) + step) % len(self._forms)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Name a file that does not exist yet; of a name that was typed only the ending follows the form."""
        event.stop()
        field, suffix = self.query_one(Input), WHAT[event.option.id or ""][2]
        if field.value == self._offered:
            path = Path(f"{self._stem}{suffix}")
            self._offered = str(free_path(path) if self._local else path)
            field.value = self._offered
        else:
            field.value = field.value.removesuffix(Path(field.value).suffix) + suffix

    def on_option_list_option_selected(self) -> None:
        """After a click on a form, go on with the file name."""
        self.query_one(Input).focus()

    def on_input_changed(self) -> None:
        """A new name needs a new confirmation."""
        self._confirmed = ""
        self.query_one("#export-problem", Static).update("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Save."""
        self.run_worker(rackfit(self).guard(self._save, event.value.strip()), exclusive=True)

    async def _save(self, name: str) -> None:
        form = self._forms[self.query_one(OptionList).highlighted or 0]
        try:
            path = Path(name).expanduser()
        except RuntimeError as error:
            self._complain(f"{error}; give a path without ~")
            return
        if not name or not name.isprintable():
            self._complain("give a file name")
        elif self._local and path.exists() and self._confirmed != name:
            self._confirmed = name
            self._complain("that file exists; press enter again to replace it")
        elif problem := await self._export(form, path):
            self._complain(problem)
        else:
            self.dismiss(None)

    def _complain(self, problem: str) -> None:
        self.query_one("#export-problem", Static).update(Content(f"! {problem}").stylize("$text-error"))


def free_path(path: Path) -> Path:
    """The path, or with `-2`, `-3`, … before its suffix when it is taken."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free
