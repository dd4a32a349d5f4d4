"""Serving engines: what their memory fraction means and what they keep for themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from advisor.records.common import Cell, Entry

FractionOf = Literal["total", "static", "free"]
"""What the memory fraction limits: everything the engine uses (total), weights and KV pool (static), or the KV pool as a
share of what weights and reserves leave free (free)."""


@dataclass(frozen=True, kw_only=True)
class EngineVersion:
    """Terms that differ in versions from `since` on and before `before` (`0.17`); an empty bound is open.

    Every entry that covers a version applies, in order.
    """

    since: str = ""
    before: str = ""
    terms: dict[str, Cell]


@dataclass(frozen=True, kw_only=True)
class Engine(Entry):
    """One engine's memory profile. Terms are named with their unit; `versions` replaces some for other releases.

    memory_fraction: default. terms: see `advisor.sizing.engines.TERMS`; they hold for `measured_on`, which also stands in
    when no version is given. flag: how the engine spells the fraction. small_batch: accelerators (ids) that get the
    defaults of small ones whatever their memory.
    """

    memory_fraction: Cell
    fraction_of: FractionOf
    flag: str
    measured_on: str = ""
    small_batch: tuple[str, ...] = ()
    terms: dict[str, Cell] = field(default_factory=dict)
    versions: tuple[EngineVersion, ...] = ()
    concepts: tuple[str, ...] = ()
    note: str = ""
