"""A bounded fuzz of every place where text of strangers enters, and all inputs that ever failed.

`scripts/fuzz.py` runs longer, and with coverage as the guide where atheris is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fuzz_engine import run_one, search
from fuzz_specs import TARGETS

CORPUS = Path(__file__).parent / "corpus"


def _corpus() -> Iterator[tuple[str, Path]]:
    yield from ((path.parent.name, path) for path in sorted(CORPUS.glob("*/*")))


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_is_a_fault(name: str) -> None:
    """Mutated entries, conditions, claims, sentences, configs, results and batches end in an answer or in one line of error."""
    spec = TARGETS[name]
    for number, data, error in search(spec, seed=1, count=spec.bounded):
        raise AssertionError(f"{name}, input {number}: {data[:300]!r}") from error


@pytest.mark.parametrize(
    ("name", "path"), _corpus(), ids=lambda value: value.name if isinstance(value, Path) else value
)
def test_found_faults_stay_mended(name: str, path: Path) -> None:
    """Every input that was once a fault."""
    run_one(TARGETS[name], path.read_bytes())
