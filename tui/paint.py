"""How verdicts, origins, grades and quantities look: every meaning has a word or a shape besides its colour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from textual.content import Content

VERDICT_STYLE = {
    "node": "bold $text-primary",
    "rack": "bold $text-accent",
    "either": "bold $text-secondary",
    "none": "bold $text-error",
}
VERDICT_WORD = {"node": "NODE", "rack": "RACK", "either": "EITHER", "none": "NOTHING FITS"}
MAP_STYLE = {
    "node": "$text-primary on $primary-muted",
    "rack": "$text-accent on $accent-muted",
    "either": "$text-secondary on $secondary-muted",
    "none": "$text-error on $error-muted",
}
VERDICT_LETTER = {"node": "N", "rack": "R", "either": "=", "none": "×"}
CONFIDENCE_DOTS = {"high": "●●●", "medium": "●●○", "low": "●○○"}
ORIGIN_MARK = {"said": "●", "assumed": "○", "derived": "∴", "computed": "∴"}
"""Shape before a fact: a full dot was said, an empty one assumed, three dots follow from others."""

BLOCKS = {"weights": "█", "kv": "▓", "reserve": "▒", "free": "░", "over": "╳"}
"""Fill of each part of a memory bar; shapes differ, so the bar reads without colour."""

BLOCK_STYLE = {
    "weights": "$primary",
    "kv": "$accent",
    "reserve": "$secondary",
    "free": "$quiet",
    "over": "$error",
}


def cells(content: Content | str) -> int:
    """Width in terminal cells."""
    return content.cell_length if isinstance(content, Content) else cell_len(content)


def clip(content: Content, width: int) -> Content:
    """Cut to `width` cells with an ellipsis."""
    return content.truncate(max(1, width), ellipsis=True) if cells(content) > width else content


def verdict(word: str) -> Content:
    """The verdict as a badge."""
    return Content(f" {VERDICT_WORD.get(word, word)} ").stylize(VERDICT_STYLE.get(word, "bold") + " reverse")


def confidence(level: str) -> Content:
    """The confidence as dots and a word."""
    return Content(f"{CONFIDENCE_DOTS.get(level, '')} {level}")


def bar(parts: Sequence[tuple[str, float]], total: float, width: int) -> Content:
    """A stacked bar of `width` cells. parts: names of BLOCKS with amounts in the unit of `total`.

    A part that is not zero gets at least one cell. What exceeds `total` is drawn as `over` at the end.
    """
    amount = sum(value for _, value in parts)
    scale = width / max(total, amount, 1e-9)
    sizes = [max(1, round(value * scale)) if value > 0 else 0 for _, value in parts]
    spare = width - sum(sizes)
    free = max(0, spare) if amount <= total else 0
    while sum(sizes) > width:
        largest = max(range(len(sizes)), key=sizes.__getitem__)
        sizes[largest] -= 1
    drawn = [
        Content(BLOCKS[name] * size).stylize(BLOCK_STYLE[name])
        for (name, _), size in zip(parts, sizes, strict=True)
    ]
    if amount > total:
        line = Content("").join(drawn)
        fits = max(0, min(width - 1, round(total * scale)))
        return line[:fits] + Content(BLOCKS["over"] * (width - fits)).stylize(BLOCK_STYLE["over"])
    return Content("").join([*drawn, Content(BLOCKS["free"] * free).stylize(BLOCK_STYLE["free"])])


def interval(value: float, low: float, high: float, span: tuple[float, float], width: int) -> Content:
    """A value with its interval on a line from span[0] to span[1]: `   ├──●───┤  `."""
    start, end = span
    scale = (width - 1) / (end - start) if end > start else 0.0

    def cell(amount: float) -> int:
        return max(0, min(width - 1, round((amount - start) * scale)))

    line = [" "] * width
    for position in range(cell(low), cell(high) + 1):
        line[position] = "─"
    line[cell(low)], line[cell(high)] = "├", "┤"
    line[cell(value)] = "●"
    return Content("".join(line))


def joined(parts: Iterable[Content | str], separator: str = "  ") -> Content:
    """Parts that are not empty, with a separator between them."""
    contents = [part if isinstance(part, Content) else Content(part) for part in parts]
    return Content(separator).join([part for part in contents if part])


def wrap(content: Content, width: int) -> list[Content]:
    """Lines of at most `width` cells, broken at spaces; words longer than a line after a `/`, `-`, `_` or `.` in them."""
    if all(cells(word) <= width for word in re.split(r"[ \n]", content.plain)):
        return content.wrap(width)
    lines: list[Content] = []
    for line in content.split("\n"):
        cuts, filled, place = [], 0, 0
        for atom in _atoms(line.plain, width):
            if filled and filled + cells(atom.rstrip(" ")) > width:
                cuts.append(place)
                filled = 0
            filled += cells(atom)
            place += len(atom)
        lines += [piece.rstrip() for piece in line.divide(cuts)] if cuts else [line]
    return lines


def _atoms(text: str, width: int) -> Iterator[str]:
    """Pieces of a text between which a line may end, none wider than a line."""
    for word in re.findall(r" *[^ ]+ *| +", text):
        if cells(word.rstrip(" ")) <= width:
            yield word
            continue
        for piece in re.findall(r"[^/_.-]*[/_.-]+ *|[^/_.-]+", word):
            yield from (piece,) if cells(piece.rstrip(" ")) <= width else piece


def hang(content: Content | str, width: int, indent: int = 2) -> list[Content]:
    """Wrapped lines, all indented."""
    whole = content if isinstance(content, Content) else Content(content)
    return [Content(" " * indent) + line for line in wrap(whole, max(8, width - indent))]


def flow(parts: Iterable[Content], width: int, gap: int = 3) -> list[Content]:
    """Parts side by side, wrapped between them."""
    lines: list[Content] = []
    for part in parts:
        if lines and lines[-1].cell_length + gap + part.cell_length <= width:
            lines[-1] = lines[-1] + Content(" " * gap) + part
        else:
            lines.append(part)
    return [line for whole in lines for line in wrap(whole, width)]
