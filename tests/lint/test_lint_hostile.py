"""Entries spoilt at random: whatever an overlay holds, every check ends with a finding or none, and never with a crash."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from advisor.knowledge.files import EntryFile, read_folder
from advisor.knowledge.locate import kb_folder
from advisor.knowledge.yaml_source import parse_document
from advisor.lint.options import Options
from advisor.lint.runner import Target, lint_files

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
