"""Attention of a config.json: which layers attend how, in every spelling that published models use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from advisor.errors import InputError
from advisor.records import AttentionGroup, AttentionKind
from advisor.sizing.hf.families import Family
from advisor.sizing.hf.fields import Fields

_LAYER_WORDS: dict[str, AttentionKind] = {
    "full_attention": "full", "attention": "full", "full": "full", "global": "full", "global_attention": "full",
    "sliding_attention": "sliding", "sliding": "sliding", "local": "sliding", "local_attention": "sliding",
    "sliding_window": "sliding", "chunked_attention": "chunked", "linear_attention": "linear", "lightning": "linear",
    "linear": "linear", "kda": "linear", "gated_deltanet": "linear", "mamba": "mamba", "mamba2": "mamba",
    "deepseek_sparse_attention": "mla", "mla": "mla", "m": "mamba", "*": "full", "-": "none", "e": "none",
    "mlp": "none", "moe": "none", "f": "full", "l": "sliding", "g": "full", "minimax_sparse": "full",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Heads:
    """Head counts of ordinary attention, as the config states them."""

    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int


def layer_kinds(fields: Fields, family: Family, layers: int) -> tuple[AttentionKind, ...]:
    """The attention kind of each layer, in order. Raises InputError for a list of the wrong length or an unknown word."""
    base: AttentionKind = "mla" if fields.raw("kv_lora_rank") else "full"
    for reader in (_listed, _flagged, _every_so_many, _indexed):
        if (kinds := reader(fields, layers, base)) is not None:
            return tuple(kinds)
    if family.mamba or family.linear:
        raise InputError(
            "config: which layers attend is missing (layer_types, hybrid_override_pattern, linear_attn_config or "
            "similar); most layers of this architecture do not"
        )
    if family.chunked and fields.number("chunk", 0):
        skipped = fields.listing("no_rope_layers")
        if not skipped or len(skipped) != layers:  # Llama 4: every fourth layer sees everything
            skipped = [int((index + 1) % 4 != 0) for index in range(layers)]
        local: list[AttentionKind] = ["chunked" if flag else "full" for flag in skipped]
        return tuple(local)
    return _windowed(fields, family, layers, base)


def _listed(fields: Fields, layers: int, base: AttentionKind) -> Sequence[AttentionKind] | None:
    """A word or letter per layer, or a count per word."""
    named = fields.listing("layer_types", "layers_block_type", "attention_layer_types", "hybrid_layer_types")
    if named is not None:
        return _checked(_from_words(named, base), layers, "layer_types")
    pattern = fields.raw("hybrid_override_pattern", "layer_pattern")
    if isinstance(pattern, str):
        return _checked(_from_words(pattern, base), layers, "hybrid_override_pattern")
    if summary := fields.mapping("layer_types_summary"):
        spread = [word for word, count in summary.items() for _ in range(int(count))]
        return _checked(_from_words(spread, base), layers, "layer_types_summary")
    return None


def _flagged(fields: Fields, layers: int, _base: AttentionKind) -> Sequence[AttentionKind] | None:
    """A 0 or 1 per layer."""
    for field, one, other in (
        ("attn_type_list", "full", "linear"),
        ("hybrid_layer_pattern", "sliding", "full"),
    ):
        if (flags := fields.listing(field)) is not None:
            kinds = cast(list[AttentionKind], [one if flag == 1 else other for flag in flags])
            return _checked(kinds, layers, field)
    return ["compressed"] * layers if fields.raw("compress_ratios") else None


def _every_so_many(fields: Fields, layers: int, base: AttentionKind) -> Sequence[AttentionKind] | None:
    """A period at which attention layers come."""
    if interval := fields.number("full_attention_interval", 0):
        return [base if (index + 1) % interval == 0 else "linear" for index in range(layers)]
    if period := fields.number("attn_layer_period", 0):
        offset = fields.number("attn_layer_offset", 0)
        return [base if index % period == offset else "mamba" for index in range(layers)]
    return None


def _indexed(fields: Fields, layers: int, base: AttentionKind) -> Sequence[AttentionKind] | None:
    """The numbers of the layers that differ."""
    if block := fields.mapping("linear_attn_config"):
        kept = {int(index) for index in block.get("full_attn_layers", ())}
        return [base if index + 1 in kept else "linear" for index in range(layers)] if kept else None
    if (indices := fields.listing("attn_layer_indices", "full_attn_idxs")) is not None:
        return [base if index in indices else "mamba" for index in range(layers)]
    if (crossed := fields.listing("cross_attention_layers")) is not None:
        return ["cross" if index in crossed else base for index in range(layers)]
    return None


def _windowed(fields: Fields, family: Family, layers: int, base: AttentionKind) -> tuple[AttentionKind, ...]:
    window = fields.number("window", 0)
    flag = fields.raw("use_sliding_window")
    switched_off = flag is False or not window or (family.window_by_flag and not flag)
    pattern = fields.raw("sliding_window_pattern", "_sliding_window_pattern", "interleaved_sliding_window")
    if switched_off or base == "mla":
        return (base,) * layers
    every = pattern if isinstance(pattern, int) and pattern > 1 else family.full_every
    local: list[AttentionKind]
    if isinstance(pattern, str) and pattern:
        local = ["sliding" if pattern[index % len(pattern)] in "Ll" else "full" for index in range(layers)]
    elif every:
        local = ["full" if (index + 1) % every == 0 else "sliding" for index in range(layers)]
    elif family.window_everywhere or flag:
        local = ["sliding"] * layers
    else:
        raise InputError(
            "config: sliding_window is set but neither layer_types nor a pattern says which layers use it"
        )
    return tuple(local)


def attention_groups(fields: Fields, family: Family, hidden: int, layers: int) -> tuple[AttentionGroup, ...]:
    """Layers grouped by attention, in order of first appearance."""
    kinds = layer_kinds(fields, family, layers)
    if "compressed" in kinds:
        return _compressed(fields, layers)
    groups: list[AttentionGroup] = []
    reusing = Counter(kinds[max(0, layers - fields.number("num_kv_shared_layers", 0)) :])
    for kind, count in Counter(kinds).items():
        if kind == "none":
            groups.append(AttentionGroup(layers=count, kind="none"))
        elif kind == "mla":
            groups += _latent(fields, count)
        elif kind == "linear":
            groups.append(_linear(fields, hidden, count))
        elif kind == "mamba":
            groups.append(_mamba(fields, hidden, count))
        else:
            groups += _share_kv(_ordinary(fields, family, hidden, kind, count), reusing[kind])
    return tuple(groups)


def heads_of(fields: Fields, hidden: int) -> Heads:
    """Head counts of ordinary attention."""
    heads = fields.number("heads")
    default = 1 if fields.flag("multi_query") and not fields.flag("new_decoder_architecture") else heads
    kv_heads = fields.number("kv_heads", default) or heads
    if not heads:
        raise InputError("config: num_attention_heads is 0")
    head_dim = fields.number("head_dim", 0) or hidden // heads
    return Heads(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        v_head_dim=fields.number("v_head_dim", 0) or head_dim,
    )


def _ordinary(fields: Fields, family: Family, hidden: int, kind: AttentionKind, count: int) -> AttentionGroup:
    own = heads_of(fields, hidden)
    kv_heads, head_dim, v_head_dim, key_is_value = own.kv_heads, own.head_dim, own.v_head_dim, False
    window = 0
    if kind == "sliding":
        window = fields.number("window")
        kv_heads = fields.number("swa_num_key_value_heads", kv_heads) or kv_heads
    elif kind == "chunked":
        window = fields.number("chunk")
    elif kind == "full" and (wide := fields.number("global_head_dim", 0)):
        head_dim = v_head_dim = wide
        kv_heads = fields.number("num_global_key_value_heads", kv_heads)
        key_is_value = fields.flag("attention_k_eq_v", family.key_is_value)
    return AttentionGroup(
        layers=count, kind=kind, heads=own.heads, kv_heads=kv_heads, head_dim=head_dim,
        v_head_dim=0 if v_head_dim == head_dim else v_head_dim, window=window, key_is_value=key_is_value,
        output_gate=fields.flag("attn_output_gate", family.output_gate), qk_norm=family.qk_norm,
        qkv_bias=fields.flag("attention_bias", family.qkv_bias),
    )  # fmt: skip


def _share_kv(group: AttentionGroup, reusing: int) -> Iterable[AttentionGroup]:
    """Split off the layers that reuse the cache of an earlier layer of their kind: the last ones of the model."""
    if reusing == group.layers:
        raise InputError(
            f"config: num_kv_shared_layers leaves no {group.kind} layer whose cache the others could reuse"
        )
    yield replace(group, layers=group.layers - reusing)
    if reusing:
        yield replace(group, layers=reusing, shares_kv_with_previous=True)


def _latent(fields: Fields, count: int) -> Iterable[AttentionGroup]:
    fields.raw("num_key_value_heads", "head_dim")
    group = AttentionGroup(
        layers=count, kind="mla", heads=fields.number("heads"), kv_heads=1, q_lora_rank=fields.number("q_lora_rank", 0),
        kv_lora_rank=fields.number("kv_lora_rank"), rope_head_dim=fields.number("rope_head_dim"),
        nope_head_dim=fields.number("nope_head_dim"), v_head_dim=fields.number("v_head_dim"),
        index_heads=fields.number("index_heads", 0), index_head_dim=fields.number("index_head_dim", 0),
        index_topk=fields.number("index_topk", 0),
    )  # fmt: skip
    own = (fields.listing("indexer_types") or []).count("full")
    if group.index_heads and 0 < own < count:  # the other layers reuse the choice of an earlier indexer
        yield replace(group, layers=own)
        yield replace(group, layers=count - own, index_heads=0, index_head_dim=0, index_topk=0)
    else:
        yield group


def _linear(fields: Fields, hidden: int, count: int) -> AttentionGroup:
    """Gated delta rule, Kimi delta attention and lightning attention: a key x value state per head."""
    block = fields.mapping("linear_attn_config")
    if fields.raw("linear_num_value_heads"):
        value_heads, key_heads = (
            fields.number("linear_num_value_heads"),
            fields.number("linear_num_key_heads"),
        )
        key_dim, value_dim = fields.number("linear_key_head_dim"), fields.number("linear_value_head_dim")
        kernel = fields.number("conv_kernel", 4)
    elif block:
        value_heads = key_heads = int(block.get("num_heads", 0))
        key_dim = value_dim = int(block.get("head_dim", 0))
        kernel = int(block.get("short_conv_kernel_size", 4))
    elif fields.raw("attn_type_list"):
        own = heads_of(fields, hidden)
        value_heads = key_heads = own.heads
        key_dim = value_dim = own.head_dim
        kernel = 1
    else:
        raise InputError(
            "config: linear attention layers without linear_num_value_heads or linear_attn_config"
        )
    if not value_heads or not key_dim:
        raise InputError("config: linear attention layers without head counts")
    keys, values = key_heads * key_dim, value_heads * value_dim
    return AttentionGroup(
        layers=count, kind="linear", heads=value_heads, kv_heads=key_heads, head_dim=key_dim, v_head_dim=value_dim,
        state_values=value_heads * key_dim * value_dim, conv_values=(kernel - 1) * (2 * keys + values),
        parameters_per_layer=hidden * (2 * keys + 2 * values + 2 * value_heads) + values * hidden + kernel * (2 * keys + values),
    )  # fmt: skip


def _mamba(fields: Fields, hidden: int, count: int) -> AttentionGroup:
    """Mamba-2: inner width split in heads, a state of state_size values per inner value."""
    heads = fields.number("mamba_num_heads", 0) or fields.number("mamba_n_heads", 0)
    head_dim = fields.number("mamba_head_dim", 0) or fields.number("mamba_d_head", 0)
    expand = fields.number("mamba_expand", 0) or fields.number("expand", 0)
    inner = heads * head_dim or expand * hidden
    size = (
        fields.number("ssm_state_size", 0)
        or fields.number("mamba_d_state", 0)
        or fields.number("state_size", 0)
    )
    groups = fields.number("n_groups", 0) or fields.number("mamba_n_groups", 1)
    kernel = fields.number("conv_kernel", 4)
    if not inner or not size:
        raise InputError(
            "config: Mamba layers without mamba_num_heads and mamba_head_dim, or without ssm_state_size"
        )
    convolved = inner + 2 * groups * size
    return AttentionGroup(
        layers=count, kind="mamba", heads=heads, kv_heads=groups, head_dim=head_dim, state_values=inner * size,
        conv_values=(kernel - 1) * convolved,
        parameters_per_layer=hidden * (2 * inner + 2 * groups * size + heads) + inner * hidden + kernel * convolved,
    )  # fmt: skip


def _compressed(fields: Fields, layers: int) -> tuple[AttentionGroup, ...]:
    """Compressed sparse attention (DeepSeek-V4): one shared entry per `ratio` tokens beside a sliding window."""
    ratios = [int(ratio) for ratio in (fields.listing("compress_ratios") or [])][:layers]
    heads, head_dim, hidden = fields.number("heads"), fields.number("head_dim"), fields.number("hidden")
    kv_heads, q_rank = fields.number("kv_heads", 1), fields.number("q_lora_rank", 0)
    o_rank, o_groups = fields.number("o_lora_rank", 0), fields.number("o_groups", 1)
    index_heads, index_dim = fields.number("index_heads", 0), fields.number("index_head_dim", 0)
    rope = fields.number("rope_head_dim", 0)
    groups: list[AttentionGroup] = []
    for ratio, count in sorted(Counter(ratios).items(), reverse=True):
        indexed = bool(ratio) and ratio <= 4
        overlap = 2 if indexed else 1
        copied = hidden * (q_rank + kv_heads * head_dim)
        if ratio:  # keys and scores of the compressor
            copied += hidden * 2 * overlap * head_dim
        if indexed:
            copied += q_rank * index_heads * index_dim + hidden * (2 * overlap * index_dim + index_heads)
        output = (
            heads * head_dim * o_rank + o_groups * o_rank * hidden if o_rank else heads * head_dim * hidden
        )
        groups.append(
            AttentionGroup(
                layers=count, kind="compressed", heads=heads, kv_heads=kv_heads, head_dim=head_dim, rope_head_dim=rope,
                window=fields.number("window", 0), compress_ratio=ratio, index_heads=index_heads if indexed else 0,
                index_head_dim=index_dim if indexed else 0, index_topk=fields.number("index_topk", 0) if indexed else 0,
                parameters_per_layer=copied + q_rank * heads * head_dim + output, copied_parameters_per_layer=copied,
            )
        )  # fmt: skip
    return tuple(groups)


def _from_words(words: Iterable[object], base: AttentionKind) -> list[AttentionKind]:
    kinds: list[AttentionKind] = []
    for word in words:
        kind = _LAYER_WORDS.get(str(word).lower())
        if kind is None:
            raise InputError(
                f"config: layer type {str(word)[:40]!r} is not known; known: full, sliding, linear, mamba, moe"
            )
        kinds.append(base if kind == "full" else kind)
    return kinds


def _checked(kinds: Sequence[AttentionKind], layers: int, field: str) -> tuple[AttentionKind, ...]:
    if len(kinds) < layers:
        raise InputError(f"config: {field} names {len(kinds)} layers, num_hidden_layers is {layers}")
    return tuple(kinds[:layers])
