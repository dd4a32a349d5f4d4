"""One request of `rackfit estimate`: flags and batch lines are the same fields, read and checked here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from advisor.errors import InputError
from advisor.sizing.engines import TERMS
from advisor.sizing.estimate import EstimateRequest
from advisor.units import parse_number, parse_tokens, shown

ALIASES: dict[str, str] = {
    "gpu": "accelerator", "gpu_memory_utilization": "memory_fraction", "mem_fraction_static": "memory_fraction",
    "free_gpu_memory_fraction": "memory_fraction", "max_model_len": "context", "context_tokens": "context",
    "kv_dtype": "kv_precision", "kv_cache_dtype": "kv_precision", "quantization": "precision",
    "weight_precision": "precision", "tensor_parallel_size": "tp", "pipeline_parallel_size": "pp",
    "data_parallel_size": "dp", "expert_parallel_size": "ep", "dcp": "context_parallel",
    "decode_context_parallel_size": "context_parallel", "engine_terms": "engine_term",
}  # fmt: skip
"""Other spellings that batch lines may use, as engines and logs name these fields -> flag name with underscores."""


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name}: {shown(str(value))} is not text")
    if len(value) > 4096:
        raise InputError(f"{name}: longer than 4,096 characters")
    return value.strip()


def _whole(low: int, high: int) -> Callable[[Any, str], int]:
    def read(value: Any, name: str) -> int:
        number = parse_number(value, what=name) if isinstance(value, str) else value
        if (
            isinstance(number, bool)
            or not isinstance(number, (int, float))
            or not math.isfinite(number)
            or number != int(number)
        ):
            raise InputError(f"{name}: {shown(str(value))} is not a whole number")
        if not low <= number <= high:
            raise InputError(f"{name}: {shown(str(value))} is out of range; give {low:,} to {high:,}")
        return int(number)

    return read


def _tokens(value: Any, name: str) -> int:
    return parse_tokens(value, what=name) if isinstance(value, str) else _whole(1, 1_000_000_000)(value, name)


def _fraction(value: Any, name: str) -> float:
    number = _real(value, name)
    if not 0 < number <= 1:
        raise InputError(
            f"{name}: {shown(str(value))} is out of range; give a fraction above 0 and up to 1, such as 0.9"
        )
    return number


def _gib(value: Any, name: str) -> float:
    number = _real(value, name)
    if not 0 < number <= 100_000:
        raise InputError(
            f"{name}: {shown(str(value))} is out of range; give the memory of one accelerator in GiB"
        )
    return number


def _real(value: Any, name: str) -> float:
    number = parse_number(value, what=name) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
        raise InputError(f"{name}: {shown(str(value))} is not a number")
    return float(number)


def _flag(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).strip().lower() in ("yes", "true", "1", "on"):
        return True
    if str(value).strip().lower() in ("no", "false", "0", "off"):
        return False
    raise InputError(f"{name}: {shown(str(value))} is neither yes nor no")


def _config(value: Any, name: str) -> str | Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    return _text(value, name)


def _terms(value: Any, name: str) -> dict[str, float]:
    """`NAME=VALUE` texts, or a mapping of names to values."""
    pairs: dict[Any, Any] = dict(value) if isinstance(value, Mapping) else {}
    if not isinstance(value, Mapping):
        halves = (str(text).partition("=") for text in (value if isinstance(value, list) else [value]))
        pairs = {key: number for key, _, number in halves}
    terms: dict[str, float] = {}
    for key, number in pairs.items():
        if key not in TERMS:
            near = get_close_matches(str(key), TERMS, n=3)
            raise InputError(
                f"{name}: no term {shown(str(key))}; {'nearest: ' + ', '.join(near) if near else 'see the engine entries'}"
            )
        terms[str(key)] = _real(number, f"{name} {key}")
    return terms


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field: where it goes in the request, how it is read, and its help."""

    attribute: str
    read: Callable[[Any, str], Any]
    help: str
    metavar: str = ""


FIELDS: dict[str, Field] = {
    "model": Field(attribute="model", read=_text, metavar="NAME", help="id, alias or Hugging Face id"),
    "config": Field(attribute="config", read=_config, metavar="FILE", help="a Hugging Face config.json instead of a known model"),
    "precision": Field(attribute="precision", read=_text, metavar="P", help="weights: bf16, fp8, fp4, int4, or a format such as nvfp4, awq, q4_k_m"),
    "kv_precision": Field(attribute="kv_precision", read=_text, metavar="P", help="KV cache: bf16, fp8 or fp4; without it, the checkpoint's"),
    "accelerator": Field(attribute="accelerator", read=_text, metavar="NAME", help="h100, mi355x, 'H100 (79.2 GiB)' …"),
    "hbm_gib": Field(attribute="hbm_gib", read=_gib, metavar="GIB", help="memory that programs see on one accelerator, GiB"),
    "system": Field(attribute="system", read=_text, metavar="ID", help="system that the replica runs in; gives accelerator and fabric"),
    "tp": Field(attribute="tp", read=_whole(1, 4096), metavar="N", help="tensor parallelism (default 1)"),
    "pp": Field(attribute="pp", read=_whole(1, 4096), metavar="N", help="pipeline stages (default 1)"),
    "ep": Field(attribute="ep", read=_whole(1, 65536), metavar="N", help="expert parallelism over the accelerators of a stage (default 1)"),
    "dp": Field(attribute="dp", read=_whole(1, 4096), metavar="N", help="groups of TP accelerators with whole attention and their own requests (default 1); a replica has TP x PP x DP accelerators"),
    "context_parallel": Field(attribute="context_parallel", read=_whole(1, 4096), metavar="N", help="ranks that share the tokens of one sequence in decoding (default 1)"),
    "engine": Field(attribute="engine", read=_text, metavar="NAME", help="vllm (default), sglang or tensorrt-llm"),
    "engine_version": Field(attribute="engine_version", read=_text, metavar="V", help="version whose reserves apply; without it, the one that was measured"),
    "engine_term": Field(attribute="engine_terms", read=_terms, metavar="NAME=VALUE", help="replace one term of the engine's profile; repeatable"),
    "memory_fraction": Field(attribute="memory_fraction", read=_fraction, metavar="F", help="the engine's memory fraction, in the engine's own meaning"),
    "max_num_seqs": Field(attribute="max_num_seqs", read=_whole(1, 1_000_000), metavar="N", help="sequences in a batch that the engine prepares for"),
    "max_num_batched_tokens": Field(attribute="max_num_batched_tokens", read=_whole(1, 10_000_000), metavar="N", help="tokens of one scheduler step"),
    "context": Field(attribute="context_tokens", read=_tokens, metavar="TOKENS", help="length of one sequence: prompt, images and answer (8192, 128k)"),
    "concurrency": Field(attribute="concurrency", read=_whole(0, 100_000_000), metavar="N", help="sequences at once in one replica (default 1; 0 asks for weights only)"),
    "input_tokens": Field(attribute="input_tokens", read=_tokens, metavar="TOKENS", help="prompt length; with --output-tokens, speed is predicted"),
    "output_tokens": Field(attribute="output_tokens", read=_tokens, metavar="TOKENS", help="answer length"),
    "prefill_tp": Field(attribute="prefill_tp", read=_whole(1, 4096), metavar="N", help="tensor parallelism of a separate pool for prompts; names one"),
    "prefill_pp": Field(attribute="prefill_pp", read=_whole(1, 4096), metavar="N", help="pipeline stages of a prefill worker (default 1)"),
    "prefill_ep": Field(attribute="prefill_ep", read=_whole(1, 65536), metavar="N", help="expert parallelism of a prefill worker (default 1)"),
    "prefill_dp": Field(attribute="prefill_dp", read=_whole(1, 4096), metavar="N", help="attention groups of a prefill worker (default 1)"),
    "prefill_workers": Field(attribute="prefill_workers", read=_whole(1, 100_000), metavar="N", help="prefill workers of the deployment (default 1)"),
    "decode_workers": Field(attribute="decode_workers", read=_whole(1, 100_000), metavar="N", help="decode workers of the deployment, which share --concurrency (default 1)"),
    "speculative": Field(attribute="speculative", read=_flag, metavar="yes|no", help="load the layers for multi-token prediction too"),
}  # fmt: skip
"""Field name (a flag with underscores) -> how it is read."""


def request_from(values: Mapping[str, Any], *, flags: bool = False) -> tuple[EstimateRequest, list[str]]:
    """(request, names of fields that are not known) from flag names with underscores, or other spellings of them.

    The own name of a field wins over another spelling. Raises InputError that names the field.
    """
    known: dict[str, Any] = {}
    unknown: list[str] = []
    for key, value in sorted(values.items(), key=lambda pair: pair[0] in FIELDS):
        name = key if key in FIELDS else ALIASES.get(key, "")
        if not name:
            unknown.append(key)
        else:
            shown_name = "--" + name.replace("_", "-") if flags else key
            known[FIELDS[name].attribute] = FIELDS[name].read(value, shown_name)
    return EstimateRequest(**known), unknown
