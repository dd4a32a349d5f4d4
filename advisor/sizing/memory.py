"""Does a model fit: weights, KV cache and what the engine keeps for itself, against the memory of one accelerator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Checkpoint, Layout, Memory, Model
from advisor.sizing.activations import Batch, activation_bytes, batch_limits
from advisor.sizing.engines import Profile, profile_of
from advisor.sizing.formats import DEFAULT_FORMAT, KV_BYTES
from advisor.sizing.kv_cache import KvCost, kv_cost
from advisor.sizing.weights import weights_bytes
from advisor.units import GIB, shown


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """What does not depend on context and concurrency. Bytes per accelerator; pool_bytes is left for the KV cache.

    program_bytes: memory that programs see. reserve_bytes: all that is neither weights nor pool.
    """

    hbm_bytes: float
    program_bytes: float
    weights_bytes: float
    activation_bytes: float
    reserve_bytes: float
    pool_bytes: float
    cost: KvCost
    batch: Batch
    profile: Profile
    memory_fraction: float
    kv_precision: str


def pick_checkpoint(model: Model, precision: str = "") -> Checkpoint:
    """The model's checkpoint in a precision (empty: the one it is published in), or a usual recipe where none is known.

    Raises InputError for a precision that is not a weight format.
    """
    if not precision:
        return model.checkpoints[0]
    wanted = precision.strip().lower()
    for checkpoint in model.checkpoints:
        if wanted in (checkpoint.precision, checkpoint.format, checkpoint.hf_id.lower()):
            return checkpoint
    if wanted not in DEFAULT_FORMAT:
        raise InputError(f"no weight precision {shown(precision)}; use one of {', '.join(DEFAULT_FORMAT)}")
    return Checkpoint(
        precision=wanted, format=DEFAULT_FORMAT[wanted],
        note="no published checkpoint is known here; a usual recipe is assumed",
    )  # fmt: skip


def kv_precision_of(checkpoint: Checkpoint, asked: str = "") -> str:
    """KV precision in effect: the asked one, else the checkpoint's, else 16 bit (32 for 32-bit weights).

    Raises InputError for an unknown one.
    """
    wanted = asked.strip().lower()
    if wanted in ("", "auto"):
        return checkpoint.kv_precision or ("fp32" if checkpoint.precision == "fp32" else "bf16")
    if wanted not in KV_BYTES:
        raise InputError(f"no KV precision {shown(asked)}; use one of {', '.join(KV_BYTES)}")
    return wanted


def footprint(
    kb: KnowledgeBase,
    model: Model,
    checkpoint: Checkpoint,
    accelerator: Accelerator,
    layout: Layout,
    *,
    kv_precision: str = "",
    engine: str = "",
    engine_version: str = "",
    memory_fraction: float | None = None,
    max_num_seqs: int | None = None,
    max_num_batched_tokens: int | None = None,
    context_parallel: int = 1,
    speculative: bool = False,
    overrides: Mapping[str, float] | None = None,
    context_tokens: float = 0.0,
) -> Footprint:
    """What concurrency does not change; remembered per knowledge base.

    context_tokens matters only for engine versions that prefill a prompt in one step.
    """
    profile = profile_of(kb, engine, engine_version, overrides)
    if not profile["whole_prefill_tokens"]:
        context_tokens = 0.0
    key = (
        "footprint", id(model), checkpoint, accelerator.id, id(accelerator), layout.tp, layout.pp, layout.ep, layout.dp,
        kv_precision, engine, engine_version, memory_fraction, max_num_seqs, max_num_batched_tokens, context_parallel,
        speculative, context_tokens, tuple(sorted(overrides.items())) if overrides else (),
    )  # fmt: skip

    def made() -> tuple[Footprint, Model, Accelerator]:
        hbm = accelerator.hbm_visible_bytes.number
        nvidia = accelerator.vendor == "nvidia"
        program = hbm - (profile["driver_gib"] * GIB if nvidia else 0.0)
        if (seen := accelerator.facts.get("torch_total_gib")) is not None:
            program = seen.number * GIB
        batch = batch_limits(
            profile,
            accelerator,
            sequences=max_num_seqs,
            step_tokens=max_num_batched_tokens,
            context_tokens=context_tokens,
        )
        precision = kv_precision_of(checkpoint, kv_precision)
        padding = profile["rocm_row_padding_bytes"] if accelerator.vendor == "amd" else 0.0
        shared = (
            "rank",
            id(model),
            checkpoint,
            *key[5:9],
            precision,
            *key[10:12],
            context_parallel,
            speculative,
            padding,
            key[-1],
        )
        weights, cost, _ = kb.recent.of(
            shared,  # the same on every accelerator
            lambda: (
                weights_bytes(
                    model, checkpoint, layout, profile.terms, speculative=speculative, row_padding_bytes=padding
                ),
                kv_cost(
                    model.architecture, precision, tp=layout.tp, pp=layout.pp, terms=profile.terms, context_parallel=context_parallel
                ),
                model,
            ),
        )  # fmt: skip
        activation = activation_bytes(model.architecture, layout, profile, batch)
        runtime = profile["runtime_gib"] * GIB
        if layout.tp * layout.dp > 1:
            runtime += profile["communication_gib"] * GIB
        fraction = memory_fraction
        if fraction is None:
            fraction = _default_fraction(profile, hbm, layout, batch)
        pool = _pool(profile, fraction, program, weights, activation, runtime)
        result = Footprint(
            hbm_bytes=hbm, program_bytes=program, weights_bytes=weights, activation_bytes=activation, pool_bytes=pool,
            reserve_bytes=hbm - weights - pool, batch=batch, profile=profile, memory_fraction=fraction,
            kv_precision=precision, cost=cost,
        )  # fmt: skip
        return result, model, accelerator

    return kb.recent.of(key, made)[0]


def fit(
    kb: KnowledgeBase,
    model: Model,
    checkpoint: Checkpoint,
    accelerator: Accelerator,
    layout: Layout,
    *,
    context_tokens: float,
    sequences: float,
    kv_precision: str = "",
    engine: str = "vllm",
    memory_fraction: float | None = None,
    engine_version: str = "",
    max_num_seqs: int | None = None,
    max_num_batched_tokens: int | None = None,
    context_parallel: int = 1,
    speculative: bool = False,
    overrides: Mapping[str, float] | None = None,
) -> Memory:
    """Memory of one replica under a load of `sequences` concurrent sequences of `context_tokens` each.

    sequences 0 asks only whether weights and reserves fit and what capacity is left. It fits when headroom_bytes >= 0.
    """
    base = footprint(
        kb, model, checkpoint, accelerator, layout, kv_precision=kv_precision, engine=engine,
        engine_version=engine_version, memory_fraction=memory_fraction, max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_batched_tokens, context_parallel=context_parallel, speculative=speculative,
        overrides=overrides, context_tokens=context_tokens,
    )  # fmt: skip
    return load(base, layout, context_tokens=context_tokens, sequences=sequences)


def load(base: Footprint, layout: Layout, *, context_tokens: float, sequences: float) -> Memory:
    """Put a load on a footprint: `sequences` per replica, spread over its data-parallel ranks."""
    cost, pool = base.cost, base.pool_bytes
    one = cost.sequence_bytes(context_tokens, base.batch.step_tokens)
    needed = one * math.ceil(sequences / layout.dp)
    room = max(0.0, pool)
    if cost.bytes_per_token:
        blocks = math.floor(room / (cost.bytes_per_token * cost.block_tokens))
        capacity = float(blocks * cost.block_tokens * layout.dp)
    else:
        capacity = math.inf if room else 0.0
    per_token = cost.bytes_per_token
    if cost.by_concurrency and one:
        capacity = float(math.floor(room / one * context_tokens)) * layout.dp
        per_token = one / context_tokens if context_tokens else per_token
    most = math.floor(room / one) * layout.dp if one else 0
    headroom = pool - needed
    if headroom < 0 or pool <= 0:
        limiting = "weights" if pool <= 0 else "kv_cache"
    else:
        limiting = "max_num_seqs" if most > base.batch.sequences * layout.dp else "kv_cache"
    return Memory(
        hbm_bytes=base.hbm_bytes, weights_bytes=base.weights_bytes, kv_bytes_per_token=per_token,
        kv_bytes_needed=needed, kv_capacity_tokens=capacity, max_sequences=most, reserve_bytes=base.reserve_bytes,
        activation_bytes=base.activation_bytes, state_bytes_per_sequence=cost.state_bytes, headroom_bytes=headroom,
        limiting=limiting,
    )  # fmt: skip


def _default_fraction(profile: Profile, hbm_bytes: float, layout: Layout, batch: Batch) -> float:
    """The engine's fraction when none is given: a constant, or what its own reserve leaves of the accelerator."""
    if not profile["auto_reserve_gib"] or not hbm_bytes:
        return profile.memory_fraction
    reserve = (
        profile["auto_reserve_gib"]
        + profile["auto_reserve_gib_per_1024_step_tokens"] * batch.step_tokens / 1024
    )
    reserve += profile["auto_reserve_gib_per_8_ranks"] * layout.tp * layout.pp / 8
    if hbm_bytes > 60 * GIB:
        reserve = max(reserve, profile["auto_reserve_floor_gib"])
    return max(0.0, round(1 - reserve * GIB / hbm_bytes, 3))


def _pool(
    profile: Profile, fraction: float, program: float, weights: float, activation: float, runtime: float
) -> float:
    """Bytes left for the KV cache by the engine's own meaning of its fraction."""
    graphs = profile["cuda_graph_gib"] * GIB
    if profile.fraction_of == "static":
        return (program - runtime) * fraction - weights
    if profile.fraction_of == "free":
        return (program - runtime - activation - weights - graphs) * fraction
    taken = graphs if profile["graphs_in_budget"] else 0.0
    return program * fraction - weights - activation - runtime - taken
