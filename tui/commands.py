"""Every command of the screen in one table, read by the command palette and the `/` commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tui.panels import PANELS
from tui.themes import CHOICES


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command. slash: its word after `/`; action: of the application."""

    title: str
    help: str
    action: str
    slash: str = ""


def commands() -> Iterator[Command]:
    """All commands, those used most first."""
    yield Command(title="Help", help="Keys, commands and how to read the screen", action="help", slash="help")
    yield Command(
        title="Export",
        help="The decision with the conversation, or the answer alone: Markdown, HTML, JSON",
        action="export",
        slash="export",
    )
    yield Command(
        title="Copy the answer",
        help="The whole answer as Markdown, to the clipboard",
        action="copy_answer",
        slash="copy",
    )
    yield Command(
        title="Copy the last message",
        help="As Markdown, to the clipboard",
        action="copy_message",
        slash="copy-message",
    )
    for name, (key, title, _, text) in PANELS.items():
        yield Command(title=f"Show {title}", help=f"{text} ({key})", action=f"panel({name!r})", slash=name)
    yield Command(
        title="Show the conversation", help="Back to the prompt", action="panel('chat')", slash="chat"
    )
    yield Command(
        title="Change a fact",
        help="Choose an input and give it another value",
        action="choose_fact",
        slash="set",
    )
    yield Command(
        title="Open an entry",
        help="Find an entry of the knowledge base by its name",
        action="find_entry",
        slash="open",
    )
    yield Command(
        title="Undo", help="Take the last change of a fact back", action="say('undo')", slash="undo"
    )
    yield Command(
        title="Start over",
        help="Forget all facts; the transcript stays",
        action="say('reset')",
        slash="reset",
    )
    yield Command(
        title="Sessions",
        help="Resume, rename or delete a saved conversation",
        action="sessions",
        slash="sessions",
    )
    yield Command(
        title="Theme",
        help="Dark, light, high contrast or the terminal's colours",
        action="theme",
        slash="theme",
    )
    for theme, title in CHOICES.items():
        yield Command(title=f"Theme: {title}", help="Switch and remember", action=f"set_theme({theme!r})")
    yield Command(title="Terminal cursor", help="Show or hide the terminal's own cursor, for Braille displays and magnifiers",
                  action="toggle_cursor", slash="cursor")  # fmt: skip
    yield Command(
        title="Motion",
        help="Turn the line-by-line appearance of answers on or off",
        action="toggle_motion",
        slash="motion",
    )
    yield Command(
        title="Maximize",
        help="Give the focused part the whole screen, or give it back",
        action="toggle_maximize",
        slash="maximize",
    )
    yield Command(
        title="Save a picture of the screen",
        help="An SVG file in the current folder",
        action="picture",
        slash="picture",
    )
    yield Command(title="Quit", help="The conversation is saved already", action="quit", slash="quit")


SLASH: dict[str, Command] = {command.slash: command for command in commands() if command.slash}
"""Word after `/` -> command."""
