"""A baseline: findings known and accepted for now, so that only new ones fail. Lines may move; the count may only fall."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from advisor.errors import InputError
from advisor.knowledge.findings import Finding
from advisor.lint.files import write_text
from advisor.lint.targets import place_of
from advisor.reading import read_found

_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Findings that are not in the baseline, and how many of the baseline no longer occur."""

    new: list[Finding]
    gone: int


def load_baseline(path: Path) -> Counter[tuple[str, str, str]]:
    """(file, code, message) -> how often. Raises InputError when the file is not a baseline."""
    try:
        document = json.loads(read_found(path))
        if document["format"] != _FORMAT:
            raise ValueError
        return Counter(
            {
                (str(f["path"]), str(f["code"]), str(f["message"])): max(0, int(f["count"]))
                for f in document["findings"]
            }
        )
    except (OSError, ValueError, OverflowError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"{path}: not a baseline; write one with `rackfit lint --write-baseline {path}`"
        ) from None


def compare(findings: Iterable[Finding], baseline: Counter[tuple[str, str, str]], path: Path) -> Compared:
    """Findings beyond those the baseline at `path` accepts."""
    left = baseline.copy()
    new: list[Finding] = []
    for finding in findings:
        key = _key(finding, path)
        if left[key] > 0:
            left[key] -= 1
        else:
            new.append(finding)
    return Compared(new=new, gone=sum(left.values()))


def write_baseline(findings: Iterable[Finding], path: Path) -> None:
    """Write all findings as the accepted ones, in a stable order that merges well."""
    counts = Counter(_key(finding, path) for finding in findings)
    rows = [
        {"path": key[0], "code": key[1], "message": key[2], "count": count}
        for key, count in sorted(counts.items())
    ]
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    write_text(Path(os.path.realpath(path)), f'{{"format": {_FORMAT}, "findings": [\n{lines}\n]}}\n')


def _key(finding: Finding, path: Path) -> tuple[str, str, str]:
    """Paths are kept relative to the baseline's folder, so that a checkout may lie anywhere."""
    file = place_of(Path(finding.path))
    folder = Path(os.path.realpath(path)).parent
    name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.as_posix()
    return name, finding.code, finding.message
