"""`rackfit estimate` and `rackfit import hf-config` as their user meets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.units import GIB

Rackfit = Callable[..., Any]
LLAMA = {
    "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072, "tie_word_embeddings": False,
}  # fmt: skip


def test_one_layout_as_json(rackfit: Rackfit) -> None:
    """The keys that a script relies on; the figures are those of a logged run (llm-d-planner issue 205)."""
    ran = rackfit(
        "estimate", "--model", "meta-llama/Llama-3.1-8B-Instruct", "--accelerator", "H100-80GB", "--memory-fraction", "0.95",
        "--context", "8192", "--concurrency", "8", "--input-tokens", "2048", "--output-tokens", "256", "--format", "json",
    )  # fmt: skip
    assert ran.status == 0, ran.err
    got = json.loads(ran.out)
    assert got["weights_bytes"] / GIB == pytest.approx(14.99, abs=0.01)
    assert got["kv_bytes_per_token"] == 131072
    assert got["kv_capacity_tokens"] == pytest.approx(476_016, rel=2e-3)
    assert got["max_sequences"] == 58
    assert got["fits"] is True
    assert set(got["tpot_ms"]) == {"value", "low", "high", "basis"}
    assert got["limiting"] == "kv_cache"


def test_sglangs_own_way_of_counting_tensor_parallelism_is_pointed_out(rackfit: Rackfit) -> None:
    """SGLang's `--tp 8 --dp 8 --enable-dp-attention` runs on eight accelerators; TP 8 times DP 8 would be 64."""
    asked = (
        "estimate",
        "--model",
        "r1",
        "--accelerator",
        "h200",
        "--ep",
        "8",
        "--context",
        "8k",
        "--dp",
        "8",
    )
    ran = rackfit(*asked, "--tp", "8", "--engine", "sglang", "--format", "json")
    got = json.loads(ran.out)
    assert got["layout"]["accelerators"] == 64
    assert any("--tp 8 --dp 8 is TP 1 and DP 8" in note for note in got["notes"])
    assert (
        json.loads(rackfit(*asked, "--tp", "1", "--engine", "sglang", "--format", "json").out)["notes"] == []
    )


def test_what_does_not_fit_says_by_how_much_and_what_helps(rackfit: Rackfit) -> None:
    """405B in 16 bit on eight H100: status 1, the shortfall, and changes."""
    ran = rackfit(
        "estimate",
        "--model",
        "405b",
        "--precision",
        "bf16",
        "--accelerator",
        "h100",
        "--tp",
        "8",
        "--context",
        "4k",
    )
    assert ran.status == 1
    assert "does not fit: weights and reserves exceed" in ran.out
    assert "weights in fp8" in ran.out
    assert "TP 16 instead of 8" in ran.out


def test_the_shortfall_of_the_weights_is_the_pool_that_is_missing(rackfit: Rackfit) -> None:
    """What weights and reserves lack, and apart from it what one sequence of 8,192 tokens at 320 KiB would add: 2.5 GiB."""
    asked = ("estimate", "--model", "llama-3.1-70b", "--accelerator", "h100", "--context", "8192")
    plain = json.loads(rackfit(*asked, "--format", "json").out)
    missing = -plain["kv_pool_bytes"] / GIB
    said = f"exceed what the engine may use by {missing:.1f} GiB per accelerator, {missing + 2.5:.1f} GiB with the KV cache"
    assert said in rackfit(*asked).out


def test_both_units_are_shown_where_they_differ(rackfit: Rackfit) -> None:
    """A B300 sold as 288 GB shows 268.6 GiB, which are 288.4 GB."""
    ran = rackfit("estimate", "--model", "r1", "--accelerator", "b300", "--tp", "8", "--context", "8k")
    assert "268.6 GiB" in ran.out
    assert "288.4 GB, sold as 288 GB" in ran.out


def test_a_config_stands_in_for_a_known_model(rackfit: Rackfit, tmp_path: Path) -> None:
    """Shapes from a file give the same weights as the entry."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(LLAMA), encoding="utf-8")
    ran = rackfit(
        "estimate", "--config", path, "--accelerator", "h100", "--context", "8k", "--format", "json"
    )
    assert json.loads(ran.out)["weights_bytes"] / GIB == pytest.approx(14.99, abs=0.01)


def test_without_an_accelerator_weights_and_tokens_are_known(rackfit: Rackfit) -> None:
    """Nothing is made up about memory that was not named."""
    ran = rackfit("estimate", "--model", "qwen3-14b", "--tp", "2", "--format", "json")
    got = json.loads(ran.out)
    assert got["kv_bytes_per_token"] == 81920
    assert got["fits"] is None
    assert got["kv_capacity_tokens"] is None


def test_a_batch_goes_on_after_a_bad_line(rackfit: Rackfit, tmp_path: Path) -> None:
    """One object a line; a bad line carries its id and an error; other spellings of logs are understood."""
    lines = [
        '{"id": "good", "model": "r1", "accelerator": "h200", "tp": 8, "context": "32k", "engine": "sglang"}',
        '{"id": "model", "model": "nobody/knows"}',
        "not json",
        '{"id": "tp", "model": "r1", "accelerator": "h200", "tp": true}',
        '{"id": "fraction", "model": "r1", "accelerator": "h200", "memory_fraction": 90}',
        '{"id": "nan", "model": "r1", "accelerator": "h200", "memory_fraction": NaN}',
        "[1, 2]",
        json.dumps(
            {
                "id": "config",
                "config": LLAMA,
                "gpu": "H100",
                "max_model_len": 8192,
                "trust": "high",
                "tp": None,
            }
        ),
        '{"id": "unknown", "config": {"model_type": "mystery"}, "accelerator": "h100"}',
        "",
    ]
    path = tmp_path / "layouts.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    ran = rackfit("estimate", "--batch", path)
    assert ran.status == 1
    answers = {answer["id"]: answer for answer in map(json.loads, ran.out.splitlines())}
    assert len(answers) == 9
    assert [key for key, answer in answers.items() if "error" not in answer] == ["good", "config"]
    assert answers["config"]["kv_bytes_per_token"] == 131072
    assert any("trust" in note for note in answers["config"]["notes"])
    assert "column 1" in answers[3]["error"]
    assert "mystery" in answers["unknown"]["error"]


def test_engine_terms_can_be_replaced(rackfit: Rackfit) -> None:
    """Named in the engine's entry, overridden on the command line."""
    common = (
        "estimate",
        "--model",
        "llama-3.1-8b",
        "--accelerator",
        "h100",
        "--context",
        "8k",
        "--format",
        "json",
    )
    plain, changed = (
        json.loads(rackfit(*common, *more).out) for more in ((), ("--engine-term", "runtime_gib=2.25"))
    )
    assert plain["kv_pool_bytes"] - changed["kv_pool_bytes"] == pytest.approx(2 * GIB, abs=2)
    bad = rackfit(*common, "--engine-term", "runtim_gib=2")
    assert bad.status == 2
    assert "runtime_gib" in bad.err


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (("--model", "r1", "--tp", "0"), "--tp"),
        (("--model", "r1", "--context", "nan"), "--context"),
        (("--accelerator", "h100"), "--model"),
        (("--model", "r1", "--accelerator", "h100", "--engine", "vlm"), "vllm"),
        (("--model", "r1", "--hbm-gib", "-4"), "--hbm-gib"),
        (("--batch", "/nowhere/at/all.jsonl"), "all.jsonl"),
    ],
)
def test_bad_flags_are_one_line(rackfit: Rackfit, flags: tuple[str, ...], word: str) -> None:
    """Status 2 and one line that names the flag."""
    ran = rackfit("estimate", *flags)
    assert ran.status == 2
    assert word in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_importing_a_config_writes_an_entry_once(rackfit: Rackfit, tmp_path: Path) -> None:
    """The entry is written, again without change, and not overwritten when it differs."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA), encoding="utf-8")
    base = ("import", "hf-config", path, "--name", "someone/Mine-8B", "--output", tmp_path / "kb")
    assert rackfit(*base).status == 0
    entry = tmp_path / "kb" / "models" / "mine-8b.yaml"
    first = entry.read_text("utf-8")
    assert "id: models/mine-8b" in first
    assert rackfit(*base).status == 0
    entry.write_text(first + "note: Mine.\n", encoding="utf-8")
    assert rackfit(*base).status == 2
    assert rackfit(*base, "--force").status == 0
    assert entry.read_text("utf-8") == first
