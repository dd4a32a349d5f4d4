"""A run that looks for some codes says which entries it could not look into, and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lint_workbench import Workbench

Lint = Callable[..., Any]
HIDDEN = "could not be checked for the codes asked for, because of errors of other codes"


@pytest.fixture
def lint(
    rackfit: Callable[..., Any], bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Lint:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *arguments: rackfit("lint", "--no-config", "--format", "concise", bench.root, *arguments)


@pytest.fixture
def broken(bench: Workbench) -> Path:
    """A dangling link in an entry that a wrong value keeps from being linked."""
    return bench.change("gotchas/example", "severity: warn\nconcepts: [concepts/absent]")


@pytest.mark.parametrize("selection", [("--select", "KB210"), ("--select", "KB4"), ("--ignore", "KB1")])
def test_an_entry_that_cannot_be_linked_is_named(
    lint: Lint, broken: Path, selection: tuple[str, ...]
) -> None:
    """Links and figures are looked for in entries, and this file holds none until its value is mended."""
    ran = lint(*selection)
    assert "KB210" not in ran.out
    assert f"1 entry {HIDDEN}: {broken} (KB104)" in ran.err
    assert ran.err.count(HIDDEN) == 1


def test_who_sees_the_error_is_not_told_again(lint: Lint, broken: Path) -> None:
    """The error itself says that the entry is not right yet; so does one of several in the same file."""
    assert HIDDEN not in lint().err
    assert HIDDEN not in lint("--select", "KB210,KB104").err
    broken.write_text(broken.read_text().replace("sources: [sources/example]", "sources: sources/example"))
    assert "KB103" in lint().out
    assert HIDDEN not in lint("--select", "KB210,KB104").err


@pytest.mark.parametrize("codes", ["KB1", "KB105", "KB0", "KB030"])
def test_what_is_found_in_the_text_alone_was_checked(lint: Lint, broken: Path, codes: str) -> None:
    """Fields, values and layout are looked at in an entry that cannot be linked, so nothing was missed."""
    assert HIDDEN not in lint("--select", codes).err


def test_of_a_file_that_is_not_yaml_nothing_was_checked(lint: Lint, bench: Workbench) -> None:
    """Not even its layout and its fields."""
    path = bench.write("gotchas/example", "id: gotchas/example\ntitle: [\n")
    for codes in ("KB210", "KB102", "KB030"):
        assert f"1 entry {HIDDEN}: {path} (KB" in lint("--select", codes).err


def test_accepted_errors_still_hide(lint: Lint, broken: Path, tmp_path: Path) -> None:
    """A baseline that accepts the error leaves the entry unlinked, which is said."""
    baseline = tmp_path / "baseline.json"
    lint("--write-baseline", baseline)
    ran = lint("--baseline", baseline)
    assert (ran.status, ran.out) == (0, "")
    assert f"1 entry {HIDDEN}" in ran.err


def test_many_are_counted_and_the_first_few_named(lint: Lint, bench: Workbench) -> None:
    """One line, however many there are."""
    for number in range(7):
        bench.change(f"gotchas/example-{number}", "severity: warn")
    ran = lint("--select", "KB210")
    (line,) = [line for line in ran.err.splitlines() if HIDDEN in line]
    assert line.startswith("7 entries ")
    assert line.count("(KB104)") == 3
    assert "and 4 more" in line


def test_a_bad_name_cannot_be_silenced(lint: Lint, bench: Workbench) -> None:
    """A file whose name is none is left out of the knowledge base, so a comment must not make it look checked."""
    text = bench.path("gotchas/example").read_text()
    bench.write("gotchas/Bad_Name", text + "# rackfit: ignore-file[KB201] we like it\n")
    assert "KB201" in lint().out
