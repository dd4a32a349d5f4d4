"""What a quantized checkpoint leaves in 16 bit when its config says little: the usual recipes, and nothing made smaller by mistake."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.records import Checkpoint
from advisor.sizing.hf.config import read_config

PLAIN: dict[str, Any] = {
    "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072,
}  # fmt: skip
LATENT: dict[str, Any] = {
    **PLAIN, "model_type": "deepseek_v3", "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128,
    "v_head_dim": 128,
}  # fmt: skip


def quantised(block: dict[str, Any], config: dict[str, Any] = PLAIN) -> Checkpoint:
    return read_config({**config, "quantization_config": block}).model.checkpoints[0]


def test_four_bit_recipes_of_latent_models_keep_attention() -> None:
    """NVIDIA's NVFP4 DeepSeeks quantize experts and MLPs alone; a config without its list of exceptions is taken like them."""
    checkpoint = quantised({"quant_method": "modelopt", "quant_algo": "NVFP4"}, LATENT)
    assert {"attention", "indexer", "head"} <= set(checkpoint.kept_16bit)
    assert "attention" not in quantised({"quant_method": "modelopt", "quant_algo": "NVFP4"}).kept_16bit


@pytest.mark.parametrize(("block", "kept"), [({}, True), ({"weight_block_size": [128, 128]}, False)])
def test_states_stay_in_16_bit_but_in_block_scaled_checkpoints(block: dict[str, Any], kept: bool) -> None:
    """Qwen's FP8 hybrids (128 x 128 blocks) quantize the projections of linear attention too; other recipes leave them."""
    config = {
        **PLAIN, "model_type": "qwen3_next", "full_attention_interval": 4, "linear_num_value_heads": 32, "linear_num_key_heads": 16,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128,
    }  # fmt: skip
    checkpoint = quantised({"quant_method": "fp8", **block}, config)
    assert ("linear_attention" in checkpoint.kept_16bit) is kept


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param({"group_0": {"weights": {"num_bits": 3, "type": "int"}}}, id="three bits"),
        pytest.param({"group_0": {"input_activations": {"num_bits": 8}}}, id="activations alone"),
    ],
)
def test_groups_that_say_no_known_width_are_counted_in_16_bit(groups: dict[str, Any]) -> None:
    """A compressed-tensors block that names no weights of 4 or 8 bit is never taken for a smaller format."""
    reading = read_config(
        {**PLAIN, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": groups}}
    )
    assert reading.model.checkpoints[0].precision == "bf16"
    assert any(
        "'compressed-tensors' is not known; weights are counted in 16 bit" in note for note in reading.notes
    )


def test_an_exception_in_a_few_layers_is_no_exception_of_all() -> None:
    """Attention of 2 of 32 layers in 16 bit neither keeps all attention nor counts as whole layers."""
    names = [
        "lm_head",
        "model.quantum_bridge",
        *(f"model.layers.{layer}.self_attn.o_proj" for layer in (0, 31)),
    ]
    checkpoint = quantised({"quant_method": "modelopt", "quant_algo": "FP8", "ignore": names})
    assert "attention" not in checkpoint.kept_16bit
    assert checkpoint.layers_kept_16bit == 0


def test_names_of_no_known_part_do_not_count_in_a_mixed_recipe() -> None:
    """A layer list with a part that has no role here: the others decide what is in 8 bit."""
    listed = {
        "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"},
        "model.quantum_bridge": {"quant_algo": "FP8"},
    }
    checkpoint = quantised(
        {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": listed}
    )
    assert checkpoint.kept_8bit == ("attention",)


MIXTRAL: dict[str, Any] = {
    "model_type": "mixtral", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 32000, "max_position_embeddings": 32768, "num_local_experts": 8, "num_experts_per_tok": 2,
}  # fmt: skip
"""mistralai/Mixtral-8x7B-v0.1: 46.7 billion parameters, 12.9 active (Mixtral of Experts, Jiang et al. 2024)."""


def test_active_parameters_are_those_of_the_paper_and_what_is_missing_is_noted() -> None:
    """Two experts a token are 12.9 billion; where the config does not say how many, none is counted and the note says so."""
    whole = read_config(MIXTRAL, name="mistralai/Mixtral-8x7B-v0.1")
    assert whole.model.parameters_total.number / 1e9 == pytest.approx(46.7, rel=2e-3)
    assert whole.model.parameters_active is not None
    looked_up = 32_000 * 4096  # the table of the input, of which a token reads one row: the paper counts it
    assert (whole.model.parameters_active.number + looked_up) / 1e9 == pytest.approx(12.9, rel=2e-3)
    assert not [note for note in whole.notes if "experts per token" in note]
    silent = read_config(
        {k: v for k, v in MIXTRAL.items() if k != "num_experts_per_tok"}, name="Mixtral-8x7B"
    )
    assert any(note.startswith("experts per token are not stated") for note in silent.notes)


def test_a_name_that_says_another_size_is_noted() -> None:
    """A config of 46.7 billion parameters under a name that says 7B is pointed out, with the size that was counted."""
    reading = read_config(MIXTRAL, name="someone/Tiny-7B")
    assert reading.doubt
    assert reading.doubt in reading.notes
    assert "7B" in reading.doubt


def test_experts_may_be_listed_layer_by_layer() -> None:
    """`moe_layer_freq` as a list of flags (MiMo-V2-Flash, DeepSeek-VL2) or of layer numbers: a dense first layer, experts after it."""
    rest = {k: v for k, v in MIXTRAL.items() if k != "num_hidden_layers"} | {
        "num_hidden_layers": 4,
        "moe_intermediate_size": 2048,
    }
    rest |= {
        "model_type": "deepseek_v3",
        "n_routed_experts": 8,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
    }
    for listed in ([0, 1, 1, 1], [1, 2, 3]):
        architecture = read_config({**rest, "moe_layer_freq": listed}).model.architecture
        kinds = {group.kind: group.layers for group in architecture.feed_forward}
        assert kinds == {"dense": 1, "moe": 3}, listed
