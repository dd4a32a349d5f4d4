"""Findings as text with source excerpts, JSON, SARIF 2.1.0, JUnit XML and GitHub annotations. A reporter returns text, never prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from advisor.knowledge.findings import Finding
from advisor.lint.reporters.github import as_github
from advisor.lint.reporters.json import as_json
from advisor.lint.reporters.junit import as_junit
from advisor.lint.reporters.sarif import as_sarif
from advisor.lint.reporters.text import as_concise, as_text

REPORTERS: dict[str, Callable[[Sequence[Finding]], str]] = {
    "text": as_text,
    "concise": as_concise,
    "json": as_json,
    "sarif": as_sarif,
    "junit": as_junit,
    "github": as_github,
}
"""Name of a format -> function from findings to its text, without the final newline."""

__all__ = ["REPORTERS"]
