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
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def without_items(document: Document, where: Where, indexes: Collection[int]) -> str:
    """The text without some items of the list at `where`; without the whole field when none is left."""
    place = document.places.get(where)
    items = list_items(document, where)
    if place is None or not indexes or not items:
        return document.text
    if len(indexes) >= len(items):
        return replaced(document.text, [(*field_lines(document, place), "")])
    if place.style == "flow":
        return _without_flow_items(document, items, indexes)
    return replaced(document.text, [(*line_range(document.text, items[index]), "") for index in indexes])


def list_items(document: Document, where: Where) -> list[Place]:
    """The places of a list's items, in order."""
    items: list[Place] = []
    while (place := document.places.get((*where, len(items)))) is not None:
        items.append(place)
    return items


def _without_flow_items(document: Document, items: Sequence[Place], indexes: Collection[int]) -> str:
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


def field_lines(document: Document, place: Place) -> tuple[int, int]:
    """Offsets of the whole lines of a top-level field."""
    return line_range(document.text, place)
