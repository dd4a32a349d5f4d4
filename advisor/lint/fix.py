"""Mend what findings report: text in, text out, file by file, until nothing is left to mend."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from advisor.errors import InputError
from advisor.knowledge.findings import Finding
from advisor.knowledge.limits import MAX_FILE_BYTES
from advisor.knowledge.yaml_source import parse_document
from advisor.lint.check import Check, all_checks
from advisor.lint.files import write_text
from advisor.lint.ignores import ignored_codes
from advisor.lint.options import Options
from advisor.reading import read_found

_ROUNDS = 10
_BOM = "\ufeff"
_KEEPS_DATA = frozenset({"KB012", "KB014", "KB018", "KB030", "KB031", "KB032", "KB033", "KB603"})
"""Fixes after which the entry must hold the same data, order of fields and lists aside."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One file before and after."""

    path: Path
    before: str
    after: str

    def diff(self, name: str) -> str:
        """The change as a unified diff."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True), self.after.splitlines(keepends=True), name, name
        )
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        )


@lru_cache(maxsize=2)
def fixable_codes(*, unsafe: bool) -> frozenset[str]:
    """Codes that have a fix that may be used."""
    mended = (code for code, check in all_checks().items() if check.fixer and (unsafe or not check.unsafe))
    return frozenset({"KB012", *mended})


def is_fixable(finding: Finding, *, unsafe: bool = False) -> bool:
    """Whether `--fix` mends a finding. Of missing fields only the id can be written without its author."""
    if finding.code == "KB102":
        return "`id`" in finding.message
    return finding.code in fixable_codes(unsafe=unsafe)


def plan_changes(
    findings: Iterable[Finding], roots: Sequence[Path], options: Options, *, unsafe: bool
) -> Iterator[Change]:
    """The changes that mend findings, one for each file that would change. Nothing is written.

    A file with one fixable finding is mended in all that the options allow: one fix often brings the next to light.
    """
    fixable = fixable_codes(unsafe=unsafe)
    for name in sorted({finding.path for finding in findings if is_fixable(finding, unsafe=unsafe)}):
        path = Path(name)
        entry_id = _entry_id(path, roots)
        before = _read(path)
        if entry_id is None or before is None:
            continue
        codes = {code for code in fixable if options.allows(code, name)} - ignored_codes(before)
        after = mend(before, entry_id, codes)
        if after != before:
            yield Change(path=path, before=before, after=after)


def mend(text: str, entry_id: str, codes: Iterable[str]) -> str:
    """The text of an entry with the findings of these codes mended, as far as that leaves it readable."""
    codes = sorted(codes)
    if "KB012" in codes:
        text = text.removeprefix(_BOM)
    checks = [all_checks()[code] for code in codes if all_checks()[code].fixer]
    for _ in range(_ROUNDS):
        before = text
        for check in checks:
            text = _mended(text, entry_id, check)
        if text == before:
            break
    return text


def _mended(text: str, entry_id: str, check: Check) -> str:
    assert check.fixer is not None
    document = parse_document(text, "")
    mended = check.fixer(document, entry_id)
    if mended == text or document.data is None:
        return mended
    after = parse_document(mended, "")
    if after.data is None or len(after.findings) > len(document.findings):
        return text
    if check.code in _KEEPS_DATA and _normal(after.data) != _normal(document.data):
        return text
    return mended


def _normal(data: Any) -> Any:
    """Data without the order of fields and lists and without the spacing of text."""
    if isinstance(data, Mapping):
        return {key: _normal(value) for key, value in data.items()}
    if isinstance(data, list):
        return sorted((_normal(item) for item in data), key=repr)
    return " ".join(data.split()) if isinstance(data, str) else data


def write_changes(changes: Iterable[Change]) -> list[Change]:
    """Write changes, each file whole or not at all. A file that changed in the meantime is left alone. Returns what was written."""
    written: list[Change] = []
    for change in changes:
        if _read(change.path) == change.before:
            write_text(change.path, change.after)
            written.append(change)
    return written


def _read(path: Path) -> str | None:
    try:
        raw = b"" if path.is_symlink() else read_found(path, MAX_FILE_BYTES)
        return raw.decode("utf-8") if raw else None
    except (OSError, ValueError):  # too large, or not UTF-8
        return None


def _entry_id(path: Path, roots: Sequence[Path]) -> str | None:
    for root in roots:
        try:
            inside = path.resolve().relative_to(root.resolve())
        except (ValueError, OSError):
            continue
        return (
            inside.with_suffix("").as_posix() if inside.suffix == ".yaml" and len(inside.parts) > 1 else None
        )
    raise InputError(f"{path}: not inside a linted folder")
