"""Text made fit to show: characters that command a terminal, hide or reorder what stands beside them become escapes."""

from __future__ import annotations

import re

_PLAIN_SPACES = dict.fromkeys([0x09, 0x0A, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000])
"""Line end, tab and Unicode's spaces: not printable to Python, harmless on a screen."""

_MARKDOWN = {ord(c): "\\" + c for c in "\\`*_[]<>#|&~"}
_BLOCK_START = re.compile(r"[-+=]|\d{1,9}(?=[.)])")
"""What makes a list or a rule of a line that begins with it."""


def visible(text: str) -> str:
    r"""Text with control, direction and zero-width characters, and lone surrogates, written as `\u001b`.

    The escapes are those of JSON, so a JSON text stays one. Line ends, tabs and spaces stay.
    """
    if text.translate(_PLAIN_SPACES).isprintable():
        return text
    return "".join(c if c.isprintable() or ord(c) in _PLAIN_SPACES else _escaped(c) for c in text)


def one_line(value: object) -> str:
    """Data on one line, spaces single, hidden characters as escapes."""
    return " ".join(visible(str(value)).split())


def inert(value: object) -> str:
    """Data as one line of Markdown that says what the data says: nothing in it is markup, hidden or a new line."""
    text = one_line(value).translate(_MARKDOWN)
    start = _BLOCK_START.match(text)
    if start is None:
        return text
    at = 0 if start[0] in "-+=" else start.end()
    return f"{text[:at]}\\{text[at:]}"


def inert_paragraphs(text: str) -> str:
    """The same for prose: every line of it that is not empty becomes a paragraph."""
    return "\n\n".join(inert(line) for line in text.split("\n") if line.strip())


def encodable(text: str, encoding: str) -> str:
    """Text with the characters that `encoding` does not have written as escapes."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(c if _has(encoding, c) else _escaped(c) for c in text)
    return text


def _has(encoding: str, character: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
