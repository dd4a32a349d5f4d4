"""Findings as one JSON object."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from advisor import __version__
from advisor.knowledge.findings import Finding
from advisor.lint.check import all_checks
from advisor.lint.fix import is_fixable


def as_json(findings: Sequence[Finding]) -> str:
    """`{version, findings: [...], summary: {findings, files, severity, codes}}`."""
    document = {
        "version": __version__,
        "findings": [_finding(finding) for finding in findings],
        "summary": {
            "findings": len(findings),
            "files": len({finding.path for finding in findings}),
            "severity": dict(Counter(finding.severity for finding in findings)),
            "codes": dict(sorted(Counter(finding.code for finding in findings).items())),
        },
    }
    return dumps(document)


def dumps(document: Any) -> str:
    """JSON in plain ASCII, so that no character of a knowledge base can reach a terminal."""
    return json.dumps(document, indent=2, ensure_ascii=True).replace("\x7f", "\\u007f")


def _finding(finding: Finding) -> dict[str, Any]:
    check = all_checks().get(finding.code)
    return {
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line or finding.line,
        "end_column": finding.end_column or finding.column,
        "code": finding.code,
        "name": check.name if check else "",
        "severity": finding.severity,
        "message": finding.message,
        "fix": finding.fix,
        "fixable": is_fixable(finding),
    }
