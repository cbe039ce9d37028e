"""Proved p-values of noisy contrasts between two groups.

A contrast is U = sum (y_i - f) v_i over the people who have an entry v_i; y_i is their label, f public. Given
who they are, their labels and which entries occur, the null says that the entries are dealt to them at
random. With d the drift of their share of ones from f, U = S d + sum (y_i - f - d)(v_i - S/n), S = sum v_i.
The second term is all but a sum of independent ones, of a variance that Q = sum v_i^2 bounds. S and Q are
measured with noise too: at a rate chosen beforehand it enters the exponent like any other noise.
Proof: docs/proofs/all-p-values.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from discreet.methods.all.tail import log_arranged, log_level, log_mean, log_noise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.alternative import Alternative

    Floats = NDArray[np.float64]
    Interval = tuple[Floats, Floats]

# Rates tried, in units of 1/deviation: fine where p-values matter, then coarser, to p-values of e^-800.
_RATES = np.concatenate((np.arange(0.25, 10.0, 0.25), 10.0 * 1.1 ** np.arange(15)))
_SLACK = 1e-9  # more than rounding takes off an exponent
_TINY = 1e-300


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
    squares: Noisy,
    labels: Noisy,
    present: Noisy,
    share: float,
    low: Floats | float,
    high: Floats | float,
    expected: Floats | float,
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
    squares : Noisy
        Q = sum v_i^2; of two-valued columns perhaps `two_valued_squares`.
    labels : Noisy
        D = sum (y_i - f). With missing entries, the sum over all people less that over the missing; exact
        if labels are public and none is missing.
    present : Noisy
        n, how many people these are.
    share : float
        The public number f, near the share of ones.
    low, high : array of float, shape (m,), or float
        Every entry lies between them.
    expected : array of float, shape (m,), or float
        What Q is expected to be, told before the noise of the above was drawn. If it is wrong, p-values are
        larger than need be, and as valid.
    failure : float
        The chance, for each column, that a bound on D, n or the mean is wrong; it is added to the p-value.
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

    Where noise is shared between columns, in `labels` say, run BH at q less m times `failure`
    (docs/proofs/all-fdr.md).
    """
    chance = failure / 6
    low, high, expected = (np.asarray(x, dtype=np.float64) for x in (low, high, expected))
    n = _within(present.interval(chance), 1.0, np.inf)
    drift = _within(_range(np.divide, labels.interval(chance), n), -share, 1 - share)
    mean = _within(_range(np.divide, total.interval(chance), n), low, high)
    ones = share + drift[0], share + drift[1]  # the share of ones
    over, under = high - mean[0], mean[1] - low  # how far entries lie from their mean, at most
    bound = np.maximum(over, under) * np.maximum(ones[1], 1 - ones[0])
    cubes = (  # the sum of cubes about the mean, over that of squares
        np.where(two_valued, low + high - 2 * mean[1], -under),
        np.where(two_valued, low + high - 2 * mean[0], over),
    )
    third = _range(np.multiply, (1 - 2 * ones[1], 1 - 2 * ones[0]), cubes)
    bias = drift[0] * total.value, drift[1] * total.value
    farthest = np.maximum(-drift[0], drift[1])
    half = np.clip(0.5, *ones)
    size = n[0] * np.minimum(ones[0] * (1 - ones[0]), ones[1] * (1 - ones[1]))
    noise = np.asarray(contrast.variance, dtype=np.float64)

    def exponent(sign: int, rate: Floats) -> Floats:
        t = sign * contrast.value - np.maximum(sign * bias[0], sign * bias[1])
        t = t - contrast.slack - farthest * total.slack
        skew = np.maximum(sign * third[0], sign * third[1]) / np.maximum(bound, _TINY)
        weight = half * (1 - half) * log_mean(rate, bound, np.clip(skew, -1, 1)) + rate**2 / (8 * n[0])
        square = weight * (np.maximum(squares.value, 0.0) + squares.slack)
        own = weight * np.sqrt(squares.variance) + rate * farthest * np.sqrt(total.variance)
        fixed = log_arranged(rate, (high - low) ** 2 / 4, size)
        return log_noise(rate, noise) + square + own**2 / 2 + fixed - rate * t

    variance, reach = share * (1 - share) * expected, np.maximum(high, -low) * max(share, 1 - share)
    lean = np.clip((1 - 2 * share) * (low + high) / np.maximum(reach, _TINY), -1, 1)

    def planned(sign: int, rate: Floats) -> Floats:
        return log_level(rate, noise=noise, variance=variance, bound=reach, skew=sign * lean)

    p = [
        _largest_kept(partial(exponent, sign), partial(planned, sign), 1 / np.sqrt(noise + variance))
        for sign in {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[alternative]
    ]
    return np.minimum(len(p) * np.minimum.reduce(p) + failure, 1.0)


def two_valued_squares(total: Noisy, present: Noisy, low: Floats | float, high: Floats | float) -> Noisy:
    """Return Q = sum v^2 from S = sum v and n, with independent noise, where every v is `low` or `high`."""
    slope, level = np.add(low, high), np.multiply(low, high)
    return Noisy(
        slope * total.value - level * present.value,
        slope**2 * total.variance + level**2 * present.variance,
        np.abs(slope) * total.slack + np.abs(level) * present.slack,
    )


def _largest_kept(
    exponent: Callable[[Floats], Floats], planned: Callable[[Floats], Floats], unit: Floats
) -> Floats:
    """Return the largest level whose test does not reject.

    Each level has its rate, whatever was drawn: a rate serves the levels from the one planned for it up to
    that of the rate before. The test of a level rejects if e^exponent is at most the level.
    """
    p = above = np.ones(())
    undecided = np.ones((), dtype=np.bool_)
    for scaled in _RATES:
        rate = scaled * unit
        level = np.minimum(np.exp(planned(rate)), above) if scaled < _RATES[-1] else np.full((), -1.0)
        seen = np.exp(np.minimum(exponent(rate) + _SLACK, 0.0))
        stops = undecided & ~(seen <= level)
        p = np.where(stops, np.fmin(seen, above), p)
        undecided, above = undecided & ~stops, level
        if not undecided.any():
            break
    return p


def _range(of: np.ufunc, x: Interval, y: Interval) -> Interval:
    """Return the least and the largest x y or x / y over two intervals; y is positive where it divides."""
    corners = [of(a, b) for a, b in product(x, y)]
    return np.minimum.reduce(corners), np.maximum.reduce(corners)


def _within(x: Interval, low: Floats | float, high: Floats | float) -> Interval:
    return np.clip(x[0], low, high), np.clip(x[1], low, high)
