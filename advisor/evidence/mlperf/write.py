"""Evidence entries as YAML files: one fixed layout, so that a re-import of the same results changes no byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from advisor.atomic import replace_file
from advisor.errors import InputError
from advisor.reading import holds
from advisor.records import Evidence, Latency, Result, Scale
from advisor.units import shown

_HEADER = "# Written by `rackfit import mlperf`; importing again replaces it.\n"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.+/()×-]*(?: [A-Za-z0-9_.+/()×=-]+)*")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def to_yaml(entry: Evidence) -> str:
    """The text of an entry's file."""
    lines = [_HEADER.rstrip("\n")]
    for name, value in _stated(entry):
        if isinstance(value, Scale):
            lines.append(f"{name}: {_flow(value)}")
        elif name == "results":
            lines.append("results:")
            for result in value:
                lines += _result_lines(result)
        elif isinstance(value, dict):
            lines.append(f"{name}:")
            lines += [f"  {key}: {_scalar(own)}" for key, own in sorted(value.items())]
        else:
            lines.append(f"{name}: {_scalar(value)}")
    return "\n".join(lines) + "\n"


def write_entries(entries: list[Evidence], folder: Path) -> tuple[int, int]:
    """Write entries under the knowledge base `folder`. Returns (files written, files that already said the same).

    Raises InputError when a file cannot be written.
    """
    written = unchanged = 0
    for entry in entries:
        path = folder / f"{entry.id}.yaml"
        text = to_yaml(entry).encode()
        try:
            if holds(path, text):
                unchanged += 1
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, text)
        except OSError as error:
            raise InputError(f"{shown(str(path), 200)} cannot be written: {error.strerror}") from None
        written += 1
    return written, unchanged


def _result_lines(result: Result) -> Iterator[str]:
    start = "  - "
    for name, value in _stated(result):
        text = _flow(value) if isinstance(value, Latency) else _scalar(value)
        yield f"{start}{name}: {text}"
        start = "    "


def _stated(record: Any) -> Iterator[tuple[str, Any]]:
    """Fields of a record that differ from their default, in the order of the record."""
    for spec in fields(record):
        value = getattr(record, spec.name)
        default = spec.default_factory() if spec.default_factory is not MISSING else spec.default
        needed = spec.default is MISSING and spec.default_factory is MISSING
        if needed or (value != default and value is not None):
            yield spec.name, value


def _flow(record: Any) -> str:
    return "{" + ", ".join(f"{name}: {_scalar(value)}" for name, value in _stated(record)) + "}"


def _scalar(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_scalar(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    if isinstance(value, int):
        return str(value)
    text = str(value)
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)
