"""What each fuzz target starts from: seeds, words of its format, and how many inputs a bounded run tries."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import fuzz_targets as targets

from advisor.knowledge.locate import kb_folder


@dataclass(frozen=True)
class Spec:
    """A target, seeds to start from, words that matter to it, and how many inputs a bounded run tries."""

    run: targets.Target
    seeds: Callable[[], Sequence[bytes]]
    words: Sequence[bytes] = ()
    bounded: int = 300


def _shipped(*patterns: str) -> Callable[[], list[bytes]]:
    def read() -> list[bytes]:
        paths = [path for pattern in patterns for path in sorted(kb_folder().glob(pattern))[:4]]
        return [path.read_bytes() for path in paths]

    return read


def _lines(*lines: str) -> Callable[[], list[bytes]]:
    return lambda: [line.encode() for line in lines]


_YAML_WORDS = [
    b"&a ", b"*a", b"<<: ", b"!!python/object:os.system ", b"? ", b"- ", b": ", b"{", b"}", b"[", b"]", b"|\n", b">-\n", b"'", b'"',
    b"\\x1b", b"\\U0010ffff", b"---\n", b"...\n", b"%YAML 1.1\n", b"\t", b"\r\n", b"\xef\xbb\xbf", b"\xff", b"\x00", b".nan", b"1e999",
    b"null", b"~", b"yes", b"0x10", b"1:30", b"2026-11-30", b"# rackfit: ignore", b"# noqa", b"\xe2\x80\xae",
]  # fmt: skip
_JSON_WORDS = [
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"null", b"true", b"NaN", b"Infinity", b"-1", b"0", b"1e999", b"1e308", b"9" * 30,
    b'"\\ud800"', b'"\\u0000"', b'""', b"{}", b"[]", b'"../../x"', b"0.5", b"-0.0", b"9" * 5000, b"[" * 200, b'{"a":' * 200,
]  # fmt: skip
_TALK_WORDS = [
    b"128k", b"llama", b"70b", b"deepseek", b"r1", b"tpot", b"ms", b"users", b"per second", b"$3.20", b"1e999", b"-5", b"not ", b"between ",
    b"and ", b"what if ", b"why", b"?", b"undo", b"/export x", b"/", b"\xd9\xa3", b"\xef\xbc\x91", b"\xe2\x80\xae", b"\x00", b"\xff", b"half ",
    b"at least ", b"under ", b"no ", b"instead of ", b"gb300", b"h100", b"8 gpus", b"80%", b"half a million", b"fp4", b"offline",
]  # fmt: skip
_CONFIG = json.dumps(
    {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
        "max_position_embeddings": 131072, "torch_dtype": "bfloat16", "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"]},
    }
).encode()  # fmt: skip
_MOE = json.dumps(
    {
        "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
        "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
        "first_k_dense_replace": 3, "num_attention_heads": 128, "num_hidden_layers": 61, "num_key_value_heads": 128,
        "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "vocab_size": 129280, "max_position_embeddings": 163840, "num_nextn_predict_layers": 1,
    }
).encode()  # fmt: skip
ROW = {
    "ID": "6.0-0001", "Submitter": "Example", "Availability": "available", "Category": "closed", "Suite": "datacenter",
    "System": "Example Node", "Platform": "8xMI355X_2xEPYC_9575F", "UsedModel": "llama2-70b-99.9", "Model": "llama2-70b-99.9",
    "Scenario": "Offline", "Nodes": 1, "Accelerator": "AMD Instinct MI355X 288GB HBM3e", "a#": 8, "Total Accelerators": 8,
    "Location": "", "Software": "PyTorch 2.9.1, ROCm 7.0.0", "version": "v6.0", "inferred": 0, "weight_data_types": "fp4",
    "Performance_Result": 103480.0, "Performance_Units": "Tokens/s",
}  # fmt: skip
"""A row in the shape of v6.0."""
_OBJECT_ROW = {
    "Organization": "Example", "Availability": "available", "Division": "closed", "SystemType": "datacenter",
    "SystemName": "Example GB300 NVL72 (72x GB300-288GB_aarch64, TensorRT)", "Model": "deepseek-r1",
    "Platform": "GB300-NVL72_GB300-288GB_aarch64x72_TRT", "Scenario": "Offline", "Result": 679740.0, "Units": "Tokens/s",
    "number_of_nodes": 18, "accelerator_model_name": "NVIDIA GB300", "accelerators_per_node": 4, "total_accelerators": 72,
    "framework": "TensorRT 10.14", "version": "v6.1", "inferred": 0, "weight_data_types": "fp4",
}  # fmt: skip
_CSV = (
    "round,division,submitter,platform,model,scenario,tokens_per_s,samples_per_s,valid,ttft_p99_ns,tpot_p99_ns\n"
    "v6.1,closed,Example,H200x8,llama2-70b-99,Server,34000,115,VALID,1900000000,180000000\n"
)
_LOG = "Result is : VALID\nCompleted tokens per second : 34000.5\n99.00 percentile first token latency (ns)   : 1900000000\n"
_MEASURED = (
    "model_path,system,backend,precision,mode,concurrency,isl,osl,ttft_ms,tpot_ms,tp,pp,ep,dp,num_gpus,date\n"
    "deepseek-ai/DeepSeek-R1,hgx-h200,sglang,fp8,agg,64,1024,1024,250,22,8,1,1,1,8,2026-09-01\n"
)
_BATCH = '{"id": "a", "model": "llama-3.1-70b", "accelerator": "h100", "tp": 8, "context": 8192, "concurrency": 32, "input_tokens": 1000, "output_tokens": 500}'

TARGETS: dict[str, Spec] = {
    "yaml": Spec(targets.yaml, _shipped("concepts/*", "gotchas/*", "models/*", "systems/*", "rules/*", "facts/*"), _YAML_WORDS, 400),
    "lint": Spec(targets.lint, _shipped("gotchas/*"), _YAML_WORDS, 40),
    "condition": Spec(
        targets.condition,
        _lines(
            "all: [{fact: tpot_ms, at_most: 40}, {none: [{fact: model, is: llama-2-70b}]}]", "fact: context_tokens\nin: [8192, '8192', true]",
            "any: [{fact: spare, known: true}, {fact: rack_price_premium, above: {fact: tpot_ms}}]", "fact: tpot_ms\nbelow: 15 ms",
        ),
        [*_YAML_WORDS, b"all: ", b"any: ", b"none: ", b"fact: ", b"is: ", b"above: ", b"stated: ", b"concurrency"],
        400,
    ),
    "claim": Spec(targets.claim, _lines("(a + 2.5) / n - min(v, 3)", "abs(-a) * b", "max(1, 2, (3))"),
                  [b"(", b")", b"*", b"/", b"-", b"1" * 30, b".", b",", b"min(", b"abs(", b"a", b"b", b"\xd9\xa3", b"(" * 100], 600),
    "utterance": Spec(
        targets.utterance,
        _lines(
            "Llama 3.1 405B fp8, 128k context, 200 users, under 30 ms per token", "DeepSeek R1 at 15 ms TPOT on GB300, offline 1M tok/s",
            "we rent, air cooled, 40 kW racks, 20% growth, what if 64k instead?", "llama 2 70b 4k in 1k out 50 requests per second",
        ),
        _TALK_WORDS, 120,
    ),
    "hf_config": Spec(targets.hf_config, lambda: [_CONFIG, _MOE], _JSON_WORDS, 300),
    "mlperf": Spec(
        targets.mlperf,
        lambda: [json.dumps([ROW, {**ROW, "Scenario": "Server"}]).encode(), json.dumps({"0": _OBJECT_ROW, "1": _OBJECT_ROW}).encode()],
        _JSON_WORDS,
        150,
    ),
    "latency_csv": Spec(targets.latency_csv, _lines(_CSV, _LOG), [b",", b'"', b"\n", b"nan", b"1e999", b"\x00", b"\xff", b"VALID"], 150),
    "measured": Spec(targets.measured, _lines(_MEASURED), [b",", b'"', b"\n", b"nan", b"inf", b"0", b"-1", b"1e999", b"\x00", b"\xff", b"disagg"], 100),
    "batch_line": Spec(targets.batch_line, _lines(_BATCH, '{"config": ' + _CONFIG.decode() + ', "hbm_gib": 80, "tp": 2}'), _JSON_WORDS, 200),
    "settings": Spec(
        targets.settings,
        _lines(
            '[lint]\nselect = ["KB4"]\nignore = []\nfail-on = "error"\n', '[tool.rackfit.lint]\nselect = ["KB4"]\n',
            '{"format": 1, "findings": [{"path": "a", "code": "KB001", "message": "m", "count": 2}]}',
            '{"theme": "rackfit-dark", "keys": {"a": "b"}}\n', '"a line"\n"another"\n',
            '{"event":"start","format":1,"version":"0.1.0","at":"2026-11-30T00:00:00Z"}\n{"event":"turn","turn":{"text":"x"}}\n',
        ),
        [*_JSON_WORDS, b"[", b"=", b"[lint]", b"tool = 3", b"lint = 3", b'"""'], 150,
    ),
    "number": Spec(targets.number, _lines("128k", "1,024", "1_000", "0.5", "1e9", "+4096", "2M"), [b"e", b"k", b"m", b"_", b",", b".", b"9" * 30, b"nan", b"inf"], 600),
    "markdown": Spec(targets.markdown, _lines("a | b", "**x** `y`", "1. item", "<b>&amp;</b>", "[a](http://b)"),
                     [b"\\", b"`", b"*", b"_", b"[", b"](", b"<", b">", b"&#27;", b"|", b"~~~", b"---", b"\n", b"\x1b[", b"\xe2\x80\xae", b"1) ", b"    "], 400),
    "conversation": Spec(targets.conversation, _lines("llama 2 70b\n8k context\nwhy\nwhat if 64k\nundo", "help\nr1 at 15 ms\n/facts\ncompare\n"), _TALK_WORDS, 12),
}  # fmt: skip
"""Name -> target."""
