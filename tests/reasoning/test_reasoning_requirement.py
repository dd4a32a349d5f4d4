"""From what was said to a requirement: values checked, lengths settled, facts of a model."""

from __future__ import annotations

import math
from typing import Any

import pytest
from rule_base import base
from rule_base import fact as made_fact

from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.requirement import check_value, complete, model_facts, number, said, text
from advisor.records import FactValue


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("model", "llama 3.1 405b", "models/llama-3.1-405b"),
        ("system", "HGX H200", "systems/hgx-h200"),
        ("workload", "Offline", "offline"),
        ("workload", " server ", "server"),
        ("context_tokens", "128k", 131072),
        ("context_tokens", 8192.0, 8192),
        ("tpot_ms", "15", 15.0),
        ("tpot_ms", 15, 15.0),
        ("disaggregated", "Yes", True),
        ("disaggregated", "on", True),
        ("disaggregated", "1", True),
        ("disaggregated", "true", True),
        ("disaggregated", "no", False),
        ("disaggregated", "OFF", False),
        ("disaggregated", "0", False),
        ("disaggregated", "false", False),
        ("disaggregated", False, False),
    ],
)
def test_values_are_taken_as_people_write_them(
    kb: KnowledgeBase, name: str, value: Any, expected: Any
) -> None:
    """Names become ids, numbers what the fact holds (whole where it counts), words of a choice its value, 128k = 131,072."""
    found = check_value(kb, name, value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("disaggregated", "maybe", "not yes or no"),
        ("workload", "batch-ish", "one of offline"),
        ("context_tokens", 0.5, "out of range"),
        ("context_tokens", 8192.5, "not a whole number"),
        ("tpot_ms", -1, "out of range"),
        ("tpot_ms", math.nan, "not a number that can be computed with"),
        ("tpot_ms", math.inf, "not a number that can be computed with"),
        ("tpot_ms", -math.inf, "not a number that can be computed with"),
        ("tpot", 3, "no fact 'tpot'; such as tpot_class, tpot_ms"),
        ("zzz", 3, "no fact 'zzz'; such as "),
    ],
)
def test_a_value_that_cannot_be_used_says_why(kb: KnowledgeBase, name: str, value: Any, message: str) -> None:
    """One line that names the place and what would be right."""
    with pytest.raises(InputError, match=message):
        check_value(kb, name, value)
    with pytest.raises(InputError, match=r"^--flag: "):
        check_value(kb, name, value, what="--flag")


def test_the_borders_of_a_range_belong_to_it(kb: KnowledgeBase) -> None:
    """Every numeric fact takes its minimum and its maximum, and nothing beyond."""
    for fact in kb.facts.values():
        if fact.type not in ("number", "integer"):
            continue
        for end, beyond in ((fact.minimum, -1), (fact.maximum, 1)):
            if end is not None:
                assert check_value(kb, fact.name, end) == end
                with pytest.raises(InputError, match="out of range"):
                    check_value(kb, fact.name, end + beyond)


def test_what_was_said_keeps_its_place(kb: KnowledgeBase) -> None:
    """The flag or the words that a value came from are its reason."""
    facts = said(kb, {"tpot_ms": "20", "workload": "server"}, where={"tpot_ms": "--tpot"})
    assert facts["tpot_ms"] == FactValue(value=20.0, origin="said", because="--tpot")
    assert facts["workload"] == FactValue(value="server", origin="said", because="")
    with pytest.raises(InputError, match=r"^--tpot: "):
        said(kb, {"tpot_ms": "x"}, where={"tpot_ms": "--tpot"})


def whole(kb: KnowledgeBase, **values: Any) -> dict[str, FactValue]:
    return complete(kb, said(kb, values)).facts


def test_stated_lengths_give_the_context_and_the_prefill_share(kb: KnowledgeBase) -> None:
    """3,000 in and 1,000 out are a context of 4,000 and three quarters of prefill."""
    facts = whole(kb, model="llama-3.1-8b", input_tokens=3000, output_tokens=1000)
    assert facts["context_tokens"].value == 4000
    assert facts["context_tokens"].origin == "derived"
    assert facts["prefill_share"].value == pytest.approx(0.75)


def test_a_stated_context_must_hold_the_stated_lengths(kb: KnowledgeBase) -> None:
    """4,000 tokens hold 3,000 + 1,000 and not 3,000 + 1,001; a length that is only assumed contradicts nothing."""
    held = whole(kb, model="llama-3.1-8b", input_tokens=3000, output_tokens=1000, context_tokens=4000)
    assert held["context_tokens"].value == 4000
    with pytest.raises(InputError, match="give at least 4,001"):
        whole(kb, model="llama-3.1-8b", input_tokens=3000, output_tokens=1001, context_tokens=4000)
    with pytest.raises(InputError, match="give at least 3,000"):
        whole(kb, model="llama-3.1-8b", input_tokens=3000, context_tokens=2999)
    assert whole(kb, model="llama-3.1-8b", context_tokens=16)["context_tokens"].value == 16


def test_an_assumed_context_ends_at_the_models_own_limit(kb: KnowledgeBase) -> None:
    """Llama 2 was published for 4,096 tokens; what was said is kept however long."""
    assumed = whole(kb, model="llama-2-70b")["context_tokens"]
    assert assumed.value == 4096
    assert assumed.origin == "assumed"
    assert whole(kb, model="llama-2-70b", context_tokens=100_000)["context_tokens"].value == 100_000


def test_an_answer_needs_a_model(kb: KnowledgeBase) -> None:
    """Everything else has a default."""
    with pytest.raises(InputError, match="which model"):
        complete(kb, {})
    with pytest.raises(InputError, match="which model"):
        complete(kb, {"model": FactValue(value=None, origin="said")})
    named = complete(kb, {"model": FactValue(value="llama-3.1-8b", origin="said", because="--model")}).facts[
        "model"
    ]
    assert (named.value, named.because) == ("models/llama-3.1-8b", "--model")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("deepseek-r1", {"model_parameters_b": 671, "model_active_b": 37, "model_is_moe": True, "attention_kind": "mla", "model_native_precision": "fp8"}),
        ("llama-3.1-70b", {"model_parameters_b": 70.6, "model_active_b": 69.5, "model_is_moe": False, "attention_kind": "gqa", "context_limit_tokens": 131072}),
        ("gpt-oss-120b", {"model_parameters_b": 117, "model_active_b": 5.1, "model_is_moe": True, "attention_kind": "hybrid", "model_native_precision": "fp4"}),
        ("qwen3-14b", {"context_native_tokens": 40960, "context_limit_tokens": 131072, "attention_kind": "gqa"}),
    ],
)  # fmt: skip
def test_rules_read_what_the_model_card_says(kb: KnowledgeBase, model: str, expected: dict[str, Any]) -> None:
    """Sizes in billions, experts, kind of attention, context as published and as it can be stretched, released precision."""
    facts = model_facts(kb.models[f"models/{model}"])
    for name, value in expected.items():
        got = facts[name].value
        assert got == (
            pytest.approx(value, rel=0.015)
            if isinstance(value, float | int) and not isinstance(value, bool)
            else value
        ), name
    if "model_native_precision" not in expected:
        assert "model_native_precision" not in facts


def test_multi_head_attention_keeps_keys_for_every_head(kb: KnowledgeBase) -> None:
    """Models whose config names as many heads for keys and values as for queries are `mha`."""
    many = [
        m
        for m in kb.models.values()
        if all(g.kind == "full" and g.kv_heads == g.heads for g in m.architecture.attention)
    ]
    assert many
    assert {model_facts(m)["attention_kind"].value for m in many} == {"mha"}


def test_numbers_and_words_are_read_from_facts_of_their_kind() -> None:
    """A word is no number, a missing value is none or empty."""
    facts = {
        "a": FactValue(value="x", origin="said"), "b": FactValue(value=2, origin="said"), "c": FactValue(value=None, origin="said"),
    }  # fmt: skip
    assert [number(facts, name) for name in "abcd"] == [None, 2.0, None, None]
    assert [text(facts, name) for name in "abcd"] == ["x", "2", "", ""]


@pytest.mark.parametrize(
    ("limits", "value", "span"),
    [
        ({"minimum": 3}, 2, "give from 3"),
        ({"minimum": 3, "maximum": 9}, 10, "give 3 to 9"),
        ({"maximum": 9}, 10, "give 0 to 9"),
        ({}, float("nan"), "give any"),
        ({"minimum": 3}, float("inf"), "give from 3"),
    ],
)
def test_a_number_out_of_range_is_told_the_range(limits: dict[str, float], value: float, span: str) -> None:
    """Both ends, one end, or none: what is said is what would be right."""
    with pytest.raises(InputError) as caught:
        check_value(base(made_fact("a", **limits)), "a", value)
    assert str(caught.value).endswith(span)
