"""Damage and oddities that the reader of entries meets: short reads, files of other kinds, swapped caches, shapes that are no mapping."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.knowledge.cache import load_cached, save_cached
from advisor.knowledge.entry import check_file
from advisor.knowledge.files import EntryFile, read_entry_file, read_folder
from advisor.knowledge.limits import MAX_FINDINGS_PER_FILE
from advisor.knowledge.yaml_source import Document, parse_document
from advisor.records import Concept

RULE = """\
id: rules/test
title: A rule
stage: feasibility
precedence: 100
when: {when}
then: {then}
reason: Because a test needs it.
"""


def said(*, when: str = "{fact: spare, above: 0}", then: str = "[{require: none}]") -> list[str]:
    """What the schema says about a rule with this condition and these effects."""
    found = check_file(EntryFile(id="rules/test", path="x.yaml", text=RULE.format(when=when, then=then)))
    return [f"{finding.code} {finding.message}; {finding.fix}" for finding in found.findings]


def test_a_rule_of_these_parts_is_valid() -> None:
    """What the other tests spoil is good as it stands."""
    assert said() == []


@pytest.mark.parametrize(
    ("parts", "field", "kind"),
    [
        ({"when": "always"}, "`when`", "the text 'always'"),
        ({"when": "[spare]"}, "`when`", "a list"),
        ({"when": "{none: [always]}"}, "`when.none[0]`", "the text 'always'"),
        ({"then": "[stop]"}, "`then[0]`", "the text 'stop'"),
    ],
)
def test_what_must_be_a_mapping_is_said_once(parts: dict[str, str], field: str, kind: str) -> None:
    """One message on the wrong kind; none on shapes that a mapping would have to fit."""
    (message,) = said(**parts)
    assert message.startswith(f"KB103 {field} must be a mapping of fields, not {kind}; ")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"when": "{fact: spare}"}, "KB108 `when`: `fact` has nothing beside it; add one of is, in, above"),
        ({"when": "{all: [{fact: spare, above: 0}], text: x}"}, "KB101 unknown field 'text' in `when`; fields here: all, any"),
        ({"when": "{fact: spare, above: 0, below: 9}"}, "KB108 `when`: `fact` takes one of above, below; write a part for each"),
        ({"when": "{}"}, "KB108 `when` needs exactly one of all, any, none, fact; it has none of them; write one of"),
        ({"then": "[{require: none, forbid: node}]"}, "KB108 `then[0]` needs exactly one of favour, require"),
        ({"when": "{fact: spare, is: [1]}"}, "KB108 `when.is` fits none of the allowed shapes; closest: [1] is not of types"),
    ],
)  # fmt: skip
def test_a_shape_that_fits_nothing_says_what_would(parts: dict[str, str], message: str) -> None:
    """The field, what it has, and what may stand there."""
    assert any(found.startswith(message) for found in said(**parts)), said(**parts)


def test_a_version_without_a_bound_needs_at_least_one() -> None:
    """Both bounds may stand in an engine's version, so `exactly one` would be wrong."""
    text = "id: engines/x\ntitle: X\nversions:\n  - terms: {runtime_gib: {value: 1}}\n"
    found = check_file(EntryFile(id="engines/x", path="x.yaml", text=text)).findings
    assert any(
        "`versions[0]` needs at least one of since, before; it has none of them" in f.message for f in found
    )


@pytest.mark.parametrize(
    ("text", "codes", "data"),
    [
        ("&k key: 1\nother: *k\n", [], {"key": 1, "other": "key"}),
        ("- a: 1\n  a: 2\n", ["KB008"], None),
        ("*nothing\n", ["KB009"], None),
        ("!!str key: 1\n", ["KB005"], {"key": 1}),
    ],
    ids=["a key may be named and used again as a value", "a list with a fault: the fault is said", "an alias alone", "a tag on a key"],
)  # fmt: skip
def test_yaml_at_its_edges(text: str, codes: list[str], data: dict[str, Any] | None) -> None:
    """Anchors on keys, and files that are faulty before they are of the wrong shape."""
    document = parse_document(text, "x.yaml")
    assert [finding.code for finding in document.findings] == codes
    assert document.data == data


def test_a_file_of_faults_is_given_up_at_the_limit() -> None:
    """A thousand keys twice each: as many messages as anyone reads, then silence."""
    document = parse_document("".join(f"k{n}: 1\nk{n}: 2\n" for n in range(1000)), "x.yaml")
    assert len(document.findings) == MAX_FINDINGS_PER_FILE
    assert document.data is None


def test_places_of_a_file_that_holds_nothing() -> None:
    """A fault of an empty file stands at its first character; words of nothing stand nowhere."""
    span = Document(path="x.yaml", text="").span(("title",))
    assert (span.line, span.column, span.start, span.end) == (1, 1, 0, 0)
    written = Document(path="x.yaml", text="title: Some words\n")
    assert written.narrow(("summary",), "words") is None
    assert written.narrow(("title",), "  ") is None
    assert written.narrow(("title",), "other words") is None
    found = written.narrow(("title",), "words")
    assert found is not None
    assert written.text[found.start : found.end] == "words"


def test_a_read_in_pieces_gives_the_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Network file systems may return fewer bytes than asked for."""
    path = tmp_path / "entry.yaml"
    path.write_text("id: concepts/a\ntitle: " + "long " * 2000, encoding="utf-8")
    whole: Callable[[int, int], bytes] = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, size: whole(descriptor, min(size, 700)))
    file = read_entry_file(str(path), "concepts/a")
    assert file.finding is None
    assert file.text == path.read_text("utf-8")


def test_notes_and_pictures_beside_entries_are_left_alone(tmp_path: Path) -> None:
    """Only files that look like entries are spoken of."""
    folder = tmp_path / "concepts"
    folder.mkdir()
    for name in ("README.md", "sketch.svg", "entry.yaml", "other.yml"):
        (folder / name).write_text("x: 1\n", encoding="utf-8")
    read = {file.id: file.finding.code if file.finding else "" for file in read_folder(tmp_path)}
    assert read == {"concepts/entry": "", "concepts/other.yml": "KB022"}


def test_a_cache_under_the_name_of_another_state_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file copied or renamed by hand says inside what it was made from."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    entry = Concept(id="concepts/a", title="A", summary="Of one state.")
    save_cached("one", [entry])
    assert load_cached("one") == [entry]
    (stored,) = tmp_path.rglob("kb-one.json")
    stored.rename(stored.with_name("kb-two.json"))
    assert load_cached("two") is None
