"""`rackfit lint [PATH…]`: check a knowledge base."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from advisor.lint.runner import Target, kb_root, lint_target, replaced_entries
from advisor.lint.watch import changes


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add = parser.add_argument
    add("paths", nargs="*", type=Path, metavar="PATH",
        help="knowledge base folders, or files and folders in one (default: ./kb, else the shipped one)")  # fmt: skip
    add("--kb", action="append", default=[], type=Path, metavar="DIR",
        help="lint DIR as private entries over the knowledge base of PATH, and report only what is in DIR; repeatable")  # fmt: skip
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
    findings = _lint(targets, options, cache=not arguments.no_cache)
    if arguments.diff:
        return _show_changes(arguments, targets, options, findings)
    if arguments.fix or arguments.unsafe_fixes:
        written = write_changes(_changes(arguments, targets, options, findings))
        narrate(f"{_files(len(written))} mended")
        if written:
            findings = _lint(targets, options, cache=not arguments.no_cache)
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
    _report(arguments, targets, [replace(finding, path=_short(finding.path)) for finding in findings])
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
    """What to lint: each knowledge base with the paths in it, or the overlays over one."""
    paths: list[Path] = arguments.paths or [Path("kb") if Path("kb").is_dir() else kb_folder()]
    if arguments.kb:
        roots = [kb_root(path) for path in paths]
        if not arguments.paths:
            roots = [kb_folder()]
        layers = [*roots, *arguments.kb]
        return [
            Target(root=overlay, below=tuple(layers[: len(roots) + i]))
            for i, overlay in enumerate(arguments.kb)
        ]
    by_root: dict[Path, tuple[Path, list[Path]]] = {}
    for path in paths:
        root = kb_root(path)
        by_root.setdefault(root.resolve(), (root, []))[1].append(path)
    return [
        Target(root=root, only=() if resolved in [path.resolve() for path in only] else tuple(only))
        for resolved, (root, only) in by_root.items()
    ]


def _is_installed(targets: Sequence[Target]) -> bool:
    """Whether a target is the knowledge base inside the installed package, which nobody edits."""
    return any("_data" in target.root.resolve().parts and target.root == kb_folder() for target in targets)


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
    return options.choose(
        finding for target in targets for finding in lint_target(target, options, cache=cache)
    )


def _short(path: str) -> str:
    """A path as seen from the working folder, where it lies below it."""
    if not path.startswith("/"):
        return path
    inside = os.path.relpath(path)
    return path if inside.startswith("..") else inside


def _report(arguments: argparse.Namespace, targets: Sequence[Target], findings: Sequence[Finding]) -> None:
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
    narrate(_summary(findings, targets))


def _summary(findings: Sequence[Finding], targets: Sequence[Target]) -> str:
    if not findings:
        return f"no findings in {', '.join(str(target.root) for target in targets)}"
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
