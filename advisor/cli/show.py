"""`rackfit show ID`: one entry as a page, or as JSON."""

from __future__ import annotations

import argparse

import msgspec

from advisor.cli.common import add_knowledge_flag, load_for
from advisor.cli.streams import data
from advisor.errors import UnknownIdError
from advisor.knowledge.base import KnowledgeBase, fold
from advisor.records import Entry
from advisor.report.page import entry_page


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("id", help="id such as gotchas/…, or a name that only one entry has")
    parser.add_argument("--format", choices=("markdown", "json", "text"), default="text")
    add_knowledge_flag(parser)


def resolve(kb: KnowledgeBase, name: str) -> Entry:
    """The entry of an id, or the only one called so. Raises UnknownIdError with the choices."""
    ids = {i: None for table in kb.names.values() for i in table.get(fold(name), ())}
    if name in kb.entries or not ids:
        return kb.get(name)
    if len(ids) > 1:
        raise UnknownIdError(f"'{name}' names several entries; give one of: {', '.join(ids)}")
    return kb.entries[next(iter(ids))]


def run(arguments: argparse.Namespace) -> int:
    """Print the page."""
    kb = load_for(arguments)
    entry = resolve(kb, arguments.id)
    if arguments.format == "json":
        data(msgspec.json.format(msgspec.json.encode(entry)).decode())
    elif arguments.format == "markdown":
        data(entry_page(kb, entry), end="")
    else:
        from advisor.report.terminal import markdown_to_text

        data(markdown_to_text(entry_page(kb, entry)), end="")
    return 0
