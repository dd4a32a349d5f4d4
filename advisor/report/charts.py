"""Horizontal bar charts as SVG text: deterministic, readable without colour, every bar with its figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_LABEL, _PLOT, _ROW = 420, 520, 18


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar: its label, value and a word shown after the figure."""

    label: str
    value: float
    note: str = ""


def bar_chart(title: str, bars: Sequence[Bar], *, reference: float | None = None, unit: str = "") -> str:
    """Bars from zero, in the order given, with a line at `reference`. Values beyond 4 x the reference are cut and say so."""
    cap = 4 * reference if reference else max((bar.value for bar in bars), default=1.0)
    top = min(cap, max((bar.value for bar in bars), default=1.0)) or 1.0
    height = 60 + _ROW * len(bars)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LABEL + _PLOT + 130} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="100%" height="100%" fill="#ffffff"/><text x="8" y="22" font-weight="bold" font-size="14">{escape(title)}</text>',
    ]
    if reference is not None and bars:
        at = _LABEL + _PLOT * min(reference, top) / top
        out.append(
            f'<line x1="{at:.1f}" y1="34" x2="{at:.1f}" y2="{height - 14}" stroke="#222222" stroke-dasharray="3 3"/>'
        )
    for index, bar in enumerate(bars):
        y = 40 + _ROW * index
        width = _PLOT * min(bar.value, top) / top
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
        out.append(f'<rect x="{_LABEL}" y="{y + 2}" width="{width:.1f}" height="{_ROW - 5}" fill="{fill}"/>')
        out.append(f'<text x="{_LABEL + width + 6:.1f}" y="{y + 12}">{escape(figure)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
