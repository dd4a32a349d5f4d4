"""What configs leave to the model's code, and words for layers: as Transformers' configuration and modelling code has them."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.errors import InputError
from advisor.records import AttentionGroup
from advisor.sizing.hf.config import read_config
from advisor.sizing.hf.families import ARCHITECTURES, FAMILIES, Family, family_of

TRAITS: dict[str, str] = {
    "tied": (
        "gemma gemma2 gemma3 gemma4 cohere cohere2 granite granitemoe granitemoehybrid falcon gpt2 opt bloom mpt starcoder2 smollm3"
    ),
    "window_by_flag": "qwen2 qwen2_moe qwen2_vl qwen2_5_vl qwen3 qwen3_moe qwen3_vl qwen3_vl_moe mimo",
    "window_everywhere": "mistral mistral3 ministral phi3 starcoder2",
    "chunked": "llama4", "mamba": "granitemoehybrid nemotron_h jamba bamba",
    "linear": "kimi_k3 kimi_linear qwen3_next qwen3_5 qwen3_5_moe minimax minimax_text_01 minimax_m1",
    "parallel_mlp": "gemma4", "shared_mlp": "granitemoehybrid",
    "qkv_bias": (
        "qwen2 qwen2_moe qwen2_vl qwen2_5_vl mimo gpt_oss phi phimoe glm glm4_moe glm4v_moe chatglm gpt_neox gpt2 opt bloom starcoder2"
    ),
    "qk_norm": (
        "qwen3 qwen3_moe qwen3_vl qwen3_vl_moe qwen3_next qwen3_5 qwen3_5_moe gemma3 gemma4 minimax_m2 minimax_m3 minimax_m3_vl"
    ),
    "output_gate": "qwen3_next qwen3_5 qwen3_5_moe", "key_is_value": "gemma4", "learned_positions": "gpt2 opt",
}  # fmt: skip
"""Trait -> the model types whose code has it."""

NUMBERS: dict[str, dict[str, float]] = {
    "full_every": {"gemma2": 2, "gemma3": 6, "gemma4": 6, "gpt_oss": 2, "cohere2": 4, "exaone4": 4},
    "matrices": dict.fromkeys(
        ["phi", "falcon", "apertus", "nemotron", "nemotron_h", "gptj", "gpt_neox", "gpt2", "opt", "bloom", "mpt", "starcoder2"], 2
    ),
    "partial_rotary": {
        **dict.fromkeys(["qwen3_next", "qwen3_5", "qwen3_5_moe", "stablelm", "gptj", "gpt_neox"], 0.25), "phi": 0.4,
        **dict.fromkeys(["nemotron", "minimax_m2", "minimax_m3", "minimax_m3_vl", "glm", "glm4", "glm4_moe", "glm4v_moe", "chatglm"], 0.5),
    },
}  # fmt: skip


@pytest.mark.parametrize("trait", TRAITS)
def test_traits_belong_to_the_families_that_have_them(trait: str) -> None:
    """Each family has it, and no other."""
    assert {name for name, family in FAMILIES.items() if getattr(family, trait)} == set(TRAITS[trait].split())


@pytest.mark.parametrize("trait", NUMBERS)
def test_numbers_of_a_family_differ_from_llamas_where_its_code_does(trait: str) -> None:
    """One full layer in so many, matrices of the MLP, the rotated share of a head."""
    usual = getattr(Family(), trait)
    assert {n: getattr(f, trait) for n, f in FAMILIES.items() if getattr(f, trait) != usual} == NUMBERS[trait]


def test_values_that_published_configs_omit() -> None:
    """Gemma 3's text configuration and Falcon's, as their classes fill them in."""
    gemma = FAMILIES["gemma3"].left_out
    assert (gemma["vocab_size"], gemma["num_attention_heads"], gemma["num_key_value_heads"]) == (262208, 8, 4)
    assert (gemma["head_dim"], gemma["max_position_embeddings"], gemma["rope_local_base_freq"]) == (
        256,
        131072,
        10000,
    )
    assert FAMILIES["falcon"].left_out == {"max_position_embeddings": 2048}
    assert {name for name, family in FAMILIES.items() if family.left_out} == {"gemma3", "falcon"}


@pytest.mark.parametrize(
    "name",
    [
        "llama",
        "mixtral",
        "deepseek_v2",
        "deepseek_v3",
        "deepseek_v32",
        "deepseek_v4",
        "kimi_k2",
        "yi",
        "internlm2",
        "internlm3",
        "baichuan",
        "exaone",
        "ernie4_5",
        "ernie4_5_moe",
        "glm_moe_dsa",
        "bailing_moe",
        "aquila",
        "olmo",
        "olmo2",
        "olmoe",
        "seed_oss",
        "hunyuan_v1_dense",
        "hunyuan_v1_moe",
        "pixtral",
        "mllama",
        "mimo_v2_flash",
        "deepseek_ref",
        "kimi_k25",
        "solar",
        "step3p7",
    ],
)
def test_families_like_llama_leave_nothing_to_defaults(name: str) -> None:
    """Known, and without traits of their own; as a text part and in capitals too."""
    assert family_of(name) == Family()
    assert family_of(f"{name}_text") == Family()
    assert family_of(name.upper().replace("_", "-")) == Family()


def test_an_unknown_family_is_not_guessed() -> None:
    """Nothing near is taken."""
    assert family_of("llama9") is None


@pytest.mark.parametrize(
    ("name", "model_type"),
    [
        ("LlamaForCausalLM", "llama"), ("MistralForCausalLM", "mistral"), ("MixtralForCausalLM", "mixtral"), ("Qwen2ForCausalLM", "qwen2"),
        ("Qwen2MoeForCausalLM", "qwen2_moe"), ("Qwen3ForCausalLM", "qwen3"), ("Qwen3MoeForCausalLM", "qwen3_moe"), ("Qwen3NextForCausalLM", "qwen3_next"),
        ("Qwen3_5ForConditionalGeneration", "qwen3_5"), ("Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe"), ("DeepseekV2ForCausalLM", "deepseek_v2"),
        ("DeepseekV3ForCausalLM", "deepseek_v3"), ("DeepseekV32ForCausalLM", "deepseek_v32"), ("DeepseekV4ForCausalLM", "deepseek_v4"),
        ("GptOssForCausalLM", "gpt_oss"), ("Gemma2ForCausalLM", "gemma2"), ("Gemma3ForCausalLM", "gemma3"), ("Gemma3ForConditionalGeneration", "gemma3"),
        ("Gemma4ForConditionalGeneration", "gemma4"), ("Llama4ForConditionalGeneration", "llama4"), ("Phi3ForCausalLM", "phi3"),
        ("PhiForCausalLM", "phi"), ("GraniteForCausalLM", "granite"), ("CohereForCausalLM", "cohere"), ("Cohere2ForCausalLM", "cohere2"),
        ("GlmMoeDsaForCausalLM", "glm_moe_dsa"), ("Glm4MoeForCausalLM", "glm4_moe"), ("MiniMaxM2ForCausalLM", "minimax_m2"),
        ("MiniMaxM3ForCausalLM", "minimax_m3"), ("MiniMaxM3SparseForCausalLM", "minimax_m3"), ("NemotronHForCausalLM", "nemotron_h"),
        ("FalconForCausalLM", "falcon"), ("DbrxForCausalLM", "dbrx"), ("KimiLinearForCausalLM", "kimi_linear"),
        ("Mistral3ForConditionalGeneration", "mistral3"),
    ],
)  # fmt: skip
def test_a_class_name_stands_for_its_model_type(name: str, model_type: str) -> None:
    """For configs without model_type."""
    assert ARCHITECTURES[name] == model_type


BASE: dict[str, Any] = {
    "model_type": "llama", "num_hidden_layers": 4, "hidden_size": 1000, "intermediate_size": 4000, "num_attention_heads": 10, "num_key_value_heads": 2,
    "vocab_size": 32000, "max_position_embeddings": 8192,
}  # fmt: skip
STATE = {"mamba_num_heads": 20, "mamba_head_dim": 100, "ssm_state_size": 16, "n_groups": 2, "conv_kernel": 4}
DELTA = {
    "linear_num_value_heads": 6, "linear_num_key_heads": 3, "linear_key_head_dim": 50, "linear_value_head_dim": 40, "linear_conv_kernel_dim": 4,
}  # fmt: skip


def groups(**fields: Any) -> tuple[AttentionGroup, ...]:
    return read_config({**BASE, **fields}).model.architecture.attention


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        *((word, "full") for word in ("full_attention", "attention", "full", "global", "global_attention", "*", "f", "g", "minimax_sparse", "G")),
        *((word, "sliding") for word in ("sliding_attention", "sliding", "local", "local_attention", "sliding_window", "l", "L")),
        ("chunked_attention", "chunked"), *((word, "linear") for word in ("linear_attention", "lightning", "linear", "kda", "gated_deltanet")),
        *((word, "mamba") for word in ("mamba", "mamba2", "m", "M")), *((word, "none") for word in ("-", "e", "mlp", "moe", "E")),
    ],
)  # fmt: skip
def test_words_for_layers(word: str, kind: str) -> None:
    """As layer_types, layers_block_type and patterns of letters have them."""
    found = groups(
        layer_types=["full_attention", word, word, word],
        sliding_window=512,
        attention_chunk_size=512,
        **STATE,
        **DELTA,
    )
    counted: dict[str, int] = {}
    for group in found:
        counted[group.kind] = counted.get(group.kind, 0) + group.layers
    assert counted == ({"full": 4} if kind == "full" else {"full": 1, kind: 3})


@pytest.mark.parametrize("word", ["deepseek_sparse_attention", "mla", "full_attention"])
def test_latent_models_attend_by_their_latent(word: str) -> None:
    """Where a latent rank is given, a full layer is one of latent attention."""
    latent = {
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "q_lora_rank": 1536,
    }
    (group,) = groups(model_type="deepseek_v3", layer_types=[word] * 4, **latent)
    assert (group.kind, group.layers, group.heads, group.kv_heads) == ("mla", 4, 10, 1)
    assert (
        group.kv_lora_rank,
        group.rope_head_dim,
        group.nope_head_dim,
        group.v_head_dim,
        group.q_lora_rank,
    ) == (512, 64, 128, 128, 1536)


def test_an_unknown_word_and_a_short_list_are_refused() -> None:
    """With the word, and with both counts; a list longer than the model (its draft layers) is cut."""
    with pytest.raises(InputError, match="layer type 'spiral' is not known"):
        groups(layer_types=["spiral"] * 4)
    with pytest.raises(InputError, match="layer_types names 3 layers, num_hidden_layers is 4"):
        groups(layer_types=["full"] * 3)
    assert [g.layers for g in groups(layer_types=["full"] * 5)] == [4]


def test_a_mamba_layer_by_hand() -> None:
    """20 heads of 100: 2,000 inner values, a state of 16 for each; a kernel of 4 over inputs and two groups of B and C."""
    mamba = next(g for g in groups(hybrid_override_pattern="M*M*", **STATE) if g.kind == "mamba")
    convolved = 2000 + 2 * 2 * 16
    assert (mamba.layers, mamba.heads, mamba.kv_heads, mamba.head_dim) == (2, 20, 2, 100)
    assert mamba.state_values == 2000 * 16
    assert mamba.conv_values == 3 * convolved
    assert mamba.parameters_per_layer == 1000 * (2 * 2000 + 2 * 2 * 16 + 20) + 2000 * 1000 + 4 * convolved
    expanded = next(
        g
        for g in groups(hybrid_override_pattern="M*M*", mamba_expand=2, mamba_d_state=8, mamba_n_groups=1)
        if g.kind == "mamba"
    )
    assert (expanded.state_values, expanded.conv_values) == (2000 * 8, 3 * (2000 + 2 * 8))
    with pytest.raises(InputError, match="Mamba layers without"):
        groups(hybrid_override_pattern="M*M*", ssm_state_size=16)
    with pytest.raises(InputError, match="Mamba layers without"):
        groups(hybrid_override_pattern="M*M*", mamba_num_heads=20, mamba_head_dim=100)


def test_a_gated_delta_layer_by_hand() -> None:
    """6 value heads of 40 on 3 key heads of 50: a state of 50 x 40 a value head; projections, gates, output, convolution."""
    linear = next(g for g in groups(full_attention_interval=4, **DELTA) if g.kind == "linear")
    assert linear.layers == 3
    assert (linear.heads, linear.kv_heads, linear.head_dim, linear.v_head_dim) == (6, 3, 50, 40)
    assert linear.state_values == 6 * 50 * 40
    assert linear.conv_values == 3 * (2 * 150 + 240)
    assert linear.parameters_per_layer == 1000 * (2 * 150 + 2 * 240 + 2 * 6) + 240 * 1000 + 4 * (
        2 * 150 + 240
    )


def test_a_kimi_delta_layer_has_equal_heads() -> None:
    """4 heads of 30 for keys and values, a kernel of 3; layers are counted from one."""
    block = {"full_attn_layers": [2, 4], "num_heads": 4, "head_dim": 30, "short_conv_kernel_size": 3}
    linear = next(g for g in groups(linear_attn_config=block) if g.kind == "linear")
    assert (linear.layers, linear.state_values, linear.conv_values) == (2, 4 * 30 * 30, 2 * 3 * 120)
    with pytest.raises(InputError, match="without head counts"):
        groups(linear_attn_config={**block, "num_heads": 0})
    with pytest.raises(InputError, match="linear attention layers without"):
        groups(full_attention_interval=4)


def test_windows_by_family_flag_and_period() -> None:
    """Mistral slides everywhere; Qwen only when switched on; Gemma 2 every second layer; a stated period goes first."""

    def slid(**fields: Any) -> int:
        return sum(g.layers for g in groups(sliding_window=512, **fields) if g.kind == "sliding")

    assert slid(model_type="mistral") == 4
    assert slid(model_type="qwen2") == 0
    assert slid(model_type="qwen2", use_sliding_window=True) == 4
    assert slid(model_type="mistral", use_sliding_window=False) == 0
    assert slid(model_type="gemma2") == 2
    assert slid(model_type="gemma2", sliding_window_pattern=4) == 3
    assert slid(model_type="gemma2", sliding_window_pattern="LG") == 2
    assert slid(model_type="gemma2", sliding_window_pattern="LLG") == 3
    (group,) = [g for g in groups(model_type="gemma2", sliding_window=512) if g.kind == "sliding"]
    assert group.window == 512
    with pytest.raises(InputError, match="neither layer_types nor a pattern"):
        slid(model_type="llama")


def test_head_counts_and_widths() -> None:
    """1,000 over 10 heads; multi-query keeps one pair; a wider global head shares keys and values in Gemma 4."""
    (plain,) = groups()
    assert (plain.heads, plain.kv_heads, plain.head_dim, plain.v_head_dim) == (10, 2, 100, 0)
    no_kv = {name: value for name, value in BASE.items() if name != "num_key_value_heads"}
    (many,) = read_config(no_kv).model.architecture.attention
    assert many.kv_heads == 10
    (one,) = read_config({**no_kv, "multi_query": True}).model.architecture.attention
    assert one.kv_heads == 1
    (wide,) = groups(head_dim=128, v_head_dim=64)
    assert (wide.head_dim, wide.v_head_dim) == (128, 64)
    with pytest.raises(InputError, match="num_attention_heads is 0"):
        groups(num_attention_heads=0)
    local, whole = groups(
        model_type="gemma4", head_dim=256, global_head_dim=512, num_global_key_value_heads=1, sliding_window=512, layer_types=["sliding", "sliding", "sliding", "full"]
    )  # fmt: skip
    assert (
        local.head_dim,
        local.kv_heads,
        local.key_is_value,
        whole.head_dim,
        whole.kv_heads,
        whole.key_is_value,
    ) == (256, 2, False, 512, 1, True)


def test_the_last_layers_reuse_the_cache_of_their_kind() -> None:
    """Two of four: the last of each kind holds nothing of its own; without one left to reuse the config is refused."""
    found = groups(
        sliding_window=512, layer_types=["sliding", "full", "sliding", "full"], num_kv_shared_layers=2
    )
    assert [(g.kind, g.layers, g.shares_kv_with_previous) for g in found] == [
        ("sliding", 1, False), ("sliding", 1, True), ("full", 1, False), ("full", 1, True),
    ]  # fmt: skip
    with pytest.raises(InputError, match="leaves no full layer"):
        groups(num_kv_shared_layers=4)


def test_compressed_attention_by_hand() -> None:
    """Ratios 4 (indexed), 128 and none; shared entries, compressor, indexer and a low-rank output in two groups."""
    fields = {
        "model_type": "deepseek_v4", "num_key_value_heads": 1, "head_dim": 64, "q_lora_rank": 100, "o_lora_rank": 50, "o_groups": 2, "index_n_heads": 4,
        "index_head_dim": 32, "index_topk": 16, "qk_rope_head_dim": 8, "sliding_window": 128, "compress_ratios": [0, 4, 128, 4, 9],
    }  # fmt: skip
    found = {g.compress_ratio: g for g in groups(**fields)}
    assert {ratio: g.layers for ratio, g in found.items()} == {128: 1, 4: 2, 0: 1}
    shared = 1000 * (100 + 64)
    output = 10 * 64 * 50 + 2 * 50 * 1000
    copied = {
        0: shared, 128: shared + 1000 * 2 * 64,
        4: shared + 1000 * 2 * 2 * 64 + 100 * 4 * 32 + 1000 * (2 * 2 * 32 + 4),
    }  # fmt: skip
    for ratio, group in found.items():
        assert group.copied_parameters_per_layer == copied[ratio]
        assert group.parameters_per_layer == copied[ratio] + 100 * 10 * 64 + output
        assert (group.window, group.rope_head_dim, group.kv_heads) == (128, 8, 1)
        assert (group.index_heads, group.index_head_dim, group.index_topk) == (
            (4, 32, 16) if ratio == 4 else (0, 0, 0)
        )
    plain = groups(**{**fields, "o_lora_rank": 0, "compress_ratios": [0, 0, 0, 0]})
    assert plain[0].parameters_per_layer == shared + 100 * 10 * 64 + 10 * 64 * 1000
