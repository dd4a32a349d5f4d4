"""Commands of the line-mode chat in states that are not plain: nothing said yet, not saved, open, a disk that fails."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.dialogue.sessions import SessionStore

Chat = Callable[..., Any]


@pytest.fixture
def chat(rackfit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Chat:
    """Run `rackfit chat --plain` with these lines typed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(*lines: str, flags: tuple[str, ...] = ()) -> Any:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(line + "\n" for line in lines)))
        return rackfit("chat", "--plain", *flags)

    return run


def test_an_empty_line_is_nothing_said(chat: Chat) -> None:
    """Pressing Enter neither answers the question nor repeats it."""
    assert chat("", "   ", "gpt-oss 120b").out == chat("gpt-oss 120b").out


def test_a_conversation_is_named_once_something_was_said(chat: Chat) -> None:
    """Before that there is nothing to find again; afterwards the new name is confirmed."""
    assert "nothing was said yet that could be named" in chat("rename budget").err
    assert "this conversation is now called 'budget'" in chat("gpt-oss 120b", "rename budget").err
    assert "another session is named 'budget'" in chat("gpt-oss 120b", "rename budget").err


def test_what_is_not_saved_has_no_name(chat: Chat, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a home that cannot be written, `rename` says why it does nothing; the talk goes on."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    ran = chat("gpt-oss 120b", "rename budget", "fp4")
    assert ran.status == 0
    assert "this conversation is not saved, so it cannot be named" in ran.err
    assert "Understood: Precision of the weights: 4 bit" in ran.out


def test_the_open_conversation_is_not_deleted(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By its own id or not: what is being written stays. Another one goes."""
    chat("gpt-oss 120b", "rename first")
    (saved,) = SessionStore().saved()
    assert "this conversation is open; quit it" in chat(f"delete {saved.id}", flags=("--resume", "first")).err
    assert [info.id for info in SessionStore().saved()] == [saved.id]
    assert "deleted 'first'" in chat("delete first").err
    assert "first" not in chat("sessions").out


def test_a_disk_that_fails_is_one_line(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that failed and the system's reason; the conversation goes on."""

    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SessionStore, "rename", full)
    ran = chat("gpt-oss 120b", "rename budget", "fp4")
    assert ran.status == 0
    assert "rename: No space left on device" in ran.err
    assert "Understood: Precision of the weights: 4 bit" in ran.out


def test_a_supposition_says_what_it_supposes(chat: Chat) -> None:
    """The answer to `what if` ends with the facts that it was worked out with, since they are not kept."""
    ran = chat("gpt-oss 120b fp4 8k offline", "just answer", "what if 10 ms per token", "what do you know")
    assert "With Time per output token: 10 ms" in ran.out
