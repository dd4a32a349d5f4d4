"""Accelerators and the systems they are bought in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from advisor.records.common import Cell, Entry, Trust

SystemKind = Literal["node", "rack"]
Availability = Literal["available", "preview", "announced"]


@dataclass(frozen=True, kw_only=True)
class Accelerator(Entry):
    """One GPU or other accelerator. FLOPS are dense; bandwidths are per accelerator.

    hbm_visible_bytes: bytes that software sees, not the label. hbm_bandwidth_tb_per_s: TB/s (1e12 B/s).
    dense_tflops: TFLOP/s by precision (bf16, fp8, fp4; int8 in TOP/s). scale_up_gb_per_s: GB/s (1e9 B/s), both
    directions together. tdp_w: watts. `family` names the silicon generation (`blackwell-ultra`): a node and a rack are
    compared within one family.
    """

    vendor: str
    family: str
    availability: Availability = "available"
    hbm_visible_bytes: Cell
    hbm_marketed_gb: Cell
    hbm_bandwidth_tb_per_s: Cell
    dense_tflops: dict[str, Cell] = field(default_factory=dict)
    scale_up_gb_per_s: Cell | None = None
    tdp_w: Cell | None = None
    facts: dict[str, Cell] = field(default_factory=dict)
    concepts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Price:
    """A price seen on one day or in one month. Prices age: show the date.

    usd_per_accelerator_hour: US dollars. basis: the terms (on demand, capacity block, reserved 12 months, owner cost).
    date: 2026-09-19 or 2026-07. Several prices of a system give its range; only those of one seller, basis and day
    compare with each other.
    """

    usd_per_accelerator_hour: float
    seller: str
    basis: str
    date: str
    source: str = ""
    locator: str = ""
    trust: Trust = "unverified"
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class System(Entry):
    """What can be bought or rented as one unit.

    kind_of_unit: `node` for one host bought singly, `rack` for a scale-up domain wider than a host, sold as one (an
    NVL72, but also a pod of chips on a torus; `note` says where the word needs care).
    accelerators: per unit. scale_up_domain: accelerators that share the fast fabric. accelerators_per_host: per host
    or tray (4 in an NVL72). minimum_purchase: accelerators. power_kw: of the whole unit, maximum.
    scale_out_gb_per_s: default network per accelerator, one direction; a choice of the deployment.
    rentable_slices: sizes, in accelerators, that a cloud rents.
    """

    kind_of_unit: SystemKind
    accelerator: str
    accelerators: int
    scale_up_domain: int
    accelerators_per_host: int = 8
    availability: Availability = "available"
    cooling: tuple[Literal["air", "liquid"], ...]
    power_kw: Cell | None = None
    minimum_purchase: int = 0
    buyable: tuple[Literal["buy", "rent"], ...] = ("buy", "rent")
    rentable_slices: tuple[int, ...] = ()
    scale_out_gb_per_s: Cell | None = None
    prices: tuple[Price, ...] = ()
    facts: dict[str, Cell] = field(default_factory=dict)
    concepts: tuple[str, ...] = ()
    note: str = ""
