"""The audited rate that is closest to a question, and its citation."""

from __future__ import annotations

import pytest

from advisor.errors import UnknownIdError
from advisor.evidence.citation import DERIVED, cite, derived_footnote, notices
from advisor.evidence.pairs import find_pairs
from advisor.evidence.rates import closest_rate
from advisor.knowledge import KnowledgeBase
from advisor.records import Estimate

RACK = "evidence/mlperf-v6.1/coreweave/gb300-nvl72-gb300-288gb-aarch64x72-trt"


def rate(
    kb: KnowledgeBase, model: str, scenario: str, accelerator: str, unit: str, count: int, **more: object
) -> Estimate | None:
    return closest_rate(
        kb, model=f"models/{model}", precision=str(more.pop("precision", "fp4")), scenario=scenario,
        accelerator=f"accelerators/{accelerator}", unit=unit, accelerators=count, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def test_the_racks_own_rate(kb: KnowledgeBase) -> None:
    """One v6.1 rack ran llama2-70b Offline: CoreWeave's 1,136,100 tokens/s over 72."""
    found = rate(kb, "llama-2-70b", "offline", "gb300", "rack", 72)
    assert found is not None
    assert found.value == pytest.approx(1136100 / 72)
    assert found.evidence == (RACK,)
    assert found.low < found.value < found.high


def test_a_nodes_rate_is_the_median_of_the_latest_round(kb: KnowledgeBase) -> None:
    """Thirteen v6.1 submissions of B300 nodes, 13,001 to 14,441: their median, with that range."""
    found = rate(kb, "llama-2-70b", "offline", "b300", "node", 8)
    assert found is not None
    assert (round(found.low), round(found.high)) == (13001, 14441)
    assert found.low < found.value < found.high
    assert len(found.evidence) == 13
    assert "v6.1" in found.note


def test_a_slice_in_place_of_a_rack_is_said(kb: KnowledgeBase) -> None:
    """No GB200 rack ran qwen3-vl: the slice stands in, and the note says so."""
    found = rate(kb, "qwen3-vl-235b-a22b", "server", "gb200", "rack", 72)
    assert found is not None
    assert "slice in place of a rack" in found.note


def test_samples_are_not_tokens(kb: KnowledgeBase) -> None:
    """Qwen3-VL's rate keeps its unit."""
    found = rate(kb, "qwen3-vl-235b-a22b", "offline", "gb300", "rack", 72)
    assert found is not None
    assert found.unit == "samples/s"


def test_preview_hardware_has_no_rate_unless_asked_for(kb: KnowledgeBase) -> None:
    """VR200 is preview in v6.1."""
    assert rate(kb, "deepseek-r1", "offline", "vr200", "rack", 72) is None
    asked = rate(kb, "deepseek-r1", "offline", "vr200", "rack", 72, include_preview=True)
    assert asked is not None
    assert round(asked.value) == 16435


def test_another_precision_is_another_question(kb: KnowledgeBase) -> None:
    """No FP8 rate is made of FP4 runs."""
    assert rate(kb, "llama-2-70b", "offline", "gb300", "rack", 72, precision="fp8") is None


def test_capped_and_virtual_parts_do_not_count(kb: KnowledgeBase) -> None:
    """Dell_MangoBoost's capped MI355X is not evidence for the stock part."""
    found = rate(kb, "llama-2-70b", "server", "mi355x", "node", 8)
    assert found is not None
    assert not any("power-cap" in entry for entry in found.evidence)


def test_a_published_result_is_cited_as_verified(kb: KnowledgeBase) -> None:
    """Submitter, system, benchmark, scenario, entry, source, date: all that the guidelines ask for."""
    entry = kb.evidence[RACK]
    result = next(r for r in entry.results if r.benchmark == "llama2-70b" and r.scenario == "offline")
    citation = cite(kb, RACK, result)
    for part in ("CoreWeave", "72 accelerators", "closed division", "llama2-70b-99.9 offline 1,136,100 tokens/s", f"entry {result.record}",
                 "MLPerf® Inference v6.1", "MLCommons Association", "https://", "2026-11-30"):  # fmt: skip
        assert part in citation.text
    assert citation.verified
    assert citation.text.endswith("Result verified by MLCommons Association.")


def test_a_derived_figure_is_marked_unverified(kb: KnowledgeBase) -> None:
    """A figure per accelerator carries the mark, and the citation says not verified."""
    citation = cite(kb, RACK, figures=("1,136,100 / 72 = 15,779 tokens/s per accelerator",))
    assert not citation.verified
    assert citation.figures[0].endswith(f"({DERIVED})")
    assert "Result not verified by MLCommons Association." in citation.text


def test_a_ratio_has_its_footnote(kb: KnowledgeBase) -> None:
    """Basis, both entries, both counts, not verified."""
    pair = find_pairs(
        kb,
        round="v6.1",
        benchmark="llama2-70b",
        scenario="offline",
        submitter="CoreWeave",
        kind="node-rack",
        grade="A",
    )[0]
    note = derived_footnote(pair)
    assert "is not the primary metric of MLPerf® Inference v6.1" in note
    assert pair.small.record in note
    assert pair.large.record in note
    assert "Result not verified by MLCommons Association." in note


def test_notices_are_the_sources_own(kb: KnowledgeBase) -> None:
    """The trademark legend once, whatever the number of entries."""
    (notice,) = notices(kb, [RACK, "evidence/mlperf-v6.0/amd/8xmi355x-2xepyc-9575f", "evidence/none"])
    assert notice.startswith(
        "The MLPerf name and logo are registered and unregistered trademarks of MLCommons Association"
    )
    assert "www.mlcommons.org" in notice


def test_unknown_evidence_cannot_be_cited(kb: KnowledgeBase) -> None:
    """One line."""
    with pytest.raises(UnknownIdError, match="no evidence 'evidence/none'"):
        cite(kb, "evidence/none")
