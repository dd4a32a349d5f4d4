"""An answer as the JSON that `schemas/recommendation.schema.json` promises."""

from __future__ import annotations

from typing import Any

import msgspec

from advisor.records import Recommendation


def to_plain(answer: Recommendation) -> dict[str, Any]:
    """The answer as plain data with the contract's key names."""
    plain: dict[str, Any] = msgspec.to_builtins(answer, enc_hook=tuple)
    for flip in plain["flips"]:
        flip["from"] = flip.pop("from_")
    return plain


def render_json(answer: Recommendation, *, extra: dict[str, Any] | None = None) -> str:
    """Indented JSON text; `extra` keys are added at the top level."""
    return msgspec.json.format(msgspec.json.encode(to_plain(answer) | (extra or {}))).decode()
