"""One explicit deployment, answered: memory always, speed where the performance model can tell."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from advisor.errors import InputError, RackfitError
from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Checkpoint, Estimate, Layout, Memory, Model, System
from advisor.sizing.changes import cheapest_changes
from advisor.sizing.hf.config import load_config_file, read_config
from advisor.sizing.layouts import layout_problem, smallest_fit
from advisor.sizing.memory import Footprint, footprint, load
from advisor.sizing.names import (
    NO_ACCELERATOR,
    NamedModel,
    checkpoint_in,
    format_in_name,
    parse_precision,
    resolve_accelerator,
    resolve_model,
)
from advisor.sizing.performance import Prefill, predict


@dataclass(frozen=True, kw_only=True)
class EstimateRequest:
    """What the flags of `rackfit estimate` say. Empty texts and None mean not said.

    context_tokens: of one sequence, prompt and answer together. concurrency: sequences at once in one replica. tp None with a
    system: the smallest layout of the system that holds the load. prefill_tp: prompts have a pool of their own; then the
    layout is a decode worker's, and concurrency is of the whole deployment, shared by the decode workers.
    """

    model: str = ""
    config: str | Mapping[str, Any] = ""
    precision: str = ""
    kv_precision: str = ""
    accelerator: str = ""
    hbm_gib: float | None = None
    system: str = ""
    tp: int | None = None
    pp: int = 1
    ep: int = 1
    dp: int = 1
    context_parallel: int = 1
    engine: str = ""
    engine_version: str = ""
    memory_fraction: float | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    context_tokens: int | None = None
    concurrency: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    prefill_tp: int | None = None
    prefill_pp: int = 1
    prefill_ep: int = 1
    prefill_dp: int = 1
    prefill_workers: int = 1
    decode_workers: int = 1
    speculative: bool = False
    engine_terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DeploymentEstimate:
    """The answer to one request. Speed is None when the load is not said or the accelerator's speed is not known.

    accelerator None: none was named, so weights and bytes per token are known and nothing that depends on its memory.
    """

    model: Model
    checkpoint: Checkpoint
    accelerator: Accelerator | None
    layout: Layout
    footprint: Footprint
    memory: Memory
    context_tokens: int
    concurrency: int
    max_concurrency: float
    ttft_ms: Estimate | None
    tpot_ms: Estimate | None
    throughput_per_accelerator: Estimate | None
    notes: tuple[str, ...]

    @property
    def fits(self) -> bool | None:
        """Whether the load fits; None when the accelerator is not known."""
        return self.memory.headroom_bytes >= 0 if self.accelerator is not None else None


def estimate(kb: KnowledgeBase, request: EstimateRequest) -> DeploymentEstimate:
    """Answer one request. Raises InputError or UnknownIdError, one line each, for what cannot be used."""
    notes: list[str] = []
    model, checkpoint = _model(kb, request, notes)
    accelerator = _accelerator(kb, request, notes)
    context = _context(request, model, notes)
    sequences = request.concurrency if request.concurrency is not None else 1
    if request.prefill_tp is not None:
        sequences = math.ceil(sequences / request.decode_workers)
    keywords = _footprint_keywords(request)
    asked = {**keywords, "context_tokens": context, "sequences": sequences}
    layout = _layout(kb, request, model, checkpoint, accelerator, asked)
    if layout.pp > model.architecture.layers:
        raise InputError(
            f"pp: {layout.pp} pipeline stages for {model.architecture.layers} layers; give at most that many"
        )
    if problem := layout_problem(model, layout):
        notes.append(f"engines may refuse this layout: {problem}")
    if request.engine.lower() == "sglang" and layout.dp > 1 and layout.tp % layout.dp == 0:
        notes.append(
            f"TP {layout.tp} and DP {layout.dp} are {layout.accelerators} accelerators here; SGLang's --tp counts all of a replica, "
            f"so its --tp {layout.tp} --dp {layout.dp} is TP {layout.tp // layout.dp} and DP {layout.dp}"
        )
    base = footprint(
        kb, model, checkpoint, accelerator or NO_ACCELERATOR, layout, context_tokens=context, **keywords
    )
    memory = load(base, layout, context_tokens=context, sequences=sequences)
    if accelerator is None:
        notes.append("no accelerator was named: only weights and bytes per token are known")
    elif memory.headroom_bytes < 0:
        memory = replace(memory, changes=cheapest_changes(kb, model, checkpoint, accelerator, layout, asked))
    if base.cost.state_bytes:
        notes.append(
            "layers with a state per sequence share the pool: sequences, not tokens, are what it holds"
        )
    one = base.cost.sequence_bytes(context, base.batch.step_tokens)
    speed = _speed(kb, request, model, checkpoint, accelerator, layout, sequences, notes)
    return DeploymentEstimate(
        model=model, checkpoint=checkpoint, accelerator=accelerator, layout=layout, footprint=base, memory=memory,
        context_tokens=context, concurrency=sequences, notes=tuple(dict.fromkeys(notes)),
        max_concurrency=max(0.0, base.pool_bytes) / one * layout.dp if one else 0.0,
        ttft_ms=speed[0], tpot_ms=speed[1], throughput_per_accelerator=speed[2],
    )  # fmt: skip


def _context(request: EstimateRequest, model: Model, notes: list[str]) -> int:
    """Length of one sequence: as said, else prompt and answer, else the model's limit as engines assume."""
    limit = int(model.context_limit.number)
    context = request.context_tokens
    if context is None and request.input_tokens and request.output_tokens:
        context = request.input_tokens + request.output_tokens
    if context is None:
        context = limit
        notes.append(
            f"no context was given: one sequence of the model's limit, {context:,} tokens, is asked for"
        )
    scaled = int(model.context_limit_scaled.number) if model.context_limit_scaled else 0
    if context > limit:
        reach = f"; with RoPE scaling switched on it reaches {scaled:,}" if scaled > limit else ""
        notes.append(
            f"{context:,} tokens are more than the {limit:,} that the model was published for{reach}"
        )
    return context


def _layout(
    kb: KnowledgeBase,
    request: EstimateRequest,
    model: Model,
    checkpoint: Checkpoint,
    accelerator: Accelerator | None,
    load_keywords: dict[str, Any],
) -> Layout:
    """The layout asked for, or the smallest of the system that holds the load when none is."""
    if (
        request.system
        and request.tp is None
        and request.pp == request.dp == request.ep == 1
        and accelerator is not None
    ):
        system = kb.find("systems", request.system)
        assert isinstance(system, System)
        return smallest_fit(kb, model, checkpoint, system, accelerator, **load_keywords).layout
    return Layout(tp=request.tp or 1, pp=request.pp, ep=request.ep, dp=request.dp)


def _footprint_keywords(request: EstimateRequest) -> dict[str, Any]:
    return {
        "kv_precision": request.kv_precision, "engine": request.engine, "engine_version": request.engine_version,
        "memory_fraction": request.memory_fraction, "max_num_seqs": request.max_num_seqs,
        "max_num_batched_tokens": request.max_num_batched_tokens, "context_parallel": request.context_parallel,
        "speculative": request.speculative, "overrides": request.engine_terms or None,
    }  # fmt: skip


def _model(kb: KnowledgeBase, request: EstimateRequest, notes: list[str]) -> tuple[Model, Checkpoint]:
    if not request.model and not request.config:
        raise InputError("no model: give --model with a name or hub id, or --config with its config.json")
    named: Checkpoint | None = None
    model: Model | None = None
    if request.config:
        model, named = _from_config(kb, request, notes)
    if model is None:
        found = resolve_model(kb, request.model)
        model, named = found.model, found.checkpoint
        if found.note:
            notes.append(found.note)
    checkpoint = named or model.checkpoints[0]
    if (wanted := parse_precision(request.precision)) is not None:
        if named is not None and named.precision != wanted[0] and wanted[0] == "bf16":
            notes.append(
                f"16 bit is taken as the type of activations: the checkpoint asked for is {named.precision}"
            )
        elif named is None or named.precision != wanted[0]:
            checkpoint = checkpoint_in(model, *wanted)
    if checkpoint.note.startswith("no published"):
        notes.append(f"{checkpoint.precision}: {checkpoint.note}")
    return model, checkpoint


def _from_config(
    kb: KnowledgeBase, request: EstimateRequest, notes: list[str]
) -> tuple[Model | None, Checkpoint | None]:
    """Model and checkpoint of the config; (None, …) where `model` names an entry that says the same and more."""
    config = request.config
    data = load_config_file(Path(config)) if isinstance(config, str) else config
    known: NamedModel | None = None
    if request.model:
        with contextlib.suppress(RackfitError):
            known = resolve_model(kb, request.model)
    try:
        reading = read_config(data, name=request.model or _config_name(config))
    except InputError as error:
        if known is None:
            raise
        notes.append(f"{error}; the entry of {known.model.title} is used instead")
        return None, None
    if known is not None and (reading.doubt or same_shapes(known.model, reading.model)):
        if reading.doubt:
            notes.append(f"{reading.doubt}; the entry of {known.model.title} is used instead")
        stored = reading.model.checkpoints[0]
        exact = known.checkpoint is not None and bool(known.checkpoint.hf_id)
        return known.model, known.checkpoint if exact or not stored.format else stored
    notes += reading.notes
    checkpoint = reading.model.checkpoints[0]
    named = format_in_name(request.model)
    if not checkpoint.format and named is not None and named[0] != "bf16":
        return reading.model, checkpoint_in(reading.model, *named)
    return reading.model, checkpoint if checkpoint.format else None


def same_shapes(one: Model, other: Model) -> bool:
    """Whether two models have the same language model, whatever is known about their vision towers."""
    a, b = one.architecture, other.architecture
    keys = [
        (
            arch.hidden,
            arch.vocabulary // 256,
            tuple((g.kind, g.layers, g.kv_heads, g.head_dim) for g in arch.attention),
        )
        for arch in (a, b)
    ]
    return keys[0] == keys[1] and [(g.experts, g.intermediate) for g in a.feed_forward] == [
        (g.experts, g.intermediate) for g in b.feed_forward
    ]


def _config_name(config: str | Mapping[str, Any]) -> str:
    if not isinstance(config, str):
        return str(config.get("_name_or_path") or "")
    path = Path(config)
    return path.resolve().parent.name if path.stem == "config" else path.stem


def _accelerator(kb: KnowledgeBase, request: EstimateRequest, notes: list[str]) -> Accelerator | None:
    name = request.accelerator
    if not name and request.system:
        system = kb.find("systems", request.system)
        assert isinstance(system, System)
        name = system.accelerator
    if request.hbm_gib is None and (not name or name.lower().startswith("cpu")):
        return None
    accelerator, note = resolve_accelerator(
        kb, name or f"{request.hbm_gib:g} GiB accelerator", request.hbm_gib
    )
    if note:
        notes.append(note)
    return accelerator


def _speed(
    kb: KnowledgeBase,
    request: EstimateRequest,
    model: Model,
    checkpoint: Checkpoint,
    accelerator: Accelerator | None,
    layout: Layout,
    sequences: int,
    notes: list[str],
) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
    """(TTFT, TPOT, rate) when input and output lengths are said and the accelerator has an entry."""
    known = accelerator is not None and accelerator.id in kb.accelerators
    if accelerator is None or not known or not request.input_tokens or not request.output_tokens:
        return None, None, None
    system = kb.find("systems", request.system) if request.system else None
    assert system is None or isinstance(system, System)
    try:
        point = predict(
            kb, model, checkpoint, system, accelerator, layout, batch_per_replica=max(1, sequences),
            input_tokens=request.input_tokens, output_tokens=request.output_tokens, kv_precision=request.kv_precision,
            engine=request.engine, prefill=_prefill(request),
        )  # fmt: skip
    except (RackfitError, KeyError, ValueError, ZeroDivisionError) as error:
        notes.append(f"speed is not predicted: {error}")
        return None, None, None
    return point.ttft_ms, point.tpot_ms, point.throughput_per_accelerator


def _prefill(request: EstimateRequest) -> Prefill | None:
    """The pool for prompts, when the request names one."""
    if request.prefill_tp is None:
        return None
    return Prefill(
        layout=Layout(
            tp=request.prefill_tp, pp=request.prefill_pp, ep=request.prefill_ep, dp=request.prefill_dp
        ),
        workers=request.prefill_workers,
        decode_workers=request.decode_workers,
    )
