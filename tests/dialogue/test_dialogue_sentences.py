"""Sentences people write about serving models, and what must be read from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from expectations import fact_problems

from advisor.cli.understand import as_json
from advisor.dialogue.understand import understand
from advisor.knowledge import KnowledgeBase

SENTENCES = [
    json.loads(line)
    for line in (Path(__file__).parent / "sentences.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("wanted", SENTENCES, ids=lambda wanted: wanted["text"][:60])
def test_a_sentence_is_read_as_its_author_meant_it(kb: KnowledgeBase, wanted: dict[str, Any]) -> None:
    """Every fact stated is read, none is invented, and the intent is one that the author could have had."""
    read = as_json(understand(kb, wanted["text"]))
    facts = {name: fact["value"] for name, fact in read["facts"].items()}
    intents = wanted["intent"] if isinstance(wanted["intent"], list) else [wanted["intent"]]
    assert [note for _, note in fact_problems(wanted, facts)] == []
    assert read["intent"] in intents
