"""Time to first token, time per output token and throughput of a deployment, with 90 % intervals.

docs/performance.md has the formulas, their sources and the measured accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Checkpoint, Estimate, Layout, Model, System
from advisor.sizing.audited_rates import audited_rate_model
from advisor.sizing.calibration import NEARNESS
from advisor.sizing.deployment import Curve, Deployment, Prefill, Speculation, deployment_of, home_of
from advisor.sizing.folded import unfolded
from advisor.sizing.operating_point import largest_batch
from advisor.units import format_bytes

__all__ = [
    "OperatingPoint",
    "Prediction",
    "Prefill",
    "Speculation",
    "audited_rate_model",
    "operating_point",
    "predict",
]


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Latency and rate of one deployment under one load."""

    ttft_ms: Estimate
    tpot_ms: Estimate
    throughput_per_accelerator: Estimate


@dataclass(frozen=True, kw_only=True)
class OperatingPoint:
    """The largest batch within latency limits, and what it gives."""

    batch_per_replica: float
    prediction: Prediction


def predict(
    kb: KnowledgeBase,
    model: Model,
    checkpoint: Checkpoint,
    system: System | None,
    accelerator: Accelerator,
    layout: Layout,
    *,
    batch_per_replica: float,
    input_tokens: float,
    output_tokens: float,
    context_tokens: float | None = None,
    kv_precision: str = "",
    engine: str = "",
    scale_out_gb_per_s: float | None = None,
    prefill: Prefill | None = None,
    speculation: Speculation | None = None,
    layout_guessed: bool = False,
) -> Prediction:
    """Latency and throughput with `batch_per_replica` requests kept in flight in each replica.

    context_tokens: mean length of a sequence while it is decoded; input plus half of the output when not given.
    kv_precision empty: what measured servers ran (8 bit beside quantised weights). prefill: prompts in a pool of their own.
    system None: the one that holds this accelerator. layout_guessed: nobody says that it is the layout that ran. A layout
    wider than the domain that multiplies TP by EP, as some tables do, is read as it ran, and the note says so. Raises
    InputError for a load that is not positive and for weights that do not fit.
    """
    if not (batch_per_replica > 0 and input_tokens > 0 and output_tokens > 0):
        raise InputError("batch, input tokens and output tokens must be positive")
    home = system if system is not None else home_of(kb, accelerator)
    ran, note = unfolded(layout, home)
    deployment = deployment_of(
        kb, model, checkpoint, home, accelerator, ran, kv_precision=kv_precision, engine=engine,
        scale_out_gb_per_s=scale_out_gb_per_s, prefill=prefill, guessed=layout_guessed,
    )  # fmt: skip
    if deployment.short_bytes > 0:
        raise InputError(
            f"the weights need {format_bytes(deployment.short_bytes)} more on each accelerator than programs see there;"
            " give more accelerators or a smaller precision"
        )
    context = context_tokens if context_tokens is not None else input_tokens + output_tokens / 2
    curve = _curve(kb, deployment, (input_tokens, output_tokens, context, speculation))
    return _prediction(deployment, curve, batch_per_replica, note)


def operating_point(
    kb: KnowledgeBase,
    model: Model,
    checkpoint: Checkpoint,
    system: System | None,
    accelerator: Accelerator,
    layout: Layout,
    *,
    ttft_ms: float | None,
    tpot_ms: float | None,
    input_tokens: float,
    output_tokens: float,
    max_batch: float,
    context_tokens: float | None = None,
    kv_precision: str = "",
    engine: str = "",
    scale_out_gb_per_s: float | None = None,
    prefill: Prefill | None = None,
    speculation: Speculation | None = None,
) -> OperatingPoint | None:
    """The largest batch per replica with predicted latencies within the limits (None: no limit), or None where none is.

    max_batch: what memory or the engine allows; what the KV capacity holds is kept to in any case.
    """
    home = system if system is not None else home_of(kb, accelerator)
    deployment = deployment_of(
        kb, model, checkpoint, home, accelerator, layout, kv_precision=kv_precision, engine=engine,
        scale_out_gb_per_s=scale_out_gb_per_s, prefill=prefill,
    )  # fmt: skip
    if deployment.short_bytes > 0:
        return None
    context = context_tokens if context_tokens is not None else input_tokens + output_tokens / 2
    curve = _curve(kb, deployment, (input_tokens, output_tokens, context, speculation))
    batch = largest_batch(curve, ttft_ms=ttft_ms, tpot_ms=tpot_ms, max_batch=max_batch)
    if batch is None:
        return None
    return OperatingPoint(batch_per_replica=batch, prediction=_prediction(deployment, curve, batch, ""))


def _prediction(deployment: Deployment, curve: Curve, batch: float, note: str) -> Prediction:
    c = deployment.coefficients
    bound = curve.bound_ms(batch)
    tpot, ttft = max(curve.tpot_ms(batch), bound), curve.ttft_ms(batch)
    fastest, soonest = max(tpot * c.step_low, bound), max(ttft * c.first_low, curve.first_bound)
    evidence = (c.entry,) if c.entry else ()
    near = NEARNESS.get(c.like, c.like)
    why = f"{near}; {note}" if note else near

    def estimate(value: float, low: float, high: float, unit: str) -> Estimate:
        return Estimate(
            value=value, low=low, high=high, unit=unit, basis=c.basis, evidence=evidence, note=why
        )

    def rate(first: float, each: float) -> float:
        took = first + (curve.output_tokens - 1) * each
        return batch * curve.output_tokens / took * 1000 / deployment.accelerators if took > 0 else 0.0

    return Prediction(
        ttft_ms=estimate(ttft, soonest, ttft * c.first_high, "ms"),
        tpot_ms=estimate(tpot, fastest, tpot * c.step_high, "ms"),
        throughput_per_accelerator=estimate(
            rate(ttft, tpot), rate(ttft * c.first_high, tpot * c.step_high), rate(soonest, fastest),
            "tokens/s",
        ),
    )  # fmt: skip


def _curve(
    kb: KnowledgeBase, deployment: Deployment, workload: tuple[float, float, float, Speculation | None]
) -> Curve:
    """The closed form of one workload on one deployment, remembered: searches ask for it at many limits."""
    # kept with its deployment, so that no other one can get the same id meanwhile
    curve, _ = kb.recent.of(
        ("curve", id(deployment), workload), lambda: (deployment.curve(*workload), deployment)
    )
    return curve
