"""--fix: mends what it says, touches nothing else, comes to rest, and never leaves half a file."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lint_workbench import Workbench

from advisor.cli.main import main
from advisor.knowledge.locate import kb_folder
from advisor.knowledge.yaml_source import parse_document
from advisor.lint.check import all_checks
from advisor.lint.checks.style import field_order
from advisor.lint.edits import reordered_fields, top_fields
from advisor.lint.fix import mend

MESSY = """\
# yaml-language-server: $schema=../../schemas/gotcha.schema.json
# About the whole entry.
title: A rack is bought for a model that fits one node   # the title

# Why it is here.
id: gotchas/another-name
aliases: [rack too large, 'Rack Too Large', one node is enough, ]
concepts: [concepts/example]
symptom: >-
  The rack answers no faster than a node did,\x20\x20

  and half of its accelerators idle.
root_cause: The model fits eight accelerators, so a wider domain removes no bottleneck.
workaround: Divide the quoted rate by the number of accelerators, and prefer nodes where the model fits one.
applies_when: {fact: model_is_moe, is: false}
# Two sources.
sources:
  # the second one
  - sources/example
  - sources/another   # the first one
  - sources/example
since: 012
reviewed: "2026-11-01"
severity: warning


"""

CLEAN = """\
# yaml-language-server: $schema=../../schemas/gotcha.schema.json
# Why it is here.
id: gotchas/example
# About the whole entry.
title: A rack is bought for a model that fits one node   # the title

aliases: [rack too large, one node is enough, ]
concepts: [concepts/example]
symptom: >-
  The rack answers no faster than a node did,

  and half of its accelerators idle.
root_cause: The model fits eight accelerators, so a wider domain removes no bottleneck.
workaround: Divide the quoted rate by the number of accelerators, and prefer nodes where the model fits one.
severity: warning
applies_when: {fact: model_is_moe, is: false}
# Two sources.
sources:
  - sources/another   # the first one
  # the second one
  - sources/example
since: "012"
reviewed: "2026-11-01"
"""


def _fix(root: Path, *flags: str) -> int:
    return main(["lint", "--no-config", "--no-cache", str(root), "--fix", *flags])


def test_a_messy_entry_becomes_the_one_its_author_meant(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Order, repeats, spacing, quotes and id are mended; comments travel with what they are about; the rest stays byte for byte."""
    path = bench.write("gotchas/example", MESSY)
    assert _fix(bench.root) == 0, capsys.readouterr().out
    assert path.read_text() == CLEAN


def test_fixing_twice_changes_nothing_more(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """The result of a fix has nothing left to fix."""
    path = bench.write("gotchas/example", MESSY)
    _fix(bench.root)
    once = path.read_bytes()
    _fix(bench.root)
    capsys.readouterr()
    assert path.read_bytes() == once


def test_a_diff_shows_and_does_not_write(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """--diff prints what --fix would do, as a patch that applies, with status 1; the file stays."""
    path = bench.write("gotchas/example", MESSY)
    assert main(["lint", "--no-config", "--no-cache", str(bench.root), "--diff"]) == 1
    patch = capsys.readouterr().out
    assert path.read_text() == MESSY
    assert "-id: gotchas/another-name\n" in patch
    assert "+id: gotchas/example\n" in patch
    subprocess.run(
        ["git", "apply", "--unsafe-paths", "-p0", "-"],
        input=patch,
        text=True,
        check=True,
        cwd=bench.root.parent,
    )
    assert path.read_text() == CLEAN


def test_unsafe_fixes_are_only_made_on_request(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """A product's name in prose is respelt with --unsafe-fixes alone; ids and literal text keep theirs."""
    path = bench.change(
        "gotchas/example", "notes: >-\n  The Nvidia rack ran vllm, `vllm serve` as models/vllm.\n"
    )
    assert _fix(bench.root, "--ignore", "KB030") == 1
    assert "Nvidia" in path.read_text()
    assert _fix(bench.root, "--unsafe-fixes", "--ignore", "KB030") == 0
    capsys.readouterr()
    assert "The NVIDIA rack ran vLLM, `vllm serve` as models/vllm." in path.read_text()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"\xef\xbb\xbfid: gotchas/example\n", b"id: gotchas/example\n"),
        (b"id: gotchas/example\r\ntitle: Abc\r\n", b"id: gotchas/example\ntitle: Abc\n"),
        (b"id: gotchas/example\nclaims:\n\t- text: a\n", b"id: gotchas/example\nclaims:\n  - text: a\n"),
        (b"title: Abc\n", b"id: gotchas/example\ntitle: Abc\n"),
    ],
)
def test_bytes_that_keep_a_file_from_being_read_are_mended(
    bench: Workbench, capsys: pytest.CaptureFixture[str], raw: bytes, expected: bytes
) -> None:
    """A byte-order mark, carriage returns, tabs and a missing id go; the schema line is added."""
    path = bench.path("gotchas/example")
    path.write_bytes(raw)
    _fix(bench.root)
    capsys.readouterr()
    assert path.read_bytes().partition(b"schema.json\n")[2] == expected


def test_long_prose_on_one_line_is_folded(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """The text becomes a folded block of short lines and reads the same; text with a comment behind it stays."""
    long = "It answers slowly, and " + "then it waits and " * 12 + "gives up: nothing helps."
    path = bench.change("gotchas/example", f'symptom: "{long}"\nnotes: "{long}" # as they told us\n')
    _fix(bench.root)
    capsys.readouterr()
    document = parse_document(path.read_text(), "")
    assert document.data is not None
    assert (document.data["symptom"], document.data["notes"]) == (long, long)
    assert document.places[("symptom",)].style == "block"
    assert document.places[("notes",)].style == "quoted"


def test_what_cannot_be_mended_is_left_as_it_is(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not YAML, or holds unknown fields, keeps its bytes where a fix would have to guess."""
    broken = bench.write("gotchas/broken", "id: [\n  trailing   \n")
    unknown = bench.write(
        "gotchas/unknown",
        "# yaml-language-server: $schema=../../schemas/gotcha.schema.json\nxyz: 1\nid: gotchas/unknown\n",
    )
    _fix(bench.root)
    capsys.readouterr()
    assert broken.read_text() == "id: [\n  trailing   \n"
    assert unknown.read_text().endswith("xyz: 1\nid: gotchas/unknown\n")


SHIPPED = sorted(
    path
    for path in kb_folder().rglob("*.yaml")
    if path.relative_to(kb_folder()).parts[0] not in ("evidence", "calibration")
)[::9]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shuffled_shipped_entries_come_back(path: Path) -> None:
    """Fields put into any order return to the shipped text, comments and all, and hold the same data throughout."""
    entry_id = path.relative_to(kb_folder()).with_suffix("").as_posix()
    text = path.read_text("utf-8")
    codes = [code for code, check in all_checks().items() if check.fixer and not check.unsafe]
    settled = mend(text, entry_id, codes)
    document = parse_document(settled, "")
    names = top_fields(document)
    assert names == [name for name in field_order(entry_id.partition("/")[0]) if name in names]
    random.Random(5).shuffle(names)
    shuffled = reordered_fields(document, names)
    assert parse_document(shuffled, "").data == document.data
    assert mend(shuffled, entry_id, codes) == settled


def test_a_file_that_changed_meanwhile_is_left_alone(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An editor saved between the look and the write: its text wins."""
    from advisor.lint import fix

    path = bench.write("gotchas/example", MESSY)
    plan = fix.plan_changes

    def slow(*arguments: object, **flags: object) -> list[fix.Change]:
        changes = list(plan(*arguments, **flags))  # type: ignore[arg-type]
        path.write_text("id: gotchas/example\n")
        return changes

    monkeypatch.setattr("advisor.cli.lint.plan_changes", slow)
    _fix(bench.root)
    capsys.readouterr()
    assert path.read_text() == "id: gotchas/example\n"


def test_a_killed_fix_leaves_every_file_old_or_new(bench: Workbench) -> None:
    """Killed at a random moment, many times: each entry is whole, as it was or as it should be, and no other file counts as an entry."""
    chance = random.Random(3)
    names = [f"gotchas/example-{number}" for number in range(12)]
    texts = {name: re.sub("^id: .*$", f"id: {name}", MESSY, flags=re.MULTILINE) for name in names}
    whole: dict[str, set[bytes]] = {}
    for name in names:
        safe = [code for code, check in all_checks().items() if check.fixer and not check.unsafe]
        whole[name] = {texts[name].encode(), mend(texts[name], name, safe).encode()}
    command = [
        sys.executable,
        "-m",
        "advisor.cli.main",
        "lint",
        str(bench.root),
        "--fix",
        "--no-config",
        "--no-cache",
    ]
    for _ in range(8):
        for name in names:
            bench.write(name, texts[name])
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.25 + chance.random() * 0.35)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        for name in names:
            assert bench.path(name).read_bytes() in whole[name]
        assert {path.name for path in (bench.root / "gotchas").glob("*.yaml")} == {
            "example.yaml", *(f"{name.partition('/')[2]}.yaml" for name in names),
        }  # fmt: skip
