"""Compare the memory model with what servers printed: `python tests/benchmarks/memory.py FILE.jsonl [model_configs.json]`.

Each line of FILE is one observed deployment (model, gpu, tp, pp, dp, gpu_memory_utilization, max_model_len … and what the
engine logged: weights_gib_per_gpu, kv_cache_gib_per_gpu, kv_tokens, fits). Prints a row per case and a summary with the
targets. A simple rule that many calculators use (parameters x bits, two times KV heads times head size for each layer) is
computed for the same cases. Without arguments the folder in RACKFIT_SHARED is used.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from advisor.errors import RackfitError
from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.sizing.estimate import DeploymentEstimate, EstimateRequest, estimate
from advisor.sizing.formats import KV_BYTES
from advisor.sizing.weights import format_of
from advisor.units import GIB


@dataclass
class Row:
    """One case: measured and estimated, as relative errors where both exist."""

    id: str
    trust: str
    engine: str
    group: str
    errors: dict[str, float] = field(default_factory=dict)
    simple: dict[str, float] = field(default_factory=dict)
    fits_right: bool | None = None
    skipped: str = ""


def request_of(case: Mapping[str, Any], configs: Mapping[str, Any]) -> EstimateRequest:
    """The estimate request of a case: only what its deployment states, nothing that its log answered."""
    precision = case.get("quantization") or ""
    if not precision or precision in ("compressed-tensors", "modelopt", "auto"):
        precision = "fp32" if case.get("weight_precision") == "float32" else ""
    model = str(case["model"])
    return EstimateRequest(
        model=model,
        config=config_of(model, configs),
        precision=precision,
        kv_precision={"fp8_e4m3": "fp8", "bfloat16": "bf16"}.get(
            case.get("kv_dtype") or "", case.get("kv_dtype") or ""
        ),
        accelerator=case.get("gpu") or "",
        hbm_gib=case.get("gpu_total_gib") if not case.get("gpu") else None,
        tp=case.get("tp") or case.get("gpu_count") or 1,
        pp=case.get("pp") or 1,
        ep=case.get("ep") or 1,
        dp=case.get("dp") or 1,
        context_parallel=case.get("dcp") or 1,
        engine=case["engine"],
        engine_version=case.get("engine_version") or "",
        memory_fraction=case.get("gpu_memory_utilization"),
        context_tokens=case.get("max_model_len") or case.get("kv_required_for_len"),
        concurrency=1,
    )


def config_of(model: str, configs: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """The config of a model by hub id, through a pointer to another id; empty when there is none with a model_type."""
    entry = configs.get(model) or {}
    entry = configs.get(entry.get("architecture_from", ""), entry)
    cleaned = {key: value for key, value in entry.items() if value is not None}
    return cleaned if cleaned.get("model_type") or cleaned.get("architectures") else ""


def compare(kb: KnowledgeBase, case: Mapping[str, Any], configs: Mapping[str, Any]) -> Row:
    """Estimate one case and take the differences."""
    row = Row(id=case["id"], trust=case["trust"], engine=case["engine"], group=case.get("group", ""))
    try:
        answer = estimate(kb, request_of(case, configs))
    except RackfitError as error:
        row.skipped = str(error)
        return row
    memory = answer.memory
    simple_weights, simple_kv = simple_rule(answer)
    logged = case.get("weights_gib_per_gpu")
    if logged and (case.get("tp") or case.get("gpu_count")):
        row.errors["weights"] = memory.weights_bytes / (logged * GIB) - 1
        row.simple["weights"] = simple_weights / (logged * GIB) - 1
    pool, tokens = case.get("kv_cache_gib_per_gpu"), case.get("kv_tokens")
    if pool and tokens and pool > 0:
        row.errors["kv"] = memory.kv_bytes_per_token / (pool * GIB / tokens) - 1
        row.simple["kv"] = simple_kv / (pool * GIB / tokens) - 1
    if answer.fits is None:
        return row
    if tokens:
        row.errors["capacity"] = memory.kv_capacity_tokens / tokens - 1
    elif pool and pool > 0:
        row.errors["pool"] = max(0.0, answer.footprint.pool_bytes) / (pool * GIB) - 1
    asked = case.get("max_concurrency_len")
    if case.get("max_concurrency") and tokens and asked == case.get("max_model_len"):
        row.errors["concurrency"] = answer.max_concurrency / case["max_concurrency"] - 1
    if case.get("fits") is not None and (case.get("tp") or case.get("gpu_count")):
        row.fits_right = answer.fits == case["fits"]
    return row


def simple_rule(answer: DeploymentEstimate) -> tuple[float, float]:
    """(weights, KV bytes per token) by the rule of thumb: parameters x bits over the accelerators, KV heads as stated."""
    ranks = answer.layout.tp * answer.layout.pp
    bits = format_of(answer.checkpoint).bits
    weights = answer.model.parameters_total.number * bits / 8 / ranks
    size = KV_BYTES[answer.footprint.kv_precision]
    cache = 0.0
    for group in answer.model.architecture.attention:
        heads, width = group.kv_heads, group.head_dim
        if group.kind == "mla":  # as a plain model with as many KV heads as the config prints
            heads, width = group.heads, group.nope_head_dim + group.rope_head_dim
        if group.kind not in ("linear", "mamba", "none"):
            cache += 2 * group.layers * heads * width * size
    return weights, cache / ranks


def share_within(errors: list[float], limit: float) -> float:
    """Share of errors within a limit, 0 to 1."""
    return sum(abs(error) <= limit for error in errors) / len(errors) if errors else float("nan")


def summary(rows: list[Row]) -> list[tuple[str, str, str, bool]]:
    """(what, measured, target, met) for each target."""

    def own(name: str, trust: str = "") -> list[float]:
        return [row.errors[name] for row in rows if name in row.errors and (not trust or row.trust == trust)]

    weights, high, kv, capacity = own("weights"), own("weights", "high"), own("kv"), own("capacity")
    fits = [row.fits_right for row in rows if row.fits_right is not None]
    right = sum(fits) / len(fits) if fits else float("nan")
    found = (
        [
            (f"weights, median error ({len(weights)} cases)", median(map(abs, weights)), "<= 1 %", 0.01),
            (
                f"KV capacity, median error ({len(capacity)} cases)",
                median(map(abs, capacity)),
                "<= 8 %",
                0.08,
            ),
        ]
        if weights and capacity
        else []
    )
    lines = [(what, f"{value:.2%}", target, value <= limit) for what, value, target, limit in found]
    shares = [
        (f"weights within 3 % ({len(high)} high-trust cases)", share_within(high, 0.03), 0.90),
        (f"KV bytes per token within 2 % ({len(kv)} cases)", share_within(kv, 0.02), 0.95),
        (f"KV capacity within 20 % ({len(capacity)} cases)", share_within(capacity, 0.20), 0.90),
        (f"fits or not ({len(fits)} cases)", right, 0.90),
    ]
    lines += [(what, f"{value:.1%}", f">= {least:.0%}", value >= least) for what, value, least in shares]
    return lines


def print_rows(rows: list[Row]) -> None:
    """A line per case: our error, and in parentheses that of the simple rule."""
    print(f"{'case':<66}{'trust':<8}{'weights':>18}{'KV B/token':>20}{'capacity':>10}{'conc.':>9}  fits")
    for row in rows:

        def cell(name: str, width: int, row: Row = row) -> str:
            if name not in row.errors:
                return f"{'-':>{width}}"
            text = f"{row.errors[name]:+.2%}"
            if name in row.simple:
                text += f" ({row.simple[name]:+.0%})"
            return f"{text:>{width}}"

        fits = {None: "-", True: "right", False: "WRONG"}[row.fits_right]
        capacity = cell("capacity", 10) if "capacity" in row.errors else cell("pool", 10)
        tail = f"  skipped: {row.skipped[:60]}" if row.skipped else f"  {fits}"
        print(
            f"{row.id[:65]:<66}{row.trust:<8}{cell('weights', 18)}{cell('kv', 20)}{capacity}{cell('concurrency', 9)}{tail}"
        )


def main() -> int:
    """Print the table and the summary; status 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(os.environ.get("RACKFIT_SHARED", "../shared")) / "data" / "memory"
    parser.add_argument("cases", nargs="?", type=Path, default=default / "observed_cases.jsonl")
    parser.add_argument("configs", nargs="?", type=Path, help="model_configs.json; default: beside the cases")
    parser.add_argument("--summary", action="store_true", help="leave the rows out")
    arguments = parser.parse_args()
    configs_path = arguments.configs or arguments.cases.parent / "model_configs.json"
    configs = json.loads(configs_path.read_text("utf-8")) if configs_path.is_file() else {}
    cases = [json.loads(line) for line in arguments.cases.read_text("utf-8").splitlines() if line.strip()]
    kb = load_knowledge()
    rows = [compare(kb, case, configs) for case in cases]
    if not arguments.summary:
        print_rows(rows)
    lines = summary(rows)
    simple = {
        name: [abs(row.simple[name]) for row in rows if name in row.simple] for name in ("weights", "kv")
    }
    print()
    for what, value, target, met in lines:
        print(f"{what:<52}{value:>9}   target {target:<9}{'met' if met else 'MISSED'}")
    concurrency = [abs(row.errors["concurrency"]) for row in rows if "concurrency" in row.errors]
    if concurrency:
        mean = sum(concurrency) / len(concurrency)
        print(
            f"{f'largest concurrency, mean error ({len(concurrency)} cases)':<52}{mean:>9.2%}   best published 16.65 %"
        )
    for name, published in (("weights", "0.84 %"), ("kv", "7.82 %")):
        own = [abs(row.errors[name]) for row in rows if name in row.errors]
        if own:
            mean, rule = sum(own) / len(own), sum(simple[name]) / len(simple[name])
            print(
                f"{name + ', mean error':<52}{mean:>9.2%}   rule of thumb {rule:.1%}, best published {published}"
            )
    return 0 if all(met for *_, met in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
