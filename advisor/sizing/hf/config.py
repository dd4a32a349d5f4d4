"""A model record from a Hugging Face config.json: nothing is guessed; what was not understood is named."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advisor.errors import InputError
from advisor.records import Architecture, Cell, FeedForwardGroup, FeedForwardKind, Model
from advisor.sizing.hf.attention import attention_groups
from advisor.sizing.hf.families import ARCHITECTURES, FAMILIES, Family, family_of
from advisor.sizing.hf.fields import TEXT_BLOCKS, Fields
from advisor.sizing.hf.quantization import checkpoint_from_config
from advisor.sizing.hf.vision import vision_parameters
from advisor.sizing.tensors import count_parameters
from advisor.units import shown
from advisor.visible import one_line

MAX_CONFIG_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class HfReading:
    """The model, and one line for everything in the config that was left unread or assumed.

    doubt: why the counted size cannot be right, or empty; it is among the notes too.
    """

    model: Model
    notes: tuple[str, ...]
    doubt: str = ""


def load_config_file(path: Path) -> Mapping[str, Any]:
    """Read a config.json. Raises InputError that names the file, and line and column of broken JSON."""
    if not path.is_file():
        raise InputError(f"{shown(str(path), 200)} is not a file; give the config.json of a model")
    try:
        with path.open("rb") as handle:
            raw = handle.read(MAX_CONFIG_BYTES + 1)
    except OSError as error:
        raise InputError(
            f"{shown(str(path), 200)}: {error.strerror}; give a file that can be read"
        ) from error
    if len(raw) > MAX_CONFIG_BYTES:
        raise InputError(
            f"{shown(str(path), 200)} is larger than {MAX_CONFIG_BYTES:,} bytes; give the config.json of a model"
        )
    try:
        data = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{shown(str(path), 200)}: byte {error.start} is not UTF-8; save it as UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"{shown(str(path), 200)}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}"
        ) from error
    except ValueError as error:  # a whole number of thousands of digits
        raise InputError(f"{shown(str(path), 200)}: {' '.join(str(error).split())[:120]}") from error
    except RecursionError as error:
        raise InputError(f"{shown(str(path), 200)}: nested too deeply for a config.json") from error
    if not isinstance(data, dict):
        raise InputError(f"{shown(str(path), 200)}: holds no JSON object; give the config.json of a model")
    return data


def read_config(data: Mapping[str, Any], *, name: str = "") -> HfReading:
    """The model that a config describes. `name`: hub id or file name, for titles and ids.

    Raises InputError for a missing or impossible field, and for an architecture that is not known: the text names it and
    the fields that could not be read.
    """
    try:
        return _read(data, one_line(name)[:300])
    except InputError:
        raise
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError, RecursionError) as error:
        detail = " ".join(str(error).split())[:120]
        raise InputError(f"config: a field holds a value of the wrong kind: {detail}") from error


def _read(data: Mapping[str, Any], name: str) -> HfReading:
    text = _text_block(data)
    fields = Fields(text, parents=() if text is data else (data,))
    model_type = _model_type(data, text)
    family = family_of(model_type)
    if family is None:
        raise InputError(_unknown(model_type, text))
    fields.left_out = family.left_out
    architecture = _architecture(data, fields, model_type, family)
    checkpoint = checkpoint_from_config(data, architecture)
    counts = count_parameters(architecture)
    doubt = _size_doubt(name, counts.total)
    limit = Cell(value=_context_limit(fields), trust="unverified", locator="max_position_embeddings")
    notes = list(checkpoint.notes)
    if fields.assumed:
        values = ", ".join(f"{field} {value}" for field, value in sorted(fields.assumed.items()))
        notes.append(f"left out of the config, as {model_type}'s configuration class fills it in: {values}")
    if unread := fields.unread():
        notes.append(f"fields of {model_type} that were not read: {', '.join(unread)}")
    if any(group.kind == "moe" and not group.experts_per_token for group in architecture.feed_forward):
        notes.append("experts per token are not stated; active parameters are counted without routed experts")
    if doubt:
        notes.append(doubt)
    model = Model(
        id=f"models/{_slug(name)}", title=name.rpartition("/")[2] or model_type, hf_id=name if "/" in name else "",
        family=model_type,
        parameters_total=Cell(value=counts.total, trust="derived", note="counted from config.json"),
        parameters_active=Cell(value=counts.active, trust="derived", note="counted from config.json"),
        context_limit=limit,
        architecture=architecture, checkpoints=(checkpoint.checkpoint,),
    )  # fmt: skip
    return HfReading(model=model, notes=tuple(notes), doubt=doubt)


def _context_limit(fields: Fields) -> int:
    """The longest sequence. Raises InputError when none is stated: without it no load can be judged."""
    limit = fields.number("context")
    if limit < 1:
        raise InputError(f"config: max_position_embeddings is {limit}; write the longest sequence in tokens")
    return limit


def _slug(name: str) -> str:
    """The last part of a name as the last part of an id."""
    lowered = name.rpartition("/")[2].lower()
    folded = "".join(c if c in "abcdefghijklmnopqrstuvwxyz0123456789." else "-" for c in lowered)
    return folded.strip("-.") or "model"


def _size_doubt(name: str, total: int) -> str:
    """A line when the size in the model's name and the counted size cannot both be right."""
    sizes = [
        float(found) for found in re.findall(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])", name)
    ]
    if not sizes or re.search(r"\d+x\d|\d+E\b", name):
        return ""
    if any(0.75 <= total / (size * 1e9) <= 1.34 for size in sizes):
        return ""
    return f"the name says {sizes[0]:g}B parameters, the config counts {total / 1e9:.1f}B: a field is missing or misread"


def _text_block(data: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in TEXT_BLOCKS:
        block = data.get(key)
        if isinstance(block, Mapping) and block:
            return _text_block(block)
    return data


def _model_type(data: Mapping[str, Any], text: Mapping[str, Any]) -> str:
    candidates = [text.get("model_type"), data.get("model_type")]
    classes = [*(text.get("architectures") or ()), *(data.get("architectures") or ())]
    candidates += [ARCHITECTURES.get(str(name)) for name in classes]
    named = [str(candidate) for candidate in candidates if candidate]
    if not named:
        if classes:
            return str(classes[0])
        raise InputError(
            "config: model_type and architectures are both missing; the layers cannot be told without them"
        )
    return next((candidate for candidate in named if family_of(candidate)), named[0])


def _unknown(model_type: str, text: Mapping[str, Any]) -> str:
    from rapidfuzz import process

    near = [hit[0] for hit in process.extract(model_type.lower(), list(FAMILIES), limit=3, score_cutoff=60)]
    probe = Fields(text)
    for key in list(text):
        if any(key in names for names in _readable()):
            probe.read.add(key)
    unread = ", ".join(probe.unread()) or "none besides the architecture itself"
    hint = f"; nearest known: {', '.join(near)}" if near else ""
    return f"config: architecture {shown(model_type)} is not known, so its layers are not sized{hint}; fields not read: {unread}"


def _readable() -> list[tuple[str, ...]]:
    from advisor.sizing.hf.fields import SPELLINGS

    return list(SPELLINGS.values())


def _architecture(data: Mapping[str, Any], fields: Fields, model_type: str, family: Family) -> Architecture:
    layers, hidden = fields.number("layers"), fields.number("hidden")
    if not 1 <= layers <= 2000 or not 1 <= hidden <= 1_000_000:
        raise InputError(f"config: {layers} layers of width {hidden} cannot be a model")
    attention = attention_groups(fields, family, hidden, layers)
    first = next(
        (group for group in attention if group.heads and group.kind not in ("linear", "mamba")), None
    )
    rotated = 0
    if first is not None and not family.learned_positions:
        share = _partial_rotary(fields, family)
        rotated = first.rope_head_dim or int(first.head_dim * share)
    positions = fields.number("context", 0)
    vision = data.get("vision_config")
    return Architecture(
        type=model_type, hidden=hidden, vocabulary=fields.number("vocabulary"),
        tied_embeddings=fields.flag("tie_word_embeddings", family.tied), attention=attention,
        feed_forward=_feed_forward(fields, family, layers), rope_dim=rotated,
        rope_positions=_rope_positions(fields, positions) if rotated else 0, learned_positions=positions if family.learned_positions else 0,
        mtp_layers=fields.number("mtp_layers", 0),
        vision_parameters=vision_parameters(vision, hidden) if isinstance(vision, Mapping) else 0,
    )  # fmt: skip


def _rope_positions(fields: Fields, positions: int) -> int:
    """Rows of the rotary tables: engines build them for the scaled length, one table per base frequency."""
    scaling = fields.mapping("rope_scaling") or fields.mapping("rope_parameters")
    kind, factor = scaling.get("rope_type") or scaling.get("type"), scaling.get("factor")
    rows = positions
    if kind in ("linear", "dynamic") and isinstance(factor, (int, float)) and 1 <= factor <= 1000:
        rows = int(positions * factor)
    original = scaling.get("original_max_position_embeddings")
    if (
        kind == "yarn"
        and isinstance(original, int)
        and isinstance(factor, (int, float))
        and 1 <= factor <= 1000
    ):
        rows = int(original * factor)
    return rows + (positions if fields.raw("rope_local_base_freq") else 0)


def _partial_rotary(fields: Fields, family: Family) -> float:
    value = fields.raw("partial_rotary_factor", "rotary_pct")
    nested = fields.mapping("rope_parameters").get("partial_rotary_factor")
    for candidate in (value, nested):
        if isinstance(candidate, (int, float)) and 0 < candidate <= 1:
            return float(candidate)
    return family.partial_rotary


def _feed_forward(fields: Fields, family: Family, layers: int) -> tuple[FeedForwardGroup, ...]:
    experts = fields.number("experts", 0)
    kinds = _feed_forward_kinds(fields, layers, experts)
    groups: list[FeedForwardGroup] = []
    matrices = 2 if fields.raw("mlp_hidden_act") == "relu2" else family.matrices
    for kind in dict.fromkeys(kinds):
        count = kinds.count(kind)
        if kind == "none":
            groups.append(FeedForwardGroup(layers=count, kind="none"))
        elif kind == "dense":
            width = fields.number("intermediate_size_mlp", 0) or fields.number("intermediate", 0)
            if family.shared_mlp:
                width = fields.number("shared_intermediate", width)
            if not width:
                width = 4 * fields.number("hidden")
            groups.append(FeedForwardGroup(layers=count, intermediate=width, matrices=matrices))
        else:
            groups.append(_experts(fields, family, count, experts, matrices))
    return tuple(groups)


def _experts(fields: Fields, family: Family, count: int, experts: int, matrices: int) -> FeedForwardGroup:
    per_expert = fields.number("expert_intermediate", 0) or fields.number("intermediate")
    shared = fields.number("shared_experts", 0)
    shared_width = fields.number("shared_intermediate", 0)
    if shared and not shared_width:
        shared_width = shared * per_expert
    if family.chunked:  # Llama 4: one shared expert as wide as a routed one
        shared, shared_width = 1, per_expert
    if family.parallel_mlp:
        shared_width = fields.number("intermediate", 0)
    return FeedForwardGroup(
        layers=count, kind="moe", intermediate=per_expert, experts=experts, matrices=matrices,
        experts_per_token=fields.number("experts_per_token", 0), shared_experts=shared or (1 if shared_width else 0),
        shared_intermediate=shared_width, latent_size=fields.number("moe_latent_size", 0),
    )  # fmt: skip


def _feed_forward_kinds(fields: Fields, layers: int, experts: int) -> list[FeedForwardKind]:
    """What follows attention in each layer."""
    pattern = fields.raw("hybrid_override_pattern")
    if isinstance(pattern, str):
        words: dict[str, FeedForwardKind] = {"E": "moe", "-": "dense"}
        return [words.get(letter, "none") for letter in pattern[:layers]]
    if not experts:
        return ["dense"] * layers
    frequency = fields.raw("moe_layer_freq", "moe_layers")
    if isinstance(frequency, list):
        if len(frequency) == layers and set(frequency) <= {0, 1}:
            return ["moe" if flag else "dense" for flag in frequency]
        return ["moe" if index in frequency else "dense" for index in range(layers)]
    first = fields.number("first_k_dense_replace", 0) or fields.number("num_dense_layers", 0)
    step = fields.number("decoder_sparse_step", 0) or fields.number("interleave_moe_layer_step", 0)
    step = step or fields.number("expert_layer_period", 0) or fields.number("moe_layer_interval", 0)
    step = step or (frequency if isinstance(frequency, int) and frequency else 1)
    start = fields.number("moe_layer_start_index", 0)
    offset = fields.number("expert_layer_offset", step - 1)
    dense = set(fields.listing("mlp_only_layers") or ())
    kinds: list[FeedForwardKind] = []
    for index in range(layers):
        routed = index >= max(first, start) and index not in dense and index % step == offset % step
        kinds.append("moe" if routed else "dense")
    return kinds
