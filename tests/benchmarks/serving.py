"""How far the serving model is off on a table of measured servers, each row predicted without its like.

    python tests/benchmarks/serving.py TABLE.csv

Leaves out configurations (five parts), whole models (by architecture, then by name), and accelerators; prints median
absolute error and coverage of the 90 % interval per slice. The interval of a part comes from the residuals of the others.
Takes a minute or two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from advisor.knowledge import load_knowledge
from advisor.sizing.refit.entries import NEW_MODEL_TAIL
from advisor.sizing.refit.measured import read_table
from advisor.sizing.refit.serving import LeftOut, Row, fit_serving, leave_out, row_of


def mode(row: Row) -> str:
    arranged = "aggregated" if row.observation.prefill is None else "disaggregated"
    return arranged if row.known else f"{arranged}, layout not stated"


SLICES: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("", lambda row: "all"),
    ("mode ", mode),
    ("system ", lambda row: row.observation.system.slug),
    ("engine ", lambda row: row.engine),
    ("model ", lambda row: row.observation.model.slug),
    ("engine x mode ", lambda row: f"{row.engine}, {mode(row)}"),
)


def inside(
    rows: Sequence[Row], ratios: Sequence[float], part: Callable[[Row], str], tail: float
) -> list[bool]:
    """Whether each measured / predicted lies in the range of those of other parts, as the shipped interval is taken.

    Rows of the same mode count; for models left out, all with a stated layout, as the entries have it.
    """
    labels = [part(row) for row in rows]
    modes = [str(row.known) if tail == NEW_MODEL_TAIL else mode(row) for row in rows]
    found = [False] * len(rows)
    for label, kind in sorted(set(zip(labels, modes, strict=True))):
        others = [r for r, a, b in zip(ratios, labels, modes, strict=True) if a != label and b == kind]
        if not others:
            continue
        low, high = np.quantile(others, tail), np.quantile(others, 1 - tail)
        for i in range(len(rows)):
            if labels[i] == label and modes[i] == kind:
                found[i] = bool(low <= ratios[i] <= high)
    return found


def report(rows: Sequence[Row], left_out: LeftOut, part: Callable[[Row], str]) -> None:
    tpot = [rows[i].observation.tpot_ms / left_out.predicted[i][0] for i in range(len(rows))]
    ttft = [rows[i].observation.ttft_ms / left_out.predicted[i][1] for i in range(len(rows))]
    tail = NEW_MODEL_TAIL if left_out.how.startswith("model") else 0.05
    covered, first_covered = inside(rows, tpot, part, tail), inside(rows, ttft, part, tail)
    print(f"\nleft out: {left_out.how}")
    print(f"{'':48}  rows  TPOT median  p90   in 90 %  TTFT median  in 90 %")
    for name, key in SLICES:
        for label in sorted({key(row) for row in rows}):
            chosen = [i for i, row in enumerate(rows) if key(row) == label]
            errors = [abs(1 / tpot[i] - 1) for i in chosen]
            print(
                f"{name + label:48} {len(chosen):5}  {median(errors):10.1%} {np.quantile(errors, 0.9):5.0%}"
                f"  {sum(covered[i] for i in chosen) / len(chosen):7.0%}"
                f"  {median(abs(1 / ttft[i] - 1) for i in chosen):10.1%}"
                f"  {sum(first_covered[i] for i in chosen) / len(chosen):7.0%}"
            )


def main(path: Path) -> None:
    kb = load_knowledge()
    observations, refused = read_table(kb, path)
    rows = [row_of(kb, observation) for observation in observations]
    print(
        f"{len(rows)} rows, {len(refused)} refused, {len({row.observation.run for row in rows})} distinct runs"
    )
    fit = fit_serving(rows)
    everything = {i: (fit.tpot_ms(row), fit.ttft_ms(row)) for i, row in enumerate(rows)}
    report(rows, LeftOut(how="nothing (in sample)", predicted=everything), lambda row: str(row.fold))
    parts: tuple[tuple[str, Callable[[Row], str]], ...] = (
        ("configuration", lambda row: str(row.fold)),
        ("model, those of one architecture together", lambda row: row.shape),
        ("model by name", lambda row: row.observation.model.id),
        ("accelerator", lambda row: row.observation.accelerator.id),
    )
    for how, part in parts:
        report(rows, leave_out(rows, how, part), part)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tests/benchmarks/serving.py TABLE.csv")
    main(Path(sys.argv[1]))
