"""Answers as Markdown when something a reader expects is missing: no fleet, no power, no price, no rate, no candidate at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.recommend import recommend
from advisor.records import Candidate, Confidence, Estimate, FactValue, LatencyEstimate, Recommendation
from advisor.report import parts
from advisor.report.markdown import render_markdown

Rackfit = Callable[..., Any]


def estimate(value: float, basis: str = "audited") -> Estimate:
    return Estimate(value=value, low=value, high=value, unit="ms", basis=basis)  # type: ignore[arg-type]


@pytest.fixture
def asked(rackfit: Rackfit) -> Callable[..., str]:
    """`rackfit ask` as Markdown."""

    def run(*flags: str) -> str:
        ran = rackfit("ask", "--format", "markdown", "--no-flips", *flags)
        assert ran.status in (0, 1), ran.err
        text: str = ran.out
        return text

    return run


@pytest.fixture(scope="module")
def answer(kb: KnowledgeBase) -> Recommendation:
    """Llama 2 70B in 4 bit, offline: a node against a rack, with audited pairs."""
    said = {"model": "models/llama-2-70b", "weight_precision": "fp4", "workload": "offline"}
    facts = {name: FactValue(value=value, origin="said") for name, value in said.items()}
    return recommend(kb, facts, flips=False)


def section(text: str, title: str) -> list[str]:
    """The lines under a heading, empty when it is not there."""
    _, found, rest = text.partition(f"## {title}\n")
    return rest.partition("\n## ")[0].strip().splitlines() if found else []


def test_where_nothing_fits_memory_is_shown_and_no_fleet(asked: Callable[..., str]) -> None:
    """405B in 16 bit are 94.5 GiB on each of eight H100 of 79.6: what is short is the answer, and no fleet is listed."""
    text = asked("--model", "llama-3.1-405b", "--precision", "bf16", "--system", "hgx-h100")
    assert "**Verdict: none**" in text
    assert section(text, "Fleets") == []
    memory = section(text, "Memory per accelerator")
    assert "| weights | 94.5 GiB |" in memory
    assert any(line.startswith("| short by |") for line in memory)
    assert section(text, "Rack against node, per accelerator") == []


def test_where_nothing_was_considered_the_answer_says_why(asked: Callable[..., str]) -> None:
    """An HGX H100 holds no B300: there is no candidate, so none is said to be excluded, and no memory is shown."""
    text = asked(
        "--model", "llama-3.1-8b", "--precision", "fp8", "--system", "hgx-h100", "--fact", "accelerator=b300"
    )
    assert "**Verdict: none**" in text
    assert "No known system is one of those named and has the accelerator named" in text
    assert "excluded" not in text.lower()
    assert section(text, "Memory per accelerator") == []


def test_power_that_is_not_published_is_left_out(asked: Callable[..., str]) -> None:
    """HGX H200: 10.2 kW at most (its datasheet); for an H20 node no figure is known, and none is made up."""
    known, unknown = (
        asked("--model", "qwen3-14b", "--precision", "bf16", "--system", system) for system in ("hgx-h200", "h20-node")
    )  # fmt: skip
    assert "- power 10.2 kW at the systems' maximum; one unit down costs 100%" in known
    assert "step by step" in unknown
    assert "kW" not in unknown


def test_given_prices_become_cost_an_hour_and_a_million_tokens(asked: Callable[..., str]) -> None:
    """USD 5 an accelerator-hour: a node of eight costs 40 an hour; at 500,000 tokens/s five nodes' 200 are 0.111 a million."""
    text = asked(
        "--model", "llama-2-70b", "--precision", "fp4", "--workload", "offline", "--throughput", "500000", "--output-tokens", "300",
        "--price", "hgx-b300=5", "--price", "gb300-nvl72=6",
    )  # fmt: skip
    assert (
        f"- USD 200.00 an hour (as you gave it), USD {200 / (500_000 * 3600 / 1e6):,.2f} per million output tokens"
        in text
    )
    assert "- USD 432.00 an hour (as you gave it)" in text  # 72 x 6: one whole rack


def test_what_lowers_nothing_needs_no_reason(kb: KnowledgeBase, answer: Recommendation) -> None:
    """High confidence stands alone; lower levels give their reasons in one sentence."""
    assert "\nWhy " in render_markdown(kb, answer)
    sure = replace(answer, confidence=Confidence(level="high", reasons=()))
    text = render_markdown(kb, sure)
    assert "confidence **high**" in text
    assert "\nWhy " not in text


def test_sections_without_content_are_left_out(kb: KnowledgeBase, answer: Recommendation) -> None:
    """No gotcha applies, and the costs cannot be compared (one rate in samples): no empty heading, no line without a number."""
    cost = {"cost_ratio_low": None, "cost_ratio_high": None, "break_even_premium": None}
    whole = render_markdown(kb, answer)
    bare = render_markdown(
        kb, replace(answer, summary="", gotchas=(), comparison=replace(answer.comparison, **cost))
    )
    for words in ("## Gotchas that apply", "the rack fleet costs ", "- Break-even premium"):
        assert words in whole
        assert words not in bare
    assert section(bare, "Rack against node, per accelerator")[0].startswith("- Rack over node: ")


class TestUnknownFigures:
    """A figure that is not known is a dash or a word, never a zero."""

    BARE = Candidate(
        system="systems/hgx-h100", title="HGX H100", unit="node", accelerator="accelerators/h100", fits=False, feasible=False,
        layout=None, memory=None, throughput_per_accelerator=None, latency=None, fleet=None,
    )  # fmt: skip

    def test_a_system_of_which_nothing_is_known(self) -> None:
        """Before it is sized a system has neither rate nor latency nor memory."""
        assert parts.estimate(self.BARE.throughput_per_accelerator) == "–"
        assert parts.latency_words(self.BARE) == "not estimated"
        assert list(parts.memory_rows(self.BARE)) == []

    @pytest.mark.parametrize(
        ("latency", "words"),
        [
            (LatencyEstimate(), "not estimated"),
            (LatencyEstimate(ttft_ms=estimate(450)), "TTFT 450 ms (audited)"),
            (LatencyEstimate(tpot_ms=estimate(40)), "TPOT 40 ms (audited)"),
            (LatencyEstimate(ttft_ms=estimate(450), tpot_ms=estimate(40)), "TTFT 450 ms (audited), TPOT 40 ms (audited)"),
        ],
    )  # fmt: skip
    def test_one_latency_may_be_known_without_the_other(self, latency: LatencyEstimate, words: str) -> None:
        """Offline rates have no latency; some results state only one."""
        assert parts.latency_words(replace(self.BARE, latency=latency)) == words

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            (FactValue(value=None, origin="unknown"), "not stated"),
            (FactValue(value=None, low=0.86, high=1.22, origin="assumed"), "0.86× to 1.22×"),
        ],
    )
    def test_a_fact_without_a_value(self, kb: KnowledgeBase, value: FactValue, words: str) -> None:
        """Nobody stated it, or only a range is known."""
        assert parts.fact_value(kb, "rack_price_premium", value) == words
