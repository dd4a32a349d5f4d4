"""The arithmetic of claims: exact, bounded, and nothing but arithmetic."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.evidence.expression import MAX_DEPTH, MAX_LENGTH, ExpressionError, evaluate, names_in

VALUES = {"rack": Fraction(1136100), "slice": Fraction(131464), "gpus": Fraction(72)}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", Fraction(7)), ("(1 + 2) * 3", Fraction(9)), ("7 - 2 - 1", Fraction(4)), ("8 / 4 / 2", Fraction(1)),
        ("-3 + 5", Fraction(2)), ("2 * -3", Fraction(-6)), ("--2", Fraction(2)), ("0.1 + 0.2", Fraction(3, 10)),
        ("rack / gpus", Fraction(1136100, 72)), ("max(1, 3, 2) - min(1, 3, 2)", Fraction(2)), ("abs(2 - 5)", Fraction(3)),
        ("(1 - slice / rack) * 100", (1 - Fraction(131464, 1136100)) * 100),
    ],
)  # fmt: skip
def test_arithmetic_is_exact(expression: str, value: Fraction) -> None:
    """Division, ratio, percent, difference and sum, with the usual precedence and no rounding."""
    assert evaluate(expression, VALUES) == value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("rack / (gpus - 72)", "divides by zero"), ("node / gpus", "'node' is not one of the inputs: gpus, rack, slice"),
        ("rack ** 9", "is not one of the inputs|goes on|ends"), ("__import__('os')", "is not arithmetic"), ("rack.value", "is not arithmetic"),
        ("", "ends where a number"), ("1 +", "ends where a number"), ("(1", "lacks '\\)'"), ("1 2", "goes on after its end"),
        ("abs(1, 2)", "abs takes one value"), ("max()", "not one of the inputs"), ("1e999999", "goes on"), ("lambda", "not one of the inputs"),
        ("9" * 31, "goes on"), ("1" + "+1" * MAX_LENGTH, "longer than"), ("(" * (MAX_DEPTH + 2) + "1", "nests deeper"),
    ],
)  # fmt: skip
def test_anything_else_is_refused(expression: str, message: str) -> None:
    """Names, calls, powers, exponents, depth and length beyond the bounds are refused in one line."""
    with pytest.raises(ExpressionError, match=message) as caught:
        evaluate(expression, VALUES)
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="0123456789.+-*/(), abcrackminx_\n'\"[]{}", max_size=80))
def test_no_text_does_anything_but_compute_or_refuse(expression: str) -> None:
    """Whatever is written, the outcome is a number or a refusal."""
    with contextlib.suppress(ExpressionError):
        assert isinstance(evaluate(expression, VALUES), Fraction)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=8))
def test_sums_of_values_agree_with_python(numbers: list[int]) -> None:
    """A chain of additions and divisions gives what exact fractions give."""
    text = " + ".join(f"{n} / 7" for n in numbers)
    assert evaluate(text, {}) == sum(Fraction(n, 7) for n in numbers)


def test_the_names_an_expression_reads() -> None:
    """Functions are no names."""
    assert names_in("max(rack, slice) / 72") == {"rack", "slice"}
