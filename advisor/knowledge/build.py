"""From a document's plain data to its record."""

from __future__ import annotations

from typing import Any

import msgspec

from advisor.records import KINDS, Entry

_RENAMED = {"is": "is_", "in": "in_"}
"""Comparisons that are Python keywords -> their names in `records.Condition`."""

_EFFECTS = ("favour", "require", "forbid", "assume", "ask", "warn")


def build_record(kind: str, data: dict[str, Any]) -> Entry:
    """The frozen record of an entry. Raises msgspec.ValidationError when a field is missing or of the wrong type."""
    shaped = {key: value for key, value in data.items() if value is not None}
    if kind == "gotchas" and "applies_when" in shaped:
        shaped["applies_when"] = condition_data(shaped["applies_when"])
    if kind == "rules":
        shaped["when"] = condition_data(shaped.get("when"))
        shaped["then"] = [_effect_data(effect) for effect in shaped.get("then") or []]
    return msgspec.convert(shaped, KINDS[kind])


def condition_data(data: Any) -> Any:
    """The YAML form of a condition with its Python-keyword comparisons renamed for `records.Condition`."""
    if not isinstance(data, dict):
        return data
    shaped: dict[str, Any] = {}
    for key, value in data.items():
        if key in ("all", "any", "none") and isinstance(value, list):
            shaped[key] = [condition_data(item) for item in value]
        else:
            name = str(key)
            shaped[_RENAMED.get(name, name)] = value
    return shaped


def _effect_data(effect: Any) -> Any:
    """`{forbid: node, text: …}` as `{kind: forbid, target: node, text: …}`."""
    if not isinstance(effect, dict):
        return effect
    kinds = [key for key in effect if key in _EFFECTS]
    rest = {key: value for key, value in effect.items() if key not in _EFFECTS}
    return {"kind": kinds[0], "target": effect[kinds[0]], **rest} if len(kinds) == 1 else effect
