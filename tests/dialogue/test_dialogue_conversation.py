"""The conversation: what it asks, answers, takes back, and how it explains itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from advisor.dialogue.conversation import Conversation, Message
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase

Talk = Callable[..., list[Message]]


@pytest.fixture
def talk(kb: KnowledgeBase) -> Conversation:
    conversation = Conversation(kb)
    conversation.open()
    return conversation


def said(conversation: Conversation) -> dict[str, object]:
    return {name: fact.value for name, fact in conversation.facts.items()}


def text_of(messages: list[Message]) -> str:
    return "\n".join(message.markdown for message in messages)


ANSWERED = "DeepSeek-R1 fp4, 8k context, 15 ms per token"


def test_a_newcomer_is_asked_model_precision_context_and_workload(talk: Conversation) -> None:
    """After these four the answer comes, and only questions that can change the verdict follow."""
    asked = [talk.question.fact if talk.question else ""]
    for reply in ("gpt-oss 120b", "fp4", "32k"):
        messages = talk.say(reply)
        asked.append(talk.question.fact if talk.question else "")
    assert asked == ["model", "weight_precision", "context_tokens", "workload"]
    assert talk.recommendation is not None
    assert [message.kind for message in messages] == ["echo", "answer", "question"]


def test_an_answer_leads_with_the_fleet_and_cites_its_evidence(talk: Conversation) -> None:
    """The first line of an answer is replicas, systems and idle accelerators; the runs behind it can be opened."""
    answer = next(message for message in talk.say(ANSWERED) if message.kind == "answer")
    assert talk.recommendation is not None
    assert talk.recommendation.headline.split(" (")[0] in answer.markdown.splitlines()[0]
    assert answer.citations
    assert all(citation.startswith(("evidence/", "calibration/")) for citation in answer.citations)


def test_what_was_understood_is_echoed_as_chips(talk: Conversation) -> None:
    """Every fact of the sentence comes back with its title and its value in words."""
    echo = talk.say("Qwen3-32B in fp8 with 32k")[0]
    assert echo.kind == "echo"
    assert [(chip.fact, chip.text) for chip in echo.chips] == [
        ("model", "Qwen3 32B"), ("weight_precision", "8 bit floating point (FP8)"), ("context_tokens", "32k tokens"),
    ]  # fmt: skip


def test_an_ambiguous_name_is_asked_back_and_never_guessed(talk: Conversation) -> None:
    """Nothing is set until the user chooses; the choice may be a number, a version or a word."""
    messages = talk.say("llama 70b in fp8")
    assert "model" not in talk.facts
    assert messages[-1].choices == ("llama-3.3-70b", "llama-3.1-70b", "llama-3-70b", "llama-2-70b")
    talk.say("3.1")
    assert said(talk)["model"] == "models/llama-3.1-70b"
    assert said(talk)["weight_precision"] == "fp8"


def test_a_question_can_be_answered_with_a_question(talk: Conversation) -> None:
    """`why do you ask` gives the reason, and the question stays open."""
    talk.say("gpt-oss 120b")
    messages = talk.say("why do you ask?")
    assert talk.question is not None
    assert talk.question.why in messages[0].markdown
    assert messages[-1].kind == "question"


def test_a_what_if_keeps_the_base_case(talk: Conversation) -> None:
    """The difference is shown; facts and answer stay until the user keeps the change."""
    talk.say(ANSWERED)
    base, verdict = said(talk), talk.recommendation
    message = talk.say("what if 80 ms per token?")[0]
    assert "15 ms → 80 ms" in message.markdown
    assert (said(talk), talk.recommendation) == (base, verdict)
    assert message.choices[0] == "keep it"
    talk.say("keep it")
    assert said(talk)["tpot_ms"] == 80


def test_an_ambiguous_what_if_is_asked_back_and_stays_a_what_if(talk: Conversation) -> None:
    """`what if 8-bit` asks which, and the choice changes nothing but the comparison."""
    talk.say(ANSWERED)
    base = said(talk)
    assert talk.say("what if 8-bit?")[-1].choices == ("fp8", "int8")
    assert "4 bit floating point" in talk.say("fp8")[0].markdown
    assert said(talk) == base


def test_a_correction_changes_the_base_case(talk: Conversation) -> None:
    """`no, 64k` and `I meant …` are statements, not what-ifs."""
    talk.say(ANSWERED)
    talk.say("no, 64k")
    assert said(talk)["context_tokens"] == 65536
    talk.say("I meant deepseek v3")
    assert said(talk)["model"] == "models/deepseek-v3"


def test_undo_takes_back_one_change_after_the_other(talk: Conversation) -> None:
    """Each undo names what it changes back; at the beginning there is nothing to undo."""
    talk.say("gpt-oss 120b")
    talk.say("fp4")
    assert "Precision of the weights" in talk.say("undo")[0].markdown
    talk.say("undo")
    assert talk.facts == {}
    assert talk.say("undo")[0].markdown == "Nothing to undo."


def test_back_asks_the_last_question_again(talk: Conversation) -> None:
    """The last answer is taken back and its question is open."""
    talk.say("gpt-oss 120b")
    talk.say("fp4")
    talk.say("back")
    assert talk.question is not None
    assert talk.question.fact == "weight_precision"
    assert "weight_precision" not in talk.facts


def test_reset_clears_and_can_be_undone(talk: Conversation) -> None:
    """Nothing is lost by a reset."""
    talk.say("gpt-oss 120b")
    before = said(talk)
    talk.say("start over")
    assert talk.facts == {}
    talk.say("undo")
    assert said(talk) == before


def test_a_skipped_question_is_not_asked_again(talk: Conversation) -> None:
    """Its fact is assumed, and the next question comes."""
    talk.say("gpt-oss 120b")
    talk.say("skip")
    assert talk.question is not None
    assert talk.question.fact == "context_tokens"
    talk.say("just answer")
    assert talk.recommendation is not None
    assert talk.recommendation.requirement["weight_precision"].origin != "said"


def test_forget_takes_back_what_is_named(talk: Conversation) -> None:
    """`forget the latency target` drops the limit and answers again."""
    talk.say(ANSWERED)
    assert "Forgotten: Time per output token." in talk.say("forget the latency target")[0].markdown
    assert "tpot_ms" not in talk.facts


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        ("why", "Verdict: "),
        ("why not the rack", "rack"),
        ("why did you rule out H100?", "HGX H100"),
        ("how sure are you?", "Confidence: "),
        ("what would change your mind", "turn the verdict"),
        ("what did you assume?", "say it with"),
        ("show me the evidence", "evidence/"),
        ("define TPOT", "concepts/tpot"),
        ("show H200", "accelerators/h200"),
        ("show deepseek-r1", "models/deepseek-r1"),
        ("list gotchas", "gotchas/"),
        ("help", "what if"),
        ("compare with MI355X", "| 8× MI355X node |"),
        ("define flux capacitor", "No such term"),
        ("colourless green ideas", "did not understand"),
    ],
)
def test_everything_that_can_be_asked_about_an_answer_is_answered(
    talk: Conversation, ask: str, told: str
) -> None:
    """Explanations come from the engine's record of the answer; the answer itself stays as it is."""
    talk.say(ANSWERED)
    before = said(talk)
    assert told in text_of(talk.say(ask)).replace("\\", "")
    assert said(talk) == before


def test_a_case_that_nothing_meets_is_answered_too(talk: Conversation) -> None:
    """Growth from zero upwards is tried as a change although zero has no ratio to anything."""
    messages = talk.say("DeepSeek-R1 fp4 at 8k for 5000 users on 8xH100")
    assert talk.recommendation is not None
    assert talk.recommendation.verdict == "none"
    assert any(message.kind == "answer" for message in messages)


def test_explanations_need_an_answer(talk: Conversation) -> None:
    """Before a model is named, `why` says so and asks for it."""
    messages = talk.say("how sure are you?")
    assert "no answer yet" in messages[0].markdown
    assert messages[-1].kind == "question"


def test_a_model_known_by_name_only_is_not_sized(talk: Conversation) -> None:
    """Its nearest neighbours with shapes are offered instead."""
    messages = talk.say("grok-1 in int8")
    assert "known by name only" in messages[-1].markdown
    assert "qwen4-72b is not known here" in text_of(talk.say("qwen4 72b"))
    assert messages[-1].choices
    assert "model" not in talk.facts


def test_hardware_without_a_system_is_said_to_be_unsized(talk: Conversation) -> None:
    """A V100 is recognised and named, and restricts nothing."""
    messages = talk.say("gpt-oss 20b on V100")
    assert "V100 is known by name only" in text_of(messages)
    assert not {"accelerator", "system"} & set(talk.facts)


def test_several_accelerators_restrict_to_their_systems(talk: Conversation) -> None:
    """`H200 or MI355X` compares the systems that have one of them."""
    talk.say("gpt-oss 120b fp4 at 8k: H200 or MI355X?")
    assert str(said(talk)["system"]).split(",") == ["systems/hgx-h200", "systems/mi355x-node"]
    assert talk.recommendation is not None
    assert {c.system for c in talk.recommendation.candidates} == {"systems/hgx-h200", "systems/mi355x-node"}


def test_a_price_belongs_to_the_hardware_named_with_it(talk: Conversation) -> None:
    """`$3.20 per GPU-hour on H100` is the price of the H100 node; without hardware it is asked back."""
    assert "price of what" in text_of(talk.say("$3.20 per GPU-hour"))
    talk.say("$3.20 per GPU-hour on H100")
    assert said(talk)["price:systems/hgx-h100"] == 3.2


def test_setting_a_fact_checks_its_value(talk: Conversation) -> None:
    """A chip's editor accepts what a flag accepts, and says what would be right otherwise."""
    talk.set_fact("context_tokens", "128k")
    assert said(talk)["context_tokens"] == 131072
    with pytest.raises(InputError, match="context_tokens"):
        talk.set_fact("context_tokens", "many")
    talk.set_fact("context_tokens", None)
    assert talk.facts == {}


def test_the_transcript_holds_both_sides_in_order(talk: Conversation) -> None:
    """What was typed and what was answered, from the greeting on."""
    talk.say("gpt-oss 120b")
    assert [message.role for message in talk.transcript] == [
        "rackfit",
        "rackfit",
        "user",
        "rackfit",
        "rackfit",
    ]


def test_the_same_words_give_the_same_conversation(kb: KnowledgeBase) -> None:
    """No clock, no chance: two conversations with the same input are the same."""
    transcripts = []
    for _ in range(2):
        conversation = Conversation(kb)
        conversation.open()
        for line in ("llama 70b", "2", "fp8", "what if fp4", "why"):
            conversation.say(line)
        transcripts.append(conversation.transcript)
    assert transcripts[0] == transcripts[1]


@pytest.mark.parametrize(
    "line",
    ["", "   ", "\x1b[2J", "**bold** [link](javascript:x)", "x" * 100_000, "\ud800", "2", "yes", "keep it"],
)
def test_any_line_gets_an_answer(talk: Conversation, line: str) -> None:
    """Control characters, Markdown and lone surrogates are data."""
    for message in talk.say(line):
        assert "](javascript" not in message.markdown
        assert "\x1b" not in message.markdown


def test_a_factor_changes_what_was_said_as_a_what_if(talk: Conversation) -> None:
    """`double the users` shows the difference and keeps the base; `twice that` goes on from what was supposed."""
    talk.say(ANSWERED + ", 200 concurrent users")
    assert "200 requests → 400 requests" in text_of(talk.say("double the users"))
    assert "200 requests → 800 requests" in text_of(talk.say("twice that"))
    assert said(talk)["concurrency"] == 200
    talk.say("keep it")
    assert said(talk)["concurrency"] == 800


def test_a_factor_of_an_assumed_value_counts_from_the_assumption(talk: Conversation) -> None:
    """Nobody said how long prompts are; half of the assumed length is meant."""
    talk.say(ANSWERED)
    assert talk.recommendation is not None
    assumed = talk.recommendation.requirement["input_tokens"].value
    assert isinstance(assumed, int | float)
    talk.say("what if half the prompt length")
    talk.say("keep it")
    assert said(talk)["input_tokens"] == round(assumed / 2)


def test_a_factor_of_nothing_known_asks_what_changes(talk: Conversation) -> None:
    """Without a number of users there is nothing to double."""
    talk.say(ANSWERED)
    before = said(talk)
    assert "Which value changes?" in text_of(talk.say("double the users"))
    assert said(talk) == before
