"""Time a full fit: for each model, the smallest layout of every system that holds a load. `python tests/benchmarks/memory_speed.py`."""

from __future__ import annotations

import sys
import time
from statistics import median

from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.records import Model
from advisor.sizing.layouts import smallest_fit

TARGET_MS = 2.0


def milliseconds(kb: KnowledgeBase, model: Model) -> float:
    """Time of one pass over all systems."""
    start = time.perf_counter()
    for system in kb.systems.values():
        accelerator = kb.accelerators[system.accelerator]
        smallest_fit(
            kb, model, model.checkpoints[0], system, accelerator, context_tokens=32_768, sequences=64
        )
    return (time.perf_counter() - start) * 1e3


def main() -> int:
    """Print the first pass (nothing remembered) and a later one; status 1 when the later one misses the target."""
    kb = load_knowledge()
    milliseconds(kb, next(iter(kb.models.values())))
    times = [(milliseconds(kb, model), milliseconds(kb, model)) for model in kb.models.values()]
    first, later = (median(column) for column in zip(*times, strict=True))
    print(
        f"{len(kb.systems)} systems, {len(times)} models, per model: first pass {first:.2f} ms, later {later:.2f} ms"
    )
    for name, value in (("first pass", first), ("later passes", later)):
        print(f"target {TARGET_MS:.0f} ms, {name}: {'met' if value <= TARGET_MS else 'MISSED'}")
    return 0 if later <= TARGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())
