"""Reading a Hugging Face config.json: the many spellings of one quantity, and which fields nobody understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from advisor.errors import InputError
from advisor.units import shown

SPELLINGS: dict[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model", "dim", "model_dim"),
    "heads": ("num_attention_heads", "n_head", "num_heads", "n_heads"),
    "kv_heads": (
        "num_key_value_heads", "n_head_kv", "num_kv_heads", "n_kv_heads", "multi_query_group_num",
        "num_attention_groups",
    ),
    "head_dim": ("head_dim", "attention_head_dim", "kv_channels"),
    "intermediate": (
        "intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "mlp_hidden_size",
        "ffn_intermediate_size",
    ),
    "vocabulary": ("vocab_size", "padded_vocab_size", "n_vocab"),
    "context": (
        "max_position_embeddings", "max_seq_len", "n_positions", "seq_length", "max_sequence_length",
        "n_ctx", "seq_len",
    ),
    "experts": ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts", "num_moe_experts"),
    "experts_per_token": (
        "num_experts_per_tok", "num_experts_per_token", "moe_topk", "experts_per_token", "top_k_experts",
        "moe_k", "moe_top_k",
    ),
    "expert_intermediate": (
        "moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size", "expert_hidden_size",
        "expert_intermediate_size",
    ),
    "shared_experts": (
        "n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts",
    ),
    "shared_intermediate": (
        "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
        "shared_intermediate_size", "share_expert_dim",
    ),
    "window": ("sliding_window", "sliding_window_size"),
    "chunk": ("attention_chunk_size",),
    "mtp_layers": ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers"),
    "rope_head_dim": ("qk_rope_head_dim",),
    "nope_head_dim": ("qk_nope_head_dim",),
    "index_heads": ("index_n_heads",),
    "conv_kernel": ("linear_conv_kernel_dim", "conv_kernel", "mamba_d_conv", "short_conv_kernel_size"),
}  # fmt: skip
"""Quantity -> its names in config.json, the commonest first."""

TEXT_BLOCKS = ("text_config", "llm_config", "language_config", "thinker_config", "language_model_config")
"""Keys under which multimodal configs nest the language model."""

IRRELEVANT = frozenset((
    "_name_or_path", "add_bos_token", "add_cross_attention", "add_qkv_bias", "aggregate_expert_dim",
    "also_in", "architecture_from", "architectures", "attention_bias", "attention_dropout",
    "attention_dropout_prob", "attention_logit_cap", "attention_multiplier", "attention_out_bias",
    "attn_implementation", "attn_logit_softcapping", "attn_output_gate", "attn_pdrop", "attn_scale",
    "attn_temperature_tuning", "audio_token_id", "auto_map", "aux_loss_alpha", "beam_width",
    "begin_suppress_tokens", "bias", "boi_token_index", "bos_token_id", "chunk_size",
    "chunk_size_feed_forward", "classifier_dropout", "clip_qkv", "compression_config",
    "cross_attention_hidden_size", "decoder_start_token_id", "diversity_penalty", "do_sample", "dtype",
    "early_stopping", "emb_multiplier", "embd_pdrop", "embedding_multiplier", "embedding_norm",
    "encoder_no_repeat_ngram_size", "eoi_token_index", "eos_token_id", "ep_size", "experimental",
    "expert_dropout", "expert_layer_offset", "exponential_decay_length_penalty", "final_logit_softcapping",
    "finetuning_task", "floor_scale", "for_causal_lm", "for_llm_compressor", "forced_bos_token_id",
    "forced_eos_token_id", "gradient_checkpointing", "hf_quant_config", "hidden_act", "hidden_act_alpha",
    "hidden_activation", "hidden_dropout", "hidden_dropout_prob", "id2label", "ignore_index",
    "image_token_id", "image_token_index", "initial_context_length", "initializer_factor",
    "initializer_range", "is_causal", "is_decoder", "is_encoder_decoder",
    "kv_bytes_per_token_matches_a_logged_case", "label2id", "layer_norm", "layer_norm_eps",
    "layer_norm_epsilon", "length_penalty", "logit_scale", "logits_scaling", "logits_soft_cap",
    "mamba_chunk_size", "mamba_conv_bias", "mamba_dt_init_floor", "mamba_dt_limit", "mamba_dt_max",
    "mamba_dt_min", "mamba_dt_rank", "mamba_hidden_act", "mamba_proj_bias", "mamba_ssm_cache_dtype",
    "mamba_ssm_dtype", "max_length", "max_window_layers", "min_length", "mlp_bias", "mlp_hidden_act",
    "mm_tokens_per_image", "model_type", "moe_aux_loss_coeff", "moe_latent_size", "moe_router_dtype",
    "mrope_section", "multimodal_projector_bias", "n_group", "name_or_path", "no_repeat_ngram_size",
    "norm_after", "norm_bias", "norm_eps", "norm_epsilon", "norm_topk_prob", "norm_type", "note",
    "num_beam_groups", "num_beams", "num_logits_to_keep", "num_return_sequences",
    "original_max_position_embeddings", "output_attentions", "output_gate_type", "output_hidden_states",
    "output_router_logits", "output_scores", "pad_token_id", "prefix", "pretraining_tp", "problem_type",
    "projector_hidden_act", "pruned_heads", "qk_layernorm", "qk_nope_head_dim", "qkv_bias",
    "quantization_config", "query_pre_attn_scalar", "raw_fields_present", "remove_invalid_values",
    "repetition_penalty", "rescale_prenorm_residual", "resid_pdrop", "residual_dropout", "residual_in_fp32",
    "residual_multiplier", "return_dict", "return_dict_in_generate", "rms_norm", "rms_norm_eps",
    "rope_interleave", "rope_interleaved", "rope_local_base_freq", "rope_parameters", "rope_scaling",
    "rope_theta", "rotary_base", "rotary_emb_base", "routed_scaling_factor", "router_aux_loss_coef",
    "router_dtype", "router_jitter_noise", "router_scoring_func", "router_z_loss_coef",
    "scale_attention_softmax", "scale_depth", "scale_emb", "scoring_func", "sep_token_id", "seq_aux",
    "sink", "source", "source_kind", "spatial_merge_size", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj", "superseded_source", "suppress_tokens",
    "swiglu_limit", "task_specific_params", "temperature", "tf_legacy_loss", "time_step_floor",
    "time_step_limit", "time_step_max", "time_step_min", "time_step_rank", "tokenizer_class", "top_k",
    "top_p", "topk_group", "topk_method", "torch_dtype", "torchscript", "total_parameters_stated",
    "transformers_version", "typical_p", "unsloth_version", "use_bfloat16", "use_bias", "use_cache",
    "use_conv_bias", "use_mamba_kernels", "use_mqa", "use_qk_norm", "use_return_dict", "use_routing_bias",
    "v_head_dim", "video_token_id", "vision_end_token_id", "vision_feature_layer",
    "vision_feature_select_strategy", "vision_start_token_id", "vision_token_id",
))  # fmt: skip
"""Fields that change neither memory nor speed, or that are read beside the spellings above."""


_CONSUMED = frozenset(name for names in SPELLINGS.values() for name in names) | {
    "full_attention_interval", "layer_types", "layer_types_summary", "layer_types_first12", "sliding_window_pattern",
    "no_rope_layers", "no_rope_layer_interval", "no_rope_layers_len", "no_rope_layers_zeros", "intermediate_size_mlp",
    "use_sliding_window", "decoder_sparse_step", "mlp_only_layers", "moe_layer_freq", "moe_layers", "tie_word_embeddings",
    "first_k_dense_replace", "interleave_moe_layer_step", "vision_config", "partial_rotary_factor", *TEXT_BLOCKS,
}  # fmt: skip
"""Fields that the readers understand, whether or not this model needed them."""


MAX_QUANTITY = 1_000_000_000
"""What the schema of a model allows too; sums and products of these stay exact."""


class Fields:
    """One level of a config with a record of what was read.

    left_out: what the configuration class fills in for fields that no level has; assumed: those that were needed.
    """

    def __init__(self, data: Mapping[str, Any], *, parents: Sequence[Mapping[str, Any]] = ()) -> None:
        self.data = data
        self.parents = tuple(parents)
        self.read: set[str] = set()
        self.left_out: Mapping[str, Any] = {}
        self.assumed: dict[str, Any] = {}

    def raw(self, *names: str) -> Any:
        """The first of `names` that is set, here, in an enclosing level or by the configuration class; None when none is."""
        for level in (self.data, *self.parents):
            for name in names:
                if level.get(name) is not None:
                    self.read.add(name)
                    return level[name]
        for name in names:
            if name in self.left_out:
                self.assumed[name] = self.left_out[name]
                return self.left_out[name]
        return None

    def number(self, quantity: str, default: int | None = None) -> int:
        """A non-negative whole quantity by any of its spellings. Raises InputError when missing or not a number."""
        names = SPELLINGS.get(quantity, (quantity,))
        value = self.raw(*names)
        if isinstance(value, list) and value and all(item == value[0] for item in value):
            value = value[0]
        if value is None:
            if default is not None:
                return default
            raise InputError(f"config: {' or '.join(names[:3])} is missing; it is needed to size the model")
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or value != int(value)
            or not 0 <= value <= MAX_QUANTITY
        ):
            raise InputError(
                f"config: {names[0]} is {shown(str(value))}, not a whole number up to {MAX_QUANTITY:,}"
            )
        return int(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean field."""
        value = self.raw(name)
        return default if value is None else bool(value)

    def listing(self, *names: str) -> list[Any] | None:
        """A list field, or None. Text of the form `<list …>` (left out by whoever copied the config) counts as absent."""
        value = self.raw(*names)
        return value if isinstance(value, list) else None

    def mapping(self, *names: str) -> Mapping[str, Any]:
        """A nested block, or an empty one."""
        value = self.raw(*names)
        return value if isinstance(value, Mapping) else {}

    def unread(self) -> tuple[str, ...]:
        """Fields of this level with a value that were neither read nor irrelevant, sorted."""
        ignored: tuple[Any, ...] = (False, 0, "", None, [], {})
        known = self.read | IRRELEVANT | _CONSUMED
        return tuple(
            sorted(key for key, value in self.data.items() if key not in known and value not in ignored)
        )
