"""`rackfit search TEXT`: full-text search of the knowledge base."""

from __future__ import annotations

import argparse
import json

from advisor.cli.common import add_knowledge_flag, load_for
from advisor.cli.streams import data, narrate
from advisor.errors import InputError
from advisor.knowledge.search import kind_folder, search
from advisor.records import SCHEMA_NAMES
from advisor.units import shown


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("text", nargs="+", help="words to look for; typing errors are forgiven")
    parser.add_argument("--kind", default="", help=f"only one kind: {', '.join(SCHEMA_NAMES.values())}")
    parser.add_argument("--limit", type=int, default=12, help="how many results (default 12)")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_knowledge_flag(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the hits, best first; status 1 when there is none."""
    kind = kind_folder(SCHEMA_NAMES, arguments.kind) if arguments.kind else ""
    if kind is None:
        raise InputError(
            f"--kind: no kind {shown(arguments.kind)}; one of {', '.join(SCHEMA_NAMES.values())}"
        )
    if not 1 <= arguments.limit <= 1000:
        raise InputError(f"--limit: {arguments.limit} is out of range; give 1 to 1000")
    hits = search(load_for(arguments), " ".join(arguments.text), limit=arguments.limit, kind=kind)
    if arguments.format == "json":
        rows = [
            {"id": h.id, "title": h.title, "kind": h.kind, "score": round(h.score, 3), "excerpt": h.excerpt}
            for h in hits
        ]
        data(json.dumps(rows, indent=2, ensure_ascii=False))
    for hit in hits if arguments.format == "text" else ():
        data(f"{hit.id}\n    {hit.title}" + (f"\n    {hit.excerpt}" if hit.excerpt else ""))
    if not hits:
        narrate("nothing found; try fewer or other words, or `rackfit graph` to browse")
    return 0 if hits else 1
