"""Changes to the text of an entry that leave every other character where it is: comments, blank lines and quotes stay."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from advisor.knowledge.spans import Path as Where
from advisor.knowledge.spans import Place
from advisor.knowledge.yaml_source import Document

_SEPARATOR = re.compile(r"\s*,\s*")


def replaced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with each stretch [start, end) replaced; the stretches do not overlap."""
    parts: list[str] = []
    position = 0
    for start, end, new in sorted(edits):
        parts += (text[position:start], new)
        position = end
    return "".join((*parts, text[position:]))


def without_items(document: Document, where: Where, indexes: Collection[int]) -> str:
    """The text without some items of the list at `where`; without the whole field when none is left."""
    place = document.places.get(where)
    items = list_items(document, where)
    if place is None or not indexes or not items:
        return document.text
    if len(indexes) >= len(items):
        return replaced(document.text, [(*line_range(document.text, place), "")])
    if place.style == "flow":
        return _without_flow_items(document, items, frozenset(indexes))
    return replaced(document.text, [(*line_range(document.text, items[index]), "") for index in indexes])


def list_items(document: Document, where: Where) -> list[Place]:
    """The places of a list's items, in order."""
    items: list[Place] = []
    while (place := document.places.get((*where, len(items)))) is not None:
        items.append(place)
    return items


def _without_flow_items(document: Document, items: Sequence[Place], indexes: frozenset[int]) -> str:
    edits: list[tuple[int, int, str]] = []
    for index in indexes:
        value = items[index].value
        after = _SEPARATOR.match(document.text, value.end)
        if after:
            edits.append((value.start, after.end(), ""))
        else:  # the last item: its separator stands before it
            kept = max((i for i in range(index) if i not in indexes), default=index)
            edits.append((items[kept].value.end, value.end, ""))
    return replaced(document.text, _merged(edits))


def _merged(edits: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Deletions with overlaps joined."""
    joined: list[tuple[int, int, str]] = []
    for start, end, new in sorted(edits):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]), new)
        else:
            joined.append((start, end, new))
    return joined


def line_range(text: str, place: Place) -> tuple[int, int]:
    """Offsets of the whole lines that a value stands on, its dash or key and a comment behind it included."""
    start = text.rfind("\n", 0, place.key.start if place.key else place.value.start) + 1
    last = (
        place.value.end - 1
        if place.value.end > place.value.start and text[place.value.end - 1 : place.value.end] == "\n"
        else place.value.end
    )
    end = text.find("\n", last)
    return start, len(text) if end < 0 else end + 1


def top_fields(document: Document) -> list[str]:
    """Names of the top-level fields, in order of appearance; empty where the top level is not a block mapping."""
    top = document.places.get(())
    if top is None or top.style != "block":
        return []
    keyed = [
        (place.key.start, str(path[0]))
        for path, place in document.places.items()
        if len(path) == 1 and place.key
    ]
    return [name for _, name in sorted(keyed)]


def reordered_fields(document: Document, order: Sequence[str]) -> str:
    """The text with its top-level fields in this order; comments above a field travel with it."""
    present = top_fields(document)
    if sorted(order) != sorted(present) or list(order) == present:
        return document.text
    starts = [_block_start(document.text, document.places[(name,)]) for name in present]
    end = len(document.text.rstrip()) + 1  # empty lines at the end of the file stay there
    return _permuted(document.text, starts, end, [present.index(name) for name in order])


def reordered_items(document: Document, where: Where, order: Sequence[int]) -> str:
    """The text with the items of a list in this order; comments above an item travel with it."""
    items = list_items(document, where)
    place = document.places.get(where)
    if place is None or len(order) != len(items):
        return document.text
    if place.style == "flow":
        texts = [document.text[item.value.start : item.value.end] for item in items]
        return replaced(
            document.text,
            [(items[i].value.start, items[i].value.end, texts[source]) for i, source in enumerate(order)],
        )
    starts = [_block_start(document.text, item) for item in items]
    return _permuted(document.text, starts, line_range(document.text, items[-1])[1], order)


def _block_start(text: str, place: Place) -> int:
    """Start of the line of a field or item, or of the comment lines directly above it; the first line of a file is not one."""
    start = line_range(text, place)[0]
    while start > 0:
        previous = text.rfind("\n", 0, start - 1) + 1
        line = text[previous : start - 1].strip()
        if not line.startswith("#") or (previous == 0 and line.startswith("# yaml-language-server")):
            break
        start = previous
    return start


def _permuted(text: str, starts: Sequence[int], end: int, order: Sequence[int]) -> str:
    """Blocks of text that begin at `starts`, the last one ending at `end`, put into a new order."""
    bounds = [*starts, end]
    blocks = [text[bounds[i] : bounds[i + 1]] for i in range(len(starts))]
    if blocks and not blocks[-1].endswith("\n"):
        blocks[-1] += "\n"
    return text[: bounds[0]] + "".join(blocks[i] for i in order) + text[end:]
