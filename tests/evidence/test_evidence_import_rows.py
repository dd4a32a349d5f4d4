"""Bad rows are reported with their record, the rest is imported; unreadable files are refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rows
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.errors import InputError
from advisor.evidence.mlperf import import_results
from advisor.evidence.mlperf.rows import Problem, parse_rows

BAD: list[tuple[dict[str, Any], str]] = [
    ({"Model": "gpt-5-mini"}, "unknown benchmark 'gpt-5-mini'"),
    ({"Scenario": "SingleStream"}, "unknown scenario 'SingleStream'"),
    ({"Performance_Result": None}, "field Performance_Result is missing; it needs a number above 0"),
    ({"Performance_Result": "103480"}, "it needs a number above 0"),
    ({"Performance_Result": 0}, "it needs a number above 0"),
    ({"Performance_Result": 10**400}, "it needs a number above 0 and up to 1e+12"),
    ({"Performance_Result": float("nan")}, "field Performance_Result is 'nan'; it needs a number above 0"),
    ({"Nodes": float("inf")}, "field Nodes is 'inf'; it needs a whole number"),
    (
        {"a#": "", "Total Accelerators": None},
        "no accelerator count: fields Nodes, a# and Total Accelerators give none",
    ),
    ({"Performance_Result": True}, "it needs a number above 0"),
    ({"Submitter": ""}, "field Submitter"),
    ({"Platform": 7}, "it needs text"),
    ({"Nodes": "two"}, "field Nodes is '\\'two\\''; it needs a whole number"),
    ({"Nodes": -1}, "it needs a whole number"),
    ({"Availability": "soon"}, "it needs available, preview or rdi"),
    ({"Category": "ajar"}, "it needs closed or open"),
    ({"version": "six"}, "it needs a round such as v6.1"),
    ({"Performance_Units": "Frames/s"}, "unknown unit 'Frames/s'"),
    ({"Performance_Units": "Samples/s"}, "this benchmark reports tokens_per_s"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[message for _, message in BAD])
def test_a_bad_row_is_reported_and_the_rest_imported(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    """One row of two is bad: its record and what would be right are said, the other becomes an entry."""
    path = rows.write_list(tmp_path, rows.list_row(ID="6.0-0009", **change), rows.list_row(Platform="other"))
    done = import_results(path)
    (problem,) = done.problems
    assert problem.record == "6.0-0009"
    assert message.replace("\\'", "'") in problem.message.replace("\\'", "'")
    assert [entry.platform for entry in done.entries] == ["other"]


def test_a_row_of_another_round_is_reported(tmp_path: Path) -> None:
    """`--round v6.1` refuses a v6.0 row."""
    done = import_results(rows.write_list(tmp_path, rows.list_row()), round_="v6.1")
    assert done.problems[0].message == "belongs to 'v6.0', not to v6.1"


def test_the_round_given_fills_in_a_missing_one(tmp_path: Path) -> None:
    """A row without version takes the round of the flag."""
    row = rows.list_row()
    del row["version"]
    assert import_results(rows.write_list(tmp_path, row), round_="v6.0").entries[0].round == "v6.0"


def test_a_duplicate_row_is_reported(tmp_path: Path) -> None:
    """The same system, model and scenario twice: the first stays, the second is named."""
    done = import_results(
        rows.write_list(tmp_path, rows.list_row(), rows.list_row(ID="6.0-0002", Performance_Result=1.0))
    )
    assert [(p.record, p.message.split(":")[0]) for p in done.problems] == [
        ("6.0-0002", "duplicate of record 6.0-0001")
    ]
    assert done.entries[0].results[0].value == 103480.0


def test_a_key_that_occurs_twice_in_the_object_is_a_duplicate_row(tmp_path: Path) -> None:
    """JSON parsers keep the last of two equal keys silently; we do not."""
    row = json.dumps(rows.object_row())
    path = tmp_path / "summary.json"
    path.write_text(f'{{"7": {row}, "7": {row}}}')
    done = import_results(path)
    assert [problem.record for problem in done.problems] == ["7"]
    assert done.results == 1


def test_other_suites_and_tasks_are_left_out_without_complaint(tmp_path: Path) -> None:
    """Edge rows, image and speech benchmarks are known and out of scope."""
    path = rows.write_list(
        tmp_path,
        rows.list_row(Suite="edge"),
        rows.list_row(Model="retinanet", UsedModel="retinanet", Performance_Units="Samples/s"),
        rows.list_row(Model="dlrm-v2-99.9", UsedModel="dlrm-v2-99.9", Performance_Units="Samples/s"),
        rows.list_row(Model="llama3.1-8b-edge", UsedModel="llama3.1-8b-edge"),
    )
    done = import_results(path)
    assert (done.left_out, done.problems, done.entries) == (4, (), ())


def test_one_division_can_be_kept(tmp_path: Path) -> None:
    """`--division closed` leaves open rows out."""
    path = rows.write_list(tmp_path, rows.list_row(), rows.list_row(Category="open"))
    assert [entry.division for entry in import_results(path, division="closed").entries] == ["closed"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1, 2", "is not JSON"), (b"\xff\xfe", "is not UTF-8 text"), (b'"text"', "is neither a list of results nor an object"),
        (b"[" * 100_000, "is not JSON"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_summary_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """What is wrong is one line that names the file."""
    path = tmp_path / "summary.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        import_results(path)
    assert "\n" not in str(caught.value)


def test_rows_that_are_no_objects_are_reported(tmp_path: Path) -> None:
    """A number or a list where a row should be."""
    done = import_results(rows.write_list(tmp_path, 7, [], rows.list_row()))
    assert [p.message for p in done.problems] == ["is not an object of fields"] * 2
    assert [p.record for p in done.problems] == ["#0", "#1"]


VALUES = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=20)
    | st.lists(st.integers(), max_size=2)
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(rows.list_row()) + sorted(rows.object_row())), VALUES))
def test_no_row_raises(change: dict[str, Any]) -> None:
    """Whatever a field holds, a row is either read or a problem with a one-line message."""
    for row in (rows.list_row(**change), rows.object_row(**change)):
        (parsed,) = parse_rows([("1", row)])
        if isinstance(parsed, Problem):
            assert "\n" not in parsed.one_line("f.json")
