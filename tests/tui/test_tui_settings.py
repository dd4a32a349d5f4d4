"""Settings and typed lines between runs: tolerant when reading, atomic when writing."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tui.settings import HISTORY_LINES, History, Settings, load_settings, save_settings


def test_settings_come_back(tmp_path: Path) -> None:
    """What is saved is what is read."""
    path = tmp_path / "deep" / "settings.json"
    assert save_settings(
        Settings(theme="rackfit-light", keys={"app.export": "f10"}, cursor=True, motion=False), path
    )
    assert load_settings(path) == Settings(
        theme="rackfit-light", keys={"app.export": "f10"}, cursor=True, motion=False
    )


def test_saving_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    """Entries of the file that rackfit has no use for stay."""
    path = tmp_path / "settings.json"
    path.write_text('{"mine": 1}')
    save_settings(Settings(), path)
    assert json.loads(path.read_text())["mine"] == 1


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"theme": 5, "keys": [1], "cursor": "yes"}', "[" * 50_000, '{"keys": {"a": 1}}'],
)
def test_unusable_settings_count_as_none(tmp_path: Path, text: str) -> None:
    """A broken file never keeps the application from starting."""
    path = tmp_path / "settings.json"
    path.write_text(text)
    assert load_settings(path) == Settings()


def test_a_folder_that_cannot_be_written_is_told_by_the_result(tmp_path: Path) -> None:
    """Saving reports failure instead of raising."""
    (tmp_path / "file").write_text("")
    assert not save_settings(Settings(), tmp_path / "file" / "settings.json")


def test_history_is_bounded(tmp_path: Path) -> None:
    """Only the newest lines are kept in memory."""
    history = History(tmp_path / "history")
    for number in range(HISTORY_LINES + 5):
        history.add(f"line {number}")
    assert len(history.lines) == HISTORY_LINES
    assert history.lines[-1] == f"line {HISTORY_LINES + 4}"


def test_history_shortens_a_long_file(tmp_path: Path) -> None:
    """The file does not grow without end."""
    path = tmp_path / "history"
    path.write_text("".join(json.dumps("x" * 1000) + "\n" for _ in range(1000)))
    History(path).load()
    assert path.stat().st_size < 600_000
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("raw", [b"\xff\xfe\n", b'{"a": 1}\n', b'"good"\nnot json\n', b"\n\n"])
def test_history_skips_what_is_no_line(tmp_path: Path, raw: bytes) -> None:
    """Foreign content in the file is passed over."""
    path = tmp_path / "history"
    path.write_bytes(raw)
    history = History(path)
    history.load()
    assert history.lines in ([], ["good"])


def test_the_same_line_twice_is_kept_once(tmp_path: Path) -> None:
    """Repeating a line does not fill the history."""
    history = History(tmp_path / "history")
    history.add("again")
    history.add("again")
    assert history.lines == ["again"]
