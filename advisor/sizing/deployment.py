"""One deployment ready to be asked: its calibrated step as a closed form in the sequences in flight."""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Checkpoint, Layout, Model, System
from advisor.sizing.calibration import Coefficients, coefficients_for, engine_slug
from advisor.sizing.kv_cache import KvCost
from advisor.sizing.memory import Footprint, footprint
from advisor.sizing.shares import share_of
from advisor.sizing.steps import STEP_TERMS, Steps, machine_of, steps_of


@dataclass(frozen=True, kw_only=True)
class Prefill:
    """A separate pool for prompts: its layout, and how many of its workers stand beside how many decoding ones."""

    layout: Layout
    workers: float = 1.0
    decode_workers: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Speculation:
    """Multi-token prediction: `drafted` tokens are verified with each step, `accepted` of them are kept on average.

    Each draft costs one more layer; verifying costs what grows with tokens. Off unless given: acceptance depends on the
    data, and nothing here knows it.
    """

    drafted: int
    accepted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Latency of one workload as a function of B, the sequences in flight in a replica.

    tpot_ms = (fixed + slope·B + touched·(1 − e^(idle·B))) / per_step for B up to `places`; a decoding step alone has
    step_fixed and step_slope in their place. ttft_ms = first_fixed + first_slope·B + first_steps·step(B), no less than
    first_bound, and requests beyond the places wait for one (admission x the time that those ahead take). pass_: one
    reading of the weights.
    """

    fixed: float
    slope: float
    touched: float
    idle: float
    step_fixed: float
    step_slope: float
    first_fixed: float
    first_slope: float
    first_steps: float
    first_bound: float
    admission: float
    per_step: float
    places: float
    output_tokens: float
    pass_fixed: float
    pass_touched: float

    def bound_ms(self, batch: float) -> float:
        """One pass over the weights that a batch touches at the data sheet's bandwidth: no server is faster."""
        missed = math.exp(self.idle * min(batch, self.places)) if self.pass_touched else 1.0
        return (self.pass_fixed + self.pass_touched * (1.0 - missed)) / self.per_step

    def tpot_ms(self, batch: float) -> float:
        """Mean time per output token after the first."""
        running = batch if batch < self.places else self.places
        missed = math.exp(self.idle * running) if self.touched else 1.0
        return (self.fixed + self.slope * running + self.touched * (1.0 - missed)) / self.per_step

    def step_ms(self, batch: float) -> float:
        """One decoding step without prompts in between."""
        running = batch if batch < self.places else self.places
        missed = math.exp(self.idle * running) if self.touched else 1.0
        return self.step_fixed + self.step_slope * running + self.touched * (1.0 - missed)

    def ttft_ms(self, batch: float) -> float:
        """Mean time to first token with B requests kept in flight, each replaced as it ends."""
        running = batch if batch < self.places else self.places
        own = self.first_fixed + self.first_slope * running + self.first_steps * self.step_ms(running)
        own = max(own, self.first_bound)
        if batch <= self.places:
            return own
        return own + self.admission * (batch / self.places - 1.0) * self.output_tokens * self.tpot_ms(running)


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A model on a layout of a system under an engine; independent of the workload.

    pool_bytes: for the KV cache of one accelerator. short_bytes: what is missing for the weights alone, 0 when they fit.
    """

    steps: Steps
    prompt_steps: Steps
    coefficients: Coefficients
    cost: KvCost
    pool_bytes: float
    short_bytes: float
    layout: Layout
    prefill: Prefill | None

    @property
    def accelerators(self) -> float:
        """Accelerators behind one decoding replica, its share of a prefill pool included."""
        own = float(self.layout.accelerators)
        if self.prefill is None:
            return own
        return own + self.prefill.layout.accelerators * self.prefill.workers / self.prefill.decode_workers

    def places(self, context_tokens: float) -> float:
        """Sequences of a context that one replica holds at once; at least one."""
        one = self.cost.sequence_bytes(context_tokens)
        if one <= 0:
            return math.inf
        return max(1.0, self.pool_bytes / one * self.layout.dp)

    def curve(
        self,
        input_tokens: float,
        output_tokens: float,
        context_tokens: float,
        speculation: Speculation | None = None,
    ) -> Curve:
        """The closed form of one workload. context_tokens: mean length of a sequence while it is decoded."""
        alone = self.prefill is None
        lines = self.steps.lines(input_tokens, output_tokens, context_tokens, prefill=alone)
        step = self.coefficients.step
        fixed = slope = touched = prompts = 0.0
        for i, (c, line) in enumerate(zip(step, lines, strict=True)):
            fixed += c * line.fixed
            touched += c * line.touched
            if i < _PROMPT_FROM:
                slope += c * line.per_sequence
            else:
                prompts += c * line.per_sequence
        per_step, idle = 1.0, self.steps.log_idle
        if speculation is not None:
            per_step = 1.0 + speculation.accepted
            slope += speculation.drafted * sum(step[i] * lines[i].per_sequence for i in _TOKEN_TERMS)
            fixed *= 1.0 + speculation.drafted / self.steps.architecture.layers
            idle *= 1.0 + speculation.drafted
            prompts *= per_step  # the same prompts arrive over fewer steps
        base, steps, sequence, layer, latent, queued_latent, *rest, admission = self.coefficients.first
        parts = self.prompt_steps.prompt(input_tokens)
        deep, latents = self.steps.architecture.layers * 1e-3, self.steps.latent_layers * 1e-3
        own = (
            base + layer * deep + latent * latents + sum(c * p for c, p in zip(rest[:5], parts, strict=True))
        )
        queue = sequence + queued_latent * latents + sum(c * p for c, p in zip(rest[5:], parts, strict=True))
        if self.prefill is not None:
            queue *= self.prefill.decode_workers / self.prefill.workers
        queue /= self.prompt_steps.layout.pp
        return Curve(
            fixed=fixed, slope=slope + prompts, touched=touched, idle=idle, step_fixed=fixed, step_slope=slope,
            first_fixed=own, first_slope=queue, first_steps=steps, first_bound=self.prompt_steps.prompt_bound(input_tokens),
            admission=admission, per_step=per_step, places=self.places(context_tokens), output_tokens=output_tokens,
            pass_fixed=lines[0].fixed, pass_touched=lines[1].touched,
        )  # fmt: skip


_PROMPT_FROM = list(STEP_TERMS).index("prompt_compute")
"""Index of the first prefill term in `STEP_TERMS`."""
_TOKEN_TERMS = tuple(
    list(STEP_TERMS).index(name)
    for name in ("compute", "cache_compute", "all_reduce", "all_to_all", "scale_out")
)
"""Indices of the terms that grow with each token verified: products, attention, what crosses links."""


def deployment_of(
    kb: KnowledgeBase,
    model: Model,
    checkpoint: Checkpoint,
    system: System | None,
    accelerator: Accelerator,
    layout: Layout,
    *,
    kv_precision: str = "",
    engine: str = "",
    scale_out_gb_per_s: float | None = None,
    prefill: Prefill | None = None,
    guessed: bool = False,
) -> Deployment:
    """The deployment, remembered per knowledge base.

    kv_precision empty: 8 bit for quantised weights, 16 bit otherwise, as the measured servers ran. guessed: the layout is
    not known to be the one that ran, which widens the interval. Raises InputError for an unknown engine or precision, and
    for experts' widths that do not add up.
    """
    key = (
        "deployment", id(model), checkpoint.precision, checkpoint.format, checkpoint.hf_id,
        system.id if system is not None else "", accelerator.id, accelerator.hbm_visible_bytes.value, layout.tp, layout.pp,
        layout.ep, layout.dp, kv_precision, engine, scale_out_gb_per_s, prefill, guessed,
    )  # fmt: skip

    def made() -> tuple[Deployment, Model]:
        if layout.ep > layout.tp * layout.dp:
            raise InputError(
                f"expert parallelism {layout.ep} over {layout.tp * layout.dp} accelerators; give at most tp x dp"
            )
        slug = engine_slug(kb, engine)
        cache = kv_precision or usual_kv_precision(checkpoint)
        machine = machine_of(accelerator, system, checkpoint.precision, scale_out_gb_per_s)
        base = footprint(kb, model, checkpoint, accelerator, layout, kv_precision=cache, engine=slug)
        steps = steps_of(model, layout, share_of(model, checkpoint, layout, base.kv_precision), machine)
        prompt_steps = steps
        if prefill is not None:
            prompt_share = share_of(model, checkpoint, prefill.layout, base.kv_precision)
            prompt_steps = steps_of(model, prefill.layout, prompt_share, machine)
        result = Deployment(
            steps=steps, prompt_steps=prompt_steps, layout=layout, prefill=prefill, cost=base.cost, pool_bytes=_pool(base),
            short_bytes=max(0.0, base.weights_bytes - base.program_bytes),
            coefficients=coefficients_for(
                kb, model, checkpoint.precision, accelerator, slug, disaggregated=prefill is not None, guessed=guessed
            ),
        )  # fmt: skip
        return result, model

    return kb.recent.of(key, made)[0]


_SQUEEZED = 0.5
"""Share of what is left beside the weights that serves as cache where the engine's usual fraction leaves none: operators
raise the fraction then, and measured servers ran so."""


def _pool(base: Footprint) -> float:
    left = max(0.0, base.program_bytes - base.weights_bytes)
    return base.pool_bytes if base.pool_bytes > 0 else left * _SQUEEZED


def home_of(kb: KnowledgeBase, accelerator: Accelerator) -> System | None:
    """The system that an accelerator is bought in, the first by id; None where no entry has it."""
    key = ("home", accelerator.id)
    if key not in kb.memo:
        kb.memo[key] = next((s for s in kb.systems.values() if s.accelerator == accelerator.id), None)
    found: System | None = kb.memo[key]
    return found


def usual_kv_precision(checkpoint: Checkpoint) -> str:
    """KV precision that measured servers ran where nobody stated it: 8 bit beside quantised weights."""
    return checkpoint.kv_precision or ("bf16" if checkpoint.precision in ("bf16", "fp16", "fp32") else "fp8")
