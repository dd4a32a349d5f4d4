"""How published checkpoints say in what format their weights are, and what they leave in 16 bit."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.records import Checkpoint
from advisor.sizing.hf.config import HfReading, read_config

LLAMA: dict[str, Any] = {
    "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072,
}  # fmt: skip


def reading(**fields: Any) -> HfReading:
    return read_config({**LLAMA, **fields}, name="x")


def stored(**fields: Any) -> Checkpoint:
    return reading(**fields).model.checkpoints[0]


def tensors(bits: int, kind: str, **more: Any) -> dict[str, Any]:
    """A compressed-tensors block."""
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": {"weights": {"num_bits": bits, "type": kind, **more}}},
    }


@pytest.mark.parametrize(
    ("block", "precision", "form"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", "fp8-block"),
        ({"quant_method": "fp8", "activation_scheme": "static"}, "fp8", "fp8"),
        ({"quant_method": "fbgemm_fp8"}, "fp8", "fp8-channel"),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8", "fp8"),
        ({"quant_method": "modelopt", "quant_algo": "FP8_PER_CHANNEL_PER_TOKEN"}, "fp8", "fp8-channel"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}, "fp4", "nvfp4"),
        ({"quant_method": "modelopt", "quant_algo": "W4A16_AWQ", "group_size": 128}, "int4", "awq"),
        ({"quant_method": "mxfp4"}, "fp4", "mxfp4"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "int4", "awq"),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, "int4", "gptq"),
        ({"quant_method": "gptq", "bits": 8}, "int8", "w8a8"),
        ({"quant_method": "auto-round", "bits": 4}, "int4", "gptq"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4", "bnb4"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8", "w8a8"),
        (tensors(8, "float", strategy="channel"), "fp8", "fp8-channel"),
        (tensors(8, "float", strategy="tensor"), "fp8", "fp8"),
        (tensors(8, "int", strategy="channel"), "int8", "w8a8"),
        (tensors(4, "int", group_size=128), "int4", "int4"),
        (tensors(4, "float", group_size=16), "fp4", "nvfp4"),
        ({"quant_method": "compressed-tensors", "format": "pack-quantized"}, "int4", "int4"),
        ({"quant_method": "compressed-tensors", "format": "float-quantized"}, "fp8", "fp8-channel"),
        ({"quant_method": "compressed-tensors", "format": "int-quantized"}, "int8", "w8a8"),
        ({"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}, "fp4", "nvfp4"),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}}}, "fp8", "fp8"),
    ],
)  # fmt: skip
def test_every_published_form_is_recognised(block: dict[str, Any], precision: str, form: str) -> None:
    """Blocks as ModelOpt, compressed-tensors, AutoAWQ, GPTQModel, bitsandbytes, FBGEMM and Quark write them."""
    checkpoint = stored(quantization_config=block)
    assert (checkpoint.precision, checkpoint.format) == (precision, form)


def test_a_form_that_is_not_known_is_counted_in_16_bit_and_said() -> None:
    """An unknown method is never taken for a smaller one."""
    found = reading(quantization_config={"quant_method": "aqlm"})
    assert found.model.checkpoints[0].precision == "bf16"
    assert any("'aqlm' is not known" in note for note in found.notes)


def test_plain_weights_are_as_wide_as_their_type() -> None:
    """float32 weights take four bytes; both 16-bit types take two."""
    assert stored(torch_dtype="float32").precision == "fp32"
    assert stored(torch_dtype="float16").precision == "bf16"
    assert stored(dtype="bfloat16").precision == "bf16"


@pytest.mark.parametrize(
    "block",
    [
        {"kv_cache_quant_algo": "FP8"},
        {"kv_cache_scheme": "FP8"},
        {"kv_cache_scheme": {"num_bits": 8, "type": "float"}},
    ],
)
def test_a_cache_in_8_bit_is_seen(block: dict[str, Any]) -> None:
    """Checkpoints that carry KV scales serve with an FP8 cache."""
    assert (
        stored(quantization_config={"quant_method": "modelopt", "quant_algo": "FP8", **block}).kv_precision
        == "fp8"
    )


def test_layers_named_one_by_one_are_counted() -> None:
    """Nvidia's recipes leave the first and last layers alone, module by module."""
    names = [
        f"model.layers.{layer}.mlp.{part}_proj" for layer in (0, 1, 31) for part in ("gate", "up", "down")
    ]
    checkpoint = stored(
        quantization_config={
            "quant_method": "modelopt",
            "quant_algo": "FP8",
            "exclude_modules": ["lm_head", *names],
        }
    )
    assert checkpoint.layers_kept_16bit == 3
    assert "head" in checkpoint.kept_16bit


def test_a_list_that_was_cut_out_of_the_copy_is_said() -> None:
    """`<list of 61 names>` in the place of the list: the usual recipe is assumed, and a note says so."""
    found = reading(quantization_config={"quant_method": "fp8", "modules_to_not_convert": "<61 names>"})
    assert any("not listed in this copy" in note for note in found.notes)


def test_recipes_of_two_widths_are_read_layer_by_layer() -> None:
    """ModelOpt's MIXED_PRECISION lists the algorithm of each layer; without the list the usual split is assumed and said."""
    listed = {
        **{f"model.layers.{n}.self_attn.q_proj": {"quant_algo": "FP8"} for n in range(4)},
        **{f"model.layers.{n}.mlp.down_proj": {"quant_algo": "NVFP4"} for n in range(4)},
    }
    told = stored(
        quantization_config={
            "quant_method": "modelopt",
            "quant_algo": "MIXED_PRECISION",
            "quantized_layers": listed,
        }
    )
    assert told.precision == "fp4"
    assert told.kept_8bit == ("attention",)
    guessed = reading(quantization_config={"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"})
    assert any("is not listed" in note for note in guessed.notes)
    assert "attention" in guessed.model.checkpoints[0].kept_8bit
