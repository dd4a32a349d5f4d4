"""The help page: how to read the screen, and every key that works, from the bindings themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.visible import inert
from tui.commands import SLASH
from tui.panels import PANELS

if TYPE_CHECKING:
    from tui.app import RackfitApp

_READING = """# rackfit

Say what you want to serve, in your own words: *Llama 3.3 70B in fp8, 32k context, 200 users, 25 tok/s each*. rackfit
asks only for what can still change the verdict. Every answer names its evidence; ask *why*, *how sure*, *what would
change your mind*, *what if KV is fp8*.

- The line at the top holds the verdict so far, how sure it is (●●● high, ●●○ medium, ●○○ low) and the fleet.
- ● said by you, ○ assumed, ∴ derived. Underlined text opens what it names; enter on a message lists the same.
- The conversation is saved as it goes. `esc` steps back and never discards what you typed.
"""


def help_page(app: RackfitApp) -> str:
    """Markdown of the help for what is on screen now."""
    lines = [_READING, "## Keys", "", "| key | does |", "|---|---|"]
    lines += [f"| {key} | {inert(text)} |" for key, text in _keys(app)]
    lines += ["", "## Panels", "", "| key | panel | shows |", "|---|---|---|"]
    lines += [f"| {key} | {title} | {inert(text)} |" for key, title, _, text in PANELS.values()]
    if texts := _helps(app):
        lines += ["", "## Here", "", *texts]
    lines += ["", "## Commands", "", "| type | does |", "|---|---|"]
    lines += [f"| `/{word}` | {inert(command.help)} |" for word, command in SLASH.items()]
    lines += [
        "",
        "Keys can be changed: `keys` in settings.json maps the ids in docs/tour.md to other keys.",
        "",
    ]
    return "\n".join(lines)


def _keys(app: RackfitApp) -> list[tuple[str, str]]:
    """Keys that always work, then those of the focused part, once each."""
    always = [
        ("?  or F1", "this help (? in an empty prompt)"),
        ("ctrl+p", "command palette: everything there is"),
        ("F2 … F8", "panels; again to come back"),
        ("F9", "export"),
        ("tab, shift+tab", "next, previous part of the screen; tab completes while a list is open"),
        ("esc", "step back: close, finish streaming, return to the prompt"),
        ("PgUp, PgDn", "scroll the conversation from the prompt"),
        ("shift+enter, or \\\\ then enter", "new line in the prompt"),
        ("ctrl+c", "copy the selected text"),
        ("ctrl+q", "quit"),
    ]
    seen: dict[str, str] = {}
    for active in app.chat.active_bindings.values():
        binding = active.binding
        if active.node is not app and binding.show and binding.description:
            seen.setdefault(inert(app.get_key_display(binding)), binding.description)
    return [*always, *seen.items()]


def _helps(app: RackfitApp) -> list[str]:
    focused = app.chat.focused
    nodes = focused.ancestors_with_self if focused is not None else []
    return [inert(str(text)) for node in nodes if (text := getattr(node, "HELP", None))]
