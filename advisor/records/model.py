"""A language model as its config.json describes it, in the terms that memory and speed depend on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from advisor.records.common import Cell, Entry

AttentionKind = Literal["full", "sliding", "chunked", "mla", "linear", "mamba", "none"]
FeedForwardKind = Literal["dense", "moe", "none"]


@dataclass(frozen=True, kw_only=True)
class AttentionGroup:
    """Layers of one attention kind. head_dim and v_head_dim: values per head. window: tokens (sliding, chunked).

    MLA: kv_lora_rank + rope_head_dim values are cached per token; q_lora_rank 0 means no query compression.
    Sparse attention: index_head_dim values a token are cached by the indexer. Linear and Mamba layers keep
    `state_values` per sequence (plus `conv_values`), whatever the context.
    """

    layers: int
    kind: AttentionKind = "full"
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    v_head_dim: int = 0
    window: int = 0
    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    rope_head_dim: int = 0
    nope_head_dim: int = 0
    index_heads: int = 0
    index_head_dim: int = 0
    index_topk: int = 0
    state_values: int = 0
    conv_values: int = 0
    shares_kv_with_previous: bool = False
    key_is_value: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    parameters_per_layer: int = 0


@dataclass(frozen=True, kw_only=True)
class FeedForwardGroup:
    """Layers of one feed-forward kind. intermediate: hidden width of one expert (MoE) or of the MLP (dense)."""

    layers: int
    kind: FeedForwardKind = "dense"
    intermediate: int = 0
    experts: int = 0
    experts_per_token: int = 0
    shared_experts: int = 0
    shared_intermediate: int = 0
    matrices: int = 3
    latent_size: int = 0


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The shapes. layers in `attention` and in `feed_forward` each add up to the model's layers."""

    type: str
    hidden: int
    vocabulary: int
    tied_embeddings: bool = False
    attention: tuple[AttentionGroup, ...]
    feed_forward: tuple[FeedForwardGroup, ...]
    mtp_layers: int = 0
    vision_parameters: int = 0
    other_parameters: int = 0

    @property
    def layers(self) -> int:
        """Number of decoder layers."""
        return sum(group.layers for group in self.attention)


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """One published or usual weight format. precision: name a user says (`bf16`, `fp8`, `fp4`, `int4`, `int8`).

    format: how it is stored (`nvfp4`, `mxfp4`, `fp8-block`, `fp8-tensor`, `awq`, `gptq`, `w8a8`, `q4_k_m`). bits:
    stored bits per quantised value with its scales, when it differs from the format's own. kept_16bit: parts left in
    16 bit (`embedding`, `head`, `attention`, `router`, `shared_experts`, `dense_layers`, `vision`, `mtp`).
    """

    precision: str
    format: str = ""
    hf_id: str = ""
    size_bytes: Cell | None = None
    kept_16bit: tuple[str, ...] = ()
    kept_8bit: tuple[str, ...] = ()
    group_size: int = 0
    kv_precision: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Model(Entry):
    """A model people serve. parameters_total and _active count values, not bytes; context_limit is in tokens."""

    family: str
    developer: str = ""
    hf_id: str = ""
    released: str = ""
    parameters_total: Cell
    parameters_active: Cell | None = None
    context_limit: Cell
    context_limit_scaled: Cell | None = None
    architecture: Architecture
    checkpoints: tuple[Checkpoint, ...]
    concepts: tuple[str, ...] = ()
    facts: dict[str, Cell] = field(default_factory=dict)
    note: str = ""
