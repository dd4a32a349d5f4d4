"""Findings as GitHub Actions workflow commands, which annotate the lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.knowledge.findings import Finding
from advisor.lint.check import all_checks

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def as_github(findings: Sequence[Finding]) -> str:
    """One workflow command for each finding."""
    return "\n".join(_command(finding) for finding in findings)


def _command(finding: Finding) -> str:
    check = all_checks().get(finding.code)
    title = f"{finding.code} {check.name}" if check else finding.code
    fields = {
        "file": finding.path,
        "line": finding.line,
        "endLine": finding.end_line or finding.line,
        "col": finding.column,
        "endColumn": finding.end_column or finding.column,
        "title": title,
    }
    if fields["endLine"] != fields["line"]:  # columns are only read when a single line is meant
        del fields["col"], fields["endColumn"]
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items())
    text = finding.message + (f"; {finding.fix}" if finding.fix else "")
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
