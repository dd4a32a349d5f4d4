"""Exports from the screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widgets import Input
from tui_driving import ask, press, screen_text

from tui.app import RackfitApp
from tui.screens.export import WHAT, free_path


@pytest.mark.parametrize("place", range(6))
async def test_every_form_is_written_under_the_offered_name(
    running, app: RackfitApp, tmp_path: Path, place: int
) -> None:
    """F9, a form, enter: the file is there with the answer in it."""
    async with running((80, 24)) as pilot:
        await ask(pilot)
        await press(pilot, "f9", *["down"] * place, "enter")
    name, (_, form, suffix) = list(WHAT.items())[place]
    text = (tmp_path / f"rackfit-parallelism{suffix}").read_text()
    assert "HGX B300" in text
    if form == "JSON":
        assert json.loads(text)["recommendation" if name.startswith("conversation") else "verdict"]
    elif form == "HTML":
        assert text.startswith("<!doctype html>")
    else:
        assert text.startswith("# ")


async def test_a_file_is_replaced_only_after_a_second_enter(running, app: RackfitApp, tmp_path: Path) -> None:
    """An existing name is offered with a number; typed anyway, it needs a confirmation."""
    (tmp_path / "rackfit-parallelism.md").write_text("mine")
    async with running((80, 24)) as pilot:
        await ask(pilot)
        await press(pilot, "f9")
        field = app.screen.query_one(Input)
        assert field.value == "rackfit-parallelism-2.md"
        field.value = "rackfit-parallelism.md"
        await press(pilot, "enter")
        assert "press enter again to replace it" in screen_text(app)
        assert (tmp_path / "rackfit-parallelism.md").read_text() == "mine"
        await press(pilot, "enter")
    assert "HGX B300" in (tmp_path / "rackfit-parallelism.md").read_text()


@pytest.mark.parametrize(
    ("name", "word"),
    [("nowhere/x.md", "cannot write"), ("", "give a file name"), ("a\x00b.md", "give a file name")],
)
async def test_a_place_that_cannot_be_written_is_told(running, app: RackfitApp, name: str, word: str) -> None:
    """The window stays open and says what is wrong."""
    async with running((80, 24)) as pilot:
        await ask(pilot)
        await press(pilot, "f9")
        app.screen.query_one(Input).value = name
        await press(pilot, "enter")
        assert word in screen_text(app)
        await press(pilot, "escape")
        assert app.focused is app.chat.prompt


async def test_without_an_answer_only_the_conversation_is_offered(running, app: RackfitApp) -> None:
    """Before there is an answer there is none to export."""
    async with running((80, 24)) as pilot:
        await press(pilot, "f9")
        assert "Answer alone" not in screen_text(app)
        assert "Decision and conversation" in screen_text(app)


def test_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    """The first free name is offered."""
    (tmp_path / "a.md").write_text("")
    (tmp_path / "a-2.md").write_text("")
    assert free_path(tmp_path / "a.md") == tmp_path / "a-3.md"


async def test_a_typed_name_keeps_its_place_when_the_form_changes(running, app: RackfitApp) -> None:
    """Choosing another form changes the ending of a typed name, nothing else."""
    async with running((80, 24)) as pilot:
        await ask(pilot)
        await press(pilot, "f9")
        app.screen.query_one(Input).value = "reports/mine.md"
        await press(pilot, "down")
        assert app.screen.query_one(Input).value == "reports/mine.html"


async def test_an_unknown_home_folder_is_told(running, app: RackfitApp) -> None:
    """`~name` of a user that does not exist is no reason to fail."""
    async with running((80, 24)) as pilot:
        await ask(pilot)
        await press(pilot, "f9")
        app.screen.query_one(Input).value = "~nobody-of-this-name/x.md"
        await press(pilot, "enter")
        assert "give a path without ~" in screen_text(app)
