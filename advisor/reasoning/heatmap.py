"""The verdict over two inputs: a grid that is evaluated where the verdict changes and filled where it does not."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from advisor.errors import InputError, RackfitError
from advisor.evidence.citation import notices
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.recommend import conclude, leaders
from advisor.reasoning.requirement import check_value
from advisor.reasoning.sources import grounds
from advisor.records import Facts, FactValue, Verdict

_COARSE = 12
_MAX_SIDE = 400


@dataclass(frozen=True, kw_only=True)
class Heatmap:
    """Verdicts by row (y, ascending) and column (x, ascending).

    evaluated: cells that were computed, not filled in. disclaimers: notices of the sources that the verdicts rest on.
    """

    x_fact: str
    y_fact: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[tuple[Verdict, ...], ...]
    evaluated: int
    disclaimers: tuple[str, ...] = ()


def axis(kb: KnowledgeBase, name: str, low: float, high: float, steps: int) -> tuple[float, ...]:
    """`steps` values from low to high, evenly spaced in logarithms; whole numbers for integer facts.

    Raises InputError when the fact is not numeric, the range is not one or reaches beyond what the fact can be.
    """
    fact = kb.facts.get(name)
    if fact is None or fact.type not in ("number", "integer"):
        names = ", ".join(
            n for n, f in kb.facts.items() if f.scope == "requirement" and f.type in ("number", "integer")
        )
        raise InputError(f"axis {name[:40]}: not a numeric fact; one of {names}")
    if not 0 < low < high or not 2 <= steps <= _MAX_SIDE:
        raise InputError(
            f"axis {name}: {low:g} to {high:g} in {steps} steps is no range; give 0 < low < high and 2 to {_MAX_SIDE} steps"
        )
    values = [
        math.exp(math.log(low) + i * (math.log(high) - math.log(low)) / (steps - 1)) for i in range(steps)
    ]
    if fact.type == "integer":
        values = [float(v) for v in dict.fromkeys(round(v) for v in values)]
    else:
        values = [float(f"{v:.6g}") for v in values]
    for end in (values[0], values[-1]):
        check_value(kb, name, end, what=f"axis {name}")
    return tuple(values)


def heatmap(
    kb: KnowledgeBase, said: Facts, *, x_fact: str, xs: tuple[float, ...], y_fact: str, ys: tuple[float, ...],
    progress: Callable[[int], None] | None = None,
) -> Heatmap:  # fmt: skip
    """The verdict at every point. Blocks of cells whose corners and middle agree are filled, the others divided.

    `progress` is called with the number of evaluated cells now and then.
    """
    grid: dict[tuple[int, int], Verdict] = {}
    among: set[str] | None = None
    integers = {name for name in (x_fact, y_fact) if kb.facts[name].type == "integer"}

    def point(column: int, row: int) -> Facts:
        facts = dict(said)
        for name, value in ((x_fact, xs[column]), (y_fact, ys[row])):
            facts[name] = FactValue(
                value=int(value) if name in integers else value, origin="said", because="map"
            )
        return facts

    def at(column: int, row: int) -> Verdict:
        if (column, row) not in grid:
            try:
                grid[column, row] = conclude(kb, point(column, row), among=among).verdict
            except RackfitError:
                grid[column, row] = "none"
            if progress is not None and len(grid) % 50 == 0:
                progress(len(grid))
        return grid[column, row]

    among, behind = _contenders(kb, [point(c, r) for c in _spread(len(xs)) for r in _spread(len(ys))])
    filled: dict[tuple[int, int], Verdict] = {}
    blocks = [
        (c, r, min(c + _COARSE, len(xs) - 1), min(r + _COARSE, len(ys) - 1))
        for c in range(0, max(len(xs) - 1, 1), _COARSE)
        for r in range(0, max(len(ys) - 1, 1), _COARSE)
    ]
    while blocks:
        left, bottom, right, top = blocks.pop()
        middle = ((left + right) // 2, (bottom + top) // 2)
        corners = {at(c, r) for c, r in ((left, bottom), (right, bottom), (left, top), (right, top), middle)}
        if len(corners) == 1:
            verdict = corners.pop()
            for column in range(left, right + 1):
                for row in range(bottom, top + 1):
                    filled.setdefault((column, row), verdict)
        elif right - left > 1 or top - bottom > 1:
            for a, b in ((left, middle[0]), (middle[0], right)):
                for c, d in ((bottom, middle[1]), (middle[1], top)):
                    if (b > a or right == left) and (d > c or top == bottom):
                        blocks.append((a, c, b, d))
    filled |= grid
    return Heatmap(
        x_fact=x_fact, y_fact=y_fact, xs=xs, ys=ys, evaluated=len(grid), disclaimers=notices(kb, sorted(behind)),
        cells=tuple(tuple(filled[c, r] for c in range(len(xs))) for r in range(len(ys))),
    )  # fmt: skip


def _spread(count: int) -> tuple[int, ...]:
    """Five positions from end to end."""
    return tuple(sorted({round(i * (count - 1) / 4) for i in range(5)}))


def _contenders(kb: KnowledgeBase, points: Sequence[Facts]) -> tuple[set[str], set[str]]:
    """Systems that can win at one of some points spread over the map, and the evidence that the verdicts there rest on.

    Only these systems are sized at each cell.
    """
    found: set[str] = set()
    behind: set[str] = set()
    for facts in points:
        with contextlib.suppress(RackfitError):
            core = conclude(kb, facts)
            found |= leaders(kb, core)
            behind |= grounds(core.compared, core.sized)
    return found, behind
