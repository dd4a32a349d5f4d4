"""Arguments that several commands share, and loading the knowledge base they name."""

from __future__ import annotations

import argparse
from pathlib import Path

from advisor.cli.streams import narrate
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase, load_knowledge
from advisor.units import shown


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
    """Write a file atomically. Raises InputError when the place cannot be written."""
    import os
    import tempfile

    target = Path(path)
    raw = content.encode() if isinstance(content, str) else content
    try:
        handle, name = tempfile.mkstemp(dir=target.parent or Path(), prefix=f".{target.name}.", suffix=".tmp")
    except OSError as error:
        raise InputError(
            f"--output: cannot write {shown(path)}: {error.strerror}; give a path in a writable folder"
        ) from error
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(raw)
            out.flush()
            os.fsync(out.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise InputError(
            f"--output: cannot write {shown(path)}: {error.strerror}; give a path in a writable folder"
        ) from error
