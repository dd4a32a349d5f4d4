"""The weight matrices of an architecture: what each is, how large, and how parallel layouts cut it.

Shapes follow the published model definitions: grouped attention as in Llama, multi-head latent attention as in
DeepSeek-V2/V3 with the indexer of V3.2, experts as in Mixtral, GPT-OSS and DeepSeek.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from advisor.records import Architecture, AttentionGroup, FeedForwardGroup

Role = Literal[
    "embedding", "head", "attention", "indexer", "linear_attention", "mamba", "mlp", "experts", "shared_experts",
    "router", "latent", "norm", "vision", "mtp",
]  # fmt: skip
"""Parts of a model, as checkpoints name what they leave in 16 bit."""

Cut = Literal["rows", "columns", "none"]
"""rows: output features are spread over the ranks; columns: input features; none: every rank holds the whole."""


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """`count` matrices of rows x columns (output x input features).

    heads: the cut dimension comes in that many heads; more ranks than heads hold copies. experts: matrices per layer
    that expert parallelism spreads. parts: matrices stacked in the rows (gate and up). quantised: False for what no
    recipe converts (norms, routers).
    """

    role: Role
    rows: int
    columns: int
    count: int
    cut: Cut = "rows"
    heads: int = 0
    experts: int = 0
    parts: int = 1
    quantised: bool = True

    @property
    def values(self) -> int:
        """Values in all matrices, before any cut."""
        return self.rows * self.columns * self.count * max(1, self.experts)


def layer_tensors(architecture: Architecture) -> Iterator[Tensor]:
    """Matrices inside the decoder layers, routers and norms included."""
    yield from mixing_tensors(architecture)
    for group in architecture.feed_forward:
        yield from feed_forward_tensors(architecture.hidden, group)


def mixing_tensors(architecture: Architecture) -> Iterator[Tensor]:
    """Attention of all layers, of whatever kind, and the norms."""
    hidden = architecture.hidden
    for group in architecture.attention:
        yield from _attention(hidden, group)
    norms = 2 * architecture.layers + 1
    yield Tensor(role="norm", rows=hidden, columns=1, count=norms, cut="none", quantised=False)


def edge_tensors(architecture: Architecture) -> tuple[Tensor, Tensor]:
    """(embedding, head). Tied ones are the same memory on a rank that holds both ends."""
    rows, columns = architecture.vocabulary, architecture.hidden
    return (
        Tensor(role="embedding", rows=rows, columns=columns, count=1),
        Tensor(role="head", rows=rows, columns=columns, count=1),
    )


def side_tensors(architecture: Architecture) -> Iterator[Tensor]:
    """Vision tower, learned positions and anything else beside the decoder."""
    if architecture.vision_parameters:
        yield Tensor(role="vision", rows=architecture.vision_parameters, columns=1, count=1)
    if architecture.learned_positions:
        yield Tensor(
            role="embedding",
            rows=architecture.learned_positions,
            columns=architecture.hidden,
            count=1,
            cut="none",
        )
    if architecture.other_parameters:
        yield Tensor(
            role="norm", rows=architecture.other_parameters, columns=1, count=1, cut="none", quantised=False
        )


def mtp_tensors(architecture: Architecture) -> Iterator[Tensor]:
    """Layers for multi-token prediction: each is the last decoder layer again with a projection of two inputs."""
    count, hidden = architecture.mtp_layers, architecture.hidden
    if count:
        yield Tensor(role="mtp", rows=hidden, columns=2 * hidden, count=count, cut="none", quantised=False)
        yield from _attention(hidden, replace(architecture.attention[-1], layers=count))
        yield from feed_forward_tensors(hidden, replace(architecture.feed_forward[-1], layers=count))


def _attention(hidden: int, group: AttentionGroup) -> Iterator[Tensor]:
    layers, heads = group.layers, group.heads
    if group.kind == "none":
        return
    if group.parameters_per_layer:
        role: Role = "attention"
        if group.kind in ("mamba", "linear"):
            role = "mamba" if group.kind == "mamba" else "linear_attention"
        copied = group.copied_parameters_per_layer
        yield Tensor(role=role, rows=group.parameters_per_layer - copied, columns=1, count=layers)
        if copied:
            yield Tensor(role=role, rows=copied, columns=1, count=layers, cut="none")
    elif group.kind == "mla":
        yield from _latent_attention(hidden, group)
    else:
        value_dim = group.v_head_dim or group.head_dim
        queries = heads * group.head_dim * (2 if group.output_gate else 1)
        yield Tensor(role="attention", rows=queries, columns=hidden, count=layers, heads=heads)
        if not group.shares_kv_with_previous:
            kv = group.kv_heads
            yield Tensor(role="attention", rows=kv * group.head_dim, columns=hidden, count=layers, heads=kv)
            if not group.key_is_value:
                yield Tensor(role="attention", rows=kv * value_dim, columns=hidden, count=layers, heads=kv)
        yield Tensor(
            role="attention", rows=hidden, columns=heads * value_dim, count=layers, cut="columns", heads=heads
        )


def _latent_attention(hidden: int, group: AttentionGroup) -> Iterator[Tensor]:
    layers, heads = group.layers, group.heads
    value_dim = group.v_head_dim or group.nope_head_dim
    query_width = heads * (group.nope_head_dim + group.rope_head_dim)
    if group.q_lora_rank:
        yield Tensor(role="attention", rows=group.q_lora_rank, columns=hidden, count=layers, cut="none")
    yield Tensor(
        role="attention", rows=query_width, columns=group.q_lora_rank or hidden, count=layers, heads=heads
    )
    yield Tensor(
        role="attention",
        rows=group.kv_lora_rank + group.rope_head_dim,
        columns=hidden,
        count=layers,
        cut="none",
    )
    yield kv_up_projection(group)
    yield Tensor(
        role="attention", rows=hidden, columns=heads * value_dim, count=layers, cut="columns", heads=heads
    )
    if group.index_heads:
        width = group.index_heads * group.index_head_dim
        yield Tensor(
            role="indexer", rows=width, columns=group.q_lora_rank or hidden, count=layers, cut="none"
        )
        yield Tensor(role="indexer", rows=group.index_head_dim, columns=hidden, count=layers, cut="none")
        yield Tensor(
            role="indexer", rows=group.index_heads, columns=hidden, count=layers, cut="none", quantised=False
        )


def kv_up_projection(group: AttentionGroup) -> Tensor:
    """MLA: from the cached latent to keys and values of all heads. Engines keep a second, 16-bit copy for decoding."""
    width = group.heads * (group.nope_head_dim + (group.v_head_dim or group.nope_head_dim))
    return Tensor(
        role="attention", rows=width, columns=group.kv_lora_rank, count=group.layers, heads=group.heads
    )


def feed_forward_tensors(hidden: int, group: FeedForwardGroup) -> Iterator[Tensor]:
    """Matrices after attention in the layers of one group."""
    if group.kind == "none":
        return
    layers, into = group.layers, group.matrices - 1
    if group.kind == "dense":
        yield from _mlp("mlp", hidden, group.intermediate, layers, into)
        return
    width = group.latent_size or hidden
    yield from _mlp("experts", width, group.intermediate, layers, into, experts=group.experts)
    if group.shared_intermediate:
        yield from _mlp("shared_experts", hidden, group.shared_intermediate, layers, into)
    if group.latent_size:
        yield Tensor(role="latent", rows=2 * group.latent_size, columns=hidden, count=layers, cut="none")
    yield Tensor(role="router", rows=group.experts, columns=hidden, count=layers, cut="none", quantised=False)


def _mlp(
    role: Role, width: int, intermediate: int, layers: int, into: int, *, experts: int = 0
) -> Iterator[Tensor]:
    yield Tensor(
        role=role, rows=into * intermediate, columns=width, count=layers, experts=experts, parts=into
    )
    yield Tensor(role=role, rows=width, columns=intermediate, count=layers, cut="columns", experts=experts)


@dataclass(frozen=True, kw_only=True)
class ParameterCounts:
    """Values of an architecture. total leaves out MTP layers; active: what one token multiplies with (no embedding row)."""

    total: int
    active: int
    embedding: int
    attention: int
    experts: int
    other: int


def count_parameters(architecture: Architecture) -> ParameterCounts:
    """Count values by part. Biases are left out: they are below 0.1 % of any model here."""
    embedding, head = edge_tensors(architecture)
    edges = embedding.values + (0 if architecture.tied_embeddings else head.values)
    attention = experts = other = active = 0
    shares = {g.experts: g.experts_per_token for g in architecture.feed_forward if g.kind == "moe"}
    for tensor in layer_tensors(architecture):
        values = tensor.values
        if tensor.role in ("attention", "indexer", "linear_attention", "mamba"):
            attention += values
        elif tensor.role == "experts":
            experts += values
        else:
            other += values
        active += values * shares[tensor.experts] // tensor.experts if tensor.experts else values
    side = sum(tensor.values for tensor in side_tensors(architecture))
    total = edges + attention + experts + other + side
    return ParameterCounts(
        total=total,
        active=active + head.values,
        embedding=edges,
        attention=attention,
        experts=experts,
        other=other + side,
    )
