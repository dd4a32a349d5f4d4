"""Published configs whose shapes are unusual: the counted size is the one the developer announced, the layers those of the model card.

Configs are written by hand after those on the hub, with what memory depends on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.records import AttentionGroup, Model
from advisor.sizing.engines import profile_of
from advisor.sizing.hf.config import MAX_CONFIG_BYTES, load_config_file, read_config
from advisor.sizing.kv_cache import kv_cost

LLAMA4: dict[str, Any] = {
    "model_type": "llama4_text", "num_hidden_layers": 48, "hidden_size": 5120, "num_attention_heads": 40, "num_key_value_heads": 8,
    "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_experts_per_tok": 1, "vocab_size": 202048,
    "max_position_embeddings": 1048576, "attention_chunk_size": 8192,
}  # fmt: skip
LLAMA4_TOWER = {"hidden_size": 1408, "num_hidden_layers": 34, "intermediate_size": 5632, "patch_size": 14}
GEMMA4_E4B: dict[str, Any] = {
    "model_type": "gemma4_text", "num_hidden_layers": 42, "hidden_size": 2560, "num_attention_heads": 8, "num_key_value_heads": 2,
    "head_dim": 256, "global_head_dim": 512, "attention_k_eq_v": False, "intermediate_size": 10240, "vocab_size": 262144,
    "max_position_embeddings": 131072, "sliding_window": 512, "num_kv_shared_layers": 18,
    "layer_types": [*["sliding_attention"] * 5, "full_attention"] * 7,
}  # fmt: skip
DEEPSEEK_V4_FLASH: dict[str, Any] = {
    "model_type": "deepseek_v4", "num_hidden_layers": 43, "hidden_size": 4096, "num_attention_heads": 64, "num_key_value_heads": 1,
    "head_dim": 512, "vocab_size": 129280, "max_position_embeddings": 1048576, "n_routed_experts": 256, "num_experts_per_tok": 6,
    "moe_intermediate_size": 2048, "n_shared_experts": 1, "q_lora_rank": 1024, "qk_rope_head_dim": 64, "index_head_dim": 128,
    "index_n_heads": 64, "index_topk": 512, "sliding_window": 128, "compress_ratios": [0, 0, *[4, 128] * 20, 4, 0],
    "o_lora_rank": 1024, "o_groups": 8,
}  # fmt: skip
GLM_5_2: dict[str, Any] = {
    "model_type": "glm_moe_dsa", "num_hidden_layers": 78, "hidden_size": 6144, "num_attention_heads": 64, "num_key_value_heads": 64,
    "intermediate_size": 12288, "vocab_size": 154880, "max_position_embeddings": 1048576, "n_routed_experts": 256,
    "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1, "first_k_dense_replace": 3, "kv_lora_rank": 512,
    "q_lora_rank": 2048, "qk_rope_head_dim": 64, "qk_nope_head_dim": 192, "v_head_dim": 256, "index_head_dim": 128,
    "index_n_heads": 32, "index_topk": 2048,
}  # fmt: skip
NEMOTRON_LETTERS = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"


def model_of(config: dict[str, Any], name: str = "") -> Model:
    return read_config(config, name=name).model


def layers(config: dict[str, Any]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for group in model_of(config).architecture.attention:
        counted[group.kind] = counted.get(group.kind, 0) + group.layers
    return counted


@dataclass(frozen=True, kw_only=True)
class Published:
    """A config and what its developer says of the model, in billions of parameters; active 0: not said."""

    config: dict[str, Any]
    total: float
    active: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)


PUBLISHED = {
    "GPT-2, positions learned": Published(
        config={"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024, "vocab_size": 50257},
        total=0.124, kinds={"full": 12},
    ),
    "Hunyuan-A13B, a list of equal values for each layer": Published(
        config={
            "model_type": "hunyuan_v1_moe", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
            "num_key_value_heads": 8, "attention_head_dim": 128, "intermediate_size": 3072, "moe_intermediate_size": [3072] * 32,
            "moe_topk": [8] * 32, "num_shared_expert": [1] * 32, "num_experts": 64, "vocab_size": 128167,
            "max_position_embeddings": 32768, "tie_word_embeddings": True,
        },
        total=80.0, active=13.0, kinds={"full": 32},
    ),
    "MiMo-V2-Flash, more KV heads in windowed layers": Published(
        config={
            "model_type": "mimo_v2_flash", "num_hidden_layers": 48, "hidden_size": 4096, "num_attention_heads": 64,
            "num_key_value_heads": 4, "swa_num_key_value_heads": 8, "head_dim": 192, "v_head_dim": 128, "n_routed_experts": 256,
            "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "intermediate_size": 16384, "vocab_size": 152576,
            "sliding_window": 128, "max_position_embeddings": 262144, "moe_layer_freq": [0, *[1] * 47],
            "hybrid_layer_pattern": [0, *[1] * 4, 0, *[*[1] * 5, 0] * 7],
        },
        total=309.0, active=15.0, kinds={"full": 9, "sliding": 39},
    ),
    "Llama 4 Scout, experts everywhere": Published(
        config={"text_config": {**LLAMA4, "num_local_experts": 16, "moe_layers": list(range(48))}, "vision_config": LLAMA4_TOWER},
        total=109.0, active=17.0, kinds={"chunked": 36, "full": 12},
    ),
    "Llama 4 Maverick, the layers with experts listed by number": Published(
        config={"text_config": {**LLAMA4, "num_local_experts": 128, "moe_layers": list(range(1, 48, 2))}, "vision_config": LLAMA4_TOWER},
        total=400.0, active=17.0, kinds={"chunked": 36, "full": 12},
    ),
    "Granite 4.0 H-Micro, no experts and an MLP as wide as the shared one": Published(
        config={
            "model_type": "granitemoehybrid", "num_hidden_layers": 40, "hidden_size": 2048, "num_attention_heads": 32,
            "num_key_value_heads": 8, "shared_intermediate_size": 8192, "num_local_experts": 0, "vocab_size": 100352,
            "max_position_embeddings": 131072, "layer_types": [*["mamba"] * 5, "attention", *["mamba"] * 4] * 4,
            "mamba_n_heads": 64, "mamba_d_head": 64, "mamba_d_state": 128, "mamba_n_groups": 1, "mamba_d_conv": 4,
        },
        total=3.2, kinds={"mamba": 36, "full": 4},
    ),
    "Gemma 4 26B-A4B, a dense MLP beside the experts, layers summed up": Published(
        config={
            "model_type": "gemma4_text", "num_hidden_layers": 30, "hidden_size": 2816, "num_attention_heads": 16,
            "num_key_value_heads": 8, "head_dim": 256, "global_head_dim": 512, "num_global_key_value_heads": 2,
            "intermediate_size": 2112, "moe_intermediate_size": 704, "num_experts": 128, "top_k_experts": 8, "vocab_size": 262144,
            "max_position_embeddings": 262144, "sliding_window": 1024,
            "layer_types_summary": {"full_attention": 5, "sliding_attention": 25},
        },
        total=25.2, active=3.8, kinds={"full": 5, "sliding": 25},
    ),
    "DeepSeek-V4-Flash, compressed attention": Published(
        config=DEEPSEEK_V4_FLASH, total=284.0, active=13.0, kinds={"compressed": 43}
    ),
    "GLM-5.2, an indexer in 21 of 78 layers": Published(
        config={**GLM_5_2, "indexer_types": ["full" if n < 3 or n % 4 == 2 else "shared" for n in range(78)]},
        total=744.0, active=40.0, kinds={"mla": 78},
    ),
    "Nemotron 3 Nano 30B-A3B, letters for Mamba, attention and experts": Published(
        config={
            "model_type": "nemotron_h", "num_hidden_layers": 52, "hidden_size": 2688, "num_attention_heads": 32,
            "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 1856, "n_routed_experts": 128, "num_experts_per_tok": 6,
            "moe_intermediate_size": 1856, "n_shared_experts": 1, "moe_shared_expert_intermediate_size": 3712, "vocab_size": 131072,
            "max_position_embeddings": 262144, "hybrid_override_pattern": NEMOTRON_LETTERS, "mamba_num_heads": 64,
            "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8, "conv_kernel": 4, "mlp_hidden_act": "relu2",
        },
        total=31.6, active=3.2, kinds={"mamba": 23, "none": 23, "full": 6},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PUBLISHED.values(), ids=list(PUBLISHED))
def test_the_counted_size_is_the_announced_one(case: Published) -> None:
    """Totals of the model cards, to the digits they give; active parameters to a tenth, since cards count embeddings or not."""
    found = model_of(case.config)
    assert found.parameters_total.number / 1e9 == pytest.approx(case.total, rel=0.01)
    if case.active:
        assert found.parameters_active.number / 1e9 == pytest.approx(case.active, rel=0.1)
    assert layers(case.config) == case.kinds


def test_gpt_2_has_a_table_of_positions_and_rotates_nothing() -> None:
    """Learned positions are 1,024 rows of the embedding's width; there is no rotary table."""
    architecture = model_of(PUBLISHED["GPT-2, positions learned"].config).architecture
    assert (architecture.learned_positions, architecture.rope_dim, architecture.rope_positions) == (
        1024,
        0,
        0,
    )


def test_windowed_layers_may_have_more_kv_heads() -> None:
    """MiMo-V2-Flash: 8 KV heads in the 39 windowed layers, 4 in the 9 that see everything (its model card)."""
    config = PUBLISHED["MiMo-V2-Flash, more KV heads in windowed layers"].config
    groups = {group.kind: group for group in model_of(config).architecture.attention}
    assert (groups["sliding"].kv_heads, groups["full"].kv_heads) == (8, 4)


@pytest.mark.parametrize(
    ("change", "own"),
    [
        pytest.param({}, {"sliding": 20, "full": 4}, id="E4B: the last 18 of 42 layers reuse a cache"),
        pytest.param({"num_kv_shared_layers": 0}, {"sliding": 35, "full": 7}, id="none reuses"),
        pytest.param({"num_kv_shared_layers": 1}, {"sliding": 35, "full": 6}, id="the last layer, which sees everything"),
        pytest.param({"num_kv_shared_layers": 6}, {"sliding": 30, "full": 6}, id="the last period"),
    ],
)  # fmt: skip
def test_layers_at_the_end_that_reuse_a_cache_keep_none(change: dict[str, Any], own: dict[str, int]) -> None:
    """Gemma 4 E4B: of 35 windowed and 7 full layers, 20 and 4 hold keys and values; the last 18 read those of earlier ones."""
    groups = model_of({**GEMMA4_E4B, **change}).architecture.attention
    kept: dict[str, int] = {}
    for group in groups:
        if not group.shares_kv_with_previous:
            kept[group.kind] = kept.get(group.kind, 0) + group.layers
    assert kept == own
    assert sum(group.layers for group in groups) == 42


def test_somebody_must_keep_the_cache_that_others_reuse() -> None:
    """As many sharing layers as there are layers cannot be."""
    with pytest.raises(InputError, match="num_kv_shared_layers leaves no sliding layer whose cache"):
        read_config({**GEMMA4_E4B, "num_kv_shared_layers": 42})


def test_a_reused_cache_takes_no_memory(kb: KnowledgeBase) -> None:
    """A token of Gemma 4 E4B far beyond its window: two heads of 512 keys and values in 4 full layers, 2 bytes each."""
    cost = kv_cost(
        model_of(GEMMA4_E4B).architecture, "bf16", tp=1, pp=1, terms=profile_of(kb, "sglang").terms
    )
    assert sum(part.bytes_per_token for part in cost.parts if not part.limit) == 4 * 2 * (512 + 512) * 2
    assert sum(part.bytes_per_token for part in cost.parts if part.limit == 512) == 20 * 2 * (256 + 256) * 2


def test_only_some_layers_choose_what_all_attend_to() -> None:
    """GLM-5.2: layers 0, 1, 2, 6, 10 … 74 have an indexer (21), the 57 others use the choice of an earlier one."""
    groups = model_of(PUBLISHED["GLM-5.2, an indexer in 21 of 78 layers"].config).architecture.attention
    assert {(group.layers, group.index_heads) for group in groups} == {(21, 32), (57, 0)}


@pytest.fixture
def compressed() -> dict[int, AttentionGroup]:
    return {group.compress_ratio: group for group in model_of(DEEPSEEK_V4_FLASH).architecture.attention}


def test_compressed_layers_are_told_apart_by_their_ratio(compressed: dict[int, AttentionGroup]) -> None:
    """DeepSeek-V4-Flash: 2 plain windows, 21 layers that keep one entry per 4 tokens with an indexer, 20 that keep one per 128.

    The last value of the list belongs to the layer for multi-token prediction, not to the 43.
    """
    assert {ratio: group.layers for ratio, group in compressed.items()} == {0: 2, 4: 21, 128: 20}
    assert [compressed[ratio].index_heads for ratio in (0, 4, 128)] == [0, 64, 0]
    assert {group.window for group in compressed.values()} == {128}


def test_a_compressed_layer_counts_its_projections(compressed: dict[int, AttentionGroup]) -> None:
    """Queries by rank 1,024, one shared entry of 512, outputs in 8 groups of rank 1,024; the compressor of ratio 128 adds two
    projections of 4,096 x 512, that of ratio 4 twice as much (it overlaps), and its indexer 64 heads of 128 with their own."""
    heads, hidden, rank, entry = 64, 4096, 1024, 512
    plain = hidden * (rank + entry) + rank * heads * entry + heads * entry * 1024 + 8 * 1024 * hidden
    assert compressed[0].parameters_per_layer == plain
    assert compressed[128].parameters_per_layer == plain + 2 * hidden * entry
    indexer = rank * 64 * 128 + hidden * (2 * 2 * 128 + 64)
    assert compressed[4].parameters_per_layer == plain + 4 * hidden * entry + indexer


def test_without_ranks_a_compressed_layer_has_a_plain_output() -> None:
    """No o_lora_rank: one matrix from all heads to the model's width."""
    config = {
        key: value for key, value in DEEPSEEK_V4_FLASH.items() if key not in ("o_lora_rank", "o_groups")
    }
    groups = {group.compress_ratio: group for group in model_of(config).architecture.attention}
    assert groups[0].parameters_per_layer == 4096 * (1024 + 512) + 1024 * 64 * 512 + 64 * 512 * 4096


def test_compressed_entries_are_spread_over_the_tokens_behind_them(kb: KnowledgeBase) -> None:
    """An entry in 8 bit: 448 values, 64 rotary ones in 16 bit, a scale per 64 and one byte more, 584 in all; 132 of an indexer.

    One per 4 tokens in 21 layers and one per 128 in 20, where each layer has a pool of its own; windows do not grow.
    """
    architecture = model_of(DEEPSEEK_V4_FLASH).architecture
    cost = kv_cost(architecture, "fp8", tp=8, pp=1, terms=profile_of(kb, "sglang").terms)
    assert cost.bytes_per_token == pytest.approx(21 * (584 + 132) / 4 + 20 * 584 / 128)


@pytest.mark.parametrize(
    ("share", "rotated"),
    [
        pytest.param({"rotary_pct": 0.25}, 16, id="Pythia: a quarter of 64"),
        pytest.param(
            {"rope_parameters": {"partial_rotary_factor": 0.5}}, 32, id="half, in Transformers 5's block"
        ),
        pytest.param({"partial_rotary_factor": 7}, 16, id="impossible: the family's own quarter"),
    ],
)
def test_a_part_of_each_head_is_rotated(share: dict[str, Any], rotated: int) -> None:
    """The rotary table is as wide as the rotated part of a head."""
    config = {
        "model_type": "gpt_neox", "num_hidden_layers": 16, "hidden_size": 2048, "num_attention_heads": 32, "intermediate_size": 8192,
        "vocab_size": 50304, "max_position_embeddings": 2048, **share,
    }  # fmt: skip
    assert model_of(config).architecture.rope_dim == rotated


def test_yarn_stretches_the_original_length() -> None:
    """Qwen2.5's card: factor 4 on 32,768 positions is a table of 131,072 rows, whatever max_position_embeddings says."""
    config = {
        "model_type": "qwen2", "num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4,
        "intermediate_size": 18944, "vocab_size": 152064, "max_position_embeddings": 32768,
        "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
    }  # fmt: skip
    assert model_of(config).architecture.rope_positions == 131072


PLAIN: dict[str, Any] = {
    "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072,
}  # fmt: skip


def test_a_vision_tower_without_a_shape_is_not_counted() -> None:
    """Some configs name only a tower's type; its size is left at nothing rather than made up."""
    config = {
        "model_type": "mistral3",
        "text_config": {**PLAIN, "model_type": "mistral"},
        "vision_config": {"model_type": "siglip"},
    }
    assert model_of(config).architecture.vision_parameters == 0


def test_a_class_that_is_not_known_is_named() -> None:
    """Without model_type the class in `architectures` is what the message names."""
    config = {**PLAIN, "model_type": None, "architectures": ["WhisperForConditionalGeneration"]}
    with pytest.raises(InputError, match="architecture 'WhisperForConditionalGeneration' is not known"):
        read_config(config)


def test_a_model_of_no_length_is_refused() -> None:
    """No load can be judged against zero tokens."""
    with pytest.raises(
        InputError, match="max_position_embeddings is 0; write the longest sequence in tokens"
    ):
        read_config({**PLAIN, "max_position_embeddings": 0})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b" " * (MAX_CONFIG_BYTES + 1), "is larger than 8,388,608 bytes; give the config.json", id="too large"),
        pytest.param(b"[" * 200_000, "nested too deeply for a config.json", id="too deep"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_a_config_is_refused(
    rackfit: Callable[..., Any], tmp_path: Path, content: bytes, words: str
) -> None:
    """Weights given by mistake, or brackets without end: one line, status 2."""
    path = tmp_path / "config.json"
    path.write_bytes(content)
    ran = rackfit("estimate", "--config", path, "--accelerator", "h100")
    assert ran.status == 2
    assert words in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason of the system, in one line."""

    def locked(*_args: object, **_more: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "config.json"
    path.write_text(json.dumps(PLAIN), encoding="utf-8")
    monkeypatch.setattr(Path, "open", locked)
    with pytest.raises(InputError, match="Permission denied; give a file that can be read"):
        load_config_file(path)
