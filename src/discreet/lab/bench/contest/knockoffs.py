"""Private knockoffs by random projection (Tao & Javanmard 2025, arXiv 2508.04800), from public code.

Which of 50 coefficients of a linear model are not 0: a question about conditional independence, given all
other columns, that no test of ours asks. The setting: rows of length 1, correlations .25^|i-j|, coefficients
of 4.5, noise of deviation 1, epsilon 0.1, delta 1/n, q = 0.2. Columns and response together, with w times
the identity below them, are projected to 200 rows by a Gaussian matrix; then second-order knockoffs,
differences of lasso coefficients chosen by cross-validation, and the knockoff+ threshold.

Given the people, projected rows are independent normal with the Gram matrix, w^2 added to its diagonal, for
covariance: they are drawn so, and the matrix of 200 rows for every person is never made. Without the identity
where the smallest singular value allows it: here it never does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

COLUMNS, REAL, SIZE, CORRELATION, ROWS = 50, 15, 4.5, 0.25, 200
EPSILON, Q = 0.1, 0.2


@dataclass(frozen=True, slots=True)
class Setting:
    """How many people, and FDR and power stored in the repository.

    Of which coefficients is not said: powers are multiples of 1/2,000, which 15 of them do not give.
    """

    people: int
    fdr: float
    power: float


SETTINGS = (Setting(150_000, 0.149, 0.683),)


def run(setting: Setting, studies: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return false discovery proportions and shares of the real coefficients found."""
    rng = np.random.default_rng(seed)
    false, power = np.empty(studies), np.empty(studies)
    for i in range(studies):
        x, real = people(setting.people, rng)
        y = SIZE * x[:, real].sum(axis=1) + rng.standard_normal(len(x))
        selected = knockoff_filter(*projected(np.column_stack((x, y)), rng), rng)
        false[i] = (selected & ~real).sum() / max(1, selected.sum())
        power[i] = selected[real].mean()
    return false, power


def people(n: int, rng: Generator) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return rows of length 1, and which columns matter."""
    apart = np.abs(np.subtract.outer(np.arange(COLUMNS), np.arange(COLUMNS)))
    x = rng.standard_normal((n, COLUMNS)) @ np.linalg.cholesky(CORRELATION**apart).T
    return x / np.linalg.norm(x, axis=1, keepdims=True), rng.permutation(np.arange(COLUMNS) < REAL)


def projected(table: NDArray[np.float64], rng: Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return 200 private rows of the columns, and of the response, which is the last."""
    rare = math.log(8.0 * len(table))
    added = 8.0 / EPSILON * (math.sqrt(2.0 * ROWS * rare) + 2.0 * rare)
    gram = table.T @ table + added * np.eye(table.shape[1])
    rows = rng.standard_normal((ROWS, table.shape[1])) @ np.linalg.cholesky(gram / ROWS).T
    return rows[:, :-1], rows[:, -1]


def knockoff_filter(x: NDArray[np.float64], y: NDArray[np.float64], rng: Generator) -> NDArray[np.bool_]:
    """Return the columns selected by knockoff+ with lasso coefficient differences."""
    linear: Any = import_module("sklearn.linear_model")
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    both = np.hstack((x, knockoffs(x, rng)))
    with np.errstate(all="ignore"):
        size = np.abs(linear.LassoCV(cv=10).fit(both, y - y.mean()).coef_)
    ahead = size[:COLUMNS] - size[COLUMNS:]
    for cut in np.sort(np.abs(ahead[ahead != 0])):
        if (1 + (ahead <= -cut).sum()) / max(1, (ahead >= cut).sum()) <= Q:
            return ahead >= cut
    return np.zeros(COLUMNS, dtype=np.bool_)


def knockoffs(x: NDArray[np.float64], rng: Generator) -> NDArray[np.float64]:
    """Return second-order knockoffs of standardised columns (Candes, Fan, Janson & Lv 2018)."""
    correlation = np.asarray(np.corrcoef(x, rowvar=False))
    apart = np.diag(distances(correlation))
    shrunk = np.linalg.solve(correlation, apart)
    spread = 2.0 * apart - apart @ shrunk
    values, vectors = np.linalg.eigh((spread + spread.T) / 2.0)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return x - x @ shrunk + rng.standard_normal(x.shape) @ root.T


def distances(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return s in [0, 1] of about the largest sum with 2 correlation - diag(s) positive semidefinite.

    Coordinate ascent with a shrinking margin: given the others, s_j may grow by the Schur complement of j.
    """
    s, margin = np.zeros(len(correlation)), 0.8
    for _ in range(25):
        for j in range(s.size):
            inverse = np.linalg.inv(2.0 * correlation - np.diag(s))
            s[j] = min(1.0, max(0.0, s[j] + 1.0 / inverse[j, j] - margin))
        margin *= 0.7
    return s
