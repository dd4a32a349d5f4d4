"""Understanding: spans, ambiguity, exclusions, measurements, ranges, and answers to a question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from advisor.dialogue.stated import stated
from advisor.dialogue.text import MAX_CHARACTERS
from advisor.dialogue.understand import understand
from advisor.knowledge import KnowledgeBase


def test_a_span_marks_the_words_of_the_text_as_typed(kb: KnowledgeBase) -> None:
    """A chip can be shown over the words it was read from, whatever case and width they were typed in."""
    text = "We'd put ＤｅｅｐＳｅｅｋ-R1 on 8×H200 at ١٢٨k"
    facts = understand(kb, text).facts
    assert {name: text[slice(*reading.span)] for name, reading in facts.items()} == {
        "model": "ＤｅｅｐＳｅｅｋ-R1",
        "accelerator": "H200",
        "accelerator_count": "8×H200",
        "context_tokens": "١٢٨k",
    }
    assert facts["context_tokens"].value == 131072


def test_a_family_and_size_without_version_is_ambiguous(kb: KnowledgeBase) -> None:
    """`llama 70b` names four generations: all are offered, and one is only a guess."""
    read = understand(kb, "llama 70b on b200")
    (doubt,) = read.ambiguous
    assert doubt.fact == "model"
    assert set(doubt.choices) == {"llama-2-70b", "llama-3-70b", "llama-3.1-70b", "llama-3.3-70b"}
    assert doubt.text == "llama 70b"


@pytest.mark.parametrize(
    "text", ["llama 3.3 70b", "R1", "405B", "gptoss 120", "qwen 235b a22b", "lama 3 70b"]
)
def test_a_name_that_only_one_model_has_is_certain(kb: KnowledgeBase, text: str) -> None:
    """Nicknames, sizes and typing errors that leave one model are not asked back."""
    assert understand(kb, text).ambiguous == ()


def test_eight_bits_may_be_integers_or_floats(kb: KnowledgeBase) -> None:
    """`8-bit` is asked back, unless the sentence also says which."""
    assert {a.choices for a in understand(kb, "R1 in 8-bit").ambiguous} == {("fp8", "int8")}
    assert understand(kb, "R1 in 8-bit, fp8").ambiguous == ()


@pytest.mark.parametrize(
    ("text", "fact", "value"),
    [
        ("not fp8, bf16", "weight_precision", "bf16"),
        ("no H100 here, just A100", "accelerator", "a100"),
        ("H200 instead of H100", "accelerator", "h200"),
        ("25 tok/s per user, not 50", "tpot_ms", 40.0),
        ("without liquid cooling", "cooling", "air"),
    ],
)
def test_what_is_negated_is_left_out(kb: KnowledgeBase, text: str, fact: str, value: object) -> None:
    """`not`, `no` and `instead of` exclude what follows them and nothing else."""
    assert understand(kb, text).facts[fact].value == value


def test_why_not_asks_about_a_thing_and_does_not_exclude_it(kb: KnowledgeBase) -> None:
    """`why not H100` is about the H100."""
    read = understand(kb, "why not H100")
    assert (read.intent, read.facts["accelerator"].value) == ("why", "h100")


@pytest.mark.parametrize(
    "text", ["R1 on 8 H200 only gives 200 tok/s", "we got 900 tokens/s with R1", "R1: 36 token/s per card"]
)
def test_a_measurement_is_no_target(kb: KnowledgeBase, text: str) -> None:
    """What somebody measured is reported as left out, not taken as the rate to size for."""
    read = understand(kb, text)
    assert "throughput_tokens_per_s" not in read.facts
    assert [item.why for item in read.ignored] == ["observed"]


@pytest.mark.parametrize(
    ("text", "fact", "value", "low", "high"),
    [
        ("4-10 users at the same time", "concurrency", 10, 4, 10),
        ("20 to 30 tok/s per user", "tpot_ms", 33.3333, 33.3333, 50),
        ("TTFT 1-2 s", "ttft_ms", 1000, 1000, 2000),
    ],
)
def test_of_a_range_the_stricter_end_counts(
    kb: KnowledgeBase, text: str, fact: str, value: float, low: float, high: float
) -> None:
    """Whatever meets the stricter end meets the whole range; both ends are kept."""
    reading = understand(kb, text).facts[fact]
    assert (reading.value, reading.low, reading.high) == pytest.approx((value, low, high), rel=1e-4)


@pytest.mark.parametrize(
    ("text", "fact", "value"),
    [
        ("1000 req/min", "requests_per_second", 1000 / 60),
        ("2 million requests per day", "requests_per_second", 2e6 / 86400),
        ("10B tokens a day", "throughput_tokens_per_s", 1e10 / 86400),
        ("27 tok/s/user", "tpot_ms", 1000 / 27),
        ("p99 ttft 2s", "ttft_ms", 2000),
        ("40 kW racks", "rack_kw", 40),
    ],
)
def test_units_are_converted(kb: KnowledgeBase, text: str, fact: str, value: float) -> None:
    """Rates per minute or day become rates per second, speeds become times per token."""
    assert understand(kb, text).facts[fact].value == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,200 concurrent users", 1200),
        ("1.200 concurrent users", 1200),
        ("1'200 concurrent users", 1200),
        ("1 200 concurrent users", 1200),
        ("1\u202f234 concurrent users", 1234),
        ("12_000 concurrent users", 12000),
        ("for 1 500 concurrent users", 1500),
        ("1,5k concurrent users", 1500),
        ("twenty-five concurrent users", 25),
        ("a hundred and fifty concurrent users", 150),
        ("two thousand concurrent users", 2000),
        ("between 200 and 400 concurrent users", 400),
    ],
)
def test_a_number_may_be_written_in_any_countrys_way(kb: KnowledgeBase, text: str, value: int) -> None:
    """Commas, dots, apostrophes, spaces and words: the number is the one its writer counts."""
    assert understand(kb, text).facts["concurrency"].value == value


@pytest.mark.parametrize(
    ("text", "fact", "value"),
    [
        ("TTFT 1,5 s", "ttft_ms", 1500),
        ("TTFT 0,8 s", "ttft_ms", 800),
        ("TTFT 2.250 s", "ttft_ms", 2250),
        ("first token within half a second", "ttft_ms", 500),
        ("llama 3 500 concurrent users", "concurrency", 500),
        ("$3.125 per GPU-hour on H100", "price_usd_per_gpu_hour", 3.125),
        ("half a million requests per day", "requests_per_second", 5e5 / 86400),
        ("86.4M output tokens in 24 hours", "throughput_tokens_per_s", 1000),
    ],
)
def test_separators_do_not_change_fractions_and_names(
    kb: KnowledgeBase, text: str, fact: str, value: float
) -> None:
    """A dot before a unit of time, in a price or in a version is a fraction, and a version takes no users in."""
    assert understand(kb, text).facts[fact].value == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize(
    ("expecting", "text", "value"),
    [
        ("context_tokens", "32k", 32768),
        ("concurrency", "64", 64),
        ("tpot_ms", "25 tok/s", 40.0),
        ("ttft_ms", "2s", 2000.0),
        ("throughput_tokens_per_s", "50k", 50000.0),
        ("workload", "the second", "server"),
        ("cooling", "2", "liquid"),
        ("weight_precision", "fp8 please", "fp8"),
        ("spare", "one spare", 1),
        ("spare", "0", 0),
        ("rack_kw", "about 40 kw", 40.0),
    ],
)
def test_a_bare_answer_belongs_to_the_question_asked(
    kb: KnowledgeBase, expecting: str, text: str, value: object
) -> None:
    """A number, an ordinal or a word is read as the fact that was asked for."""
    assert understand(kb, text, expecting=expecting).facts[expecting].value == value


def test_an_answer_that_says_more_is_read_in_full(kb: KnowledgeBase) -> None:
    """Mixed initiative: the reply to one question may state other facts instead."""
    read = understand(kb, "64 concurrent users and 32k context", expecting="tpot_ms")
    assert {name: reading.value for name, reading in read.facts.items()} == {
        "concurrency": 64,
        "context_tokens": 32768,
    }


def test_several_models_make_a_list(kb: KnowledgeBase) -> None:
    """A second size of a family named before belongs to the same family and version."""
    read = understand(kb, "Llama 3.1 70B, and how many for 405B")
    assert read.facts["model"].values == ("llama-3.1-70b", "llama-3.1-405b")


def test_more_than_the_limit_is_cut_and_said(kb: KnowledgeBase) -> None:
    """A megabyte of text is read up to the limit; the rest is reported."""
    read = understand(kb, "R1 on 8 H200 " + "x" * 1_000_000)
    assert read.facts["model"].value == "deepseek-r1"
    assert read.ignored[-1].why == "cut"
    assert read.ignored[-1].span[0] == MAX_CHARACTERS


@pytest.mark.parametrize(
    "text", ["", "   ", "1e400", "-0", "NaN users", "\x00\x1b[31m", "\u202egnihtemos", "0 users"]
)
def test_what_is_no_quantity_is_no_fact(kb: KnowledgeBase, text: str) -> None:
    """Overflowing, negative-zero, control and bidirectional text yields no fact and no exception."""
    assert understand(kb, text).facts == {}


@pytest.mark.parametrize(
    ("text", "fact", "said"),
    [
        ("r1 for 99999999999 users", "concurrency", "99999999999 users"),
        ("r1 for 5e12 users at 8k", "concurrency", "5e12 users"),
        ("r1 at 0.00001 ms per token", "tpot_ms", "0.00001 ms per token"),
        ("r1 with ttft 99999999999 s", "ttft_ms", "ttft 99999999999 s"),
        ("r1, rack limit 99999999 kw", "rack_kw", "rack limit 99999999 kw"),
        ("r1 on 99999999999 H100", "accelerator_count", "99999999999 H100"),
        ("H100 at $99999999 per gpu hour", "price_usd_per_gpu_hour", "$99999999 per gpu hour"),
        ("llama 2 70b at -15 ms per token", "tpot_ms", "-15 ms per token"),
        ("llama 2 70b for -300 users", "concurrency", "-300 users"),
        ("H100 at $-5 per gpu hour", "price_usd_per_gpu_hour", None),
    ],
)
def test_a_number_that_the_fact_cannot_be_is_said(
    kb: KnowledgeBase, rackfit: Callable[..., Any], text: str, fact: str, said: str | None
) -> None:
    """Absurd and negative figures are named with the range that makes sense, never dropped and never made positive."""
    read = understand(kb, text)
    assert fact not in read.facts
    (left,) = (item for item in read.ignored if item.why == "range")
    assert (left.fact, text[slice(*left.span)]) == (fact, left.text)
    assert said is None or left.text == said
    (note,) = stated(kb, read).notes
    assert "out of range" in note
    asked = rackfit("ask", text, "--model", "r1", "--no-flips")
    assert asked.status == 2
    assert "out of range" in asked.err


def test_a_number_too_large_to_read_is_said(kb: KnowledgeBase) -> None:
    """Beyond a quadrillion it is no figure of anything, and is named as not understood."""
    read = understand(kb, "r1 for 1e16 users")
    assert [(item.text, item.why) for item in read.ignored] == [("1e16 users", "unknown")]


@pytest.mark.parametrize(
    ("text", "fact", "value"),
    [
        ("growth -50%", "growth_percent", -50), ("growth 50%", "growth_percent", 50), ("growth-50%", "growth_percent", 50),
        ("- 300 users", "concurrency", 300), ("-300 users", "concurrency", 300), ("r1\n-300 users\n-15 ms per token", "tpot_ms", 15),
        ("200 -300 users", "concurrency", 300), ("batch-32", "concurrency", 32),
    ],
)  # fmt: skip
def test_a_minus_belongs_to_its_number_and_a_dash_to_its_words(
    kb: KnowledgeBase, text: str, fact: str, value: float
) -> None:
    """A sign stands right before its number with room before it; items of a list, ranges and compounds have dashes."""
    assert understand(kb, text).facts[fact].value == value


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("olmo 3 32b on A100", "olmo-3-32b"),
        ("Qwen4 72B", "qwen4-72b"),
        ("kimi k4 on B200", "kimi-k4"),
        ("mistral 70b", "mistral-70b"),
        ("Smaug-72B-v0.1", "smaug-72b"),
        ("Qwen2-Audio-7B", "qwen2-audio-7b"),
        ("qwen3-max", "qwen3-max"),
    ],
)
def test_a_name_that_goes_on_is_another_model(kb: KnowledgeBase, text: str, model: str) -> None:
    """A version, variant or size that no known model of a family has names one that is not known, not the nearest."""
    read = understand(kb, text)
    assert read.facts["model"].values == (model,)
    assert read.ambiguous == ()


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("GLM 4.5 355B", "glm-4.5"),
        ("deepseek v3 37B active", "deepseek-v3"),
        ("grok-1 314B", "grok-1"),
        ("kimi k2 1T", "kimi-k2"),
        ("Qwen3-4B-Thinking-2507", "qwen3-4b"),
        ("llama 4 gpus", None),
        ("a non-70b one of 8b", None),
    ],
)
def test_a_size_counted_another_way_is_the_same_model(
    kb: KnowledgeBase, text: str, model: str | None
) -> None:
    """Rounded and active sizes, dates and numbers of machines do not make a new name."""
    facts = understand(kb, text).facts
    assert (facts["model"].value if "model" in facts and model else None) == model


def test_a_model_with_an_entry_of_its_own_is_not_its_base(kb: KnowledgeBase) -> None:
    """`Thinking` changes nothing for most models, but Kimi K2 Thinking is known by that name."""
    assert understand(kb, "Kimi-K2-Thinking").facts["model"].value == "kimi-k2-thinking"


@pytest.mark.parametrize(
    ("text", "fact", "value"),
    [
        ("100 concurrent users at 30 tok/s", "tpot_ms", 1000 / 30),
        ("2000 users at 20 tok/s with R1", "tpot_ms", 50),
        ("64 concurrent, 20000 tok/s", "throughput_tokens_per_s", 20000),
        ("500 users, 100 tok/s in total", "throughput_tokens_per_s", 100),
    ],
)
def test_a_rate_too_slow_to_share_is_that_of_each_user(
    kb: KnowledgeBase, text: str, fact: str, value: float
) -> None:
    """Nobody serves a hundred users 30 tokens a second in sum; what is called a total stays one."""
    facts = understand(kb, text).facts
    assert facts[fact].value == pytest.approx(value, rel=1e-4)
    assert not {"tpot_ms", "throughput_tokens_per_s"} - {fact} & set(facts)


@pytest.mark.parametrize(
    ("text", "count"),
    [("two nodes of H200", 16), ("2 nodes of H200", 16), ("16 H100 nodes", 128), ("2 GB200 nodes", 8)],
)
def test_machines_count_the_accelerators_in_them(kb: KnowledgeBase, text: str, count: int) -> None:
    """A node of a kind that has one size stands for its accelerators: 8 in an HGX H200, 4 in a tray of an NVL72."""
    assert understand(kb, text).facts["accelerator_count"].value == count


@pytest.mark.parametrize("text", ["one A100 node", "2 nodes", "3 nodes of V100"])
def test_machines_of_unknown_size_count_nothing(kb: KnowledgeBase, text: str) -> None:
    """A single node, and nodes of something unknown, state no number."""
    assert "accelerator_count" not in understand(kb, text).facts


@pytest.mark.parametrize(
    ("text", "facts", "factor"),
    [
        ("double the users", ("concurrency",), 2),
        ("half the context", ("context_tokens",), 0.5),
        ("what if traffic triples", ("concurrency", "requests_per_second", "throughput_tokens_per_s"), 3),
        ("10x the load", ("concurrency", "requests_per_second", "throughput_tokens_per_s"), 10),
        ("twice as fast", ("tpot_ms",), 0.5),
        ("twice that", (), 2),
        ("half of that", (), 0.5),
    ],
)
def test_a_change_by_a_factor_refers_to_what_was_said(
    kb: KnowledgeBase, text: str, facts: tuple[str, ...], factor: float
) -> None:
    """The factor, and the fact it is for; `that` is whatever was said last."""
    read = understand(kb, text)
    assert read.intent == "what_if"
    assert read.scaled is not None
    assert (read.scaled.facts, read.scaled.factor) == (facts, factor)


@pytest.mark.parametrize("text", ["double check that", "2x H200", "R1 at half precision", "undo"])
def test_a_factor_of_nothing_is_none(kb: KnowledgeBase, text: str) -> None:
    """Words that happen to be factors change nothing."""
    assert understand(kb, text).scaled is None


@pytest.mark.parametrize("text", ["32k sessions", "8k requests"])
def test_a_length_that_contexts_have_is_one(kb: KnowledgeBase, text: str) -> None:
    """`32k sessions` are long, `10k sessions` are many."""
    assert "context_tokens" in understand(kb, text).facts
    assert understand(kb, "10k sessions").facts["concurrency"].value == 10_000


def test_a_maker_named_with_its_machine_is_no_wish(kb: KnowledgeBase) -> None:
    """`AMD MI355X` beside a B200 restricts to no vendor; `prefer AMD` does."""
    assert "vendor" not in understand(kb, "AMD MI355X vs B200").facts
    assert understand(kb, "H200 or MI355X, prefer AMD").facts["vendor"].value == "amd"


def test_a_family_named_again_is_its_model(kb: KnowledgeBase) -> None:
    """`mistral` after Mistral Small repeats it and names no second model."""
    read = understand(kb, "mistral small on 2x3090: why does mistral spill")
    assert read.facts["model"].values == ("mistral-small-24b",)


@pytest.mark.parametrize(
    ("asked", "typed", "fact", "value"),
    [
        ("context_tokens", "15 ms per token", "tpot_ms", 15.0),
        ("context_tokens", "800 users", "concurrency", 800),
        ("rack_kw", "800 users", "concurrency", 800),
        ("concurrency", "8k", "concurrency", 8000),
        ("input_tokens", "128k tokens", "input_tokens", 131072),
        ("rack_kw", "40", "rack_kw", 40.0),
    ],
)
def test_a_figure_with_its_own_unit_is_not_taken_for_the_number_asked(
    kb: KnowledgeBase, asked: str, typed: str, fact: str, value: float
) -> None:
    """The unit says what a figure is; only a bare number, or one in the asked unit, answers the question."""
    assert {
        name: reading.value for name, reading in understand(kb, typed, expecting=asked).facts.items()
    } == {fact: value}
