"""What the shipped rules assume when contexts and prompts are long, and what they say of loads that are easily misread."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.reasoning.questions import next_question
from advisor.reasoning.recommend import recommend
from advisor.reasoning.requirement import PRICE_PREFIX, complete, number, said
from advisor.records import Facts, FactValue


def whole(kb: KnowledgeBase, **values: Any) -> Facts:
    return complete(kb, said(kb, {"model": "kimi-k2", **values})).facts


@pytest.mark.parametrize("model", ["kimi-k2", "deepseek-r1", "llama-3.1-405b"])
@pytest.mark.parametrize("context", [32_768, 65_536, 100_000, 131_072])
def test_who_asks_for_long_contexts_is_not_sized_with_short_prompts(
    kb: KnowledgeBase, model: str, context: int
) -> None:
    """The mean prompt of audited data sets is about a fifth of their longest; 1k or 627 tokens are not of a load with 128k."""
    facts = whole(kb, model=model, context_tokens=context, concurrency=300)
    assumed = number(facts, "input_tokens") or 0
    assert context / 11 <= assumed <= context / 4
    assert facts["input_tokens"].origin == "assumed"
    assert whole(kb, model=model, context_tokens=context, input_tokens=500)["input_tokens"].value == 500


def test_an_ordinary_context_keeps_the_short_shape(kb: KnowledgeBase) -> None:
    """8k, said or assumed, is read as the 1k in and 1k out of public serving benchmarks."""
    assert number(whole(kb, context_tokens=8192), "input_tokens") == 1024
    assert number(whole(kb), "input_tokens") == 1024


@pytest.mark.parametrize(
    ("tokens", "limit"), [(19_000, 3000), (20_000, 3000), (20_001, None), (100_000, None)]
)
def test_no_limit_to_the_first_token_is_assumed_for_prompts_that_none_was_audited_with(
    kb: KnowledgeBase, tokens: int, limit: float | None
) -> None:
    """The longest prompt of a benchmark's data set has 20,000 tokens; beyond it an assumed limit would decide the verdict."""
    facts = whole(kb, workload="server", input_tokens=tokens, output_tokens=1000)
    assert number(facts, "ttft_ms") == limit
    assert number(whole(kb, workload="server", input_tokens=tokens, ttft_ms=900), "ttft_ms") == 900


def test_prompts_beyond_every_audit_are_told_and_asked_about(kb: KnowledgeBase) -> None:
    """100,000 tokens in: no node is out for a limit that nobody stated, and the answer says that none was."""
    load: dict[str, Any] = {
        "model": "kimi-k2", "weight_precision": "fp8", "context_tokens": 131_072, "concurrency": 300,
    }  # fmt: skip
    given = recommend(kb, said(kb, {**load, "input_tokens": 100_000, "output_tokens": 2000}), flips=False)
    out = {e.constraint for candidate in given.candidates for e in candidate.exclusions}
    assert not out & {"rules/latency-ttft", "rules/latency-tpot"}
    assert any("No limit to the first token is assumed" in warning for warning in given.warnings)


def test_an_assumed_prompt_of_a_long_context_is_asked_about(kb: KnowledgeBase) -> None:
    """Before every other question that changes nothing here: the rate turns on the length of the prompt."""
    facts = said(
        kb, {"model": "kimi-k2", "weight_precision": "fp8", "context_tokens": 131_072, "concurrency": 300, "workload": "server"}
    )  # fmt: skip
    question = next_question(kb, facts, recommend)
    assert question is not None
    idle = [considered for considered in question.considered if considered.changes == 0]
    assert (idle[0].fact, idle[0].requested_by) == (
        "input_tokens",
        "rules/input-prompts-of-very-long-contexts",
    )


@pytest.mark.parametrize(("users", "told"), [(999, False), (1000, True), (5000, True)])
def test_many_users_are_told_to_be_counted_in_flight(kb: KnowledgeBase, users: int, told: bool) -> None:
    """Requests in flight are arrivals times the time each stays (Little's law): 5,000 users of a chat are far fewer."""
    given = recommend(
        kb, said(kb, {"model": "deepseek-r1", "weight_precision": "fp4", "concurrency": users}), flips=False
    )
    assert any("at the same moment" in warning for warning in given.warnings) is told


def test_a_batch_load_in_tokens_is_told_to_be_of_answers(kb: KnowledgeBase) -> None:
    """200 million tokens a day are 2,315 a second; taken as written, with prompts on top."""
    load: dict[str, Any] = {
        "model": "llama-3.1-70b",
        "weight_precision": "fp8",
        "throughput_tokens_per_s": 2315,
    }
    batch = recommend(kb, said(kb, {**load, "workload": "offline"}), flips=False)
    assert any("taken as tokens written" in warning for warning in batch.warnings)
    served = recommend(kb, said(kb, {**load, "workload": "server"}), flips=False)
    assert not any("taken as tokens written" in warning for warning in served.warnings)


def test_stated_prices_leave_no_price_to_assume(kb: KnowledgeBase) -> None:
    """With both prices given, the range of premiums seen is not among the assumptions; with one it is."""
    facts = said(
        kb, {"model": "deepseek-r1", "weight_precision": "fp4", "workload": "server", "concurrency": 2000}
    )
    names = ("hgx-b200", "hgx-b300", "gb200-nvl72", "gb300-nvl72")
    priced = {f"{PRICE_PREFIX}systems/{name}": FactValue(value=5.0, origin="said") for name in names}
    both = recommend(kb, {**facts, **priced}, flips=False)
    assert both.comparison.prices_said
    assert not any("Price of a rack accelerator" in assumption for assumption in both.assumptions)
    neither = recommend(kb, facts, flips=False)
    assert any("Price of a rack accelerator" in assumption for assumption in neither.assumptions)
