"""Finding an entry by what people type."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from advisor.knowledge import KnowledgeBase
from advisor.knowledge.search import search


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("kv cache", "concepts/kv-cache"),
        ("kv cahce", "concepts/kv-cache"),
        ("TPOT", "concepts/tpot"),
        ("mixture of experts", "concepts/moe"),
        ("nvl72 rack", "concepts/nvlink-nvl72"),
        ("failure domain", "concepts/failure-domain"),
        ("deepseek r1", "models/deepseek-r1"),
        ("gb300 nvl72", "systems/gb300-nvl72"),
        ("tensor parllel", "concepts/tensor-parallel"),
    ],
)
def test_what_people_type_finds_the_entry_among_the_first(kb: KnowledgeBase, typed: str, found: str) -> None:
    """Titles and aliases rank above bodies, and a typing error is forgiven."""
    assert found in [hit.id for hit in search(kb, typed, limit=4)]


def test_a_kind_restricts_the_hits(kb: KnowledgeBase) -> None:
    """Only entries of the kind are found."""
    hits = search(kb, "rack", kind="gotchas")
    assert hits
    assert {hit.kind for hit in hits} == {"gotchas"}


def test_nothing_found_is_status_1_and_says_what_to_do(rackfit: Callable[..., Any]) -> None:
    """A search without hits prints nothing on standard output."""
    ran = rackfit("search", "zzzzqqqq")
    assert (ran.status, ran.out) == (1, "")
    assert "nothing found" in ran.err


def test_pages_and_graphs_of_every_kind_are_printed(rackfit: Callable[..., Any], kb: KnowledgeBase) -> None:
    """One entry of each kind renders as text and JSON, and its neighbourhood in every form."""
    seen: dict[str, str] = {}
    for entry_id, entry in kb.entries.items():
        seen.setdefault(entry.kind, entry_id)
    for entry_id in seen.values():
        assert kb.entries[entry_id].title.split()[0] in rackfit("show", entry_id).out
        assert json.loads(rackfit("show", entry_id, "--format", "json").out)["id"] == entry_id
    for form in ("text", "dot", "json", "svg"):
        assert rackfit("graph", "concepts/kv-cache", "--format", form).out.strip()


def test_the_corrections_of_the_seed_stand_beside_its_figures(rackfit: Callable[..., Any]) -> None:
    """The author's 11842 per GPU divides by 88 accelerators; the system has 87, which gives 11978 (v6.0, x87 in its name)."""
    page = rackfit("show", "gotchas/bench-mlperf-rack-scale-is-per-gpu-negative-for-70b").out
    assert "11842" in page
    assert "11978" in page


def test_findings_are_up_to_date(rackfit: Callable[..., Any], pytestconfig: pytest.Config) -> None:
    """Regenerating the shipped reports gives the same bytes."""
    assert rackfit("findings", "--check", "--output", pytestconfig.rootpath / "docs" / "findings").status == 0
