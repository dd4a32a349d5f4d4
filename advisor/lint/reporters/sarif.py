"""Findings as SARIF 2.1.0, for code-scanning services."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from advisor import __version__
from advisor.knowledge.findings import Finding
from advisor.lint.check import Check, all_checks
from advisor.lint.reporters.json import dumps

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def as_sarif(findings: Sequence[Finding]) -> str:
    """A SARIF log of one run; its rules are the checks that found something."""
    codes = sorted({finding.code for finding in findings})
    index = {code: number for number, code in enumerate(codes)}
    run = {
        "tool": {
            "driver": {
                "name": "rackfit",
                "semanticVersion": __version__,
                "rules": [_rule(code, all_checks().get(code)) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.code]) for finding in findings],
    }
    return dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str, check: Check | None) -> dict[str, Any]:
    if check is None:
        return {"id": code}
    text = "\n\n".join(f"## {heading}\n\n{body}" for heading, body in check.sections.items())
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in check.name.split("-")),
        "shortDescription": {"text": check.summary or check.name},
        "help": {
            "text": text or check.summary or check.name,
            "markdown": text or check.summary or check.name,
        },
        "defaultConfiguration": {"level": _LEVELS[check.severity]},
        "properties": {"tags": [check.family]},
    }


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    region = {"startLine": finding.line, "startColumn": finding.column}
    if finding.end_line and finding.end_column:
        region |= {"endLine": finding.end_line, "endColumn": finding.end_column}
    return {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message + (f"; {finding.fix}" if finding.fix else "")},
        "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": _uri(finding.path)}, "region": region}}
        ],
        "partialFingerprints": {"rackfit/v1": fingerprint(finding)},
    }


def fingerprint(finding: Finding) -> str:
    """What stays the same when lines move: file, code and message, hashed."""
    name = "\0".join((Path(finding.path).as_posix(), finding.code, finding.message))
    return hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def _uri(path: str) -> str:
    posix = Path(path).as_posix()
    return ("file://" if posix.startswith("/") else "") + quote(posix, safe="/", errors="surrogateescape")
