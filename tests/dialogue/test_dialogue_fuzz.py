"""Arbitrary input: no exception, spans inside the text, nothing executed, nothing raw in the output."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.dialogue.understand import understand
from advisor.knowledge import KnowledgeBase

WORDS = [
    "llama", "70b", "R1", "8xH100", "fp8", "kv", "cache", "-", "/", "x", "*", "(", ")", "128k", "1M", "1e400", "-0", "١٢٨k",
    "users", "concurrent", "tok/s", "per user", "ttft", "2s", "not", "no", "GB300", "NVL72", "tp", "8", "2", "and", "=", ":",
    "in", "out", "ISL", "4-5", "$3", "per", "hour", "p99", "deepseek", "\u202e", "\u200b", "é", "两", "台", "gb", "what if", "why",
    "qwen4-72b", "Smaug-7B", "double", "the", "3.5", "v1_5", "chat", "nodes", "of", "H200", "coder", "405b-a22b", "翻倍",
]  # fmt: skip
QUIET = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


def check(kb: KnowledgeBase, text: str, expecting: str | None = None) -> None:
    read = understand(kb, text, expecting=expecting)
    spans = [reading.span for reading in read.facts.values()]
    spans += [item.span for item in (*read.ambiguous, *read.ignored)]
    assert all(0 <= start <= end <= len(text) for start, end in spans)


@QUIET
@given(text=st.text(max_size=300))
def test_any_text_is_survived(kb: KnowledgeBase, text: str) -> None:
    """Any Unicode text is understood as something."""
    check(kb, text)


@QUIET
@given(
    words=st.lists(st.sampled_from(WORDS), max_size=50),
    expecting=st.sampled_from([None, "tpot_ms", "context_tokens", "workload", "spare"]),
)
def test_any_mix_of_known_words_is_survived(
    kb: KnowledgeBase, words: list[str], expecting: str | None
) -> None:
    """Words of the field in any order, spaced or not, never break a rule of the grammar."""
    check(kb, " ".join(words), expecting)
    check(kb, "".join(words), expecting)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "1",
        "8x",
        "llama ",
        "8 x 8 x ",
        "128k ",
        "users 5 ",
        "- ",
        "(8x80GB ",
        "not ",
        "\u202e",
        "fp8 kv ",
    ],
)
def test_a_megabyte_of_anything_ends(kb: KnowledgeBase, unit: str) -> None:
    """A line of a million characters is cut, so that no repetition makes it slow."""
    check(kb, unit * (1_000_000 // len(unit)))
