"""Markdown as plain text for a terminal or a pipe: paragraphs wrapped, tables aligned, nothing coloured."""

from __future__ import annotations

import re
import shutil
import textwrap

_MARKS = re.compile(r"\\([!-/:-@\[-`{-~])|\*\*|`|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")
"""An escaped character, which stays, or a mark of emphasis or code, which goes."""


def width_of_terminal() -> int:
    """Columns to wrap at: the terminal's, between 60 and 120."""
    return max(60, min(120, shutil.get_terminal_size((100, 24)).columns))


def plain(text: str) -> str:
    """Inline Markdown as text: emphasis marks and escapes removed."""
    return _MARKS.sub(lambda match: match[1] or "", text)


def markdown_to_text(markdown: str, width: int | None = None) -> str:
    """The text of our own Markdown (headings, lists, tables, paragraphs, indented code)."""
    columns = width or width_of_terminal()
    out: list[str] = []
    table: list[list[str]] = []
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("|"):
            cells = [plain(cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not all(re.fullmatch(r":?-{2,}:?", cell) for cell in cells):
                table.append(cells)
            continue
        if table:
            out += _table(table, columns)
            table = []
        out += _line(line, columns)
    return "\n".join(out).rstrip("\n") + "\n"


def _line(line: str, columns: int) -> list[str]:
    if line.startswith("#"):
        title = plain(line.lstrip("#").strip())
        return [title, ("=" if line.startswith("# ") else "-") * min(len(title), columns)]
    bullet = re.match(r"(\s*(?:[-*]|\d{1,3}\.) )", line)
    if line.startswith("    ") and not bullet:
        return [line]
    indent = " " * len(bullet.group(1)) if bullet else " " * (len(line) - len(line.lstrip()))
    text = plain(line)
    return textwrap.wrap(
        text, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ) or [""]


def _table(rows: list[list[str]], columns: int) -> list[str]:
    count = max(len(row) for row in rows)
    rows = [row + [""] * (count - len(row)) for row in rows]
    widths = [max(1, *(len(row[i]) for row in rows)) for i in range(count)]
    while sum(widths) + 2 * (count - 1) > columns and max(widths) > 12:
        widths[widths.index(max(widths))] -= 1
    out: list[str] = []
    for number, row in enumerate(rows):
        wrapped = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        for part in range(max(len(cell) for cell in wrapped)):
            pieces = [
                (cell[part] if part < len(cell) else "").ljust(w)
                for cell, w in zip(wrapped, widths, strict=True)
            ]
            out.append("  ".join(pieces).rstrip())
        if number == 0:
            out.append("  ".join("-" * w for w in widths))
    return out
