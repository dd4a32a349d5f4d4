"""Findings as lines that editors understand, with the source below and carets under what is meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from advisor.knowledge.files import read_entry_file
from advisor.knowledge.findings import Finding
from advisor.lint.check import all_checks

_WIDTH = 110
_TAB = "→"


def as_concise(findings: Sequence[Finding]) -> str:
    """One line for each finding: `path:line:column: CODE message; fix`."""
    return "\n".join(finding.one_line() for finding in findings)


def as_text(findings: Sequence[Finding]) -> str:
    """The line of each finding, then the source line with carets, the severity and the name of the check."""
    return "\n".join(line for finding in findings for line in _lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    yield finding.one_line()
    source = _source(finding.path)
    name = all_checks()[finding.code].name if finding.code in all_checks() else ""
    label = f"{finding.severity}: {name}" if name else finding.severity
    if not 1 <= finding.line <= len(source) or not source[finding.line - 1].strip():
        yield f"    = {label}"
        return
    line = source[finding.line - 1]
    start = min(max(finding.column - 1, 0), len(line))
    end = finding.end_column - 1 if finding.end_line == finding.line else len(line)
    end = min(max(end, start + 1), max(len(line), start + 1))
    shift = max(0, start - _WIDTH // 2) if len(line) > _WIDTH else 0
    excerpt = line[shift : shift + _WIDTH].replace("\t", _TAB)
    carets = "^" * max(1, min(end, shift + _WIDTH) - start)
    number = str(finding.line)
    yield f"{number:>5} | {'…' if shift else ''}{excerpt}{'…' if len(line) > shift + _WIDTH else ''}"
    yield f"      | {' ' * (start - shift + (1 if shift else 0))}{carets} {label}"


@lru_cache(maxsize=4)
def _source(path: str) -> tuple[str, ...]:
    """Lines of a file as they are now; none where it cannot be read as an entry."""
    return tuple(line.rstrip("\r") for line in read_entry_file(path, "").text.split("\n"))
