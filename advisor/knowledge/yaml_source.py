"""Strict YAML: 1.2 core scalars, no tags, no merge keys, no duplicate keys, bounded; every problem has a position.

The text is read as a stream of events, so nesting costs no stack, and reading stops at the first limit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from advisor.knowledge.findings import Finding
from advisor.knowledge.limits import MAX_DEPTH, MAX_FINDINGS_PER_FILE, MAX_VALUES
from advisor.knowledge.scalars import parse_scalar, read_otherwise
from advisor.knowledge.spans import Place, Span, events_of, read_places, span_of
from advisor.units import shown

_REFUSED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
"""Control, bidirectional and zero-width characters, and line breaks that only YAML 1.1 knows."""

_TAB_INDENT = re.compile(r"^ *\t", re.MULTILINE)


@dataclass(kw_only=True)
class Document:
    """One parsed file: its data, what is wrong with it, and where each value stands.

    data is None when the text is not one YAML mapping; findings then say why.
    """

    path: str
    text: str
    data: dict[str, Any] | None = None
    findings: list[Finding] = field(default_factory=list)

    @cached_property
    def places(self) -> dict[tuple[str | int, ...], Place]:
        """Where every value stands, by path."""
        return read_places(self.text)

    def span(self, where: Sequence[str | int], *, key: bool = False) -> Span:
        """The span of the value (or, with key=True, of the key) at `where`; of the nearest existing parent if absent.

        Of a block or mapping that does not start on the key's line, the key: that is what an editor should point at.
        """
        path = tuple(where)
        missing = False
        while path not in self.places and path:
            path, missing = path[:-1], True
        place = self.places.get(path)
        if place is None:
            return Span(line=1, column=1, end_line=1, end_column=1, start=0, end=0)
        if place.key is not None and (key or missing or place.value.end_line > place.value.line):
            return place.key
        if not path or place.value.end_line > place.value.line:
            line, column = place.value.line, place.value.column
            return Span(line=line, column=column, end_line=line, end_column=column + 1,
                        start=place.value.start, end=place.value.start + 1)  # fmt: skip
        return place.value

    def span_at(self, start: int, end: int) -> Span:
        """The span of two character offsets."""
        line, end_line = self.text.count("\n", 0, start) + 1, self.text.count("\n", 0, end) + 1
        column, end_column = start - self.text.rfind("\n", 0, start), end - self.text.rfind("\n", 0, end)
        return Span(line=line, column=column, end_line=end_line, end_column=end_column, start=start, end=end)

    def narrow(self, where: Sequence[str | int], words: str) -> Span | None:
        """Where `words` first stand inside the value at `where`, line breaks of folded text aside; None if nowhere."""
        place = self.places.get(tuple(where))
        if place is None or not words.split():
            return None
        pattern = re.compile(r"\s+".join(re.escape(word) for word in words[:300].split()))
        hit = pattern.search(self.text, place.value.start, place.value.end)
        return self.span_at(hit.start(), hit.end()) if hit else None

    def finding(
        self, code: str, message: str, where: Sequence[str | int] = (), *, key: bool = False, **extra: Any
    ) -> Finding:
        """A finding at the value (or, with key=True, the key) found at `where`."""
        return finding_at(self.path, self.span(where, key=key), code, message, **extra)


def finding_at(path: str, span: Span, code: str, message: str, **extra: Any) -> Finding:
    """A finding that covers a span."""
    return Finding(path=path, line=span.line, column=span.column, end_line=span.end_line, end_column=span.end_column,
                   code=code, message=message, **extra)  # fmt: skip


def parse_document(text: str, path: str) -> Document:
    """Parse one file's text. Never raises for bad input: findings of codes KB001-KB018 say what is wrong and where."""
    document = Document(path=path, text=text)
    _check_characters(document)
    if document.findings:
        return document
    builder = _Builder(document)
    try:
        builder.read()
    except _TooMuch:
        return document
    except yaml.MarkedYAMLError as error:
        document.findings.append(_syntax_finding(document, error))
        return document
    except yaml.YAMLError as error:
        message = " ".join(str(error).split())[:160]
        document.findings.append(
            Finding(path=path, line=1, column=1, code="KB001", message=f"not valid YAML: {message}",
                    fix="save the file as UTF-8 text")
        )  # fmt: skip
        return document
    if isinstance(builder.root, dict):
        document.data = builder.root
    elif not document.findings:
        document.findings.append(
            Finding(path=path, line=1, column=1, code="KB002", message="the file does not hold a mapping",
                    fix="write `key: value` lines, starting with `id:`")
        )  # fmt: skip
    return document


def _check_characters(document: Document) -> None:
    text = document.text
    if "\t" in text and (tab := _TAB_INDENT.search(text)):
        document.findings.append(
            _at(document, tab.end() - 1, "KB014", "a tab indents this line", "indent with spaces")
        )
    if bad := _REFUSED.search(text):
        name = f"U+{ord(bad.group()):04X}"
        document.findings.append(
            _at(
                document,
                bad.start(),
                "KB015",
                f"hidden or control character {name}",
                "delete it; it shows as nothing",
            )
        )


def _at(document: Document, offset: int, code: str, message: str, fix: str) -> Finding:
    return finding_at(document.path, document.span_at(offset, offset + 1), code, message, fix=fix)


_ADVICE = (
    (
        "mapping values are not allowed",
        "quote the text that holds `: `, or use `>-` and put it on its own lines",
    ),
    ("could not find expected ':'", "write `key: value`, or indent this line if it continues the text above"),
    ("did not find expected key", "align this line with the key above, or quote the text"),
    ("cannot start any token", "quote the value; it begins with a character that YAML reserves"),
    ("unexpected end of stream", "close the quote or bracket that was opened here"),
    ("while scanning a quoted", "close the quote"),
    ("undefined alias", "write the value out"),
)


def _syntax_finding(document: Document, error: yaml.MarkedYAMLError) -> Finding:
    mark = error.problem_mark or error.context_mark
    if error.context == "while scanning a simple key":
        mark = error.context_mark  # where the text begins that should have been a key or been indented
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    problem = " ".join(str(error.problem or error.context or "not YAML").split())
    advice = (fix for words, fix in _ADVICE if words in problem)
    fix = next(advice, "check indentation, quotes and colons on this line and the one above")
    return Finding(path=document.path, line=line, column=column, end_line=line, end_column=column + 1, code="KB001",
                   message=f"not valid YAML: {problem}", fix=fix)  # fmt: skip


class _TooMuch(Exception):  # noqa: N818  # not an error to anyone outside: it ends the reading of one file
    """A limit was met; the finding is already recorded."""


@dataclass(slots=True)
class _Frame:
    """One open mapping or list. key: the text of the key whose value comes next. count: values inside so far."""

    container: Any
    anchor: str | None
    base: int
    key: str | None = None
    is_mapping: bool = False
    is_key: bool = False
    height: int = 1


class _Builder:
    """Turns events into plain data and collects what strict YAML refuses."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.root: Any = None
        self.values = 0
        self.documents = 0
        self.frames: list[_Frame] = []
        self.anchors: dict[str, tuple[Any, int, int]] = {}
        """Anchor -> value, number of values in it, levels in it."""

    def refuse(self, event: Any, code: str, message: str, fix: str, **extra: Any) -> None:
        """Record a finding at an event."""
        if len(self.document.findings) >= MAX_FINDINGS_PER_FILE:
            raise _TooMuch
        self.document.findings.append(
            finding_at(self.document.path, span_of(event), code, message, fix=fix, **extra)
        )

    def read(self) -> None:
        """Read all events into `root`. Raises _TooMuch at a limit, yaml.YAMLError at a malformed place."""
        for event in events_of(self.document.text):
            kind = type(event)
            if kind is ScalarEvent:
                self._scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self._open(event, kind is MappingStartEvent)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                self._close()
            elif kind is AliasEvent:
                self._alias(event)
            elif kind is DocumentStartEvent:
                self._start(event)

    def _start(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            self.refuse(event, "KB016", "a second document starts here", "keep one entry in one file")
            raise _TooMuch
        if event.version or event.tags:
            self.refuse(event, "KB016", "a % directive", "delete it; the files are YAML 1.2 as they are")

    def _scalar(self, event: Any) -> None:
        if self.frames and self.frames[-1].is_mapping and self.frames[-1].key is None:
            self._key(event)
            return
        self._count(event, 1)
        self._escapes(event)
        if event.tag is not None:
            self._tag(event)
        if not event.implicit[0] or event.tag is not None:
            self._add(event.value, event)
            return
        value = parse_scalar(event.value)
        if type(value) is float and not math.isfinite(value):
            self.refuse(
                event,
                "KB004",
                f"{shown(event.value, 40)} is not a finite number",
                "write a number below 1e308",
            )
            value = 0.0
        elif type(value) is str and read_otherwise(value):
            self.refuse(event, "KB018", f"{value} is text here, a flag or a number to YAML 1.1 readers",
                        f'write "{value}" in quotes, or true, false or a plain decimal', severity="warning")  # fmt: skip
        self._add(value, event)

    def _key(self, event: Any) -> None:
        frame = self.frames[-1]
        key = event.value
        self._escapes(event)
        if event.tag is not None:
            self._tag(event)
        if key == "<<" and event.implicit[0]:
            self.refuse(event, "KB007", "merge keys are not allowed", "write the keys out")
        elif key in frame.container:
            self.refuse(event, "KB008", f"key {shown(key)} occurs twice", "keep one of them")
        if event.anchor:
            self.anchors[event.anchor] = (key, 1, 0)
        frame.key = key

    def _open(self, event: Any, is_mapping: bool) -> None:
        self._count(event, 1)
        if len(self.frames) >= MAX_DEPTH:
            self.refuse(event, "KB003", f"more than {MAX_DEPTH} levels in one entry", "flatten it")
            raise _TooMuch
        if event.tag is not None:
            self._tag(event)
        parent = self.frames[-1] if self.frames else None
        is_key = parent is not None and parent.is_mapping and parent.key is None
        if is_key:
            self.refuse(event, "KB006", "a key is a list or a mapping", "use a plain word as the key")
        self.frames.append(
            _Frame(container={} if is_mapping else [], anchor=event.anchor, base=self.values,
                   is_mapping=is_mapping, is_key=is_key)
        )  # fmt: skip

    def _close(self) -> None:
        frame = self.frames.pop()
        if frame.anchor:
            self.anchors[frame.anchor] = (frame.container, self.values - frame.base + 1, frame.height)
        if frame.is_key:
            self.frames[-1].key = ""
            return
        if self.frames:
            self.frames[-1].height = max(self.frames[-1].height, frame.height + 1)
        self._place(frame.container)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            inside = any(frame.anchor == event.anchor for frame in self.frames)
            why = "stands inside the part it names" if inside else "names nothing above it"
            self.refuse(event, "KB009", f"alias *{event.anchor[:40]} {why}", "write the value out")
            raise _TooMuch
        value, count, height = self.anchors[event.anchor]
        if self.frames and self.frames[-1].is_mapping and self.frames[-1].key is None:
            self.refuse(event, "KB006", "a key is an alias", "use a plain word as the key")
            self.frames[-1].key = ""
            return
        self._count(event, count)
        if len(self.frames) + height > MAX_DEPTH:
            self.refuse(event, "KB003", f"more than {MAX_DEPTH} levels in one entry", "write the value out")
            raise _TooMuch
        self.frames[-1].height = max(self.frames[-1].height, height + 1)
        self._place(value)

    def _add(self, value: Any, event: Any) -> None:
        if event.anchor:
            self.anchors[event.anchor] = (value, 1, 0)
        self._place(value)

    def _place(self, value: Any) -> None:
        if not self.frames:
            self.root = value
            return
        frame = self.frames[-1]
        if frame.is_mapping:
            frame.container[frame.key] = value
            frame.key = None
        else:
            frame.container.append(value)

    def _count(self, event: Any, values: int) -> None:
        self.values += values
        if self.values > MAX_VALUES:
            self.refuse(event, "KB003", f"more than {MAX_VALUES:,} values in one entry",
                        "split the entry; aliases count each time they are used")  # fmt: skip
            raise _TooMuch

    def _escapes(self, event: Any) -> None:
        """Characters that are refused in the text are refused as escapes in quotes too."""
        if event.style == '"' and (bad := _REFUSED.search(event.value)):
            name = f"U+{ord(bad.group()):04X}"
            self.refuse(event, "KB015", f"an escape for the hidden or control character {name}",
                        "delete it; it shows as nothing")  # fmt: skip

    def _tag(self, event: Any) -> None:
        self.refuse(event, "KB005", f"tag {shown(event.tag)} is not allowed",
                    "remove the tag; quote text, leave numbers bare")  # fmt: skip
