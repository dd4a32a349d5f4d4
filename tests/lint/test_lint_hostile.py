"""Entries spoilt at random: whatever an overlay holds, every check ends with a finding or none, and never with a crash."""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace

import pytest
from lint_workbench import CLEAN_KB, Workbench

from advisor.knowledge.files import EntryFile, read_folder
from advisor.knowledge.locate import kb_folder
from advisor.knowledge.yaml_source import parse_document
from advisor.lint.fix import fixable_codes, mend
from advisor.lint.options import Options
from advisor.lint.runner import lint_files
from advisor.lint.targets import Target

EXTREMES = [
    "0",
    "-1",
    "1e308",
    "1e-308",
    "999999999999",
    "-0.0",
    '""',
    "x",
    "true",
    "[]",
    "{}",
    "3",
    '"1e400"',
]
_NUMBER = re.compile(r"-?[0-9.e+]+")


def _spoilt(file: EntryFile, chance: random.Random) -> EntryFile:
    """The file with one of its values, preferably a number, replaced by an extreme one."""
    places = {
        path: place.value
        for path, place in parse_document(file.text, file.path).places.items()
        if path and place.style in ("plain", "quoted") and path != ("id",)
    }
    numbers = [path for path, span in places.items() if _NUMBER.fullmatch(file.text[span.start : span.end])]
    span = places[chance.choice(numbers if numbers and chance.random() < 0.8 else list(places))]
    return replace(file, text=file.text[: span.start] + chance.choice(EXTREMES) + file.text[span.end :])


@pytest.mark.parametrize("seed", range(4))
def test_no_value_stops_a_check(seed: int) -> None:
    """Half of the shipped entries, each with one value replaced: all checks run, and none fails (KB029)."""
    chance = random.Random(seed)
    files = [_spoilt(file, chance) if chance.random() < 0.5 else file for file in read_folder(kb_folder())]
    findings = lint_files(files, Target(root=kb_folder()), Options())
    assert [finding.one_line() for finding in findings if finding.code == "KB029"] == []
    assert len(findings) > 50
    assert all(finding.line >= 1 and finding.column >= 1 for finding in findings)


BODY = (CLEAN_KB / "gotchas" / "example.yaml").read_text("utf-8")

FLOODS = {
    "ignore comments": BODY + "# rackfit: ignore[KB601] x\n" * 40_000,
    "unknown ignore comments": BODY + "# rackfit: ignore[zzz] x\n" * 40_000,
    "links": BODY.replace("[concepts/example]", f"[{', '.join(f'concepts/c{i}' for i in range(30_000))}]"),
    "repeats": BODY.replace("[concepts/example]", f"[{', '.join(['concepts/example'] * 30_000)}]"),
    "spaces": BODY.replace("severity: warning", "severity: warning \nnotes: '" + " " * 1_000_000 + "x'"),
    "figures": BODY.replace("symptom: The", "symptom: " + "5 tok/s " * 2_000 + "The"),
    "claims": BODY + "claims:\n" + '  - {text: "rack", expression: "1"}\n' * 5_000,
    "conditions": BODY.replace(
        "{fact: model_is_moe, is: false}",
        "{any: [" + ", ".join(f"{{fact: tpot_ms, above: {i}}}" for i in range(5_000)) + "]}",
    ),
    "marks": BODY + "# TODO write\n" * 150_000,
    "comments inside a text": BODY
    + "".join(f"k{i}: 1\n" for i in range(20_000))
    + "notes: |\n"
    + "  # rackfit: ignore[KB601] x\n" * 40_000,
    "digits": BODY.replace("symptom: The", "symptom: " + "9" * 100_000 + " tok/s The")
    + 'claims:\n  - {text: "'
    + "9" * 190
    + '", expression: "1"}\n',
    "aliases": BODY + f"aliases: [{', '.join(f'a{i}' for i in range(30_000))}]\n",
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_in_one_entry_ends_soon(bench: Workbench, name: str) -> None:
    """Tens of thousands of anything in one entry are checked, and mended, in seconds; at most a hundred findings are shown."""
    path = bench.write("gotchas/example", FLOODS[name])
    start = time.process_time()
    findings = [finding for finding in bench.lint() if finding.path == str(path)]
    mend(FLOODS[name], "gotchas/example", fixable_codes(unsafe=True))
    assert 0 < len(findings) <= 100
    assert "KB029" not in [finding.code for finding in findings]
    assert time.process_time() - start < 60  # a hang, not a speed: each takes a few seconds at most
