"""The answer: what `schemas/recommendation.schema.json` promises, as frozen values. Views print it and compute nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from advisor.records.common import Estimate, Grade, Scalar
from advisor.records.rules import FactValue

Verdict = Literal["node", "rack", "either", "none"]
Level = Literal["high", "medium", "low"]


@dataclass(frozen=True, kw_only=True)
class Confidence:
    """How sure, and the reasons that lowered or raised it (rule ids inside)."""

    level: Level
    reasons: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How one replica is spread, and how many replicas one system holds. tp x pp x dp accelerators a replica; ep is within."""

    tp: int
    pp: int = 1
    ep: int = 1
    dp: int = 1
    replicas: int = 1

    @property
    def accelerators(self) -> int:
        """Accelerators of one replica."""
        return self.tp * self.pp * self.dp


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Bytes per accelerator, except kv_capacity_tokens and max_sequences, which are per replica.

    needed_bytes is weights + KV of the asked load + reserve; headroom_bytes is negative when it does not fit.
    """

    hbm_bytes: float
    weights_bytes: float
    kv_bytes_per_token: float
    kv_bytes_needed: float
    kv_capacity_tokens: float
    max_sequences: int
    reserve_bytes: float
    activation_bytes: float = 0.0
    state_bytes_per_sequence: float = 0.0
    headroom_bytes: float = 0.0
    limiting: str = ""
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LatencyEstimate:
    """TTFT and TPOT at the operating point chosen."""

    ttft_ms: Estimate | None = None
    tpot_ms: Estimate | None = None
    batch_per_replica: float | None = None


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Money, only from prices the user gave or dated list prices; usd_per_hour is of the whole fleet."""

    usd_per_hour: float
    usd_per_million_output_tokens: float | None
    price_usd_per_accelerator_hour: float
    price_origin: str


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """Whole units to buy. failure_domain: accelerators lost when one unit fails; utilisation: needed/installed."""

    accelerators_needed: int
    systems: int
    spare_systems: int
    accelerators_installed: int
    accelerators_idle: int
    replicas: int
    utilisation: float
    power_kw: float | None
    failure_domain: int
    capacity_lost_on_failure: float
    cost: Cost | None = None


@dataclass(frozen=True, kw_only=True)
class Exclusion:
    """Why a candidate is out: the constraint (rule id or fact), what it was, and the nearest point that would pass."""

    constraint: str
    text: str
    nearest: str = ""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One system, sized for the requirement."""

    system: str
    title: str
    unit: Literal["node", "rack"]
    accelerator: str
    fits: bool
    feasible: bool
    layout: Layout | None
    memory: Memory | None
    throughput_per_accelerator: Estimate | None
    latency: LatencyEstimate | None
    fleet: Fleet | None
    exclusions: tuple[Exclusion, ...] = ()
    arithmetic: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PairSide:
    """One side of a comparable pair. per_accelerator is derived: value / accelerators. e2e: a whole request."""

    evidence: str
    record: str
    submitter: str
    platform: str
    accelerator: str
    accelerators: int
    unit: str
    value: float
    per_accelerator: float
    software: str = ""
    precision: str | None = None
    availability: str = "available"
    ttft_p99_ms: float | None = None
    tpot_p99_ms: float | None = None
    ttft_limit_ms: float | None = None
    tpot_limit_ms: float | None = None
    e2e_p99_ms: float | None = None
    e2e_limit_ms: float | None = None


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two comparable results. ratio = large per-accelerator / small per-accelerator.

    grade: A same submitter, round and software; B same submitter and round; C across submitters. benchmark carries the
    accuracy variant that both sides met. tie: the ratio lies between noise_low and noise_high, what the same silicon
    differs by anyway; both are 1 when no second submission tells.
    """

    kind: Literal["node-rack", "slice-rack", "node-slice", "node-nodes", "rack-racks"]
    round: str
    benchmark: str
    model: str = ""
    scenario: str
    metric: str
    small: PairSide
    large: PairSide
    ratio: float
    grade: Literal["A", "B", "C"]
    tie: bool
    noise_low: float
    noise_high: float
    confounders: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NoiseBand:
    """Spread of the same silicon: max/min of per-accelerator figures over `submissions`. spread None when fewer than two."""

    spread: float | None
    submissions: int
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The rack against the node. rack_over_node = silicon_effect x scale_effect where a slice exists.

    cost_at_rates: cost of the rack fleet over the node fleet at the rates as they are, over the range of prices; cost_ratio
    counts the doubt about the rates too. prices_said: the prices are the user's.
    """

    rack_over_node: Estimate | None
    silicon_effect: Estimate | None
    scale_effect: Estimate | None
    noise_band: NoiseBand
    confounders: tuple[str, ...]
    pairs: tuple[Pair, ...]
    cost_ratio_low: float | None = None
    cost_ratio_high: float | None = None
    break_even_premium: float | None = None
    tie: bool = False
    chain: tuple[str, ...] = ()
    cost_at_rates_low: float | None = None
    cost_at_rates_high: float | None = None
    prices_said: bool = False


@dataclass(frozen=True, kw_only=True)
class Flip:
    """The nearest change of one input that changes the verdict."""

    fact: str
    from_: Scalar | None
    to: Scalar
    verdict: Verdict
    text: str = ""
    node_fleet: Fleet | None = None
    rack_fleet: Fleet | None = None


@dataclass(frozen=True, kw_only=True)
class RaisedGotcha:
    """A gotcha that applies, and the condition that raised it."""

    id: str
    title: str
    why: str


@dataclass(frozen=True, kw_only=True)
class TraceStep:
    """One rule considered: fired or not, the facts it read with their values, what it concluded."""

    rule: str
    subject: str
    fired: bool
    reads: dict[str, Scalar | None]
    concluded: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A figure's way back to its source. verified is False for derived figures."""

    id: str
    text: str
    grade: Grade
    verified: bool
    figures: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """One answer, whole."""

    verdict: Verdict
    confidence: Confidence
    summary: str
    headline: str
    requirement: dict[str, FactValue]
    candidates: tuple[Candidate, ...]
    comparison: Comparison
    flips: tuple[Flip, ...]
    gotchas: tuple[RaisedGotcha, ...]
    trace: Sequence[TraceStep]
    evidence: tuple[Citation, ...]
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    disclaimers: tuple[str, ...]
    best_node: str | None = None
    best_rack: str | None = None
    decided_by: tuple[str, ...] = ()
    next_question: str | None = None
    flips_searched: bool = True
    knowledge_fingerprint: str = ""
    extra: dict[str, str] = field(default_factory=dict)
