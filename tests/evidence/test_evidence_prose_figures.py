"""Numbers as prose writes them: value, precision, scale, sign, and which figures need an account."""

from __future__ import annotations

from fractions import Fraction

import pytest

from advisor.evidence.expression import MAX_DEPTH, MAX_LENGTH, ExpressionError, evaluate
from advisor.evidence.prose_figures import Written, needing_account, written_numbers


def written(value: str, step: str) -> Written:
    return Written(value=Fraction(value), step=Fraction(step))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("15,779 tok/s", (("15779", "1"),)), ("15.8k tok/s", (("15800", "100"),)), ("16K", (("16000", "1000"),)), ("1.25M", (("1250000", "10000"),)),
        ("2G", (("2000000000", "1000000000"),)), ("-3.5 %", (("-3.5", "0.1"),)), ("−3 %", (("-3", "1"),)), ("10-20%", (("10", "1"), ("20", "1"))),
        ("10 to 20.5 %", (("10", "1"), ("20.5", "0.1"))), ("10–20", (("10", "1"), ("20", "1"))), ("10 — 20", (("10", "1"), ("20", "1"))),
        ("1.090", (("1.090", "0.001"),)), ("about 7 of 8", (("7", "1"),)), ("5 kW", (("5", "1"),)), ("5kW", (("5", "1"),)), ("none", ()),
    ],
)  # fmt: skip
def test_a_number_has_the_precision_of_its_last_digit(
    text: str, numbers: tuple[tuple[str, str], ...]
) -> None:
    """Thousands separators, k, M and G, a sign, both ends of a range; a unit's letter is no scale."""
    assert written_numbers(text) == tuple(written(*each) for each in numbers)


@pytest.mark.parametrize(
    ("value", "step", "computed", "agrees"),
    [
        ("1.09", "0.01", "1.094", True), ("1.09", "0.01", "1.095", True), ("1.09", "0.01", "1.0951", False), ("1.09", "0.01", "1.085", True),
        ("1.09", "0.01", "1.0849", False), ("16000", "1000", "15500", True), ("16000", "1000", "15499", False), ("-3", "1", "-3.4", True),
    ],
)  # fmt: skip
def test_agreement_is_rounding_to_the_digits_written(
    value: str, step: str, computed: str, agrees: bool
) -> None:
    """An exact half rounds either way."""
    assert written(value, step).agrees(Fraction(computed)) is agrees


def test_a_coarser_source_widens_agreement() -> None:
    """15,779 against 15,780 at tens."""
    assert not written("15779", "1").agrees(Fraction(15784))
    assert written("15779", "1").agrees(Fraction(15784), coarsest=Fraction(10))
    assert not written("15779", "1").agrees(Fraction(15785), coarsest=Fraction(10))


@pytest.mark.parametrize(
    ("step", "computed", "text"),
    [
        ("1", "15779.17", "15,779"),
        ("0.1", "15779.17", "15,779.2"),
        ("0.001", "1.0905", "1.090"),
        ("1000", "15779.17", "16,000"),
        ("0.01", "-0.5", "-0.50"),
    ],
)
def test_a_value_is_shown_at_the_precision_written(step: str, computed: str, text: str) -> None:
    """So many decimals as the author gave."""
    assert written("1", step).rounded(Fraction(computed)) == text


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("900 tok/s on 8 GPUs", ["900 tok/s"]), ("a 12% gap, 40 ms", ["12%"]), ("12 percent or 12 per cent", ["12 percent", "12 per cent"]),
        ("1,200 output tokens per second", ["1,200 output tokens per second"]), ("10-20k tokens/s", ["10-20k tokens/s"]), ("5 req/s, 3 qps", ["5 req/s", "3 qps"]),
        ("15,779 per GPU, 8 a GPU", ["15,779 per GPU", "8 a GPU"]), ("80 GB per GPU memory", []), ("2 USD per GPU hour, 3 per accelerator hour", []),
        ("-3.5 % there", ["-3.5 %"]), ("288GB, 72 GPUs, 132 kW", []), ("v1.9%", []), ("5 requests a second", ["5 requests a second"]),
    ],
)  # fmt: skip
def test_rates_and_shares_need_an_account(prose: str, figures: list[str]) -> None:
    """Performance units, per accelerator and per cent; sizes, counts, times and prices do not."""
    assert [prose[start:end] for start, end in needing_account(prose)] == figures


def test_depth_and_length_end_where_they_are_said_to() -> None:
    """Thirty levels of brackets, 500 characters; one more of either is refused."""
    assert evaluate("(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH, {}) == 1
    assert evaluate("max(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH, {}) == 1
    with pytest.raises(ExpressionError, match="nests deeper"):
        evaluate("(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1), {})
    with pytest.raises(ExpressionError, match="nests deeper"):
        evaluate("max(1," * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1), {})
    assert evaluate("1".ljust(MAX_LENGTH), {}) == 1
    with pytest.raises(ExpressionError, match="longer than"):
        evaluate("1".ljust(MAX_LENGTH + 1), {})
