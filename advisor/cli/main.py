"""The `rackfit` command: picks one command module, runs it, and owns exit codes and the last line of defence."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from advisor import __version__
from advisor.cli.streams import data, narrate
from advisor.errors import InputError, RackfitError
from advisor.units import shown

COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("chat", "the advisor as a chat: full screen, or --plain line by line"),
    "ask": ("ask", "one answer without a dialogue"),
    "map": ("map", "the verdict over context x concurrency or TPOT x concurrency"),
    "estimate": ("estimate", "memory and speed of one explicit layout, or of a file of layouts"),
    "understand": ("understand", "the facts and the intent read from a sentence"),
    "compare": ("compare", "comparable evidence pairs, effects and noise"),
    "show": ("show", "one entry of the knowledge base"),
    "search": ("search", "full-text search of the knowledge base"),
    "graph": ("graph", "the concept graph, whole or around one entry"),
    "lint": ("lint", "check a knowledge base"),
    "explain": ("explain", "what a lint code means and how to fix it"),
    "new": ("new", "write a new entry to fill in"),
    "import": ("import_", "bring in a results file or a config.json as entries"),
    "calibrate": ("calibrate", "refit the performance model from evidence"),
    "findings": ("findings", "write the computed reports of docs/findings"),
    "schema": ("schema", "print a JSON Schema"),
}
"""Command -> (module in advisor.cli, one line of help). A module has configure(parser) and run(arguments) -> status."""


class _Parser(argparse.ArgumentParser):
    """argparse with our error style: one line, status 2, nearest known flag or value."""

    def error(self, message: str) -> None:  # type: ignore[override]  # raises instead of returning NoReturn
        raise InputError(f"{self.prog}: {' '.join(message.split())}; see `{self.prog} --help`")


def build_parser(command: str | None, argv: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser, with the flags of `command` only (each module is imported when it is used).

    `argv` reaches the command as the default `argv`, for flags that depend on the knowledge base it names.
    """
    parser = _Parser(
        prog="rackfit",
        description="8-GPU nodes or a 72-GPU rack for serving a language model, and how many. Without a command: chat.",
    )
    parser.add_argument("--version", action="version", version=f"rackfit {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, (module, text) in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == command:
            sub.set_defaults(argv=list(argv))
            importlib.import_module(f"advisor.cli.{module}").configure(sub)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns 0 answered or clean, 1 findings or no candidate fits, 2 bad usage or input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with contextlib.suppress(AttributeError, ValueError):
            signal.signal(signal.SIGTERM, _terminate)
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except RackfitError as error:
        narrate(f"rackfit: {error}")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(arguments: list[str]) -> int:
    words = [word for word in arguments if not word.startswith("-")]
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help", "--version")):
        arguments = ["chat", *arguments]
        words = ["chat"]
    command = words[0] if words else None
    if command is not None and command not in COMMANDS and arguments[0] == command:
        from difflib import get_close_matches

        near = get_close_matches(command, COMMANDS, n=1)
        hint = f"did you mean `rackfit {near[0]}`?" if near else f"commands: {', '.join(COMMANDS)}"
        raise InputError(f"no command {shown(command)}; {hint}")
    parsed = build_parser(command, arguments).parse_args(arguments)
    module = importlib.import_module(f"advisor.cli.{COMMANDS[parsed.command][0]}")
    status = module.run(parsed)
    return int(status)


def _terminate(_number: int, _frame: object) -> None:
    raise SystemExit(143)


__all__ = ["COMMANDS", "build_parser", "data", "main"]

if __name__ == "__main__":
    raise SystemExit(main())
