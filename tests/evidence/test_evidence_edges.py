"""Where evidence turns: sizes at the border of a unit, the nearest size, names that clash, figures inside longer ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rows import list_row, object_row, write_list

from advisor.evidence.confounders import confounders
from advisor.evidence.figures import figures
from advisor.evidence.mlperf import import_results
from advisor.evidence.noise import noise_band
from advisor.evidence.prose_figures import occurrences
from advisor.evidence.rates import closest_rate
from advisor.knowledge import KnowledgeBase
from advisor.records import Evidence

NODE = "evidence/mlperf-v6.1/coreweave/b300-sxm-270gbx8-trt"


def imported(folder: Path, *rows: dict[str, Any]) -> list[Evidence]:
    return import_results(write_list(folder, *rows)).entries


@pytest.mark.parametrize(
    ("count", "unit"), [(4, "slice"), (7, "slice"), (8, "node")],
)  # fmt: skip
def test_a_part_of_a_node_is_a_slice_and_eight_are_a_node(count: int, unit: str, tmp_path: Path) -> None:
    """HGX and OAM boards carry eight accelerators; fewer are a part of one."""
    entry = imported(
        tmp_path, list_row(**{"a#": count, "Total Accelerators": count, "Platform": f"{count}xMI355X"})
    )[0]
    assert (entry.scale.unit, entry.scale.accelerators) == (unit, count)


def test_several_nodes_are_no_node(tmp_path: Path) -> None:
    """Four nodes of eight are 32 accelerators without a common fabric of their own."""
    entry = imported(
        tmp_path, list_row(**{"Nodes": 4, "a#": 8, "Total Accelerators": 32, "Platform": "32xMI355X"})
    )[0]
    assert (entry.scale.unit, entry.scale.accelerators) == ("multi-node", 32)


@pytest.mark.parametrize(
    ("count", "unit", "racks"),
    [(8, "slice", 0), (71, "slice", 0), (72, "rack", 1), (144, "multi-rack", 2), (288, "multi-rack", 4)],
)
def test_seventy_two_are_a_rack_and_more_are_several(
    count: int, unit: str, racks: int, tmp_path: Path
) -> None:
    """An NVL72 domain ends at 72."""
    row = object_row(
        number_of_nodes=1,
        accelerators_per_node=count,
        total_accelerators=count,
        Platform=f"GB300-NVL72_aarch64x{count}",
    )
    entry = imported(tmp_path, row)[0]
    assert (entry.scale.unit, entry.scale.racks) == (unit, racks)


def test_systems_whose_names_fall_together_are_counted(tmp_path: Path) -> None:
    """Two platforms that differ only by characters that ids do not have: the second gets a 2."""
    entries = imported(tmp_path, list_row(Platform="8xMI355X A"), list_row(Platform="8xMI355X (A)"))
    first, second = sorted(entry.id for entry in entries)
    assert second == f"{first}-2"


@pytest.mark.parametrize(
    ("wanted", "chosen"), [(8, 8), (10, 8), (12, 16), (20, 16), (32, 32), (500, 64), (23, 32), (22, 16)]
)
def test_the_nearest_size_is_nearest_by_ratio(wanted: int, chosen: int, kb: KnowledgeBase) -> None:
    """Between 8, 16, 32 and 64 accelerators the one that differs by the smallest factor stands in, not the smallest."""
    entry = kb.entries[NODE]
    assert isinstance(entry, Evidence)
    result = next(r for r in entry.results if r.model == "models/llama-2-70b" and r.scenario == "offline")
    clones = [
        replace(entry, id=f"{entry.id}-{size}", results=(replace(result, value=1000.0 * size + size),),
                scale=replace(entry.scale, accelerators=size, unit="multi-node", nodes=size // 8))
        for size in (8, 16, 32, 64)
    ]  # fmt: skip
    others = [e for e in kb.entries.values() if not isinstance(e, Evidence)]
    found = closest_rate(KnowledgeBase([*others, *clones]), model="models/llama-2-70b", precision=str(result.precision), scenario="offline",
                         accelerator="accelerators/b300", unit="multi-node", accelerators=wanted)  # fmt: skip
    assert found is not None
    assert found.evidence == (f"{NODE}-{chosen}",)


def test_one_submission_has_no_spread(kb: KnowledgeBase) -> None:
    """Noise needs two: of one submission it is unknown, of none it says so, of equal ones it is one."""
    entry = kb.entries[NODE]
    assert isinstance(entry, Evidence)
    others = [e for e in kb.entries.values() if not isinstance(e, Evidence)]

    def band(*entries: Evidence) -> Any:
        return noise_band(
            KnowledgeBase([*others, *entries]), "accelerators/b300", "llama2-70b", "offline", "v6.1"
        )

    twin = replace(entry, id=f"{entry.id}-twin", submitter="Other")
    assert (band().spread, band().submissions) == (None, 0)
    assert (band(entry).spread, band(entry).submissions) == (None, 1)
    assert (band(entry, twin).spread, band(entry, twin).submissions) == (1.0, 2)


def test_figures_come_from_closed_runs_on_one_known_silicon(kb: KnowledgeBase) -> None:
    """Open runs, mixed silicon and unknown accelerators give no figure; a single accelerator does."""
    entry = kb.entries[NODE]
    assert isinstance(entry, Evidence)
    others = [e for e in kb.entries.values() if not isinstance(e, Evidence)]

    def count(changed: Evidence) -> int:
        return len(figures(KnowledgeBase([*others, changed])))

    whole = len(entry.results)
    assert count(entry) == whole
    assert count(replace(entry, scale=replace(entry.scale, accelerators=1))) == whole
    assert count(replace(entry, scale=replace(entry.scale, accelerators=0))) == 0
    assert count(replace(entry, division="open")) == 0
    assert count(replace(entry, accelerator=None)) == 0
    assert count(replace(entry, scale=replace(entry.scale, mixed_silicon=True))) == 0


@pytest.mark.parametrize(
    ("text", "prose", "places"),
    [
        ("1.09", "1.09 and 11.09, 1.095 and 1.09.", [0, 26]), ("8", "8 of 18, 8.5 and 28; 8", [0, 21]), ("", "8", []),
        ("7,042", "7,042 against 17,042 or 7,0421", [0]), ("x8", "x8 and xx8", [0, 8]), ("42", "3,42 and 42,5 but 42, too", [18]),
    ],
)  # fmt: skip
def test_a_figure_is_found_only_as_a_whole(text: str, prose: str, places: list[int]) -> None:
    """`1.09` is not in `11.09` or `1.095`; punctuation after it is no digit."""
    assert [start for start, _ in occurrences(text, prose)] == places


def test_slack_that_is_known_on_one_side_only_is_said(kb: KnowledgeBase) -> None:
    """A run without a log may have been far from its limit: that stands beside the ratio."""
    server = [
        f
        for f in figures(kb)
        if f.result.scenario == "server" and f.result.latency and f.result.latency.tpot_p99_ms
    ]
    known = server[0]
    unknown = replace(known, result=replace(known.result, latency=None))
    assert any("known on one side only" in text for text in confounders(known, unknown))
    assert any("not known, no run log" in text for text in confounders(unknown, unknown))
    assert not any("known on one side" in text or "no run log" in text for text in confounders(known, known))
