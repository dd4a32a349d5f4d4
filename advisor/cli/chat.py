"""`rackfit chat`: the full-screen chat, the line-mode chat for everything that is no full terminal, or a local web page."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from advisor.cli.process import end_on, forget_absurd_size, terminal_restored
from advisor.cli.streams import narrate
from advisor.errors import InputError

DEFAULT_PORT = 8320
LOOPBACK = "127.0.0.1"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("text", nargs="*", help="a first question in words")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--plain", action="store_true", help="line by line: for pipes, screen readers and simple terminals"
    )
    how.add_argument("--serve", action="store_true", help="show the same screen in a browser on this machine")
    parser.add_argument(
        "--host", default=LOOPBACK, help=f"with --serve: address to listen on (default {LOOPBACK})"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=DEFAULT_PORT,
        help=f"with --serve: port (default {DEFAULT_PORT}; 0 picks one)",
    )
    parser.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="SESSION",
        help="go on with a saved conversation: the latest, or the one named",
    )
    parser.add_argument(
        "--kb", action="append", default=[], metavar="DIR",
        help="folder of private entries laid over the shipped knowledge base; repeatable, later ones win",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Chat until the user leaves. Returns 2 when the knowledge base cannot be read."""
    for folder in arguments.kb:
        if not Path(folder).is_dir():
            raise InputError(
                f"--kb: {folder[:200]!r} is not a folder; give the folder that holds gotchas/, models/ and so on"
            )
    if arguments.serve:
        from tui.serve import serve

        return serve(arguments, narrate)
    reason = "" if arguments.plain else plain_reason()
    if arguments.plain or reason:
        if reason:
            narrate(f"{reason}: chatting line by line (--plain)")
        from advisor.cli.plain import chat

        return chat(arguments)
    return _full_screen(arguments)


def plain_reason() -> str:
    """Why the full screen cannot be used here; empty when it can."""
    if os.environ.get("TEXTUAL_DRIVER"):
        return ""
    if not sys.stdin.isatty():
        return "standard input is not a terminal"
    if not sys.stdout.isatty():
        return "standard output is not a terminal"
    if os.environ.get("TERM", "").lower() in ("dumb", "unknown") or (
        not os.environ.get("TERM") and os.name != "nt"
    ):
        return f"TERM is {os.environ.get('TERM') or 'not set'}"
    return ""


def _full_screen(arguments: argparse.Namespace) -> int:
    from tui.app import RackfitApp
    from tui.engine import shipped_opener

    opener = shipped_opener([Path(folder) for folder in arguments.kb])
    forget_absurd_size()
    end_on("SIGINT")  # Ctrl-C is a key there; the signal comes from outside
    app = RackfitApp(opener, first=" ".join(arguments.text), resume=arguments.resume)
    with terminal_restored():
        app.run()
    if app.failure:
        narrate(f"rackfit: {app.failure}")
    return app.return_code or 0
