"""Pages of entries, graphs and listings where something is absent: a latency, a bound, an effect, a centre."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from advisor.evidence.figures import figures
from advisor.knowledge import KnowledgeBase
from advisor.knowledge.build import condition_data
from advisor.records import Condition, Evidence, FactRef, Latency
from advisor.report.findings import build_findings
from advisor.report.page import entry_page

Rackfit = Callable[..., Any]


@pytest.fixture(scope="module")
def measured(kb: KnowledgeBase) -> Evidence:
    """An audited system with its first result alone."""
    entry = next(e for e in kb.evidence.values() if e.results and e.scale.accelerators == 8)
    return replace(entry, results=entry.results[:1])


@pytest.mark.parametrize(
    ("latency", "cell"),
    [
        (None, "| – |"),
        (Latency(ttft_p99_ms=452.3), "| – |"),
        (Latency(tpot_p99_ms=39.46), "| – / 39.5 |"),
        (Latency(ttft_p99_ms=1452.3, tpot_p99_ms=39.46), "| 1,452 / 39.5 |"),
    ],
    ids=["no log", "first token alone", "pace alone", "both"],
)
def test_a_result_shows_the_latency_that_its_log_had(
    kb: KnowledgeBase, measured: Evidence, latency: Latency | None, cell: str
) -> None:
    """p99 to the first token over p99 per token; a dash for what no log states."""
    (result,) = measured.results
    page = entry_page(kb, replace(measured, results=(replace(result, latency=latency),)))
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {result.benchmark}")]
    assert cell in row


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"fact": "vendor", "known": False}, "vendor not known"),
        ({"fact": "context_tokens", "stated": True}, "context_tokens stated"),
        ({"fact": "input_tokens", "at_least": 32768.0}, "input_tokens at least 32768"),
        ({"fact": "node_group_width", "above": {"fact": "node_failure_domain"}}, "node_group_width above node_failure_domain"),
        ({"fact": "spare", "is": True}, "spare is yes"),
    ],
)  # fmt: skip
def test_a_page_says_a_condition_as_its_author_meant_it(
    kb: KnowledgeBase, written: dict[str, Any], words: str
) -> None:
    """What is asked of a fact: stated is not known, another fact is named, a number has no needless digits."""
    rule = next(rule for rule in kb.rules.values() if rule.when is not None)
    data = condition_data(written)
    if isinstance(data.get("above"), dict):
        data["above"] = FactRef(**data["above"])
    page = entry_page(kb, replace(rule, when=Condition(**data)))
    assert f"| when | {words} |" in page.replace("\\", "")


class TestGraph:
    """`rackfit graph`, whole or around one entry."""

    def test_without_an_entry_it_is_the_concepts_and_their_links(self, rackfit: Rackfit) -> None:
        """Every concept once, nothing else."""
        got = json.loads(rackfit("graph", "--format", "json").out)
        assert got["centre"] is None
        assert {node["kind"] for node in got["nodes"]} == {"concepts"}
        ids = {node["id"] for node in got["nodes"]}
        assert all({link["from"], link["to"]} <= ids for link in got["links"])
        text = rackfit("graph").out
        assert all(f"\n{node}  " in f"\n{text}" for node in ids)
        assert "←" not in text  # each link stands once, under the entry that states it

    def test_what_is_two_links_away_is_listed_apart(self, rackfit: Rackfit) -> None:
        """With depth 2: direct links with their relation, the rest by name, none of them twice."""
        near, wide = (rackfit("graph", "concepts/kv-cache", "--depth", depth).out for depth in ("1", "2"))
        assert "further off:" not in near
        head, _, tail = wide.partition("  further off:\n")
        assert head == near
        further = {line.split()[0] for line in tail.splitlines()}
        assert further
        assert not any(f" {entry}  " in head for entry in further)


def test_pairs_without_a_rack_have_no_effects(rackfit: Rackfit) -> None:
    """A slice against its own rack shows scale alone: there is no node to split the ratio with."""
    ran = rackfit("compare", "--kind", "slice-rack", "--model", "llama-2-70b")
    assert ran.status == 0
    assert "slice-rack" in ran.out
    assert "effects:" not in ran.out
    assert "effects: rack/node" in rackfit("compare", "--kind", "node-rack", "--model", "llama-2-70b").out


def test_one_layout_of_two_submissions_is_listed_once(kb: KnowledgeBase) -> None:
    """A submitter that published the same run layout for two platforms fills one line, and counts as one."""
    figure = next(f for f in figures(kb) if f.result.group_width)
    twin = replace(figure.entry, id=f"{figure.entry.id}-b", platform=f"{figure.entry.platform}-b")
    before = build_findings(kb)["topologies.md"]
    both = build_findings(KnowledgeBase([*kb.entries.values(), twin]))["topologies.md"]
    assert both == before
