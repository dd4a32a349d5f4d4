"""Hostile text on the full screen: every panel shows it escaped, none takes it for markup, and no click of it does anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_text import FORBIDDEN, MARK, PAYLOADS, poisoned_base
from textual.pilot import Pilot

from advisor.dialogue.conversation import Conversation
from advisor.knowledge import KnowledgeBase
from tui.app import RackfitApp
from tui.engine import Opened
from tui.settings import History, Settings

HIDDEN = " ".join(PAYLOADS[name] for name in ("csi", "osc", "bidi", "zero-width", "nul"))
PANELS = ("f2", "f3", "f4", "f5", "f6", "f7", "f8")


async def settle(pilot: Pilot[None]) -> None:
    for _ in range(2):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


def seen(app: RackfitApp) -> tuple[str, set[str]]:
    """The text on screen, and the actions that clicks on it would run."""
    strips = app.screen._compositor.render_strips()
    clicks = {
        str(segment.style.meta["@click"])
        for strip in strips
        for segment in strip
        if segment.style is not None and "@click" in (segment.style.meta or {})
    }
    return "\n".join(strip.text for strip in strips), clicks


@pytest.mark.parametrize(
    "payload",
    [HIDDEN, PAYLOADS["rich"], PAYLOADS["html"], PAYLOADS["markdown"]],
    ids=["hidden", "rich", "html", "markdown"],
)
async def test_the_screen_shows_hostile_text_as_text(
    payload: str, kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A poisoned knowledge base, a hostile question and every panel: nothing hidden, no style, link or action of the data's own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    hostile = poisoned_base(kb, payload)
    app = RackfitApp(
        lambda _resume, _before: Opened(kb=hostile, conversation=Conversation(hostile)),
        settings=Settings(theme="rackfit-dark", motion=False), history=History(tmp_path / "history.jsonl"),
    )  # fmt: skip
    found = ""
    async with app.run_test(size=(160, 60), notifications=True) as pilot:
        await settle(pilot)
        for text in (f"deepseek r1 at 15 ms {payload}", "just answer", "why", "facts", f"show {payload}"):
            app.submit(text)
            await settle(pilot)
        for key in ("", *PANELS):
            if key:
                await pilot.press(key)
                await settle(pilot)
            shown, clicks = seen(app)
            found += shown
            assert not FORBIDDEN.search(shown.replace("\n", "")), key
            assert not [
                click for click in clicks if "bell" in click or "evil" in click or "javascript" in click
            ], clicks
    assert MARK in found
    if payload == PAYLOADS["rich"]:
        assert "[bold red]" in found
