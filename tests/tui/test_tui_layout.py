"""Sizes: side by side from 100 columns on, tabs below, nothing breaks where nothing fits."""

from __future__ import annotations

import pytest
from textual.content import Content
from tui_driving import ask, press, screen_text, settle

from tui.app import RackfitApp
from tui.widgets.bars import KeyBar
from tui.widgets.message import MessageView
from tui.widgets.replies import Replies


async def test_side_by_side_from_100_columns_on(running, app: RackfitApp) -> None:
    """At 100 columns the panel stands beside the conversation."""
    async with running((100, 30)):
        assert app.chat.query_one("#side").display
        assert app.chat.query_one("#conversation").display
        assert not app.chat.query_one("#tabs-top").display


async def test_tabs_below_100_columns(running, app: RackfitApp) -> None:
    """At 99 columns there is one thing at a time and a line of tabs."""
    async with running((99, 30)) as pilot:
        assert not app.chat.query_one("#side").display
        assert "F2 Facts" in screen_text(app)
        await press(pilot, "f2")
        assert app.chat.query_one("#side").display
        assert not app.chat.query_one("#conversation").display


async def test_growing_the_terminal_brings_the_panel(running, app: RackfitApp) -> None:
    """When the terminal gets wide, the panel appears; when it shrinks, the conversation stays."""
    async with running((80, 24)) as pilot:
        await ask(pilot)
        await pilot.resize_terminal(140, 40)
        await settle(pilot)
        assert "● Context length" in screen_text(app)
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert app.chat.panel_name == "chat"


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (20, 5), (40, 10), (99, 24), (250, 80)])
async def test_no_size_breaks_any_panel(running, app: RackfitApp, size: tuple[int, int]) -> None:
    """Every panel survives every size, also without width."""
    async with running((120, 40)) as pilot:
        await ask(pilot)
        await pilot.resize_terminal(*size)
        for key in ("f2", "f3", "f4", "f6", "f7", "f8", "f1", "escape"):
            await press(pilot, key)
        await pilot.resize_terminal(120, 40)
        await settle(pilot)
        assert app.is_running


@pytest.mark.parametrize("key", ["", "f2", "f3", "f4", "f5", "f6", "f7", "f8"])
async def test_keys_are_never_cut_at_80_columns(running, app: RackfitApp, key: str) -> None:
    """The line of keys drops whole keys; help and commands are always there."""
    async with running((80, 24)) as pilot:
        if key:
            await press(pilot, key)
        line = app.chat.query_one(KeyBar).render().plain  # type: ignore[union-attr]
        assert len(line) <= 78
        assert line.startswith("? help  ^p commands")
        assert line == line.rstrip()


async def test_the_first_screen_at_80_columns_shows_what_to_do(running, app: RackfitApp) -> None:
    """A new user at 80x24 sees the question, the prompt and the keys."""
    async with running((80, 24)):
        text = screen_text(app)
        for part in ("Name a model", "Which model do you want to serve?", "? help", "^p commands", "^q quit"):
            assert part in text


async def test_a_resize_lays_each_message_out_once(
    running, app: RackfitApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Crossing the border between tabs and side by side costs one layout of what is shown, not one before and one after."""
    async with running((120, 40)) as pilot:
        for _ in range(3):
            await ask(pilot)
        laid_out: list[tuple[MessageView, int]] = []
        plain = MessageView.lines

        def counted(view: MessageView, width: int) -> list[Content]:
            laid_out.append((view, width))
            return plain(view, width)

        monkeypatch.setattr(MessageView, "lines", counted)
        for size in ((90, 30), (120, 40)):
            laid_out.clear()
            await pilot.resize_terminal(*size)
            await settle(pilot)
            assert len(laid_out) == len(app.chat.transcript.views)
            assert len({width for _, width in laid_out}) == 1


async def test_shrinking_the_terminal_keeps_what_the_user_is_in(running, app: RackfitApp) -> None:
    """Whoever types goes on typing, whoever reads a panel goes on reading it."""
    async with running((120, 40)) as pilot:
        await ask(pilot)
        for key, shown in (("f6", "why"), ("escape", "chat")):
            await press(pilot, key)
            await pilot.resize_terminal(90, 30)
            await settle(pilot)
            assert app.chat.panel_name == shown
            assert app.focused is not None
            assert app.focused.region.area > 0
            await pilot.resize_terminal(120, 40)
            await settle(pilot)


async def test_replies_out_of_sight_of_their_question_repeat_it(running, app: RackfitApp) -> None:
    """Buttons never stand without what they answer: the question is in the conversation, or above them."""
    async with running((80, 24)) as pilot:
        await ask(pilot)
        question = "How is the site cooled?"
        assert app.chat.query_one(Replies).choices
        seen = []
        for key in ("pagedown", "pagedown", "pagedown", "pageup", "pageup", "pageup"):
            await press(pilot, key)
            assert screen_text(app).count(question) == 1
            seen.append(app.chat.query_one(Replies).away)
        assert set(seen) == {True, False}
