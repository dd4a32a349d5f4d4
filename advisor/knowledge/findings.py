"""A finding: something wrong with an entry, with its code, its place and what would be right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
"""error: wrong; warning: likely wrong or stale; info: style."""


@dataclass(frozen=True, kw_only=True, order=True, slots=True)
class Finding:
    """One problem at one place. line and column count from 1.

    `message` says what is wrong, `fix` what would be right; both are one line. The end is exclusive; 0 if unknown.
    """

    path: str
    line: int
    column: int
    code: str
    message: str
    severity: Severity = "error"
    fix: str = ""
    end_line: int = 0
    end_column: int = 0

    def one_line(self) -> str:
        """`path:line:column: CODE message; fix`."""
        tail = f"; {self.fix}" if self.fix else ""
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message}{tail}"
