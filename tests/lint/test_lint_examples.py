"""Every page in docs/lint is true: its example is found by the check it documents, and what it says to use instead is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lint_workbench import Workbench

from advisor.lint.check import HEADINGS, all_checks
from advisor.lint.docs import files

DOCS = Path(__file__).parents[2] / "docs" / "lint"
_FENCE = re.compile(r"```yaml( raw)?\n(.*?)```", re.DOTALL)


def _executable(section: str) -> list[tuple[bool, str]]:
    return [(bool(raw), text) for raw, text in _FENCE.findall(section)]


CASES = [code for code, check in all_checks().items() if _executable(check.sections.get("Example", ""))]


def _apply(bench: Workbench, section: str) -> None:
    for raw, text in _executable(section):
        parts = re.split(r"^---\n(?=# \w+/)", text, flags=re.MULTILINE)
        for part in parts:
            named = re.match(r"# (\S+)\.yaml\n", part)
            entry_id = named.group(1) if named else "gotchas/example"
            body = part[named.end() :] if named else part
            if raw:
                bench.write(entry_id, body)
            else:
                bench.change(entry_id, body)


@pytest.mark.parametrize("code", CASES)
def test_example_has_the_finding_and_its_replacement_has_not(code: str, tmp_path: Path) -> None:
    """The example on a code's page is reported under that code; the text to use instead is not."""
    sections = all_checks()[code].sections
    wrong, right = Workbench(tmp_path / "wrong"), Workbench(tmp_path / "right")
    _apply(wrong, sections["Example"])
    _apply(right, sections["Use instead"])
    assert code in wrong.codes()
    assert code not in right.codes()


def test_every_code_is_documented_under_the_same_headings() -> None:
    """A reader of any page finds what it does, why it is bad, an example, what to use instead and how to fix it."""
    for check in all_checks().values():
        assert check.summary, check.code
        assert tuple(check.sections) == HEADINGS, check.code
        assert all(check.sections.values()), check.code


def test_most_codes_have_an_example_that_runs() -> None:
    """Only what a text cannot show (links, devices, encodings, comparisons over many entries) is described in words."""
    described = set(all_checks()) - set(CASES)
    assert described <= {
        "KB010", "KB011", "KB012", "KB013", "KB019", "KB020", "KB022", "KB023", "KB029", "KB100", "KB110", "KB201",
        "KB413", "KB414", "KB433", "KB613",
    }  # fmt: skip


def test_the_documentation_folder_is_up_to_date() -> None:
    """docs/lint holds exactly what `rackfit explain --write docs/lint` writes."""
    written = {path.name: path.read_text("utf-8") for path in DOCS.iterdir()}
    assert written == dict(files())


def test_the_clean_knowledge_base_has_no_findings(bench: Workbench) -> None:
    """The fixture that other tests spoil is clean to begin with."""
    assert bench.lint() == []
