"""Markdown as lines of content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.records import KINDS
from tui.markdown import KIND_FOLDERS, lay_out, links_in

TABLE = "| system | tok/s |\n|---|--:|\n| HGX B300 | 14,441 |\n| GB300 NVL72 | 15,779 |\n"


def plain(text: str, width: int = 40) -> list[str]:
    return [line.plain.rstrip() for line in lay_out(text, width)]


def test_list_items_hang_under_their_text() -> None:
    """A wrapped list item continues under its first word, not under the bullet."""
    assert plain("- one two three four five", 16) == ["• one two three", "  four five"]


def test_ordered_lists_keep_their_numbers() -> None:
    """An ordered list starts at the number it was written with."""
    assert plain("3. a\n4. b") == ["3. a", "4. b"]


def test_table_aligns_numbers_to_the_right() -> None:
    """Columns marked as right-aligned end at the same place."""
    assert plain(TABLE) == [
        "system        tok/s",
        "───────────  ──────",
        "HGX B300     14,441",
        "GB300 NVL72  15,779",
    ]


def test_table_too_wide_becomes_records() -> None:
    """Where columns cannot be read any more, each row becomes a list of `name: value`."""
    assert plain(TABLE, 12)[:2] == ["system: HGX", "B300"]


def test_code_keeps_its_spaces() -> None:
    """Code is not re-wrapped at words."""
    assert plain("```\na  =  1\n```") == ["  a  =  1"]


def test_markup_of_the_console_is_text() -> None:
    """Square brackets are shown as typed: nothing is parsed as console markup."""
    assert plain("[b]bold[/b] [@click=app.quit]x[/]") == ["[b]bold[/b] [@click=app.quit]x[/]"]


def test_html_is_text() -> None:
    """HTML is shown, not interpreted."""
    assert plain("a <script>b</script>") == ["a <script>b</script>"]


def test_links_are_found_once_and_in_order() -> None:
    """Entry ids and addresses of a text can be offered to the keyboard."""
    text = (
        "See `gotchas/a-b`, [site](https://example.org) and evidence/mlperf-v6.1/acme/x-8. Again gotchas/a-b."
    )
    assert links_in(text) == ("gotchas/a-b", "https://example.org", "evidence/mlperf-v6.1/acme/x-8")


def test_entry_ids_open_when_clicked() -> None:
    """An entry id in prose carries the action that opens it."""
    (line,) = lay_out("see models/llama-3.1-70b now", 60)
    actions = [
        span.style.meta["@click"] for span in line.spans if hasattr(span.style, "meta") and span.style.meta
    ]
    assert actions == ["app.open_entry('models/llama-3.1-70b')"]


@pytest.mark.parametrize("width", [1, 4, 9, 40])
def test_wide_characters_stay_inside(width: int) -> None:
    """Characters two cells wide never push a line over the edge."""
    assert all(line.cell_length <= max(4, width) for line in lay_out("日本語テキスト " * 5, width))


@given(st.text(max_size=400), st.integers(4, 120))
def test_any_text_fits_its_width(text: str, width: int) -> None:
    """Whatever the text, no line is wider than asked for and nothing raises."""
    for line in lay_out(text, width):
        assert line.cell_length <= width


def test_every_kind_of_entry_can_be_linked() -> None:
    """Ids of all kinds of the knowledge base are recognised in prose."""
    assert set(KIND_FOLDERS) == set(KINDS)
