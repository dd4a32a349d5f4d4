"""Bytes of weights on one accelerator: each matrix in its stored format, cut by the layout, padded as engines pad."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from advisor.records import Architecture, Checkpoint, Layout, Model
from advisor.sizing.formats import DEFAULT_FORMAT, FORMATS, Format
from advisor.sizing.tensors import (
    Tensor,
    edge_tensors,
    feed_forward_tensors,
    kv_up_projection,
    mixing_tensors,
    mtp_tensors,
    side_tensors,
)
from advisor.units import GIB

_LAYER_ROLES = frozenset(
    ("attention", "indexer", "linear_attention", "mamba", "mlp", "experts", "shared_experts", "latent")
)


def weights_bytes(
    model: Model,
    checkpoint: Checkpoint,
    layout: Layout,
    terms: Mapping[str, float],
    *,
    speculative: bool = False,
    row_padding_bytes: float = 0.0,
) -> float:
    """Bytes per accelerator on the fullest pipeline stage, tables that engines keep beside the weights included.

    terms: of the engine profile. speculative: MTP layers are loaded too. row_padding_bytes: added to each row of an
    matrix in per-tensor 8-bit floats whose row is a multiple of 512 bytes (ROCm builds of engines). A checkpoint whose
    stated size is more than 15 % above what the shapes explain counts in full: the rest is spread as the shapes are.
    """
    architecture = model.architecture
    rank = Rank(checkpoint=checkpoint, layout=layout, terms=terms, row_padding_bytes=row_padding_bytes)
    parts = _parts(architecture)
    layers = sum(rank.bytes(tensor) for tensor in parts.mixing)
    if terms.get("absorbed_mla"):
        layers += sum(2.0 * rank.values(copy) for copy in parts.up_projections)
    embedding, head = (rank.bytes(tensor) for tensor in parts.edges)
    if layout.pp > 1:
        edges = max(embedding, head)
    else:
        edges = embedding + (0.0 if architecture.tied_embeddings else head)
    side = sum(rank.bytes(tensor) for tensor in parts.side)
    drafts = sum(rank.bytes(tensor) for tensor in parts.drafts) if speculative else 0.0
    rope_table = 2.0 * architecture.rope_dim * architecture.rope_positions
    deepest = math.ceil(architecture.layers / layout.pp)
    layers *= deepest / architecture.layers
    layers += _feed_forward_bytes(parts.feed_forward, rank, architecture.layers, deepest)
    unexplained = _unexplained(model, checkpoint)
    left_behind = terms.get("load_overhead_gib", 0.0) * GIB if layout.tp * layout.dp > 1 else 0.0
    return (layers + edges + side) * unexplained + drafts + rope_table + left_behind


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """Matrices of an architecture by the place they have in a deployment. feed_forward: (matrices, layers) per group."""

    mixing: tuple[Tensor, ...]
    feed_forward: tuple[tuple[tuple[Tensor, ...], int], ...]
    up_projections: tuple[Tensor, ...]
    edges: tuple[Tensor, Tensor]
    side: tuple[Tensor, ...]
    drafts: tuple[Tensor, ...]


@lru_cache(maxsize=512)
def _parts(architecture: Architecture) -> _Parts:
    return _Parts(
        mixing=tuple(mixing_tensors(architecture)),
        feed_forward=tuple(
            (tuple(feed_forward_tensors(architecture.hidden, group)), group.layers) for group in architecture.feed_forward
        ),
        up_projections=tuple(kv_up_projection(group) for group in architecture.attention if group.kind == "mla"),
        edges=edge_tensors(architecture),
        side=tuple(side_tensors(architecture)),
        drafts=tuple(mtp_tensors(architecture)),
    )  # fmt: skip


def _feed_forward_bytes(
    parts: tuple[tuple[tuple[Tensor, ...], int], ...], rank: Rank, all_layers: int, deepest: int
) -> float:
    """Feed-forward bytes of the fullest stage, `deepest` layers long.

    Leading dense layers of a mixture-of-experts model all fall on the first stage, so another stage holds the heavier
    kind only; kinds that alternate are in proportion.
    """
    groups = [(sum(rank.bytes(tensor) for tensor in tensors), layers) for tensors, layers in parts]
    heavy = max(groups, key=lambda pair: pair[0] / pair[1])
    others = all_layers - heavy[1]
    if 0 < others <= all_layers - deepest and others < deepest <= heavy[1]:
        return heavy[0] / heavy[1] * deepest
    return sum(size for size, _ in groups) * deepest / all_layers


@lru_cache(maxsize=1024)
def _whole(architecture: Architecture, checkpoint: Checkpoint) -> float:
    rank = Rank(checkpoint=checkpoint, layout=Layout(tp=1), terms={})
    parts = _parts(architecture)
    embedding, head = (rank.bytes(tensor) for tensor in parts.edges)
    tensors = (*parts.mixing, *(tensor for group, _ in parts.feed_forward for tensor in group), *parts.side)
    return (
        embedding
        + (0.0 if architecture.tied_embeddings else head)
        + sum(rank.bytes(tensor) for tensor in tensors)
    )


def checkpoint_bytes(model: Model, checkpoint: Checkpoint) -> float:
    """Bytes of the whole model in this checkpoint's format, on no engine in particular and without MTP layers."""
    return _whole(model.architecture, checkpoint)


_SIZE_TOLERANCE = 1.15
"""A checkpoint's stated size may exceed the computed one by this factor: MTP layers and tables are not always loaded."""


def _unexplained(model: Model, checkpoint: Checkpoint) -> float:
    """Stated over computed size where the files hold clearly more than the shapes explain, else 1."""
    if checkpoint.size_bytes is None:
        return 1.0
    ratio = checkpoint.size_bytes.number / checkpoint_bytes(model, checkpoint)
    return ratio if ratio > _SIZE_TOLERANCE else 1.0


def format_of(checkpoint: Checkpoint) -> Format:
    """The storage format of a checkpoint's quantised values."""
    return FORMATS[checkpoint.format or DEFAULT_FORMAT[checkpoint.precision]]


def sixteen_bit_roles(checkpoint: Checkpoint) -> frozenset[str]:
    """Parts that a checkpoint leaves in 16 bit: its own list, or that of a usual recipe in its format."""
    return frozenset(checkpoint.kept_16bit or format_of(checkpoint).sixteen_bit)


@dataclass(frozen=True, kw_only=True)
class Rank:
    """One accelerator's share of matrices under a layout, in a checkpoint's format."""

    checkpoint: Checkpoint
    layout: Layout
    terms: Mapping[str, float]
    row_padding_bytes: float = 0.0
    storage: Format = field(init=False)
    kept: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "storage", format_of(self.checkpoint))
        object.__setattr__(self, "kept", sixteen_bit_roles(self.checkpoint))

    def values(self, tensor: Tensor) -> float:
        """Values on this rank."""
        rows, columns, copies = self._shape(tensor)
        return rows * columns * copies

    def bytes(self, tensor: Tensor) -> float:
        """Bytes on this rank, scales and row padding included."""
        rows, columns, copies = self._shape(tensor)
        values = rows * columns * copies
        plain = 4.0 if self.checkpoint.precision == "fp32" else 2.0
        if not self._quantised(tensor):
            return values * plain
        if tensor.role in self.checkpoint.kept_8bit:
            bits = 8.0
        else:
            bits = self.storage.bits_per_value(self.checkpoint.group_size)
        quantised = values * bits / 8
        if self.row_padding_bytes and self._per_tensor and columns % 512 == 0:
            quantised += rows * copies * self.row_padding_bytes
        whole = self.checkpoint.layers_kept_16bit
        if whole and tensor.role in _LAYER_ROLES:
            share = min(whole, tensor.count) / tensor.count
            return quantised * (1 - share) + values * plain * share
        return quantised

    @property
    def _per_tensor(self) -> bool:
        """Whether rows are padded: 8-bit floats with one scale per tensor."""
        return (self.checkpoint.format or self.checkpoint.precision) == "fp8"

    def _quantised(self, tensor: Tensor) -> bool:
        if tensor.role in self.kept and tensor.role not in self.checkpoint.kept_8bit:
            return False
        return tensor.quantised or self.storage.whole_model

    def _shape(self, tensor: Tensor) -> tuple[float, float, float]:
        """(rows, columns, matrices) on this rank, padded."""
        rows, columns, copies = float(tensor.rows), float(tensor.columns), float(tensor.count)
        ranks = self.layout.tp
        if tensor.experts:
            all_ranks = self.layout.tp * self.layout.dp
            copies *= math.ceil(tensor.experts / self.layout.ep)
            ranks = max(1, all_ranks // self.layout.ep)
        if tensor.role in ("embedding", "head") and tensor.cut == "rows":
            rows = _multiple(rows, self.terms.get("vocabulary_multiple", 1))
        if tensor.cut == "rows":
            rows = _share(rows, ranks, tensor.heads)
        elif tensor.cut == "columns":
            columns = _share(columns, ranks, tensor.heads)
        if tensor.experts and self.storage.bits == 4 and self.checkpoint.format == "mxfp4":
            inner = self.terms.get("mxfp4_intermediate_multiple", 1)
            outer = self.terms.get("mxfp4_hidden_multiple", 1)
            if tensor.cut == "rows":
                rows, columns = (
                    _multiple(rows / tensor.parts, inner) * tensor.parts,
                    _multiple(columns, outer),
                )
            else:
                rows, columns = _multiple(rows, outer), _multiple(columns, inner)
        return rows, columns, copies


def _share(width: float, ranks: int, heads: int) -> float:
    if heads:
        return width / heads * math.ceil(heads / ranks)
    return math.ceil(width / ranks)


def _multiple(value: float, of: float) -> float:
    return math.ceil(value / of) * of
