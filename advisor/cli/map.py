"""`rackfit map`: the verdict over two inputs."""

from __future__ import annotations

import argparse
import sys

from advisor.cli.common import add_output_flag, write_output
from advisor.cli.requirement import add_requirement_flags, read_requirement
from advisor.cli.streams import data, narrate
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.reasoning.heatmap import axis, heatmap
from advisor.records import Facts
from advisor.report.plots import map_json, map_png, map_svg, map_text
from advisor.units import parse_number, parse_tokens

_DEFAULTS = {"context_tokens": (1024.0, 131072.0), "concurrency": (1.0, 16384.0), "tpot_ms": (4.0, 200.0)}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("text", nargs="*", help="the question in words")
    add_requirement_flags(parser)
    parser.add_argument(
        "--x",
        default="context_tokens",
        metavar="FACT[=LOW:HIGH]",
        help="horizontal axis (default context_tokens)",
    )
    parser.add_argument(
        "--y", default="concurrency", metavar="FACT[=LOW:HIGH]", help="vertical axis (default concurrency)"
    )
    parser.add_argument("--steps", type=int, default=60, help="values on each axis (default 60)")
    parser.add_argument("--format", choices=("text", "json", "svg", "png"), default="text")
    add_output_flag(parser)


def run(arguments: argparse.Namespace) -> int:
    """Draw the map."""
    kb, said, notes = read_requirement(arguments, " ".join(arguments.text))
    for note in notes:
        narrate(note)
    if "model" not in said:
        raise InputError(
            "which model? give --model with a name such as llama-3.1-405b, or --config with a config.json"
        )
    x_fact, xs = _axis(kb, said, arguments.x, arguments.steps, "--x")
    y_fact, ys = _axis(kb, said, arguments.y, arguments.steps, "--y")
    if x_fact == y_fact:
        raise InputError(f"--y: {y_fact} is on the other axis already; choose another fact")
    grid = heatmap(kb, said, x_fact=x_fact, xs=xs, y_fact=y_fact, ys=ys)
    title = f"Node or rack: {kb.entries[str(said['model'].value)].title}"
    content: str | bytes
    if arguments.format == "png":
        content = map_png(kb, grid, title)
    elif arguments.format == "svg":
        content = map_svg(kb, grid, title)
    else:
        content = map_json(grid) if arguments.format == "json" else map_text(kb, grid)
    if arguments.output:
        write_output(arguments.output, content)
    elif isinstance(content, bytes):
        if sys.stdout.isatty():
            raise InputError("--format png writes bytes; give --output FILE or redirect")
        sys.stdout.buffer.write(content)
    else:
        data(content, end="")
    return 0


def _axis(kb: KnowledgeBase, said: Facts, given: str, steps: int, flag: str) -> tuple[str, tuple[float, ...]]:
    name, _, span = given.partition("=")
    name = name.strip().replace("-", "_")
    fact = kb.facts.get(name)
    if span:
        low_text, separator, high_text = span.partition(":")
        if not separator:
            raise InputError(f"{flag}: '{span[:40]}' is no range; write LOW:HIGH, such as 1k:128k")
        read = parse_tokens if fact is not None and fact.unit == "tokens" else parse_number
        low, high = float(read(low_text, what=flag)), float(read(high_text, what=flag))
    else:
        low, high = _DEFAULTS.get(name, (1.0, 1000.0))
        if name == "context_tokens" and "model" in said:
            high = kb.models[str(said["model"].value)].context_limit.number
            low = min(low, high / 4)
    return name, axis(kb, name, low, high, steps)
