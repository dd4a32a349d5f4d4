"""`rackfit graph [ID]`: the concept graph, whole or around one entry."""

from __future__ import annotations

import argparse

from advisor.cli.common import add_knowledge_flag, add_output_flag, load_for, write_output
from advisor.cli.show import resolve
from advisor.cli.streams import data
from advisor.errors import InputError
from advisor.report.graphs import graph_as, neighbourhood


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("id", nargs="?", help="entry to stand in the middle; without it, all concepts")
    parser.add_argument("--depth", type=int, default=1, help="links to follow from it (default 1)")
    parser.add_argument("--format", choices=("text", "dot", "json", "svg"), default="text")
    add_output_flag(parser)
    add_knowledge_flag(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the graph."""
    if not 1 <= arguments.depth <= 6:
        raise InputError(f"--depth: {arguments.depth} is out of range; give 1 to 6")
    kb = load_for(arguments)
    centre = resolve(kb, arguments.id).id if arguments.id else None
    content = graph_as(arguments.format, kb, neighbourhood(kb, centre, depth=arguments.depth), centre)
    if arguments.output:
        write_output(arguments.output, content)
    else:
        data(content, end="")
    return 0
