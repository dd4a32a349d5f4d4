"""What a plain word means in an entry: YAML 1.2 core, section 10.3.2 of the specification, and nothing of YAML 1.1."""

from __future__ import annotations

import math

import pytest

from advisor.knowledge.scalars import parse_scalar, read_otherwise

# the examples of YAML 1.2.2, section 10.3.2 (core schema), and of section 10.2.1 (JSON schema)
CORE = [
    ("", None), ("~", None), ("null", None), ("Null", None), ("NULL", None),
    ("true", True), ("True", True), ("TRUE", True), ("false", False), ("False", False), ("FALSE", False),
    ("0", 0), ("-19", -19), ("+12", 12), ("0o7", 7), ("0x3A", 58),
    ("0.", 0.0), ("-0.0", -0.0), (".5", 0.5), ("+12e03", 12000.0), ("-2E+05", -200000.0), ("12.3015e+02", 1230.15),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), CORE)
def test_core_words_have_their_value(text: str, value: object) -> None:
    """The words of the core schema become null, flags, integers and floats."""
    parsed = parse_scalar(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "no",
        "on",
        "off",
        "y",
        "N",
        "Off",
        "12:30:45",
        "1_000",
        "2026-01-05",
        "1.2.3",
        "0b1010",
        "012",
        "-007",
        "v6.1",
        "1e",
        "e5",
        "٣",
    ],
)
def test_words_of_yaml_1_1_stay_text(text: str) -> None:
    """Countries, times, dates, versions and octal-looking numbers are what the author typed."""
    assert parse_scalar(text) == text


@pytest.mark.parametrize("text", [".inf", "-.INF", "+.inf", ".nan", "1e400", "-1e999", "9" * 401])
def test_what_is_not_finite_is_recognised(text: str) -> None:
    """Infinity, NaN and numbers beyond a double come back as such, so that the reader can refuse them."""
    assert not math.isfinite(parse_scalar(text))


@pytest.mark.parametrize("text", ["no", "On", "y", "012", "1_000", "12:30", "190:20:30.15", "0b11"])
def test_words_that_other_readers_take_otherwise_are_known(text: str) -> None:
    """YAML 1.1 (type repository: bool, int, float) reads these as flags and numbers."""
    assert read_otherwise(text)


@pytest.mark.parametrize(
    "text", ["nope", "v6.1", "12", "1.5", "a_b", "sources/x", "2026-01-05", "1" + "_" * 100_000 + "x"]
)
def test_ordinary_words_are_not_suspected(text: str) -> None:
    """Neither plain numbers nor names are reported, however long."""
    assert not read_otherwise(text)
