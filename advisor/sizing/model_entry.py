"""A model record as the YAML text of a knowledge base entry, in one canonical form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

from advisor.records import Alternative, Architecture, Cell, Checkpoint, Model

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 ._/+()-]*")
_RESERVED = frozenset(("true", "false", "null", "yes", "no", "on", "off", "none"))
_WIDTH = 108


def model_text(model: Model) -> str:
    """The entry of a model, ready to be written to `kb/<id>.yaml`."""
    lines = [
        "# yaml-language-server: $schema=../../schemas/model.schema.json",
        f"id: {model.id}",
        f"title: {scalar(model.title)}",
    ]
    if model.aliases:
        lines += _flow("aliases", model.aliases)
    if model.sources:
        lines += _flow("sources", model.sources)
    for name in ("family", "developer", "hf_id", "released"):
        if value := getattr(model, name):
            lines.append(f"{name}: {scalar(value)}")
    for name in ("parameters_total", "parameters_active", "context_limit", "context_limit_scaled"):
        if (cell := getattr(model, name)) is not None:
            lines += _cell(name, cell, "")
    lines += _architecture(model.architecture)
    lines.append("checkpoints:")
    for checkpoint in model.checkpoints:
        lines += _checkpoint(checkpoint)
    if model.concepts:
        lines += _flow("concepts", model.concepts)
    if model.note:
        lines += folded("note", model.note, "")
    return "\n".join(lines) + "\n"


def scalar(value: Any) -> str:
    """A YAML scalar that strict loading reads back as the same value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return json.dumps(value)
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED and not text.endswith(" "):
        return text
    return "'" + text.replace("'", "''") + "'"


def folded(key: str, text: str, indent: str) -> list[str]:
    """A long text as a folded block."""
    lines, line = [f"{indent}{key}: >-"], ""
    for word in text.split():
        if line and len(indent) + 2 + len(line) + 1 + len(word) > _WIDTH:
            lines.append(f"{indent}  {line}")
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, f"{indent}  {line}"]


def _flow(key: str, values: tuple[str, ...], indent: str = "") -> list[str]:
    """A list in flow style, broken over lines at the margin."""
    lines, line = [], f"{indent}{key}: ["
    for index, value in enumerate(values):
        piece = scalar(value) + ("]" if index == len(values) - 1 else ",")
        if len(line) + 1 + len(piece) > _WIDTH:
            lines.append(line.rstrip())
            line = f"{indent}  {piece}"
        else:
            line += piece if line.endswith("[") else f" {piece}"
    return [*lines, line]


def _cell(key: str, cell: Cell, indent: str) -> list[str]:
    lines = [f"{indent}{key}:", *_values(cell, indent + "  ")]
    if cell.alternatives:
        lines.append(f"{indent}  alternatives:")
        for other in cell.alternatives:
            first, *rest = _values(other, indent + "      ")
            lines += [f"{indent}    - {first.strip()}", *rest]
    return lines


def _values(cell: Cell | Alternative, indent: str) -> list[str]:
    lines = [f"{indent}value: {scalar(cell.value)}"]
    for name in ("source", "locator", "trust", "note"):
        if value := getattr(cell, name):
            lines.append(f"{indent}{name}: {scalar(value)}")
    return lines


def _architecture(architecture: Architecture) -> Iterator[str]:
    yield "architecture:"
    for key, value in _set_fields(architecture):
        if key in ("attention", "feed_forward"):
            yield f"  {key}:"
            for group in value:
                inside = ", ".join(f"{name}: {scalar(item)}" for name, item in _set_fields(group))
                yield f"    - {{{inside}}}"
        else:
            yield f"  {key}: {scalar(value)}"


def _checkpoint(checkpoint: Checkpoint) -> Iterator[str]:
    first = True
    for key, value in _set_fields(checkpoint):
        indent = "  - " if first else "    "
        first = False
        if isinstance(value, tuple):
            block = _flow(key, value, "    ")
            yield indent + block[0].strip()
            yield from block[1:]
        elif isinstance(value, Cell):
            yield from _cell(key, value, "    ")
        else:
            yield f"{indent}{key}: {scalar(value)}"


def _set_fields(record: Any) -> Iterator[tuple[str, Any]]:
    """Fields that differ from their defaults, in declaration order."""
    for spec in fields(record):
        value = getattr(record, spec.name)
        if spec.default is MISSING or value != spec.default:
            yield spec.name, value
