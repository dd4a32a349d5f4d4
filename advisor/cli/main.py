"""The `rackfit` command: picks one command module, runs it, and owns exit codes and the last line of defence."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from advisor import __version__
from advisor.cli import process
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
        command = self.prog.removeprefix("rackfit").strip()
        place = f"{command}: " if command else ""
        raise InputError(f"{place}{' '.join(message.split())}; see `{self.prog} --help`")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all of it: what this command does not know is refused here, with the nearest flag it has."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            from difflib import get_close_matches

            known = [flag for flag in self._option_string_actions if flag.startswith("--")]
            near = get_close_matches(unknown[0].partition("=")[0], known, n=1)
            self.error(f"does not take {shown(unknown[0])}{f'; did you mean {near[0]}?' if near else ''}")
        return parsed, unknown


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
    """Run the command line.

    Returns 0 answered or clean, 1 findings or no candidate fits, 2 bad usage, input or output; 128 + n when signal n
    ended it (141: the reader of the output went away). Whatever happens, no traceback: RACKFIT_DEBUG=1 asks for one.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        process.prepare()
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except RackfitError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        process.drop_output()
        return 141
    except OSError as error:
        process.drop_output()
        return _fail(_unusable(error))
    except UnicodeError as error:
        return _fail(f"text in an encoding that does not fit: {error}; use UTF-8 (PYTHONIOENCODING=utf-8)")
    except Exception as error:
        if os.environ.get("RACKFIT_DEBUG"):
            raise
        return _fail(_internal(error))


def _fail(message: str) -> int:
    with contextlib.suppress(OSError):
        narrate(f"rackfit: {message}")
    return 2


def _unusable(error: OSError) -> str:
    """One line for a place that cannot be read or written and that nothing closer to it has named."""
    if error.filename:
        place = shown(str(error.filename), 200)
    else:
        place = "the working folder" if error.errno == errno.ENOENT else "standard output"
    return f"{place}: {error.strerror or error}; free space or choose another place"


def _internal(error: Exception) -> str:
    """One line for a fault of ours: where and what."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "unknown place"  # noqa: PTH119
    text = " ".join(str(error).split())[:200]
    return f"internal error at {where}: {type(error).__name__}: {text}; please report it (RACKFIT_DEBUG=1 shows more)"


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
    for word in arguments:
        flag, separator, value = word.partition("=")
        if (
            separator and value == "--" and flag.startswith("--")
        ):  # argparse before 3.12 makes an empty list of it
            raise InputError(f"{shown(flag)}: '--' is no value")
    parsed = build_parser(command, arguments).parse_args(arguments)
    module = importlib.import_module(f"advisor.cli.{COMMANDS[parsed.command][0]}")
    status = module.run(parsed)
    return int(status)


__all__ = ["COMMANDS", "build_parser", "data", "main"]

if __name__ == "__main__":
    raise SystemExit(main())
