"""Access: no meaning by colour alone, contrast, no colour at all, few colours, other keys, the terminal's cursor."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color
from tui_answers import opened
from tui_driving import ask, press, screen_text, settle

from tui.app import RackfitApp
from tui.paint import BLOCKS, CONFIDENCE_DOTS, ORIGIN_MARK, VERDICT_LETTER, VERDICT_WORD, bar
from tui.panels import PANELS
from tui.settings import History, Settings
from tui.themes import CONTRAST, DARK, LIGHT, THEMES, default_theme


@pytest.mark.parametrize("table", [VERDICT_WORD, VERDICT_LETTER, CONFIDENCE_DOTS, BLOCKS])
def test_every_meaning_has_a_shape_or_word_of_its_own(table: dict[str, str]) -> None:
    """Verdicts, confidence and parts of a bar differ without their colour."""
    assert len(set(table.values())) == len(table)


def test_said_assumed_and_following_facts_differ_in_shape() -> None:
    """Derived and computed facts share a mark on purpose: both follow from others."""
    assert len({ORIGIN_MARK["said"], ORIGIN_MARK["assumed"], ORIGIN_MARK["derived"]}) == 3


def _contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours as WCAG 2.2 defines it."""

    def luminance(colour: Color) -> float:
        parts = [part / 255 for part in colour.rgb]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize(("name", "least"), [(DARK, 4.5), (LIGHT, 4.5), (CONTRAST, 7.0)])
@pytest.mark.parametrize(
    "word", ["foreground", "primary", "secondary", "accent", "success", "warning", "error", "quiet"]
)
def test_text_is_readable_on_every_background(name: str, least: float, word: str) -> None:
    """Text colours reach the WCAG contrast of AA on the plain and the raised backgrounds, the contrast theme AAA."""
    variables = THEMES[name].to_color_system().generate() | THEMES[name].variables
    for background in ("background", "surface", "panel"):
        assert _contrast(variables[word], variables[background]) >= least, background


def test_no_color_means_no_colour(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With NO_COLOR the application starts in the terminal's own colours whatever was chosen before."""
    assert default_theme(DARK, no_color=True, color_system="truecolor") == "ansi-dark"


async def test_no_color_draws_without_any_colour(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every drawn piece has the terminal's default colours only."""
    monkeypatch.setenv("NO_COLOR", "1")
    app = RackfitApp(
        opened, settings=Settings(theme=DARK, motion=False), history=History(tmp_path / "history")
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await ask(pilot)
        await press(pilot, "f3")
        colours = set()
        filters = app.get_line_filters()
        for strip in app.screen._compositor.render_strips():
            segments = list(strip)
            for line_filter in filters:
                segments = line_filter.apply(segments, Color.parse("black"))
            for segment in segments:
                if segment.style is not None:
                    colours |= {c.name for c in (segment.style.color, segment.style.bgcolor) if c is not None}
        assert colours <= {"default"}


async def test_what_is_current_shows_without_any_colour(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With NO_COLOR the current row of every list is reversed or underlined."""
    monkeypatch.setenv("NO_COLOR", "1")
    app = RackfitApp(opened, settings=Settings(motion=False), history=History(tmp_path / "history"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await ask(pilot)
        for key, text in (
            ("f2", "Model"),
            ("f4", "llama2-70b"),
            ("f6", "Verdict: node"),
            ("f7", "Tensor parallelism"),
            ("f9", "Markdown"),
        ):
            await press(pilot, key)
            marked = [
                segment.text
                for strip in app.screen._compositor.render_strips()
                for segment in strip
                if segment.style is not None and (segment.style.reverse or segment.style.underline)
            ]
            assert any(text in part for part in marked), key


@pytest.mark.parametrize(
    ("system", "theme"), [("truecolor", DARK), ("256", DARK), ("standard", "ansi-dark"), (None, "ansi-dark")]
)
def test_few_colours_use_the_terminals_own(system: str | None, theme: str) -> None:
    """With 16 colours the palette of the terminal is used instead of approximations."""
    assert default_theme("", no_color=False, color_system=system) == theme


async def test_keys_can_be_changed(tmp_path: Path) -> None:
    """Settings map binding ids to other keys; the old key is free then."""
    settings = Settings(motion=False, keys={"app.panel-fit": "ctrl+b"})
    app = RackfitApp(opened, settings=settings, history=History(tmp_path / "history"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "f3")
        assert app.chat.panel_name == "chat"
        await press(pilot, "ctrl+b")
        assert app.chat.panel_name == "fit"


async def test_no_key_collides_with_terminals_and_multiplexers(running, app: RackfitApp) -> None:
    """ctrl+j and ctrl+enter arrive as each other in some terminals; ctrl+o and ctrl+s belong to multiplexers and flow control."""
    refused = {"ctrl+j", "ctrl+enter", "ctrl+o", "ctrl+s", "ctrl+b", "ctrl+z"}
    async with running() as pilot:
        await ask(pilot)
        own: set[str] = set()
        for key in ("f2", "f3", "f4", "f5", "f6", "f7", "f8"):
            await press(pilot, key)
            own |= {k for k, active in app.screen.active_bindings.items() if active.binding.id}
        assert not own & refused


async def test_every_binding_of_ours_has_an_id(running, app: RackfitApp) -> None:
    """Without an id a key cannot be changed in the settings."""
    from tui.screens.chat import ChatScreen
    from tui.widgets.bars import TabBar
    from tui.widgets.prompt import Prompt
    from tui.widgets.replies import Replies
    from tui.widgets.transcript import Transcript

    for owner in (RackfitApp, ChatScreen, TabBar, Prompt, Replies, Transcript):
        assert all(binding.id for binding in owner.BINDINGS)  # type: ignore[union-attr]


def test_a_bar_is_as_wide_as_asked_and_shows_every_part() -> None:
    """A part that is not zero gets a cell, whatever its share."""
    line = bar([("weights", 1.0), ("kv", 1e9), ("reserve", 1.0)], 2e9, 20).plain
    assert len(line) == 20
    assert {"█", "▓", "▒", "░"} == set(line)


def test_a_bar_marks_what_does_not_fit() -> None:
    """Beyond the total the bar is crossed out."""
    line = bar([("weights", 60.0), ("kv", 60.0)], 80.0, 30).plain
    assert line == "█" * 15 + "▓" * 5 + "╳" * 10


async def test_the_screen_reads_without_colour(running, app: RackfitApp) -> None:
    """The text alone tells verdict, confidence, origin of facts and the current tab's place."""
    async with running((200, 50)) as pilot:
        await ask(pilot)
        text = screen_text(app)
        assert "NODE" in text
        assert "●●○ medium" in text
        assert "● Context length" in text
        assert "○ Time per output token" in text


def test_the_tour_names_every_key_that_can_be_changed() -> None:
    """Each binding id that the settings accept is in docs/tour.md, and nothing else is."""
    import re
    from importlib import import_module

    from textual.dom import DOMNode

    for module in ("panels." + name for name in PANELS):
        import_module(f"tui.{module}")
    for module in ("export", "fact_editor", "picker", "reader", "sessions"):
        import_module(f"tui.screens.{module}")
    classes = [RackfitApp, *_subclasses(DOMNode)]
    ids = {
        binding.id
        for owner in classes
        if owner.__module__.startswith("tui.")
        for binding in owner.__dict__.get("BINDINGS", [])
        if binding.id
    }
    text = (Path(__file__).parents[2] / "docs" / "tour.md").read_text().partition("The ids:")[2]
    documented: set[str] = set()
    group = ""
    for name in re.findall(r"`([a-z-]*\.[a-z-]+)`", text):
        group = name.partition(".")[0] or group
        documented.add(f"{group}.{name.partition('.')[2]}")
    documented |= {f"app.panel-{name}" for name in PANELS}
    assert ids == documented


def _subclasses(base: type) -> list[type]:
    found = base.__subclasses__()
    return [*found, *(deeper for child in found for deeper in _subclasses(child))]
