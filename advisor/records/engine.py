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
    """Terms that differ in versions before `before` (`0.17`). The first entry whose `before` is above the version counts."""

    before: str
    terms: dict[str, Cell]


@dataclass(frozen=True, kw_only=True)
class Engine(Entry):
    """One engine's memory profile. Terms are named with their unit; `versions` replaces some for older releases.

    memory_fraction: default. terms: see `advisor.sizing.engines.TERMS`. flag: how the engine spells the fraction.
    """

    memory_fraction: Cell
    fraction_of: FractionOf
    flag: str
    terms: dict[str, Cell] = field(default_factory=dict)
    versions: tuple[EngineVersion, ...] = ()
    concepts: tuple[str, ...] = ()
    note: str = ""
