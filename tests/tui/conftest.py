"""The application against the hand-written conversation, with nothing read from or written to the user's folders."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_answers import opened
from tui_driving import settle

from tui.app import RackfitApp
from tui.settings import History, Settings

Running = Callable[..., AbstractAsyncContextManager[Pilot[None]]]


@pytest.fixture
def settings() -> Settings:
    """No motion: answers appear at once."""
    return Settings(theme="rackfit-dark", motion=False)


@pytest.fixture
def app(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> RackfitApp:
    """The application, not running yet."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return RackfitApp(opened, settings=settings, history=History(tmp_path / "history.jsonl"))


@pytest.fixture
def running(app: RackfitApp) -> Running:
    """`async with running((columns, rows))`: the application after loading."""

    @asynccontextmanager
    async def run(size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[None]]:
        async with app.run_test(size=size, notifications=True) as pilot:
            await settle(pilot)
            yield pilot

    return run
