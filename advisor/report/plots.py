"""The verdict map as text, JSON, SVG and PNG. A letter in each cell carries the verdict; colour only helps."""

from __future__ import annotations

import io
import json
import textwrap
from html import escape

from advisor.errors import InputError
from advisor.evidence.citation import DERIVED
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.heatmap import Heatmap
from advisor.report.charts import LINE, small_print, small_print_svg
from advisor.units import format_count, format_tokens

LETTERS = {"node": "n", "rack": "R", "either": "=", "none": "."}
MEANING = {"node": "nodes", "rack": "rack", "either": "either (a tie)", "none": "nothing fits"}
_COLOURS = {"node": "#d9e8f5", "rack": "#e8883a", "either": "#cfcfcf", "none": "#ffffff"}
_LEFT, _TOP, _CELL = 110, 40, 8
_LEGEND = 640
"""Pixels: the least width that holds the legend."""


def _notices(grid: Heatmap) -> tuple[str, ...]:
    """What must be said beside the verdicts: that they are derived, and the notices of the sources they rest on."""
    if not grid.disclaimers:
        return ()
    return (f"Verdicts rest on audited results and are {DERIVED}.", *grid.disclaimers)


def _frame(grid: Heatmap) -> tuple[int, int, list[str]]:
    """Width and height of the picture, and the lines of its small print."""
    width = max(_LEFT + _CELL * len(grid.xs) + 20, _LEGEND)
    lines = small_print(_notices(grid), width)
    return width, _TOP + _CELL * len(grid.ys) + 80 + LINE * len(lines), lines


def _label(kb: KnowledgeBase, name: str, value: float) -> str:
    fact = kb.facts[name]
    if fact.unit == "tokens":
        return format_tokens(value)
    return format_count(value)


def _axis_title(kb: KnowledgeBase, name: str) -> str:
    fact = kb.facts[name]
    return f"{fact.title} ({fact.unit})" if fact.unit else fact.title


def map_text(kb: KnowledgeBase, grid: Heatmap, *, columns: int = 100) -> str:
    """Letters, y upwards, at most `columns` wide (every nth column is shown when there are more)."""
    stride = max(1, -(-len(grid.xs) // max(columns - 14, 10)))
    shown = range(0, len(grid.xs), stride)
    row_stride = max(1, -(-len(grid.ys) // 40))
    lines = [f"{_axis_title(kb, grid.y_fact)} upwards, {_axis_title(kb, grid.x_fact)} to the right", ""]
    for row in reversed(range(0, len(grid.ys), row_stride)):
        cells = "".join(LETTERS[grid.cells[row][c]] for c in shown)
        lines.append(f"{_label(kb, grid.y_fact, grid.ys[row]):>10} │ {cells}")
    lines.append(" " * 11 + "└" + "─" * (len(shown) + 1))
    first, last = _label(kb, grid.x_fact, grid.xs[0]), _label(kb, grid.x_fact, grid.xs[shown[-1]])
    lines.append(" " * 13 + first + last.rjust(max(len(shown) - len(first), len(last) + 1)))
    used = {verdict for line in grid.cells for verdict in line}
    lines += ["", "  ".join(f"{LETTERS[v]} {MEANING[v]}" for v in LETTERS if v in used)]
    for text in _notices(grid):
        lines += ["", *textwrap.wrap(text, columns)]
    return "\n".join(lines) + "\n"


def map_json(grid: Heatmap) -> str:
    """The grid as JSON: axes with their values, rows of verdicts (y ascending), and what must be said beside them."""
    return json.dumps(
        {
            "x": {"fact": grid.x_fact, "values": grid.xs},
            "y": {"fact": grid.y_fact, "values": grid.ys},
            "verdicts": grid.cells,
            "evaluated": grid.evaluated,
            "disclaimers": _notices(grid),
        }
    ) + "\n"  # fmt: skip


def map_svg(kb: KnowledgeBase, grid: Heatmap, title: str) -> str:
    """A picture with axes and a legend; each run of equal cells is one rectangle with its meaning as tooltip."""
    width, height, notes = _frame(grid)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/><text x="{_LEFT}" y="20" font-weight="bold">{escape(title)}</text>',
    ]
    for row, cells in enumerate(grid.cells):
        y = _TOP + _CELL * (len(grid.ys) - 1 - row)
        start = 0
        for column in range(1, len(cells) + 1):
            if column == len(cells) or cells[column] != cells[start]:
                verdict = cells[start]
                out.append(
                    f'<rect x="{_LEFT + _CELL * start}" y="{y}" width="{_CELL * (column - start)}" height="{_CELL}" '
                    f'fill="{_COLOURS[verdict]}"><title>{MEANING[verdict]}</title></rect>'
                )
                start = column
    bottom = _TOP + _CELL * len(grid.ys)
    for position in sorted({0, len(grid.xs) // 2, len(grid.xs) - 1}):
        x = _LEFT + _CELL * (position + 0.5)
        label = escape(_label(kb, grid.x_fact, grid.xs[position]))
        out.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{label}</text>')
    for position in sorted({0, len(grid.ys) // 2, len(grid.ys) - 1}):
        height_at = _TOP + _CELL * (len(grid.ys) - position - 0.5) + 4
        label = escape(_label(kb, grid.y_fact, grid.ys[position]))
        out.append(f'<text x="{_LEFT - 8}" y="{height_at}" text-anchor="end">{label}</text>')
    out.append(f'<text x="{_LEFT}" y="{bottom + 34}">{escape(_axis_title(kb, grid.x_fact))} →</text>')
    out.append(f'<text x="4" y="{_TOP - 8}">{escape(_axis_title(kb, grid.y_fact))} ↑</text>')
    x = _LEFT
    for name in LETTERS:
        out.append(
            f'<rect x="{x}" y="{bottom + 48}" width="14" height="14" fill="{_COLOURS[name]}" stroke="#888888"/>'
            f'<text x="{x + 20}" y="{bottom + 60}">{MEANING[name]}</text>'
        )
        x += 130
    return "\n".join([*out, *small_print_svg(notes, bottom + 80), "</svg>"]) + "\n"


def map_png(kb: KnowledgeBase, grid: Heatmap, title: str) -> bytes:
    """The same picture as a bitmap. Raises InputError when Pillow is not installed."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise InputError("--format png needs Pillow; install rackfit[plots], or use --format svg") from error
    width, height, notes = _frame(grid)
    image = Image.new("RGB", (width, height), "#ffffff")
    draw = ImageDraw.Draw(image)
    draw.text((_LEFT, 8), title, fill="#000000")
    for row, cells in enumerate(grid.cells):
        y = _TOP + _CELL * (len(grid.ys) - 1 - row)
        for column, verdict in enumerate(cells):
            x = _LEFT + _CELL * column
            draw.rectangle((x, y, x + _CELL - 1, y + _CELL - 1), fill=_COLOURS[verdict])
    bottom = _TOP + _CELL * len(grid.ys)
    for position in (0, len(grid.xs) - 1):
        draw.text(
            (_LEFT + _CELL * position, bottom + 4), _label(kb, grid.x_fact, grid.xs[position]), fill="#000000"
        )
    for position in (0, len(grid.ys) - 1):
        y = _TOP + _CELL * (len(grid.ys) - 1 - position)
        draw.text((4, y), _label(kb, grid.y_fact, grid.ys[position]), fill="#000000")
    draw.text((_LEFT, bottom + 22), _axis_title(kb, grid.x_fact), fill="#000000")
    draw.text((4, _TOP - 16), _axis_title(kb, grid.y_fact), fill="#000000")
    for index, name in enumerate(LETTERS):
        x = _LEFT + 130 * index
        draw.rectangle((x, bottom + 48, x + 14, bottom + 62), fill=_COLOURS[name], outline="#888888")
        draw.text((x + 20, bottom + 48), MEANING[name], fill="#000000")
    for index, line in enumerate(notes):
        draw.text((10, bottom + 70 + LINE * index), line, fill="#444444")
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
