"""Configuration files and baselines: what they may say, and one clear line when they say something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lint_workbench import Workbench

from advisor.cli.main import main
from advisor.errors import InputError
from advisor.lint.options import Options, expand_codes, find_config, load_options


def _load(tmp_path: Path, text: str, name: str = ".rackfit.toml") -> Options:
    path = tmp_path / name
    path.write_text(text)
    return load_options(path)


def test_every_setting_is_read(tmp_path: Path) -> None:
    """Codes may be names or families; severities, limits and paths are taken as they stand."""
    options = _load(
        tmp_path,
        '[lint]\nselect = ["KB6", "dangling-link"]\nignore = ["KB604"]\nfail-on = "error"\nbaseline = "base.json"\n'
        'review-days = 30\nprice-days = 40\nline-length = 100\n[lint.severity]\nstale-review = "error"\n'
        '[lint.per-file-ignores]\n"gotchas/old-*.yaml" = ["KB601"]\n',
    )
    assert options.select == expand_codes(["KB6", "KB210"])
    assert options.ignore == {"KB604"}
    assert (options.fail_on, options.review_days, options.price_days, options.line_length) == (
        "error",
        30,
        40,
        100,
    )
    assert options.baseline == tmp_path / "base.json"
    assert options.severities == {"KB601": "error"}
    assert options.per_file_ignores == {"gotchas/old-*.yaml": {"KB601"}}


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    """`.rackfit.toml`, or a pyproject with our table, at or above the knowledge base; other pyprojects are passed over."""
    kb = tmp_path / "a" / "b" / "kb"
    kb.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.rackfit.lint]\nreview-days = 9\n")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    found = find_config(kb)
    assert found == tmp_path / "pyproject.toml"
    assert load_options(found).review_days == 9
    (tmp_path / "a" / ".rackfit.toml").write_text("")
    assert find_config(kb) == tmp_path / "a" / ".rackfit.toml"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[lint]\nselct = []\n", "did you mean select"),
        ("[lint]\nselect = 'KB6'\n", "must be a list of codes"),
        ("[lint]\nselect = ['KB999']\n", "no lint code"),
        ("[lint]\nfail-on = 'fatal'\n", "one of: info, warning, error"),
        ("[lint]\nreview-days = 'year'\n", "is not a whole number"),
        ("[lint]\nreview-days = true\n", "is not a whole number"),
        ("[lint]\nseverity = 3\n", "must be a table"),
        ("[lnt]\nx = 1\n", "there is [lint]"),
        ("not toml", "cannot be used"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    """The file, the key, what was wrong and what would be right."""
    with pytest.raises(InputError) as caught:
        _load(tmp_path, text)
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_change_what_is_reported(bench: Workbench) -> None:
    """A shorter review limit finds more; a per-file ignore and a severity apply to what matches."""
    bench.change("gotchas/example", "reviewed: '2026-10-01'")
    assert bench.codes() == set()
    assert bench.codes(review_days=30) == {"KB601"}
    assert bench.codes(review_days=30, per_file_ignores={"gotchas/*.yaml": frozenset({"KB601"})}) == set()
    assert [f.severity for f in bench.lint(review_days=30, severities={"KB601": "error"})] == ["error"]


def test_the_command_reads_the_settings_beside_the_knowledge_base(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --no-config the nearest file decides; flags come on top."""
    bench.change("gotchas/example", "reviewed: '2020-01-01'")
    (bench.root / ".rackfit.toml").write_text('[lint]\nignore = ["KB601"]\n')
    assert main(["lint", "--no-cache", str(bench.root)]) == 0
    assert main(["lint", "--no-cache", "--no-config", str(bench.root)]) == 1
    capsys.readouterr()


def test_a_baseline_lets_pass_what_is_known_and_nothing_more(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Known findings pass also when lines move; a new one fails; a mended one is pointed out, so that the file shrinks."""
    baseline = bench.root.parent / "baseline.json"
    path = bench.change("gotchas/example", "title: A title.\nconcepts: [concepts/absent]")
    flags = ["lint", "--no-cache", "--no-config", str(bench.root), "--ignore", "KB030"]
    assert main([*flags, "--write-baseline", str(baseline)]) == 0
    assert main([*flags, "--baseline", str(baseline)]) == 0
    path.write_text(path.read_text().replace("severity:", "# moved\n# down\nseverity:"))
    assert main([*flags, "--baseline", str(baseline)]) == 0
    bench.change("rules/example", "because: [concepts/absent]")
    assert main([*flags, "--baseline", str(baseline)]) == 1
    assert "rules/example.yaml" in capsys.readouterr().out
    bench.change("rules/example", "because: [concepts/example]")
    bench.change("gotchas/example", "title: A title")
    assert main([*flags, "--baseline", str(baseline)]) == 0
    assert "1 findings of" in capsys.readouterr().err


def test_a_baseline_is_stable_and_names_no_absolute_path(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Writing it twice gives the same bytes, and paths are relative to it."""
    baseline = bench.root.parent / "baseline.json"
    bench.change("gotchas/example", "title: A title.\nconcepts: [concepts/absent]")
    flags = ["lint", "--no-cache", "--no-config", str(bench.root), "--write-baseline", str(baseline)]
    main(flags)
    first = baseline.read_bytes()
    main(flags)
    capsys.readouterr()
    assert baseline.read_bytes() == first
    assert {row["path"] for row in json.loads(first)["findings"]} == {"kb/gotchas/example.yaml"}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2, "findings": []}', '{"format": 1, "findings": [1]}', "[" * 5000]
)
def test_a_file_that_is_no_baseline_is_refused(
    bench: Workbench, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """One line that says how to write one."""
    baseline = bench.root.parent / "baseline.json"
    baseline.write_text(text)
    assert main(["lint", "--no-cache", "--no-config", str(bench.root), "--baseline", str(baseline)]) == 2
    assert "--write-baseline" in capsys.readouterr().err
