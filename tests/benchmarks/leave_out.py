"""How far audited rates are off when a model, an accelerator, a pair of both or the newest round is left out of the fit.

    python tests/benchmarks/leave_out.py

Median absolute error, and coverage of a 90 % interval taken from the residuals of the other parts. Within a round, a model
and an accelerator that were each seen elsewhere: the row of that round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from advisor.knowledge import load_knowledge
from advisor.sizing.audited_rates import AUDITED
from advisor.sizing.refit.audited import (
    LEFT_OUT,
    Case,
    audited_cases,
    left_out_ratios,
    newest_ratios,
    newest_round,
)


def coverage(
    cases: Sequence[Case], ratios: Sequence[float], part: Callable[[Case], str], tail: float
) -> list[bool]:
    labels = [part(case) for case in cases]
    found = []
    for label, ratio in zip(labels, ratios, strict=True):
        others = [r for r, other in zip(ratios, labels, strict=True) if other != label]
        found.append(bool(np.quantile(others, tail) <= ratio <= np.quantile(others, 1 - tail)))
    return found


def show(name: str, ratios: Sequence[float], covered: Sequence[bool]) -> None:
    errors = [abs(1 / ratio - 1) for ratio in ratios]
    print(
        f"{name:64} {len(ratios):5}  {median(errors):8.1%}  {np.quantile(errors, 0.9):6.0%}"
        f"  {sum(covered) / len(covered):7.0%}"
    )


def main() -> None:
    kb = load_knowledge()
    cases = audited_cases(kb)
    share = kb.calibrations[AUDITED].terms["prompt_share"]
    print(f"{len(cases)} audited results; prompts at {share:g} of the longest")
    print(f"{'left out':64}  rows    median     p90  in 90 %")
    for name, (part, tail) in LEFT_OUT.items():
        ratios = left_out_ratios(cases, share, part)
        covered = coverage(cases, ratios, part, tail)
        show(name, ratios, covered)
        keys: tuple[tuple[str, Callable[[Case], str]], ...] = (
            ("round", lambda case: case.entry.round),
            ("scenario", lambda case: case.result.scenario),
            ("model", lambda case: case.model),
        )
        for kind, key in keys:
            for label in sorted({key(case) for case in cases}):
                chosen = [i for i, case in enumerate(cases) if key(case) == label]
                show(f"  {name}, {kind} {label}", [ratios[i] for i in chosen], [covered[i] for i in chosen])
    newest = newest_ratios(cases, share)
    low, high = (
        kb.calibrations[AUDITED].residuals[f"model and accelerator seen separately {q}"]
        for q in ("5%", "95%")
    )
    show(f"newest round ({newest_round(cases)})", newest, [low <= ratio <= high for ratio in newest])


if __name__ == "__main__":
    main()
