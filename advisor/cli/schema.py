"""`rackfit schema KIND`: print a JSON Schema."""

from __future__ import annotations

import argparse
import json

from advisor.cli.streams import data
from advisor.knowledge.schema import load_schema


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("kind", help="gotcha, concept, evidence, model, …, common or recommendation")


def run(arguments: argparse.Namespace) -> int:
    """Print the schema as JSON."""
    data(json.dumps(load_schema(arguments.kind), indent=2, ensure_ascii=False))
    return 0
