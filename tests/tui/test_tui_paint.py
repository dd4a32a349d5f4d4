"""How text, bars and marks are drawn, and what never reaches the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from textual.color import Color
from textual.content import Content

from tui.filters import PrintableOnly
from tui.paint import bar, cells, flow, hang, wrap

BLACK = Color.parse("black")


@pytest.mark.parametrize("text", ["plain", "日本　語", "no\u00a0break", "×–≈●"])
def test_glyphs_and_spaces_are_drawn_as_they_are(text: str) -> None:
    """Spaces of every width keep their place."""
    (segment,) = PrintableOnly().apply([Segment(text)], BLACK)
    assert segment.text == text


@given(st.text())
def test_nothing_that_is_no_glyph_is_drawn(text: str) -> None:
    """The last guard lets no escape sequence through, whatever the text."""
    (segment,) = PrintableOnly().apply([Segment(text)], BLACK)
    assert all(c.isprintable() or c.isspace() for c in segment.text)
    assert not set(segment.text) & {"\x1b", "\x07", "\r", "\n", "\u202e", "\x9b"}


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=3), st.floats(1, 1e12), st.integers(5, 120))
def test_a_bar_has_the_width_asked_for(amounts: list[float], total: float, width: int) -> None:
    """Whatever the amounts, a bar is as wide as asked and shows each part that is there."""
    names = ("weights", "kv", "reserve")
    line = bar(list(zip(names, amounts, strict=False)), total, width)
    assert line.cell_length == width


def test_a_full_bar_has_nothing_free() -> None:
    """Parts that fill the total leave no free cell."""
    assert bar([("weights", 50.0), ("kv", 50.0)], 100.0, 10).plain == "█████▓▓▓▓▓"


def test_parts_wrap_between_them() -> None:
    """Chips stay whole; the line breaks between them."""
    parts = [Content("aaaa"), Content("bbbb"), Content("cc")]
    assert [line.plain for line in flow(parts, 10, gap=2)] == ["aaaa  bbbb", "cc"]


def test_hanging_lines_are_indented() -> None:
    """Every line of a wrapped text is indented."""
    assert [line.plain for line in hang("one two three", 10, 2)] == ["  one two", "  three"]


def test_a_long_id_breaks_where_it_has_a_joint() -> None:
    """An id longer than a line goes on after a slash or a hyphen, and words beside it stay whole."""
    lines = [
        line.plain for line in wrap(Content("from evidence/mlperf-v6.1/acme/b300-x8-trt, 1.5 times"), 22)
    ]
    assert lines == ["from evidence/mlperf-", "v6.1/acme/b300-x8-trt,", "1.5 times"]


@given(st.text(alphabet="ab/-._ 中", max_size=80), st.integers(4, 30))
def test_wrapping_loses_nothing_and_fits(text: str, width: int) -> None:
    """Every line fits, and together they hold every character but the spaces they broke at."""
    lines = wrap(Content(text), width)
    assert all(cells(line) <= width for line in lines)
    assert "".join(line.plain for line in lines).replace(" ", "") == text.replace(" ", "")
