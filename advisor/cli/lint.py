"""`rackfit lint [PATH…]`: check a knowledge base."""

from __future__ import annotations

import argparse
from pathlib import Path

from advisor.cli.streams import data, narrate
from advisor.knowledge.locate import kb_folder
from advisor.lint.runner import Target, kb_root, lint_target


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="knowledge base folders, or files in one")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings. Returns 1 when there are any."""
    paths: list[Path] = arguments.paths or [Path("kb") if Path("kb").is_dir() else kb_folder()]
    by_root: dict[Path, list[Path]] = {}
    for path in paths:
        by_root.setdefault(kb_root(path), []).append(path)
    targets = [Target(root=root, only=() if root in only else tuple(only)) for root, only in by_root.items()]
    findings = [finding for target in targets for finding in lint_target(target)]
    for finding in findings:
        data(finding.one_line())
    narrate(f"{len(findings)} findings" if findings else "no findings")
    return 1 if findings else 0
