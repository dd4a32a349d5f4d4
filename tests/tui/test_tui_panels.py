"""The panels: what they show, that they follow the answer, and that keys do everything."""

from __future__ import annotations

import pytest
from textual.widgets import DataTable, Input, OptionList, Tree
from tui_answers import recommendation
from tui_driving import ask, conversation, press, screen_text, settle

from advisor.knowledge.base import KnowledgeBase
from advisor.records import Facts
from tui.app import RackfitApp
from tui.panels import PANELS
from tui.widgets.map_grid import MapGrid


@pytest.mark.parametrize(("name", "key"), [(name, key.lower()) for name, (key, *_) in PANELS.items()])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_function_key_shows_a_panel_and_escape_returns(
    running, app: RackfitApp, name: str, key: str, size: tuple[int, int]
) -> None:
    """Every panel is one key away, before there is an answer too, and esc goes back to the prompt."""
    async with running(size) as pilot:
        await press(pilot, key)
        assert app.chat.panel_name == name
        assert app.focused is not None
        assert any(node.id == f"panel-{name}" for node in app.focused.ancestors)
        await press(pilot, "escape")
        assert app.focused is app.chat.prompt


async def test_the_same_key_again_returns_to_the_conversation(running, app: RackfitApp) -> None:
    """A panel key toggles."""
    async with running((80, 24)) as pilot:
        await press(pilot, "f3")
        await press(pilot, "f3")
        assert app.chat.panel_name == "chat"
        assert app.focused is app.chat.prompt


async def test_tabs_switch_with_arrows(running, app: RackfitApp) -> None:
    """The tab line is a row of tabs to walk with arrows."""
    async with running((80, 24)) as pilot:
        app.chat.query_one("#tabs-top").focus()
        await press(pilot, "right", "right")
        assert app.chat.panel_name == "fit"
        await press(pilot, "left", "left")
        assert app.chat.panel_name == "chat"


async def test_tabs_switch_with_a_click(running, app: RackfitApp) -> None:
    """A click on a tab shows its panel."""
    async with running((120, 40)) as pilot:
        column = app.chat.query_one("#tabs-side").render().plain.index("Fit")  # type: ignore[union-attr]
        await pilot.click("#tabs-side", offset=(column + 1, 0))
        await settle(pilot)
        assert app.chat.panel_name == "fit"


async def test_facts_tell_origin_by_shape_and_value(running, app: RackfitApp) -> None:
    """Said, assumed and unstated facts differ in their mark, not only in colour."""
    async with running() as pilot:
        await ask(pilot)
        lines = [line.split("▏")[-1].strip() for line in screen_text(app).splitlines()]
        assert "● Context length              32k tokens" in lines
        assert "○ Time per output token       40 ms" in lines
        assert "· Cooling                     not stated" in lines


async def test_the_current_fact_is_explained_below(running, app: RackfitApp) -> None:
    """An assumed value tells why it was assumed."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f2", "end", "up")
        assert "assumed: a chat that reads well" in screen_text(app)


async def test_a_changed_fact_changes_the_answer(running, app: RackfitApp) -> None:
    """Editing a fact in the panel sets it in the conversation and shows the new answer."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f2", "down", "down", "enter")
        await press(pilot, *"65536", "enter")
        assert conversation(app).facts["context_tokens"].value == 65536
        text = screen_text(app)
        assert "With context_tokens = 65536: still nodes." in text
        assert "64k tokens" in text


async def test_a_wrong_value_is_told_in_the_editor_and_nothing_is_lost(running, app: RackfitApp) -> None:
    """The editor stays open with what was typed and says what would be right."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f2", "down", "down", "enter")
        await press(pilot, *"nonsense", "enter")
        assert "! context_tokens: 'nonsense' is not a value" in screen_text(app)
        assert app.screen.query_one(Input).value == "nonsense"
        await press(pilot, "escape")
        assert conversation(app).facts["context_tokens"].value == 32768


async def test_choices_are_filtered_and_chosen(running, app: RackfitApp) -> None:
    """A fact with allowed values offers them; typing filters."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f2", "down", "enter")
        assert "4 bit with scales" in screen_text(app)
        await press(pilot, *"fp4", "enter")
        assert conversation(app).facts["weight_precision"].value == "fp4"


async def test_a_fact_is_forgotten(running, app: RackfitApp) -> None:
    """Delete takes a fact back."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f2", "down", "down", "delete")
        assert "context_tokens" not in conversation(app).facts


async def test_fit_bars_show_parts_by_shape(running, app: RackfitApp) -> None:
    """Weights, KV, reserve, free and overflow have their own glyphs, and the shortage is said in words."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f3")
        text = screen_text(app)
        for glyph in "█▓▒░╳":
            assert glyph in text
        assert "✓ HGX B300" in text
        assert "✗ HGX H100" in text
        assert "short 48.0 GiB" in text
        assert "nearest that passes: context" in text


async def test_fit_opens_the_arithmetic(running, app: RackfitApp) -> None:
    """Enter shows how the figures of a system come about."""
    async with running((120, 50)) as pilot:
        await ask(pilot)
        await press(pilot, "f3", "down", "enter")
        assert "15,779 tokens/s x 22 = 347,138 tokens/s" in screen_text(app)


async def test_evidence_sorts_by_every_column(running, app: RackfitApp) -> None:
    """s goes through the columns, r reverses; the heading shows which and how."""
    async with running((200, 50)) as pilot:
        await ask(pilot)
        await press(pilot, "f4")
        table = app.chat.query_one(DataTable)
        grades = [str(table.get_cell_at((row, 0))) for row in range(3)]
        assert grades == ["A", "B", "C"]
        await press(pilot, "r")
        assert str(table.get_cell_at((0, 0))) == "C"
        assert "grade ▼" in screen_text(app)
        await press(pilot, "s")
        assert "ratio ▼" in screen_text(app)
        assert str(table.get_cell_at((0, 1))).strip() == "1.90×"


async def test_evidence_marks_ties_and_opens_records(running, app: RackfitApp) -> None:
    """A ratio inside the noise carries ≈; enter shows both sides with their records."""
    async with running((200, 50)) as pilot:
        await ask(pilot)
        await press(pilot, "f4")
        assert "≈1.09×" in screen_text(app)
        await press(pilot, "enter")
        text = screen_text(app)
        assert "record 6.1-0001" in text
        assert "115,528/8" in text


async def test_why_shows_the_proof_and_every_rule(running, app: RackfitApp) -> None:
    """The tree starts with the verdict; its rule leads to the entry."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f6")
        assert "Verdict: node" in screen_text(app)
        await press(pilot, "down")
        assert "Inside the noise the smaller failure domain decides." in screen_text(app)
        await press(pilot, "o")
        assert "rules/tie-goes-to-nodes" in screen_text(app)


async def test_why_opens_and_closes_nodes(running, app: RackfitApp) -> None:
    """Enter and arrows open and close the branches."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f6")
        tree = app.chat.query_one(Tree)
        await press(pilot, "down", "down", "down", "enter")
        assert tree.cursor_node is not None
        assert tree.cursor_node.is_expanded
        await press(pilot, "left")
        assert not tree.cursor_node.is_expanded


async def test_the_proof_fits_into_a_narrow_panel(running, app: RackfitApp) -> None:
    """At 80 columns every line of the tree ends in the panel, cut with an ellipsis; nothing has to be scrolled sideways."""
    async with running((80, 24)) as pilot:
        await ask(pilot)
        await press(pilot, "f6", "e")
        tree = app.chat.query_one(Tree)
        tree.root.expand_all()
        await settle(pilot)
        assert tree.virtual_size.width <= tree.size.width
        assert "…" in screen_text(app)


async def test_graph_walks_and_returns(running, app: RackfitApp) -> None:
    """Enter goes to a neighbour, backspace comes back, o reads."""
    async with running() as pilot:
        await press(pilot, "f7")
        assert "Accelerators that share one fast fabric." in screen_text(app)
        await press(pilot, "enter")
        assert "Each layer is split over several accelerators." in screen_text(app)
        await press(pilot, "backspace")
        assert "Accelerators that share one fast fabric." in screen_text(app)
        await press(pilot, "o")
        assert "concepts/scale-up" in screen_text(app)


async def test_the_knowledge_base_is_searched_and_browsed(running, app: RackfitApp) -> None:
    """Typing searches, ctrl+k restricts to a kind, enter reads the first hit."""
    async with running() as pilot:
        await press(pilot, "f8")
        options = app.chat.query_one("#kb-results", OptionList)
        everything = options.option_count
        await press(pilot, "ctrl+k")
        assert options.option_count == 1
        await press(pilot, *"tensor")
        assert options.option_count == 0
        for _ in range(6):
            await press(pilot, "ctrl+k")
        assert 1 <= options.option_count < everything
        await press(pilot, "enter")
        assert "Each layer is split over several accelerators." in screen_text(app)


async def test_an_entry_of_the_knowledge_base_is_shown_in_the_graph(running, app: RackfitApp) -> None:
    """ctrl+g goes from a search hit to its place in the graph."""
    async with running() as pilot:
        await press(pilot, "f8", *"gotcha", "ctrl+g")
        assert app.chat.panel_name == "graph"


@pytest.fixture
def drawn_map(monkeypatch: pytest.MonkeyPatch) -> list[Facts]:
    """A map that says rack from the middle column on; records what it was asked."""
    from advisor.reasoning import heatmap as module

    asked: list[Facts] = []

    def grid(
        kb: KnowledgeBase,
        said: Facts,
        *,
        x_fact: str,
        xs: tuple[float, ...],
        y_fact: str,
        ys: tuple[float, ...],
        progress: object,
    ) -> module.Heatmap:
        asked.append(said)
        words = ("node", "rack", "either", "none")
        row = tuple(words[min(3, 4 * column // len(xs))] for column in range(len(xs)))
        return module.Heatmap(
            x_fact=x_fact, y_fact=y_fact, xs=xs, ys=ys, cells=tuple(row for _ in ys), evaluated=4
        )  # type: ignore[arg-type]

    monkeypatch.setattr(module, "heatmap", grid)
    return asked


async def test_the_map_marks_verdicts_by_letter_and_the_current_point(
    running, app: RackfitApp, drawn_map: list[Facts]
) -> None:
    """Each verdict has its letter; the present requirement is marked."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f5")
        text = screen_text(app)
        for meaning in (" N  nodes", " R  rack", " =  either", " × ", "nothing\u00a0fits", "◉ now"):
            assert meaning in text
        assert app.chat.query_one(MapGrid).current is not None
        assert "◉" in "\n".join(text.splitlines()[3:])


async def test_walking_the_map_and_asking_there(running, app: RackfitApp, drawn_map: list[Facts]) -> None:
    """Arrows move over the map, the line below tells the point, enter makes it the requirement."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f5")
        grid = app.chat.query_one(MapGrid)
        assert grid.grid is not None
        before = grid.cursor
        await press(pilot, "right")
        assert grid.cursor == (before[0] + 1, before[1])
        drawn = grid.grid
        await press(pilot, "enter")
        assert conversation(app).facts["context_tokens"].value == drawn.xs[before[0] + 1]
        assert grid.grid is not drawn
        assert grid.grid.xs[0] == drawn.xs[0]


async def test_the_axes_of_the_map_are_chosen(running, app: RackfitApp, drawn_map: list[Facts]) -> None:
    """x and y offer the numeric facts."""
    async with running() as pilot:
        await ask(pilot)
        await press(pilot, "f5", "y")
        assert "Time per output token (ms)" in screen_text(app)
        await press(pilot, "down", "enter")
        grid = app.chat.query_one(MapGrid).grid
        assert grid is not None
        assert grid.y_fact == "tpot_ms"


async def test_hidden_panels_follow_when_they_are_shown(running, app: RackfitApp) -> None:
    """A panel that was hidden during an answer shows the new state when it comes back."""
    async with running() as pilot:
        await press(pilot, "f3")
        assert "There is no answer yet" in screen_text(app)
        await press(pilot, "f2")
        await ask(pilot)
        await press(pilot, "f3")
        assert "HGX B300" in screen_text(app)


async def test_a_verdict_of_none_says_so(running, app: RackfitApp) -> None:
    """When nothing fits, the status line says it in words."""
    async with running() as pilot:
        conversation(app).answer = recommendation(verdict="none", headline="Nothing on offer fits")
        await ask(pilot)
        assert "NOTHING FITS" in screen_text(app).splitlines()[0]
