"""Private knockoffs by random projection (Tao & Javanmard 2025, arXiv 2508.04800), from public code.

Which coefficients of a linear model are not 0: a question about conditional independence, given all other
columns, that no test of ours asks. Rows have length 1, correlations are .25^|i-j|, noise has deviation 1,
q = 0.2. Columns and response are projected to 200 rows by a Gaussian matrix; then second-order knockoffs,
differences of lasso coefficients chosen by cross-validation, and the knockoff+ threshold.

The repository has two versions. The first, whose results it stores, has 200 columns, 20 coefficients of 5,
epsilon 0.5, delta 1e-4, and writes a multiple of the identity below the rows *after* they are projected: a
part that does not depend on anybody, so nothing is private that was not before. The later one has 50 columns,
15 coefficients of 4.5, epsilon 0.1, delta 1/n, and projects the identity too, which is what the proof asks
for; no result of it is stored.

Given the people, projected rows are independent normal with the Gram matrix, w^2 added to its diagonal where
the identity is projected, for covariance: they are drawn so, and the matrix of 200 rows for every person is
never made. Without the identity where the smallest singular value allows it: here it never does.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

CORRELATION, ROWS, Q = 0.25, 200, 0.2


@dataclass(frozen=True, slots=True)
class Setting:
    """A version: people, columns, coefficients that are not 0, their size, the budget, and what is stored.

    `private`: whether the identity is projected; `published`: FDR and power, the means of 100 studies.
    """

    people: int
    columns: int
    real: int
    size: float
    epsilon: float
    delta: float
    private: bool
    published: tuple[float, float] | None = None

    @property
    def added(self) -> float:
        """The square of what is on the diagonal."""
        rare = math.log(8.0 / self.delta)
        return (8.0 if self.private else 4.0) / self.epsilon * (math.sqrt(2.0 * ROWS * rare) + 2.0 * rare)


SETTINGS = (
    Setting(150_000, 200, 20, 5.0, 0.5, 1e-4, private=False, published=(0.149, 0.683)),
    Setting(150_000, 50, 15, 4.5, 0.1, 1.0 / 150_000, private=True),
)


def run(setting: Setting, studies: int, seed: int) -> NDArray[np.float64]:
    """Return false discovery proportion, share of the real coefficients found, and seconds; (studies, 3)."""
    rng, found = np.random.default_rng(seed), np.empty((studies, 3))
    for row in found:
        gram, real = moments(setting, rng)
        start = time.process_time()
        selected = filtered(gram, setting, rng)
        false = (selected & ~real).sum() / max(1, selected.sum())
        row[:] = false, selected[real].mean(), time.process_time() - start
    return found


def moments(setting: Setting, rng: Generator) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the Gram matrix of columns and response of new people, and which columns matter."""
    d = setting.columns
    distance = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    root, real = np.linalg.cholesky(CORRELATION**distance).T, rng.permutation(np.arange(d) < setting.real)
    gram = np.zeros((d + 1, d + 1))
    for _ in range(10):
        x = rng.standard_normal((setting.people // 10, d)) @ root
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        table = np.column_stack((x, setting.size * x[:, real].sum(axis=1) + rng.standard_normal(len(x))))
        gram += table.T @ table
    return gram, real


def filtered(gram: NDArray[np.float64], setting: Setting, rng: Generator) -> NDArray[np.bool_]:
    """Return the columns selected from the people with this Gram matrix."""
    return knockoff_filter(*projected(gram, setting, rng), rng)


def projected(
    gram: NDArray[np.float64], setting: Setting, rng: Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the released rows of the columns, and of the response, which is the last."""
    identity = np.eye(len(gram))
    inside = setting.added * identity if setting.private else 0.0
    root = np.linalg.cholesky((gram + inside) / ROWS)
    rows: NDArray[np.float64] = rng.standard_normal((ROWS, len(gram))) @ root.T
    if not setting.private:
        below = math.sqrt(setting.added) * identity
        rows = np.asarray(rng.permutation(np.vstack((rows, below))), dtype=np.float64)
    return rows[:, :-1], rows[:, -1]


def knockoff_filter(x: NDArray[np.float64], y: NDArray[np.float64], rng: Generator) -> NDArray[np.bool_]:
    """Return the columns selected by knockoff+ with lasso coefficient differences."""
    linear: Any = import_module("sklearn.linear_model")
    d = int(x.shape[1])
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    both = np.hstack((x, knockoffs(x, rng)))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        # The weakest penalties do not converge; ten times the iterations select the same columns.
        warnings.simplefilter("ignore")
        size: NDArray[np.float64] = np.abs(linear.LassoCV(cv=10).fit(both, y - y.mean()).coef_)
    ahead: NDArray[np.float64] = size[:d] - size[d:]
    for cut in np.sort(np.abs(ahead[ahead != 0])):
        if (1 + (ahead <= -cut).sum()) / max(1, (ahead >= cut).sum()) <= Q:
            return ahead >= cut
    return np.zeros(d, dtype=np.bool_)


def knockoffs(x: NDArray[np.float64], rng: Generator) -> NDArray[np.float64]:
    """Return second-order knockoffs of standardised columns (Candes, Fan, Janson & Lv 2018)."""
    correlation = np.asarray(np.corrcoef(x, rowvar=False))
    distance = np.diag(distances(correlation))
    shrunk = np.linalg.solve(correlation, distance)
    spread = 2.0 * distance - distance @ shrunk
    values, vectors = np.linalg.eigh((spread + spread.T) / 2.0)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return x - x @ shrunk + rng.standard_normal(x.shape) @ root.T


def distances(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return s in [0, 1] of about the largest sum with 2 correlation - diag(s) positive semidefinite.

    Coordinate ascent with a shrinking margin: given the others, s_j may grow by the Schur complement of j.
    """
    s, margin = np.zeros(len(correlation)), 0.8
    for _ in range(25):
        inverse = np.linalg.inv(2.0 * correlation - np.diag(s))
        for j in range(s.size):
            new = min(1.0, max(0.0, s[j] + 1.0 / inverse[j, j] - margin))
            change, column = new - s[j], inverse[:, j].copy()
            inverse += np.outer(column, column) * (change / (1.0 - change * column[j]))
            s[j] = new
        margin *= 0.7
    return s
