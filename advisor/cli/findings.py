"""`rackfit findings`: write the computed reports, or check that they are up to date."""

from __future__ import annotations

import argparse
from pathlib import Path

from advisor.cli.common import add_knowledge_flag, load_for, write_output
from advisor.cli.streams import narrate
from advisor.errors import InputError
from advisor.reading import holds
from advisor.report.findings import build_findings
from advisor.units import shown


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--output", default="docs/findings", metavar="DIR", help="folder to write to (default docs/findings)"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when a file differs")
    add_knowledge_flag(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the reports."""
    folder = Path(arguments.output)
    files = build_findings(load_for(arguments))
    if arguments.check:
        stale = [name for name, text in files.items() if not holds(folder / name, text.encode())]
        for name in stale:
            narrate(f"{folder / name} is out of date; run `rackfit findings`")
        return 1 if stale else 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"--output: cannot make {shown(arguments.output)}: {error.strerror}; give a writable folder"
        ) from error
    for name, text in files.items():
        write_output(str(folder / name), text)
    narrate(f"{len(files)} files written to {folder}")
    return 0
