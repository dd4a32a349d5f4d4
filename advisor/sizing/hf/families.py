"""What a config.json leaves to the model's code: per model_type, the defaults that memory depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Family:
    """Traits of one model_type.

    tied: default of tie_word_embeddings. full_every: one full-attention layer in so many, the others slide (0: not such
    a model). window_everywhere: a window applies to all layers. window_by_flag: only when use_sliding_window says so. chunked: attention_chunk_size is in force. mamba, linear:
    most layers are Mamba or linear attention, so the config must say which are not. matrices: of the MLP. parallel_mlp: a dense MLP runs beside the experts. shared_mlp: without experts
    the MLP is as wide as the shared expert. left_out: fields that published configs omit, with the values of the
    configuration class.
    """

    tied: bool = False
    full_every: int = 0
    window_everywhere: bool = False
    window_by_flag: bool = False
    chunked: bool = False
    mamba: bool = False
    linear: bool = False
    matrices: int = 3
    parallel_mlp: bool = False
    shared_mlp: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    output_gate: bool = False
    key_is_value: bool = False
    learned_positions: bool = False
    partial_rotary: float = 1.0
    left_out: Mapping[str, int] = field(default_factory=dict)


_PLAIN = Family()
_TIED = Family(tied=True)

_LIKE_LLAMA = (
    "llama", "mixtral", "deepseek_v2", "deepseek_v3", "deepseek_v32", "deepseek_v4", "deepseek_ref",
    "kimi_k2", "kimi_k25", "yi", "internlm2", "internlm3", "baichuan", "solar", "exaone", "ernie4_5",
    "ernie4_5_moe", "glm_moe_dsa", "bailing_moe", "step3p7", "aquila", "olmo", "olmo2", "olmoe", "seed_oss",
    "hunyuan_v1_dense", "hunyuan_v1_moe",
)  # fmt: skip
"""Model types whose code leaves nothing that memory depends on to defaults other than Llama's."""

FAMILIES: dict[str, Family] = {
    **dict.fromkeys(_LIKE_LLAMA, _PLAIN),
    "kimi_k3": Family(linear=True),
    "kimi_linear": Family(linear=True),
    "qwen2": Family(qkv_bias=True, window_by_flag=True),
    "qwen2_moe": Family(qkv_bias=True, window_by_flag=True),
    "qwen2_vl": Family(qkv_bias=True, window_by_flag=True),
    "qwen2_5_vl": Family(qkv_bias=True, window_by_flag=True),
    "qwen3": Family(qk_norm=True, window_by_flag=True),
    "qwen3_moe": Family(qk_norm=True, window_by_flag=True),
    "qwen3_vl": Family(qk_norm=True, window_by_flag=True),
    "qwen3_vl_moe": Family(qk_norm=True, window_by_flag=True),
    "qwen3_next": Family(qk_norm=True, output_gate=True, linear=True, partial_rotary=0.25),
    "qwen3_5": Family(qk_norm=True, output_gate=True, linear=True, partial_rotary=0.25),
    "qwen3_5_moe": Family(qk_norm=True, output_gate=True, linear=True, partial_rotary=0.25),
    "mimo": Family(qkv_bias=True, window_by_flag=True),
    "mistral": Family(window_everywhere=True),
    "mistral3": Family(window_everywhere=True),
    "ministral": Family(window_everywhere=True),
    "pixtral": _PLAIN,
    "gemma": _TIED,
    "gemma2": Family(tied=True, full_every=2),
    "gemma3": Family(
        tied=True,
        full_every=6,
        qk_norm=True,
        left_out={
            "vocab_size": 262208,
            "num_attention_heads": 8,
            "num_key_value_heads": 4,
            "head_dim": 256,
            "max_position_embeddings": 131072,
            "rope_local_base_freq": 10000,
        },
    ),
    "gemma4": Family(tied=True, full_every=6, qk_norm=True, key_is_value=True, parallel_mlp=True),
    "gpt_oss": Family(full_every=2, qkv_bias=True),
    "llama4": Family(chunked=True),
    "mllama": _PLAIN,
    "phi": Family(matrices=2, qkv_bias=True, partial_rotary=0.4),
    "phi3": Family(window_everywhere=True),
    "phimoe": Family(qkv_bias=True),
    "cohere": _TIED,
    "cohere2": Family(tied=True, full_every=4),
    "granite": _TIED,
    "granitemoe": _TIED,
    "granitemoehybrid": Family(tied=True, mamba=True, shared_mlp=True),
    "falcon": Family(tied=True, matrices=2, left_out={"max_position_embeddings": 2048}),
    "stablelm": Family(partial_rotary=0.25),
    "apertus": Family(matrices=2),
    "nemotron": Family(matrices=2, partial_rotary=0.5),
    "nemotron_h": Family(mamba=True, matrices=2),
    "jamba": Family(mamba=True),
    "bamba": Family(mamba=True),
    **dict.fromkeys(("minimax", "minimax_text_01", "minimax_m1"), Family(linear=True)),
    "minimax_m2": Family(qk_norm=True, partial_rotary=0.5),
    "minimax_m3": Family(qk_norm=True, partial_rotary=0.5),
    "minimax_m3_vl": Family(qk_norm=True, partial_rotary=0.5),
    "glm": Family(qkv_bias=True, partial_rotary=0.5),
    "glm4": Family(partial_rotary=0.5),
    "glm4_moe": Family(qkv_bias=True, partial_rotary=0.5),
    "glm4v_moe": Family(qkv_bias=True, partial_rotary=0.5),
    "chatglm": Family(qkv_bias=True, partial_rotary=0.5),
    "exaone4": Family(full_every=4),
    "mimo_v2_flash": _PLAIN,
    "gptj": Family(matrices=2, partial_rotary=0.25),
    "gpt_neox": Family(matrices=2, qkv_bias=True, partial_rotary=0.25),
    "gpt2": Family(tied=True, matrices=2, qkv_bias=True, learned_positions=True),
    "opt": Family(tied=True, matrices=2, qkv_bias=True, learned_positions=True),
    "bloom": Family(tied=True, matrices=2, qkv_bias=True),
    "mpt": Family(tied=True, matrices=2),
    "starcoder2": Family(tied=True, matrices=2, qkv_bias=True, window_everywhere=True),
    "smollm3": _TIED,
}
"""model_type -> traits. Sources: the modelling and configuration code of each family in Transformers, and its published
configs."""

ARCHITECTURES: dict[str, str] = {
    "LlamaForCausalLM": "llama", "MistralForCausalLM": "mistral", "MixtralForCausalLM": "mixtral",
    "Qwen2ForCausalLM": "qwen2", "Qwen2MoeForCausalLM": "qwen2_moe", "Qwen3ForCausalLM": "qwen3",
    "Qwen3MoeForCausalLM": "qwen3_moe", "Qwen3NextForCausalLM": "qwen3_next",
    "Qwen3_5ForConditionalGeneration": "qwen3_5", "Qwen3_5MoeForConditionalGeneration": "qwen3_5_moe",
    "DeepseekV2ForCausalLM": "deepseek_v2", "DeepseekV3ForCausalLM": "deepseek_v3",
    "DeepseekV32ForCausalLM": "deepseek_v32", "DeepseekV4ForCausalLM": "deepseek_v4",
    "GptOssForCausalLM": "gpt_oss", "Gemma2ForCausalLM": "gemma2", "Gemma3ForCausalLM": "gemma3",
    "Gemma3ForConditionalGeneration": "gemma3", "Gemma4ForConditionalGeneration": "gemma4",
    "Llama4ForConditionalGeneration": "llama4", "Phi3ForCausalLM": "phi3", "PhiForCausalLM": "phi",
    "GraniteForCausalLM": "granite", "CohereForCausalLM": "cohere", "Cohere2ForCausalLM": "cohere2",
    "GlmMoeDsaForCausalLM": "glm_moe_dsa", "Glm4MoeForCausalLM": "glm4_moe", "MiniMaxM2ForCausalLM": "minimax_m2",
    "MiniMaxM3ForCausalLM": "minimax_m3", "MiniMaxM3SparseForCausalLM": "minimax_m3",
    "NemotronHForCausalLM": "nemotron_h", "FalconForCausalLM": "falcon", "DbrxForCausalLM": "dbrx",
    "KimiLinearForCausalLM": "kimi_linear", "Mistral3ForConditionalGeneration": "mistral3",
}  # fmt: skip
"""Class name in `architectures` -> model_type, for configs that leave model_type out."""


def family_of(model_type: str) -> Family | None:
    """Traits of a model_type with or without a `_text` suffix; None when it is not known."""
    folded = model_type.lower().replace("-", "_")
    return FAMILIES.get(folded) or FAMILIES.get(folded.removesuffix("_text"))
