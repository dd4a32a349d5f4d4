"""Precision of the served weights from what a result row states, with the known contradictions resolved by table."""

from __future__ import annotations

import re

from advisor.evidence.mlperf.tables import Tables

_KINDS = (
    ("fp4", re.compile(r"(?:nv|mx)?fp4")),
    ("int4", re.compile(r"u?int4")),
    ("int8", re.compile(r"u?int8")),
    ("fp8", re.compile(r"fp8")),
    ("bf16", re.compile(r"bf16|bfloat16")),
    ("fp16", re.compile(r"fp16|float16")),
    ("fp32", re.compile(r"fp32|float32")),
)
_NOT_WEIGHTS = re.compile(r"[;,+]?\s*(?:with\s+)?fp8[ -]*\(?kv[ -]*(?:cache)?\)?|\(.*\)")


def read_precision(
    stated: str, benchmark: str, accelerator: str | None, tables: Tables
) -> tuple[str | None, str]:
    """(precision of the weights as served or None when unknown, remark) of the `weight_data_types` of a row."""
    kind = _stated_kind(stated)
    slug = (accelerator or "").rpartition("/")[2]
    for rule in tables.precision_corrections:
        if (
            rule.benchmark == benchmark
            and kind in rule.stated
            and (not rule.accelerators or slug in rule.accelerators)
        ):
            return rule.served, rule.why
    if kind == "several":
        return None, "several weight types: the system mixes precisions"
    return (None if kind in ("listing", "unknown") else kind), ""


def _stated_kind(stated: str) -> str:
    folded = _NOT_WEIGHTS.sub("", stated.casefold())
    if "/" in folded:
        return "listing"
    kinds = {kind for kind, pattern in _KINDS if pattern.search(folded)}
    return kinds.pop() if len(kinds) == 1 else "several" if kinds else "unknown"
