"""Which files of a folder are entries, and their text: bounded, regular UTF-8 files inside the folder only."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from advisor.errors import KnowledgeError
from advisor.knowledge.findings import Finding
from advisor.knowledge.limits import MAX_ENTRIES, MAX_FILE_BYTES, MAX_FOLDER_LEVELS, MAX_TOTAL_BYTES
from advisor.reading import files_below
from advisor.records import KINDS
from advisor.units import shown

_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryFile:
    """One file of a knowledge base. id is the path inside it without `.yaml`; text is empty when `finding` is set."""

    id: str
    path: str
    text: str
    finding: Finding | None = None

    @property
    def kind(self) -> str:
        """The kind folder it is in."""
        return self.id.partition("/")[0]


@dataclass(slots=True)
class _Budget:
    """What one knowledge base may still read."""

    entries: int = MAX_ENTRIES
    octets: int = MAX_TOTAL_BYTES


def is_kb(folder: Path) -> bool:
    """Whether a folder looks like a knowledge base: it holds at least one kind folder."""
    return any(os.path.isdir(folder / kind) for kind in KINDS)  # noqa: PTH112  # False, too, where nobody may look


def read_folder(root: Path) -> Iterator[EntryFile]:
    """Yield the `.yaml` files under `root` in id order. Whatever cannot be used as an entry carries a finding.

    Links are not followed, special files not opened, and reading ends at the limits. Raises KnowledgeError when `root`
    is not a readable knowledge base folder.
    """
    if not root.is_dir():
        raise KnowledgeError(
            f"{shown(str(root), 200)} is not a folder; give the folder that holds gotchas/, models/ and so on"
        )
    if not os.access(root, os.R_OK | os.X_OK):
        raise KnowledgeError(f"{shown(str(root), 200)} may not be read; make it a readable folder")
    if not is_kb(root):
        raise KnowledgeError(
            f"{shown(str(root), 200)} holds none of the folders {', '.join(KINDS)}; give a knowledge base"
        )
    budget = _Budget()
    for kind in sorted(KINDS):
        start = os.path.join(root, kind)  # noqa: PTH118  # a Path for each of 10,000 files costs more than reading them
        if os.path.lexists(start):
            yield from sorted(_read_tree(start, kind, budget, 0), key=lambda file: file.id)


def stray_files(root: Path) -> Iterator[Finding]:
    """Findings (KB022, KB023) for what lies in a knowledge base's top folder and will never be read as an entry."""
    for entry in sorted(islice(os.scandir(root), MAX_ENTRIES), key=lambda e: e.name):
        if entry.name.startswith(".") or entry.name in KINDS:
            continue
        if entry.is_dir(follow_symlinks=False) and _holds_entries(Path(entry.path)):
            near = get_close_matches(entry.name, KINDS, n=1)
            fix = f"did you mean {near[0]}/?" if near else f"kinds are {', '.join(KINDS)}"
            yield _finding(
                entry.path,
                "KB023",
                f"folder {shown(entry.name)} is no kind, so its entries are not read",
                fix,
            )
        elif entry.name.endswith((".yaml", ".yml")):
            yield _finding(
                entry.path, "KB022", "lies outside the kind folders, so it is not read", "move it to its kind"
            )


def _holds_entries(folder: Path) -> bool:
    inside = files_below(folder, levels=MAX_FOLDER_LEVELS, names=MAX_ENTRIES)
    return any(file.name.endswith(".yaml") for file in inside)


def _read_tree(folder: str, prefix: str, budget: _Budget, level: int) -> Iterator[EntryFile]:
    """The entry files of one folder and of those inside it."""
    if os.path.islink(folder) or level > MAX_FOLDER_LEVELS:  # noqa: PTH114  # see read_folder
        what = (
            "is a link" if level <= MAX_FOLDER_LEVELS else f"lies more than {MAX_FOLDER_LEVELS} folders deep"
        )
        yield _refused(
            prefix, folder, "KB010", f"{what} and is not followed", "put a real folder in its place"
        )
        return
    try:
        with os.scandir(folder) as listing:
            found = sorted(islice(listing, MAX_ENTRIES + 1), key=lambda entry: entry.name)
    except OSError as error:
        yield _refused(
            prefix, folder, "KB010", f"cannot be read: {error.strerror}", "make it a readable folder"
        )
        return
    for entry in found:
        name = entry.name
        if name.startswith("."):
            continue
        if budget.entries <= 0 or budget.octets <= 0 or len(found) > MAX_ENTRIES:
            limit = f"{MAX_ENTRIES:,} files or {MAX_TOTAL_BYTES // 1_000_000} MB"
            yield _refused(
                prefix, folder, "KB020", f"more than {limit} in one knowledge base", "split it into overlays"
            )
            budget.entries = budget.octets = 0
            return
        if name.endswith(".yaml"):
            file = _read_entry(entry, f"{prefix}/{name[:-5]}")
            budget.entries -= 1
            budget.octets -= len(file.text)
            yield file
        elif entry.is_dir(follow_symlinks=False):
            yield from _read_tree(entry.path, f"{prefix}/{name}", budget, level + 1)
        elif entry.is_symlink():
            yield _refused(
                f"{prefix}/{name}", entry.path, "KB010", "is a link and is not followed", "put the file here"
            )
        elif name.endswith((".yml", ".YAML", ".YML", ".json")):
            yield _refused(
                f"{prefix}/{name}", entry.path, "KB022", "is not read: entries end in .yaml", "rename it"
            )


def _read_entry(entry: os.DirEntry[str], entry_id: str) -> EntryFile:
    if entry.is_file(follow_symlinks=False):
        return read_entry_file(entry.path, entry_id)
    what = "is a link and is not followed" if entry.is_symlink() else "is not a regular file"
    return _refused(entry_id, entry.path, "KB010", what, "make it a readable regular file")


def read_entry_file(path: str, entry_id: str) -> EntryFile:
    """Read one entry file. Never raises: what is wrong with the file becomes its finding (codes KB010-KB013)."""
    try:
        raw = _read_bytes(path)
    except OSError as error:
        return _refused(
            entry_id, path, "KB010", f"cannot be read: {error.strerror}", "make it a readable regular file"
        )
    except ValueError as error:
        return _refused(
            entry_id, path, "KB010", str(error), "make it a regular file that nobody is writing to"
        )
    if len(raw) > MAX_FILE_BYTES:
        return _refused(
            entry_id, path, "KB011", f"is larger than {MAX_FILE_BYTES:,} bytes", "split the entry"
        )
    if raw.startswith(_BOM):
        return _refused(
            entry_id, path, "KB012", "starts with a byte-order mark", "save it as UTF-8 without BOM"
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = len(raw[raw.rfind(b"\n", 0, error.start) + 1 : error.start].decode("utf-8", "replace")) + 1
        finding = Finding(path=path, line=line, column=column, code="KB013",
                          message=f"byte 0x{raw[error.start]:02x} is not UTF-8", fix="save the file as UTF-8")  # fmt: skip
        return EntryFile(id=entry_id, path=path, text="", finding=finding)
    return EntryFile(id=entry_id, path=path, text=text)


def _read_bytes(path: str) -> bytes:
    """At most one byte more than the limit. Raises OSError, or ValueError when it is special or keeps changing."""
    for _ in range(3):
        descriptor = os.open(path, _FLAGS)
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise ValueError("is not a regular file")
            wanted = min(before.st_size, MAX_FILE_BYTES) + 1
            raw = os.read(descriptor, wanted)
            while len(raw) < wanted and (more := os.read(descriptor, wanted - len(raw))):
                raw += more
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
            return raw
    raise ValueError("changes while it is read")


def _refused(entry_id: str, path: str, code: str, message: str, fix: str) -> EntryFile:
    return EntryFile(id=entry_id, path=path, text="", finding=_finding(path, code, message, fix))


def _finding(path: str, code: str, message: str, fix: str) -> Finding:
    return Finding(path=path, line=1, column=1, code=code, message=message, fix=fix)
