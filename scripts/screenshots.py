"""Pictures of the screen for docs/screenshots, made by the application itself: `python scripts/screenshots.py`.

Each step continues the one before, with the shipped knowledge base; docs/tour.md tells the story to them.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from tui.app import RackfitApp
from tui.engine import shipped_opener
from tui.settings import History, Settings
from tui.themes import CONTRAST, DARK, LIGHT

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "screenshots"
_REMOTE_FONT = re.compile(r",\s*url\(\"https?://[^)]*\)[^,;]*")


@dataclass(frozen=True)
class Step:
    """One picture. say: typed and sent before it; keys: pressed after that."""

    name: str
    say: str = ""
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 36)
    theme: str = DARK


STEPS = (
    Step("start"),
    Step("answer", say="DeepSeek-R1 in fp4, 8k context, 15 ms per token, 500 users"),
    Step("fit", keys=("f3",)),
    Step("evidence", keys=("f4", "a")),
    Step("map", keys=("f5",)),
    Step("why", keys=("f6", "right", "down", "down")),
    Step("what-if", say="what if 50 ms per token", keys=("f2",)),
    Step("graph", keys=("f7",), theme=LIGHT),
    Step("search", keys=("f8", *"disaggregated"), theme=LIGHT),
    Step("entry", keys=("enter",), theme=LIGHT),
    Step("help", keys=("escape", "escape", "f1")),
    Step("export", keys=("escape", "f9")),
    Step("narrow", keys=("escape", "f3"), size=(80, 24)),
    Step("contrast", keys=("escape", "f5"), size=(100, 30), theme=CONTRAST),
)


async def settle(pilot: Pilot[None]) -> None:
    """Wait until nothing is being worked on."""
    for _ in range(3):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause(0.2)


async def take(folder: Path) -> None:
    """Walk through the steps and write a picture of each."""
    with tempfile.TemporaryDirectory() as name:
        for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            os.environ[variable] = name
        os.chdir(name)
        app = RackfitApp(
            shipped_opener([]), settings=Settings(motion=False), history=History(Path(name) / "history")
        )
        async with app.run_test(size=STEPS[0].size) as pilot:
            app.chat.prompt.cursor_blink = False
            await settle(pilot)
            for step in STEPS:
                app.theme = step.theme
                await pilot.resize_terminal(*step.size)
                if step.say:
                    app.submit(step.say)
                    await settle(pilot)
                for key in step.keys:
                    await pilot.press(key)
                    await settle(pilot)
                await settle(pilot)
                picture = _REMOTE_FONT.sub("", app.export_screenshot(title="rackfit", simplify=True))
                (folder / f"{step.name}.svg").write_text(picture, encoding="utf-8")


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    asyncio.run(take(FOLDER))


if __name__ == "__main__":
    main()
