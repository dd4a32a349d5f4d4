"""`rackfit calibrate`: fit the performance model again, or measure it on a table without fitting."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.common import add_knowledge_flag, load_for
from advisor.cli.streams import data, narrate
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.units import shown

if TYPE_CHECKING:
    from advisor.records import Calibration
    from advisor.sizing.refit.accuracy import Judged, Slice
    from advisor.sizing.refit.measured import Refusal


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Fit audited rates to the evidence and, with --measured, serving latency to a table of measured servers, and write"
        " the calibration entries. The same data write the same files. With --check nothing is fitted or written."
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--measured", metavar="CSV", help="table of measured latency; without it, serving terms are kept"
    )
    what.add_argument(
        "--check", metavar="CSV", help="predict every row of such a table with the present calibration"
    )
    parser.add_argument(
        "--output",
        default="kb",
        metavar="DIR",
        help="knowledge base to write into (default: kb in the current folder)",
    )
    parser.add_argument(
        "--source", action="append", default=[], metavar="ID",
        help="source entry of the measured table; repeatable; without it, those of the present entries",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=("text", "json", "csv"), default="text", help="csv lists every row of --check"
    )
    add_knowledge_flag(parser)


def run(arguments: argparse.Namespace) -> int:
    """Fit and write, or check; returns 1 when a row of the table could not be used."""
    if arguments.format == "csv" and not arguments.check:
        raise InputError("--format csv lists predictions row by row; it needs --check CSV")
    kb = load_for(arguments)
    if arguments.check:
        return _check(kb, _table(arguments.check, "--check"), arguments.format)
    try:
        import numpy  # noqa: F401  # asked for here, so that its absence is said before anything is read
    except ImportError as error:
        raise InputError(
            "calibrate needs numpy; install it with: pip install 'rackfit[calibrate]'"
        ) from error
    folder = Path(arguments.output)
    if not folder.is_dir():
        raise InputError(
            f"--output: {shown(arguments.output)} is not a folder; give a knowledge base to write into"
        )
    unknown = [source for source in arguments.source if source not in kb.sources]
    if unknown:
        near = kb.nearest(unknown[0], kind="sources")
        raise InputError(f"--source: no entry {shown(unknown[0])}; nearest: {', '.join(near) or 'none'}")
    entries: list[Calibration] = []
    refused: list[Refusal] = []
    if arguments.measured:
        entries, refused, found = _serving(
            kb, _table(arguments.measured, "--measured"), tuple(arguments.source)
        )
        kb = _replaced(kb, entries)
        _print_slices(found, arguments.format)
    from advisor.sizing.refit.audited import audited_entry
    from advisor.sizing.refit.entries import write_entries

    entries = [*entries, audited_entry(kb)]
    written, unchanged = write_entries(entries, folder, replace_serving=bool(arguments.measured))
    _narrate_refused(refused)
    narrate(f"{written} entries written, {unchanged} unchanged in {folder}/calibration")
    return 1 if refused else 0


def _table(text: str, flag: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise InputError(f"{flag}: {shown(text, 200)} is not a file; give a CSV table of measured latency")
    return path


def _serving(
    kb: KnowledgeBase, path: Path, sources: tuple[str, ...]
) -> tuple[list[Calibration], list[Refusal], list[Slice]]:
    from advisor.sizing.refit.accuracy import slices
    from advisor.sizing.refit.entries import Measured, left_out_judged, serving_entries
    from advisor.sizing.refit.measured import fingerprint, newest, read_table
    from advisor.sizing.refit.serving import (
        fit_serving,
        leave_out_accelerators,
        leave_out_configurations,
        leave_out_models,
        row_of,
    )

    observations, refused = read_table(kb, path)
    rows = [row_of(kb, observation) for observation in observations]
    if sum(row.known for row in rows) < _FEWEST_ROWS:
        raise InputError(
            f"{path}: {len(rows)} usable rows; a fit needs at least {_FEWEST_ROWS} with a stated layout"
        )
    narrate(
        f"fitting {len(rows)} rows, and again without each configuration, model and accelerator: about a minute"
    )
    measured = Measured(
        fit=fit_serving(rows), rows=rows, configurations=leave_out_configurations(rows), models=leave_out_models(rows),
        accelerators=leave_out_accelerators(rows), fingerprint=fingerprint(path), newest=newest(observations),
        name=path.name, sources=sources,
    )  # fmt: skip
    entries = serving_entries(kb, measured)
    return entries, refused, slices(left_out_judged(_replaced(kb, entries), measured))


_FEWEST_ROWS = 50
"""Fewer rows than about two per term say nothing about the terms."""


def _replaced(kb: KnowledgeBase, entries: Sequence[Calibration]) -> KnowledgeBase:
    """The same knowledge with these entries in place of those of the same id."""
    return KnowledgeBase({**kb.entries, **{entry.id: entry for entry in entries}}.values())


def _check(kb: KnowledgeBase, path: Path, form: str) -> int:
    from advisor.sizing.refit.accuracy import judge, slices
    from advisor.sizing.refit.measured import read_table

    observations, unread = read_table(kb, path)
    judged, refused = judge(kb, observations)
    if form == "csv":
        _print_rows(judged)
    else:
        _print_slices(slices(judged), form)
    _narrate_refused([*unread, *refused])
    return 1 if unread or refused else 0


def _narrate_refused(refused: Sequence[Refusal]) -> None:
    for refusal in refused[:20]:
        narrate(f"row {refusal.row}: {refusal.reason}")
    if len(refused) > 20:
        narrate(f"… and {len(refused) - 20} more rows that cannot be used")


def _print_slices(found: Sequence[Slice], form: str) -> None:
    if form == "json":
        data(json.dumps([asdict(part) for part in found], indent=2))
        return
    width = max((len(part.name) for part in found), default=4)
    data(f"{'slice':{width}}   rows  TPOT error  in 90 %  TTFT error  in 90 %")
    for part in found:
        data(
            f"{part.name:{width}} {part.rows:6}  {part.tpot_error:9.1%}  {part.tpot_coverage:6.0%}"
            f"  {part.ttft_error:10.1%}  {part.ttft_coverage:6.0%}"
        )


def _print_rows(judged: Sequence[Judged]) -> None:
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["row", "model", "accelerator", "engine", "mode", "ttft_ms", "predicted_ttft_ms", "ttft_low_ms", "ttft_high_ms",
         "tpot_ms", "predicted_tpot_ms", "tpot_low_ms", "tpot_high_ms"]
    )  # fmt: skip
    for row in judged:
        o, first, each = row.observation, row.prediction.ttft_ms, row.prediction.tpot_ms
        writer.writerow(
            [o.row, o.model.slug, o.accelerator.slug, o.engine, row.mode, o.ttft_ms,
             *(f"{v:.4g}" for v in (first.value, first.low, first.high)), o.tpot_ms,
             *(f"{v:.4g}" for v in (each.value, each.low, each.high))]
        )  # fmt: skip
    data(out.getvalue(), end="")
