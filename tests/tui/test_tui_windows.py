"""Windows over the chat: help, entries, palette, pickers."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.widgets import Input, OptionList
from tui_driving import ask, press, screen_text, settle, type_text

from tui.app import RackfitApp
from tui.commands import SLASH, commands
from tui.screens.chat import ChatScreen
from tui.screens.confirm import Confirm
from tui.screens.export import Export
from tui.screens.help import help_page
from tui.screens.reader import Page, Reader


@pytest.mark.parametrize("key", ["f1", "question_mark"])
async def test_help_opens_from_an_empty_prompt(running, app: RackfitApp, key: str) -> None:
    """`?` and F1 explain the screen, esc closes it."""
    async with running() as pilot:
        await press(pilot, key)
        assert "Say what you want to serve" in screen_text(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, ChatScreen)


async def test_a_question_mark_in_a_line_is_a_character(running, app: RackfitApp) -> None:
    """`?` is typed as usual once the line has text."""
    async with running() as pilot:
        await type_text(pilot, "why?")
        assert app.chat.prompt.text == "why?"


async def test_help_names_every_panel_command_and_the_keys_of_the_focus(running, app: RackfitApp) -> None:
    """The help page is made from the tables that the screen itself uses."""
    async with running() as pilot:
        await press(pilot, "f4")
        page = help_page(app)
        assert all(f"`/{word}`" in page for word in SLASH)
        assert "sort by next" in page
        assert "Grade A: same submitter and round" in page


async def test_the_palette_holds_every_command(running, app: RackfitApp) -> None:
    """ctrl+p opens the palette; each command of the table is found by its title and runs."""
    async with running() as pilot:
        await press(pilot, "ctrl+p")
        assert isinstance(app.screen, CommandPalette)
        await type_text(pilot, "show evidence")
        await pilot.pause(0.4)
        await press(pilot, "enter")
        await settle(pilot)
        assert app.chat.panel_name == "evidence"


def test_commands_have_titles_of_their_own() -> None:
    """No two commands share a title or a word."""
    table = list(commands())
    assert len({command.title for command in table}) == len(table)
    words = [command.slash for command in table if command.slash]
    assert len(set(words)) == len(words)


async def test_every_command_runs_without_an_answer(running, app: RackfitApp) -> None:
    """Nothing in the palette fails at the very start; esc leads back to the prompt."""
    async with running((80, 24)) as pilot:
        for command in commands():
            if command.action == "quit":
                continue
            await app.run_action(command.action)
            await settle(pilot)
            assert app.is_running, command.title
            await press(pilot, "escape", "escape")
            assert isinstance(app.screen, ChatScreen), command.title
            assert app.focused is app.chat.prompt, command.title


async def test_entries_are_read_link_by_link(running, app: RackfitApp) -> None:
    """From an entry its links open further entries; backspace returns to the one before."""
    async with running() as pilot:
        app.action_open_entry("gotchas/rack-is-not-faster-per-gpu")
        await settle(pilot)
        assert "The per-GPU rate of the rack is the node's." in screen_text(app)
        await press(pilot, "enter", "enter")
        assert isinstance(app.screen, Reader)
        assert app.screen.entry_id == "concepts/scale-up"
        await press(pilot, "backspace")
        assert app.screen.entry_id == "gotchas/rack-is-not-faster-per-gpu"


async def test_an_entry_is_copied_and_shown_in_the_graph(running, app: RackfitApp) -> None:
    """y copies the page, g puts the entry into the middle of the graph."""
    async with running() as pilot:
        app.action_open_entry("concepts/parallelism")
        await settle(pilot)
        await press(pilot, "y")
        assert app.clipboard.startswith("# Parallelism")
        await press(pilot, "g")
        assert app.chat.panel_name == "graph"
        assert "Ways to spread one model." in screen_text(app)


async def test_an_unknown_entry_is_told(running, app: RackfitApp) -> None:
    """A reference that leads nowhere is a notice, not a failure."""
    async with running() as pilot:
        app.action_open_entry("gotchas/[b]nope")
        await settle(pilot)
        assert "gotchas/[b]nope is not in this knowledge base" in screen_text(app)


async def test_a_citation_with_a_result_opens_its_entry(running, app: RackfitApp) -> None:
    """`<id>#<result>` opens the entry."""
    async with running() as pilot:
        app.action_open_entry("evidence/mlperf-v6.1/acme/b300-x8#llama2-70b/offline")
        await settle(pilot)
        assert "115,528" in app.screen.query_one(Page).text


async def test_the_theme_is_switched_and_remembered(running, app: RackfitApp, tmp_path) -> None:
    """The chosen theme is there at once and after the next start."""
    async with running() as pilot:
        await ask(pilot, "/theme")
        await press(pilot, "down", "enter")
        assert app.theme == "rackfit-light"
        assert app.settings.theme == "rackfit-light"


async def test_windows_fit_the_smallest_screen(running, app: RackfitApp) -> None:
    """At 80 columns a window takes the whole width."""
    async with running((80, 24)) as pilot:
        await press(pilot, "f1")
        assert app.screen.query_one(".window").size.width >= 74


async def test_a_panel_key_does_not_close_a_window_with_something_typed(running, app: RackfitApp) -> None:
    """Only pages that are read give way to a panel; what is typed into a window stays."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f2", "enter")
        await type_text(pilot, "par")
        await press(pilot, "f3")
        assert app.screen.query_one(Input).value == "par"
        await press(pilot, "escape", "f1", "f3")
        assert isinstance(app.screen, ChatScreen)
        assert app.chat.panel_name == "fit"


async def test_exporting_works_from_a_page(running, app: RackfitApp) -> None:
    """F9 opens the export over whatever is being read, once."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f1", "f9", "f9")
        assert isinstance(app.screen, Export)
        await press(pilot, "escape")
        assert isinstance(app.screen, Reader)


async def test_two_keys_at_once_close_one_window(running, app: RackfitApp) -> None:
    """A second enter or escape, typed before the window went, closes nothing that lies under it."""
    async with running() as pilot:
        for close in ("enter", "escape"):
            await press(pilot, "f1")
            app.chat.prompt.put("unsent")
            app.run_worker(app.action_quit())
            await settle(pilot)
            under = app.screen_stack[-2]
            window = app.screen
            assert isinstance(window, Confirm)
            if close == "enter":
                options = window.query_one(OptionList)
                options.action_select()
                options.action_select()
            else:
                window.action_close()
                window.action_close()
            await settle(pilot)
            assert app.screen is under
            app.chat.prompt.put("")
            await press(pilot, "escape")
            assert isinstance(app.screen, ChatScreen)


async def test_the_palette_opens_once(running, app: RackfitApp) -> None:
    """With help above the open palette, its key opens no second one."""
    async with running() as pilot:
        await press(pilot, "ctrl+p")
        await press(pilot, "f1")
        app.action_command_palette()
        await settle(pilot)
        assert sum(isinstance(screen, CommandPalette) for screen in app.screen_stack) == 1
        assert app.is_running


@pytest.mark.parametrize("text", ["/", "/ ", "/\t\n", "/ zzz", "/zzz\tx", "//"])
async def test_a_command_without_a_name_is_named_as_unknown(running, app: RackfitApp, text: str) -> None:
    """Whatever stands behind the slash, commands are offered and nothing is said to the advisor."""
    async with running() as pilot:
        before = len(app.chat.transcript.said)
        app.submit(text)
        await settle(pilot)
        assert "no command /" in screen_text(app)
        assert len(app.chat.transcript.said) == before


async def test_what_fails_after_the_end_is_no_defect(
    running, app: RackfitApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work that finds its screen gone leaves no report behind; before the end it does."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    async def fails() -> None:
        raise LookupError("no screen")

    report = tmp_path / "rackfit" / "last-defect.txt"
    async with running() as pilot:
        app.exit()
        app.run_worker(app.guard(fails))
        await pilot.pause()
        assert not report.exists()
