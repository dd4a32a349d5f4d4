"""The text of a new entry: everything that can be filled in filled in, the rest marked TODO."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from advisor.errors import InputError
from advisor.knowledge.files import is_kb
from advisor.knowledge.locate import kb_folder
from advisor.knowledge.yaml_source import Document, parse_document
from advisor.lint.checks.style import expected_schema_line, field_order
from advisor.lint.edits import line_range, replaced, top_fields
from advisor.lint.options import Options
from advisor.records import SCHEMA_NAMES
from advisor.units import shown

_SLUG = re.compile(r"[a-z0-9][a-z0-9.-]*(?:/[a-z0-9][a-z0-9.-]*)*")
_PREFERRED = {
    "concept": "concepts/capacity-planning",
    "source": "sources/mlperf-v6.1",
    "model": "models/llama-2-70b",
    "accelerator": "accelerators/h100",
    "fact": "facts/tpot-ms",
}
"""What a placeholder of a kind names when the knowledge base has it."""

_WIDTH = 100


def kind_folder(word: str) -> str:
    """The kind folder of `gotcha` or `gotchas`. Raises InputError that names the kinds."""
    by_name = {name: folder for folder, name in SCHEMA_NAMES.items()} | {
        folder: folder for folder in SCHEMA_NAMES
    }
    folder = by_name.get(word.lower())
    if folder is None:
        near = get_close_matches(word.lower(), by_name, n=1)
        hint = f"did you mean {near[0]}?" if near else f"kinds are {', '.join(SCHEMA_NAMES.values())}"
        raise InputError(f"no kind {shown(word)}; {hint}")
    if folder == "calibration":
        raise InputError("calibrations are written by `rackfit calibrate`")
    return folder


def check_slug(slug: str) -> str:
    """The slug itself. Raises InputError with a slug made from it when it cannot be part of an id."""
    if len(slug) <= 160 and _SLUG.fullmatch(slug):
        return slug
    better = "-".join(re.findall(r"[a-z0-9.]+", slug.lower()))[:160].strip("-.") or "what-goes-wrong"
    raise InputError(
        f"{shown(slug)} is no name for an entry: lower case, digits, - and . only; for example {better}"
    )


def new_entry(
    kind: str, slug: str, fields: Mapping[str, str], *, kb: Path, today: datetime.date | None = None
) -> str:
    """The text of a new entry of a kind folder. fields: YAML values, or plain text, by field.

    Placeholders name entries of the knowledge base at `kb`, or of the shipped one. Raises InputError for an unknown field.
    """
    entry_id = f"{kind}/{check_slug(slug)}"
    if kind == "facts" and not slug[0].isalpha():
        raise InputError(f"{shown(slug)}: the name of a fact begins with a letter; for example is-8-bit")
    words = slug.rpartition("/")[2].replace("-", " ")
    values = {name: _example(kb, name) for name in _PREFERRED}
    values["fact"] = values["fact"].partition("/")[2].replace("-", "_")
    values |= {
        "id": entry_id,
        "title": words[:1].upper() + words[1:] if len(words) > 2 else f"Entry {words}",
        "slug": slug,
        "name": re.sub(r"[^a-z0-9]+", "_", slug.lower()).strip("_"),
        "words": words,
        "flag": "--" + re.sub(r"[^a-z0-9]+", "-", slug.lower()).strip("-"),
        "today": str(today or Options().today),
    }
    template = files("advisor.lint").joinpath("templates", f"{SCHEMA_NAMES[kind]}.yaml").read_text("utf-8")
    text = f"{expected_schema_line(entry_id)}\n{template.format(**values)}"
    for name, value in fields.items():
        text = _with_field(text, kind, name, value)
    return text


def _example(kb: Path, name: str) -> str:
    """Id of an entry of a kind, preferably a well-known one, from the knowledge base or else the shipped one."""
    kind, _, slug = _PREFERRED[name].partition("/")
    for root in (kb, kb_folder()):
        if (root / kind / f"{slug}.yaml").is_file():
            return _PREFERRED[name]
        found = sorted((root / kind).glob("*.yaml")) if is_kb(root) else []
        if found:
            return f"{kind}/{found[0].stem}"
    return f"{kind}/TODO"


def _with_field(text: str, kind: str, name: str, value: str) -> str:
    order = field_order(kind)
    if name not in order or name == "id":
        near = get_close_matches(name, order, n=1)
        hint = f"did you mean {near[0]}?" if near else f"fields are {', '.join(order[1:])}"
        raise InputError(f"{SCHEMA_NAMES[kind]} has no field {shown(name)} to set; {hint}")
    document = parse_document(text, "")
    lines = f"{name}: {_as_yaml(value)}\n"
    if name in top_fields(document):
        start, end = line_range(text, document.places[(name,)])
        while (above := text[:start].rpartition("\n")[0].rpartition("\n")[2]).startswith("# TODO"):
            start -= len(above) + 1  # what it asked for is given now
        return replaced(text, [(start, end, lines)])
    after = [known for known in order[: order.index(name)] if known in top_fields(document)]
    at = line_range(text, document.places[(after[-1],)])[1]
    return text[:at] + lines + text[at:]


def _is_short(value: str) -> bool:
    return len(value) <= _WIDTH and "#" not in value


def _as_yaml(value: str) -> str:
    """A value as it stands if it is YAML of one line (a list or mapping at any length), else as folded text."""
    parsed: Document = parse_document(f"value: {value}\n", "")
    plain = (
        parsed.data is not None
        and not parsed.findings
        and set(parsed.data) == {"value"}
        and "\n" not in value
        and " #" not in value
    )
    if plain and parsed.data and (isinstance(parsed.data["value"], list | dict) or _is_short(value)):
        return value
    words, lines = value.split(), [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) >= _WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return ">-\n" + "\n".join(f"  {line}" for line in lines)
