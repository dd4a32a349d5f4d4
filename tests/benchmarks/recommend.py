"""Time of an answer, with and without flips, of a map, and of `ask` from the shell, against their budgets.

Run: python tests/benchmarks/recommend.py. CPU time, best of several runs after a first one; the shell command is wall time.
Budgets: 5 ms without flips, 50 ms with, 2 s for a 100 x 100 map over all systems, 0.5 s for `rackfit ask` with a warm cache.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from advisor.knowledge import load_knowledge
from advisor.reasoning.heatmap import axis, heatmap
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import said

QUESTIONS = [
    {"model": "llama-2-70b", "weight_precision": "fp4", "context_tokens": 4096, "workload": "offline"},
    {"model": "deepseek-r1", "weight_precision": "fp4", "context_tokens": 131072, "concurrency": 512},
    {"model": "deepseek-r1", "weight_precision": "fp4", "tpot_ms": 15},
    {
        "model": "llama-3.1-405b",
        "weight_precision": "fp8",
        "context_tokens": 32768,
        "concurrency": 2000,
        "tpot_ms": 40,
    },
]


def timed(call: Callable[[], object], runs: int = 7) -> tuple[float, float]:
    """First and best CPU time in ms."""
    took = []
    for _ in range(runs):
        start = time.process_time()
        call()
        took.append((time.process_time() - start) * 1e3)
    return took[0], min(took[1:])


def row(name: str, first: float, best: float, budget: float, unit: str = "ms") -> None:
    """One line of the table."""
    print(
        f"{name:<58} {first:>9.1f} {best:>9.1f} {budget:>9g} {unit:<3} {'met' if best <= budget else 'MISSED'}"
    )


def main() -> int:
    """Print the table."""
    kb = load_knowledge()
    print(f"{'':<58} {'first':>9} {'best':>9} {'budget':>9}")
    for question in QUESTIONS:
        facts = said(kb, question)
        name = " ".join(str(value) for value in question.values())
        row(f"{name}, no flips", *timed(lambda f=facts: recommend(kb, f, flips=False)), 5)
        row(f"{name}, flips", *timed(lambda f=facts: recommend(kb, f)), 50)
    facts = said(kb, {"model": "deepseek-r1", "weight_precision": "fp4"})
    xs, ys = axis(kb, "context_tokens", 1024, 160_000, 100), axis(kb, "concurrency", 1, 16_384, 100)
    row("map 100 x 100, context x concurrency", *timed(lambda: heatmap(kb, facts, x_fact="context_tokens", xs=xs, y_fact="concurrency", ys=ys), 3), 2000)  # fmt: skip
    tpots = axis(kb, "tpot_ms", 4, 200, 100)
    row("map 100 x 100, TPOT x concurrency", *timed(lambda: heatmap(kb, facts, x_fact="tpot_ms", xs=tpots, y_fact="concurrency", ys=ys), 3), 2000)  # fmt: skip
    command = [
        sys.executable,
        "-m",
        "advisor.cli.main",
        "ask",
        "--model",
        "deepseek-r1",
        "--precision",
        "fp4",
        "--tpot-ms",
        "15",
    ]
    walls = []
    for _ in range(6):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        walls.append(time.perf_counter() - start)
    row("rackfit ask from the shell, warm cache", walls[0], statistics.median(walls[1:]), 0.5, "s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
