"""`rackfit import mlperf` as its user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
import rows

from advisor.cli.main import main
from advisor.evidence.figures import figures
from advisor.knowledge import load_knowledge


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["import", "mlperf", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_an_import_writes_entries_that_load_over_the_shipped_ones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A private round becomes an overlay: written, loadable, comparable; a second import changes nothing."""
    path = rows.write_object(
        tmp_path,
        {"1": rows.object_row(version="v9.9"), "2": rows.object_row(version="v9.9", Scenario="Server")},
    )
    overlay = tmp_path / "mine"
    status, out, err = run(capsys, str(path), "--round", "v9.9", "--output", str(overlay))
    assert status == 0
    assert "2 rows: 2 results of 1 systems" in out
    assert "1 files written, 0 unchanged" in out
    assert "note: wrote" in err
    kb = load_knowledge([overlay], cache=False)
    assert [f.entry.round for f in figures(kb) if f.entry.round == "v9.9"] == ["v9.9", "v9.9"]
    assert "0 files written, 1 unchanged" in run(capsys, str(path), "--output", str(overlay))[1]


def test_bad_records_are_named_and_the_status_is_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One line for each, with file and record."""
    path = rows.write_object(
        tmp_path, {"7": rows.object_row(Model="llm-of-tomorrow"), "8": rows.object_row()}
    )
    status, out, err = run(capsys, str(path), "--output", str(tmp_path / "kb"))
    assert status == 1
    assert f"{path}: record 7: unknown benchmark 'llm-of-tomorrow'" in err
    assert "1 not usable" in out


def test_what_is_wrong_with_many_records_is_said_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A file of another round: one line that holds every record."""
    path = rows.write_object(tmp_path, {str(n): rows.object_row() for n in range(6, 26)})
    status, _out, err = run(capsys, str(path), "--round", "v6.0", "--output", str(tmp_path / "kb"))
    assert status == 1
    assert err.count("\n") == 1
    assert f"{path}: 20 records (6, 7, 8, " in err
    assert "24, 25): belongs to 'v6.1', not to v6.0" in err


def test_the_evidence_folder_itself_may_be_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`--output kb/evidence` means the knowledge base above it."""
    path = rows.write_list(tmp_path, rows.list_row())
    run(capsys, str(path), "--output", str(tmp_path / "kb" / "evidence"))
    assert (tmp_path / "kb/evidence/mlperf-v6.0/amd/8xmi355x-2xepyc-9575f.yaml").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("/nowhere.json",), "does not exist"),
        (("--round",), "expected one argument"),
        (("x", "--division", "ajar"), "invalid choice"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    """What was wrong, and nothing on standard output."""
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
