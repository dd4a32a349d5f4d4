"""Saved conversations: one file of JSON lines each, appended and synced turn by turn, under the user's state folder.

A session outlives a crash (a half-written last line is dropped), another process that has it open (the second one goes on
as a copy), and an upgrade of the knowledge base (its fingerprint is stored, so that a resumed conversation can say so).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from advisor import __version__
from advisor.atomic import replace_file
from advisor.dialogue.messages import Message
from advisor.errors import InputError
from advisor.reading import open_found, read_found
from advisor.records import FactValue
from advisor.units import shown

MAX_BYTES = 32_000_000
"""Of a session larger than this the end is read: each turn holds the whole state."""
_SHORT_BYTES = 1000
"""Of a name, and of the first line of a session."""
_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
_FORMAT = 1
_LONGEST_NAME = 80


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One exchange: what was typed (or which fact was set), what was answered, and the state after it."""

    at: str
    typed: str = ""
    fact: str = ""
    messages: tuple[Message, ...] = ()
    said: dict[str, FactValue] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    headline: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, kw_only=True)
class SessionInfo:
    """One saved conversation as a list shows it. first: the first thing typed."""

    id: str
    name: str
    changed: str
    turns: int
    first: str = ""


class _Start(msgspec.Struct, tag_field="event", tag="start"):
    format: int
    at: str
    version: str


class _Said(msgspec.Struct, tag_field="event", tag="turn"):
    turn: Turn


class Session:
    """An open session: turns are appended to it. `copied_from` is set when the wanted one was open elsewhere.

    A new one has no file before its first turn, so that a conversation in which nothing was said leaves none.
    """

    def __init__(
        self,
        path: Path,
        handle: IO[bytes] | None = None,
        *,
        turns: tuple[Turn, ...] = (),
        copied_from: str = "",
    ) -> None:
        self.path = path
        self.turns = turns
        self.copied_from = copied_from
        self._handle = handle

    @property
    def id(self) -> str:
        """The id of the session, which is its file's name."""
        return self.path.stem

    def append(self, turn: Turn) -> None:
        """Write one turn to the disk before returning. Raises OSError when it cannot be written."""
        if self._handle is None:
            self.path, self._handle = _begin(self.path)
        _write(self._handle, _Said(turn=turn))
        self.turns = (*self.turns, turn)

    def close(self) -> None:
        """Close the file and let others open the session."""
        if self._handle is not None:
            self._handle.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()


class SessionStore:
    """The sessions of one user. `folder` replaces the usual place."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        """Where sessions lie. Raises OSError when the user has no state folder."""
        if self._folder is None:
            from platformdirs import user_state_path

            try:
                self._folder = user_state_path("rackfit", appauthor=False) / "sessions"
            except (RuntimeError, KeyError) as error:
                raise OSError("there is no state folder for this user") from error
        return self._folder

    def create(self) -> Session:
        """A new session; its file comes with its first turn. Raises OSError when the folder cannot be written."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.folder))
        return Session(_new_path(self.folder))

    def open(self, wanted: str = "") -> Session:
        """The session of that id or name, or the latest. When it cannot be written, or another process has it open, a copy.

        Where nothing can be written it is read all the same, and its next turn raises what `Session.append` raises. Raises
        InputError when there is none, OSError when it cannot be read.
        """
        path = self._find(wanted)
        turns = read_turns(path)
        handle = None
        with contextlib.suppress(OSError):
            handle = path.open("ab", buffering=0)
        if handle is not None and _lock(handle):
            _end_line(path, handle)
            return Session(path, handle, turns=turns)
        if handle is not None:
            handle.close()
        try:
            copy = self.create()
            for turn in turns:
                copy.append(turn)
        except OSError:
            return Session(path, turns=turns)
        copy.copied_from = path.stem if handle is not None else ""
        return copy

    def saved(self) -> tuple[SessionInfo, ...]:
        """All sessions in which something was said, the latest first. Unreadable ones are left out."""
        found: list[tuple[float, SessionInfo]] = []
        with contextlib.suppress(OSError):
            for path in self.folder.glob("*.jsonl"):
                if not _ID.fullmatch(path.stem):
                    continue
                with contextlib.suppress(OSError, InputError):
                    changed = path.stat().st_mtime
                    turns = read_turns(path)
                    if not turns:
                        continue
                    when = datetime.fromtimestamp(changed, UTC).strftime("%Y-%m-%d %H:%M")
                    first = next((turn.typed for turn in turns if turn.typed), "")
                    info = SessionInfo(
                        id=path.stem, name=self._name(path), changed=when, turns=len(turns), first=first
                    )
                    found.append((changed, info))
        return tuple(info for _, info in sorted(found, key=lambda pair: (-pair[0], pair[1].id)))

    def rename(self, wanted: str, name: str) -> None:
        """Give a session a name, whole or not at all. Raises InputError for a name that cannot be used."""
        path = self._find(wanted)
        cleaned = " ".join(name.split())
        if not cleaned or len(cleaned) > _LONGEST_NAME or not cleaned.isprintable():
            raise InputError(
                f"a session name has 1 to {_LONGEST_NAME} printable characters; {shown(name)} has not"
            )
        if any(info.name == cleaned and info.id != path.stem for info in self.saved()):
            raise InputError(f"another session is named {shown(cleaned)}; choose another name")
        replace_file(path.with_suffix(".name"), f"{cleaned}\n".encode(), private=True)

    def delete(self, wanted: str) -> str:
        """Delete a session for good; its name. Raises InputError when there is none of that name."""
        if not wanted:
            raise InputError("which session? give its name or id; `sessions` lists them")
        path = self._find(wanted)
        name = self._name(path)
        path.unlink(missing_ok=True)
        path.with_suffix(".name").unlink(missing_ok=True)
        return name

    def _find(self, wanted: str) -> Path:
        sessions = self.saved()
        if not sessions:
            raise InputError("there is no saved conversation; `rackfit chat` starts one")
        hits = [info for info in sessions if not wanted or wanted in (info.id, info.name)]
        if not hits:
            known = ", ".join(info.name for info in sessions[:5])
            raise InputError(f"no saved conversation is called {shown(wanted)}; the latest are {known}")
        return self.folder / f"{hits[0].id}.jsonl"

    @staticmethod
    def _name(path: Path) -> str:
        try:
            given = read_found(path.with_suffix(".name"), _SHORT_BYTES).decode("utf-8")
            return given[: _LONGEST_NAME + 1].strip() or path.stem
        except (OSError, ValueError):  # too large, or not UTF-8
            return path.stem


def _new_path(folder: Path) -> Path:
    return folder / f"{_now():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}.jsonl"


def _begin(path: Path) -> tuple[Path, IO[bytes]]:
    """The file of a new session, at `path` or beside it, with its first line and locked for this process.

    Raises OSError when it cannot be written.
    """
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        except FileExistsError:
            path = _new_path(path.parent)
            continue
        handle = os.fdopen(descriptor, "ab", buffering=0)
        _lock(handle)
        _write(handle, _Start(format=_FORMAT, at=_stamp(), version=__version__))
        return path, handle


def read_turns(path: Path) -> tuple[Turn, ...]:
    """The turns of a session file. Lines that are torn or foreign are passed over.

    Raises InputError when the file is no session of this format, OSError when it cannot be read.
    """
    turns: list[Turn] = []
    decoder = msgspec.json.Decoder(_Start | _Said)
    for number, line in enumerate(_lines(path)):
        try:
            event = decoder.decode(line) if line.strip() else None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            event = None
        if number == 0 and (not isinstance(event, _Start) or event.format != _FORMAT):
            raise InputError(f"{path.name} is no saved conversation of this version; move it away")
        if isinstance(event, _Said):
            turns.append(event.turn)
    return tuple(turns)


def _lines(path: Path) -> list[bytes]:
    """The first line and, as far as MAX_BYTES go, the last ones; the one where they begin may be torn."""
    with open_found(path) as handle:
        start = handle.readline(_SHORT_BYTES)
        size = os.fstat(handle.fileno()).st_size
        handle.seek(max(handle.tell(), size - MAX_BYTES))
        return [start, *handle.read(MAX_BYTES).split(b"\n")]


def stamp() -> str:
    """The time now, as turns carry it."""
    return _stamp()


def _stamp() -> str:
    return _now().strftime("%Y-%m-%dT%H:%M:%SZ")


def _now() -> datetime:
    return datetime.now(UTC)


def _write(handle: IO[bytes], event: _Start | _Said) -> None:
    """One line, then to the disk. What a full disk took of it is taken back, so that the next line stands alone."""
    line = msgspec.json.encode(event) + b"\n"
    start = handle.seek(0, os.SEEK_END)
    try:
        while line:  # unbuffered: a full disk takes a part and says so only when asked again
            line = line[handle.write(line) :]
        os.fsync(handle.fileno())
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle.fileno(), start)
        raise


def _end_line(path: Path, handle: IO[bytes]) -> None:
    """Close a line that a crash left open, so that the next turn starts its own."""
    with path.open("rb") as reader:
        reader.seek(0, os.SEEK_END)
        if reader.tell():
            reader.seek(-1, os.SEEK_END)
            if reader.read(1) != b"\n":
                handle.write(b"\n")


def _lock(handle: IO[bytes]) -> bool:
    """Take the file for this process until it is closed; False when another process has it."""
    try:
        import fcntl
    except ImportError:  # Windows has no flock; there the last byte of a large offset stands for the file
        import msvcrt

        try:
            handle.seek(MAX_BYTES)
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # exists on Windows only
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
