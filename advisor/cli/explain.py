"""`rackfit explain CODE`: what a lint code means and how to fix it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from advisor.cli.streams import data, narrate
from advisor.errors import InputError
from advisor.lint.check import all_checks, find_check
from advisor.lint.docs import files, page
from advisor.lint.files import write_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("code", nargs="?", help="a code such as KB403, or its name, claim-mismatch")
    parser.add_argument("--list", action="store_true", help="one line for each code")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="json: the parts of the page"
    )
    parser.add_argument("--write", type=Path, metavar="DIR", help="write the pages of all codes there")


def run(arguments: argparse.Namespace) -> int:
    """Print one page, the list of codes, or write all pages."""
    if arguments.write:
        _write(arguments.write)
    elif arguments.list:
        for check in all_checks().values():
            data(f"{check.code}  {check.severity:<7}  {check.name:<24}  {' '.join(check.summary.split())}")
    elif arguments.code:
        check = find_check(arguments.code)
        if arguments.format == "json":
            parts = {
                "code": check.code,
                "name": check.name,
                "severity": check.severity,
                "summary": check.summary,
            }
            data(
                json.dumps(
                    {**parts, "fixable": check.fixer is not None, "sections": check.sections}, indent=2
                )
            )
        else:
            data(page(check), end="")
    else:
        raise InputError("explain: name a code, such as KB403, or use --list")
    return 0


def _write(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--write {folder}: {error.strerror}") from None
    pages = files()
    for name, text in pages.items():
        write_text(folder / name, text)
    for stale in folder.glob("KB*.md"):
        if stale.name not in pages:
            stale.unlink()
    narrate(f"{len(pages)} pages written to {folder}")
