"""`rackfit estimate`: memory and speed of one explicit layout, or of a file of layouts."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from advisor.cli.common import add_knowledge_flag, add_output_flag, load_for, write_output
from advisor.cli.estimate_request import FIELDS, request_from
from advisor.cli.streams import data, narrate
from advisor.errors import InputError, RackfitError
from advisor.knowledge import KnowledgeBase
from advisor.reading import line_id, read_lines
from advisor.report.estimate import estimate_data, estimate_text
from advisor.sizing.estimate import estimate
from advisor.units import shown

MAX_LINE = 1_000_000
"""Bytes of one batch line; a config.json fits many times."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    for name, field in FIELDS.items():
        action = "append" if name == "engine_term" else "store"
        parser.add_argument(
            "--" + name.replace("_", "-"), dest=name, action=action, metavar=field.metavar, help=field.help
        )
    parser.add_argument(
        "--batch", metavar="FILE",
        help="a line of JSON per layout, with these flags as keys (underscores) and an optional id; - reads standard input",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="a batch always answers in JSON lines"
    )
    add_output_flag(parser)
    add_knowledge_flag(parser)


def run(arguments: argparse.Namespace) -> int:
    """Estimate. Status 1 when the load does not fit, or when a batch line could not be used."""
    said = {name: getattr(arguments, name) for name in FIELDS if getattr(arguments, name) is not None}
    kb = load_for(arguments)
    if arguments.batch:
        return _batch(kb, arguments.batch, said, arguments.output)
    request, _ = request_from(said, flags=True)
    answer = estimate(kb, request)
    if arguments.format == "json":
        text = json.dumps(estimate_data(answer), indent=2, ensure_ascii=False)
    else:
        text = estimate_text(answer)
    _emit(text, arguments.output)
    return 0 if answer.fits in (True, None) else 1


def _batch(kb: KnowledgeBase, name: str, defaults: dict[str, Any], output: str | None) -> int:
    """Answer each line; flags given beside --batch hold where a line does not say otherwise."""
    failed = 0
    lines: list[str] = []
    for number, text in _lines(name):
        answer = _answer_line(kb, number, text, defaults)
        failed += "error" in answer
        rendered = json.dumps(answer, ensure_ascii=False)
        if output:
            lines.append(rendered)
        else:
            data(rendered)
    if output:
        write_output(output, "\n".join(lines) + "\n")
    if failed:
        narrate(f"rackfit: {failed} line{'s' if failed != 1 else ''} could not be used; see their `error`")
    return 1 if failed else 0


def _lines(name: str) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines that are not empty. Raises InputError when the file cannot be read."""
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as handle:
            yield from (
                (number, line) for number, line, _ in read_lines(handle, MAX_LINE + 1) if line.strip()
            )
    except OSError as error:
        raise InputError(
            f"--batch: {shown(name, 200)}: {error.strerror}; give a file of JSON lines, or -"
        ) from error


def _answer_line(kb: KnowledgeBase, number: int, text: str, defaults: dict[str, Any]) -> dict[str, Any]:
    name: str | int = number
    try:
        if len(text.encode()) > MAX_LINE:
            raise InputError(f"the line is longer than {MAX_LINE:,} bytes")
        values = json.loads(text, parse_constant=str)
        if not isinstance(values, dict):
            raise InputError(
                'the line holds no object; write {"model": "r1", "accelerator": "h200", "tp": 8}'
            )
        name = line_id(values.pop("id", None), number)
        request, unknown = request_from({**defaults, **{k: v for k, v in values.items() if v is not None}})
        answer = estimate_data(estimate(kb, request), line_id=name)
        if unknown:
            answer["notes"].append(f"not used: {', '.join(sorted(unknown))[:400]}")
        return answer
    except json.JSONDecodeError as error:
        return {"id": name, "error": f"line {number}, column {error.colno}: not valid JSON: {error.msg}"}
    except ValueError as error:  # a whole number of thousands of digits
        return {"id": name, "error": f"line {number}: {error}"}
    except RecursionError:
        return {"id": name, "error": f"line {number}: nested too deeply"}
    except RackfitError as error:
        return {"id": name, "error": f"line {number}: {error}"}
    except ArithmeticError as error:
        return {"id": name, "error": f"line {number}: the numbers are too large to compute with: {error}"}


def _emit(text: str, output: str | None) -> None:
    if output:
        write_output(output, text + "\n")
        narrate(f"written to {output}")
    else:
        data(text)
