"""The chat line by line: plain text in, plain text out, for pipes, screen readers and simple terminals."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterable
from typing import TextIO

from advisor.cli.common import load_for, write_output
from advisor.cli.streams import data, narrate
from advisor.dialogue import phrases
from advisor.dialogue.conversation import Conversation
from advisor.dialogue.messages import Message
from advisor.dialogue.sessions import Session, SessionStore
from advisor.errors import RackfitError
from advisor.report.terminal import markdown_to_text, plain
from advisor.report.transcript import form_of, render_conversation
from advisor.units import shown

_MAX_LINE = 20_000
"""Characters of a line that are read; the rest of it is passed over."""
_COMMANDS = ("export", "sessions", "rename", "delete")


def chat(arguments: argparse.Namespace) -> int:
    """Chat on standard input and output until `quit` or the end of the input. Returns 0."""
    kb = load_for(arguments)
    store = SessionStore()
    conversation = Conversation(kb, _session(store, arguments.resume))
    _tell(conversation.open())
    first = " ".join(arguments.text).strip()
    if first:
        _turn(conversation, store, first)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    asking = sys.stdin is not None and sys.stdin.isatty()
    while not conversation.closed:
        if asking:
            data("> ", end="")
            sys.stdout.flush()
        raw = _line(sys.stdin)
        if not raw:
            break
        _turn(conversation, store, raw.rstrip("\r\n"))
    if conversation.session is not None:
        conversation.session.close()
    return 0


def _line(source: TextIO) -> str:
    """The next line, at most _MAX_LINE characters of it; empty at the end."""
    line = rest = source.readline(_MAX_LINE)
    while rest and not rest.endswith("\n"):
        rest = source.readline(_MAX_LINE)
    return line


def _session(store: SessionStore, resume: str | None) -> Session | None:
    """The session to save to. Raises InputError when the one to resume does not exist; without a place there is none."""
    try:
        return store.create() if resume is None else store.open(resume)
    except OSError as error:
        narrate(phrases.not_saved(error.strerror or str(error)))
        return None


def _turn(conversation: Conversation, store: SessionStore, line: str) -> None:
    """One line of the user: a command of the line mode, or something said."""
    word, _, rest = line.strip().partition(" ")
    if word.lower() in _COMMANDS and (rest or word.lower() == "sessions"):
        try:
            _command(conversation, store, word.lower(), rest.strip())
        except RackfitError as error:
            narrate(str(error))
        except OSError as error:
            narrate(f"{word}: {error.strerror or error}")
        return
    if line.strip():
        _tell(conversation.say(line))


def _command(conversation: Conversation, store: SessionStore, word: str, rest: str) -> None:
    if word == "export":
        content = render_conversation(
            conversation.kb, conversation.transcript, conversation.recommendation, form_of(rest)
        )
        write_output(rest, content)
        narrate(f"written to {rest}")
    elif word == "sessions":
        rows = [
            f"{info.name}  {info.changed}  {info.turns} turns  {shown(info.first)}" for info in store.saved()
        ]
        data("\n".join(rows) or "No saved conversations.")
    elif word == "rename":
        if conversation.session is None:
            narrate("this conversation is not saved, so it cannot be named")
            return
        if not conversation.session.turns:
            narrate("nothing was said yet that could be named")
            return
        store.rename(conversation.session.id, rest)
        narrate(f"this conversation is now called {shown(rest)}")
    else:
        if conversation.session is not None and rest == conversation.session.id:
            narrate("this conversation is open; quit it before deleting it")
            return
        narrate(f"deleted {shown(store.delete(rest))}")


def _tell(messages: Iterable[Message]) -> None:
    for message in messages:
        if message.kind == "notice" or message.kind == "error":
            narrate(plain(message.markdown))
            continue
        text = markdown_to_text(message.markdown).rstrip("\n")
        chips = "; ".join(f"{chip.label}: {chip.text}" for chip in message.chips)
        if chips and message.kind == "echo":
            text = text.replace("Understood:", f"Understood: {chips}.", 1)
        elif chips:
            text += f"\nWith {chips}."
        if message.choices:
            numbered = message.kind == "question" and not any(
                choice[:1].isdigit() for choice in message.choices
            )
            offered = (
                f"{place}) {choice}" if numbered else choice
                for place, choice in enumerate(message.choices, 1)
            )
            text += "\n" + "   ".join(offered)
        data(text + "\n")
    sys.stdout.flush()
