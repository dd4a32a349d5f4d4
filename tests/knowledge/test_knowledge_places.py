"""Where things stand: a finding points at the key or the value that is meant, as an editor counts."""

from __future__ import annotations

import pytest

from advisor.knowledge.yaml_source import parse_document

TEXT = """\
# a comment
id: gotchas/example
concepts:
  - concepts/a
  - concepts/b # why
claims:
  - {text: '16,433', expression: rate / gpus}
  - text: é 7
    inputs: {a: "x", b: y}
symptom: >-
  A folded text that
  goes on here.
"""


@pytest.mark.parametrize(
    ("where", "key", "place", "text"),
    [
        (("id",), False, (2, 5), "gotchas/example"),
        (("id",), True, (2, 1), "id"),
        (("concepts", 1), False, (5, 5), "concepts/b"),
        (("claims", 0, "text"), False, (7, 12), "'16,433'"),
        (("claims", 0, "expression"), True, (7, 22), "expression"),
        (("claims", 1, "text"), False, (8, 11), "é 7"),
        (("claims", 1, "inputs", "b"), False, (9, 25), "y"),
        (
            ("symptom",),
            False,
            (10, 1),
            "symptom",
        ),  # a block starts below its key: the key is what to point at
        (("claims", 1, "missing"), False, (8, 5), "t"),
        (("missing",), False, (2, 1), "i"),
        (("claims", 9, "text"), False, (6, 1), "claims"),
    ],
)
def test_places_are_exact(where: tuple[str | int, ...], key: bool, place: tuple[int, int], text: str) -> None:
    """Keys, values, list items and nested parts have their own line and column; what is missing has its parent's."""
    document = parse_document(TEXT, "x.yaml")
    span = document.span(where, key=key)
    assert (span.line, span.column) == place
    assert TEXT[span.start : span.end] == text


def test_words_are_found_inside_folded_text() -> None:
    """A figure or a name in the prose has its own place, also where the fold breaks it."""
    document = parse_document(TEXT, "x.yaml")
    span = document.narrow(("symptom",), "that goes")
    assert span is not None
    assert (span.line, span.column, span.end_line, span.end_column) == (11, 17, 12, 7)
    assert document.narrow(("symptom",), "absent words") is None
