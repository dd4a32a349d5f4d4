"""Arguments that several commands share, and loading the knowledge base they name."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from advisor.cli.streams import narrate
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.units import shown
from advisor.visible import visible


def add_knowledge_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--kb DIR`, repeatable."""
    parser.add_argument(
        "--kb", action="append", default=[], metavar="DIR",
        help="folder of private entries laid over the shipped knowledge base; repeatable, later ones win",
    )  # fmt: skip


def load_for(arguments: argparse.Namespace) -> KnowledgeBase:
    """The knowledge base that the arguments name; says on standard error what an overlay replaces."""
    kb = load_knowledge([Path(folder) for folder in arguments.kb])
    for notice in kb.notices:
        narrate(f"note: {notice}")
    return kb


def add_output_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--output FILE`."""
    parser.add_argument(
        "--output", metavar="FILE", help="write there instead of standard output (whole or not at all)"
    )


def write_output(path: str, content: str | bytes) -> None:
    """Write a file, whole or not at all; a link to it stays a link, a device such as /dev/stdout a device.

    Raises InputError when the place cannot be written.
    """
    from advisor.atomic import replace_file

    raw = visible(content).encode() if isinstance(content, str) else content
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(raw)
        else:
            replace_file(Path(os.path.realpath(path)), raw)
    except OSError as error:
        raise InputError(
            f"--output: cannot write {shown(path)}: {error.strerror}; give a path in a writable folder"
        ) from error
