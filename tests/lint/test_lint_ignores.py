"""Comments that silence findings: what they cover, what they must say, and what they cannot silence."""

from __future__ import annotations

import pytest
from lint_workbench import Workbench

STALE = "reviewed: '2020-01-01'"


def test_a_comment_on_the_line_silences_that_code_there(bench: Workbench) -> None:
    """The code in brackets is silenced for the field on the line, others are not."""
    bench.change(
        "gotchas/example",
        f"title: A title.\n{STALE} # rackfit: ignore[KB601] nobody has the hardware any more",
    )
    assert bench.codes(ignore={"KB030"}) == {"KB606"}


def test_a_comment_above_covers_the_field_below(bench: Workbench) -> None:
    """A comment on its own line covers the whole field that follows, folded text included."""
    bench.change(
        "gotchas/example",
        "symptom: >-\n  The rack gives 5 tok/s and\n  the node gives 6 tok/s.\n",
    )
    assert [f.code for f in bench.lint(ignore={"KB030"})] == ["KB402", "KB402"]
    path = bench.path("gotchas/example")
    path.write_text(
        path.read_text().replace(
            "symptom:", "# rackfit: ignore[uncovered-figure] made up for a test\nsymptom:"
        )
    )
    assert bench.codes(ignore={"KB030"}) == set()


def test_a_file_comment_covers_the_entry(bench: Workbench) -> None:
    """`ignore-file` silences its codes everywhere in the entry."""
    path = bench.change("gotchas/example", f"title: A title.\n{STALE}")
    path.write_text(path.read_text() + "# rackfit: ignore-file[KB601, KB606] kept as it was written then\n")
    assert bench.codes(ignore={"KB030"}) == set()


def test_an_ignore_needs_a_reason(bench: Workbench) -> None:
    """Without one the finding is silenced and the comment is reported."""
    bench.change("gotchas/example", f"{STALE} # rackfit: ignore[KB601]")
    assert bench.codes() == {"KB025"}


def test_an_ignore_that_matches_nothing_is_reported(bench: Workbench) -> None:
    """Once the cause is gone the comment has to go too; of several codes only the idle one is named."""
    bench.change("gotchas/example", f"{STALE} # rackfit: ignore[KB601, KB604] old")
    (finding,) = bench.lint()
    assert finding.code == "KB026"
    assert "KB604" in finding.message


@pytest.mark.parametrize(
    "comment", ["# rackfit: ignore", "# rackfit: ignore[] why", "# rackfit: ignore[KB999] why"]
)
def test_an_ignore_must_name_codes_that_exist(bench: Workbench, comment: str) -> None:
    """A comment that silences nothing is an error, not a surprise."""
    bench.change("gotchas/example", f"severity: info {comment}")
    assert "KB027" in bench.codes()


def test_errors_that_keep_an_entry_from_loading_cannot_be_silenced(bench: Workbench) -> None:
    """The advisor would not load the entry, so the lint must not call it clean."""
    bench.change("gotchas/example", "severity: warn # rackfit: ignore[KB104] we say warn")
    assert bench.codes(ignore={"KB030"}) == {"KB104", "KB026"}


def test_words_like_a_comment_inside_text_are_text(bench: Workbench) -> None:
    """Prose may speak about ignore comments without being one."""
    bench.change("gotchas/example", "notes: >-\n  Write # rackfit: ignore[KB601] why, behind the field.\n")
    bench.change("rules/example", "note: 'as # rackfit: ignore[KB601] does'")
    assert bench.codes(ignore={"KB030"}) == set()
