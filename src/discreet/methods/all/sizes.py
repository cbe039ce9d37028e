"""Where numbers without bounds crowd, seen in a histogram of their sizes with noise; zeros and ones.

The bins are octaves of positive and of negative numbers, and zero. Nothing here draws noise or sees data.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.in_numpy import SIZES, SMALLEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.record import Noisy

    Floats = NDArray[np.float64]

SURELY = 1.5
"""Deviations of noise that are taken off the number of people in an interval."""
MARGIN = 1.5
"""How many times as wide as the interval the window is."""
_USUAL = (2.0**-8, 2.0**18)
_INNER = 4  # octaves below the end of an interval that begins at zero; the others hold little
_NEARLY = 0.6  # of the most that any interval holds
_CLEARLY, _NOTHING = 3.0, 4.0  # deviations: people who are there, and none who are
_OTHERS = 0.03  # of the people have another size, and it is not taken for one
_BESIDE, _FEW = 2, 1.5  # octaves beside that from 1 to 2, and deviations: numbers there are not seen
_HALF = 0.5  # a deviation of noise is taken off: of many intervals the one is looked at that seems fullest
_OCTAVES = 2  # to the end of an interval on one side of zero: numbers of columns that are alike
_ZEROS, _NEXT = 0.1, 3  # many zeros, and octaves beside them
_BOTH, _AROUND = 0.2, 4  # on either side of zero, and octaves there


def crowded(sums: Floats, deviation: float) -> tuple[Floats, Floats]:
    """Return the centre of an interval in which numbers crowd and half its width with a margin, by column.

    Of all runs of bins the shortest is taken that surely holds nearly as many people as any other.
    """
    low, high, score = _crowds(sums, deviation)
    enough = score >= _NEARLY * score.max(axis=0)
    length = np.where(enough, (high - low)[:, None], np.inf)
    chosen = np.argmin(length, axis=0)
    return (low + high)[chosen] / 2, MARGIN * (high - low)[chosen] / 2


def zeros_and_ones(
    sums: Floats, deviation: float, people: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say which columns seem to hold zeros and ones, both of them clearly, and which hold no other sizes.

    No other size stands out, nor do those beside that of ones together, nor are there many to be expected by
    what columns have in common: all others have too much noise. Where one column holds both, so do those that
    seem to hold nothing but zeros: their ones are few. `people` is about how many have a number.
    """
    place = SIZES + 2 - SMALLEST  # the octave from 1 to 2
    zero, one = sums[SIZES], sums[place]
    rest = np.delete(sums, [SIZES, place], axis=0)
    beside = np.delete(sums[place - _BESIDE : place + _BESIDE + 1], _BESIDE, axis=0)
    unseen = beside.sum(axis=0) < _FEW * math.sqrt(2 * _BESIDE) * deviation
    none = (rest.max(axis=0) < _NOTHING * deviation) & unseen
    zeros = none & (zero > _CLEARLY * deviation)
    if zeros.any():
        others = zeros.copy()
        others[zeros] = (_in_common(beside[:, zeros], deviation) > _OTHERS * people).any(axis=0)
        none, zeros = none & ~others, zeros & ~others
    both = zeros & (one > _CLEARLY * deviation)
    return zeros if both.any() else both, none


def _in_common(told: Floats, deviation: float) -> Floats:
    """Return how many people to expect in each bin of some columns, where many of these are alike.

    Each is drawn toward the mean of its bin, the more the less columns differ beyond their noise; a mean that
    noise may have made is 0.
    """
    mean = told.mean(axis=1, keepdims=True)
    mean = np.where(mean > _CLEARLY * deviation / math.sqrt(told.shape[1]), mean, 0.0)
    differ = np.maximum(np.mean((told - mean) ** 2, axis=1, keepdims=True) - deviation**2, 0.0)
    return np.where(mean > 0, mean + differ / (differ + deviation**2) * (told - mean), 0.0)


def _crowds(sums: Floats, deviation: float) -> tuple[Floats, Floats, Floats]:
    """Return the ends of intervals, and how many people each holds at least, in each column.

    From 1 to 3 octaves on one side of zero, from zero to the end of an octave, or as far on both sides: of
    these last ones the bins near zero, which hold few, are left out, for the noise of many would hide them.
    Unusual sizes must stand out more.
    """
    ends = np.exp2(SMALLEST + np.arange(float(SIZES)))
    negative, zero, positive = sums[:SIZES][::-1], sums[SIZES], sums[SIZES + 1 :]
    strange = 2 * deviation * ((ends < _USUAL[0]) | (ends > _USUAL[1]))[:, None]

    def run(side: Floats, width: int) -> Floats:
        total = np.cumsum(side, axis=0)
        total[width:] = total[width:] - total[:-width]
        return total - strange

    intervals: list[tuple[Floats, Floats, Floats]] = []
    for side, sign in ((positive, 1.0), (negative, -1.0)):
        for width in (1, 2, 3):
            near, far = sign * ends * 2.0**-width, sign * ends
            sure = run(side, width) - SURELY * math.sqrt(width) * deviation
            intervals.append((np.minimum(near, far), np.maximum(near, far), sure))
    beside = [(run(side, _INNER), _INNER) for side in (positive, negative)]
    beside.append((beside[0][0] + beside[1][0], 2 * _INNER))
    ranges = ((0.0 * ends, ends), (-ends, 0.0 * ends), (-ends, ends))
    intervals += [
        (near, far, sure)
        for (near, far), sure in zip(ranges, _with_zero(beside, zero, deviation), strict=True)
    ]
    low, high, score = (np.concatenate(part) for part in zip(*intervals, strict=True))
    return low, high, score


def _with_zero(beside: list[tuple[Floats, int]], zero: Floats, deviation: float) -> list[Floats]:
    """Return how many people are surely in intervals of zero and so many bins beside it, of several kinds.

    Where people clearly are in some of these bins, noise in the others does not count: there are many such
    intervals around nothing but zeros, and in one of them it is always large.
    """
    clear = [people > _CLEARLY * math.sqrt(bins) * deviation for people, bins in beside]
    some = np.any([each.any(axis=0) for each in clear], axis=0)
    return [
        np.where(some & ~seen, np.minimum(people, 0.0), people)
        + zero
        - SURELY * math.sqrt(bins + 1) * deviation
        for (people, bins), seen in zip(beside, clear, strict=True)
    ]


def crowding(noisy: Noisy) -> float:
    """Return about the largest share of numbers in one narrow interval, from the share of each size.

    An interval of two octaves; zeros and three, where zeros are many; or four on both sides of zero.
    """
    shares, deviation = noisy.sums, float(np.max(noisy.deviation))
    negative, zero, positive = shares[:SIZES][::-1], float(shares[SIZES]), shares[SIZES + 1 :]

    def run(side: NDArray[np.float64], octaves: int) -> NDArray[np.float64]:
        return np.convolve(side, np.ones(octaves))[: side.size]

    def about(share: NDArray[np.float64], bins: int) -> float:
        return float(share.max()) - _HALF * deviation * math.sqrt(bins)

    best = [about(run(side, _OCTAVES), _OCTAVES) for side in (negative, positive)]
    if zero > _ZEROS:
        best += [about(zero + run(side, _NEXT), _NEXT + 1) for side in (negative, positive)]
    both = run(negative, _AROUND), run(positive, _AROUND)
    around = np.where(np.minimum(*both) > _BOTH, both[0] + both[1] + zero, 0.0)
    return max(*best, about(around, 2 * _AROUND + 1))
