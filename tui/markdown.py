"""Markdown laid out as one piece of Textual content for a given width: cheap enough for hundreds of messages.

Textual's own Markdown widget mounts a child per block (about 100 ms for an answer with a table); a message here is one
widget. Text is never parsed as console markup. Entry ids and links become clickable; `links_in` lists them for the
keyboard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from tui.paint import cells, clip, wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

KIND_FOLDERS = (
    "gotchas", "concepts", "models", "systems", "accelerators", "evidence", "rules", "facts", "engines", "calibration", "sources",
)  # fmt: skip
"""Kind folders of the knowledge base, those read most first."""

_ENTRY = re.compile(
    rf"\b(?:{'|'.join(KIND_FOLDERS)})/[a-z0-9][a-z0-9._-]*[a-z0-9](?:/[a-z0-9][a-z0-9._-]*[a-z0-9])*"
)
_HEADING_STYLE = {1: "bold underline $primary", 2: "bold $primary", 3: "bold"}
LINK_STYLE = "underline $text-accent"
"""How everything looks that opens something."""
_MIN_COLUMN = 6


@lru_cache(maxsize=1)
def prepare() -> MarkdownIt:
    """The parser. Importing it takes tens of milliseconds: call this early, and not from the event loop."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@lru_cache(maxsize=256)
def _parse(text: str) -> SyntaxTreeNode:
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(prepare().parse(text))


def lay_out(text: str, width: int) -> list[Content]:
    """The lines of a Markdown text, none wider than `width` cells."""
    width = max(4, width)
    return [clip(line, width) for line in _blocks(_parse(text).children, width)]


@lru_cache(maxsize=256)
def links_in(text: str) -> tuple[str, ...]:
    """Entry ids and web addresses that a text mentions, in order, each once."""
    found: dict[str, None] = {}
    for node in _parse(text).walk():
        if node.type == "link":
            found.setdefault(str(node.attrs.get("href", "")), None)
        elif node.type in ("text", "code_inline"):
            for match in _ENTRY.finditer(node.content):
                found.setdefault(match[0], None)
    return tuple(link for link in found if link)


def link_style(target: str) -> Style:
    """Makes text open an entry or a web address when clicked."""
    action = "open_entry" if _ENTRY.fullmatch(target) else "open_link"
    return Style.from_meta({"@click": f"app.{action}({target!r})"})


def _blocks(nodes: list[SyntaxTreeNode], width: int, *, tight: bool = False) -> list[Content]:
    width = max(4, width)
    lines: list[Content] = []
    for node in nodes:
        block = list(_block(node, width))
        if block and lines and not tight:
            lines.append(Content(""))
        lines += block
    return lines


def _block(node: SyntaxTreeNode, width: int) -> Iterator[Content]:
    kind = node.type
    if kind == "heading":
        style = _HEADING_STYLE.get(int(node.tag[1:]), "bold")
        yield from (line.stylize(style) for line in wrap(_inline(node), width))
    elif kind in ("paragraph", "inline"):
        yield from wrap(_inline(node), width)
    elif kind in ("bullet_list", "ordered_list"):
        yield from _list(node, width)
    elif kind == "blockquote":
        for line in _blocks(node.children, width - 2):
            yield Content.assemble(("▌ ", "$primary"), line.stylize("italic"))
    elif kind in ("fence", "code_block"):
        for raw in node.content.rstrip("\n").split("\n"):
            for line in Content(raw.expandtabs(4)).fold(width - 2):
                yield Content.assemble("  ", line.stylize("$text-success"))
    elif kind == "table":
        yield from _table(node, width)
    elif kind == "hr":
        yield Content("─" * width).stylize("$quiet")
    elif node.content:
        yield from wrap(Content(node.content), width)


def _list(node: SyntaxTreeNode, width: int) -> Iterator[Content]:
    first = int(node.attrs.get("start", 1) or 1)
    loose = any(
        not child.hidden for item in node.children for child in item.children if child.type == "paragraph"
    )
    for index, item in enumerate(node.children):
        marker = "• " if node.type == "bullet_list" else f"{first + index}. "
        if index and loose:
            yield Content("")
        lines = _blocks(item.children, width - len(marker), tight=not loose) or [Content("")]
        for number, line in enumerate(lines):
            yield Content.assemble((marker, "$primary") if number == 0 else " " * len(marker), line)


@lru_cache(maxsize=4096)
def _inline(node: SyntaxTreeNode, style: str = "") -> Content:
    """The text inside a block or a span, styled; `style` is inherited. The same at every width, hence kept."""
    parts: list[Content] = []
    for child in node.children:
        kind = child.type
        if kind == "text":
            parts.append(_with_links(child.content, style))
        elif kind == "code_inline":
            parts.append(_with_links(child.content, f"{style} bold $text-success".strip()))
        elif kind == "softbreak":
            parts.append(Content(" "))
        elif kind == "hardbreak":
            parts.append(Content("\n"))
        elif kind == "link":
            target = str(child.attrs.get("href", ""))
            parts.append(_inline(child, style).stylize(link_style(target)).stylize(LINK_STYLE))
        elif kind in ("strong", "em", "s"):
            own = {"strong": "bold", "em": "italic", "s": "strike"}[kind]
            parts.append(_inline(child, f"{style} {own}".strip()))
        else:
            parts.append(_inline(child, style) if child.children else Content(child.content))
    return Content("").join(parts)


def _with_links(text: str, style: str) -> Content:
    content = Content(text)
    if style:
        content = content.stylize(style)
    for match in _ENTRY.finditer(text):
        content = content.stylize(link_style(match[0]), *match.span()).stylize(LINK_STYLE, *match.span())
    return content


def _table(node: SyntaxTreeNode, width: int) -> Iterator[Content]:
    rows: list[list[Content]] = []
    right: list[bool] = []
    for part in node.children:
        for row in part.children:
            rows.append([_inline(cell) for cell in row.children])
            right = right or ["right" in str(cell.attrs.get("style", "")) for cell in row.children]
    yield from table_lines(rows, right, width)


def table_lines(rows: list[list[Content]], right: list[bool], width: int) -> Iterator[Content]:
    """A table whose first row is the header; columns shrink and wrap, and become records when even that is too wide."""
    count = len(rows[0])
    gap = 2
    natural = [max(cells(row[column]) for row in rows) for column in range(count)]
    room = width - gap * (count - 1)
    widths = _shrink(natural, room)
    if widths is None:
        yield from _records(rows, width)
        return
    for index, row in enumerate(rows):
        wrapped = [wrap(cell, widths[column]) if cell else [Content("")] for column, cell in enumerate(row)]
        for line in range(max(len(lines) for lines in wrapped)):
            parts: list[Content] = []
            for column, lines in enumerate(wrapped):
                cell = lines[line].rstrip() if line < len(lines) else Content("")
                blank = max(0, widths[column] - cells(cell))
                pads = (blank, 0) if right[column] else (0, blank)
                parts.append(cell.pad(*pads))
            joined = Content(" " * gap).join(parts)
            yield clip(joined.stylize("bold") if index == 0 else joined, width)
        if index == 0:
            yield Content((" " * gap).join("─" * size for size in widths)).stylize("$quiet")


def _shrink(natural: list[int], room: int) -> list[int] | None:
    """Column widths that fit into `room` cells, the widest giving way first; None when columns would be unreadable."""
    widths = [max(1, size) for size in natural]
    while sum(widths) > room:
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] <= _MIN_COLUMN:
            return None
        widths[widest] -= 1
    return widths


def _records(rows: list[list[Content]], width: int) -> Iterator[Content]:
    header, *body = rows
    for index, row in enumerate(body):
        if index:
            yield Content("")
        for name, cell in zip(header, row, strict=False):
            yield from wrap(Content.assemble(name.stylize("bold"), ": ", cell), width)
