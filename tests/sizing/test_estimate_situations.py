"""`rackfit estimate` in situations that are not plain: odd layouts, long contexts, old engines, models without a cache, a config beside a name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Rackfit = Callable[..., Any]
QWEN3_14B: dict[str, Any] = {
    "model_type": "qwen3", "num_hidden_layers": 40, "hidden_size": 5120, "num_attention_heads": 40, "num_key_value_heads": 8,
    "head_dim": 128, "intermediate_size": 17408, "vocab_size": 151936, "max_position_embeddings": 40960,
    "tie_word_embeddings": False,
}  # fmt: skip
FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}
MAMBA_ONLY: dict[str, Any] = {
    "model_type": "nemotron_h", "num_hidden_layers": 4, "hybrid_override_pattern": "M-M-", "hidden_size": 4096, "head_dim": 128,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 16384, "vocab_size": 131072,
    "max_position_embeddings": 262144, "mamba_num_heads": 128, "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8,
    "conv_kernel": 4,
}  # fmt: skip


@pytest.fixture
def estimated(rackfit: Rackfit) -> Callable[..., dict[str, Any]]:
    """The JSON of an estimate that could be made."""

    def run(*flags: str | Path) -> dict[str, Any]:
        ran = rackfit("estimate", "--format", "json", *flags)
        assert ran.status in (0, 1), ran.err
        answer: dict[str, Any] = json.loads(ran.out)
        return answer

    return run


def written(folder: Path, config: dict[str, Any], name: str = "config.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (("--model", "llama-3.1-8b", "--tp", "3"), "32 attention heads do not divide by tensor parallelism 3"),
        (("--model", "llama-3.1-8b", "--tp", "8", "--ep", "4"), "expert parallelism on a model without experts"),
        (("--model", "r1", "--tp", "8", "--ep", "16"), "expert parallelism 16 over 8 accelerators of a stage"),
        (("--model", "qwen3-14b", "--tp", "5"), "8 KV heads and tensor parallelism 5 do not divide"),
    ],
)  # fmt: skip
def test_a_layout_that_engines_refuse_is_sized_and_said(
    estimated: Callable[..., dict[str, Any]], flags: tuple[str, ...], reason: str
) -> None:
    """The arithmetic holds all the same; the note says what an engine would object to."""
    notes = estimated(*flags, "--accelerator", "h200", "--context", "8k")["notes"]
    assert notes == [f"engines may refuse this layout: {reason}"]


@pytest.mark.parametrize(
    ("model", "reach"),
    [
        ("qwen3-14b", " the 40,960 that the model was published for; with RoPE scaling switched on it reaches 131,072"),
        ("llama-3.1-8b", " the 131,072 that the model was published for"),
    ],
)  # fmt: skip
def test_a_context_beyond_the_published_one_is_said(
    estimated: Callable[..., dict[str, Any]], model: str, reach: str
) -> None:
    """The model cards: 32,768 tokens and an answer for Qwen3, 131,072 with YaRN; 128k for Llama 3.1, which has nothing further."""
    notes = estimated("--model", model, "--accelerator", "h200", "--context", "150000")["notes"]
    assert notes == [f"150,000 tokens are more than{reach}"]


@pytest.mark.parametrize(
    ("flags", "precision", "note"),
    [
        (("--model", "unsloth/Qwen3-14B-unsloth-bnb-4bit"), "int4", "is taken as Qwen3 14B: no entry has that name"),
        (("--model", "Qwen/Qwen3-32B-FP8", "--precision", "bf16"), "fp8", "16 bit is taken as the type of activations"),
        (("--model", "Qwen/Qwen3-32B-FP8", "--precision", "fp8"), "fp8", ""),
        (("--model", "qwen3-14b", "--precision", "int8"), "int8", "int8: no published checkpoint is known here"),
    ],
)  # fmt: skip
def test_what_is_read_into_a_name_or_a_precision_is_said(
    estimated: Callable[..., dict[str, Any]], flags: tuple[str, ...], precision: str, note: str
) -> None:
    """Logs give `bf16`, the type of activations, beside a checkpoint in 8 bit; a copy's name stands for the model copied."""
    got = estimated(*flags, "--accelerator", "h200", "--context", "8k")
    assert got["precision"] == precision
    assert [note in said for said in got["notes"]] == ([True] if note else [])


@pytest.mark.parametrize("name", ["vllm (Gaudi fork)", "vLLM-Ascend"])
def test_a_longer_engine_name_stands_for_the_engine_in_it(
    estimated: Callable[..., dict[str, Any]], name: str
) -> None:
    """Forks are sized like the engine that they fork."""
    got = estimated("--model", "llama-3.1-8b", "--accelerator", "h200", "--context", "8k", "--engine", name)
    assert got["engine"] == "vllm"


@pytest.mark.parametrize(
    ("version", "context", "step"),
    [
        ("0.7.3", "16k", 16384),
        ("V0", "16k", 16384),
        ("0.8.5 (V0 engine)", "16k", 16384),
        ("0.7.3", "64k", 2048),  # the default of V0 once prompts are chunked
        ("0.8.5", "16k", 8192),  # V1 on accelerators of 70 GiB and more, chunked at any length
    ],
)
def test_the_engine_before_v1_prefills_a_prompt_in_one_step(
    estimated: Callable[..., dict[str, Any]], version: str, context: str, step: int
) -> None:
    """vLLM issue 10517: the activation peak grows with the context until chunked prefill starts above 32k tokens."""
    got = estimated(
        "--model", "llama-3.1-8b", "--accelerator", "h100", "--context", context, "--engine-version", version
    )
    assert got["max_num_batched_tokens"] == step


def test_a_model_of_states_alone_holds_sequences_of_any_length(
    rackfit: Rackfit, estimated: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    """Two Mamba-2 layers: 128 heads x 64 x 128 states in 32 bit, and 3 positions of 8,192 + 2 x 8 x 128 values in 16 bit each."""
    state = 2 * (128 * 64 * 128 * 4 + 3 * (8192 + 2 * 8 * 128) * 2)
    asked = ("--config", written(tmp_path, MAMBA_ONLY), "--accelerator", "h100")
    got = estimated(*asked, "--context", "8k")
    assert got["kv_bytes_per_token"] == 0
    assert got["kv_state_bytes_per_sequence"] == state
    assert got["kv_capacity_tokens"] is None  # no number of tokens bounds it
    assert got["max_sequences"] == got["kv_pool_bytes"] // state
    assert got["max_sequences"] == estimated(*asked, "--context", "128k")["max_sequences"]
    assert any("sequences, not tokens, are what it holds" in note for note in got["notes"])
    text = rackfit("estimate", *asked, "--context", "8k").out
    assert "state per sequence and accelerator: 8.1 MiB" in text
    assert "unbounded tokens" in text


def test_padding_of_a_shared_pool_is_said(rackfit: Rackfit) -> None:
    """Gemma 3 27B: 52 windowed and 10 full layers in groups of ten are seven groups, so eight of 70 places stay empty."""
    ran = rackfit("estimate", "--model", "google/gemma-3-27b-it", "--accelerator", "h200", "--context", "8k")
    assert "8 layers of padding included" in ran.out


class TestConfigBesideName:
    """`--config` and `--model` together: the entry where both mean the same model, the config where they differ."""

    @pytest.mark.parametrize(
        ("name", "block", "precision", "checkpoint"),
        [
            pytest.param("qwen3-14b", {}, "bf16", None, id="plain weights: the entry as published"),
            pytest.param("qwen3-14b", {"quantization_config": FP8}, "fp8", None, id="the config says how weights are stored"),
            pytest.param("Qwen/Qwen3-32B-FP8", {}, "fp8", "Qwen/Qwen3-32B-FP8", id="the name is that of a quantized checkpoint"),
        ],
    )  # fmt: skip
    def test_the_same_shapes_are_the_entry(
        self,
        estimated: Callable[..., dict[str, Any]],
        tmp_path: Path,
        name: str,
        block: dict[str, Any],
        precision: str,
        checkpoint: str | None,
    ) -> None:
        """The entry knows the context limit and the vision tower; the config how this copy is stored."""
        shapes = QWEN3_14B if "14" in name else {
            **QWEN3_14B, "num_hidden_layers": 64, "num_attention_heads": 64, "intermediate_size": 25600,
        }  # fmt: skip
        got = estimated(
            "--model", name, "--config", written(tmp_path, shapes | block), "--accelerator", "h200", "--context", "8k"
        )  # fmt: skip
        assert got["model"] == f"models/qwen3-{'14b' if '14' in name else '32b'}"
        assert (got["precision"], got["checkpoint"]) == (precision, checkpoint)
        assert got["notes"] == []

    @pytest.mark.parametrize(
        ("config", "reason"),
        [
            pytest.param({"model_type": "mystery"}, "architecture 'mystery' is not known", id="unknown architecture"),
            pytest.param({**QWEN3_14B, "num_hidden_layers": 4}, "the name says 14B parameters, the config counts", id="lost layers"),
        ],
    )  # fmt: skip
    def test_a_config_that_cannot_be_right_gives_way_to_the_entry(
        self, estimated: Callable[..., dict[str, Any]], tmp_path: Path, config: dict[str, Any], reason: str
    ) -> None:
        """14.8B parameters in 16 bit are 27.5 GiB, whatever a damaged config says; the note says which was used and why."""
        got = estimated(
            "--model", "Qwen/Qwen3-14B", "--config", written(tmp_path, config), "--accelerator", "h200", "--context", "8k"
        )  # fmt: skip
        assert got["weights_bytes"] / 2 == pytest.approx(14.77e9, rel=1e-3)
        (note,) = got["notes"]
        assert reason in note
        assert note.endswith("the entry of Qwen3 14B is used instead")

    def test_other_shapes_win_over_the_name(
        self, estimated: Callable[..., dict[str, Any]], tmp_path: Path
    ) -> None:
        """A pruned copy under the name of the original is sized by its own layers: 30 of 40."""
        config = written(tmp_path, {**QWEN3_14B, "num_hidden_layers": 30})
        got = estimated(
            "--model", "qwen3-14b", "--config", config, "--accelerator", "h200", "--context", "8k"
        )
        assert got["kv_bytes_per_token"] == 30 * 2 * 8 * 128 * 2

    def test_a_format_in_an_unknown_name_counts_where_the_config_has_none(
        self, estimated: Callable[..., dict[str, Any]], tmp_path: Path
    ) -> None:
        """`…-AWQ` beside a config without quantization_config: weights in 4 bit."""
        config = written(tmp_path, QWEN3_14B)
        asked = ("--config", config, "--accelerator", "h200", "--context", "8k")
        got = estimated("--model", "somebody/Fine-Tune-14B-AWQ", *asked)
        assert (got["precision"], got["format"]) == ("int4", "awq")

    def test_two_unknown_ones_are_refused(self, rackfit: Rackfit, tmp_path: Path) -> None:
        """Neither the name nor the config is known: the config's message, which says more."""
        config = written(tmp_path, {"model_type": "mystery"})
        ran = rackfit("estimate", "--model", "nobody/knows", "--config", config, "--accelerator", "h200")
        assert ran.status == 2
        assert "architecture 'mystery' is not known" in ran.err


class TestBatchLines:
    """Lines of `--batch` hold values as logs and scripts write them."""

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ({"memory_fraction": [0.9]}, "memory_fraction: '[0.9]' is not a number"),
            ({"hbm_gib": True}, "hbm_gib: 'True' is not a number"),
            ({"speculative": "perhaps"}, "speculative: 'perhaps' is neither yes nor no"),
            ({"note": "x" * 1_100_000}, "the line is longer than 1,000,000 bytes"),
        ],
        ids=["a list", "a flag", "a word", "a line without end"],
    )
    def test_a_value_of_the_wrong_kind_is_named(
        self, rackfit: Rackfit, tmp_path: Path, values: dict[str, Any], words: str
    ) -> None:
        """One answer with the field, the value and what would be right."""
        path = tmp_path / "lines.jsonl"
        path.write_text(json.dumps({"model": "r1", "accelerator": "h200", **values}) + "\n", encoding="utf-8")
        ran = rackfit("estimate", "--batch", path)
        assert ran.status == 1
        assert words in json.loads(ran.out)["error"]

    @pytest.mark.parametrize("said", [True, "yes", "on", 1])
    def test_a_flag_may_be_written_in_any_way(self, rackfit: Rackfit, tmp_path: Path, said: object) -> None:
        """DeepSeek-R1 has one layer for multi-token prediction, which speculative decoding loads: 671B become more than 680B."""
        lines = [
            {"model": "r1", "precision": "fp8", **more}
            for more in ({}, {"speculative": said}, {"speculative": False})
        ]
        path = tmp_path / "lines.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        ran = rackfit("estimate", "--batch", path, "--accelerator", "h200", "--tp", "8", "--context", "8k")
        assert ran.status == 0, ran.err
        plain, loaded, switched_off = (json.loads(line)["weights_bytes"] for line in ran.out.splitlines())
        assert loaded > plain * 680 / 671
        assert switched_off == plain
