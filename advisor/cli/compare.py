"""`rackfit compare`: comparable evidence pairs, the silicon and scale effects, and the noise they must beat."""

from __future__ import annotations

import argparse

from advisor.cli.common import add_knowledge_flag, add_output_flag, load_for, write_output
from advisor.cli.streams import data, narrate

_FORMATS = ("text", "json", "csv")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--model", metavar="NAME", help="model or benchmark, such as llama-2-70b or deepseek-r1"
    )
    parser.add_argument("--scenario", choices=("offline", "server", "interactive"), type=str.lower)
    parser.add_argument("--round", metavar="ROUND", help="benchmark round, such as v6.1")
    parser.add_argument("--accelerator", metavar="NAME", help="accelerator of either side, such as gb300")
    parser.add_argument("--submitter", metavar="NAME", help="submitter of either side")
    parser.add_argument(
        "--kind", choices=("node-rack", "slice-rack", "node-slice", "node-nodes", "rack-racks")
    )
    parser.add_argument("--grade", choices=("A", "B", "C"), type=str.upper, help="this grade or better")
    parser.add_argument(
        "--include-preview", action="store_true", help="also systems that cannot be bought yet"
    )
    parser.add_argument("--all", action="store_true", help="in text, list every pair across submitters too")
    parser.add_argument("--format", choices=_FORMATS, default="text")
    add_output_flag(parser)
    add_knowledge_flag(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the pairs in the format asked for."""
    from advisor.evidence.listing import Selection, find_listing
    from advisor.report.pairs import listing_csv, listing_json, listing_text

    kb = load_for(arguments)
    listing = find_listing(
        kb,
        Selection(
            model=arguments.model or "",
            scenario=arguments.scenario or "",
            round=arguments.round or "",
            accelerator=arguments.accelerator or "",
            submitter=arguments.submitter or "",
            kind=arguments.kind or "",
            grade=arguments.grade or "",
            include_preview=arguments.include_preview,
        ),
    )
    if arguments.format == "csv":
        content = listing_csv(listing)
        for notice in (listing.note, *listing.notices):
            narrate(notice)
    else:
        content = (
            listing_json(listing)
            if arguments.format == "json"
            else listing_text(listing, every=arguments.all)
        )
    if not listing.pairs:
        narrate("no comparable pair matches; leave out a filter")
    if arguments.output:
        write_output(arguments.output, content)
    else:
        data(content, end="")
    return 0
