"""`rackfit import mlperf FILE` and `rackfit import hf-config FILE`: bring results and model configurations in as entries."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from advisor.cli.streams import data, narrate
from advisor.errors import InputError
from advisor.units import shown


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    what = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    mlperf = what.add_parser(
        "mlperf",
        help="results of MLPerf Inference: a summary file, or the folder of a results repository",
        description="Write one evidence entry per round, submitter and system. Importing again changes nothing.",
    )
    mlperf.add_argument(
        "file", metavar="FILE", help="summary_results.json or summary.json, or a checkout's folder"
    )
    mlperf.add_argument(
        "--round", default="", metavar="ROUND", help="refuse rows of other rounds, such as v6.1"
    )
    mlperf.add_argument(
        "--division", choices=("closed", "open"), default="", help="keep one division; without it, both"
    )
    mlperf.add_argument(
        "--latency", metavar="CSV", help="table of the runs' latencies; without it, *.latency.csv beside FILE"
    )
    mlperf.add_argument(
        "--output",
        default="kb",
        metavar="DIR",
        help="knowledge base to write into (default: kb in the current folder)",
    )
    from advisor.cli.import_hf_config import configure as configure_hf_config

    configure_hf_config(
        what.add_parser(
            "hf-config", help="a model's config.json", description="Write a model entry from a config.json."
        )
    )


def run(arguments: argparse.Namespace) -> int:
    """Import; returns 1 when some record could not be used."""
    if arguments.what == "hf-config":
        from advisor.cli.import_hf_config import run as run_hf_config

        return run_hf_config(arguments)
    return _mlperf(arguments)


def _mlperf(arguments: argparse.Namespace) -> int:
    from advisor.evidence.mlperf import import_results
    from advisor.evidence.mlperf.earlier import keep_earlier
    from advisor.evidence.mlperf.rows import problem_lines
    from advisor.evidence.mlperf.source import write_missing_sources
    from advisor.evidence.mlperf.write import write_entries

    path = Path(arguments.file)
    if not path.exists():
        raise InputError(
            f"{shown(arguments.file, 200)} does not exist; give a summary file or the folder of a checkout"
        )
    done = import_results(
        path,
        round_=arguments.round,
        division=arguments.division,
        latency_file=Path(arguments.latency) if arguments.latency else None,
    )
    folder = Path(arguments.output)
    folder = folder.parent if folder.name == "evidence" else folder
    written, unchanged = write_entries(keep_earlier(done.entries, folder), folder)
    for source in write_missing_sources(done.entries, folder, date.today()):
        narrate(f"note: wrote {source}; check its url and day")
    for line in problem_lines(done.problems, done.file):
        narrate(f"rackfit: {line}")
    data(
        f"{done.rows} rows: {done.results} results of {len(done.entries)} systems ({done.latencies} with latencies),"
        f" {done.left_out} rows left out, {len(done.problems)} not usable"
    )
    data(f"{written} files written, {unchanged} unchanged, in {folder / 'evidence'}")
    return 1 if done.problems else 0
