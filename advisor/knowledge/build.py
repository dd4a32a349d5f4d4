"""From a document's plain data to its record."""

from __future__ import annotations

from typing import Any

import msgspec

from advisor.records import KINDS, Entry

_RENAMED = {"is": "is_", "in": "in_"}
"""Comparisons that are Python keywords -> their names in `records.Condition`."""

_EFFECTS = frozenset(("favour", "require", "forbid", "assume", "ask", "warn"))


def build_record(kind: str, data: dict[str, Any]) -> Entry:
    """The frozen record of an entry that keeps to its schema. Raises msgspec.ValidationError where the record is stricter."""
    shaped = {key: value for key, value in data.items() if value is not None}
    if kind == "gotchas" and "applies_when" in shaped:
        shaped["applies_when"] = condition_data(shaped["applies_when"])
    if kind == "rules":
        shaped["when"] = condition_data(shaped["when"])
        shaped["then"] = [_effect_data(effect) for effect in shaped["then"]]
    return msgspec.convert(shaped, KINDS[kind])


def condition_data(data: dict[str, Any]) -> dict[str, Any]:
    """The YAML form of a condition with its Python-keyword comparisons renamed for `records.Condition`."""
    return {
        _RENAMED.get(key, key): [condition_data(part) for part in value] if key in ("all", "any", "none") else value
        for key, value in data.items()
    }  # fmt: skip


def _effect_data(effect: dict[str, Any]) -> dict[str, Any]:
    """`{forbid: node, text: …}` as `{kind: forbid, target: node, text: …}`."""
    (kind,) = effect.keys() & _EFFECTS
    rest = {key: value for key, value in effect.items() if key != kind}
    return {"kind": kind, "target": effect[kind], **rest}
