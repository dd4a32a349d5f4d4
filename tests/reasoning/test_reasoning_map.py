"""The map of verdicts against a verdict that is known at every point."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from rule_base import base, fact

from advisor.errors import InputError
from advisor.reasoning import heatmap as module
from advisor.reasoning.heatmap import Heatmap, heatmap
from advisor.records import Facts

KB = base(fact("x"), fact("y", "integer"))
XS, YS = tuple(float(n) for n in range(1, 31)), tuple(float(n) for n in range(1, 31))


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Heatmap, list[Facts]]]:
    """A map of a verdict that is a function of x and y, and the points that were asked for."""

    def draw(
        verdict: Callable[[float, int], str],
        xs: tuple[float, ...] = XS,
        ys: tuple[float, ...] = YS,
        **more: Any,
    ) -> tuple[Heatmap, list[Facts]]:
        asked: list[Facts] = []

        def conclude(kb: Any, facts: Facts, *, among: set[str] | None = None) -> Any:
            x, y = facts["x"].value, facts["y"].value
            assert isinstance(x, float)
            assert type(y) is int
            if among is not None:
                assert among == {"systems/a"}
                asked.append(facts)
            return SimpleNamespace(verdict=verdict(x, y), compared=None, sized=())

        monkeypatch.setattr(module, "conclude", conclude)
        monkeypatch.setattr(module, "leaders", lambda kb, core: {"systems/a"})
        monkeypatch.setattr(module, "grounds", lambda compared, sized: frozenset())
        return heatmap(KB, {}, x_fact="x", xs=xs, y_fact="y", ys=ys, **more), asked

    return draw


@pytest.mark.parametrize(
    "verdict",
    [
        lambda x, y: "node", lambda x, y: "rack" if x >= 14 else "node", lambda x, y: "rack" if y <= 7 else "node",
        lambda x, y: "rack" if x + y > 31 else "node", lambda x, y: "rack" if x > 20 and y > 20 else "either" if x > 20 else "node",
        lambda x, y: ("node", "rack", "either", "none")[int(x > 15) * 2 + int(y > 15)],
    ],
    ids=["one verdict", "from a column", "up to a row", "diagonal", "a corner", "quarters"],
)  # fmt: skip
def test_every_cell_holds_the_verdict_of_its_point(drawn: Any, verdict: Callable[[float, int], str]) -> None:
    """Filled or computed, row by row from below; blocks of one verdict are filled, so fewer than all are computed."""
    found, asked = drawn(verdict)
    assert found.cells == tuple(tuple(verdict(x, int(y)) for x in XS) for y in YS)
    assert found.evaluated == len(asked) == len({(f["x"].value, f["y"].value) for f in asked})
    assert found.evaluated < 900
    assert (found.x_fact, found.y_fact, found.xs, found.ys) == ("x", "y", XS, YS)


def test_a_map_of_one_verdict_computes_corners_and_middles_alone(drawn: Any) -> None:
    """30 by 30 in blocks of at most 12: 3 x 3 blocks with 16 corners and 9 middles."""
    found, _ = drawn(lambda x, y: "node")
    assert found.evaluated == 25


def test_a_line_and_a_point_are_maps_too(drawn: Any) -> None:
    """One row, one column, one cell."""
    line, _ = drawn(lambda x, y: "rack" if x > 9 else "node", ys=(5.0,))
    assert line.cells == (tuple("rack" if x > 9 else "node" for x in XS),)
    column, _ = drawn(lambda x, y: "rack" if y > 9 else "node", xs=(5.0,))
    assert column.cells == tuple(("rack" if y > 9 else "node",) for y in YS)
    point, _ = drawn(lambda x, y: "either", xs=(5.0,), ys=(5.0,))
    assert (point.cells, point.evaluated) == ((("either",),), 1)


def test_a_point_that_cannot_be_asked_has_no_verdict(drawn: Any) -> None:
    """Contradictory inputs are `none`, and the rest of the map stands."""

    def verdict(x: float, y: int) -> str:
        if x > 25:
            raise InputError("contradiction")
        return "node"

    found, _ = drawn(verdict)
    assert found.cells[0] == ("node",) * 25 + ("none",) * 5


def test_points_are_whole_numbers_where_the_fact_counts(drawn: Any) -> None:
    """What was said stays, the two axes are laid over it as said."""
    _, asked = drawn(lambda x, y: "node")
    assert all(f["x"].origin == f["y"].origin == "said" for f in asked)


def test_progress_is_told_at_every_fiftieth_cell(drawn: Any) -> None:
    """So that a bar can move."""
    told: list[int] = []
    found, _ = drawn(lambda x, y: "rack" if x + y > 31 else "node", progress=told.append)
    assert told == list(range(50, found.evaluated + 1, 50))
