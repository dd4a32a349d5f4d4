"""What one accelerator of a layout reads, multiplies and sends: the sums that step times are made of."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.records import Architecture, AttentionGroup, Checkpoint, Layout, Model
from advisor.sizing.kv_cache import layer_bytes_per_token
from advisor.sizing.tensors import edge_tensors, layer_tensors
from advisor.sizing.weights import Rank

_STATE_BYTES = 4.0
"""Recurrent states of linear attention are kept in 32 bit."""


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Layers of one attention kind: bytes and operations per cached token of one sequence, up to `limit` tokens (0: no limit)."""

    bytes_per_token: float
    operations_per_token: float
    limit: int


@dataclass(frozen=True, kw_only=True)
class Share:
    """One rank's part of a whole forward pass, pipeline stages together.

    dense_bytes: weights that every step reads. expert_bytes: all routed experts held here. dense_values,
    expert_values: multiplied per token that passes here (experts: per token of the whole replica, on one rank);
    head_values: those of the output layer within dense_values, which a prompt runs once. state_bytes: read and written
    per sequence and step by linear layers. reaches: what a query reads of the cache. prompt_operations: attention
    operations of a prompt per squared token; prompt_windows: (operations per token and window token, window).
    """

    dense_bytes: float
    expert_bytes: float
    dense_values: float
    head_values: float
    expert_values: float
    state_bytes: float
    reaches: tuple[Reach, ...]
    prompt_operations: float
    prompt_windows: tuple[tuple[float, int], ...]

    def cache_bytes(self, context_tokens: float) -> float:
        """Bytes of cache that one decoded token reads at a context."""
        return sum(
            r.bytes_per_token * (min(context_tokens, r.limit) if r.limit else context_tokens)
            for r in self.reaches
        )

    def cache_operations(self, context_tokens: float) -> float:
        """Attention operations of one decoded token at a context."""
        return sum(
            r.operations_per_token * (min(context_tokens, r.limit) if r.limit else context_tokens)
            for r in self.reaches
        )

    def prompt_attention(self, tokens: float) -> float:
        """Attention operations of one prompt (causal: half of the square; a window caps what a token sees)."""
        whole = self.prompt_operations * tokens * tokens / 2
        return whole + sum(per * tokens * min(tokens / 2, window) for per, window in self.prompt_windows)


def share_of(model: Model, checkpoint: Checkpoint, layout: Layout, kv_precision: str) -> Share:
    """The share of one rank under a layout. kv_precision: a key of `advisor.sizing.formats.KV_BYTES`."""
    architecture = model.architecture
    flat = Layout(tp=layout.tp, dp=layout.dp, ep=layout.ep)
    rank = Rank(checkpoint=checkpoint, layout=flat, terms={})
    dense_bytes = expert_bytes = dense_values = expert_values = 0.0
    shares = {g.experts: g.experts_per_token / g.experts for g in architecture.feed_forward if g.experts}
    for tensor in layer_tensors(architecture):
        if tensor.experts:
            expert_bytes += rank.bytes(tensor)
            expert_values += tensor.values * shares[tensor.experts] / (layout.tp * layout.dp)
        else:
            dense_bytes += rank.bytes(tensor)
            dense_values += rank.values(tensor)
    _, head = edge_tensors(architecture)
    head_values = rank.values(head)
    return Share(
        dense_bytes=dense_bytes + rank.bytes(head), expert_bytes=expert_bytes, dense_values=dense_values + head_values,
        head_values=head_values, expert_values=expert_values,
        state_bytes=sum(2 * _STATE_BYTES * g.state_values * g.layers / layout.tp for g in architecture.attention),
        reaches=tuple(r for g in architecture.attention for r in _reaches(g, layout.tp, kv_precision)),
        prompt_operations=sum(_whole_prompt(g, layout.tp) for g in architecture.attention),
        prompt_windows=tuple((_prompt(g, layout.tp), limit) for g in architecture.attention if (limit := _limit(g))),
    )  # fmt: skip


def _limit(group: AttentionGroup) -> int:
    """Tokens that a query attends to at most: a window, or what an indexer selects; 0 for all."""
    if group.index_heads:
        return group.index_topk
    return group.window if group.kind in ("sliding", "chunked") else 0


def _indexer(group: AttentionGroup) -> float:
    """Operations of the indexer per pair of tokens, all layers; every rank runs all of its heads."""
    return 2.0 * group.index_heads * group.index_head_dim * group.layers


def _whole_prompt(group: AttentionGroup, tp: int) -> float:
    return _indexer(group) + (0.0 if _limit(group) else _prompt(group, tp))


def _reaches(group: AttentionGroup, tp: int, kv_precision: str) -> tuple[Reach, ...]:
    """A decoded token against the cache: grouped heads, the absorbed latent of MLA, or an indexer and its selection."""
    cached = layer_bytes_per_token(group, kv_precision, tp=tp, terms={}) * group.layers
    if group.kind == "mla":
        operations = 2.0 * group.heads * (2 * group.kv_lora_rank + group.rope_head_dim) * group.layers / tp
        if group.index_heads:
            keys = float(group.index_head_dim * group.layers)
            return (
                Reach(bytes_per_token=cached - keys, operations_per_token=operations, limit=group.index_topk),
                Reach(bytes_per_token=keys, operations_per_token=_indexer(group), limit=0),
            )
        return (Reach(bytes_per_token=cached, operations_per_token=operations, limit=0),)
    if group.kind in ("linear", "mamba", "none") or not group.heads:
        return ()
    operations = (
        2.0 * group.heads * (group.head_dim + (group.v_head_dim or group.head_dim)) * group.layers / tp
    )
    if group.compress_ratio:
        operations /= group.compress_ratio
    return (Reach(bytes_per_token=cached, operations_per_token=operations, limit=_limit(group)),)


def _prompt(group: AttentionGroup, tp: int) -> float:
    """Attention operations of a prompt per pair of tokens, all layers of a group, on one rank."""
    if group.kind in ("linear", "mamba", "none") or not group.heads:
        return 0.0
    if group.kind == "mla":
        width = group.nope_head_dim + group.rope_head_dim + (group.v_head_dim or group.nope_head_dim)
    else:
        width = group.head_dim + (group.v_head_dim or group.head_dim)
    pairs = 2.0 * group.heads * width * group.layers / tp
    return pairs / group.compress_ratio if group.compress_ratio else pairs


def layers_of(architecture: Architecture, *kinds: str) -> int:
    """Layers whose attention is of one of the kinds."""
    return sum(group.layers for group in architecture.attention if group.kind in kinds)
