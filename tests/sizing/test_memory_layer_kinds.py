"""Which layers attend, and how: every way in which published configs say it. Layer counts are those of the named models."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.errors import InputError
from advisor.records import AttentionGroup
from advisor.sizing.hf.config import read_config

BASE: dict[str, Any] = {
    "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
    "vocab_size": 65536, "max_position_embeddings": 262144,
}  # fmt: skip
MAMBA = {
    "mamba_d_state": 16,
    "mamba_expand": 2,
    "mamba_n_heads": 128,
    "mamba_d_head": 64,
    "mamba_n_groups": 1,
}
LINEAR = {
    "linear_num_value_heads": 32, "linear_num_key_heads": 16, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "conv_kernel": 4,
}  # fmt: skip


def groups(**fields: Any) -> tuple[AttentionGroup, ...]:
    return read_config({**BASE, **fields}).model.architecture.attention


def kinds(**fields: Any) -> dict[str, int]:
    counted: dict[str, int] = {}
    for group in groups(**fields):
        counted[group.kind] = counted.get(group.kind, 0) + group.layers
    return counted


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"model_type": "jamba", "num_hidden_layers": 32, "attn_layer_period": 8, "attn_layer_offset": 4, **MAMBA},
                     {"mamba": 28, "full": 4}, id="Jamba: one attention layer in eight"),
        pytest.param({"model_type": "bamba", "num_hidden_layers": 32, "attn_layer_indices": [9, 18, 27], **MAMBA},
                     {"mamba": 29, "full": 3}, id="Bamba 9B: layers 9, 18 and 27 attend"),
        pytest.param({"model_type": "nemotron_h", "num_hidden_layers": 8, "hybrid_override_pattern": "M-M*-M-E", **MAMBA},
                     {"mamba": 3, "none": 4, "full": 1}, id="Nemotron-H: letters per layer"),
        pytest.param({"model_type": "qwen3_next", "num_hidden_layers": 48, "full_attention_interval": 4, **LINEAR},
                     {"linear": 36, "full": 12}, id="Qwen3-Next 80B: every fourth of 48"),
        pytest.param({"model_type": "kimi_linear", "num_hidden_layers": 27, "linear_attn_config": {
                          "full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "num_heads": 32, "head_dim": 128, "short_conv_kernel_size": 4}},
                     {"linear": 20, "full": 7}, id="Kimi Linear 48B: layers counted from one"),
        pytest.param({"model_type": "minimax_text_01", "num_hidden_layers": 80, "attn_type_list": [*[0] * 7, 1] * 10},
                     {"linear": 70, "full": 10}, id="MiniMax-Text-01: seven lightning layers, one softmax"),
        pytest.param({"model_type": "llama4_text", "num_hidden_layers": 48, "attention_chunk_size": 8192},
                     {"chunked": 36, "full": 12}, id="Llama 4 Scout: every fourth sees all"),
        pytest.param({"model_type": "llama4_text", "num_hidden_layers": 4, "attention_chunk_size": 8192, "no_rope_layers": [1, 0, 1, 0]},
                     {"chunked": 2, "full": 2}, id="Llama 4: layers listed"),
        pytest.param({"model_type": "gemma3_text", "num_hidden_layers": 62, "sliding_window": 1024, "sliding_window_pattern": 6},
                     {"sliding": 52, "full": 10}, id="Gemma 3 27B: every sixth of 62"),
        pytest.param({"model_type": "gpt_oss", "num_hidden_layers": 36, "sliding_window": 128,
                      "layer_types": ["sliding_attention", "full_attention"] * 18},
                     {"sliding": 18, "full": 18}, id="gpt-oss 120B: in turn"),
        pytest.param({"model_type": "exaone4", "num_hidden_layers": 64, "sliding_window": 4096, "sliding_window_pattern": "LLLG"},
                     {"sliding": 48, "full": 16}, id="EXAONE 4 32B: a pattern of letters"),
        pytest.param({"model_type": "mimo_v2_flash", "num_hidden_layers": 6, "sliding_window": 128, "hybrid_layer_pattern": [0, 1, 1, 1, 1, 1]},
                     {"full": 1, "sliding": 5}, id="MiMo-V2: a flag per layer"),
        pytest.param({"model_type": "mllama", "num_hidden_layers": 40, "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38]},
                     {"full": 32, "cross": 8}, id="Llama 3.2 11B Vision: eight layers look at the image"),
        pytest.param({"model_type": "mistral", "num_hidden_layers": 32, "sliding_window": 4096}, {"sliding": 32}, id="Mistral 7B v0.1"),
        pytest.param({"model_type": "qwen2", "num_hidden_layers": 28, "sliding_window": 131072, "use_sliding_window": False},
                     {"full": 28}, id="Qwen2.5: a window that is switched off"),
    ],
)  # fmt: skip
def test_every_way_of_naming_layers_is_understood(fields: dict[str, Any], expected: dict[str, int]) -> None:
    """Periods, lists of numbers, flags, words, letters and patterns give the published split of layers."""
    assert kinds(**fields) == expected


def test_lightning_attention_keeps_one_square_state_a_head() -> None:
    """MiniMax-01 report: the state of a head is head_dim by head_dim, whatever the length."""
    linear = next(
        g
        for g in groups(model_type="minimax_text_01", num_hidden_layers=2, attn_type_list=[0, 1])
        if g.kind == "linear"
    )
    assert linear.state_values == 32 * 128 * 128
    assert linear.conv_values == 0


def test_a_convolution_is_kept_for_all_but_the_newest_position() -> None:
    """Gated delta layers keep kernel - 1 positions of queries, keys and values (Qwen3-Next's modelling code)."""
    linear = next(
        g
        for g in groups(model_type="qwen3_next", num_hidden_layers=4, full_attention_interval=4, **LINEAR)
        if g.kind == "linear"
    )
    assert linear.conv_values == 3 * (2 * 16 * 128 + 32 * 128)
    assert linear.state_values == 32 * 128 * 128


def test_global_layers_may_be_wider_than_windowed_ones() -> None:
    """Gemma 4: layers that see everything have heads of 512 values and their own number of KV heads."""
    found = {
        group.kind: group
        for group in groups(model_type="gemma4_text", num_hidden_layers=6, sliding_window=1024, global_head_dim=512,
                            num_global_key_value_heads=4, layer_types=[*["sliding_attention"] * 5, "full_attention"])
    }  # fmt: skip
    assert (found["sliding"].head_dim, found["sliding"].kv_heads) == (128, 8)
    assert (found["full"].head_dim, found["full"].kv_heads) == (512, 4)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model_type": "jamba", "num_hidden_layers": 4, **MAMBA}, "which layers attend is missing"),
        (
            {"model_type": "llama", "num_hidden_layers": 4, "layer_types": ["full_attention"] * 3},
            "layer_types",
        ),
        (
            {"model_type": "llama", "num_hidden_layers": 2, "layer_types": ["full_attention", "telepathy"]},
            "'telepathy' is not known",
        ),
        ({"model_type": "llama", "num_hidden_layers": 2, "sliding_window": 512}, "says which layers use it"),
        (
            {"model_type": "llama", "num_hidden_layers": 2, "num_attention_heads": 0},
            "num_attention_heads is 0",
        ),
        (
            {"model_type": "qwen3_next", "num_hidden_layers": 4, "full_attention_interval": 4},
            "linear attention layers without",
        ),
        (
            {
                "model_type": "kimi_linear",
                "num_hidden_layers": 2,
                "linear_attn_config": {"full_attn_layers": [2]},
            },
            "without head counts",
        ),
        ({"model_type": "jamba", "num_hidden_layers": 8, "attn_layer_period": 8}, "Mamba layers without"),
    ],
)
def test_what_would_be_guessed_is_refused(fields: dict[str, Any], words: str) -> None:
    """A config that leaves out what memory depends on is refused with the field that is missing."""
    with pytest.raises(InputError, match=words):
        groups(**fields)


@pytest.mark.parametrize(
    "names",
    [
        {"heads": "mamba_num_heads", "dim": "mamba_head_dim", "state": "ssm_state_size", "groups": "n_groups", "kernel": "conv_kernel"},
        {"heads": "mamba_n_heads", "dim": "mamba_d_head", "state": "mamba_d_state", "groups": "mamba_n_groups", "kernel": "mamba_d_conv"},
    ],
    ids=["Nemotron-H", "Granite"],
)  # fmt: skip
def test_a_mamba_layer_keeps_its_state_and_the_tail_of_its_convolution(names: dict[str, str]) -> None:
    """Mamba-2 (Dao and Gu 2024): inner x state values, and kernel - 1 inputs of inner + 2 groups x state channels, in both spellings."""
    config = {"model_type": "jamba", "num_hidden_layers": 8, "attn_layer_period": 8, "attn_layer_offset": 4}
    sizes = {"heads": 64, "dim": 32, "state": 16, "groups": 4, "kernel": 3}
    mamba = next(g for g in groups(**config, **{names[k]: v for k, v in sizes.items()}) if g.kind == "mamba")
    assert mamba.state_values == 64 * 32 * 16
    assert mamba.conv_values == (3 - 1) * (64 * 32 + 2 * 4 * 16)


@pytest.mark.parametrize(
    ("fields", "keys", "values", "kernel"),
    [
        ({"model_type": "qwen3_next", "full_attention_interval": 4, **LINEAR, "conv_kernel": 3}, 16 * 128, 32 * 128, 3),
        ({"model_type": "qwen3_next", "full_attention_interval": 4, **{k: v for k, v in LINEAR.items() if k != "conv_kernel"}}, 16 * 128, 32 * 128, 4),
        ({"model_type": "kimi_linear", "linear_attn_config": {"num_heads": 8, "head_dim": 64, "short_conv_kernel_size": 5, "full_attn_layers": [4, 8]}}, 8 * 64, 8 * 64, 5),
        ({"model_type": "kimi_linear", "linear_attn_config": {"num_heads": 8, "head_dim": 64, "full_attn_layers": [4, 8]}}, 8 * 64, 8 * 64, 4),
    ],
)  # fmt: skip
def test_a_linear_layer_keeps_a_state_and_the_tail_of_its_convolutions(
    fields: dict[str, Any], keys: int, values: int, kernel: int
) -> None:
    """Gated DeltaNet and Kimi delta attention: short convolutions of the keys, queries and values, of four steps unless stated."""
    linear = next(g for g in groups(num_hidden_layers=8, **fields) if g.kind == "linear")
    assert linear.conv_values == (kernel - 1) * (2 * keys + values)
