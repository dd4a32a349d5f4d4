"""Every error a caller may want to catch, rooted in `RackfitError`. Messages are one line: where, what, what would be right."""

from __future__ import annotations


class RackfitError(Exception):
    """Base of all errors rackfit raises on purpose; its text is fit to print as it is."""


class InputError(RackfitError):
    """A value given by the user (flag, answer, batch line) that cannot be used; ends a command with status 2."""


class KnowledgeError(RackfitError):
    """The knowledge base cannot be read or used; ends a command with status 2."""

    def __init__(self, message: str, *, path: str = "", line: int = 0, column: int = 0) -> None:
        where = f"{path}:{line}:{column}: " if path and line else f"{path}: " if path else ""
        super().__init__(where + message)
        self.path, self.line, self.column = path, line, column


class UnknownIdError(InputError):
    """An id or a name that no entry has; the text lists the nearest ones."""
