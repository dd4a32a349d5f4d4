"""How far audited rates are off when a model, an accelerator, a pair of both or the newest round is left out of the fit.

    python tests/benchmarks/leave_out.py

Median absolute error, and coverage of a 90 % interval taken from the residuals of the other parts. Within a round, a model
and an accelerator that were each seen elsewhere: the row of that round. The last part hides the Interactive results and the fit, and
carries the Server results over to the limits of Interactive, as rates are carried where nothing else is near.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from advisor.evidence.held import audited_limits
from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.reasoning.candidates import size_candidate
from advisor.reasoning.requirement import complete, said
from advisor.records import Evidence
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


def carried() -> None:
    """Interactive rates carried over from the Server results of the same silicon, against the audited ones."""
    whole = load_knowledge()
    entries = [
        replace(e, results=tuple(r for r in e.results if r.scenario != "interactive"))
        if isinstance(e, Evidence)
        else e
        for e in whole.entries.values()
        if e.id != AUDITED
    ]
    server = KnowledgeBase(entries)
    limits = {
        model: ms for (model, scenario), ms in audited_limits(whole).items() if scenario == "interactive"
    }
    ratios: list[float] = []
    print(f"{'Interactive carried over from Server':64}  audited  carried")
    for model, limit in limits.items():
        for precision in ("fp4", "fp8"):
            asked = {"model": model, "weight_precision": precision, "tpot_ms": limit}
            facts = [complete(kb, said(kb, asked)).facts for kb in (whole, server)]
            for system in whole.systems.values():
                rates = [
                    size_candidate(kb, own, system).rate
                    for kb, own in zip((whole, server), facts, strict=True)
                ]
                true, found = (rate.estimate if rate else None for rate in rates)
                if (
                    true is None
                    or true.basis != "audited"
                    or found is None
                    or "audited rate moved" not in found.note
                ):
                    continue
                ratios.append(true.value / found.value)
                print(f"  {model} {precision} {system.id:40} {true.value:8,.0f} {found.value:8,.0f}")
    errors = [max(ratio, 1 / ratio) for ratio in ratios]
    print(
        f"{len(ratios)} cases: off by a factor of {median(errors):.2f} in the median, {max(errors):.1f} at most"
    )


if __name__ == "__main__":
    main()
    carried()
