"""KV cache: bytes per token as engines account for it, and bytes of one whole sequence at a context.

Per layer and token: full, sliding and chunked attention hold kv_heads x (key + value) values, cut by TP down to one head
per rank; MLA holds one latent for all heads, so TP only copies it; an indexer of sparse attention adds its keys. Linear
and Mamba layers hold a state per sequence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from advisor.records import Architecture, AttentionGroup
from advisor.sizing.formats import KV_BYTES
from advisor.sizing.kv_compressed import PageKind, entry_bytes, page_kinds

_INDEXER_SCALE_BYTES = 4.0
"""One 32-bit scale beside the 8-bit indexer keys of a token (DeepSeek-V3.2 layout: 132 bytes for 128 values)."""
_STATE_BYTES, _CONV_BYTES = 4.0, 2.0
"""Recurrent states are kept in 32 bit, convolution states in the model's 16-bit type."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Layers that grow alike: bytes per token for all of them, until `limit` tokens (0: without limit).

    block_tokens: their own block, 0 for the cache's.
    """

    bytes_per_token: float
    limit: int = 0
    spare_blocks: int = 0
    block_tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class KvCost:
    """What the cache of one rank costs.

    bytes_per_token: pool bytes over the tokens that the engine reports. parts: how one sequence grows. state_bytes: per
    sequence, whatever its length. sharded_by: ranks over which one sequence's tokens are spread (decode context parallel).
    steps_in_flight: scheduler steps whose tokens a windowed layer may hold at once. by_concurrency: the engine prints
    concurrency times context as the tokens of its pool.
    """

    bytes_per_token: float
    parts: tuple[Part, ...]
    state_bytes: float
    block_tokens: int
    padding_layers: int = 0
    sharded_by: int = 1
    steps_in_flight: int = 1
    by_concurrency: bool = False

    def sequence_bytes(self, context_tokens: float, step_tokens: float = 0.0) -> float:
        """Bytes per rank of one sequence of `context_tokens`, in whole blocks.

        step_tokens: tokens that one scheduler step may add; a windowed layer holds them beside its window.
        """
        total = self.state_bytes
        for part in self.parts:
            block = part.block_tokens or self.block_tokens
            if part.limit:
                held = min(part.limit - 1 + self.steps_in_flight * step_tokens, context_tokens)
                blocks = math.ceil(held / block) + part.spare_blocks
            else:
                blocks = math.ceil(context_tokens / self.sharded_by / block)
            total += part.bytes_per_token * blocks * block
        return total


def kv_cost(
    architecture: Architecture,
    kv_precision: str,
    *,
    tp: int,
    pp: int,
    terms: Mapping[str, float],
    context_parallel: int = 1,
) -> KvCost:
    """Cost of the cache on the fullest pipeline stage. kv_precision: a key of `KV_BYTES`."""
    stage = math.ceil(architecture.layers / pp) / architecture.layers
    block = int(terms.get("block_tokens", 16))
    if terms.get("group_hybrid_layers") and (
        pages := page_kinds(architecture.attention, KV_BYTES[kv_precision])
    ):
        return _paged(pages, stage)
    kinds: dict[int, _Kind] = {}
    for group in architecture.attention:
        per_layer = layer_bytes_per_token(group, kv_precision, tp=tp, terms=terms)
        if per_layer:
            window = group.window if group.kind in ("sliding", "chunked") else 0
            kinds[window] = kinds.get(window, _Kind()).plus(group.layers, per_layer)
    states = _states(architecture, tp)
    if terms.get("group_hybrid_layers") and len(kinds) + bool(states.layers) > 1:
        return _grouped(kinds, states, stage=stage, block=block, terms=terms, sharded_by=context_parallel)
    return _separate(kinds, states, stage=stage, block=block, terms=terms, sharded_by=context_parallel)


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """Layers with one window (0: all tokens): how many, bytes per token of all, and of the widest."""

    layers: int = 0
    bytes_per_token: float = 0.0
    widest: float = 0.0

    def plus(self, layers: int, per_layer: float) -> _Kind:
        return _Kind(
            layers=self.layers + layers, bytes_per_token=self.bytes_per_token + layers * per_layer,
            widest=max(self.widest, per_layer),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _States:
    """Layers that keep a state, and bytes of one layer's state per sequence."""

    layers: int
    layer_bytes: float


def _states(architecture: Architecture, tp: int) -> _States:
    own = [group for group in architecture.attention if group.kind in ("linear", "mamba")]
    sizes = (
        math.ceil(group.state_values / tp) * _STATE_BYTES + math.ceil(group.conv_values / tp) * _CONV_BYTES
        for group in own
    )
    return _States(layers=sum(group.layers for group in own), layer_bytes=max(sizes, default=0.0))


def _paged(pages: tuple[PageKind, ...], stage: float) -> KvCost:
    """One pool whose pages all take the size of the largest kind."""
    page = max(kind.page_bytes for kind in pages) * stage
    parts = tuple(
        Part(
            bytes_per_token=page / kind.tokens, limit=kind.window, spare_blocks=1 if kind.window else 0,
            block_tokens=kind.tokens,
        )
        for kind in pages
    )  # fmt: skip
    return KvCost(
        bytes_per_token=page / pages[0].tokens, parts=parts, state_bytes=0.0, block_tokens=pages[0].tokens,
        steps_in_flight=2, by_concurrency=True,
    )  # fmt: skip


def has_growing_cache(architecture: Architecture) -> bool:
    """Whether any layer keeps something per token."""
    return any(group.kind not in ("linear", "mamba", "none") for group in architecture.attention)


def layer_bytes_per_token(
    group: AttentionGroup, kv_precision: str, *, tp: int, terms: Mapping[str, float]
) -> float:
    """Bytes that one layer of a group holds per token on one rank; 0 for layers without a growing cache."""
    value_bytes = KV_BYTES[kv_precision]
    if group.kind == "mla":
        latent = (group.kv_lora_rank + group.rope_head_dim) * value_bytes
        if group.index_heads:
            if value_bytes == 1 and terms.get("sparse_mla_fp8_bytes"):
                latent = terms["sparse_mla_fp8_bytes"]
            latent += group.index_head_dim + _INDEXER_SCALE_BYTES
        return latent
    if group.kind in ("full", "sliding", "chunked", "cross") and not group.shares_kv_with_previous:
        heads = math.ceil(group.kv_heads / tp)
        return heads * (group.head_dim + (group.v_head_dim or group.head_dim)) * value_bytes
    if group.kind == "compressed" and group.compress_ratio:
        entry = entry_bytes(group, value_bytes)
        if group.index_heads:
            entry += group.index_head_dim + _INDEXER_SCALE_BYTES
        return entry / group.compress_ratio
    return 0.0


def _separate(
    kinds: Mapping[int, _Kind],
    states: _States,
    *,
    stage: float,
    block: int,
    terms: Mapping[str, float],
    sharded_by: int,
) -> KvCost:
    """A pool for each kind of layer, as large as each needs; windows get a share of the tokens of the others."""
    share = terms.get("sliding_pool_ratio", 1.0) if len(kinds) > 1 else 1.0
    per_token = sum(kind.bytes_per_token * (share if window else 1.0) for window, kind in kinds.items())
    return KvCost(
        bytes_per_token=per_token * stage / sharded_by,
        parts=tuple(Part(bytes_per_token=kind.bytes_per_token * stage, limit=window) for window, kind in kinds.items()),
        state_bytes=states.layer_bytes * states.layers * stage, block_tokens=block, sharded_by=sharded_by,
    )  # fmt: skip


def _grouped(
    kinds: Mapping[int, _Kind],
    states: _States,
    *,
    stage: float,
    block: int,
    terms: Mapping[str, float],
    sharded_by: int,
) -> KvCost:
    """One pool for unlike layers, in groups of equally many, padded where they do not divide (vLLM).

    A page of attention grows until it holds a whole state; the tokens printed are pages over groups.
    """
    size = _group_size([kind.layers for kind in kinds.values()] + ([states.layers] if states.layers else []))
    slots = {window: math.ceil(kind.layers / size) * size for window, kind in kinds.items()}
    state_slots = math.ceil(states.layers / size) * size
    widest = max((kind.widest for kind in kinds.values()), default=0.0)
    page_tokens, state = block, states.layer_bytes
    if state and widest:
        page_tokens = math.ceil(state / widest / block) * block
        state = page_tokens * widest
    padding = sum(slots.values()) + state_slots - sum(kind.layers for kind in kinds.values()) - states.layers
    parts = tuple(
        Part(
            bytes_per_token=kind.bytes_per_token / kind.layers * slots[window] * stage, limit=window,
            spare_blocks=1 if window else 0,
        )
        for window, kind in kinds.items()
    )  # fmt: skip
    return KvCost(
        bytes_per_token=(sum(slots.values()) + state_slots) * widest * stage / sharded_by, parts=parts,
        state_bytes=state * state_slots * stage, block_tokens=page_tokens, padding_layers=padding, sharded_by=sharded_by,
        steps_in_flight=int(terms.get("steps_in_flight", 0)) or 1, by_concurrency=bool(terms.get("tokens_from_concurrency")),
    )  # fmt: skip


def _group_size(layers: list[int]) -> int:
    """Layers per group of a shared pool: the rarest kind's, or the commonest's when they are close (vLLM's rule)."""
    smallest, largest = min(layers), max(layers)
    return largest if largest < smallest * 1.5 else smallest
