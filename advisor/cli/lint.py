"""`rackfit lint [PATH…]`: check a knowledge base."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from advisor.cli.common import write_output
from advisor.cli.streams import data, narrate
from advisor.errors import InputError, RackfitError
from advisor.knowledge.findings import Finding
from advisor.knowledge.locate import kb_folder
from advisor.lint.baseline import compare, load_baseline, write_baseline
from advisor.lint.check import all_checks
from advisor.lint.fix import Change, is_fixable, plan_changes, write_changes
from advisor.lint.options import SEVERITIES, Options, expand_codes, find_config, load_options, parse_severity
from advisor.lint.reporters import REPORTERS
from advisor.lint.runner import lint_target, replaced_entries
from advisor.lint.targets import Target, targets_of
from advisor.lint.unchecked import unchecked_files
from advisor.lint.watch import changes

_NAMED = 3
"""Paths or entries that a message names."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add = parser.add_argument
    add("paths", nargs="*", type=Path, metavar="PATH",
        help="knowledge base folders, or files and folders in one, of which only these are reported; entries that are no "
        "knowledge base of their own are linted over the shipped one (default: ./kb, else the shipped one)")  # fmt: skip
    add("--kb", action="append", default=[], type=Path, metavar="DIR",
        help="lint DIR over the knowledge base of PATH (default: the shipped one), or over the DIRs before it; repeatable. "
        "A PATH inside DIR limits the report to it")  # fmt: skip
    add(
        "--format",
        default="text",
        choices=sorted(REPORTERS),
        help="text shows the source; concise is one line each",
    )
    add("--output", type=Path, metavar="FILE", help="write the report there instead of standard output")
    add(
        "--select",
        action="append",
        default=[],
        metavar="CODES",
        help="only these codes, names or families (KB6)",
    )
    add("--ignore", action="append", default=[], metavar="CODES", help="not these codes, names or families")
    add("--fail-on", choices=SEVERITIES, help="mildest severity that gives status 1 (default: info, so any)")
    add("--baseline", type=Path, metavar="FILE", help="report only what this file does not already accept")
    add(
        "--write-baseline",
        type=Path,
        metavar="FILE",
        help="accept all present findings in FILE, and end with status 0",
    )
    add("--fix", action="store_true", help="mend what can be mended without changing what an entry says")
    add(
        "--unsafe-fixes",
        action="store_true",
        help="mend also what may change what an entry says; implies --fix",
    )
    add("--diff", action="store_true", help="print what --fix would change, and change nothing")
    add("--statistics", action="store_true", help="count the findings by code instead of listing them")
    add("--config", type=Path, metavar="FILE", help=".rackfit.toml or pyproject.toml (default: the nearest)")
    add("--no-config", action="store_true", help="read no configuration file")
    add("--watch", action="store_true", help="lint again whenever a file changes, until interrupted")
    add("--no-cache", action="store_true", help="check everything again")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings. Returns 1 when there are any of the severities that count."""
    targets = _targets(arguments)
    if (arguments.fix or arguments.unsafe_fixes) and not arguments.diff and _is_installed(targets):
        raise InputError("--fix: these are the entries of the installed rackfit; name the folder to mend")
    options = _options(arguments, targets[0].root)
    if not arguments.watch:
        return _once(arguments, targets, options)
    try:
        for _ in changes([target.root for target in targets]):
            narrate(f"--- {datetime.datetime.now():%H:%M:%S}")
            try:
                _once(arguments, targets, options)
            except RackfitError as error:
                narrate(f"rackfit: {error}")
            sys.stdout.flush()
    except KeyboardInterrupt:
        narrate("stopped watching")
    return 0


def _once(arguments: argparse.Namespace, targets: Sequence[Target], options: Options) -> int:
    for target in targets:
        for entry_id in replaced_entries(target):
            narrate(f"{target.root} replaces {entry_id}")
    found = _lint(targets, options, cache=not arguments.no_cache)
    findings = options.choose(found)
    if arguments.diff:
        return _show_changes(arguments, targets, options, findings)
    if arguments.fix or arguments.unsafe_fixes:
        written = write_changes(_changes(arguments, targets, options, findings))
        narrate(f"{_files(len(written))} mended")
        if written:
            found = _lint(targets, options, cache=not arguments.no_cache)
            findings = options.choose(found)
    if arguments.write_baseline:
        write_baseline(findings, arguments.write_baseline)
        narrate(f"{arguments.write_baseline} accepts {len(findings)} findings")
        return 0
    if options.baseline:
        compared = compare(findings, load_baseline(options.baseline), options.baseline)
        findings = compared.new
        if compared.gone:
            narrate(
                f"{compared.gone} findings of {options.baseline} no longer occur; write it again to keep them out"
            )
    _report(
        arguments, targets, options, [replace(finding, path=_short(finding.path)) for finding in findings]
    )
    _tell_unchecked(unchecked_files(found, findings, options))
    return 1 if options.fails(findings) else 0


def _changes(
    arguments: argparse.Namespace, targets: Sequence[Target], options: Options, findings: Sequence[Finding]
) -> Iterator[Change]:
    return plan_changes(findings, [target.root for target in targets], options, unsafe=arguments.unsafe_fixes)


def _show_changes(
    arguments: argparse.Namespace, targets: Sequence[Target], options: Options, findings: Sequence[Finding]
) -> int:
    """Print what --fix would do as a patch. Returns 1 when it would do anything."""
    count = 0
    for change in _changes(arguments, targets, options, findings):
        data(change.diff(_short(str(change.path))), end="")
        count += 1
    narrate(f"{_files(count)} would change")
    return 1 if count else 0


def _files(count: int) -> str:
    return f"{count} file{'s' * (count != 1)}"


def _targets(arguments: argparse.Namespace) -> list[Target]:
    """What to lint; without any path the knowledge base in the working folder, else the shipped one."""
    usual = [] if arguments.kb else [Path("kb") if Path("kb").is_dir() else kb_folder()]
    return targets_of(arguments.paths or usual, arguments.kb)


def _is_installed(targets: Sequence[Target]) -> bool:
    """Whether a target is the knowledge base inside the installed package, which nobody edits."""
    return any("_data" in target.root.resolve().parts and target.root == kb_folder() for target in targets)


def _listed(paths: Sequence[Path]) -> str:
    """The paths by name where they are few, else how many."""
    return ", ".join(map(str, paths)) if len(paths) <= _NAMED else f"{len(paths)} files and folders"


def _options(arguments: argparse.Namespace, root: Path) -> Options:
    config = None if arguments.no_config else arguments.config or find_config(root)
    options = load_options(config)
    if arguments.select:
        options = replace(options, select=expand_codes(arguments.select))
    if arguments.ignore:
        options = replace(options, ignore=options.ignore | expand_codes(arguments.ignore))
    if arguments.fail_on:
        options = replace(options, fail_on=parse_severity(arguments.fail_on, "--fail-on"))
    if arguments.baseline:
        options = replace(options, baseline=arguments.baseline)
    return options


def _lint(targets: Sequence[Target], options: Options, *, cache: bool) -> list[Finding]:
    return [finding for target in targets for finding in lint_target(target, options, cache=cache)]


def _tell_unchecked(files: Mapping[str, str]) -> None:
    """Say which entries were not looked into because of errors that the report leaves out."""
    if not files:
        return
    names = [f"{_short(path)} ({code})" for path, code in islice(files.items(), _NAMED)]
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    what = "entry" if len(files) == 1 else "entries"
    narrate(
        f"{len(files)} {what} could not be checked for the codes asked for, because of errors of other codes:"
        f" {', '.join(names)}{more}; lint without --select, --ignore and baseline to see them"
    )


def _short(path: str) -> str:
    """A path as seen from the working folder, where it lies below it."""
    inside = os.path.relpath(path)
    return path if inside.startswith("..") else inside


def _report(
    arguments: argparse.Namespace, targets: Sequence[Target], options: Options, findings: Sequence[Finding]
) -> None:
    if arguments.statistics and arguments.format in ("text", "concise"):
        counts = Counter(finding.code for finding in findings)
        text = "\n".join(
            f"{count:>6}  {code}  {all_checks()[code].name}"
            for code, count in sorted(counts.items(), key=lambda c: (-c[1], c))
        )
    else:
        text = REPORTERS[arguments.format](findings)
    if arguments.output:
        write_output(str(arguments.output), text + "\n")
    elif text:
        data(text)
    narrate(_summary(findings, targets, known=bool(options.baseline)))


def _summary(findings: Sequence[Finding], targets: Sequence[Target], *, known: bool) -> str:
    """One line about the report. known: a baseline took findings out of it."""
    if not findings:
        return f"no {'new ' if known else ''}findings in {_listed([path for target in targets for path in target.only or (target.root,)])}"
    counts = Counter(finding.severity for finding in findings)
    parts = ", ".join(
        f"{counts[s]} {s}{'s' if counts[s] > 1 and s != 'info' else ''}"
        for s in reversed(SEVERITIES)
        if counts[s]
    )
    files = len({finding.path for finding in findings})
    fixable = sum(map(is_fixable, findings))
    tail = f"; {fixable} can be mended by --fix" if fixable else ""
    total = len(findings)
    return (
        f"{total} finding{'s' if total > 1 else ''} ({parts}) in {files} file{'s' if files > 1 else ''}{tail}"
    )
