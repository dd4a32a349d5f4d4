"""A robust regression whose coefficients are shared between groups: the numerical part of `rackfit calibrate`.

Model of one row: y = (sum over terms k of c_k x_k) * f, with
ln c_k = prior mean + common part + one part per group of each coefficient grouping (for example engine, accelerator),
ln f   = one part per group of each factor grouping (for example model).
Every part has a normal prior around zero, so a group with little data leans on the common part (a multilevel model,
Gelman and Hill 2007, ch. 12). Residuals of ln y follow Student's t, so that rows measured under unstated conditions
weigh little (Lange, Little and Taylor 1989). Solved by iteratively reweighted Gauss-Newton steps: deterministic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_TAIL = 4.0
"""Degrees of freedom of the residuals."""
_SMALLEST_SCALE = 0.02
"""Residual scale is not taken below this: two runs of one configuration differ by more."""
_ITERATIONS = 60
_LARGEST_STEP, _SMALLEST_STEP = 1.5, 2e-3


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """Labels of rows, and the prior standard deviation (of a logarithm) of each label's part."""

    name: str
    labels: Sequence[str]
    deviation: float


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Parts by label. common: one entry per term; coefficients[grouping][label]: one per term; factors[grouping][label]."""

    prior_mean: Array
    common: Array
    coefficients: Mapping[str, Mapping[str, Array]]
    factors: Mapping[str, Mapping[str, float]]
    scale: float

    def coefficient(self, labels: Mapping[str, str]) -> Array:
        """Coefficients for one label per grouping; a label that was not fitted adds nothing."""
        total = self.prior_mean + self.common
        for name, parts in self.coefficients.items():
            part = parts.get(labels[name])
            if part is not None:
                total = total + part
        return np.exp(total)

    def factor(self, labels: Mapping[str, str]) -> float:
        """Factor for one label per grouping."""
        return float(np.exp(sum(parts.get(labels[name], 0.0) for name, parts in self.factors.items())))


def fit_rows(
    terms: Array,
    measured: Array,
    *,
    prior_mean: Array,
    prior_deviation: Array,
    coefficients: Sequence[Grouping],
    factors: Sequence[Grouping],
) -> Fit:
    """Fit rows (n x K terms, n measured values). Groupings carry one label per row."""
    problem = _Problem(terms, np.log(measured), np.log(prior_mean), prior_deviation, coefficients, factors)
    solution, scale = problem.solve()
    return problem.unpack(solution, np.log(prior_mean), scale)


class _Problem:
    def __init__(
        self, terms: Array, target: Array, mean: Array, deviation: Array, coefficients: Sequence[Grouping],
        factors: Sequence[Grouping],
    ) -> None:  # fmt: skip
        self.terms, self.target, self.mean = terms, target, mean
        self.count, self.width = terms.shape
        self.coefficients = [(g, *_indexed(g.labels)) for g in coefficients]
        self.factors = [(g, *_indexed(g.labels)) for g in factors]
        precision = [1 / deviation**2]
        self.starts = [0, self.width]
        for grouping, names, _ in self.coefficients:
            precision.append(np.full(self.width * len(names), 1 / grouping.deviation**2))
            self.starts.append(self.starts[-1] + self.width * len(names))
        for grouping, names, _ in self.factors:
            precision.append(np.full(len(names), 1 / grouping.deviation**2))
            self.starts.append(self.starts[-1] + len(names))
        self.precision = np.concatenate(precision)
        self.cells = self._cells() if self.coefficients else []

    def forward(self, solution: Array) -> tuple[Array, Array]:
        """(share of each term in each row, logarithm of the prediction)."""
        logs = np.broadcast_to(self.mean + solution[: self.width], (self.count, self.width)).copy()
        for i, (_, names, index) in enumerate(self.coefficients):
            start, stop = self.starts[1 + i], self.starts[2 + i]
            logs += solution[start:stop].reshape(len(names), self.width)[index]
        parts = np.exp(logs) * self.terms
        total = parts.sum(axis=1)
        shift = np.zeros(self.count)
        for j, (_, _, index) in enumerate(self.factors, start=1 + len(self.coefficients)):
            shift += solution[self.starts[j] : self.starts[j + 1]][index]
        return parts / total[:, None], np.log(total) + shift

    def normal(self, shares: Array, weight: Array, residual: Array) -> tuple[Array, Array]:
        """(normal matrix, gradient) of the weighted squares. Rows with the same labels share their columns of the Jacobian."""
        size = self.starts[-1]
        if not self.coefficients:
            return self._dense_normal(shares, weight, residual)
        matrix, gradient = np.diag(self.precision), np.zeros(size)
        copies, ones = 1 + len(self.coefficients), len(self.factors)
        for rows, columns in self.cells:
            part, w = shares[rows], weight[rows]
            weighted = part * w[:, None]
            across, edge = weighted.T @ part, weighted.sum(axis=0)
            block = np.full((len(columns), len(columns)), w.sum())
            inner = copies * self.width
            block[:inner, :inner] = np.tile(across, (copies, copies))
            block[:inner, inner:] = np.tile(edge, copies)[:, None]
            block[inner:, :inner] = np.tile(edge, copies)[None, :]
            matrix[np.ix_(columns, columns)] += block
            pull = w * residual[rows]
            gradient[columns] += np.concatenate([np.tile(part.T @ pull, copies), np.full(ones, pull.sum())])
        return matrix, gradient

    def _dense_normal(self, shares: Array, weight: Array, residual: Array) -> tuple[Array, Array]:
        """The same where nearly every row has labels of its own."""
        jacobian = np.zeros((self.count, self.starts[-1]))
        jacobian[:, : self.width] = shares
        for j, (_, _, index) in enumerate(self.factors, start=1):
            jacobian[np.arange(self.count), self.starts[j] + index] = 1.0
        matrix = (jacobian * weight[:, None]).T @ jacobian + np.diag(self.precision)
        return matrix, jacobian.T @ (weight * residual)

    def _cells(self) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """(rows, columns of the solution) of every combination of labels that occurs."""
        groupings = [*self.coefficients, *self.factors]
        labels = np.stack([index for _, _, index in groupings], axis=1)
        kinds, member = np.unique(labels, axis=0, return_inverse=True)
        cells = []
        for i, kind in enumerate(kinds):
            columns = [np.arange(self.width)]
            for j in range(len(self.coefficients)):
                columns.append(self.starts[1 + j] + kind[j] * self.width + np.arange(self.width))
            for j in range(len(self.coefficients), len(groupings)):
                columns.append(np.array([self.starts[1 + j] + kind[j]]))
            cells.append((np.flatnonzero(member == i), np.concatenate(columns)))
        return cells

    def solve(self) -> tuple[Array, float]:
        solution = np.zeros(self.starts[-1])
        damping, scale = 1e-3, 0.1
        for _ in range(_ITERATIONS):
            shares, predicted = self.forward(solution)
            residual = self.target - predicted
            scale = max(1.4826 * float(np.median(np.abs(residual))), _SMALLEST_SCALE)
            weight = (_TAIL + 1) / (_TAIL + (residual / scale) ** 2) / scale**2
            normal, gradient = self.normal(shares, weight, residual)
            gradient -= self.precision * solution
            before = self._cost(solution, residual, weight)
            step = np.zeros_like(solution)
            for _ in range(12):
                step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), gradient)
                step = np.clip(step, -_LARGEST_STEP, _LARGEST_STEP)
                trial = solution + step
                if self._cost(trial, self.target - self.forward(trial)[1], weight) < before:
                    solution, damping = trial, max(damping / 3, 1e-6)
                    break
                damping *= 4
            else:
                break
            if float(np.max(np.abs(step))) < _SMALLEST_STEP:
                break
        return solution, scale

    def _cost(self, solution: Array, residual: Array, weight: Array) -> float:
        return float((weight * residual**2).sum() + (self.precision * solution**2).sum())

    def unpack(self, solution: Array, mean: Array, scale: float) -> Fit:
        coefficients: dict[str, dict[str, Array]] = {}
        factors: dict[str, dict[str, float]] = {}
        for i, (grouping, names, _) in enumerate(self.coefficients):
            block = solution[self.starts[1 + i] : self.starts[2 + i]].reshape(len(names), self.width)
            coefficients[grouping.name] = dict(zip(names, block, strict=True))
        for j, (grouping, names, _) in enumerate(self.factors, start=1 + len(self.coefficients)):
            values = solution[self.starts[j] : self.starts[j + 1]]
            factors[grouping.name] = {name: float(v) for name, v in zip(names, values, strict=True)}
        return Fit(
            prior_mean=mean,
            common=solution[: self.width],
            coefficients=coefficients,
            factors=factors,
            scale=scale,
        )


def _indexed(labels: Sequence[str]) -> tuple[list[str], npt.NDArray[Any]]:
    """(sorted distinct labels, index of each row's label)."""
    names, index = np.unique(np.asarray(labels), return_inverse=True)
    return [str(name) for name in names], index
