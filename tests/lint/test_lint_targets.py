"""Editors, pre-commit and people name single files: each is linted as part of the folder that it belongs to."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lint_workbench import CLEAN_KB

from advisor.errors import InputError
from advisor.knowledge.locate import kb_folder
from advisor.lint.targets import kb_root, targets_of

Lint = Callable[..., Any]


@pytest.fixture
def lint(rackfit: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lint:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *arguments: rackfit("lint", "--no-config", "--format", "concise", *arguments)


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    """A gotcha that links to a shipped concept and source and to a concept of its own folder, which lacks a summary."""
    folder = tmp_path / "ours"
    for kind in ("gotchas", "concepts"):
        (folder / kind).mkdir(parents=True)
    text = (CLEAN_KB / "gotchas" / "example.yaml").read_text()
    text = text.replace("concepts/example", "concepts/tensor-parallel, concepts/ours").replace(
        "sources/example", "sources/mlperf-v6.1"
    )
    (folder / "gotchas" / "example.yaml").write_text(text)
    (folder / "concepts" / "ours.yaml").write_text(
        "id: concepts/ours\ntitle: Ours\nrelated: [concepts/absent]\n"
    )
    return folder


def test_a_file_of_an_overlay_sees_its_neighbours_and_the_shipped_entries(lint: Lint, overlay: Path) -> None:
    """No link of the gotcha dangles, and what is wrong with the concept beside it is not reported."""
    file = overlay / "gotchas" / "example.yaml"
    ran = lint(file)
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == f"no findings in {file}\n"
    file.write_text(file.read_text().replace("tensor-parallel", "no-such-concept-at-all"))
    ran = lint(file)
    assert ran.status == 1
    assert [line.split()[1] for line in ran.out.splitlines()] == ["KB210"]
    assert ran.out.startswith(f"{file}:")


def test_a_file_is_named_as_seen_from_the_working_folder(
    lint: Lint, overlay: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the command runs, the place is one that an editor there can open."""
    monkeypatch.chdir(overlay / "concepts")
    assert lint("ours.yaml").out.startswith("ours.yaml:")
    assert lint("../concepts/ours.yaml").out.startswith("ours.yaml:")
    monkeypatch.chdir(overlay)
    assert lint("concepts/ours.yaml").out.startswith("concepts/ours.yaml:")


def test_several_files_and_folders_of_several_knowledge_bases_are_sorted_out(
    overlay: Path, tmp_path: Path
) -> None:
    """As pre-commit passes them: one run for each knowledge base, the whole one alone, the others over the shipped one."""
    whole = tmp_path / "kb"
    shutil.copytree(CLEAN_KB, whole)
    files = [overlay / "concepts" / "ours.yaml", whole / "rules" / "example.yaml", overlay / "gotchas"]
    ours, base = targets_of(files, [])
    assert (ours.root, ours.below, ours.only) == (overlay, (kb_folder(),), (files[0], files[2]))
    assert (base.root, base.below, base.only) == (whole, (), (files[1],))


def test_a_file_inside_a_named_overlay_limits_the_report_to_it(
    lint: Lint, overlay: Path, tmp_path: Path
) -> None:
    """`--kb ours ours/gotchas/x.yaml` is about the file; a knowledge base beside it is what the folder lies over."""
    assert lint("--kb", overlay).status == 1
    assert lint("--kb", overlay, overlay / "gotchas" / "example.yaml").status == 0
    whole = tmp_path / "kb"
    shutil.copytree(CLEAN_KB, whole)
    ran = lint("--kb", overlay, whole, overlay / "gotchas" / "example.yaml")
    assert "KB210" in ran.out  # the small knowledge base has no tensor-parallel


def test_a_misspelt_folder_is_told_to_who_lints_a_file_in_it(lint: Lint, overlay: Path) -> None:
    """The file is not read at all, which must not pass for clean."""
    (overlay / "gotchas").rename(overlay / "gotcha")
    ran = lint(overlay / "gotcha" / "example.yaml")
    assert ran.status == 1
    assert "KB023 folder 'gotcha' is no kind" in ran.out
    assert "did you mean gotchas/?" in ran.out


def test_links_lead_nowhere(lint: Lint, overlay: Path, tmp_path: Path) -> None:
    """The folder is found in the path as it is written: a linked file or folder is reported where it stands, never read."""
    elsewhere = tmp_path / "elsewhere" / "gotchas"
    elsewhere.mkdir(parents=True)
    shutil.move(overlay / "gotchas" / "example.yaml", elsewhere / "example.yaml")
    (overlay / "gotchas" / "example.yaml").symlink_to(elsewhere / "example.yaml")
    assert kb_root(overlay / "gotchas" / "example.yaml") == overlay
    assert "KB010 is a link and is not followed" in lint(overlay / "gotchas" / "example.yaml").out
    shutil.rmtree(overlay / "gotchas")
    (overlay / "gotchas").symlink_to(elsewhere)
    ran = lint(overlay / "gotchas" / "example.yaml")
    assert f"{overlay / 'gotchas'}:1:1: KB010 is a link and is not followed" in ran.out


def test_a_folder_with_settings_is_a_root(tmp_path: Path) -> None:
    """`.rackfit.toml` marks where entries begin, however deep the file lies below."""
    folder = tmp_path / "notes" / "gotchas-of-ours" / "a" / "b" / "c"
    folder.mkdir(parents=True)
    (folder / "x.yaml").write_text("")
    with pytest.raises(InputError, match="not in a knowledge base"):
        kb_root(folder / "x.yaml")
    (tmp_path / "notes" / ".rackfit.toml").write_text("")
    assert kb_root(folder / "x.yaml") == tmp_path / "notes"


@pytest.mark.parametrize(("name", "said"), [("README.md", "is no entry"), ("absent.yaml", "does not exist")])
def test_what_is_no_entry_is_refused(lint: Lint, overlay: Path, name: str, said: str) -> None:
    """One line, status 2; a file that the linter does not read is not called clean."""
    (overlay / "README.md").write_text("# Ours\n")
    ran = lint(overlay / name)
    assert ran.status == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
