"""Speed of the evidence layer: `python tests/benchmarks/evidence.py [SUMMARY.json …]`.

Targets on two cores: importing three rounds under 3 s, comparing everything under 1 s, a look-up in microseconds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from advisor.evidence.claims import check_claims
from advisor.evidence.effects import effects
from advisor.evidence.listing import Selection, find_listing
from advisor.evidence.mlperf import import_results
from advisor.evidence.mlperf.write import write_entries
from advisor.evidence.rates import closest_rate
from advisor.knowledge import load_knowledge
from advisor.report.pairs import listing_csv, listing_text


def timed(name: str, work: Callable[[], object], repeat: int = 1) -> None:
    start = time.perf_counter()
    for _ in range(repeat):
        work()
    taken = (time.perf_counter() - start) / repeat
    print(f"{name:<44} {taken * 1e6:>12,.1f} us" if taken < 1e-3 else f"{name:<44} {taken * 1e3:>12,.1f} ms")


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]]
    if files:
        with tempfile.TemporaryDirectory() as folder:
            timed(f"import {len(files)} files and write them", lambda: [
                write_entries(list(import_results(file).entries), Path(folder)) for file in files
            ])  # fmt: skip
    timed("load the knowledge base, no cache", lambda: load_knowledge(cache=False))
    kb = load_knowledge(cache=False)
    timed("compare everything: pairs, effects, noise", lambda: find_listing(kb, Selection()))
    listing = find_listing(kb, Selection())
    timed(f"write {len(listing.pairs)} pairs as CSV", lambda: listing_csv(listing))
    timed("write them as text", lambda: listing_text(listing))
    timed("one selection", lambda: find_listing(kb, Selection(model="deepseek-r1", scenario="server")))
    question = {"model": "models/llama-2-70b", "scenario": "offline"}
    timed("closest rate", lambda: closest_rate(
        kb, **question, precision="fp4", accelerator="accelerators/gb300", unit="rack", accelerators=72
    ), 2000)  # fmt: skip
    timed("effects", lambda: effects(
        kb, **question, node_accelerator="accelerators/b300", rack_accelerator="accelerators/gb300"
    ), 2000)  # fmt: skip
    timed("claims of all gotchas", lambda: [check_claims(kb, gotcha) for gotcha in kb.gotchas.values()])


if __name__ == "__main__":
    main()
