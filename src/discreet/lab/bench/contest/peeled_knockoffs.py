"""Private knockoffs by mirror peeling (Cai, Fan & Gao 2025, arXiv 2506.09690), as far as it is described.

Knockoffs of every person's row are drawn once. W_j is how much larger the product of column j with the
response is than that of its knockoff; of all, `PEELED` times, the largest |W_j| plus N(0, 2 m D^2 / mu^2) is
chosen, with fresh noise of the same size on its released W_j; then the knockoff+ threshold. D is how far one
person moves a W_j, mu-GDP what all of it costs. Its own figures are pictures, of a setting that is not
described whole: none is reproduced.

Here: independent normal columns, so that "given all others" and "alone" ask the same question, and ours, the
correlation with the response by ranks, is a contender. The rival is given bounds that fit; ours needs none.
Ours gives intervals, of the mean of each z score, which is known here; the rival gives none.
"""

from __future__ import annotations

import math
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq

from discreet.privacy.curves import gaussian_delta

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.random import Generator
    from numpy.typing import NDArray

    Ends = tuple[NDArray[np.float64], NDArray[np.float64]]
    Answer = tuple[NDArray[np.bool_], Ends | None]
    Contender = Callable[[NDArray[np.float64], NDArray[np.float64], Generator], Answer]

PEOPLE, COLUMNS, REAL, SIZE, MU, DELTA, Q = (1_000, 2_000, 5_000), 100, 20, 0.6, 1.0, 1e-6, 0.1
PEELED = 30
_WIDE = 3.0  # deviations beyond which values are clipped
_SPREAD = (1.0 + REAL * SIZE**2) ** 0.5  # deviation of the response


def study(n: int, rng: Generator) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return columns, response, and which columns matter."""
    x, real = rng.standard_normal((n, COLUMNS)), rng.permutation(np.arange(COLUMNS) < REAL)
    return x, SIZE * x[:, real].sum(axis=1) + rng.standard_normal(n), real


def mean_score(n: int) -> float:
    """Return the mean of Kendall's z of a column that matters, jointly normal with the response."""
    tau = 2.0 / math.pi * math.asin(SIZE / _SPREAD)
    return 6.0 * math.sqrt(2.0 * (n - 1) / (n * (2 * n + 5))) * n * tau / 4.0


def rival(x: NDArray[np.float64], y: NDArray[np.float64], rng: Generator) -> Answer:
    """Return what mirror peeling selects."""
    n, (high, top) = len(x), (_WIDE, _WIDE * _SPREAD)
    response = np.clip(y, -top, top)
    own, copy = (
        np.abs(np.clip(part, -high, high).T @ response) / n for part in (x, rng.standard_normal(x.shape))
    )
    w = own - copy
    # One person moves a product by twice the largest one, and a difference of two sizes by twice that.
    sigma = (2.0 * PEELED) ** 0.5 * 4.0 * high * top / n / MU
    released, left = np.zeros(COLUMNS), np.abs(w)
    for _ in range(PEELED):
        j = int(np.argmax(left + sigma * rng.standard_normal(COLUMNS)))
        released[j], left[j] = w[j] + sigma * rng.standard_normal(), -np.inf
    for cut in np.sort(np.abs(released[released != 0])):
        if (1 + (released <= -cut).sum()) / max(1, (released >= cut).sum()) <= Q:
            return released >= cut, None
    return np.zeros(COLUMNS, dtype=np.bool_), None


@lru_cache(maxsize=1)
def epsilon() -> float:
    """Return the epsilon that MU-GDP comes to at DELTA."""
    return float(brentq(lambda e: gaussian_delta(e, MU) - DELTA, 0.1, 50.0))


def ours(x: NDArray[np.float64], y: NDArray[np.float64], rng: Generator) -> Answer:
    """Return what `discover` finds by correlations, and 95% intervals; NaN where it tells none."""
    import polars as pl

    from discreet.api import discover
    from discreet.evidence.correlation import Correlation

    del rng
    names = [f"c{j}" for j in range(COLUMNS)]
    frame = pl.DataFrame({"y": y, **{name: x[:, j] for j, name in enumerate(names)}})
    found = discover(frame, Correlation(partner="y"), q=Q, epsilon=epsilon(), delta=DELTA)
    interval: Any = found.confidence_interval()
    place = [names.index(name) for name in interval["hypothesis"]]
    low, high = np.full((2, COLUMNS), np.nan)
    low[place], high[place] = interval["low"], interval["high"]
    return np.isin(names, found.discoveries), (low, high)


CONTENDERS: Mapping[str, Contender] = {"Knockoffs by peeling": rival, "ours": ours}


def run(n: int, studies: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return false discovery proportion, share found, coverage and seconds of everyone; (studies, 4)."""
    rng, marks = np.random.default_rng(seed), {name: np.empty((studies, 4)) for name in CONTENDERS}
    for i in range(studies):
        x, y, real = study(n, rng)
        truth = np.where(real, mean_score(n), 0.0)
        for name, contender in CONTENDERS.items():
            start = time.process_time()
            found, ends = contender(x, y, rng)
            took = time.process_time() - start
            false = (found & ~real).sum() / max(1, found.sum())
            held = np.nan
            if ends is not None and (known := ~np.isnan(ends[0])).any():
                held = ((ends[0] <= truth) & (truth <= ends[1]))[known].mean()
            marks[name][i] = false, found[real].mean(), held, took
    return marks
