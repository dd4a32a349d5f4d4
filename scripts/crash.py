"""Kill writers at random moments and look at their files: `python scripts/crash.py [SCENARIO…] [--times 1000]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "hardening")]


def main() -> int:
    """Kill; status 1 when a file was neither old nor new."""
    from crash_harness import SCENARIOS, kill_often

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(SCENARIOS)} (default: all)"
    )
    parser.add_argument("--times", type=int, default=1000, help="kills of each (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="start of the random sequence (default 0)")
    arguments = parser.parse_args()
    for name in arguments.scenarios:
        if name not in SCENARIOS:
            parser.error(f"no scenario {name}; there are {', '.join(SCENARIOS)}")
    torn = 0
    for name in arguments.scenarios or SCENARIOS:
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                kill_often(SCENARIOS[name], Path(folder), times=arguments.times, seed=arguments.seed)
                print(
                    f"{name}: {arguments.times} kills, every file whole, {time.monotonic() - started:.0f} s",
                    flush=True,
                )
            except AssertionError as error:
                torn += 1
                print(f"{name}: {error}", flush=True)
    return 1 if torn else 0


if __name__ == "__main__":
    sys.exit(main())
