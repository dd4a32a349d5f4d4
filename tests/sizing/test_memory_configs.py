"""Reading a config.json: every field that memory depends on, and nothing guessed. Configs are written by hand after published ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.knowledge.schema import check_data
from advisor.knowledge.yaml_source import parse_document
from advisor.sizing.hf.config import load_config_file, read_config
from advisor.sizing.model_entry import model_text

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
    "max_position_embeddings": 131072, "tie_word_embeddings": False,
}  # fmt: skip


def kinds(config: dict[str, Any]) -> dict[str, int]:
    groups = read_config(config).model.architecture.attention
    return {group.kind: sum(g.layers for g in groups if g.kind == group.kind) for group in groups}


def test_a_plain_model_is_read_whole() -> None:
    """Llama 3.1 8B: 8.03B parameters, and no field left over."""
    reading = read_config(LLAMA, name="meta-llama/Llama-3.1-8B")
    assert reading.model.parameters_total.number == pytest.approx(8.03e9, rel=1e-3)
    assert reading.notes == ()


def test_other_spellings_mean_the_same() -> None:
    """GPT-2 style names (n_layer, n_embd, n_head) and Falcon's multi_query."""
    falcon = {
        "model_type": "falcon", "n_layer": 32, "hidden_size": 4544, "n_head": 71, "multi_query": True, "vocab_size": 65024,
        "head_dim": 64, "max_position_embeddings": 2048,
    }  # fmt: skip
    model = read_config(falcon).model
    assert model.architecture.attention[0].kv_heads == 1
    assert model.parameters_total.number == pytest.approx(6.92e9, rel=5e-3)


def test_what_a_published_config_leaves_out_is_what_its_class_fills_in() -> None:
    """Gemma 3 4B states no heads and Falcon 7B no length: Transformers' Gemma3TextConfig and FalconConfig have them.

    Google announced the former with 4.3B parameters.
    """
    gemma = {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
            "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024,
        },
        "vision_config": {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "patch_size": 14, "vision_use_head": False},
    }  # fmt: skip
    reading = read_config(gemma, name="google/gemma-3-4b-it")
    assert {
        (g.kind, g.layers, g.heads, g.kv_heads, g.head_dim) for g in reading.model.architecture.attention
    } == {
        ("sliding", 29, 8, 4, 256),
        ("full", 5, 8, 4, 256),
    }
    assert reading.model.parameters_total.number == pytest.approx(4.3e9, rel=0.01)
    assert any("num_attention_heads 8" in note for note in reading.notes)
    falcon = {
        "model_type": "falcon",
        "n_layer": 32,
        "hidden_size": 4544,
        "n_head": 71,
        "multi_query": True,
        "vocab_size": 65024,
    }
    assert read_config(falcon).model.context_limit.number == 2048


def test_a_nested_text_model_and_its_vision_tower() -> None:
    """Multimodal configs nest the language model under text_config; the tower is counted apart."""
    config = {
        "model_type": "mistral3", "text_config": {**LLAMA, "model_type": "mistral", "sliding_window": None},
        "vision_config": {"hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096, "patch_size": 14},
    }  # fmt: skip
    architecture = read_config(config).model.architecture
    assert architecture.layers == 32
    assert 250e6 < architecture.vision_parameters < 500e6


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"layer_types": ["sliding_attention", "full_attention"] * 16, "sliding_window": 128}, {"sliding": 16, "full": 16}),
        ({"model_type": "gemma3", "sliding_window": 1024, "head_dim": 128}, {"sliding": 27, "full": 5}),
        ({"model_type": "gemma2", "sliding_window": 4096, "head_dim": 128}, {"sliding": 16, "full": 16}),
        ({"model_type": "cohere2", "sliding_window": 4096, "sliding_window_pattern": 4}, {"sliding": 24, "full": 8}),
        ({"model_type": "exaone4", "sliding_window": 4096, "sliding_window_pattern": "LLLG"}, {"sliding": 24, "full": 8}),
        ({"model_type": "qwen2", "sliding_window": 32768, "use_sliding_window": False}, {"full": 32}),
        ({"model_type": "qwen2", "sliding_window": 32768}, {"full": 32}),
        ({"model_type": "mistral", "sliding_window": 4096}, {"sliding": 32}),
        ({"model_type": "llama4", "attention_chunk_size": 8192}, {"chunked": 24, "full": 8}),
        ({"model_type": "minimax_text_01", "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1] * 4, "head_dim": 128}, {"linear": 28, "full": 4}),
        ({"model_type": "mllama", "cross_attention_layers": [3, 8, 13, 18, 23, 28]}, {"full": 26, "cross": 6}),
    ],
)  # fmt: skip
def test_which_layers_attend_how(change: dict[str, Any], expected: dict[str, int]) -> None:
    """Lists of words, flags, patterns, periods and family defaults all say which layers slide, chunk or keep a state."""
    assert kinds({**LLAMA, **change}) == expected


def test_mamba_hybrids_by_letters() -> None:
    """Nemotron-H: M is Mamba, * attention, - a dense MLP (its hybrid_override_pattern)."""
    config = {
        **LLAMA, "model_type": "nemotron_h", "hybrid_override_pattern": "M-M*-M-E" * 4, "mamba_num_heads": 64,
        "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8, "n_routed_experts": 8, "num_experts_per_tok": 2,
        "moe_intermediate_size": 1024,
    }  # fmt: skip
    architecture = read_config(config).model.architecture
    assert kinds(config) == {"mamba": 12, "none": 16, "full": 4}
    assert {group.kind: group.layers for group in architecture.feed_forward} == {
        "none": 16,
        "dense": 12,
        "moe": 4,
    }


@pytest.mark.parametrize(
    ("change", "dense", "routed"),
    [
        ({"first_k_dense_replace": 3, "moe_layer_freq": 1}, 3, 29),
        ({"mlp_only_layers": [0, 5]}, 2, 30),
        ({"decoder_sparse_step": 2}, 16, 16),
        ({"moe_layer_freq": [0, 0] + [1] * 30}, 2, 30),
    ],
)
def test_which_layers_have_experts(change: dict[str, Any], dense: int, routed: int) -> None:
    """Leading dense layers, steps and lists of flags."""
    config = {
        **LLAMA,
        "model_type": "deepseek_v3",
        "n_routed_experts": 64,
        "num_experts_per_tok": 4,
        "moe_intermediate_size": 512,
        **change,
    }
    layers = {group.kind: group.layers for group in read_config(config).model.architecture.feed_forward}
    assert layers == {"dense": dense, "moe": routed}


@pytest.mark.parametrize(
    ("quantization", "precision", "storage"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", "fp8-block"),
        ({"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["lm_head"]}, "fp8", "fp8-channel"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "int4", "awq"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 32}, "int4", "gptq"),
        ({"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]}, "fp4", "mxfp4"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}, "fp4", "nvfp4"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4", "bnb4"),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "int"}}}},
            "int8", "w8a8",
        ),
    ],
)  # fmt: skip
def test_quantisation_dialects(quantization: dict[str, Any], precision: str, storage: str) -> None:
    """The formats that Hugging Face checkpoints are published in."""
    checkpoint = read_config({**LLAMA, "quantization_config": quantization}).model.checkpoints[0]
    assert (checkpoint.precision, checkpoint.format) == (precision, storage)


def test_exceptions_of_a_recipe_become_roles() -> None:
    """Kimi-K2.5's ignore list keeps attention, shared experts, dense MLPs and the head in 16 bit."""
    ignore = [
        "lm_head",
        "re:.*self_attn.*",
        "re:.*shared_experts.*",
        "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
    ]
    weights = {"num_bits": 4, "type": "int", "group_size": 32, "symmetric": True}
    config = {
        **LLAMA,
        "quantization_config": {
            "quant_method": "compressed-tensors",
            "config_groups": {"g": {"weights": weights}},
            "ignore": ignore,
        },
    }
    checkpoint = read_config(config).model.checkpoints[0]
    assert {"attention", "shared_experts", "mlp", "head"} <= set(checkpoint.kept_16bit)
    assert checkpoint.group_size == 32


def test_first_and_last_layers_left_alone_are_counted() -> None:
    """Meta's FP8 recipe names all attention and the MLPs of two layers."""
    names = [f"model.layers.{layer}.self_attn.q_proj" for layer in range(32)]
    names += [f"model.layers.{layer}.mlp.up_proj" for layer in (0, 31)]
    config = {**LLAMA, "quantization_config": {"quant_method": "fbgemm_fp8", "modules_to_not_convert": names}}
    checkpoint = read_config(config).model.checkpoints[0]
    assert "attention" in checkpoint.kept_16bit
    assert checkpoint.layers_kept_16bit == 2


def test_an_unknown_architecture_is_named_with_what_was_not_read() -> None:
    """Never silently a dense Llama."""
    with pytest.raises(InputError, match=r"architecture 'mystery'.*not known.*quantum_heads"):
        read_config(
            {**LLAMA, "model_type": "mystery", "quantum_heads": 4, "architectures": ["MysteryForCausalLM"]}
        )


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"num_hidden_layers": None}, "num_hidden_layers"),
        ({"num_attention_heads": None}, "num_attention_heads"),
        ({"max_position_embeddings": None}, "max_position_embeddings"),
        ({"hidden_size": "wide"}, "hidden_size"),
        ({"hidden_size": -1}, "hidden_size"),
        ({"num_hidden_layers": 10**9}, "cannot be a model"),
        ({"layer_types": ["full_attention"]}, "layer_types"),
        ({"layer_types": ["sideways"] * 32}, "sideways"),
        ({"model_type": "mimo_v2_flash", "sliding_window": 128}, "which layers"),
        ({"model_type": "nemotron_h"}, "which layers attend"),
        ({"model_type": None, "architectures": None}, "model_type"),
    ],
)
def test_a_missing_or_impossible_field_is_named(change: dict[str, Any], word: str) -> None:
    """One line that names the field, never a guess and never a traceback."""
    config = {key: value for key, value in {**LLAMA, **change}.items() if value is not None}
    with pytest.raises(InputError, match=word):
        read_config(config)


def test_a_size_in_the_name_that_cannot_be_is_pointed_out() -> None:
    """A config that lost a field counts far more than its name says."""
    reading = read_config({**LLAMA, "intermediate_size": 143360}, name="someone/Llama-8B-lost-field")
    assert "8B" in reading.doubt


def test_fields_without_meaning_here_are_listed() -> None:
    """A field that nobody reads is reported, not dropped."""
    assert any("hyper_gate" in note for note in read_config({**LLAMA, "hyper_gate": 3}).notes)


def test_linear_rope_scaling_lengthens_the_table() -> None:
    """Gemma 3 scales its rotary table by eight beside a second one for sliding layers (its config.json)."""
    scaled = {**LLAMA, "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "rope_local_base_freq": 10000}
    assert read_config(scaled).model.architecture.rope_positions == 9 * 131072


@pytest.mark.parametrize("text", ["", "[]", '{"a": ', "\xff", '"text"'])
def test_a_file_that_is_no_config_is_refused(tmp_path: Path, text: str) -> None:
    """Empty, broken, or of another shape: one line with the place."""
    path = tmp_path / "config.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"config\.json"):
        load_config_file(path)


def test_an_imported_entry_is_valid_and_reads_back(kb: KnowledgeBase) -> None:
    """The YAML of every shipped model is what the writer makes of its record, and passes its schema."""
    for model in kb.models.values():
        document = parse_document(model_text(model), f"{model.id}.yaml")
        assert document.findings == []
        assert document.data is not None
        assert check_data("model", json.loads(json.dumps(document.data))) == []
