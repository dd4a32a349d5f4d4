"""Which entries a run could not check in full, and does not say why: errors that it does not report keep them from being read."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.knowledge.findings import Finding
from advisor.lint.check import all_checks
from advisor.lint.options import Options

_IDS = frozenset({"KB200", "KB201"})
_OTHERWISE = frozenset({"KB019", "KB027", "KB029"})
"""Errors of the first family that are about the lint, not about reading the file."""


def keeps_from_loading(finding: Finding) -> bool:
    """Whether a finding is an error without whose correction its file holds no entry."""
    reading = finding.code.startswith(("KB0", "KB1")) and finding.code not in _OTHERWISE
    return finding.severity == "error" and (reading or finding.code in _IDS)


def unchecked_files(
    found: Iterable[Finding], reported: Iterable[Finding], options: Options
) -> dict[str, str]:
    """Path -> code of the first error, of files that codes of the run could not be looked for in, unless an error is reported.

    found: all findings of the run, reported: those that its user sees.
    """
    explained = {finding.path for finding in reported if keeps_from_loading(finding)}
    silent: dict[str, str] = {}
    for finding in sorted(found):
        if keeps_from_loading(finding) and finding.path not in explained | silent.keys():
            hides = all_checks() if finding.code.startswith("KB0") else _of_entries()
            if any(options.allows(code, finding.path) for code in hides):
                silent[finding.path] = finding.code
    return silent


def _of_entries() -> set[str]:
    """Codes that are found in entries and between them, not in their text alone."""
    return {
        code
        for code, check in all_checks().items()
        if check.scope in ("entry", "corpus")
        or (check.scope == "file" and not code.startswith(("KB0", "KB1")) and code not in _IDS)
    }
