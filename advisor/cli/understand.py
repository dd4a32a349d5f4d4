"""`rackfit understand`: the facts and the intent read from a sentence, or from every line of a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from advisor.cli.common import add_knowledge_flag, add_output_flag, load_for, write_output
from advisor.cli.streams import data
from advisor.dialogue.readings import Scaled, Understood
from advisor.dialogue.understand import understand
from advisor.errors import InputError
from advisor.knowledge import KnowledgeBase
from advisor.reading import line_id, read_lines
from advisor.units import shown

FACTS = (
    "model", "accelerator", "accelerator_count", "weight_precision", "kv_precision", "context_tokens", "input_tokens",
    "output_tokens", "concurrency", "requests_per_second", "throughput_tokens_per_s", "ttft_ms", "tpot_ms", "workload",
    "cooling", "rack_kw", "vendor",
)  # fmt: skip
"""The facts of a sentence that the output promises; what else was read is listed under `further`."""
_MAX_LINE = 2_000_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("text", nargs="*", metavar="TEXT", help="the sentence; several words are joined")
    parser.add_argument(
        "--batch", nargs="?", const="-", metavar="FILE",
        help="read sentences from FILE or standard input: JSON lines with a `text` (and an `id`), or plain lines; print JSON lines",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of a single sentence")
    add_output_flag(parser)
    add_knowledge_flag(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what was understood. Raises InputError when there is nothing to read."""
    if arguments.batch is None and not arguments.text:
        raise InputError("understand: no sentence; give TEXT, or --batch FILE")
    kb = load_for(arguments)
    if arguments.batch is None:
        understood = understand(kb, " ".join(arguments.text))
        if arguments.format == "json":
            _write(arguments, json.dumps(as_json(understood), indent=2))
        else:
            _write(arguments, as_text(understood))
        return 0
    # `--batch TEXT…` is how a shell passes `--batch FILE` with the file first
    source = arguments.batch if arguments.batch != "-" or not arguments.text else arguments.text[0]
    lines = [json.dumps(row) for row in _batch(kb, source)]
    _write(arguments, "\n".join(lines))
    return 0


def _write(arguments: argparse.Namespace, text: str) -> None:
    if arguments.output:
        write_output(arguments.output, text + "\n")
    elif text:
        data(text)


def _batch(kb: KnowledgeBase, source: str) -> Iterator[dict[str, Any]]:
    """One row for every line that is not blank; a line that cannot be used becomes a row with an `error`."""
    if source == "-":
        yield from _rows(kb, sys.stdin.buffer)
        return
    try:
        with Path(source).open("rb") as handle:
            yield from _rows(kb, handle)
    except OSError as error:
        raise InputError(
            f"--batch: cannot read {shown(source, 200)}: {error.strerror}; give a text file or - for standard input"
        ) from error


def _rows(kb: KnowledgeBase, handle: IO[bytes]) -> Iterator[dict[str, Any]]:
    for number, text, _cut in read_lines(handle, _MAX_LINE):
        if not text.strip():
            continue
        name: str | int = number
        if text.lstrip().startswith("{"):
            try:
                row = json.loads(text)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, dict) and isinstance(row.get("text"), str):
                name, text = line_id(row.get("id"), number), row["text"]
            elif row is not None:
                yield {
                    "id": line_id(row.get("id"), number),
                    "error": f'line {number}: no `text`; write {{"text": "…"}}',
                }
                continue
        yield {"id": name, **as_json(understand(kb, text))}


def as_json(understood: Understood) -> dict[str, Any]:
    """The plain data of an understood sentence, as `--format json` and `--batch` print it."""
    facts = {
        name: {
            "value": list(reading.values) if len(reading.values) > 1 else reading.values[0],
            "span": list(reading.span),
            **({"low": reading.low, "high": reading.high} if reading.low is not None else {}),
        }
        for name, reading in understood.facts.items()
    }
    return {
        "intent": understood.intent,
        "act": understood.act,
        "facts": {name: facts[name] for name in FACTS if name in facts},
        "ambiguous": [
            {"fact": item.fact, "choices": list(item.choices), "span": list(item.span), "text": item.text}
            for item in understood.ambiguous
        ],
        "ignored": [
            {
                "text": item.text,
                "span": list(item.span),
                "why": item.why,
                **({"fact": item.fact} if item.fact else {}),
            }
            for item in understood.ignored
        ],
        **({"scaled": _scaled(understood.scaled)} if understood.scaled is not None else {}),
        "further": {name: facts[name] for name in facts if name not in FACTS},
    }


def _scaled(scaled: Scaled) -> dict[str, Any]:
    return {"facts": list(scaled.facts), "factor": scaled.factor, "span": list(scaled.span)}


def as_text(understood: Understood) -> str:
    """One line a fact: name, value and the words it was read from."""
    lines = [f"intent: {understood.intent} ({understood.act})"]
    for name, reading in understood.facts.items():
        value = ", ".join(_plain(value) for value in reading.values)
        lines.append(f"{name}: {value}  <- {shown(reading.text)}")
    if understood.scaled is not None:
        facts = " or ".join(understood.scaled.facts) or "what was said last"
        lines.append(f"{facts}: times {understood.scaled.factor:g}  <- {shown(understood.scaled.text)}")
    lines += [
        f"ambiguous {item.fact}: {shown(item.text)} may be {', '.join(item.choices)}"
        for item in understood.ambiguous
    ]
    lines += [f"left out ({item.why}): {shown(item.text)}" for item in understood.ignored]
    return "\n".join(lines)


def _plain(value: Any) -> str:
    return (
        f"{value:,.6g}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int) and not isinstance(value, bool)
        else str(value)
    )
