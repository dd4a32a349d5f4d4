"""Values shared by all kinds: a sourced cell, provenance of a requirement's value, and an estimate with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Trust = Literal["vendor", "measured-log", "third-party", "unverified", "derived"]
"""How far a stated fact can be trusted: a data sheet, a log that was read, someone else's page, a memory, our arithmetic."""

Grade = Literal["audited", "measured", "vendor", "derived"]
"""What stands behind a performance result."""

Origin = Literal["said", "assumed", "derived", "computed"]
"""Where the value of a fact comes from: the user, a default, a rule, or sizing and evidence."""

Basis = Literal["audited", "calibrated", "bound"]
"""Best available ground of a predicted value; never mixed silently."""

Scalar = str | int | float | bool


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """A second published value that disagrees with a cell's main one."""

    value: Scalar
    source: str = ""
    locator: str = ""
    trust: Trust = "unverified"
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One sourced fact. `source` is the id of a source entry, `locator` the place inside it."""

    value: Scalar
    source: str = ""
    locator: str = ""
    trust: Trust = "unverified"
    note: str = ""
    alternatives: tuple[Alternative, ...] = ()

    @property
    def number(self) -> float:
        """The value as a float. Raises TypeError when the cell holds text."""
        if isinstance(self.value, (str, bool)):
            raise TypeError(f"not a number: {self.value!r}")
        return float(self.value)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A predicted value with its 90 % interval and what it rests on. `evidence` holds ids of evidence entries."""

    value: float
    low: float
    high: float
    unit: str
    basis: Basis
    evidence: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What every entry of the knowledge base has. The id is `<kind-folder>/<slug>` and equals the path."""

    id: str
    title: str
    aliases: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The id without its kind folder."""
        return self.id.partition("/")[2]

    @property
    def kind(self) -> str:
        """The kind folder, such as `gotchas`."""
        return self.id.partition("/")[0]
