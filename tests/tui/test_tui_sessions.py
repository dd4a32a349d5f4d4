"""Saved conversations on the screen, with the shipped advisor behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList
from tui_driving import ask, press, screen_text, settle

from advisor.dialogue.sessions import SessionStore
from tui.app import RackfitApp
from tui.engine import shipped_opener
from tui.settings import History, Settings


@pytest.fixture
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@asynccontextmanager
async def shipped(tmp_path: Path, resume: str | None = None) -> AsyncIterator[Pilot[None]]:
    """The application as it is shipped."""
    app = RackfitApp(
        shipped_opener([]),
        resume=resume,
        settings=Settings(motion=False),
        history=History(tmp_path / "history"),
    )
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot)
        yield pilot


@pytest.mark.usefixtures("_own_state")
async def test_a_conversation_goes_on_where_it_ended(tmp_path: Path) -> None:
    """`--resume` brings the transcript and the verdict back."""
    async with shipped(tmp_path) as pilot:
        await ask(pilot, "Llama 3.3 70B in fp8, 32k context, 100 users")
        verdict = screen_text(pilot.app).splitlines()[0]  # type: ignore[arg-type]
    async with shipped(tmp_path, resume="") as pilot:
        text = screen_text(pilot.app)  # type: ignore[arg-type]
        assert text.splitlines()[0] == verdict
        said = pilot.app.chat.transcript.said  # type: ignore[attr-defined]
        assert "Llama 3.3 70B in fp8, 32k context, 100 users" in [message.markdown for message in said]
        assert "Going on with" in text
        assert "Which model do you want to serve?" not in text


@pytest.mark.usefixtures("_own_state")
async def test_nothing_said_leaves_no_session(tmp_path: Path) -> None:
    """Looking around without a word is not kept."""
    async with shipped(tmp_path) as pilot:
        await press(pilot, "f8")
    assert SessionStore().saved() == ()


@pytest.mark.usefixtures("_own_state")
async def test_sessions_are_listed_renamed_resumed_and_deleted(tmp_path: Path) -> None:
    """The window of saved conversations does what it says, with keys."""
    async with shipped(tmp_path) as pilot:
        await ask(pilot, "gpt-oss 120b")
    async with shipped(tmp_path) as pilot:
        app = pilot.app
        assert isinstance(app, RackfitApp)
        await ask(pilot, "DeepSeek R1")
        await ask(pilot, "/sessions")
        text = screen_text(app)
        assert "gpt-oss 120b" in text
        assert "(this one)" in text
        await press(pilot, "r")
        app.screen.query_one(Input).value = "oss"
        await press(pilot, "enter")
        assert {info.first: info.name for info in SessionStore().saved()}["gpt-oss 120b"] == "oss"
        await press(pilot, "enter")
        assert any(message.markdown == "gpt-oss 120b" for message in app.chat.transcript.said)
        assert not any(message.markdown == "DeepSeek R1" for message in app.chat.transcript.said)
        await ask(pilot, "/sessions")
        options = app.screen.query_one(OptionList)
        options.action_first()
        await press(pilot, "d", "down", "enter")
        assert [info.name for info in SessionStore().saved()] == ["oss"]


@pytest.mark.usefixtures("_own_state")
async def test_a_session_that_does_not_exist_ends_with_one_line(tmp_path: Path) -> None:
    """An unknown name of a session is bad input."""
    app = RackfitApp(
        shipped_opener([]), resume="nope", settings=Settings(), history=History(tmp_path / "history")
    )
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
    assert app.return_code == 2
    assert "no saved conversation" in app.failure


async def test_an_unwritable_state_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be saved, the user is warned and can talk all the same."""
    (tmp_path / "state").write_text("a file, not a folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    async with shipped(tmp_path) as pilot:
        assert "not being saved" in screen_text(pilot.app)  # type: ignore[arg-type]
        await ask(pilot, "llama 3.3 70b")
        assert "Llama 3.3 70B" in screen_text(pilot.app)  # type: ignore[arg-type]
