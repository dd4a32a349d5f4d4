"""Horizontal bar charts as SVG text: deterministic, readable without colour, every bar with its figure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

_LABEL, _PLOT, _ROW = 420, 520, 18
LINE = 13
"""Pixels from one line of small print to the next."""
_LETTER = 5.6
"""Pixels that a letter of small print takes at most, on average."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar: its label, value and a word shown after the figure."""

    label: str
    value: float
    note: str = ""


def small_print(texts: Iterable[str], width: int) -> list[str]:
    """Lines of the notices below a picture that is `width` pixels wide."""
    return [line for text in texts for line in textwrap.wrap(text, int((width - 20) / _LETTER))]


def small_print_svg(lines: Sequence[str], top: int) -> list[str]:
    """SVG elements of small print whose first line stands at `top`."""
    return [
        f'<text x="10" y="{top + LINE * index}" font-size="10" fill="#444444">{escape(line)}</text>'
        for index, line in enumerate(lines)
    ]


def bar_chart(
    title: str,
    bars: Sequence[Bar],
    *,
    reference: float | None = None,
    unit: str = "",
    notices: Sequence[str] = (),
) -> str:
    """Bars from zero, in the order given, with a line at `reference`, and the notices of their sources below.

    Values beyond 4 x the reference are cut and say so.
    """
    cap = 4 * reference if reference else max((bar.value for bar in bars), default=1.0)
    top = min(cap, max((bar.value for bar in bars), default=1.0)) or 1.0
    width, bottom = _LABEL + _PLOT + 130, 60 + _ROW * len(bars)
    lines = small_print(notices, width)
    height = bottom + LINE * len(lines)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="100%" height="100%" fill="#ffffff"/><text x="8" y="22" font-weight="bold" font-size="14">{escape(title)}</text>',
    ]
    if reference is not None and bars:
        at = _LABEL + _PLOT * min(reference, top) / top
        out.append(
            f'<line x1="{at:.1f}" y1="34" x2="{at:.1f}" y2="{bottom - 14}" stroke="#222222" stroke-dasharray="3 3"/>'
        )
    for index, bar in enumerate(bars):
        y = 40 + _ROW * index
        length = _PLOT * min(bar.value, top) / top
        cut = " →" if bar.value > top else ""
        figure = f"{bar.value:.2f}{unit}{cut}{'  ' + bar.note if bar.note else ''}"
        fill = (
            "#c9c9c9"
            if bar.note == "tie"
            else "#3b6ea5"
            if reference is None or bar.value >= reference
            else "#b5532a"
        )
        out.append(f'<text x="{_LABEL - 8}" y="{y + 12}" text-anchor="end">{escape(bar.label)}</text>')
        out.append(f'<rect x="{_LABEL}" y="{y + 2}" width="{length:.1f}" height="{_ROW - 5}" fill="{fill}"/>')
        out.append(f'<text x="{_LABEL + length + 6:.1f}" y="{y + 12}">{escape(figure)}</text>')
    return "\n".join([*out, *small_print_svg(lines, bottom), "</svg>"]) + "\n"
