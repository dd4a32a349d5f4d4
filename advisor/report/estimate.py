"""One explicit deployment as JSON and as text. GiB is binary and GB decimal; both are shown where a label says the other."""

from __future__ import annotations

import math
from typing import Any

from advisor.records import Estimate
from advisor.sizing.changes import capacity, shortfall
from advisor.sizing.estimate import DeploymentEstimate
from advisor.sizing.formats import DEFAULT_FORMAT
from advisor.units import GIB, format_bytes, format_count, format_ms, format_tokens


def estimate_data(answer: DeploymentEstimate, *, line_id: Any = None) -> dict[str, Any]:
    """Plain data: bytes per accelerator, except kv_capacity_tokens and max_sequences, which are per replica."""
    memory, base, layout, chip = answer.memory, answer.footprint, answer.layout, answer.accelerator
    sized = chip is not None
    plain: dict[str, Any] = {} if line_id is None else {"id": line_id}
    plain |= {
        "model": answer.model.id, "model_title": answer.model.title,
        "precision": answer.checkpoint.precision,
        "format": answer.checkpoint.format or DEFAULT_FORMAT[answer.checkpoint.precision],
        "checkpoint": answer.checkpoint.hf_id or None, "kv_precision": base.kv_precision,
        "accelerator": chip.id if chip else None, "accelerator_title": chip.title if chip else None,
        "layout": {"tp": layout.tp, "pp": layout.pp, "ep": layout.ep, "dp": layout.dp, "accelerators": layout.accelerators},
        "engine": base.profile.engine, "memory_fraction": base.memory_fraction, "fraction_of": base.profile.fraction_of,
        "context_tokens": answer.context_tokens, "concurrency": answer.concurrency,
        "weights_bytes": round(memory.weights_bytes), "kv_bytes_per_token": memory.kv_bytes_per_token,
        "kv_state_bytes_per_sequence": memory.state_bytes_per_sequence, "kv_bytes_needed": round(memory.kv_bytes_needed),
        "kv_padding_layers": base.cost.padding_layers, "activation_bytes": round(memory.activation_bytes),
        "max_num_seqs": base.batch.sequences, "max_num_batched_tokens": base.batch.step_tokens,
        "hbm_visible_bytes": round(memory.hbm_bytes) if sized else None,
        "hbm_marketed_gb": chip.hbm_marketed_gb.value if chip else None,
        "program_visible_bytes": round(base.program_bytes) if sized else None,
        "reserve_bytes": round(memory.reserve_bytes) if sized else None,
        "kv_pool_bytes": round(base.pool_bytes) if sized else None,
        "kv_capacity_tokens": round(memory.kv_capacity_tokens) if sized and math.isfinite(memory.kv_capacity_tokens) else None,
        "max_sequences": memory.max_sequences if sized else None,
        "max_concurrency": round(answer.max_concurrency, 3) if sized else None,
        "fits": answer.fits, "limiting": memory.limiting if sized else None,
        "headroom_bytes": round(memory.headroom_bytes) if sized else None, "changes": list(memory.changes),
        "ttft_ms": _predicted(answer.ttft_ms), "tpot_ms": _predicted(answer.tpot_ms),
        "output_tokens_per_second_per_accelerator": _predicted(answer.throughput_per_accelerator),
        "notes": list(answer.notes),
    }  # fmt: skip
    return plain


def _predicted(value: Estimate | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"value": value.value, "low": value.low, "high": value.high, "basis": value.basis}


def estimate_text(answer: DeploymentEstimate) -> str:
    """The same as lines for a terminal."""
    parts = [_heading(answer), _sizes(answer), _capacity(answer), _speed(answer)]
    parts.append([f"note: {note}" for note in answer.notes])
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _heading(answer: DeploymentEstimate) -> list[str]:
    base, layout, chip = answer.footprint, answer.layout, answer.accelerator
    stored = answer.checkpoint.format or answer.checkpoint.precision
    wide = [
        f"{name.upper()} {getattr(layout, name)}"
        for name in ("tp", "pp", "ep", "dp")
        if getattr(layout, name) > 1
    ]
    where = ", ".join([f"{layout.accelerators} x {chip.title if chip else 'accelerator'}", *wide])
    return [
        f"{answer.model.title}, weights {stored}, KV cache {base.kv_precision}",
        f"{where}; {base.profile.title}, {base.profile.flag} {base.memory_fraction:g}",
    ]


def _sizes(answer: DeploymentEstimate) -> list[str]:
    memory, base, chip = answer.memory, answer.footprint, answer.accelerator
    sizes: list[tuple[str, float, str]] = [("weights", memory.weights_bytes, "")]
    if chip is not None:
        sizes += [
            ("reserve", memory.reserve_bytes, _fraction_meaning(answer)),
            ("activations", memory.activation_bytes, "peak, inside the reserve"),
            ("KV pool", base.pool_bytes, ""),
            ("memory", memory.hbm_bytes, _memory_bases(answer)),
        ]
    return [
        "per accelerator",
        *(f"  {name:<12}{format_bytes(size):>12}   {text}".rstrip() for name, size, text in sizes),
    ]


def _memory_bases(answer: DeploymentEstimate) -> str:
    """The same memory on every basis that people quote."""
    assert answer.accelerator is not None
    label = answer.accelerator.hbm_marketed_gb.value
    visible = answer.memory.hbm_bytes
    return f"visible = {visible / 1e9:,.1f} GB, sold as {label} GB; programs see {answer.footprint.program_bytes / GIB:,.1f} GiB"


def _capacity(answer: DeploymentEstimate) -> list[str]:
    memory, base = answer.memory, answer.footprint
    per_token = f"KV cache per token and accelerator: {memory.kv_bytes_per_token:,.0f} bytes"
    if base.cost.padding_layers:
        per_token += f", {base.cost.padding_layers} layers of padding included"
    lines = [per_token]
    if memory.state_bytes_per_sequence:
        lines.append(f"state per sequence and accelerator: {format_bytes(memory.state_bytes_per_sequence)}")
    if answer.accelerator is None:
        return lines
    lines.append(f"a replica holds {capacity(memory, answer.context_tokens)}")
    return [*lines, "", _verdict(answer), *(f"  - {change}" for change in memory.changes)]


def _speed(answer: DeploymentEstimate) -> list[str]:
    rate = answer.throughput_per_accelerator
    if rate is None:
        return []
    times = (("first token", answer.ttft_ms), ("per output token", answer.tpot_ms))
    lines = [
        f"{name}: {format_ms(value.value)} ({format_ms(value.low)} to {format_ms(value.high)}, {value.basis})"
        for name, value in times
        if value is not None
    ]
    span = f"{format_count(rate.low)} to {format_count(rate.high)}, {rate.basis}"
    return [*lines, f"output: {format_count(rate.value)} tokens/s per accelerator ({span})"]


def _fraction_meaning(answer: DeploymentEstimate) -> str:
    meaning = {
        "total": "what the fraction leaves unused, libraries and activations",
        "static": "what the fraction leaves for activations, graphs and libraries",
        "free": "activations and libraries, and the share of free memory left alone",
    }
    return meaning[answer.footprint.profile.fraction_of]


def _verdict(answer: DeploymentEstimate) -> str:
    load = f"{answer.concurrency:,} sequence{'s' if answer.concurrency != 1 else ''} of {format_tokens(answer.context_tokens)} tokens"
    if answer.fits:
        return f"fits: {load} leave {format_bytes(answer.memory.headroom_bytes)} of the pool free"
    return f"does not fit: {shortfall(answer.memory)}; what would help:"
