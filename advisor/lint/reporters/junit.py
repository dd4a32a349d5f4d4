"""Findings as JUnit XML, which CI services show as a list of failed tests."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from advisor.knowledge.findings import Finding
from advisor.lint.check import all_checks
from advisor.visible import visible


def as_junit(findings: Sequence[Finding]) -> str:
    """One failed test for each finding, of the class that its file is; a single passed one when there is none."""
    cases = [_case(finding) for finding in findings] or ['    <testcase classname="rackfit" name="lint"/>']
    counts = f'tests="{len(cases)}" failures="{len(findings)}" errors="0" skipped="0"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites {counts}>",
            f'  <testsuite name="rackfit lint" {counts}>',
            *cases,
            "  </testsuite>",
            "</testsuites>",
        ]
    )


def _case(finding: Finding) -> str:
    check = all_checks().get(finding.code)
    name = f"{finding.code} {check.name if check else ''}".strip()
    place = f"{finding.line}:{finding.column}"
    return (
        f"    <testcase classname={_attribute(finding.path)} name={_attribute(f'{name} at {place}')} file={_attribute(finding.path)}"
        f' line="{finding.line}">\n'
        f"      <failure type={_attribute(finding.severity)} message={_attribute(finding.message)}>"
        f"{escape(visible(finding.one_line()))}</failure>\n"
        "    </testcase>"
    )


def _attribute(text: str) -> str:
    return f'"{escape(visible(text))}"'
