"""Editing window of one fact: type a value or choose one; what is wrong is said in place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.access import rackfit
from tui.screens.base import Window

if TYPE_CHECKING:
    from advisor.knowledge.base import KnowledgeBase
    from advisor.records import Fact

Setter = Callable[[str | None], Awaitable[str]]
"""Sets the fact (None forgets it); returns what is wrong, or an empty text."""


class FactEditor(Window[None]):
    """One fact with its question, help, current value and allowed or usual values."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "into_list", "To the list", show=False, id="editor.down"),
        Binding("ctrl+d", "forget", "forget", key_display="^d", id="editor.forget"),
    ]

    def __init__(self, kb: KnowledgeBase, fact: Fact, current: str, setter: Setter) -> None:
        super().__init__()
        self._fact = fact
        self._current = current
        self._set = setter
        self._suggestions = _suggestions(kb, fact)
        self._closed_set = fact.type in ("choice", "flag", "entry")

    def compose(self) -> ComposeResult:
        """Question, field, values."""
        fact = self._fact
        unit = f" in {fact.unit}" if fact.unit else ""
        with Vertical(classes="window") as window:
            window.border_title = Content(fact.title)
            if fact.question or fact.help:
                yield Static(
                    Content(" ".join(part for part in (fact.question, fact.help) if part)), classes="legend"
                )
            yield Input(
                placeholder=f"{self._current or 'not stated'}{'' if self._current else unit}",
                id="fact-value",
                compact=True,
            )
            yield Static("", id="fact-problem")
            yield OptionList(id="fact-choices", markup=False)
            yield Static(
                Content("enter set · ↓ choose · ^d forget · esc keep as it is").stylize("$quiet"),
                classes="legend",
            )

    def on_mount(self) -> None:
        """Offer all values."""
        self._fill("")

    def _fill(self, text: str) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        words = text.casefold().split() if self._closed_set else []
        shown = [
            item for item in self._suggestions if all(word in " ".join(item).casefold() for word in words)
        ]
        wide = max((len(label) for _, label, _ in shown), default=0)
        options.add_options(
            Option(Content.assemble(label.ljust(wide + 2), (help_text, "$quiet")), id=f"value:{value}")
            for value, label, help_text in shown
        )
        options.highlighted = 0 if self._closed_set and text and shown else None
        options.display = bool(self._suggestions)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter allowed values."""
        self.query_one("#fact-problem", Static).update("")
        if self._closed_set:
            self._fill(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the highlighted value, else what was typed."""
        options = self.query_one(OptionList)
        if self._closed_set and options.highlighted is not None:
            options.action_select()
        elif event.value.strip():
            self._try(event.value.strip())
        else:
            self.dismiss(None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the chosen value."""
        self._try((event.option.id or "").removeprefix("value:"))

    def action_into_list(self) -> None:
        """Go from the field to the values."""
        if self._suggestions:
            self.query_one(OptionList).focus()

    def action_forget(self) -> None:
        """Forget the fact."""
        self._try(None)

    def _try(self, value: str | None) -> None:
        async def work() -> None:
            problem = await self._set(value)
            if problem:
                self.query_one("#fact-problem", Static).update(Content(f"! {problem}").stylize("$text-error"))
                self.query_one(Input).focus()
            else:
                self.dismiss(None)

        self.run_worker(rackfit(self).guard(work), exclusive=True)


def _suggestions(kb: KnowledgeBase, fact: Fact) -> list[tuple[str, str, str]]:
    """(value, label, help) of values to offer."""
    if fact.type == "entry":
        kind = fact.entry_kind
        entries = sorted(
            (e for e in kb.entries.values() if e.kind in (kind, f"{kind}s")), key=lambda e: e.title.casefold()
        )
        return [(entry.id, entry.title, "") for entry in entries]
    if fact.type == "flag":
        return [("yes", "yes", ""), ("no", "no", "")]
    if fact.choices:
        return [(choice.value, choice.label or choice.value, choice.help) for choice in fact.choices]
    return [(str(value), str(value), fact.unit) for value in fact.suggestions]
