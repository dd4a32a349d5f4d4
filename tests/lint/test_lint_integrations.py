"""What the documentation and the hook definitions promise about the command is true of the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from lint_workbench import Workbench

from advisor.cli.main import build_parser
from advisor.evidence.claims import check_claims
from advisor.knowledge import load_knowledge
from advisor.knowledge.yaml_source import parse_document
from advisor.lint.options import load_options
from advisor.records import KINDS, Claim, Gotcha

ROOT = Path(__file__).parents[2]


def _yaml(path: Path) -> Any:
    document = parse_document(f"top:\n{re.sub('^', '  ', path.read_text(), flags=re.MULTILINE)}", str(path))
    assert document.data is not None, document.findings
    return document.data["top"]


def _parses(arguments: list[str]) -> bool:
    build_parser("lint", arguments).parse_args(arguments)
    return True


def test_hooks_run_commands_that_exist_on_entries_of_every_kind() -> None:
    """Each pre-commit hook is a valid command line, and its pattern takes the entries of all kinds and nothing else."""
    hooks = _yaml(ROOT / ".pre-commit-hooks.yaml")
    assert [hook["id"] for hook in hooks] == ["rackfit-lint", "rackfit-lint-fix"]
    for hook in hooks:
        command, *arguments = hook["entry"].split()
        assert command == "rackfit"
        assert _parses([*arguments, "kb/gotchas/x.yaml"])
        pattern = re.compile(hook["files"])
        assert all(pattern.search(f"kb/{kind}/a/b.yaml") for kind in KINDS)
        assert not pattern.search("kb/README.md")
        assert not pattern.search(".github/workflows/ci.yaml")


def test_the_action_uses_flags_that_exist_and_never_pastes_inputs_into_a_script() -> None:
    """Its commands parse, and inputs reach the shell through the environment only."""
    action = _yaml(ROOT / "action.yml")
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"]
        for flags in re.findall(r"(--[a-z-]+)", step["run"]):
            assert flags in ("--quiet", "--fail-on", "--kb", "--baseline", "--format", "--output"), flags
    assert _parses(
        [
            "lint",
            "kb",
            "--fail-on",
            "info",
            "--baseline",
            "b",
            "--format",
            "github",
            "--output",
            "x",
            "--kb",
            "d",
        ]
    )
    assert set(action["inputs"]) == {"path", "overlay", "fail-on", "baseline", "sarif", "python"}


def test_the_settings_in_the_documentation_are_settings(tmp_path: Path) -> None:
    """The example configuration loads, and holds every setting."""
    text = (ROOT / "docs" / "editors.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    path = tmp_path / ".rackfit.toml"
    path.write_text(example)
    options = load_options(path)
    assert options.severities == {"KB613": "warning"}
    assert options.baseline == tmp_path / "lint-baseline.json"


def test_the_problem_matcher_in_the_documentation_reads_findings(bench: Workbench) -> None:
    """The pattern for VS Code finds file, line, column, code and message in the concise format."""
    text = (ROOT / "docs" / "editors.md").read_text("utf-8")
    (task,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    pattern = json.loads(task)["tasks"][0]["problemMatcher"]["pattern"]
    bench.change("gotchas/example", "severity: warn")
    finding = next(f for f in bench.lint() if f.code == "KB104")
    match = re.match(pattern["regexp"], finding.one_line())
    assert match is not None
    assert match.group(pattern["file"]) == finding.path
    assert match.group(pattern["line"], pattern["column"]) == (str(finding.line), str(finding.column))
    assert match.group(pattern["code"]) == "KB104"


@pytest.fixture(scope="module")
def claim_in_the_guide() -> Claim:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    block = re.search(r"^ {7}claims:\n(?: {7}.*\n)+", text, re.MULTILINE)
    assert block is not None
    data = parse_document(re.sub(r"^ {7}", "", block.group(), flags=re.MULTILINE), "").data
    assert data is not None
    return Claim(**data["claims"][0])


def test_the_claim_in_the_five_minute_guide_recomputes(claim_in_the_guide: Claim) -> None:
    """NVIDIA's eight-GPU slice in v6.1: 131,464 tokens/s over 8 are 16,433 (MLPerf v6.1, llama2-70b-99.9 Offline)."""
    gotcha = Gotcha(
        id="gotchas/guide", title="A guide", concepts=(), symptom=f"Each gives {claim_in_the_guide.text}.",
        root_cause="Because.", workaround="Read the guide.", claims=(claim_in_the_guide,),
    )  # fmt: skip
    assert check_claims(load_knowledge(), gotcha) == ()
