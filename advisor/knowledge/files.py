"""Which files of a folder are entries, and their text: bounded, regular UTF-8 files inside the folder only."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from advisor.errors import KnowledgeError
from advisor.knowledge.findings import Finding
from advisor.knowledge.limits import MAX_FILE_BYTES as MAX_BYTES
from advisor.records import KINDS
from advisor.units import shown


@dataclass(frozen=True, kw_only=True)
class EntryFile:
    """One file of a knowledge base. id is the path inside it without `.yaml`; text is empty when `finding` is set."""

    id: str
    path: str
    text: str
    finding: Finding | None = None


def read_folder(root: Path) -> Iterator[EntryFile]:
    """Yield the `.yaml` files under `root` in id order. Unreadable, over-long, special or foreign ones carry a finding.

    Raises KnowledgeError when `root` is not a readable folder.
    """
    if not root.is_dir():
        raise KnowledgeError(
            f"{shown(str(root), 200)} is not a folder; give the folder that holds gotchas/, models/ and so on"
        )
    if not any((root / kind).is_dir() for kind in KINDS):
        raise KnowledgeError(
            f"{shown(str(root), 200)} holds none of the folders {', '.join(KINDS)}; give a knowledge base"
        )
    for kind in sorted(KINDS):
        yield from _read_kind(root, kind)


def _read_kind(root: Path, kind: str) -> Iterator[EntryFile]:
    base = root / kind
    found: list[Path] = []
    for folder, folders, names in os.walk(base, followlinks=False):
        folders.sort()
        found += [Path(folder) / name for name in names if name.endswith((".yaml", ".yml"))]
    for path in sorted(found):
        yield read_entry_file(root, path)


def read_entry_file(root: Path, path: Path) -> EntryFile:
    """Read one entry file. Never raises: what is wrong with the file becomes its finding (codes KB010-KB014)."""
    entry_id = path.relative_to(root).with_suffix("").as_posix()

    def refused(code: str, message: str, fix: str) -> EntryFile:
        finding = Finding(path=str(path), line=1, column=1, code=code, message=message, fix=fix)
        return EntryFile(id=entry_id, path=str(path), text="", finding=finding)

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        return refused(
            "KB010", f"cannot be read: {error.strerror}", "make it a readable regular file, not a link"
        )
    with os.fdopen(descriptor, "rb") as handle:
        status = os.fstat(handle.fileno())
        if not stat.S_ISREG(status.st_mode):
            return refused("KB010", "is not a regular file", "make it a readable regular file")
        raw = handle.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        return refused("KB011", f"is larger than {MAX_BYTES:,} bytes", "split the entry")
    if raw.startswith(b"\xef\xbb\xbf"):
        return refused("KB012", "starts with a byte-order mark", "save it as UTF-8 without BOM")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        finding = Finding(path=str(path), line=line, column=column, code="KB013",
                          message=f"byte 0x{raw[error.start]:02x} is not UTF-8", fix="save the file as UTF-8")  # fmt: skip
        return EntryFile(id=entry_id, path=str(path), text="", finding=finding)
    return EntryFile(id=entry_id, path=str(path), text=text)
