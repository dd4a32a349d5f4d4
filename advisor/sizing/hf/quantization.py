"""The weight format of a config.json: quantization_config in its many dialects, and what it leaves in 16 bit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from advisor.records import Architecture, Checkpoint

_ROLE_PATTERNS: tuple[tuple[str, str], ...] = (
    (r"lm_head|^head$|output_layer", "head"),
    (r"embed", "embedding"),
    (r"vision|visual|mm_projector|multi_modal", "vision"),
    (r"mtp|nextn|eagle", "mtp"),
    (r"shared_expert", "shared_experts"),
    (r"indexer", "indexer"),
    (r"linear_attn|conv1d|in_proj|gated_delta", "linear_attention"),
    (r"mamba|mixer", "mamba"),
    (r"self_attn|attn|attention|[qkvo]_proj|kv_a_proj|kv_b_proj", "attention"),
    (r"router|mlp\.gate$|\bgate$|gate\.weight|block_sparse_moe\.gate", "router"),
    (r"experts", "experts"),
    (r"mlp|feed_forward|ffn", "mlp"),
)
_LAYER = re.compile(r"layers?[._](\d+)\.")


@dataclass(frozen=True, kw_only=True)
class CheckpointReading:
    """The checkpoint, and what was assumed about it."""

    checkpoint: Checkpoint
    notes: tuple[str, ...] = ()


def checkpoint_from_config(data: Mapping[str, Any], architecture: Architecture) -> CheckpointReading:
    """The format that a config's weights are stored in."""
    block = _first_mapping(data, "quantization_config", "compression_config")
    hf_quant = _first_mapping(data, "hf_quant_config")
    if not block and not hf_quant:
        dtype = str(data.get("torch_dtype") or data.get("dtype") or "bfloat16").lower()
        return CheckpointReading(
            checkpoint=Checkpoint(precision="fp32" if dtype.endswith("float32") else "bf16")
        )
    precision, storage, group = _storage({**hf_quant, **block})
    if not storage:
        method = str(block.get("quant_method") or hf_quant.get("quant_algo") or "unnamed")
        return CheckpointReading(
            checkpoint=Checkpoint(precision="bf16"),
            notes=(f"quantization {method[:40]!r} is not known; weights are counted in 16 bit",),
        )
    listed = _exceptions(block, hf_quant)
    kv = "fp8" if _kv_is_eight_bit(block, hf_quant) else ""
    notes: tuple[str, ...] = ()
    kept: tuple[str, ...]
    whole_layers = 0
    if isinstance(listed, list):
        kept, whole_layers = _kept(listed, architecture)
    else:
        kept, note = _kept_by_recipe(storage, architecture, listed)
        notes = (note,) if note else ()
    eight: tuple[str, ...] = ()
    if _is_mixed({**hf_quant, **block}):
        eight, note = _eight_bit_roles({**hf_quant, **block}, kept)
        kept = tuple(role for role in kept if role not in eight)
        notes += (note,) if note else ()
    return CheckpointReading(
        checkpoint=Checkpoint(
            precision=precision, format=storage, kept_16bit=kept, kept_8bit=eight, group_size=group, kv_precision=kv,
            layers_kept_16bit=whole_layers,
        ),
        notes=notes,
    )  # fmt: skip


def _is_mixed(block: Mapping[str, Any]) -> bool:
    return str(block.get("quant_algo")).upper() == "MIXED_PRECISION" and not block.get("moe_quant_algo")


def _eight_bit_roles(block: Mapping[str, Any], kept: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """(roles in 8 bit, note) of a recipe that mixes 4 and 8 bit: read from its list of layers, or the usual split."""
    listed = block.get("quantized_layers")
    if not isinstance(listed, Mapping):
        usual = tuple(role for role in ("attention", "linear_attention", "mamba", "head") if role not in kept)
        return (
            usual,
            "which layers are in 4 and which in 8 bit is not listed; feed-forward in 4, the rest in 8 is assumed",
        )
    votes: dict[str, int] = {}
    for name, layer in listed.items():
        algorithm = str(layer.get("quant_algo") if isinstance(layer, Mapping) else layer).upper()
        for pattern, role in _ROLE_PATTERNS:
            if re.search(pattern, str(name)):
                votes[role] = votes.get(role, 0) + (1 if algorithm.startswith("FP8") else -1)
                break
    return tuple(sorted(role for role, count in votes.items() if count > 0)), ""


def _first_mapping(data: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    levels = [data, *(value for value in data.values() if isinstance(value, Mapping))]
    for level in levels:
        for name in names:
            block = level.get(name)
            if isinstance(block, Mapping) and block:
                return block
    return {}


def _storage(block: Mapping[str, Any]) -> tuple[str, str, int]:
    """(precision, format, group size); an empty format when it is not known."""
    method = str(block.get("quant_method") or "").lower()
    algorithm = str(block.get("moe_quant_algo") or block.get("quant_algo") or "").upper()
    group = int(block.get("group_size") or 0)
    if algorithm in ("NVFP4", "MIXED_PRECISION") or "nvfp4" in str(block.get("format", "")):
        return "fp4", "nvfp4", group
    if method == "mxfp4" or "mxfp4" in str(block.get("format", "")):
        return "fp4", "mxfp4", group
    if algorithm.startswith("W4A16") or algorithm == "INT4_AWQ":
        return "int4", "awq", group
    if method in ("awq", "gptq"):
        bits = int(block.get("bits") or block.get("w_bit") or 4)
        return ("int4", method, max(group, 0)) if bits == 4 else ("int8", "w8a8", 0)
    if method in ("auto-round", "autoround", "intel/auto-round"):
        return "int4", "gptq", group
    if method == "bitsandbytes":
        return ("int4", "bnb4", 0) if block.get("load_in_4bit") else ("int8", "w8a8", 0)
    if method == "fbgemm_fp8" or algorithm == "FP8_PER_CHANNEL_PER_TOKEN":
        return "fp8", "fp8-channel", 0
    if method == "fp8" or algorithm.startswith("FP8"):
        return "fp8", "fp8-block" if block.get("weight_block_size") else "fp8", 0
    for weights in _weight_specs(block):
        bits, kind = int(weights.get("num_bits") or 0), str(weights.get("type") or "int")
        size = int(weights.get("group_size") or 0)
        if bits == 8:
            per_channel = weights.get("strategy") == "channel"
            return (
                ("fp8", "fp8-channel" if per_channel else "fp8", 0)
                if kind == "float"
                else ("int8", "w8a8", 0)
            )
        if bits == 4:
            return ("fp4", "nvfp4", size) if kind == "float" and size == 16 else ("int4", "int4", size)
    by_layout = {
        "float-quantized": ("fp8", "fp8-channel"),
        "int-quantized": ("int8", "w8a8"),
        "pack-quantized": ("int4", "int4"),
    }
    if (named := by_layout.get(str(block.get("format")))) is not None:
        return *named, group
    if method == "quark" and "fp8" in str(block).lower():
        return "fp8", "fp8", 0
    return "bf16", "", 0


def _weight_specs(block: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    groups = block.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        if isinstance(group, Mapping) and isinstance(group.get("weights"), Mapping):
            yield group["weights"]


def _exceptions(block: Mapping[str, Any], hf_quant: Mapping[str, Any]) -> list[str] | str | None:
    """Module names left alone: a list, the text of an omitted list, or None when the config has none."""
    for source in (block, hf_quant):
        for key in (
            "modules_to_not_convert",
            "ignore",
            "exclude_modules",
            "ignored_layers",
            "llm_int8_skip_modules",
        ):
            value = source.get(key)
            if isinstance(value, list):
                return [str(item) for item in value]
            if isinstance(value, str) and value:
                return value
    return None


def _kept(listed: list[str], architecture: Architecture) -> tuple[tuple[str, ...], int]:
    """(roles in 16 bit, whole layers in 16 bit) from a list of module names or patterns."""
    roles: dict[str, set[str]] = {}
    for name in listed:
        clean = name.removeprefix("re:").replace("\\", "").removesuffix("$")
        for pattern, role in _ROLE_PATTERNS:
            if re.search(pattern, clean):
                layer = _LAYER.search(clean)
                roles.setdefault(role, set()).add(layer.group(1) if layer else "all")
                break
    whole_layers = 0
    kept = {"embedding", "router", "vision", "mtp"}
    for role, layers in roles.items():
        if "all" in layers or len(layers) * 2 >= architecture.layers:
            kept.add(role)
        elif role in ("mlp", "experts"):
            whole_layers = max(whole_layers, len(layers))
    return tuple(sorted(kept)), whole_layers


def _kept_by_recipe(
    storage: str, architecture: Architecture, omitted: str | None
) -> tuple[tuple[str, ...], str]:
    """What a usual recipe leaves in 16 bit when the config does not list it."""
    latent = any(group.kind in ("mla", "compressed") for group in architecture.attention)
    kept = ["embedding", "head", "router", "vision", "mtp"]
    if storage in ("nvfp4", "mxfp4", "int4") and latent:
        kept += ["attention", "indexer"]
    if any(group.kind in ("linear", "mamba") for group in architecture.attention) and storage != "fp8-block":
        kept += ["linear_attention", "mamba"]
    note = (
        f"modules left in 16 bit are not listed in this copy ({omitted[:60]}); a usual recipe is assumed"
        if omitted
        else ""
    )
    return tuple(sorted(kept)), note


def _kv_is_eight_bit(block: Mapping[str, Any], hf_quant: Mapping[str, Any]) -> bool:
    for source in (block, hf_quant):
        if str(source.get("kv_cache_quant_algo") or "").upper() == "FP8":
            return True
        scheme = source.get("kv_cache_scheme")
        if str(scheme).upper() == "FP8" or (isinstance(scheme, Mapping) and scheme.get("num_bits") == 8):
            return True
    return False
