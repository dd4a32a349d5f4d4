"""The robust, grouped regression behind the calibration, on data whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.sizing.refit.regression import Array, Fit, Grouping, fit_rows


def made(count: int = 200, seed: int = 7) -> tuple[Array, Array]:
    generator = np.random.default_rng(seed)
    terms = generator.uniform(0.2, 3.0, (count, 2))
    return terms, terms @ np.array([1.5, 4.0])


def fitted(
    terms: Array, measured: Array, engine: list[str] | None = None, model: list[str] | None = None
) -> Fit:
    count = len(measured)
    return fit_rows(
        terms, measured, prior_mean=np.array([1.0, 2.0]), prior_deviation=np.array([0.7, 0.7]),
        coefficients=[Grouping(name="engine", labels=engine or ["a"] * count, deviation=0.2)],
        factors=[Grouping(name="model", labels=model or ["m"] * count, deviation=0.3)],
    )  # fmt: skip


def total(fit: Fit, **labels: str) -> Array:
    return fit.coefficient({"engine": "a", **labels}) * fit.factor({"model": "m", **labels})


def test_coefficients_of_exact_data_are_found() -> None:
    """y = 1.5 a + 4 b: the product of coefficient and factor comes back within the prior's pull."""
    assert total(fitted(*made())) == pytest.approx([1.5, 4.0], rel=0.03)


def test_rows_measured_under_unstated_conditions_weigh_little() -> None:
    """A fifth of the rows at half their value (multi-token prediction that nobody mentions) moves nothing much."""
    terms, measured = made()
    measured[::5] *= 0.5
    assert total(fitted(terms, measured)) == pytest.approx([1.5, 4.0], rel=0.06)


def test_a_group_of_its_own_pace_gets_a_factor() -> None:
    """One model 20 % slower than its shapes say: the ratio of the factors is near 1.2."""
    terms, measured = made()
    model = ["m"] * 100 + ["slow"] * 100
    measured[100:] *= 1.2
    found = fitted(terms, measured, model=model)
    assert found.factor({"model": "slow"}) / found.factor({"model": "m"}) == pytest.approx(1.2, rel=0.02)


def test_a_group_with_few_rows_leans_on_the_others() -> None:
    """Measured to a tenth, two rows at twice the pace pull their group less far than a hundred such rows do."""

    def pull(rows: int) -> float:
        terms, measured = made()
        measured *= np.exp(np.random.default_rng(3).normal(0.0, 0.1, len(measured)))
        measured[-rows:] *= 2.0
        found = fitted(terms, measured, engine=["a"] * (200 - rows) + ["other"] * rows)
        ratio = found.coefficient({"engine": "other"}) / found.coefficient({"engine": "a"})
        return float(np.exp(np.log(ratio).mean()))

    assert 1.0 < pull(2) < pull(100)
    assert pull(100) == pytest.approx(2.0, rel=0.05)


def test_an_unknown_label_gets_the_common_part() -> None:
    """A label that was not fitted adds nothing."""
    found = fitted(*made())
    assert found.coefficient({"engine": "unheard of"}) == pytest.approx(
        np.exp(found.prior_mean + found.common)
    )
    assert found.factor({"model": "unheard of"}) == 1.0


def test_the_same_rows_give_the_same_fit() -> None:
    """Bit for bit: nothing is drawn at random."""
    one, other = fitted(*made()), fitted(*made())
    assert (one.common == other.common).all()
    assert one.scale == other.scale
