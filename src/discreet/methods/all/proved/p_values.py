"""Proved p-values of noisy contrasts between two groups.

A contrast is U = sum (y_i - f) v_i over the people who have an entry v_i; y_i is their label, f public. Given
who they are, their labels and which entries occur, the null says that the entries are dealt to them at
random. With D = sum (y_i - f), S = sum v_i and n people, U - D S/n = sum (y_i - f - D/n)(v_i - S/n): all but
a sum of independent terms, of a variance that the v_i^2 bound. D, S and the squares are measured with noise
too: at a rate chosen beforehand it enters the exponent like any other noise.
Proof: docs/proofs/all-p-values.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.proved.tail import log_arranged, log_level, log_mean, log_noise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.methods.all.record import Noisy

    Floats = NDArray[np.float64]
    Interval = tuple[Floats, Floats]

# Rates tried, in units of 1/deviation: fine where p-values matter, then coarser, to p-values of e^-800.
_RATES = np.concatenate((np.arange(0.25, 10.0, 0.25), 10.0 * 1.1 ** np.arange(15)))
_SLACK = 1e-9  # more than rounding takes off an exponent
_TINY = 1e-300
_BOUNDS = 8  # ends of intervals that may be wrong
_ROOM = 0.4  # by which noise that counts twice is charged more


@dataclass(frozen=True, slots=True, eq=False)
class NoisySums:
    """What was told of columns; sums are over the people with an entry v_i and a label y_i, 0 or 1. Public.

    Everything is broadcast against each other, one entry for each column.

    Attributes
    ----------
    contrast : Noisy
        U = sum (y_i - f) v_i.
    labels : Noisy
        D = sum (y_i - f).
    total : Noisy
        S = sum v_i.
    present : Noisy
        n, how many people these are.
    squares : Noisy
        Q = sum v_i^2; of two-valued columns it is not looked at.
    groups : (Noisy, Noisy)
        How many people have the label 0, and 1, with an entry or without.
    share : float
        The public number f, near the share of ones.
    low, high : arrays of float, shape (m,)
        Every entry lies between them.
    two_valued : array of bool, shape (m,)
        Whether every entry of the column is `low` or `high`.
    """

    contrast: Noisy
    labels: Noisy
    total: Noisy
    present: Noisy
    squares: Noisy
    groups: tuple[Noisy, Noisy]
    share: float
    low: Floats
    high: Floats
    two_valued: NDArray[np.bool_]


def proved_p_values(
    noisy: NoisySums, *, expected: Floats, failure: float, alternative: Alternative = "two-sided"
) -> Floats:
    """Return p-values that are valid at every number of people, whatever the noise.

    Parameters
    ----------
    told : Told
        What was told of the columns.
    expected : array of float, shape (m,)
        What Q is expected to be, told before the noise of the above was drawn. If it is wrong, p-values are
        larger than need be, and as valid.
    failure : float
        The chance, for each column, that a bound on D, n, the mean or a group is wrong; it is added to the
        p-value.
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
    low, high, share = noisy.low, noisy.high, noisy.share
    bounds = _Bounds.of(noisy, failure / _BOUNDS)
    contrast, labels, total = noisy.contrast.sums, noisy.labels.sums, noisy.total.sums
    slack = [np.asarray(noisy.unit) / 2 for noisy in (noisy.contrast, noisy.labels, noisy.total)]
    # What the drift of the labels is worth, at whichever number of people makes it larger.
    bias = _range(np.divide, (labels * total, labels * total), bounds.n)
    lost = slack[0] + (np.abs(labels) * slack[2] + (np.abs(total) + slack[2]) * slack[1]) / bounds.n[0]
    # Both factors of the bias have noise; `product` is the deviation of the product of the two.
    product = np.asarray(noisy.labels.deviation) * noisy.total.deviation / bounds.n[0]
    drawn = (
        np.square(np.asarray(noisy.labels.deviation) * (np.abs(total) + slack[2]))
        + np.square(np.asarray(noisy.total.deviation) * (np.abs(labels) + slack[1]))
    ) / (2 * bounds.n[0] ** 2)
    room = np.where(noisy.two_valued, _ROOM, 0.0)
    noise = np.square(noisy.contrast.deviation)
    # The mean of squares: as told, or of two values as it follows from their sum.
    slope, level = low + high, low * high
    mean_square = np.where(
        noisy.two_valued,
        _range(np.divide, (slope * total, slope * total), bounds.n)[1]
        + np.abs(slope) * slack[2] / bounds.n[0]
        - level,
        (noisy.squares.sums + np.asarray(noisy.squares.unit) / 2) / bounds.n[0],
    )
    mean_square = np.maximum(mean_square, 0.0)
    doubt = (
        np.where(noisy.two_valued, np.abs(slope) * noisy.total.deviation, noisy.squares.deviation)
        / bounds.n[0]
    )

    def exponent(sign: int, rate: Floats) -> Floats:
        t = sign * contrast - np.maximum(sign * bias[0], sign * bias[1]) - lost
        skew = np.maximum(sign * bounds.third[0], sign * bounds.third[1]) / np.maximum(bounds.bound, _TINY)
        weight = bounds.most * log_mean(rate, bounds.bound, np.clip(skew, -1, 1)) + rate**2 / 8
        a = rate * product
        more = np.where(a < 1, (1 + room) / (1 - a), np.inf)
        own = (weight * doubt) ** 2 / 2
        own = np.where(noisy.two_valued, own * (1 + (1 + more * a**2) / _ROOM), own)
        fixed = log_arranged(rate, (high - low) ** 2 / 4, bounds.least)
        exponent = log_noise(rate, noise) + weight * mean_square + own + fixed + more * rate**2 * drawn
        return exponent - rate * t

    variance, reach = share * (1 - share) * expected, np.maximum(high, -low) * max(share, 1 - share)
    lean = np.clip((1 - 2 * share) * slope / np.maximum(reach, _TINY), -1, 1)

    def planned(sign: int, rate: Floats) -> Floats:
        return log_level(rate, noise=noise, variance=variance, bound=reach, skew=sign * lean)

    p = [
        _largest_kept(partial(exponent, sign), partial(planned, sign), 1 / np.sqrt(noise + variance))
        for sign in {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[alternative]
    ]
    return np.minimum(len(p) * np.minimum.reduce(p) + failure, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Bounds:
    """What is not known exactly, bounded: each of eight ends is wrong with at most the same chance.

    `n`: people present. `most`, `least`: n h (1-h), h the share of ones among them.
    `bound`: on a term (y - h)(v - S/n). `third`: the sum of third moments over that of second ones.
    """

    n: Interval
    most: Floats
    least: Floats
    bound: Floats
    third: Interval

    @classmethod
    def of(cls, noisy: NoisySums, chance: float) -> _Bounds:
        """Return the bounds that follow from what was told."""
        low, high, share = noisy.low, noisy.high, noisy.share
        zeros, ones = (np.maximum(group.interval(chance)[1], 0.5) for group in noisy.groups)
        n = _within(noisy.present.interval(chance), 1.0, zeros + ones)
        drift = _within(_range(np.divide, noisy.labels.interval(chance), n), -share, 1 - share)
        mean = _within(_range(np.divide, noisy.total.interval(chance), n), low, high)
        part = share + drift[0], share + drift[1]
        half = np.clip(0.5, *part)
        # Of so many zeros and ones, those present have at most the same z0 z1/(z0 + z1).
        most = np.minimum(zeros * ones / (zeros + ones), n[1] * half * (1 - half))
        over, under = high - mean[0], mean[1] - low
        cubes = (
            np.where(noisy.two_valued, low + high - 2 * mean[1], -under),
            np.where(noisy.two_valued, low + high - 2 * mean[0], over),
        )
        return cls(
            n,
            most,
            n[0] * np.minimum(part[0] * (1 - part[0]), part[1] * (1 - part[1])),
            np.maximum(over, under) * np.maximum(part[1], 1 - part[0]),
            _range(np.multiply, (1 - 2 * part[1], 1 - 2 * part[0]), cubes),
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
