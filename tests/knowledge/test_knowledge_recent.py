"""Results of past requirements are forgotten in time: a long chat does not grow without end, and no result is another's."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.knowledge import load_knowledge
from advisor.knowledge.recent import Recent
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import said


def test_no_more_than_two_generations_are_kept() -> None:
    """A thousand keys in a memory of ten leave at most twenty."""
    recent = Recent(10)
    for key in range(1000):
        assert recent.of(key, lambda key=key: key) == key
        assert len(recent) <= 20


def test_what_is_in_use_is_computed_once() -> None:
    """A key asked for between all others stays, a result of None too."""
    recent, made = Recent(10), []

    def make() -> None:
        made.append(1)

    for key in range(1000):
        assert recent.of("in use", make) is None
        recent.of(key, lambda: 0)
    assert len(made) == 1


def test_a_failure_is_not_kept() -> None:
    """What raises is tried again."""
    recent = Recent()

    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        recent.of("key", fail)
    assert recent.of("key", lambda: 1) == 1


QUESTIONS: list[dict[str, Any]] = [
    {"model": model, "context_tokens": context, "tpot_ms": tpot, "concurrency": 700}
    for model in ("deepseek-r1", "llama-3.1-405b", "gpt-oss-120b")
    for context in (9000, 31_000)
    for tpot in (17.5, 60)
]


def test_answers_do_not_depend_on_what_is_remembered() -> None:
    """With room for almost nothing, results are dropped and made again all the time, and every answer is the same."""
    generous, forgetful = load_knowledge(), load_knowledge()
    forgetful.recent = Recent(3)
    for question in QUESTIONS:
        facts = said(generous, question)
        assert recommend(forgetful, facts, flips=False) == recommend(generous, facts, flips=False)
        assert len(forgetful.recent) <= 6
