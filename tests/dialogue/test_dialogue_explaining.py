"""Explanations in a conversation: about what was asked, short, in the order of their weight, and whole on request."""

from __future__ import annotations

import re

import pytest

from advisor.dialogue import phrases
from advisor.dialogue.conversation import Conversation
from advisor.knowledge import KnowledgeBase

RACK = "R1 in fp4, 8k context, interactive"
AIR = "R1 in fp4, 15 ms per token, 8k context, interactive, air cooled"


@pytest.fixture
def talk(kb: KnowledgeBase) -> Conversation:
    conversation = Conversation(kb)
    conversation.open()
    return conversation


@pytest.mark.parametrize(("case", "verdict", "rival"), [(RACK, "rack", "node"), (AIR, "node", "rack")])
def test_why_not_the_verdict_says_that_it_is_the_verdict(
    talk: Conversation, case: str, verdict: str, rival: str
) -> None:
    """Whoever asks why not what is recommended learns that it is, and is offered the question about the other."""
    talk.say(case)
    message = talk.say(f"why not the {verdict}")[0]
    assert message.markdown.startswith(f"The verdict is {verdict} already")
    assert f"why not the {rival}" in message.choices
    assert talk.say(f"why not the {rival}")[0].markdown.startswith(f"Why not {rival}:")


def test_asking_about_hardware_before_the_answer_does_not_restrict_to_it(talk: Conversation) -> None:
    """`why not H200` asks; once a model is known, the answer is given and explained, over all hardware."""
    talk.say("R1 in fp4")
    messages = talk.say("why not H200")
    assert set(talk.facts) == {"model", "weight_precision"}
    assert "H200" in messages[-1].markdown.splitlines()[0]


def test_a_why_before_any_model_asks_for_one(talk: Conversation) -> None:
    """There is nothing to explain yet, and the question stays."""
    messages = talk.say("why not H200")
    assert messages[0].markdown == phrases.NO_ANSWER_YET
    assert talk.facts == {}


def test_what_was_left_out_by_the_users_word_is_said_with_the_way_back(talk: Conversation) -> None:
    """A rack that was never considered is not called worse: the restriction is named, and how to lift it."""
    talk.say(RACK)
    talk.say("use H200")
    told = talk.say("why not the rack")[0].markdown
    assert "no rack was considered" in told
    words = re.search(r'"(forget [^"]+)"', told)
    assert words is not None
    talk.say(words[1])
    assert "accelerator" not in talk.facts
    assert talk.recommendation is not None
    assert talk.recommendation.verdict == "rack"


def test_excluded_systems_are_counted_by_reason(talk: Conversation) -> None:
    """One line for each reason, once; the counts add up to the systems that are out, and all of them on request."""
    talk.say(AIR)
    message = talk.say("why not the rack")[0]
    lines = [line for line in message.markdown.splitlines() if line.startswith("- ")]
    counts = [int(line[2:].partition(":")[0]) for line in lines]
    reasons = [line.partition(": ")[2].partition(" (")[0] for line in lines]
    assert talk.recommendation is not None
    out = [c for c in talk.recommendation.candidates if c.unit == "rack" and not c.feasible]
    assert sum(counts) == len(out)
    assert counts == sorted(counts, reverse=True)
    assert len(set(reasons)) == len(reasons)
    assert phrases.MORE in message.choices
    whole = talk.say(phrases.MORE)[0].markdown
    assert len(whole.splitlines()) > len(message.markdown.splitlines())
    assert sum(candidate.title.partition(",")[0] in whole for candidate in out) >= len(counts)


def test_a_what_if_tells_what_moves_and_not_what_stays_out(talk: Conversation) -> None:
    """Systems that were out and stay out are no part of the difference."""
    talk.say(AIR)
    told = talk.say("what if 4 ms per token")[0].markdown
    assert talk.recommendation is not None
    for candidate in talk.recommendation.candidates:
        if not candidate.feasible:
            assert candidate.title.partition(",")[0] not in told
    assert len(told.splitlines()) < 16


def test_only_the_evidence_that_the_answer_rests_on_is_listed(talk: Conversation) -> None:
    """The run behind the recommended side comes first; runs of other systems and models are not there."""
    talk.say(RACK)
    answer = talk.recommendation
    assert answer is not None
    by_id = {candidate.system: candidate for candidate in answer.candidates}
    rates = [
        by_id[system].throughput_per_accelerator for system in (answer.best_rack, answer.best_node) if system
    ]
    rests_on = {i for rate in rates if rate for i in rate.evidence}
    rests_on |= {side.evidence for pair in answer.comparison.pairs for side in (pair.small, pair.large)}
    message = talk.say("show me the evidence")[0]
    listed = re.findall(r"`(evidence/[^`]+)`", message.markdown)
    assert listed
    assert rates[0] is not None
    assert listed[0] in rates[0].evidence
    assert set(listed) <= rests_on
    assert set(message.citations) <= rests_on
    assert "llama" not in message.markdown


def test_an_answer_without_runs_says_so(talk: Conversation) -> None:
    """R1 has no audited run on an H200: the model of speed is named, and no run that has nothing to do with it."""
    talk.say(f"{RACK} on H200")
    told = talk.say("show me the evidence")[0].markdown
    assert "No audited run" in told
    assert "calibration/" in told
    assert "evidence/" not in told


def test_back_lets_an_ambiguous_name_go(talk: Conversation) -> None:
    """The question back is dropped, and the one before it is open again."""
    talk.say("llama 70b")
    messages = talk.say("back")
    assert "model" not in talk.facts
    assert "Which model" in messages[-1].markdown


def test_back_returns_to_what_came_last_be_it_answered_or_skipped(talk: Conversation) -> None:
    """A skipped question is not the last one if another was answered after it."""
    talk.say("gpt-oss 120b in fp4")
    talk.say("skip")
    talk.say("40 ms per token")
    told = talk.say("back")
    assert told[0].markdown.startswith("Taken back: Time per output token, 40 ms")
    assert talk.question is not None
    assert talk.question.fact == "tpot_ms"
    talk.say("back")
    assert talk.question.fact == "context_tokens"


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("forget the latency", {"tpot_ms"}),
        ("forget 15 ms", {"tpot_ms"}),
        ("ignore the latency", {"tpot_ms"}),
        ("forget the context", {"context_tokens"}),
        ("drop the cooling limit", {"cooling"}),
        ("forget B300", {"accelerator"}),
        ("forget the gpu", {"accelerator"}),
        ("remove the b300 restriction", {"accelerator"}),
        ("forget fp4", {"weight_precision"}),
    ],
)
def test_one_fact_is_forgotten_by_its_name_or_its_value(
    talk: Conversation, words: str, gone: set[str]
) -> None:
    """What was named goes, everything else stays."""
    talk.say(f"{AIR} on B300")
    before = set(talk.facts)
    talk.say(words)
    assert before - set(talk.facts) == gone


def test_forgetting_hardware_that_was_not_said_changes_nothing(talk: Conversation) -> None:
    """The other accelerator is not touched."""
    talk.say(f"{AIR} on B300")
    before = dict(talk.facts)
    assert "not among what you said" in talk.say("forget H100")[0].markdown
    assert talk.facts == before


def test_an_outline_keeps_siblings_beside_each_other() -> None:
    """Lines of the same depth stay at the same depth, however far they are indented."""
    told = phrases.outline("Head\n  one\n      a\n      b\n  two\nNext\n  three")
    assert told.splitlines() == [
        "Head",
        "",
        "- one",
        "  - a",
        "  - b",
        "- two",
        "",
        "Next",
        "",
        "- three",
    ]


@pytest.mark.parametrize(
    "change", ["context 100k", "reset", "forget everything", "undo", "forget the context"]
)
def test_more_is_never_about_an_answer_that_is_past(talk: Conversation, change: str) -> None:
    """Once the requirement has changed, the whole of the explanation before is not shown as if it held still."""
    talk.say(AIR)
    assert phrases.MORE in talk.say("why")[0].choices
    whole = talk.say("show more")[0]
    assert whole.kind == "explanation"
    talk.say(change)
    assert talk.say("show more")[0].markdown == phrases.NOTHING_MORE
