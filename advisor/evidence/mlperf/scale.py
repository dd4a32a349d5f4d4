"""How big a system under test was: which accelerator, how many of them to divide by, and as which unit."""

from __future__ import annotations

import re
from dataclasses import dataclass

from advisor.evidence.mlperf.rows import Row
from advisor.evidence.mlperf.tables import AcceleratorName, Tables
from advisor.records import EvidenceUnit, Scale

RACK_DOMAIN = 72
_COUNT = re.compile(r"\(x([0-9]{1,6})(?:x([0-9]{1,6}))?\)")
_PARTS = re.compile(r" and |\+|,")


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """What an evidence entry says about the accelerators of its system."""

    accelerator: str | None
    short: str
    scale: Scale


def read_hardware(row: Row, tables: Tables) -> Hardware:
    """Identify and count the accelerators of a row.

    A count in the accelerator's name, `(x87)`, wins over the stated total; mixed silicon keeps only its total.
    """
    if not row.accelerator:
        unit: EvidenceUnit = "node" if row.nodes <= 1 else "multi-node"
        scale = Scale(
            accelerators=0, nodes=max(row.nodes, 1), unit=unit, note="CPU only: no per-accelerator figure"
        )
        return Hardware(accelerator=None, short="CPU", scale=scale)
    parts = [part.strip() for part in _PARTS.split(row.accelerator) if part.strip()]
    known = [_match(part, tables) for part in parts]
    stated = row.total if row.total else row.nodes * row.per_node
    counts = [_named_count(part) for part in parts]
    if len({found.slug if found else part for found, part in zip(known, parts, strict=True)}) > 1:
        total = sum(count or 0 for count in counts) if all(counts) else stated
        scale = Scale(accelerators=total, nodes=max(row.nodes, 1), unit="multi-node", mixed_silicon=True,
                      note="different accelerators in one system: no per-accelerator figure")  # fmt: skip
        return Hardware(accelerator=None, short="mixed", scale=scale)
    found = known[0]
    count, note = stated, ""
    if counts[0] and counts[0] != stated:
        count = counts[0]
        note = (f"the accelerator's name says {count}; the stated total of {stated} is"
                f" {row.nodes} nodes x {row.per_node} places")  # fmt: skip
    note = note or _name_note(row, found, count)
    unit, racks, unit_note = _unit(row, found, count)
    scale = Scale(
        accelerators=count,
        nodes=max(row.nodes, 1),
        unit=unit,
        racks=racks,
        stated_accelerators=stated if stated != count else None,
        note="; ".join(filter(None, (note, unit_note))),
    )
    short = found.slug.upper() if found else _COUNT.sub("", row.accelerator).strip()
    accelerator = "accelerators/" + found.slug if found and found.entry else None
    return Hardware(accelerator=accelerator, short=short, scale=scale)


def _match(name: str, tables: Tables) -> AcceleratorName | None:
    words = set(re.split(r"[^a-z0-9]+", name.casefold()))
    return next((known for known in tables.accelerators if all(word in words for word in known.words)), None)


def _named_count(name: str) -> int | None:
    found = _COUNT.search(name)
    return int(found[1]) * int(found[2] or 1) if found else None


def _name_note(row: Row, found: AcceleratorName | None, count: int) -> str:
    """A remark when the platform's name counts other accelerators than the run used."""
    if found is None:
        return ""
    named = re.search(
        rf"(?:([0-9]{{1,4}})x)?([0-9]{{1,4}})x?{re.escape(found.slug)}(?![a-z0-9])", row.platform.casefold()
    )
    number = int(named[1] or 1) * int(named[2]) if named else count
    return f"the platform's name says {number}; the run used {count}" if number != count else ""


def _unit(row: Row, found: AcceleratorName | None, count: int) -> tuple[EvidenceUnit, int, str]:
    domain = found.domain if found else 1
    if domain == RACK_DOMAIN and "nvl4" in row.platform.casefold():
        return "node", 0, "a board of four on its own, not part of a rack"
    if domain == RACK_DOMAIN:
        racks = -(-count // RACK_DOMAIN)
        if count < RACK_DOMAIN:
            return "slice", 0, f"{count} of the {RACK_DOMAIN} accelerators of a rack"
        if racks == 1:
            return "rack", 1, ""
        return "multi-rack", racks, f"{racks} racks of {RACK_DOMAIN}: no common scale-up domain"
    if row.nodes > 1:
        return "multi-node", 0, ""
    if count < domain:
        return "slice", 0, f"{count} of the {domain} accelerators of a node"
    return "node", 0, ""
