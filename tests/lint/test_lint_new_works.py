"""What `rackfit new` writes, filled in by hand, lints clean and does its work in the product: each of the ten kinds."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Rackfit = Callable[..., Any]

FILLED: dict[str, tuple[str, dict[str, str]]] = {
    "source": ("acme-x100-data-sheet", {
        "publisher": "Acme", "url": "https://example.org/x100.pdf", "licence": "proprietary", "citation": "Acme, X100 data sheet, page 2",
    }),
    "accelerator": ("x100", {"title": "Acme X100", "aliases": "[X100 OAM]", "vendor": "acme", "family": "x100", "sources": "[sources/acme-x100-data-sheet]"}),
    "system": ("acme-box", {
        "title": "Acme box, 8 X100", "aliases": "[Acme box]", "kind_of_unit": "node", "accelerator": "accelerators/x100",
        "power_kw": "{value: 10, source: sources/acme-x100-data-sheet, trust: vendor}", "prices": "[]",
    }),
    "model": ("ourlm-8b", {"title": "OurLM 8B", "aliases": "[ourlm]", "family": "OurLM", "developer": "ours", "hf_id": "ours/ourlm-8b"}),
    "engine": ("fastserve", {"title": "FastServe", "fraction_of": "total", "flag": "--memory"}),
    "evidence": ("ours/acme-box", {
        "title": "OurLM on the Acme box", "source": "sources/acme-x100-data-sheet", "submitter": "ours", "system_name": "Acme box",
        "accelerator": "accelerators/x100", "scale": "{accelerators: 8, nodes: 1, unit: node}", "software": "FastServe 1.0",
        "results": "[{benchmark: nightly, model: models/ourlm-8b, scenario: offline, metric: tokens_per_s, value: 81234, record: row 7, precision: fp8}]",
    }),
    "concept": ("floor-rating", {
        "title": "Floor rating", "aliases": "[tile rating]", "summary": "Weight that a floor tile carries before it bends.",
        "body": "A full rack weighs more than a tonne; ask for the rating of the tiles and of the way from the door.",
        "broader": "[concepts/capacity-planning]", "related": "[concepts/nvlink-nvl72]",
    }),
    "fact": ("floor-load", {
        "title": "Floor load", "type": "number", "unit": "kg", "minimum": "1", "maximum": "10000",
        "question": "How many kg may stand on one floor tile?", "why": "A full rack weighs more than a tonne.",
        "help": "The building manager knows; 500 to 2,000 kg is usual.", "suggestions": "[500, 2000]", "words": "[floor load, tile load]",
    }),
    "rule": ("floor-too-weak", {
        "title": "Floor too weak for a rack", "scope": "candidate", "stage": "site",
        "when": "{all: [{fact: floor_load, below: 1000}, {fact: candidate_kind, is: rack}]}", "then": "[{forbid: candidate}]",
        "reason": "The floor carries {floor_load} and a full rack weighs more than 1,000 kg.", "because": "[concepts/floor-rating]",
    }),
    "gotcha": ("floor-bows", {
        "title": "A raised floor bows under a rack", "concepts": "[concepts/floor-rating]",
        "symptom": "Tiles bow under the front feet of a rack, and the doors of its neighbour no longer close.",
        "root_cause": "Tiles are rated for a point load, and a full rack stands on four feet.",
        "workaround": "Lay steel plates below the feet, or place the rack on the slab. Measure the bow of the tiles after a day.",
        "notes": "Seen once, on tiles of an older type.", "applies_when": "{fact: floor_load, below: 1000}", "claims": "[]", "sources": "[]",
    }),
}  # fmt: skip
"""Kind -> name of the entry and what its author fills in."""


@pytest.fixture
def ours(rackfit: Rackfit, tmp_path: Path) -> Path:
    """An overlay of one entry of each kind, as `rackfit new` writes it and its author fills it in: marks are deleted."""
    folder = tmp_path / "ours"
    for kind, (slug, fields) in FILLED.items():
        flags = [word for name, value in fields.items() for word in ("--set", f"{name}={value}")]
        ran = rackfit("new", kind, slug, "--kb", folder, "--no-input", *flags)
        assert ran.status == 0, ran.err
        path = Path(ran.out.strip())
        text = re.sub(r"^ *# TODO.*\n", "", path.read_text(), flags=re.MULTILINE)
        path.write_text(re.sub(r" *# TODO.*$", "", text, flags=re.MULTILINE))
        assert "TODO" not in path.read_text(), path
    return folder


def _chat(rackfit: Rackfit, monkeypatch: pytest.MonkeyPatch, folder: Path, *lines: str) -> str:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    return " ".join(rackfit("chat", "--plain", "--kb", folder).out.split())


def test_entries_of_all_kinds_lint_clean_once_they_are_filled_in(rackfit: Rackfit, ours: Path) -> None:
    """The whole folder, and each file by itself."""
    ran = rackfit("lint", "--no-config", ours)
    assert (ran.status, ran.out) == (0, "")
    for path in ours.rglob("*.yaml"):
        assert rackfit("lint", "--no-config", path).status == 0, path


def test_entries_of_all_kinds_are_shown_and_found(rackfit: Rackfit, ours: Path) -> None:
    """`show` takes the id, `search` finds the title."""
    for path in ours.rglob("*.yaml"):
        entry_id = path.relative_to(ours).with_suffix("").as_posix()
        shown = rackfit("show", entry_id, "--kb", ours)
        assert (shown.status, entry_id in shown.out) == (0, True), entry_id
        title = re.search(r"^title: (.*)$", path.read_text(), re.MULTILINE)
        assert title is not None
        hits = json.loads(rackfit("search", title.group(1), "--kb", ours, "--format", "json").out)
        assert entry_id in [hit["id"] for hit in hits[:3]], entry_id


def test_a_new_fact_is_asked_understood_and_decides(
    rackfit: Rackfit, ours: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By flag, by its words, as an answer to its question; the rule excludes the rack and the gotcha is raised."""
    rack_case = (
        "--model",
        "deepseek-r1",
        "--precision",
        "fp4",
        "--tpot-ms",
        "15",
        "--system",
        "gb300-nvl72",
        "--kb",
        str(ours),
        "--no-flips",
    )
    free = json.loads(rackfit("ask", *rack_case, "--format", "json").out)
    assert free["verdict"] == "rack"
    for said in (["--floor-load", "800"], ["floor load of 800 kg"], ["800 kg tile load"]):
        answer = json.loads(rackfit("ask", *said, *rack_case, "--format", "json").out)
        assert answer["verdict"] == "none", said
        assert "gotchas/floor-bows" in [gotcha["id"] for gotcha in answer["gotchas"]]
    assert "The floor carries 800 kg" in rackfit("ask", "--floor-load", "800", *rack_case).out
    asked = "deepseek r1 in fp4, 8k context, interactive, 15 ms per token, 5000 users, buy, liquid, 200 kW, ttft 1000 ms, nvidia"
    talk = _chat(rackfit, monkeypatch, ours, asked, *["skip"] * 8)
    assert "How many kg may stand on one floor tile?" in talk


def test_a_new_model_on_a_new_machine_is_sized(
    rackfit: Rackfit, ours: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by what people call them, in words and by flag, with the new engine where it can be named."""
    answer = json.loads(
        rackfit(
            "ask",
            "ourlm in fp8 on X100, 8k context, 200 users",
            "--kb",
            ours,
            "--no-flips",
            "--format",
            "json",
        ).out
    )
    assert answer["requirement"]["model"]["value"] == "models/ourlm-8b"
    assert answer["best_node"] == "systems/acme-box"
    priced = rackfit(
        "ask", "--model", "ourlm", "--system", "acme-box", "--price", "acme-box=3", "--kb", ours, "--no-flips"
    )
    assert priced.status == 0
    sized = rackfit(
        "estimate",
        "--model",
        "ourlm-8b",
        "--accelerator",
        "x100",
        "--engine",
        "fastserve",
        "--context",
        "8192",
        "--kb",
        ours,
    )
    assert "FastServe, --memory 0.9" in sized.out
    talk = _chat(rackfit, monkeypatch, ours, "define tile rating", "show X100 OAM")
    assert "Weight that a floor tile carries before it bends." in talk
    assert "79.6 GiB visible memory at 3.35 TB/s" in talk
