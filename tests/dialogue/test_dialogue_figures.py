"""Figures named in a conversation: where one of the answer's comes from, and a claimed factor beside the audited ones."""

from __future__ import annotations

import re

import pytest

from advisor.dialogue import phrases
from advisor.dialogue.conversation import Conversation
from advisor.evidence.pairs import find_pairs
from advisor.knowledge import KnowledgeBase

CASE = "R1 in fp4, 4k in 1k out, context 5k, 5,000 users at 20 ms a token"


@pytest.fixture
def talk(kb: KnowledgeBase) -> Conversation:
    conversation = Conversation(kb)
    conversation.open()
    conversation.say(CASE)
    return conversation


def printed_rates(talk: Conversation) -> list[str]:
    """The rates per accelerator as the answer's paragraph prints them."""
    assert talk.recommendation is not None
    return re.findall(r"([\d,.]+) tokens/s per accelerator", talk.recommendation.summary)


@pytest.mark.parametrize(
    "asked",
    [
        "where does {} come from?", "where is the {} from", "how did you get {}", "is {} tokens per second realistic?",
        "source of the {}", "why {}?", "explain the {}",
    ],
)  # fmt: skip
def test_every_printed_rate_leads_to_its_arithmetic_and_rows(
    talk: Conversation, kb: KnowledgeBase, asked: str
) -> None:
    """The rate of either side, asked for by its digits, shows its own system's steps and audited runs; nothing is changed by asking."""
    answer = talk.recommendation
    assert answer is not None
    said, rates = dict(talk.facts), printed_rates(talk)
    assert len(rates) == 2
    for figure, system in zip(rates, (answer.best_node, answer.best_rack), strict=True):
        message = talk.say(asked.format(figure))[0]
        assert message.kind == "explanation"
        candidate = next(c for c in answer.candidates if c.system == system)
        assert message.markdown.startswith(f"{candidate.title}, step by step:")
        assert message.markdown.count("\n- ") >= len(candidate.arithmetic)
        rows = set(re.findall(r"`(evidence/[^`]+)`", message.markdown))
        assert candidate.throughput_per_accelerator is not None
        assert rows
        assert rows <= set(candidate.throughput_per_accelerator.evidence)
        assert " / " in message.markdown
    assert dict(talk.facts) == said


def test_a_figure_that_the_answer_does_not_have_is_not_invented(talk: Conversation) -> None:
    """No step holds 31,337."""
    assert talk.say("where does 31,337 come from?")[0].markdown == phrases.NO_SUCH_FIGURE


def test_the_cost_of_the_rack_can_be_asked_for(talk: Conversation) -> None:
    """The printed ratio leads to the two fleets it divides."""
    answer = talk.recommendation
    assert answer is not None
    cost = re.search(r"the rack fleet costs ([\d.]+)×", answer.summary)
    assert cost is not None
    fleets = {c.system: c.fleet.accelerators_installed for c in answer.candidates if c.fleet}
    node, rack = (fleets[i] for i in (answer.best_node, answer.best_rack) if i)
    assert f"{rack:,} accelerators in racks over {node:,} in nodes" in talk.say(f"why {cost[1]}?")[0].markdown


@pytest.mark.parametrize(
    "words",
    ["my colleague says the rack is 30x faster", "is the rack 30 times faster?", "is the 30x claim true?", "they quote a speedup of 30",
     "is the 72 gpu rack 30x faster?", "is an NVL72 really 30-fold faster than 8 gpu nodes"],
)  # fmt: skip
def test_a_claimed_factor_is_held_against_this_case_and_audited_pairs(
    talk: Conversation, kb: KnowledgeBase, words: str
) -> None:
    """No audited pair of DeepSeek-R1 comes near 30: the largest, 5.64 in v6.0 Interactive, is of different submitters."""
    said = dict(talk.facts)
    told = talk.say(words)[0].markdown
    assert told.startswith("A factor of 30 ")
    assert "the claim lies outside" in told
    assert "no audited pair of this model comes near it" in told
    assert "interactive v6.0: 5.64×, different submitters (grade C)" in told
    answer = talk.recommendation
    assert answer is not None
    assert answer.comparison.rack_over_node is not None
    assert f"this case: {answer.comparison.rack_over_node.value:.2f}×" in told
    assert max(p.ratio for p in find_pairs(kb, model="models/deepseek-r1", kind="node-rack")) < 30
    assert dict(talk.facts) == said


def test_a_modest_claim_is_not_called_wild(talk: Conversation) -> None:
    """1.1 is inside what audited pairs of Offline show."""
    told = talk.say("the vendor says it is 1.1x faster")[0].markdown
    assert told.startswith("A factor of 1.1")
    assert "comes near it" not in told


def test_more_users_are_not_a_claim(talk: Conversation) -> None:
    """`3x the users` changes the load."""
    assert not talk.say("what if 3x the users")[0].markdown.startswith("A factor")
