"""A language model as its config.json describes it, in the terms that memory and speed depend on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from advisor.records.common import Cell, Entry

AttentionKind = Literal["full", "sliding", "chunked", "mla", "compressed", "cross", "linear", "mamba", "none"]
FeedForwardKind = Literal["dense", "moe", "none"]


@dataclass(frozen=True, kw_only=True)
class AttentionGroup:
    """Layers of one attention kind. head_dim and v_head_dim (0: as head_dim): values per head. window: tokens.

    mla: kv_lora_rank + rope_head_dim values are cached per token, once for all heads; q_lora_rank 0 means no query
    compression. index_heads, index_head_dim: the indexer of sparse attention caches index_head_dim values a token.
    compressed: one entry of kv_heads x head_dim values for every `compress_ratio` tokens (0: none) beside a sliding
    window. cross: attends to an encoder's tokens; engines allocate its cache like that of a full layer. linear, mamba: `state_values` (recurrent,
    32 bit) and `conv_values` (in the model's type) per sequence and layer, whatever the context.
    parameters_per_layer: weights of the whole block where they do not follow from the heads (linear, mamba, compressed);
    copied_parameters_per_layer: those of them that tensor parallelism does not cut.
    output_gate: a gate as wide as the query projection. key_is_value: no separate value projection.
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
    compress_ratio: int = 0
    state_values: int = 0
    conv_values: int = 0
    shares_kv_with_previous: bool = False
    key_is_value: bool = False
    output_gate: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    parameters_per_layer: int = 0
    copied_parameters_per_layer: int = 0


@dataclass(frozen=True, kw_only=True)
class FeedForwardGroup:
    """Layers of one feed-forward kind. intermediate: hidden width of one expert (MoE) or of the MLP (dense).

    shared_intermediate: width of everything that runs for each token beside the routed experts (all shared experts
    together, or a dense MLP in parallel). matrices: 3 with a gate, 2 without. latent_size: experts work in this
    narrower space, with one projection down and one up per layer.
    """

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
    """The shapes. layers in `attention` and in `feed_forward` each add up to the model's layers (kind none fills up).

    type: model_type of config.json. rope_dim, rope_positions: a table of that many values per position that engines
    hold beside the weights (0: none). learned_positions: rows of a learned position embedding. mtp_layers: layers for
    multi-token prediction, loaded only when speculation is on. vision_parameters, other_parameters: values outside the
    language model.
    """

    type: str
    hidden: int
    vocabulary: int
    tied_embeddings: bool = False
    attention: tuple[AttentionGroup, ...]
    feed_forward: tuple[FeedForwardGroup, ...]
    rope_dim: int = 0
    rope_positions: int = 0
    learned_positions: int = 0
    mtp_layers: int = 0
    vision_parameters: int = 0
    other_parameters: int = 0

    @property
    def layers(self) -> int:
        """Number of decoder layers."""
        return sum(group.layers for group in self.attention)


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """One published or usual weight format.

    precision: name a user says (bf16, fp8, fp4, int8, int4, fp32). format: how quantised values are stored; the key of
    `advisor.sizing.formats.FORMATS` (`nvfp4`, `mxfp4`, `fp8-block`, `fp8`, `awq`, `gptq`, `int4`, `w8a8`, `q4_k_m`);
    empty means the plain precision. group_size: values that share a scale, 0 for the format's own. kept_16bit, kept_8bit:
    roles left in 16 or 8 bit, named as in `advisor.sizing.tensors.ROLES`. layers_kept_16bit: whole layers whose
    feed-forward also stays in 16 bit (first and last). kv_precision: KV type that the checkpoint's scales ask for.
    """

    precision: str
    format: str = ""
    hf_id: str = ""
    size_bytes: Cell | None = None
    kept_16bit: tuple[str, ...] = ()
    kept_8bit: tuple[str, ...] = ()
    layers_kept_16bit: int = 0
    group_size: int = 0
    kv_precision: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Model(Entry):
    """A model people serve. parameters_total and _active count values, not bytes; context_limit is in tokens.

    context_limit_scaled: reached only with a rope setting that the published config does not switch on.
    """

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
