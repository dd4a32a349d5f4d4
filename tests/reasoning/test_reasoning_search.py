"""What would change the verdict, and the verdict over two inputs: the searches agree with asking directly."""

from __future__ import annotations

import random

import pytest

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.heatmap import axis, heatmap
from advisor.reasoning.recommend import conclude, recommend
from advisor.reasoning.requirement import said
from advisor.records import Facts, FactValue

CASES = [
    {"model": "deepseek-r1", "weight_precision": "fp4", "tpot_ms": 15},
    {
        "model": "llama-3.1-405b",
        "weight_precision": "fp8",
        "context_tokens": 32768,
        "concurrency": 2000,
        "tpot_ms": 40,
    },
    {"model": "llama-2-70b", "weight_precision": "fp4", "context_tokens": 4096, "workload": "interactive"},
]


def changed(facts: Facts, name: str, value: float | str | bool) -> Facts:
    return {**facts, name: FactValue(value=value, origin="said")}


@pytest.mark.parametrize("case", CASES)
def test_every_flip_changes_the_verdict_when_asked(kb: KnowledgeBase, case: dict[str, float | str]) -> None:
    """A flip that is shown holds when its value is asked for outright, over all systems."""
    facts = said(kb, case)
    answer = recommend(kb, facts)
    assert answer.flips
    for flip in answer.flips:
        verdict = conclude(kb, changed(facts, flip.fact, flip.to)).verdict
        assert verdict == flip.verdict != answer.verdict, flip.text


def test_a_numeric_flip_is_the_nearest_value(kb: KnowledgeBase) -> None:
    """Between the value now and the flip, up to the 5 % that the search stops at, the verdict is still the same."""
    facts = said(kb, CASES[0])
    answer = recommend(kb, facts)
    flip = next(f for f in answer.flips if f.fact == "tpot_ms")
    assert isinstance(flip.to, float)
    just_before = flip.to / 1.06 if flip.to > 15 else flip.to * 1.06
    for between in (15.0 * (flip.to / 15.0) ** 0.3, 15.0 * (flip.to / 15.0) ** 0.6, just_before):
        assert conclude(kb, changed(facts, "tpot_ms", between)).verdict == answer.verdict


def test_the_map_agrees_with_asking_at_each_point(kb: KnowledgeBase) -> None:
    """Cells that were filled in between evaluated ones hold the verdict that asking there gives, over all systems."""
    facts = said(kb, {"model": "deepseek-r1", "weight_precision": "fp4"})
    xs, ys = axis(kb, "context_tokens", 1024, 160_000, 40), axis(kb, "tpot_ms", 5, 200, 40)
    grid = heatmap(kb, facts, x_fact="context_tokens", xs=xs, y_fact="tpot_ms", ys=ys)
    assert grid.evaluated < len(xs) * len(ys)
    draw = random.Random(7)
    wrong = 0
    for _ in range(60):
        column, row = draw.randrange(len(xs)), draw.randrange(len(ys))
        point = changed(changed(facts, "context_tokens", int(xs[column])), "tpot_ms", ys[row])
        wrong += conclude(kb, point).verdict != grid.cells[row][column]
    assert wrong <= 1


def test_the_rack_wins_in_a_band_of_interactivity(kb: KnowledgeBase) -> None:
    """DeepSeek-R1 FP4 on GB200 NVL72 against B200 nodes, measured by InferenceX (run 26306422380): about even at 25 to 45
    tokens/s per user (40 to 22 ms), clearly ahead from 60 to 75 (16.7 to 13.3 ms)."""
    facts = said(kb, {"model": "deepseek-r1", "weight_precision": "fp4", "vendor": "nvidia"})
    verdicts = {
        tpot: conclude(kb, changed(facts, "tpot_ms", float(tpot))).verdict for tpot in (40, 30, 15, 13.3)
    }
    assert verdicts == {40: "node", 30: "node", 15: "rack", 13.3: "rack"}


@pytest.mark.parametrize(
    ("name", "low", "high", "steps"),
    [("model", 1, 10, 5), ("context_tokens", 10, 5, 5), ("context_tokens", 0, 5, 5), ("tpot_ms", 1, 10, 1)],
)
def test_an_axis_that_is_no_range_is_refused(
    kb: KnowledgeBase, name: str, low: float, high: float, steps: int
) -> None:
    """An axis needs a numeric fact, a rising range above zero and at least two values."""
    with pytest.raises(InputError, match="axis"):
        axis(kb, name, low, high, steps)
