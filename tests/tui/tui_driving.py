"""Driving the application in tests: typing, waiting, reading the screen."""

from __future__ import annotations

from textual.pilot import Pilot
from tui_answers import ScriptedConversation

from tui.app import RackfitApp

_KEYS = {" ": "space", "/": "slash", "?": "question_mark", ".": "full_stop", "\\": "backslash", "-": "minus"}


async def settle(pilot: Pilot[None]) -> None:
    """Wait until nothing is being worked on and the screen is drawn."""
    for _ in range(2):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def type_text(pilot: Pilot[None], text: str) -> None:
    """Type into whatever has the focus."""
    await pilot.press(*(_KEYS.get(character, character) for character in text))


async def ask(pilot: Pilot[None], text: str = "llama") -> None:
    """Put a question into the prompt, send it and wait for the answer."""
    app = pilot.app
    assert isinstance(app, RackfitApp)
    app.chat.prompt.put(text)
    app.chat.prompt.focus()
    await pilot.press("enter")
    await settle(pilot)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys and wait for what follows."""
    await pilot.press(*keys)
    await settle(pilot)


def conversation(app: RackfitApp) -> ScriptedConversation:
    """The conversation behind the screen."""
    assert app.engine.opened is not None
    inner = app.engine.opened.conversation
    assert isinstance(inner, ScriptedConversation)
    return inner


def screen_text(app: RackfitApp) -> str:
    """What is on screen, without colours."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)
