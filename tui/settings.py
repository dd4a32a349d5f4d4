"""What the screen remembers between runs: theme, keys, typed lines. Small JSON files, written atomically.

`settings.json` in the user's configuration folder may hold `theme`, `keys` ({binding id: keys}), `cursor` (true shows
the terminal's own cursor) and `motion` (false turns streaming off). An unreadable file counts as empty.
"""

from __future__ import annotations

import contextlib
import json
import os
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from advisor.atomic import replace_file
from advisor.reading import open_found, read_found

HISTORY_LINES = 500
_SETTINGS_BYTES = 1_000_000
_HISTORY_BYTES = 400_000


def settings_path() -> Path:
    """Where settings are kept."""
    from platformdirs import user_config_path

    return user_config_path("rackfit", appauthor=False) / "settings.json"


def history_path() -> Path:
    """Where typed lines are kept."""
    from platformdirs import user_state_path

    return user_state_path("rackfit", appauthor=False) / "input-history.jsonl"


@dataclass
class Settings:
    """The user's choices."""

    theme: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    cursor: bool = False
    motion: bool = True


def load_settings(path: Path | None = None) -> Settings:
    """Read the settings; values of the wrong type are ignored."""
    raw: Any = {}
    with contextlib.suppress(OSError, ValueError, RecursionError):
        raw = json.loads(read_found(path or settings_path(), _SETTINGS_BYTES))
    if not isinstance(raw, dict):
        return Settings()
    keys = raw.get("keys")
    return Settings(
        theme=raw["theme"] if isinstance(raw.get("theme"), str) else "",
        keys={k: v for k, v in keys.items() if isinstance(v, str)} if isinstance(keys, dict) else {},
        cursor=raw.get("cursor") is True,
        motion=raw.get("motion") is not False,
    )


def save_settings(settings: Settings, path: Path | None = None) -> bool:
    """Write the settings beside whatever else the file holds. False when it cannot be written."""
    path = path or settings_path()
    kept: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError, RecursionError):
        old = json.loads(read_found(path, _SETTINGS_BYTES))
        kept = old if isinstance(old, dict) else {}
    kept |= {
        "theme": settings.theme,
        "keys": settings.keys,
        "cursor": settings.cursor,
        "motion": settings.motion,
    }
    return write_atomically(path, json.dumps(kept, indent=2, ensure_ascii=False) + "\n")


def write_atomically(path: Path, text: str) -> bool:
    """Replace a file as a whole; False when that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(Path(os.path.realpath(path)), text.encode(), private=True)
    except (OSError, UnicodeError):
        return False
    return True


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)  # of a pipe, an error and no waiting


def keep_defect(error: BaseException, path: Path | None = None) -> Path | None:
    """Keep the traceback of a defect for a report; where it is, or None when it cannot be written."""
    if path is None:
        from platformdirs import user_state_path

        path = user_state_path("rackfit", appauthor=False) / "last-defect.txt"
    return path if write_atomically(path, "".join(traceback.format_exception(error))) else None


class History:
    """Lines typed before, newest last, with a cursor that `older` and `newer` move."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.lines: list[str] = []
        self._position = 0
        self._draft = ""

    def load(self) -> None:
        """Read earlier lines, keeping those typed meanwhile."""
        earlier: list[str] = []
        with contextlib.suppress(OSError, ValueError):
            path = self._path or history_path()
            with open_found(path) as file:
                file.seek(max(0, path.stat().st_size - _HISTORY_BYTES))
                raw = file.read().decode("utf-8", "replace").splitlines()
            for line in raw[-HISTORY_LINES:]:
                with contextlib.suppress(ValueError, RecursionError):
                    text = json.loads(line)
                    if isinstance(text, str) and text.strip():
                        earlier.append(text)
            if path.stat().st_size > _HISTORY_BYTES:
                write_atomically(path, "".join(json.dumps(line) + "\n" for line in earlier))
        self.lines = [*earlier, *self.lines][-HISTORY_LINES:]
        self._position = len(self.lines)

    def add(self, text: str) -> None:
        """Remember a line; a failing disk is no reason to bother the user."""
        if text.strip() and (not self.lines or self.lines[-1] != text):
            self.lines = [*self.lines, text][-HISTORY_LINES:]
            with contextlib.suppress(OSError, UnicodeError):
                path = self._path or history_path()
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "a", encoding="utf-8", opener=_owner_only) as file:  # needs an opener
                    file.write(json.dumps(text) + "\n")
        self._position = len(self.lines)

    def older(self, current: str) -> str | None:
        """The line before; None at the oldest. The text typed so far is kept for the way back."""
        if self._position == 0:
            return None
        if self._position == len(self.lines):
            self._draft = current
        self._position -= 1
        return self.lines[self._position]

    def newer(self) -> str | None:
        """The line after, at last the draft; None when already there."""
        if self._position >= len(self.lines):
            return None
        self._position += 1
        return self.lines[self._position] if self._position < len(self.lines) else self._draft
