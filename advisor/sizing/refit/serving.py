"""Fit the serving terms to measured rows, and measure by leaving rows out how far to trust them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from advisor.knowledge import KnowledgeBase
from advisor.sizing.calibration import engine_slug, model_key
from advisor.sizing.deployment import Deployment, Prefill, deployment_of
from advisor.sizing.refit.measured import Observation
from advisor.sizing.refit.regression import Array, Fit, Grouping, fit_rows
from advisor.sizing.shares import layers_of
from advisor.sizing.steps import FIRST_TERMS, STEP_TERMS

STEP_START: dict[str, float] = {
    "dense_weights": 1.3, "expert_weights": 1.3, "cache": 1.3, "compute": 1.5, "cache_compute": 2.0, "all_reduce": 2.0,
    "all_to_all": 2.0, "scale_out": 2.0, "layer_us": 30.0, "moe_layer_us": 15.0, "latent_layer_us": 20.0,
    "linear_layer_us": 20.0, "sparse_layer_us": 20.0, "tensor_hop_us": 3.0, "expert_hop_us": 5.0, "network_hop_us": 10.0,
    "sequence_layer_ns": 100.0, "prompt_compute": 2.0, "prompt_experts": 2.0, "prompt_attention": 2.0,
    "prompt_all_reduce": 1.5, "prompt_all_to_all": 2.0,
}  # fmt: skip
"""Where the fit starts and what a term falls back to without data: data-sheet rates are reached to 50-80 %, a layer is some
ten kernels of a few microseconds, a collective a few more."""

FIRST_START: dict[str, float] = {
    "base_ms": 30.0, "steps": 2.0, "sequence_ms": 0.3, "layer_us": 300.0, "latent_layer_us": 300.0,
    "queue_latent_layer_us": 5.0, "own_compute": 2.0, "own_experts": 3.0, "own_attention": 1.5,
    "own_all_reduce": 1.5, "own_all_to_all": 1.5, "queue_compute": 0.1, "queue_experts": 0.2, "queue_attention": 0.05,
    "queue_all_reduce": 0.15, "queue_all_to_all": 0.2, "admission": 1.0,
}  # fmt: skip
"""The same for time to first token. Queue terms are shares of one prompt per concurrent sequence."""

_TERM_DEVIATION, _FIRST_DEVIATION, _ADMISSION_DEVIATION = 0.7, 0.8, 0.2
"""How far (in logarithms) the data may pull a term from its start; waiting for a place is close to arithmetic."""

FOLDS = 5
"""Parts into which configurations are dealt for leaving out."""


@dataclass(frozen=True, kw_only=True)
class Deviations:
    """Prior standard deviations of a grouping's parts, in logarithms (see `regression`). Chosen by leaving out."""

    engine: float
    accelerator: float
    both: float
    model: float
    model_engine: float
    model_precision: float
    case: float
    mode: float


STEP_DEVIATIONS = Deviations(
    engine=0.15,
    accelerator=0.1,
    both=0.05,
    model=0.3,
    model_engine=0.2,
    model_precision=0.2,
    case=0.15,
    mode=0.15,
)
FIRST_DEVIATIONS = Deviations(
    engine=0.3,
    accelerator=0.2,
    both=0.2,
    model=0.3,
    model_engine=0.2,
    model_precision=0.15,
    case=0.2,
    mode=0.3,
)

_COEFFICIENTS = ("engine", "accelerator", "both")
_FACTORS = ("model", "model_engine", "model_precision", "case", "mode")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One observation ready for the fit.

    running, waiting: sequences in flight that the replica holds, and those beyond as a multiple. step_terms: terms of time
    per output token; decode_terms: the same without prompts. prompt: parts of one prompt (ms); queued: prompts ahead.
    """

    observation: Observation
    engine: str
    shape: str
    exact: str
    running: float
    waiting: float
    step_terms: Array
    decode_terms: Array
    prompt: tuple[float, ...]
    queued: float

    @property
    def known(self) -> bool:
        """Whether the row states its layout; others are predicted but not fitted."""
        return self.observation.known

    @property
    def configuration(self) -> str:
        """Rows that differ only in load share a configuration."""
        o = self.observation
        layout = o.decode.layout
        parts = (
            self.exact,
            o.accelerator.id,
            self.engine,
            o.input_tokens,
            o.output_tokens,
            layout.tp,
            layout.dp,
            layout.ep,
        )
        return "|".join(str(part) for part in (*parts, o.prefill is not None))

    @property
    def fold(self) -> int:
        """Part of this row's configuration, from a hash: the same in every run."""
        return int(hashlib.sha256(self.configuration.encode()).hexdigest()[:8], 16) % FOLDS

    def labels(self) -> dict[str, str]:
        """Grouping -> label."""
        accelerator = self.observation.accelerator.slug
        return {
            "engine": self.engine, "accelerator": accelerator, "both": f"{accelerator} {self.engine}", "model": self.shape,
            "model_engine": f"{self.shape} {self.engine}", "model_precision": self.exact,
            "case": f"{self.exact} {accelerator} {self.engine}",
            "mode": f"{'disaggregated' if self.observation.prefill is not None else 'shared'} {self.engine}",
        }  # fmt: skip


def row_of(kb: KnowledgeBase, observation: Observation) -> Row:
    """Terms of one observation."""
    o = observation
    prefill = None
    if o.prefill is not None:
        prefill = Prefill(layout=o.prefill.layout, workers=o.prefill.workers, decode_workers=o.decode.workers)
    deployment = deployment_of(
        kb, o.model, o.checkpoint, o.system, o.accelerator, o.decode.layout, engine=o.engine, prefill=prefill
    )
    context = o.input_tokens + o.output_tokens / 2
    places = deployment.places(context)
    running = min(o.batch, places)
    return Row(
        observation=o, engine=engine_slug(kb, o.engine), shape=model_key(o.model.architecture),
        exact=model_key(o.model.architecture, o.checkpoint.precision), running=running,
        waiting=max(0.0, o.batch / places - 1.0), step_terms=_step_terms(deployment, o, context, running),
        decode_terms=_step_terms(deployment, o, context, running, alone=True),
        prompt=deployment.prompt_steps.prompt(o.input_tokens),
        queued=running if o.prefill is None else o.concurrency / o.prefill.workers,
    )  # fmt: skip


def _step_terms(
    deployment: Deployment, o: Observation, context: float, running: float, *, alone: bool = False
) -> Array:
    lines = deployment.steps.lines(
        o.input_tokens, o.output_tokens, context, prefill=o.prefill is None and not alone
    )
    touched = (
        1.0 - math.exp(deployment.steps.log_idle * running)
        if math.isfinite(deployment.steps.log_idle)
        else 1.0
    )
    return np.array([line.fixed + line.per_sequence * running + line.touched * touched for line in lines])


@dataclass(frozen=True, kw_only=True)
class ServingFit:
    """Both targets fitted to the same rows."""

    step: Fit
    first: Fit

    def tpot_ms(self, row: Row) -> float:
        """Predicted time per output token."""
        labels = row.labels()
        return float(self.step.coefficient(labels) @ row.step_terms) * self.step.factor(labels)

    def ttft_ms(self, row: Row) -> float:
        """Predicted time to first token."""
        labels = row.labels()
        return float(self.first.coefficient(labels) @ first_terms(row, self.step)) * self.first.factor(labels)


def first_terms(row: Row, step: Fit) -> Array:
    """Terms of time to first token, in the order of `FIRST_TERMS`; they build on the fitted step."""
    labels = row.labels()
    coefficients, factor = step.coefficient(labels), step.factor(labels)
    decoding = float(coefficients @ row.decode_terms) * factor
    tpot = float(coefficients @ row.step_terms) * factor
    wait = row.waiting * row.observation.output_tokens * tpot
    architecture = row.observation.model.architecture
    deep, latent = architecture.layers * 1e-3, layers_of(architecture, "mla") * 1e-3
    queued = [row.queued * part for part in row.prompt]
    return np.array(
        [1.0, decoding, row.queued, deep, latent, row.queued * latent, *row.prompt, *queued, wait]
    )


def fit_serving(rows: Sequence[Row]) -> ServingFit:
    """Fit the rows whose layout is known."""
    used = [row for row in rows if row.known]
    step = _fit(
        used, np.array([row.step_terms for row in used]), [row.observation.tpot_ms for row in used], STEP_START,
        np.full(len(STEP_TERMS), _TERM_DEVIATION), STEP_DEVIATIONS,
    )  # fmt: skip
    spread = np.full(len(FIRST_TERMS), _FIRST_DEVIATION)
    spread[list(FIRST_TERMS).index("admission")] = _ADMISSION_DEVIATION
    first = _fit(
        used, np.array([first_terms(row, step) for row in used]), [row.observation.ttft_ms for row in used], FIRST_START,
        spread, FIRST_DEVIATIONS,
    )  # fmt: skip
    return ServingFit(step=step, first=first)


def _fit(
    rows: Sequence[Row], terms: Array, measured: Sequence[float], start: Mapping[str, float], spread: Array,
    deviations: Deviations,
) -> Fit:  # fmt: skip
    labels = [row.labels() for row in rows]

    def groupings(names: Sequence[str]) -> list[Grouping]:
        return [
            Grouping(name=name, labels=[label[name] for label in labels], deviation=getattr(deviations, name))
            for name in names
        ]

    return fit_rows(
        terms, np.array(measured), prior_mean=np.array(list(start.values())), prior_deviation=spread,
        coefficients=groupings(_COEFFICIENTS), factors=groupings(_FACTORS),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Predictions of rows by fits that did not see their like: index of the row -> (tpot_ms, ttft_ms)."""

    how: str
    predicted: Mapping[int, tuple[float, float]]


def leave_out(rows: Sequence[Row], how: str, part: Callable[[Row], str]) -> LeftOut:
    """Predict each part of the rows from a fit of all others. part: label of the part that a row belongs to."""
    predicted: dict[int, tuple[float, float]] = {}
    labels = [part(row) for row in rows]
    for label in sorted(set(labels)):
        fitted = fit_serving([row for row, other in zip(rows, labels, strict=True) if other != label])
        for index, row in enumerate(rows):
            if labels[index] == label:
                predicted[index] = (fitted.tpot_ms(row), fitted.ttft_ms(row))
    return LeftOut(how=how, predicted=predicted)


def leave_out_configurations(rows: Sequence[Row]) -> LeftOut:
    """Each configuration predicted from the others, in `FOLDS` parts."""
    return leave_out(rows, "configuration", lambda row: str(row.fold))


def leave_out_models(rows: Sequence[Row]) -> LeftOut:
    """Each model predicted from the others; models of one architecture leave together."""
    return leave_out(rows, "model", lambda row: row.shape)


def leave_out_accelerators(rows: Sequence[Row]) -> LeftOut:
    """Each accelerator predicted from the others."""
    return leave_out(rows, "accelerator", lambda row: row.observation.accelerator.id)
