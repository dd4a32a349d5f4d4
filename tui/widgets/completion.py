"""Names and commands offered above the prompt while typing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.content import Content

from tui.paint import clip
from tui.widgets.drawn import Drawn

OFFERED = 6
_MAX_WORDS = 5
_MIN_LETTERS = 3


@dataclass(frozen=True, kw_only=True)
class Name:
    """Something that can be completed. key: lower case, compared with what is typed; text: what is inserted."""

    key: str
    text: str
    what: str


class Completion(Drawn):
    """The list of completions; hidden while there is none. The prompt drives it."""

    def __init__(self, commands: Iterable[tuple[str, str]]) -> None:
        super().__init__(id="completion")
        self._commands = [
            Name(key=f"/{word}", text=f"/{word}", what=help_text) for word, help_text in commands
        ]
        self._names: list[Name] = []
        self._offered: list[tuple[str, Name]] = []
        self._position = 0
        self._moved = False
        self._more = 0

    def learn(self, names: Iterable[Name]) -> None:
        """Set the names to complete."""
        self._names = sorted(names, key=lambda name: (len(name.key), name.key))

    @property
    def is_open(self) -> bool:
        """True while completions are on screen."""
        return bool(self._offered)

    @property
    def chosen(self) -> bool:
        """True when the user moved to a completion, so that enter means this one."""
        return self.is_open and self._moved

    def offer(self, before: str, *, first_line: bool) -> None:
        """Show what may follow `before`, the text of the line up to the cursor."""
        matches = self._matches(before, first_line=first_line)
        self._more = max(0, len(matches) - OFFERED)
        matches = matches[:OFFERED]
        if [name for _, name in matches] != [name for _, name in self._offered]:
            self._position, self._moved = 0, False
        self._show(matches)

    def _show(self, matches: list[tuple[str, Name]]) -> None:
        changed = matches != self._offered
        self._offered = matches
        if changed:
            self.set_class(bool(matches), "-open")
            self.redraw()

    def lines(self, width: int) -> list[Content]:
        """One completion a line, the chosen one reversed, and how many more there are."""
        wide = max((len(name.text) for _, name in self._offered), default=0)
        lines = []
        for index, (_, name) in enumerate(self._offered):
            line = clip(Content.assemble(" ", name.text.ljust(wide + 2), (name.what, "$quiet")), width)
            lines.append(line.stylize("bold reverse") if index == self._position else line)
        if self._more:
            lines.append(Content(f" and {self._more} more: keep typing").stylize("$quiet"))
        return lines

    def _matches(self, before: str, *, first_line: bool) -> list[tuple[str, Name]]:
        """Everything that may follow, with the part of `before` that it replaces; the longest part that matches decides."""
        if before.startswith("/") and first_line:
            typed = before.lower()
            return [
                (before, name) for name in self._commands if name.key.startswith(typed) and name.key != typed
            ]
        words = before.split(" ")
        for count in range(min(_MAX_WORDS, len(words)), 0, -1):
            typed = " ".join(words[-count:])
            key = typed.lower()
            if len(key) < _MIN_LETTERS or typed != typed.strip():
                continue
            found = {
                name.text: name
                for name in reversed([name for name in self._names if name.key.startswith(key)])
            }
            if found:
                complete = len(found) == 1 and key in {name.key for name in found.values()}
                return [] if complete else [(typed, name) for name in reversed(found.values())]
        return []

    def move(self, step: int) -> None:
        """Choose the next or previous completion."""
        self._moved = True
        self._position = (self._position + step) % len(self._offered)
        self.redraw(layout=False)

    def take(self) -> tuple[str, str] | None:
        """The typed part and the text that replaces it; closes the list."""
        if not self._offered:
            return None
        typed, name = self._offered[self._position]
        self.close()
        return typed, name.text + " "

    def close(self) -> bool:
        """Hide the list. True when it was open."""
        was_open = self.is_open
        self._position, self._moved = 0, False
        self._show([])
        return was_open
