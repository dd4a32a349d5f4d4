"""The many ways to ask for the same thing: each act of the conversation in the words of different people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.dialogue.understand import understand
from advisor.knowledge import KnowledgeBase

REQUESTS: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "requests.json").read_text(encoding="utf-8")
)
SAME_TURN = {
    "why": {"why", "why_not"},
    "why_not": {"why", "why_not"},
    "change": {"change", "say", "what_if"},
    "define": {"define", "show"},
    "show": {"define", "show"},
}
"""Acts that one turn of the conversation answers in the same way."""


@pytest.mark.parametrize(
    ("act", "text"), [(act, text) for act, texts in REQUESTS.items() for text in texts], ids=str
)
def test_a_request_is_understood_in_other_words(kb: KnowledgeBase, act: str, text: str) -> None:
    """Whoever asks why, takes something back, skips, or wants the sources gets that and nothing else."""
    assert understand(kb, text).act in SAME_TURN.get(act, {act})
