"""Strict YAML: what is refused, where, and with which next step; and that nothing an author can type breaks the reader."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.knowledge.limits import MAX_DEPTH, MAX_VALUES
from advisor.knowledge.yaml_source import parse_document


def _problems(text: str) -> list[tuple[str, int, int]]:
    return [(f.code, f.line, f.column) for f in parse_document(text, "x.yaml").findings]


REFUSED = [
    ("id: a\ntitle: b: c\n", "KB001", 2, 9),
    ("id: 'open\n", "KB001", 2, 1),
    ("- a\n- b\n", "KB002", 1, 1),
    ("just text\n", "KB002", 1, 1),
    ("", "KB002", 1, 1),
    ("a: .nan\n", "KB004", 1, 4),
    ("a: 1\nb: [2, 1e400]\n", "KB004", 2, 8),
    ("a: !!str 1\n", "KB005", 1, 4),
    ("a: !<tag:yaml.org,2002:int> 1\n", "KB005", 1, 4),
    ("a: !include /etc/passwd\n", "KB005", 1, 4),
    ("!!map\na: 1\n", "KB005", 1, 1),
    ("[a]: 1\n", "KB006", 1, 1),
    ("? {b: 1}\n: 1\n", "KB006", 1, 3),
    ("b: &x 1\n*x : 2\n", "KB006", 2, 1),
    ("a: {<<: {b: 1}}\n", "KB007", 1, 5),
    ("a: 1\nb:\n  c: 1\n  c: 2\n", "KB008", 4, 3),
    ("a: *nothing\n", "KB009", 1, 4),
    ("a: &x [1, *x]\n", "KB009", 1, 11),
    ("a:\n\tb: 1\n", "KB014", 2, 1),
    ("a: x\u202ey\n", "KB015", 1, 5),
    ("a: x\x00y\n", "KB015", 1, 5),
    ("a: b\u2028c\n", "KB015", 1, 5),
    ("a: 1\n---\nb: 2\n", "KB016", 2, 1),
    ("%YAML 1.1\n---\na: 1\n", "KB016", 1, 1),
    ("a: no\n", "KB018", 1, 4),
]


@pytest.mark.parametrize(("text", "code", "line", "column"), REFUSED)
def test_refused_text_has_a_code_a_place_and_a_next_step(
    text: str, code: str, line: int, column: int
) -> None:
    """Each thing that strict YAML refuses is reported at its own line and column, with what to do."""
    findings = parse_document(text, "x.yaml").findings
    first = next(f for f in findings if f.code == code)
    assert (first.line, first.column) == (line, column)
    assert first.fix


def test_quoted_words_are_text() -> None:
    """Quotes settle it: what stands in them is never a number, a flag or a merge key."""
    data = parse_document("a: 'no'\nb: \"12\"\n'<<': x\nc: '!!str'\n", "x.yaml").data
    assert data == {"a": "no", "b": "12", "<<": "x", "c": "!!str"}


def test_aliases_within_bounds_are_values() -> None:
    """An anchor used again is the same value, as YAML says."""
    document = parse_document("a: &x {b: [1, 2]}\nc: *x\n", "x.yaml")
    assert document.data == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}}
    assert document.findings == []


BOMBS = {
    "alias bomb": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(
        f"{n}: &{n} [{', '.join([f'*{p}'] * 9)}]\n" for p, n in zip("abcdefghi", "bcdefghij", strict=True)
    ),
    "alias chain": "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 3000)),
    "flow nesting": "a: " + "[" * 500_000,
    "map nesting": "a: " + "{a: " * 300_000,
    "block nesting": "a:\n" + "".join(" " * i + "- \n" for i in range(1, 1400)),
    "dashes": "a:\n  " + "- " * 500_000 + "x\n",
    "question marks": "? " * 500_000,
    "many keys": "".join(f"k{i}: 1\n" for i in range(200_000)),
    "many items": "a: [" + "1, " * 600_000 + "1]\n",
    "one word": "a: " + "x" * 1_900_000 + "\n",
    "one key": "x" * 1_900_000 + ": a\n",
    "digits": "a: " + "9" * 1_900_000 + "\n",
    "underscores": "a: 1" + "_" * 1_900_000 + "x\n",
    "quotes": "a: '" + "''" * 900_000 + "\n",
    "comments": "# x\n" * 450_000 + "a: 1\n",
    "anchors": "".join(f"k{i}: &a{i} 1\n" for i in range(100_000)),
    "colons": "a" * 10 + ": " * 900_000 + "\n",
    "newlines in quotes": 'a: "' + "\n" * 1_900_000 + '"\n',
}


@pytest.mark.parametrize("name", BOMBS)
def test_hostile_text_ends_soon_with_a_finding_or_a_value(name: str) -> None:
    """Two megabytes of anything are read, or refused with a place, in a few seconds and without exhausting the stack."""
    start = time.process_time()
    document = parse_document(BOMBS[name], "x.yaml")
    assert document.findings or document.data is not None
    assert all(f.line >= 1 and f.column >= 1 and len(f.message) < 400 for f in document.findings)
    assert time.process_time() - start < 20  # a hang, not a speed: each takes well under two seconds


def test_limits_name_themselves() -> None:
    """A reader who meets a limit is told which, and what counts."""
    deep = parse_document("a: " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "x.yaml")
    assert [f.code for f in deep.findings] == ["KB003"]
    assert str(MAX_DEPTH) in deep.findings[0].message
    wide = parse_document(f"a: [{'1, ' * MAX_VALUES}1]", "x.yaml")
    assert [f.code for f in wide.findings] == ["KB003"]
    assert "aliases count each time" in wide.findings[0].fix


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises: there is data, or a finding that says where and why not."""
    document = parse_document(text, "x.yaml")
    assert document.data is not None or document.findings
    lines = text.count("\n") + text.count("\r") + 2
    assert all(1 <= f.line <= lines for f in document.findings)


YAMLISH = st.text(alphabet="ab:-[]{},&*!|>'\"#%@`\n\t ?~0.e<", max_size=120)


@given(YAMLISH)
def test_text_made_of_yaml_signs_is_read_or_refused(text: str) -> None:
    """As above, for text in which nearly every character means something to YAML."""
    document = parse_document(text, "x.yaml")
    assert document.data is not None or document.findings


JSON_VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcdef", min_size=1, max_size=4), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=5), JSON_VALUES, min_size=1, max_size=5))
def test_json_is_read_as_json(data: dict[str, Any]) -> None:
    """JSON is YAML 1.2, so a JSON object holds what it says (numbers as Python's own reader has them)."""
    text = json.dumps(data)
    document = parse_document(text, "x.yaml")
    assert document.data == json.loads(text)
