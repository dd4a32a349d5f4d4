"""Where each key and value of a YAML text stands: read a second time, only when a finding needs its place."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

Path = tuple[str | int, ...]
"""Keys and indexes from the top of an entry to a value."""


def _event_parser() -> Any:
    """The event parser of libyaml, or PyYAML's own, ten times slower, where it was built without libyaml."""
    try:
        return importlib.import_module("yaml._yaml").CParser
    except ImportError:
        return yaml.SafeLoader


Parser: Any = _event_parser()


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A stretch of text; lines and columns count from 1, the end is exclusive. Offsets count characters from 0."""

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """The span of a value, of its key when it has one, and its style: `plain`, `quoted`, `block`, `flow`, `alias`."""

    value: Span
    key: Span | None
    style: str


def events_of(text: str) -> Iterator[Any]:
    """The YAML events of a text. Raises yaml.YAMLError where it is malformed."""
    parser = Parser(text)
    try:
        while (event := parser.get_event()) is not None:
            yield event
    finally:
        parser.dispose()


def span_of(event: Any, end: Any = None) -> Span:
    """The span from one event's start to its own or another event's end."""
    first, last = event.start_mark, (end or event).end_mark
    return Span(line=first.line + 1, column=first.column + 1, end_line=last.line + 1, end_column=last.column + 1,
                start=first.index, end=last.index)  # fmt: skip


def read_places(text: str) -> dict[Path, Place]:
    """The place of every value, by path; of a key that occurs twice, the last. Ends quietly where the text is malformed."""
    places: dict[Path, Place] = {}
    with contextlib.suppress(yaml.YAMLError):  # the places up to the error are still good
        _Reader(places).read(events_of(text))
    return places


@dataclass(slots=True)
class _Frame:
    path: Path
    start: Any
    key: Any = None
    own_key: Span | None = None
    index: int = 0
    in_mapping: bool = False


class _Reader:
    def __init__(self, places: dict[Path, Place]) -> None:
        self.places = places
        self.frames: list[_Frame] = []

    def read(self, events: Iterator[Any]) -> None:
        for event in events:
            if isinstance(event, (MappingStartEvent, SequenceStartEvent)):
                path, key = self._next(event)
                self.frames.append(
                    _Frame(
                        path=path, start=event, own_key=key, in_mapping=isinstance(event, MappingStartEvent)
                    )
                )
            elif isinstance(event, (MappingEndEvent, SequenceEndEvent)):
                frame = self.frames.pop()
                style = "flow" if frame.start.flow_style else "block"
                self.places[frame.path] = Place(
                    value=span_of(frame.start, event), key=frame.own_key, style=style
                )
            elif isinstance(event, (ScalarEvent, AliasEvent)):
                if self.frames and self.frames[-1].in_mapping and self.frames[-1].key is None:
                    self.frames[-1].key = event
                    continue
                path, key = self._next(event)
                self.places[path] = Place(value=span_of(event), key=key, style=_style(event))

    def _next(self, event: Any) -> tuple[Path, Span | None]:
        """Path and key of the value that starts with `event`; a key that is no scalar counts as its text position."""
        if not self.frames:
            return (), None
        frame = self.frames[-1]
        if not frame.in_mapping:
            frame.index += 1
            return (*frame.path, frame.index - 1), None
        if frame.key is None:
            frame.key = event
            return (*frame.path, ""), None
        key, frame.key = frame.key, None
        return (*frame.path, getattr(key, "value", "")), span_of(key)


def _style(event: Any) -> str:
    if isinstance(event, AliasEvent):
        return "alias"
    return {None: "plain", "": "plain", "'": "quoted", '"': "quoted", "|": "block", ">": "block"}[event.style]
