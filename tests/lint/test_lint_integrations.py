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
from advisor.knowledge.files import read_folder
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


def test_hooks_run_commands_that_exist() -> None:
    """Each pre-commit hook is a valid command line for a file."""
    hooks = _yaml(ROOT / ".pre-commit-hooks.yaml")
    assert [hook["id"] for hook in hooks] == ["rackfit-lint", "rackfit-lint-fix"]
    for hook in hooks:
        command, *arguments = hook["entry"].split()
        assert command == "rackfit"
        assert _parses([*arguments, "kb/gotchas/x.yaml"])


PATTERNS = [re.compile(hook["files"]) for hook in _yaml(ROOT / ".pre-commit-hooks.yaml")]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_hooks_take_the_files_that_the_linter_reads(pattern: re.Pattern[str]) -> None:
    """Of this repository every entry, in each kind of folder, however deep, and no other file."""
    read = {Path(file.path).relative_to(ROOT).as_posix() for file in read_folder(ROOT / "kb")}
    assert {path.split("/")[1] for path in read} == set(KINDS)
    kept = (
        path.relative_to(ROOT)
        for name in ("kb", "docs", "schemas", "advisor")
        for path in (ROOT / name).rglob("*")
    )
    assert {path.as_posix() for path in kept if pattern.search(path.as_posix())} == read
    assert pattern.search("team/notes/kb/gotchas/ours.yaml")
    assert pattern.search("kb/gotchas/wrong-ending.yml")


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "path",
    [
        "kb/README.md", ".github/workflows/ci.yaml", "models/staging/orders.yml", "k8s/models/deployment.yaml", "kb/values.yaml",
        "charts/kb/templates/service.yaml", "kb/gotchas/.draft.yaml", "kb/.trash/gotchas/x.yaml", "kb/gotchas/.trash/x.yaml",
        "notkb/gotchas/x.yaml", "kb/gotchas/x.yaml.orig", "kb/gotchas/x.yaml/readme",
    ],
)  # fmt: skip
def test_hooks_leave_other_files_alone(pattern: re.Pattern[str], path: str) -> None:
    """Models of a data pipeline, deployments, drafts and backups are nobody's entries."""
    assert not pattern.search(path)


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
