"""What a quantised checkpoint leaves in 16 or 8 bit: module names as recipes write them, and what is usual without a list."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.records import Checkpoint
from advisor.sizing.hf.config import HfReading, read_config

LLAMA: dict[str, Any] = {
    "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072,
}  # fmt: skip
LATENT = {
    "model_type": "deepseek_v3", "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "q_lora_rank": 1536,
}  # fmt: skip
HYBRID = {
    "model_type": "qwen3_next", "full_attention_interval": 4, "linear_num_value_heads": 32, "linear_num_key_heads": 16,
    "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
}  # fmt: skip
ALWAYS = {"embedding", "router", "vision", "mtp"}


def reading(block: dict[str, Any], **fields: Any) -> HfReading:
    return read_config({**LLAMA, **fields, "quantization_config": block}, name="x")


def stored(block: dict[str, Any], **fields: Any) -> Checkpoint:
    return reading(block, **fields).model.checkpoints[0]


def fp8(**more: Any) -> dict[str, Any]:
    return {"quant_method": "fp8", **more}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("lm_head", "head"), ("head", "head"), ("transformer.output_layer", "head"), ("model.embed_tokens", "embedding"), ("vision_tower", "vision"),
        ("model.visual.blocks", "vision"), ("mm_projector", "vision"), ("multi_modal_projector", "vision"), ("mtp.fc", "mtp"), ("model.nextn.0", "mtp"),
        ("eagle_module", "mtp"), ("re:.*mlp.shared_experts.*", "shared_experts"), ("re:.*self_attn.indexer.*", "indexer"),
        ("re:.*linear_attn.*", "linear_attention"), ("re:.*conv1d.*", "linear_attention"), ("re:.*in_proj_a", "linear_attention"),
        ("re:.*gated_delta.*", "linear_attention"), ("re:.*mamba.*", "mamba"), ("backbone.layers.*.mixer", "mamba"), ("re:.*self_attn.*", "attention"),
        ("model.layers.*.attention", "attention"), ("re:.*q_proj", "attention"), ("re:.*o_proj", "attention"), ("re:.*kv_a_proj_with_mqa", "attention"),
        ("re:.*kv_b_proj", "attention"), ("re:.*mlp\\.gate$", "router"), ("re:.*router.*", "router"), ("gate", "router"), ("block_sparse_moe.gate", "router"),
        ("re:.*gate.weight", "router"), ("re:.*mlp.experts.*", "experts"), ("re:.*mlp.*", "mlp"), ("re:.*feed_forward.*", "mlp"), ("re:.*ffn.*", "mlp"),
    ],
)  # fmt: skip
def test_a_module_left_alone_is_kept_in_16_bit(name: str, role: str) -> None:
    """Names and patterns of ModelOpt, compressed-tensors and Transformers; ends and routers are kept in any case."""
    checkpoint = stored(fp8(modules_to_not_convert=[name]))
    assert set(checkpoint.kept_16bit) == ALWAYS | {role}
    assert checkpoint.layers_kept_16bit == 0


@pytest.mark.parametrize(
    "key", ["modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers", "llm_int8_skip_modules"]
)
def test_each_tool_has_its_own_key_for_the_list(key: str) -> None:
    """Transformers, compressed-tensors, ModelOpt, AutoFP8, bitsandbytes; an empty list keeps only what is always kept."""
    assert "head" in stored(fp8(**{key: ["lm_head"]})).kept_16bit
    assert set(stored(fp8(**{key: []})).kept_16bit) == ALWAYS
    assert any(
        "modules left in 16 bit are not listed in this copy (<61 names>)" in n
        for n in reading(fp8(**{key: "<61 names>"})).notes
    )


@pytest.mark.parametrize(("layers", "kept"), [(15, False), (16, True), (32, True)])
def test_a_part_named_in_half_of_the_layers_is_kept(layers: int, kept: bool) -> None:
    """Named layer by layer: 16 of 32 count as all, 15 do not."""
    names = [f"model.layers.{n}.self_attn.q_proj" for n in range(layers)]
    assert ("attention" in stored(fp8(ignore=names)).kept_16bit) is kept


def test_whole_layers_left_alone_are_counted_by_their_feed_forward() -> None:
    """The larger of the layers named for MLP and experts; attention alone is no whole layer; patterns with underscores too."""

    def layers(*names: str) -> int:
        return stored(fp8(ignore=list(names))).layers_kept_16bit

    assert layers("model.layers.0.mlp.up_proj", "model.layers.0.mlp.down_proj") == 1
    assert layers("model.layers.0.mlp.up_proj", "model.layers.31.mlp.up_proj") == 2
    assert (
        layers("model.layers.0.mlp.experts.0", "model.layers.1.mlp.experts.0", "model.layers.3.mlp.up_proj")
        == 2
    )
    assert layers("model.layers.0.self_attn.q_proj") == 0
    assert layers("re:.*layers_0\\..*mlp.*") == 1


def test_without_a_list_the_usual_recipe_is_taken() -> None:
    """Four-bit recipes leave latent attention and its indexer; recurrent layers stay in 16 bit except in FP8 blocks."""
    usual = ALWAYS | {"head"}
    assert set(stored(fp8()).kept_16bit) == usual
    assert set(stored(fp8(), **LATENT).kept_16bit) == usual
    four = {"quant_method": "modelopt", "quant_algo": "NVFP4"}
    assert set(stored(four).kept_16bit) == usual
    assert set(stored(four, **LATENT).kept_16bit) == usual | {"attention", "indexer"}
    assert set(stored({"quant_method": "mxfp4"}, **LATENT).kept_16bit) == usual | {"attention", "indexer"}
    packed = {"quant_method": "compressed-tensors", "format": "pack-quantized"}
    assert set(stored(packed, **LATENT).kept_16bit) == usual | {"attention", "indexer"}
    assert set(stored({"quant_method": "awq"}, **LATENT).kept_16bit) == usual
    assert set(stored(fp8(), **HYBRID).kept_16bit) == usual | {"linear_attention", "mamba"}
    assert set(stored(fp8(weight_block_size=[128, 128]), **HYBRID).kept_16bit) == usual


def mixed(**more: Any) -> dict[str, Any]:
    return {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", **more}


def test_the_majority_of_a_parts_layers_says_its_width() -> None:
    """Two of three attention layers in FP8: eight bit; a tie is not; what is in 8 bit is not kept in 16."""

    def eight(attention: list[str], **more: Any) -> tuple[str, ...]:
        listed = {
            f"model.layers.{n}.self_attn.q_proj": {"quant_algo": algorithm}
            for n, algorithm in enumerate(attention)
        }
        return stored(
            mixed(
                quantized_layers={**listed, "model.layers.0.mlp.up_proj": "NVFP4", "lm_head": "fp8", **more}
            )
        ).kept_8bit

    assert eight(["FP8", "fp8_pb_wo", "NVFP4"]) == ("attention", "head")
    assert eight(["FP8", "NVFP4"]) == ("head",)
    checkpoint = stored(
        mixed(quantized_layers={"lm_head": "FP8"}, exclude_modules=["lm_head", "re:.*self_attn.*"])
    )
    assert checkpoint.kept_8bit == ("head",)
    assert set(checkpoint.kept_16bit) == ALWAYS | {"attention"}


def test_a_mixture_without_its_list_is_split_as_usual() -> None:
    """Feed-forward in 4, the rest in 8, except what is listed as left alone; a mixture that names its experts' width is none."""
    assert set(stored(mixed()).kept_8bit) == {"attention", "linear_attention", "mamba"}
    assert set(stored(mixed(ignore=["re:.*self_attn.*"])).kept_8bit) == {"linear_attention", "mamba", "head"}
    experts = stored(mixed(moe_quant_algo="NVFP4"))
    assert (experts.precision, experts.format, experts.kept_8bit) == ("fp4", "nvfp4", ())


@pytest.mark.parametrize(
    ("block", "group"),
    [
        ({"quant_method": "gptq", "bits": 4, "group_size": 32}, 32), ({"quant_method": "gptq", "group_size": -1}, 0), ({"quant_method": "awq", "w_bit": 4, "group_size": 64}, 64),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128}, 0), ({"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}, 16),
        ({"quant_method": "auto-round", "group_size": 128}, 128), ({"quant_method": "mxfp4", "group_size": 32}, 32), ({"quant_method": "awq"}, 0),
        ({"quant_algo": "INT4_AWQ", "group_size": 128}, 128), ({"quant_method": "compressed-tensors", "format": "pack-quantized", "group_size": 64}, 64),
        ({"config_groups": {"g": {"weights": {"num_bits": 4, "type": "int", "group_size": 32}}}}, 32),
        ({"config_groups": {"g": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}}}, 16),
    ],
)  # fmt: skip
def test_the_group_that_shares_a_scale(block: dict[str, Any], group: int) -> None:
    """As stated; a whole row (-1) and formats with one scale a row have none."""
    assert stored(block).group_size == group


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"quant_method": "intel/auto-round"}, ("int4", "gptq")), ({"quant_method": "autoround"}, ("int4", "gptq")), ({"quant_algo": "INT4_AWQ"}, ("int4", "awq")),
        ({"quant_method": "awq", "w_bit": 8}, ("int8", "w8a8")), ({"moe_quant_algo": "NVFP4", "quant_algo": "FP8"}, ("fp4", "nvfp4")),
        ({"format": "mxfp4-pack-quantized"}, ("fp4", "mxfp4")), ({"quant_algo": "fp8_pb_wo"}, ("fp8", "fp8")),
        ({"config_groups": {"g": {"weights": {"num_bits": 4, "type": "float", "group_size": 32}}}}, ("int4", "int4")),
        ({"config_groups": {"a": {"input_activations": {}}, "b": {"weights": {"num_bits": 8, "type": "float"}}}}, ("fp8", "fp8")),
        ({"config_groups": {"g": {"weights": {"num_bits": 8}}}}, ("int8", "w8a8")), ({"quant_method": "quark", "weight": "int4"}, ("bf16", "")),
    ],
)  # fmt: skip
def test_rarer_ways_of_naming_the_format(block: dict[str, Any], expected: tuple[str, str]) -> None:
    """Spellings of one tool, the experts' own width, groups whose first has no weights."""
    checkpoint = stored(block)
    assert (checkpoint.precision, checkpoint.format) == expected


@pytest.mark.parametrize(
    ("block", "kv"),
    [
        ({"kv_cache_quant_algo": "fp8"}, "fp8"), ({"kv_cache_scheme": "fp8"}, "fp8"), ({"kv_cache_scheme": {"num_bits": 8}}, "fp8"),
        ({"kv_cache_scheme": {"num_bits": 4}}, ""), ({"kv_cache_quant_algo": "NVFP4"}, ""), ({"kv_cache_scheme": None}, ""), ({}, ""),
    ],
)  # fmt: skip
def test_the_cache_type_that_a_checkpoints_scales_ask_for(block: dict[str, Any], kv: str) -> None:
    """Eight bit in either way of saying it, and nothing else."""
    assert stored(fp8(**block)).kv_precision == kv


def test_the_block_may_stand_in_a_nested_part_or_under_another_name() -> None:
    """Multimodal configs nest it; compression_config and hf_quant_config are older names."""
    nested = {name: value for name, value in LLAMA.items() if name != "model_type"}
    within = read_config(
        {
            "model_type": "llama",
            "text_config": {**nested, "model_type": "llama", "quantization_config": fp8()},
        },
        name="x",
    )
    assert within.model.checkpoints[0].precision == "fp8"
    for name in ("compression_config", "hf_quant_config"):
        found = read_config(
            {
                **LLAMA,
                name: {"quant_algo": "FP8", "exclude_modules": ["lm_head"], "kv_cache_quant_algo": "FP8"},
            },
            name="x",
        ).model.checkpoints[0]
        assert (found.precision, found.kv_precision) == ("fp8", "fp8")
        assert "head" in found.kept_16bit
