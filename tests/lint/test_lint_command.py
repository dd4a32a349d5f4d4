"""`rackfit lint` as its user meets it: what it checks, what it prints, and the status it ends with."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lint_workbench import CLEAN_KB, Workbench

from advisor.cli.main import main


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["lint", "--no-config", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_clean_knowledge_base_ends_with_status_0(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing on standard output, one line on standard error that says what was checked."""
    status, out, err = _lint(capsys, str(bench.root))
    assert (status, out) == (0, "")
    assert err == f"no findings in {bench.root}\n"


def test_a_finding_is_one_line_with_place_code_message_and_fix(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """`path:line:column: CODE message; fix`, in the concise format, and status 1."""
    path = bench.change("gotchas/example", "concepts: [concepts/exampel]")
    status, out, err = _lint(capsys, str(bench.root), "--format", "concise", "--select", "KB210")
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if text.startswith("concepts"))
    assert status == 1
    assert (
        out
        == f"{path}:{line}:12: KB210 concepts: no entry 'concepts/exampel'; did you mean concepts/example?\n"
    )
    assert err == "1 finding (1 error) in 1 file\n"


def test_text_shows_the_source_with_carets(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """The line is printed below the finding, with carets under exactly what is meant, the severity and the check's name."""
    bench.change("gotchas/example", "severity: warn")
    _, out, _ = _lint(capsys, str(bench.root), "--select", "KB104")
    _, excerpt, carets = out.splitlines()
    assert excerpt.endswith("| severity: warn")
    assert carets.rstrip().endswith("^^^^ error: value-not-allowed")
    assert carets.index("^") == excerpt.index("warn")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["/no/such/folder"], "does not exist"),
        (["--select", "KB999"], "no lint code 'KB999'"),
        (["--ignore", "stale-revue"], "stale-review"),
        (["--format", "xml"], "invalid choice"),
        (["--baseline", "/no/such/file"], "not a baseline"),
        (["--output", "/no/such/folder/x"], "cannot write"),
        (["--config", "/no/such/file.toml"], "cannot be used"),
        (["--kb", "/no/such/overlay"], "is not a folder"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(
    bench: Workbench, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    """The line names what was wrong and what would be right; nothing is a traceback."""
    paths = [] if arguments[0].startswith("/") else [str(bench.root)]
    status = main(["lint", *arguments, *paths])
    err = capsys.readouterr().err
    assert status == 2
    assert said in err
    assert err.count("\n") == 1


def test_a_file_or_a_folder_inside_is_checked_against_the_whole(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Links out of the file are followed; findings elsewhere are not shown."""
    bench.change("gotchas/example", "concepts: [concepts/absent]")
    bench.change("rules/example", "because: [concepts/absent]")
    status, out, _ = _lint(
        capsys, str(bench.path("gotchas/example")), "--format", "concise", "--select", "KB210"
    )
    assert (status, out.count("\n")) == (1, 1)
    assert "gotchas/example.yaml" in out
    status, out, _ = _lint(capsys, str(bench.root / "concepts"), "--format", "concise")
    assert (status, out) == (0, "")


def test_severity_decides_the_status_when_asked(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """With --fail-on error a warning is shown and passes; an error fails."""
    bench.change("gotchas/example", "reviewed: '2020-01-01'")
    only = ["--select", "KB601", str(bench.root)]
    assert _lint(capsys, *only)[0] == 1
    status, out, _ = _lint(capsys, *only, "--fail-on", "error")
    assert status == 0
    assert "KB601" in out
    bench.change("gotchas/example", "severity: warn")
    assert _lint(capsys, str(bench.root), "--fail-on", "error")[0] == 1


def test_selection_takes_codes_names_and_families(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """A finding's code, its name and its family all select or silence it."""
    bench.change("gotchas/example", "concepts: [concepts/absent]")
    for word in ("KB210", "dangling-link", "KB2", "kb21", "ALL"):
        assert "KB210" in _lint(capsys, str(bench.root), "--select", word)[1], word
        assert "KB210" not in _lint(capsys, str(bench.root), "--ignore", word)[1], word


def test_statistics_count_by_code(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each code, the most frequent first."""
    bench.change("gotchas/example", "concepts: [concepts/absent, concepts/missing]\nseverity: info")
    bench.change("rules/example", "because: [concepts/absent]\nstrength: .inf")
    _, out, _ = _lint(capsys, str(bench.root), "--statistics", "--select", "KB210,KB004")
    assert [line.split() for line in out.splitlines()] == [
        ["2", "KB210", "dangling-link"],
        ["1", "KB004", "number-not-finite"],
    ]


def test_json_holds_every_finding_and_a_summary(bench: Workbench, capsys: pytest.CaptureFixture[str]) -> None:
    """Machines read the same fields that people see, with the end of the place as well."""
    bench.change("gotchas/example", "severity: warn")
    _, out, _ = _lint(capsys, str(bench.root), "--format", "json")
    document = json.loads(out)
    (finding,) = [f for f in document["findings"] if f["code"] == "KB104"]
    assert finding["name"] == "value-not-allowed"
    assert finding["severity"] == "error"
    assert finding["end_column"] - finding["column"] == len("warn")
    assert document["summary"]["codes"]["KB104"] == 1


def test_a_report_can_go_to_a_file(
    bench: Workbench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--output writes the report and leaves standard output empty."""
    bench.change("gotchas/example", "severity: warn")
    report = tmp_path / "report.json"
    status, out, _ = _lint(capsys, str(bench.root), "--format", "json", "--output", str(report))
    assert (status, out) == (1, "")
    assert json.loads(report.read_text())["summary"]["findings"] >= 1


def test_text_from_entries_reaches_the_terminal_escaped(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Escape sequences in keys, values and file names are shown, never sent."""
    bench.write(
        "gotchas/example", 'id: gotchas/example\n"\\e[31mred": "\\u202Eevil"\ntitle: "\\e]0;owned\\a"\n'
    )
    for form in ("text", "concise", "json", "sarif", "github"):
        _, out, err = _lint(capsys, str(bench.root), "--format", form)
        assert not any(ord(c) < 32 and c != "\n" for c in out + err), form
        assert "\u202e" not in out + err


def test_findings_are_remembered_by_content(
    bench: Workbench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second run gives the same report from the cache; a changed entry, a corrupt cache and --no-cache give a fresh one."""
    bench.change("gotchas/example", "severity: warn")
    cold = _lint(capsys, str(bench.root))
    cached = list((tmp_path / "cache" / "rackfit").glob("lint-*"))
    assert cached
    assert _lint(capsys, str(bench.root)) == cold
    for file in cached:
        file.write_bytes(b"\x80garbage")
    assert _lint(capsys, str(bench.root)) == cold
    bench.change("gotchas/example", "severity: info")
    assert "KB104" not in _lint(capsys, str(bench.root))[1]


def test_a_hostile_folder_is_reported_and_the_rest_is_checked(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bombs, links, junk and bad names each have a finding with a place; a mistake in an ordinary entry is still found."""
    gotchas = bench.root / "gotchas"
    (gotchas / "bomb.yaml").write_text(
        "a: &a [x, x]\nb: &b [*a, *a]\n" + "".join(f"c{i}: [*b, *b]\n" for i in range(9))
    )
    (gotchas / "deep.yaml").write_text("a: " + "[" * 100_000)
    (gotchas / "junk.yaml").write_bytes(bytes(range(256)) * 50)
    (gotchas / "empty.yaml").write_text("")
    (gotchas / "link.yaml").symlink_to("/dev/zero")
    (gotchas / "Upper_Case.yaml").write_text((CLEAN_KB / "gotchas" / "example.yaml").read_text())
    (gotchas / "ﬁle.yaml").write_text((CLEAN_KB / "gotchas" / "example.yaml").read_text())
    bench.change("rules/example", "because: [concepts/absent]")
    status, out, _ = _lint(capsys, str(bench.root), "--format", "concise")
    assert status == 1
    for name in ("bomb", "deep", "junk", "empty", "link", "Upper_Case", "ﬁle"):
        assert f"{name}.yaml:" in out, name
    assert "KB210 because: no entry 'concepts/absent'" in out
    assert "rename it to gotchas/upper-case.yaml" in out


def test_lint_never_imports_the_screen() -> None:
    """Starting the linter does not pay for the terminal UI."""
    script = (
        "import sys; from advisor.cli.main import main\n"
        f"main(['lint', {str(CLEAN_KB)!r}, '--no-config', '--no-cache'])\n"
        "sys.exit(any(name.startswith(('textual', 'tui')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_shipped_knowledge_base_has_no_errors(capsys: pytest.CaptureFixture[str]) -> None:
    """What is shipped lints without an error or a warning."""
    status = main(
        ["lint", "--fail-on", "warning", "--format", "concise", str(Path(__file__).parents[2] / "kb")]
    )
    assert status == 0, capsys.readouterr().out


def test_an_overlay_is_checked_over_the_shipped_entries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Links to shipped entries hold, clashes with them are reported at the overlay, and nothing shipped is."""
    overlay = tmp_path / "ours"
    (overlay / "gotchas").mkdir(parents=True)
    text = (CLEAN_KB / "gotchas" / "example.yaml").read_text()
    text = text.replace("concepts/example", "concepts/tensor-parallel").replace(
        "sources/example", "sources/mlperf-v6.1"
    )
    (overlay / "gotchas" / "example.yaml").write_text(text)
    status, out, _ = _lint(capsys, "--kb", str(overlay))
    assert (status, out) == (0, "")
    (overlay / "concepts").mkdir()
    (overlay / "concepts" / "ours.yaml").write_text(
        "# yaml-language-server: $schema=../../schemas/concept.schema.json\n"
        "id: concepts/ours\ntitle: Tensor parallelism\nsummary: A title that a shipped concept has already.\n"
        "broader: [concepts/absent]\nsources: [sources/mlperf-v6.1]\n"
    )
    status, out, _ = _lint(capsys, "--kb", str(overlay), "--format", "concise")
    assert status == 1
    assert all(line.startswith(str(overlay)) for line in out.splitlines())
    assert "KB210" in out
    assert "KB220" in out
    whole = _lint(capsys, "--kb", str(overlay), "--format", "concise")
    assert _lint(capsys, str(overlay), "--format", "concise") == whole


def test_an_overlay_that_replaces_an_entry_says_so(
    bench: Workbench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Replacing is allowed and is no finding; it is narrated each time."""
    overlay = tmp_path / "ours"
    (overlay / "concepts").mkdir(parents=True)
    shutil.copy(bench.path("concepts/example"), overlay / "concepts")
    status, out, err = _lint(capsys, str(bench.root), "--kb", str(overlay))
    assert (status, out) == (0, "")
    assert f"{overlay} replaces concepts/example\n" in err


def test_a_rule_of_an_overlay_that_contradicts_a_shipped_one_is_reported_at_the_overlay(
    bench: Workbench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What only the union shows is shown where its author can mend it."""
    bench.change("rules/example", "then: [{require: rack}]")
    overlay = tmp_path / "ours"
    (overlay / "rules").mkdir(parents=True)
    (overlay / "rules" / "a-first.yaml").write_text(
        bench.path("rules/example")
        .read_text()
        .replace("rules/example", "rules/a-first")
        .replace("rack}", "node}")
    )
    _, out, _ = _lint(
        capsys, str(bench.root), "--kb", str(overlay), "--format", "concise", "--select", "KB507"
    )
    assert "a-first.yaml" in out
    assert "contradicts" in out
