"""Fuzz the places where text of strangers enters: `python scripts/fuzz.py [TARGET…] [--seconds 600] [--atheris]`.

Without atheris, inputs are mutated from seeds, reproducible from `--seed`. With it (`pip install atheris`), one target at
a time is fuzzed with coverage as the guide. An input that fails is kept under tests/hardening/corpus/TARGET, where the
test suite replays it from then on.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HARDENING = ROOT / "tests" / "hardening"
sys.path[:0] = [str(ROOT), str(HARDENING)]


def main() -> int:
    """Fuzz; status 1 when something was found."""
    from fuzz_engine import search
    from fuzz_specs import TARGETS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)} (default: all)"
    )
    parser.add_argument(
        "--seconds", type=float, help="for each target; without it, the bounded number of inputs"
    )
    parser.add_argument("--seed", type=int, default=0, help="start of the random sequence (default 0)")
    parser.add_argument("--atheris", action="store_true", help="let coverage guide the inputs of one target")
    arguments = parser.parse_args()
    for name in arguments.targets:
        if name not in TARGETS:
            parser.error(f"no target {name}; there are {', '.join(TARGETS)}")
    chosen = arguments.targets or list(TARGETS)
    if arguments.atheris:
        return _atheris(chosen[0], arguments.seconds or 60)
    found = 0
    for name in chosen:
        spec, kinds = TARGETS[name], set()
        count = None if arguments.seconds else spec.bounded
        for number, data, error in search(spec, seed=arguments.seed, count=count, seconds=arguments.seconds):
            place = traceback.extract_tb(error.__traceback__)[-1]
            kind = (type(error).__name__, place.filename, place.lineno)
            if kind not in kinds:
                kinds.add(kind)
                print(
                    f"{name} {number}: {kind[0]}: {str(error)[:200]} at {place.filename}:{place.lineno}; kept as {_keep(name, data)}",
                    flush=True,
                )
        found += len(kinds)
        print(f"{name}: {len(kinds)} faults", flush=True)
    return 1 if found else 0


def _keep(name: str, data: bytes) -> Path:
    folder = HARDENING / "corpus" / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.blake2b(data, digest_size=6).hexdigest()
    path.write_bytes(data)
    return path.relative_to(ROOT)


def _atheris(name: str, seconds: float) -> int:
    import atheris

    with atheris.instrument_imports(include=["advisor"]):
        from fuzz_engine import run_one
        from fuzz_specs import TARGETS
    spec = TARGETS[name]
    corpus = HARDENING / "corpus" / name

    def one(data: bytes) -> None:
        try:
            run_one(spec, data)
        except Exception:
            _keep(name, data)
            raise

    folders = [str(corpus)] if corpus.is_dir() else []
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds:g}", "-max_len=4096", *folders], one)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
