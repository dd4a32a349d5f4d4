"""Concepts and gotchas of the shipped knowledge base: enough of them, connected, and with figures that recompute."""

from __future__ import annotations

import networkx as nx
import pytest

from advisor.evidence.claims import check_claims
from advisor.knowledge import KnowledgeBase

AREAS = ("bench", "mem", "prec", "par", "moe", "lat", "disagg", "ctx", "power", "ops", "buy")
"""First word of a gotcha's slug: reading evidence, memory, precision, parallelism, mixtures of experts, and so on."""


def test_every_area_of_sizing_has_gotchas(kb: KnowledgeBase) -> None:
    """At least fifty gotchas, and each area of a sizing is warned about."""
    assert len(kb.gotchas) >= 50
    found = {gotcha.slug.partition("-")[0] for gotcha in kb.gotchas.values()}
    assert found == set(AREAS)


def test_figures_of_every_gotcha_recompute_or_name_their_source(kb: KnowledgeBase) -> None:
    """No rate or percentage in a gotcha's prose without arithmetic over evidence or a quoted source."""
    problems = [problem for gotcha in kb.gotchas.values() for problem in check_claims(kb, gotcha)]
    assert problems == []


def test_gotchas_say_what_to_do_where_it_comes_from_and_when_it_was_checked(kb: KnowledgeBase) -> None:
    """Every gotcha has a workaround, at least one concept, a source or a claim, and the day of its last review."""
    for gotcha in kb.gotchas.values():
        assert gotcha.workaround, gotcha.id
        assert gotcha.concepts, gotcha.id
        assert gotcha.sources or gotcha.claims, gotcha.id
        assert gotcha.reviewed, gotcha.id


def test_most_gotchas_can_be_raised_by_the_advisor(kb: KnowledgeBase) -> None:
    """Two thirds and more carry a condition; the rest are about reading results, which no requirement triggers."""
    raised = [gotcha for gotcha in kb.gotchas.values() if gotcha.applies_when is not None]
    assert len(raised) * 3 >= len(kb.gotchas) * 2


def test_concepts_explain_themselves(kb: KnowledgeBase) -> None:
    """At least seventy concepts, each with a sentence and an explanation that is longer than the sentence."""
    assert len(kb.concepts) >= 70
    for concept in kb.concepts.values():
        assert len(concept.body) > len(concept.summary) / 2, concept.id
        assert concept.related or concept.broader or concept.prerequisites, concept.id


def test_every_concept_is_within_two_steps_of_something_decided_or_measured(kb: KnowledgeBase) -> None:
    """From each concept a gotcha, a rule, a model or evidence is at most two links away."""
    graph = nx.Graph(kb.graph)
    for concept in kb.concepts:
        near = nx.single_source_shortest_path_length(graph, concept, cutoff=2)
        kinds = {entry.partition("/")[0] for entry in near}
        assert kinds & {"gotchas", "rules", "models", "evidence"}, concept


@pytest.mark.parametrize("field", ["broader", "prerequisites"])
def test_concepts_do_not_explain_each_other_in_a_circle(kb: KnowledgeBase, field: str) -> None:
    """Following `broader` or `prerequisites` always ends."""
    graph: nx.DiGraph[str] = nx.DiGraph(
        (concept.id, target) for concept in kb.concepts.values() for target in getattr(concept, field)
    )
    assert nx.is_directed_acyclic_graph(graph)
