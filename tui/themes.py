"""Colour themes: calm dark and light ones, a high-contrast one, and the terminal's own palette for 16 colours."""

from __future__ import annotations

from textual.theme import Theme

DARK = "rackfit-dark"
LIGHT = "rackfit-light"
CONTRAST = "rackfit-contrast"
TERMINAL_DARK = "ansi-dark"
TERMINAL_LIGHT = "ansi-light"

_THEMES = (
    Theme(
        name=DARK,
        primary="#5fb3c8",
        secondary="#a99bd6",
        accent="#dfae63",
        success="#8cc48a",
        warning="#dfae63",
        error="#e58080",
        foreground="#d9dee7",
        background="#12161d",
        surface="#181d26",
        panel="#202733",
        dark=True,
        variables={
            "quiet": "#8d98a8",
            "border": "#5fb3c8",
            "border-blurred": "#333d4d",
            "block-cursor-background": "#2f4d5c",
            "block-cursor-foreground": "#ffffff",
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-background": "#263442",
            "input-selection-background": "#5fb3c8 35%",
            "footer-key-foreground": "#dfae63",
            "scrollbar": "#333d4d",
            "scrollbar-background": "#12161d",
            "scrollbar-corner-color": "#12161d",
            "scrollbar-hover": "#5fb3c8",
            "scrollbar-active": "#5fb3c8",
            "scrollbar-background-hover": "#12161d",
            "scrollbar-background-active": "#12161d",
        },
    ),
    Theme(
        name=LIGHT,
        primary="#0f6a83",
        secondary="#6247a8",
        accent="#8a5300",
        success="#2c6e31",
        warning="#8a5300",
        error="#a8282f",
        foreground="#1f2630",
        background="#faf9f6",
        surface="#f2f0ea",
        panel="#e7e4db",
        dark=False,
        variables={
            "quiet": "#5d6570",
            "border": "#0f6a83",
            "border-blurred": "#c9c5b8",
            "block-cursor-background": "#c4dfe6",
            "block-cursor-foreground": "#0a1a20",
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-background": "#dde6e4",
            "footer-key-foreground": "#8a5300",
            "scrollbar": "#c9c5b8",
            "scrollbar-background": "#faf9f6",
            "scrollbar-corner-color": "#faf9f6",
            "scrollbar-hover": "#0f6a83",
            "scrollbar-active": "#0f6a83",
            "scrollbar-background-hover": "#faf9f6",
            "scrollbar-background-active": "#faf9f6",
        },
    ),
    Theme(
        name=CONTRAST,
        primary="#66e3ff",
        secondary="#d9b8ff",
        accent="#ffd24d",
        success="#7dff9a",
        warning="#ffd24d",
        error="#ff9d9d",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#101010",
        dark=True,
        text_alpha=1.0,
        variables={
            "quiet": "#d8d8d8",
            "border": "#ffffff",
            "border-blurred": "#8c8c8c",
            "block-cursor-background": "#ffff00",
            "block-cursor-foreground": "#000000",
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-background": "#5a5a00",
            "block-cursor-blurred-foreground": "#ffffff",
            "footer-key-foreground": "#ffd24d",
            "scrollbar": "#ffffff",
            "scrollbar-background": "#000000",
            "scrollbar-corner-color": "#000000",
            "scrollbar-hover": "#ffff00",
            "scrollbar-active": "#ffff00",
            "scrollbar-background-hover": "#000000",
            "scrollbar-background-active": "#000000",
        },
    ),
)

THEMES: dict[str, Theme] = {theme.name: theme for theme in _THEMES}
"""Our themes by name."""

CHOICES: dict[str, str] = {
    DARK: "Dark",
    LIGHT: "Light",
    CONTRAST: "High contrast",
    TERMINAL_DARK: "The terminal's own colours (dark)",
    TERMINAL_LIGHT: "The terminal's own colours (light)",
}
"""Themes on offer, and what they are called."""


VARIABLES: dict[str, str] = {"quiet": "ansi_bright_black"}
"""Our own style variables, for themes that do not set them. quiet: text that explains."""


def default_theme(chosen: str, *, no_color: bool, color_system: str | None) -> str:
    """The theme to start with: the user's own choice, except where colours are refused or only 16 exist."""
    if no_color:
        return TERMINAL_DARK
    if chosen in CHOICES:
        return chosen
    return TERMINAL_DARK if color_system in ("standard", "windows", None) else DARK
