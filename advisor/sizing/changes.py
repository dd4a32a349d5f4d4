"""What would make a deployment fit: the cheapest changes, each tried by computing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from advisor.knowledge import KnowledgeBase
from advisor.records import Accelerator, Checkpoint, Layout, Memory, Model
from advisor.sizing.formats import FORMATS, KV_BYTES
from advisor.sizing.kv_cache import has_growing_cache
from advisor.sizing.layouts import layout_problem
from advisor.sizing.memory import fit, kv_precision_of, pick_checkpoint
from advisor.sizing.weights import format_of
from advisor.units import format_bytes, format_count, format_tokens

_WIDEST = 64


def shortfall(memory: Memory) -> str:
    """One sentence on what is missing, for a memory that does not fit."""
    short = format_bytes(-memory.headroom_bytes)
    if memory.limiting == "weights":
        over = format_bytes(-(memory.headroom_bytes + memory.kv_bytes_needed))
        load = f", {short} with the KV cache of this load" if memory.kv_bytes_needed else ""
        return f"weights and reserves exceed what the engine may use by {over} per accelerator{load}"
    return f"the KV cache of this load is {short} per accelerator larger than the pool"


def capacity(memory: Memory, context_tokens: float) -> str:
    """What a replica holds, in tokens as engines log it and in sequences of a context.

    Layers with a window, or that keep a state, hold less of a long sequence than of a short one, so more sequences may fit than the tokens say.
    """
    count = memory.max_sequences
    sequences = f"{count:,} sequence{'' if count == 1 else 's'} of {format_tokens(context_tokens)}"
    tokens = f"{format_count(memory.kv_capacity_tokens)} tokens"
    if count * context_tokens > memory.kv_capacity_tokens * 1.01:
        return f"{tokens} of short sequences, or {sequences}, of which some layers keep only a part"
    return f"{tokens}, {sequences}"


def cheapest_changes(
    kb: KnowledgeBase,
    model: Model,
    checkpoint: Checkpoint,
    accelerator: Accelerator,
    layout: Layout,
    load: Mapping[str, Any],
    *,
    widest: int = _WIDEST,
) -> tuple[str, ...]:
    """Single changes that make it fit, in the order of what they cost; combined with an 8-bit cache where needed.

    `load` holds the keywords of `memory.fit`; `widest` is the most accelerators a replica may take. Empty when it fits already; one line saying so when nothing small helps.
    """

    def tried(**changed: Any) -> Memory:
        own = {"checkpoint": checkpoint, "layout": layout, **load, **changed}
        return fit(kb, model, own.pop("checkpoint"), accelerator, own.pop("layout"), **own)

    if tried().headroom_bytes >= 0:
        return ()
    found: list[str] = []
    small_cache = _small_cache(model, checkpoint, load)
    if small_cache and tried(**small_cache).headroom_bytes >= 0:
        found.append("KV cache in 8 bit")
    found += _fewer_sequences(tried, load)
    found += _shorter_context(tried, load)
    found += _narrower_weights(tried, model, checkpoint, load, small_cache)
    found += _spread_attention(tried, model, layout)
    found += _wider(tried, model, layout, widest)
    return tuple(found) or (f"no single change up to {widest} accelerators a replica makes it fit",)


def _small_cache(model: Model, checkpoint: Checkpoint, load: Mapping[str, Any]) -> dict[str, str]:
    current = kv_precision_of(checkpoint, str(load.get("kv_precision") or ""))
    return {"kv_precision": "fp8"} if KV_BYTES[current] > 1 and has_growing_cache(model.architecture) else {}


def _fewer_sequences(tried: Callable[..., Memory], load: Mapping[str, Any]) -> list[str]:
    most = tried(sequences=0).max_sequences
    return (
        [f"at most {most:,} concurrent sequences instead of {load['sequences']:,g}"]
        if 0 < most < load["sequences"]
        else []
    )


def _shorter_context(tried: Callable[..., Memory], load: Mapping[str, Any]) -> list[str]:
    """The longest context, in steps of 1,024 tokens, that the load has room for."""
    high = int(load["context_tokens"]) // 1024
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if tried(context_tokens=middle * 1024).headroom_bytes >= 0:
            low = middle
        else:
            high = middle - 1
    return (
        [f"context of {format_tokens(low * 1024)} instead of {format_tokens(load['context_tokens'])} tokens"]
        if low
        else []
    )


def _narrower_weights(
    tried: Callable[..., Memory],
    model: Model,
    checkpoint: Checkpoint,
    load: Mapping[str, Any],
    small_cache: Mapping[str, str],
) -> list[str]:
    """The widest weight precision below the current one that fits, alone or with an 8-bit cache."""
    bits = format_of(checkpoint).bits
    asked = str(load.get("kv_precision") or "")
    for precision in ("fp8", "fp4"):
        if FORMATS[precision if precision == "fp8" else "nvfp4"].bits >= bits:
            continue
        other = pick_checkpoint(model, precision)
        for extra in ({}, small_cache) if small_cache else ({},):
            if tried(checkpoint=other, **extra).headroom_bytes >= 0:
                own = small_cache and not extra and KV_BYTES[kv_precision_of(other, asked)] <= 1
                return [f"weights in {precision}{' and KV cache in 8 bit' if extra or own else ''}"]
    return []


def _spread_attention(tried: Callable[..., Memory], model: Model, layout: Layout) -> list[str]:
    """The same accelerators with whole requests per rank: each keeps its own cache instead of a copy of everybody's."""
    copies = any(
        layout.tp > max(1, group.kv_heads) for group in model.architecture.attention if group.kind != "none"
    )
    experts = max((group.experts for group in model.architecture.feed_forward), default=0)
    width = layout.tp * layout.dp
    if not copies or not experts or layout.tp == 1 or width > experts:
        return []
    spread = replace(layout, tp=1, dp=width, ep=width)
    if tried(layout=spread).headroom_bytes < 0:
        return []
    return [
        f"attention data parallelism {width} with expert parallelism {width} instead of TP {layout.tp} (the same accelerators)"
    ]


def _wider(tried: Callable[..., Memory], model: Model, layout: Layout, widest: int) -> list[str]:
    """The next width that fits: tensor parallelism, or attention data parallelism where that is how it is spread."""
    dimension = "dp" if layout.dp > 1 else "tp"
    width = getattr(layout, dimension) * 2
    while width * layout.accelerators // getattr(layout, dimension) <= widest:
        wide = replace(
            layout,
            **{dimension: width},
            ep=layout.ep * width // getattr(layout, dimension) if layout.ep > 1 else 1,
        )
        if not layout_problem(model, wide) and tried(layout=wide).headroom_bytes >= 0:
            return [
                f"{dimension.upper()} {width} instead of {getattr(layout, dimension)} ({wide.accelerators} accelerators a replica)"
            ]
        width *= 2
    return []
