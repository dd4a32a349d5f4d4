"""Comparable pairs: what is compared with what, how well, and what else differs."""

from __future__ import annotations

import golden_pairs
import pytest

from advisor.evidence.pairs import find_pairs
from advisor.knowledge import KnowledgeBase
from advisor.records import Pair

GOLDEN = [
    pytest.param(kind, row, id="-".join((kind, row[0], row[1], row[2], row[3][0], str(row[4][2]))))
    for kind, table in (
        ("node-rack", golden_pairs.NODE_RACK),
        ("node-slice", golden_pairs.NODE_SLICE),
        ("slice-rack", golden_pairs.SLICE_RACK),
        ("rack-racks", golden_pairs.RACK_RACKS),
        ("node-nodes", golden_pairs.NODE_NODES),
    )
    for row in table
]


def one(kb: KnowledgeBase, kind: str, row: golden_pairs.Row) -> list[Pair]:
    round_, benchmark, scenario, small, large, _ratio = row
    return [
        pair
        for pair in find_pairs(kb, kind=kind, round=round_, benchmark=benchmark, scenario=scenario)
        if [
            (s.submitter.replace("_", " "), s.accelerator.rpartition("/")[2], s.accelerators)
            for s in (pair.small, pair.large)
        ]
        == [small, large]
    ]


@pytest.mark.parametrize(("kind", "row"), GOLDEN)
def test_a_published_pair_has_its_ratio_per_accelerator(
    kb: KnowledgeBase, kind: str, row: golden_pairs.Row
) -> None:
    """Every ratio worked out by hand from the published summaries is found, to the digits printed there."""
    digits = len(row[5].partition(".")[2])
    ratios = [f"{pair.ratio:.{digits}f}" for pair in one(kb, kind, row)]
    assert row[5] in ratios


def test_same_submitter_round_and_software_is_grade_a(kb: KnowledgeBase) -> None:
    """CoreWeave ran B300 nodes and the GB300 rack with one stack in v6.1: grade A, nothing but scale and silicon differs."""
    pair = one(
        kb,
        "node-rack",
        ("v6.1", "llama2-70b-99.9", "offline", ("CoreWeave", "b300", 8), ("CoreWeave", "gb300", 72), ""),
    )[0]
    assert pair.grade == "A"
    assert pair.confounders == ()


def test_another_stack_of_the_same_submitter_is_grade_b(kb: KnowledgeBase) -> None:
    """Nebius ran its B300 node and its GB300 rack with different software in v6.0: grade B, and the software is named."""
    pair = one(
        kb,
        "node-rack",
        ("v6.0", "deepseek-r1", "offline", ("Nebius", "b300", 8), ("Nebius", "gb300", 72), ""),
    )[0]
    assert pair.grade == "B"
    assert any(text.startswith("software: ") for text in pair.confounders)


def test_another_submitter_is_grade_c_and_named(kb: KnowledgeBase) -> None:
    """CoreWeave's rack against NVIDIA's slice: grade C, both submitters stand in the confounders."""
    pair = one(
        kb,
        "slice-rack",
        ("v6.1", "llama2-70b-99.9", "offline", ("NVIDIA", "gb300", 8), ("CoreWeave", "gb300", 72), ""),
    )[0]
    assert pair.grade == "C"
    assert "submitter: NVIDIA against CoreWeave" in pair.confounders


def test_a_ratio_inside_the_noise_is_a_tie(kb: KnowledgeBase) -> None:
    """B300 nodes differ by 1.11 in v6.1 llama2 Offline, so the rack's 1.09 is a tie and NVIDIA's slice at 1.20 is not."""
    rack = one(
        kb,
        "node-rack",
        ("v6.1", "llama2-70b-99.9", "offline", ("CoreWeave", "b300", 8), ("CoreWeave", "gb300", 72), ""),
    )[0]
    slice_ = one(
        kb,
        "node-slice",
        ("v6.1", "llama2-70b-99.9", "offline", ("NVIDIA", "b300", 8), ("NVIDIA", "gb300", 8), ""),
    )[0]
    assert rack.tie
    assert not slice_.tie
    assert f"{rack.noise_high:.2f}" == "1.11"


def test_slack_from_the_latency_limit_is_a_confounder(kb: KnowledgeBase) -> None:
    """In v6.0 the GB300 rack's p99 TPOT was 40.5 ms of the 200 allowed, the B300 node's 154.9: a Server loss at no limit."""
    pair = one(
        kb,
        "node-rack",
        ("v6.0", "llama2-70b-99.9", "server", ("NVIDIA", "b300", 8), ("NVIDIA", "gb300", 72), ""),
    )[0]
    assert (pair.small.tpot_p99_ms, pair.large.tpot_p99_ms) == (
        pytest.approx(154.9, abs=0.05),
        pytest.approx(40.5, abs=0.05),
    )
    assert pair.small.tpot_limit_ms == pair.large.tpot_limit_ms == 200
    slack = next(text for text in pair.confounders if text.startswith("SLA slack"))
    assert "TPOT 77%" in slack
    assert "TPOT 20%" in slack


def test_an_unknown_slack_is_said(kb: KnowledgeBase) -> None:
    """v6.1 has no published logs, so its Server pairs say that the slack is not known."""
    pairs = find_pairs(kb, round="v6.1", scenario="server", kind="node-rack")
    assert pairs
    assert all("SLA slack: not known, no run log" in pair.confounders for pair in pairs)


def test_disaggregation_on_one_side_is_a_confounder(kb: KnowledgeBase) -> None:
    """NVIDIA's v6.0 405B Server rack was disaggregated (its configs say so), its B300 node was not."""
    pair = one(
        kb,
        "node-rack",
        ("v6.0", "llama3.1-405b", "server", ("NVIDIA", "b300", 8), ("NVIDIA", "gb300", 72), ""),
    )[0]
    assert "disaggregation: not disaggregated against disaggregated" in pair.confounders
    assert "group width: 2 against 4 accelerators" in pair.confounders


def test_a_recipe_gap_is_named(kb: KnowledgeBase) -> None:
    """NVIDIA's v6.1 qwen3-vl Interactive node ran a four-GPU tray's recipe: the 9.72 is not a hardware ratio."""
    row = ("v6.1", "qwen3-vl-235b-a22b", "interactive", ("NVIDIA", "b300", 8), ("NVIDIA", "gb300", 72), "")
    assert any(text.startswith("recipe: NVIDIA") for text in one(kb, "node-rack", row)[0].confounders)


def test_a_capped_part_is_named(kb: KnowledgeBase) -> None:
    """Dell_MangoBoost's v6.0 MI355X at a 1000 W cap is other hardware than the stock part."""
    pairs = find_pairs(kb, round="v6.0", submitter="Dell_MangoBoost", accelerator="accelerators/mi355x")
    capped = [pair for pair in pairs if "Power_Cap" in pair.small.platform]
    assert capped
    assert all(any(text.startswith("hardware: ") for text in pair.confounders) for pair in capped)


def test_preview_systems_are_off_unless_asked_for(kb: KnowledgeBase) -> None:
    """CoreWeave's GB300 slice of v5.1 was preview: it pairs only when preview is asked for, and says so then."""
    asked = [
        p
        for p in find_pairs(kb, round="v5.1", include_preview=True)
        if "preview" in (p.small.availability, p.large.availability)
    ]
    assert asked
    assert all(any(text.startswith("availability: ") for text in pair.confounders) for pair in asked)
    assert not {p.small.evidence for p in asked if p.small.availability == "preview"} & {
        p.small.evidence for p in find_pairs(kb, round="v5.1")
    }


def test_no_pair_crosses_rounds_metrics_or_divisions(kb: KnowledgeBase) -> None:
    """Both sides of every pair are of one round and division; mixed silicon and CPU-only systems are never a side."""
    for pair in find_pairs(kb, include_preview=True):
        small, large = (kb.evidence[side.evidence] for side in (pair.small, pair.large))
        assert small.round == large.round == pair.round
        assert small.division == large.division == "closed"
        assert small.scale.accelerators > 0
        assert not small.scale.mixed_silicon
        assert not large.scale.mixed_silicon


def test_a_system_pairs_once_although_its_run_counts_for_two_accuracy_targets(kb: KnowledgeBase) -> None:
    """The 99 and 99.9 rows of one run give one pair, named after the stricter target."""
    pairs = find_pairs(
        kb,
        round="v6.0",
        benchmark="llama2-70b",
        scenario="offline",
        submitter="AMD",
        kind="node-nodes",
        grade="B",
    )
    assert [pair.benchmark for pair in pairs] == ["llama2-70b-99.9"]


def test_different_output_lengths_are_a_confounder(kb: KnowledgeBase) -> None:
    """Red Hat's v6.0 gpt-oss-120b runs wrote 1,341 tokens a sample, CoreWeave's 1,308: tokens/s alone flatters one side."""
    row = ("v6.0", "gpt-oss-120b", "offline", ("RedHat", "b200", 8), ("CoreWeave", "gb200", 64), "")
    assert "output length: 1,341 against 1,308 tokens per sample" in one(kb, "node-slice", row)[0].confounders


def test_part_of_a_node_is_not_a_slice_of_a_rack(kb: KnowledgeBase) -> None:
    """Red Hat's single H100 out of a node says nothing about a rack, so no node is paired with it."""
    assert not [pair for pair in find_pairs(kb) if pair.large.accelerator == "accelerators/h100"]


@pytest.mark.parametrize("grade", ["A", "B", "C"])
def test_a_grade_filter_keeps_better_grades(kb: KnowledgeBase, grade: str) -> None:
    """Asking for grade B gives A and B."""
    assert {pair.grade for pair in find_pairs(kb, grade=grade)} == set("ABC"[: "ABC".index(grade) + 1])
