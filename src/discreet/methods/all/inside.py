"""How many of each group's numbers are inside of the range they are cut to: from what was told alone.

Where groups have the same centre but spread unlike one another, more of the wider group's numbers are cut, so
that a range whose middle is not the centre makes a difference (docs/proofs/all-p-values.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.record import Noisy, Remains
    from discreet.methods.all.rows import Rows

    Floats = NDArray[np.float64]
    Pair = tuple[Floats, Floats]

_FEWEST = (
    0.6  # of the numbers are taken to be inside of their range, at least: others have few values, or two
)
_DEVIATIONS: Floats = np.linspace(0.05, 3.0, 200)  # of normal numbers, in half ranges
_CUT: Floats = 2 * np.asarray(ndtr(-1 / _DEVIATIONS))
_DENSITY: Floats = np.exp(-0.5 / _DEVIATIONS**2) / np.sqrt(2 * np.pi)
_SQUARES: Floats = _DEVIATIONS**2 * (1 - _CUT - 2 * _DENSITY / _DEVIATIONS) + _CUT  # their mean, cut to +-1
_STEEP: Floats = 2 * _DENSITY / _DEVIATIONS / (1 - _CUT)  # by how much fewer are inside of e times as wide
_USUAL, _VARIED = 0.2, 0.3  # about the mean of these squares where a range fits, and how far off it may be
_FITS = 0.5  # where it is larger a range does not fit
_UNLIKE = 0.3  # by about so much the groups' deviations differ in a column, on the log scale
_OF_VARIANCES = 0.6  # of the difference of variances over their mean, about, is that on the log scale


def inside_of(squares: Floats, noise: float, size: Floats, rows: Rows) -> Pair:
    """Return about the share of numbers that are not cut, as if they were normal, and its error.

    From their squares, told with this noise, and how many they would be if all were at the ends.
    """
    whole = size * _end(rows) ** 2
    share, least, most = (
        np.interp((squares + by) / whole, _SQUARES, np.maximum(1 - _CUT, _FEWEST))
        for by in (0.0, noise, -noise)
    )
    return share, (most - least) / 2


def unlike_inside(
    told: Noisy, there: Pair, weights: Pair, means: Pair, rows: Rows, remains: Remains
) -> Floats:
    """Return how much more the shares of both groups' numbers inside may differ where ranges are too narrow.

    Relative to themselves. Of a range that fits, nearly all is inside, whatever the spreads are; of one that
    is narrower than a deviation, as its squares say, the share inside goes with one over the deviation.
    """
    people = (there[0] * weights[0] ** 2, there[1] * weights[1] ** 2)
    whole = (people[0] + people[1]) * _end(rows) ** 2
    noise = math.sqrt(2) * float(told.deviation) / whole
    seen = told.sums.sum(axis=0) / whole
    squares: Floats = _USUAL + (seen - _USUAL) / (1 + (noise / _VARIED) ** 2)
    fits = ~rows.answers & (squares < _FITS)
    variances = [(told.sums[g] - there[g] * means[g] ** 2) / people[g] for g in (0, 1)]
    error = float(told.deviation) ** 2 * (1 / people[0] ** 2 + 1 / people[1] ** 2)
    sampled = 2 / there[0] + 2 / there[1]
    steep: Floats = np.interp(squares, _SQUARES, _STEEP)
    usual = float(np.interp(_USUAL, _SQUARES, _STEEP))
    # All columns may spread more in one group: what is cut of it says so.
    first, second = remains.inside
    common = 2 * (first - second) / (first + second) / usual
    before = math.hypot(_UNLIKE, common)
    unlike = _unlike(variances[0][fits], variances[1][fits], error[fits], sampled[fits], before)
    return unlike * np.sqrt(np.maximum(steep**2 - usual**2, 0.0))


def _unlike(first: Floats, second: Floats, error: Floats, sampled: Floats, before: float) -> float:
    """Return by about how much the groups' deviations differ in a column, on the log scale.

    From the variances of these columns, whose differences were told with this squared error, and from what is
    known before.
    """
    level = float(np.mean(first + second)) / 2 if first.size else 0.0
    if level <= 0:
        return before
    noise = _OF_VARIANCES**2 * (error / level**2 + sampled)
    apart = float(np.mean(np.square(_OF_VARIANCES * (first - second) / level) - noise))
    # What the mean of these squares may be off by, beside what is known before; half of that is added.
    off = 2 * float(np.mean((noise + max(apart, 0.0)) ** 2)) / first.size
    trust = before**4 / (before**4 + off)
    return math.sqrt(max(before**2 + trust * (apart - before**2), 0.0) + math.sqrt(trust * off) / 2)


def _end(rows: Rows) -> Floats:
    """Return how far the ends of a column's range are from its middle, in the units of rows."""
    return np.minimum(rows.scale / 2, rows.most)
