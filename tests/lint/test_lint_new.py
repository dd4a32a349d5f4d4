"""`rackfit new`: an entry that is right in everything but what only its author can write."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from lint_workbench import Workbench

from advisor.cli.main import main
from advisor.knowledge.yaml_source import parse_document
from advisor.lint.scaffold import kind_folder
from advisor.records import SCHEMA_NAMES

KINDS = [name for name in SCHEMA_NAMES.values() if name != "calibration"]


def _new(bench: Workbench, kind: str, slug: str, *flags: str) -> Path:
    assert main(["new", kind, slug, "--kb", str(bench.root), "--no-input", *flags]) == 0
    return bench.path(f"{kind_folder(kind)}/{slug}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_entry_lints_clean_but_for_its_todos(
    bench: Workbench, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """Of every kind: each finding is a TODO at the place where something is to be written."""
    path = _new(bench, kind, "brand-new-thing")
    capsys.readouterr()
    findings = bench.lint()
    assert {finding.code for finding in findings} == {"KB605"}
    lines = path.read_text().splitlines()
    assert all(finding.path == str(path) and "TODO" in lines[finding.line - 1] for finding in findings)


def test_two_new_entries_are_not_called_duplicates(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unfinished entries look alike; that is said only once they are written."""
    _new(bench, "gotcha", "first-surprise")
    _new(bench, "gotcha", "second-surprise")
    capsys.readouterr()
    assert bench.codes() == {"KB605"}


def test_fields_can_be_filled_in_from_flags(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """A finished entry can come from the command line alone, and then lints clean."""
    path = _new(
        bench, "gotcha", "rack-idles", "--title", "A rack: half of it idles",
        "--set", "concepts=[concepts/example, concepts/another]",
        "--set", "symptom=Half of the accelerators have nothing to do while the other half answers every request that comes.",
        "--set", "root_cause=The router sends by name, and the names of the replicas sort into one half.",
        "--set", "workaround=Set the router to least outstanding requests, and check that the shares even out within a minute.",
        "--set", "notes=Seen with one router only.", "--set", "severity=info",
        "--set", "applies_when={fact: model_is_moe, is: true}", "--set", "claims=[]", "--set", "sources=[sources/example]",
    )  # fmt: skip
    capsys.readouterr()
    assert bench.codes() == set()
    data = parse_document(path.read_text(), "").data
    assert data is not None
    assert data["title"] == "A rack: half of it idles"
    assert data["concepts"] == ["concepts/example", "concepts/another"]


@pytest.mark.parametrize(
    "value",
    [
        "[{text: 16433, expression: rate / gpus, inputs: {rate: evidence/example/box#llama2-70b/offline, gpus: evidence/example/box#@accelerators}}]",
        "{any: [{fact: model_is_moe, is: true}, {fact: tpot_ms, below: 20}, {fact: tpot_ms, above: 200}, {fact: model_is_moe, known: false}]}",
    ],
)  # fmt: skip
def test_a_long_list_or_mapping_stays_one(
    bench: Workbench, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    """Only prose is folded: a condition or a claim from the command line is data, however long, with its # in it."""
    field = "claims" if value.startswith("[") else "applies_when"
    path = _new(bench, "gotcha", "long-value", "--set", f"{field}={value}")
    data = parse_document(path.read_text(), "").data
    assert data is not None
    assert isinstance(data[field], list if field == "claims" else dict)


def test_a_terminal_is_asked_for_what_only_its_user_knows(
    bench: Workbench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers are written, empty ones stay TODO."""
    answers = iter(["A short title", "Everything is slow.", "", "Use less of it."])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _prompt: next(answers))
    assert main(["new", "gotcha", "slow", "--kb", str(bench.root)]) == 0
    capsys.readouterr()
    data = parse_document(bench.path("gotchas/slow").read_text(), "").data
    assert data is not None
    assert (data["title"], data["symptom"], data["workaround"]) == (
        "A short title",
        "Everything is slow.",
        "Use less of it.",
    )
    assert "TODO" in data["root_cause"]


def test_nothing_is_overwritten(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """An entry that exists stays, and the message says what to do."""
    before = bench.path("gotchas/example").read_bytes()
    assert main(["new", "gotcha", "example", "--kb", str(bench.root), "--no-input"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert bench.path("gotchas/example").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gotch", "x"], "did you mean gotcha"),
        (["gotcha", "My Surprise!"], "for example my-surprise"),
        (["gotcha", "../../etc/passwd"], "no name for an entry"),
        (["gotcha", "/etc/passwd"], "no name for an entry"),
        (["gotcha", "."], "no name for an entry"),
        (["calibration", "x"], "rackfit calibrate"),
        (["fact", "8-bit"], "begins with a letter"),
        (["gotcha", "x", "--set", "symptm=x"], "did you mean symptom"),
        (["gotcha", "x", "--set", "symptom"], "write FIELD=VALUE"),
        (["rule", "x", "--set", "then[0].favour=rack"], "fields are title"),
        (["gotcha", "x", "--kb", "/proc/none"], "another folder"),
    ],
)
def test_bad_usage_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], said: str
) -> None:
    """Kind, name and fields are checked before anything is written; a name cannot lead out of the folder."""
    kb = [] if "--kb" in arguments else ["--kb", str(tmp_path / "kb")]
    assert main(["new", *arguments, *kb, "--no-input"]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "kb").exists()


def test_an_entry_can_be_printed_instead(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """--print writes nothing."""
    assert main(["new", "concept", "term", "--kb", str(tmp_path / "kb"), "--print"]) == 0
    assert "id: concepts/term\n" in capsys.readouterr().out
    assert not (tmp_path / "kb").exists()
