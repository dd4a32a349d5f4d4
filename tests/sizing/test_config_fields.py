"""Field names of published configs: each spelling of a quantity is read, what does not matter is passed over, the rest is reported."""

from __future__ import annotations

import pytest

from advisor.errors import InputError
from advisor.sizing.hf.fields import MAX_QUANTITY, SPELLINGS, Fields

PUBLISHED = {
    "layers": "num_hidden_layers n_layer num_layers n_layers",  # Llama, GPT-2, ChatGLM, MPT
    "hidden": "hidden_size n_embd d_model dim model_dim",  # Llama, GPT-2, MPT, Mistral's params.json, OpenELM
    "heads": "num_attention_heads n_head num_heads n_heads",
    # Llama, Falcon in GGUF's words, OpenELM, Mistral, ChatGLM, Step
    "kv_heads": "num_key_value_heads n_head_kv num_kv_heads n_kv_heads multi_query_group_num num_attention_groups",
    "head_dim": "head_dim attention_head_dim kv_channels",  # Gemma, Hunyuan, ChatGLM
    "intermediate": "intermediate_size ffn_hidden_size n_inner ffn_dim mlp_hidden_size ffn_intermediate_size",
    "vocabulary": "vocab_size padded_vocab_size n_vocab",
    "context": "max_position_embeddings max_seq_len n_positions seq_length max_sequence_length n_ctx seq_len",
    "experts": "n_routed_experts num_experts num_local_experts moe_num_experts num_moe_experts",  # DeepSeek, Qwen, Mixtral, ERNIE
    "experts_per_token": (
        "num_experts_per_tok num_experts_per_token moe_topk experts_per_token top_k_experts moe_k moe_top_k"
    ),
    "expert_intermediate": (
        "moe_intermediate_size expert_ffn_hidden_size moe_ffn_hidden_size expert_hidden_size expert_intermediate_size"
    ),
    "shared_experts": "n_shared_experts num_shared_experts num_shared_expert moe_num_shared_experts",
    "shared_intermediate": (
        "shared_expert_intermediate_size moe_shared_expert_intermediate_size shared_intermediate_size share_expert_dim"
    ),
    "window": "sliding_window sliding_window_size",
    "chunk": "attention_chunk_size",
    "mtp_layers": "num_nextn_predict_layers mtp_num_hidden_layers num_mtp_layers",
    "rope_head_dim": "qk_rope_head_dim",
    "nope_head_dim": "qk_nope_head_dim",
    "index_heads": "index_n_heads",
    "conv_kernel": "linear_conv_kernel_dim conv_kernel mamba_d_conv short_conv_kernel_size",
}  # fmt: skip
"""Quantity -> its names in configs on the hub."""


@pytest.mark.parametrize(
    ("quantity", "name"), [(q, name) for q, names in PUBLISHED.items() for name in names.split()]
)
def test_every_published_spelling_is_read_and_understood(quantity: str, name: str) -> None:
    """By any of its names, also in an enclosing level, and it is not reported as unread."""
    fields = Fields({name: 7})
    assert fields.number(quantity) == 7
    assert Fields({}, parents=[{name: 7}]).number(quantity) == 7
    assert Fields({name: 7}).unread() == ()


def test_the_commonest_spelling_wins() -> None:
    """A config with both names means the one of the Llama family."""
    for quantity, names in SPELLINGS.items():
        both = {name: index + 1 for index, name in enumerate(names)}
        assert Fields(both).number(quantity) == 1


WITHOUT_EFFECT = {
    "PretrainedConfig": (  # what transformers wrote into each config.json
        "_name_or_path architectures add_cross_attention bad_words begin_suppress_tokens bos_token_id chunk_size_feed_forward "
        "cross_attention_hidden_size decoder_start_token_id diversity_penalty do_sample early_stopping encoder_no_repeat_ngram_size "
        "eos_token_id exponential_decay_length_penalty finetuning_task forced_bos_token_id forced_eos_token_id id2label is_decoder "
        "is_encoder_decoder label2id length_penalty max_length min_length model_type no_repeat_ngram_size num_beam_groups num_beams "
        "num_return_sequences output_attentions output_hidden_states output_scores pad_token_id prefix problem_type pruned_heads "
        "remove_invalid_values repetition_penalty return_dict return_dict_in_generate sep_token_id suppress_tokens "
        "task_specific_params temperature tf_legacy_loss tie_word_embeddings tokenizer_class top_k top_p torch_dtype torchscript "
        "transformers_version typical_p use_bfloat16 dtype use_return_dict name_or_path auto_map gradient_checkpointing"
    ),
    "GPT-2": (
        "attn_pdrop embd_pdrop initializer_range layer_norm_epsilon resid_pdrop summary_activation summary_first_dropout "
        "summary_proj_to_labels summary_type summary_use_proj use_cache"
    ),
    "Llama": (
        "attention_bias attention_dropout hidden_act initializer_range mlp_bias pretraining_tp rms_norm_eps rope_scaling rope_theta "
        "use_cache quantization_config"
    ),
    "Mixtral": "output_router_logits router_aux_loss_coef router_jitter_noise",
    "Qwen": (
        "max_window_layers norm_topk_prob qkv_bias use_qk_norm mrope_section vision_start_token_id vision_end_token_id vision_token_id "
        "image_token_id video_token_id attn_output_gate output_gate_type mamba_ssm_dtype spatial_merge_size audio_token_id rope_parameters"
    ),
    "DeepSeek": (
        "aux_loss_alpha ep_size n_group routed_scaling_factor scoring_func seq_aux topk_group topk_method v_head_dim qk_nope_head_dim "
        "rope_interleave"
    ),
    "Gemma": (
        "attn_logit_softcapping final_logit_softcapping hidden_activation query_pre_attn_scalar rope_local_base_freq "
        "boi_token_index eoi_token_index image_token_index mm_tokens_per_image"
    ),
    "gpt-oss": "swiglu_limit initial_context_length router_aux_loss_coef hidden_act_alpha use_bias",
    "Falcon, MPT, ChatGLM": (
        "bias hidden_dropout use_mqa add_bos_token layer_norm_eps add_qkv_bias clip_qkv norm_type logit_scale use_conv_bias "
        "chunk_size embedding_norm norm_epsilon rms_norm residual_dropout hidden_dropout_prob attention_dropout_prob norm_eps"
    ),
    "Granite": "attention_multiplier embedding_multiplier logits_scaling residual_multiplier",
    "Nemotron-H, Jamba, Mamba": (
        "mamba_chunk_size mamba_conv_bias mamba_dt_rank mamba_hidden_act mamba_proj_bias mamba_ssm_cache_dtype mamba_dt_init_floor "
        "mamba_dt_limit mamba_dt_max mamba_dt_min mlp_hidden_act num_logits_to_keep rescale_prenorm_residual residual_in_fp32 "
        "time_step_floor time_step_limit time_step_max time_step_min time_step_rank use_mamba_kernels moe_latent_size"
    ),
    "Llama 4, multimodal": (
        "attn_scale attn_temperature_tuning floor_scale for_llm_compressor ignore_index multimodal_projector_bias projector_hidden_act "
        "vision_feature_layer vision_feature_select_strategy router_z_loss_coef"
    ),
    "MiniCPM, OLMo, Cohere, Phi, ERNIE": (
        "scale_depth scale_emb emb_multiplier norm_after layer_norm qk_layernorm original_max_position_embeddings "
        "moe_router_dtype router_dtype router_scoring_func moe_aux_loss_coeff use_routing_bias norm_bias expert_dropout"
    ),
}  # fmt: skip
"""Family -> fields of its published configs that neither memory nor speed depends on."""


@pytest.mark.parametrize("family", WITHOUT_EFFECT)
def test_fields_without_effect_are_passed_over(family: str) -> None:
    """A config of the family raises no note about them."""
    names = [name for name in WITHOUT_EFFECT[family].split() if name != "bad_words"]
    assert Fields(dict.fromkeys(names, "set")).unread() == ()


def test_a_field_that_nobody_knows_is_reported_once_it_is_set() -> None:
    """Sorted; switched off or empty fields need no note, and neither do those that were read."""
    fields = Fields(
        {
            "zeta_layers": 3,
            "alpha_cache": True,
            "off": False,
            "none": None,
            "zero": 0,
            "empty": "",
            "list": [],
            "map": {},
            "seen": 5,
        }
    )
    assert fields.raw("seen") == 5
    assert fields.unread() == ("alpha_cache", "zeta_layers")


@pytest.mark.parametrize(
    "name",
    [
        "full_attention_interval",
        "layer_types",
        "sliding_window_pattern",
        "no_rope_layers",
        "no_rope_layer_interval",
        "intermediate_size_mlp",
        "use_sliding_window",
        "decoder_sparse_step",
        "mlp_only_layers",
        "moe_layer_freq",
        "moe_layers",
        "tie_word_embeddings",
        "first_k_dense_replace",
        "interleave_moe_layer_step",
        "vision_config",
        "partial_rotary_factor",
        "text_config",
        "llm_config",
        "language_config",
        "thinker_config",
        "language_model_config",
    ],
)
def test_fields_that_readers_use_are_not_reported(name: str) -> None:
    """Whether or not this model needed them."""
    assert Fields({name: 3}).unread() == ()


@pytest.mark.parametrize("value", [0, MAX_QUANTITY, 4096.0, [128, 128, 128]])
def test_whole_numbers_are_quantities(value: object) -> None:
    """Zero, the largest allowed, a float without a fraction, a list of equal values (one for each layer)."""
    expected = value[0] if isinstance(value, list) else value
    assert Fields({"hidden_size": value}).number("hidden") == expected


@pytest.mark.parametrize("value", [-1, MAX_QUANTITY + 1, 0.5, True, "4096", [128, 64], []])
def test_anything_else_is_no_quantity(value: object) -> None:
    """Negative, too large, a fraction, a flag, text, unlike values: refused with the field's name."""
    with pytest.raises(InputError, match=r"^config: hidden_size is .*, not a whole number"):
        Fields({"hidden_size": value}).number("hidden", 5)


def test_what_is_missing_has_a_default_or_is_named() -> None:
    """The message names the spellings; a default of zero is one; null counts as missing."""
    assert Fields({}).number("hidden", 0) == 0
    assert Fields({"hidden_size": None}).number("hidden", 7) == 7
    with pytest.raises(InputError, match="hidden_size or n_embd or d_model is missing"):
        Fields({}).number("hidden")


def test_levels_and_what_the_configuration_class_fills_in() -> None:
    """Own level before parents; defaults of the class last, remembered as assumed."""
    fields = Fields({"a": 1}, parents=[{"a": 2, "b": 3}])
    fields.left_out = {"c": 4, "b": 9}
    assert (fields.raw("a"), fields.raw("b"), fields.raw("x", "c"), fields.raw("x")) == (1, 3, 4, None)
    assert fields.assumed == {"c": 4}
    assert fields.read == {"a", "b"}


def test_flags_lists_and_blocks() -> None:
    """Each with a neutral answer for what is absent or of another shape."""
    fields = Fields({"yes": True, "no": 0, "list": [1], "block": {"x": 1}, "text": "<list of 48>"})
    assert (
        fields.flag("yes"),
        fields.flag("no", True),
        fields.flag("absent"),
        fields.flag("absent", True),
    ) == (True, False, False, True)
    assert (fields.listing("list"), fields.listing("text"), fields.listing("absent")) == ([1], None, None)
    assert (fields.mapping("block"), fields.mapping("text"), fields.mapping("absent")) == ({"x": 1}, {}, {})
