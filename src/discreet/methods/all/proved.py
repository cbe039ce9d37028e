"""Proved p-values of noisy contrasts between two groups.

A contrast is U = sum (y_i - f) v_i over the people who have an entry v_i; y_i is their label, f public. Given
who they are, their labels and which entries occur, the null says that the entries are dealt to them at
random. With d the drift of their share of ones from f, U = S d + sum (y_i - f - d)(v_i - S/n): the first term
is bounded by what was measured of S and d, the second has a proved tail. Proof: docs/proofs/all-p-values.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from operator import mul, truediv
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from discreet.methods.all.tail import noisy_sum_tail

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.alternative import Alternative

    Floats = NDArray[np.float64]
    Interval = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """Numbers released with normal noise; public.

    Attributes
    ----------
    value : array of float, or float
        What was released.
    variance : array of float, or float
        Of the noise; 0 if there is none.
    slack : array of float, or float
        How far rounding may have moved what was released, or what was summed.
    """

    value: Floats | float
    variance: Floats | float = 0.0
    slack: Floats | float = 0.0

    def __sub__(self, other: Noisy) -> Noisy:
        """Return the difference of two numbers with independent noise."""
        return Noisy(self.value - other.value, self.variance + other.variance, self.slack + other.slack)

    def interval(self, chance: float) -> Interval:
        """Return a lower and an upper bound, each wrong with at most this chance."""
        value = np.asarray(self.value, dtype=np.float64)
        reach = -float(ndtri(chance)) * (1 + 1e-9) * np.sqrt(self.variance) + self.slack
        return value - reach, value + reach


def proved_p_values(
    contrast: Noisy,
    *,
    total: Noisy,
    squares: Noisy | None,
    labels: Noisy,
    present: Noisy,
    share: float,
    low: Floats | float,
    high: Floats | float,
    failure: float,
    two_valued: NDArray[np.bool_] | bool = False,
    alternative: Alternative = "two-sided",
) -> Floats:
    """Return p-values that are valid at every number of people, whatever the noise.

    All sums are over the people with an entry v_i in the column and a label y_i, 0 or 1. Arguments are
    broadcast against each other, one entry for each column.

    Parameters
    ----------
    contrast : Noisy
        U = sum (y_i - f) v_i.
    total : Noisy
        S = sum v_i.
    squares : Noisy or None
        Q = sum v_i^2. None where all columns are two-valued: S says it.
    labels : Noisy
        D = sum (y_i - f). With missing entries, the sum over all people less that over the missing; exact
        if labels are public and none is missing.
    present : Noisy
        n, how many people these are.
    share : float
        The public number f, near the share of ones.
    low, high : array of float, shape (m,), or float
        Every entry lies between them.
    failure : float
        The chance, for each column, that a bound on S, Q, D or n is wrong; it is added to the p-value.
    two_valued : array of bool, shape (m,), or bool
        Whether every entry of the column is `low` or `high`.
    alternative : {"two-sided", "greater", "less"}
        Whether large entries are sought in either group, in that of the ones, or in that of the zeros.

    Returns
    -------
    array of float, shape (m,)
        P(p <= alpha) <= alpha under the null, for every alpha.

    Notes
    -----
    The null of a column: given who is present and their labels, every way to deal its entries to them is
    equally likely. It is so when people are alike and independent, and entry and label are independent
    among those present.
    """
    measured = [total, labels, present] if squares is None else [total, labels, present, squares]
    tails = 2 * sum(bool(np.any(np.greater(one.variance, 0))) for one in measured)
    chance = failure / max(tails, 1)
    n = _within(present.interval(chance), 1.0, np.inf)
    s = total.interval(chance)
    drift = _within(_range(truediv, labels.interval(chance), n), -share, 1 - share)
    mean = _within(_range(truediv, s, n), low, high)
    rate = share + drift[0], share + drift[1]  # of ones
    over, under = high - mean[0], mean[1] - low  # how far entries lie from their mean, at most

    centre = _nearest((np.asarray(low) + high) / 2, mean)
    around = n[1] * (centre - low) * (high - centre)  # the sum of squares about the mean, at most
    least = np.zeros_like(around)  # and a mean square, at least
    if squares is not None:
        q = squares.interval(chance)
        around = np.minimum(around, np.maximum(q[1] - _nearest(0.0, s) ** 2 / n[1], 0.0))
        least = np.maximum(q[0] - np.maximum(s[0] ** 2, s[1] ** 2) / n[0], 0.0) / n[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        cubes = (  # the sum of cubes about the mean, over that of squares
            np.where(two_valued, low + high - 2 * mean[1], -np.fmax(under - least / under, 0.0)),
            np.where(two_valued, low + high - 2 * mean[0], np.fmax(over - least / over, 0.0)),
        )
    half = _nearest(0.5, rate)
    bound = np.maximum(over, under) * np.maximum(rate[1], 1 - rate[0])
    third = _range(mul, (1 - 2 * rate[1], 1 - 2 * rate[0]), cubes)
    arranged = n[0] * np.minimum(rate[0] * (1 - rate[0]), rate[1] * (1 - rate[1]))
    bias = _range(mul, s, drift)

    def tail(beyond: Floats, third: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            skew = np.where(bound > 0, np.clip(third / bound, -1.0, 1.0), 1.0)
        return noisy_sum_tail(
            beyond - contrast.slack,
            noise=contrast.variance,
            variance=around * half * (1 - half),
            bound=bound,
            skew=skew,
            arranged=arranged,
        )

    up = tail(contrast.value - bias[1], third[1])
    down = tail(bias[0] - contrast.value, -third[0])
    p = {"greater": up, "less": down, "two-sided": 2 * np.minimum(up, down)}[alternative]
    return np.minimum(p + (failure if tails else 0.0), 1.0)


def _range(of: Callable[[Floats, Floats], Floats], x: Interval, y: Interval) -> Interval:
    """Return the least and the largest x y or x / y over two intervals; y is positive where it divides."""
    corners = [of(a, b) for a, b in product(x, y)]
    return np.minimum.reduce(corners), np.maximum.reduce(corners)


def _within(x: Interval, low: Floats | float, high: Floats | float) -> Interval:
    return np.clip(x[0], low, high), np.clip(x[1], low, high)


def _nearest(point: Floats | float, x: Interval) -> Floats:
    """Return the number of an interval that is nearest to a point."""
    return np.clip(point, x[0], x[1])
