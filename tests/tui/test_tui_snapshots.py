"""Every screen at three sizes, dark and light, as pictures. Update with `pytest tests/tui/test_tui_snapshots.py --snapshot-update`.

One run of the application per size and theme visits all screens. The pictures hold for the Textual release they were
made with; with another one the tests are skipped, since every release draws a little differently.
"""

from __future__ import annotations

import pytest
import textual
from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion
from tui_driving import ask, press, settle

from advisor.knowledge.base import KnowledgeBase
from advisor.records import Facts
from tui.app import RackfitApp
from tui.themes import DARK, LIGHT

MADE_WITH = "8.2.8"

pytestmark = pytest.mark.skipif(
    textual.__version__ != MADE_WITH,
    reason=f"pictures were made with Textual {MADE_WITH}, this is {textual.__version__}",
)

SCREENS: dict[str, tuple[str, ...]] = {
    "start": (),
    "help": ("f1",),
    "facts": ("f2",),
    "fit": ("f3",),
    "evidence": ("f4",),
    "map": ("f5",),
    "why": ("f6",),
    "graph": ("f7",),
    "kb": ("f8",),
    "entry": ("f8", "enter"),
    "editor": ("f2", "down", "down", "enter"),
    "export": ("f9",),
}
"""Screen -> keys that lead to it from the prompt; all but `start` after an answer."""


@pytest.fixture
def _drawn_map(monkeypatch: pytest.MonkeyPatch) -> None:
    from advisor.reasoning import heatmap as module

    def grid(
        kb: KnowledgeBase, said: Facts, *, x_fact: str, xs: tuple[float, ...], y_fact: str, ys: tuple[float, ...],
        progress: object,
    ) -> module.Heatmap:  # fmt: skip
        words = ("node", "either", "rack", "none")
        cells = tuple(
            tuple(words[min(3, 4 * (c + r) // (len(xs) + len(ys)))] for c in range(len(xs)))
            for r in range(len(ys))
        )
        return module.Heatmap(x_fact=x_fact, y_fact=y_fact, xs=xs, ys=ys, cells=cells, evaluated=4)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "heatmap", grid)


@pytest.mark.usefixtures("_drawn_map")
@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["80x24", "120x40", "200x50"])
async def test_screens(
    running, app: RackfitApp, snapshot: SnapshotAssertion, size: tuple[int, int], theme: str
) -> None:
    """Each screen looks as it was approved."""
    app.theme = theme
    picture = snapshot.use_extension(SVGImageExtension)
    async with running(size) as pilot:
        app.chat.prompt.cursor_blink = False
        for name, keys in SCREENS.items():
            if name == "help":
                await ask(pilot, "Llama 3.1 70B in fp8, 32k context, 256 users")
            await press(pilot, *keys)
            await pilot.pause(0.35 if name == "map" else 0)
            await settle(pilot)
            assert app.export_screenshot(simplify=True) == picture(name=name)
            await press(pilot, "escape", "escape")
