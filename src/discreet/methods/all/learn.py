"""What a release learns before it measures: group sizes, where numbers lie, means, the length of rows.

Each step spends its own share and tells whole-number sums with noise (docs/proofs/all-privacy.md). A poor
answer costs power, never privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.methods.all.noisy import told
from discreet.methods.all.reading import Scaling
from discreet.noise import entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.reading import Columns

LEARNERS = 2**16
"""More people than this teach the constants little: a sample of about this size does."""
_FINE = 2**10  # whole numbers to one, for sums of shares
_PRESENT = math.isqrt(3 * _FINE * _FINE // 4)  # beside a share in +-1/2: together they move by one at most
_HALVINGS = 16  # steps to a median
_SPREADS = 8  # steps to a quartile
_OCTAVES = 10  # a number with bounds may be as narrow as 2**-10 of their width
_SMALLEST, _LARGEST = -30.0, 70.0  # powers of two that numbers without bounds are told apart at


@dataclass(frozen=True, slots=True)
class Groups:
    """The sizes of the two groups as far as they are known, and the deviation of the noise in each."""

    first: float
    second: float
    deviation: float

    @property
    def people(self) -> float:
        """How many are in either, at least 2."""
        return max(self.first + self.second, 2.0)

    @property
    def share(self) -> float:
        """The share of the second group, away from 0 and 1."""
        least = min(0.5, max(0.002, 1 / self.people))
        return float(np.clip(self.second / self.people, least, 1 - least))


def learn_groups(group: NDArray[np.int8], rho: float) -> Groups:
    """Return the sizes of the groups: exact where they are public, for which `rho` is 0.

    One person replaced moves the two counts by (1, -1), or one of them by 1.
    """
    counts = np.array([np.count_nonzero(group == side) for side in (0, 1)])
    if rho == 0:
        return Groups(float(counts[0]), float(counts[1]), 0.0)
    noisy = told(counts, math.sqrt(2), rho)
    return Groups(float(noisy.sums[0]), float(noisy.sums[1]), float(noisy.deviation))


def learners(rows: int) -> NDArray[np.bool_]:
    """Return the people that constants are learned from: all, or of very many a sample by lot.

    Each is drawn by itself, so that it does not matter in which order people come: where they have
    identifiers, somebody who is replaced may come first, and move all others by a place.
    """
    if rows <= LEARNERS:
        return np.ones(rows, dtype=np.bool_)
    return entropy.words(rows, np.uint16) < 2**16 * LEARNERS // rows


def learn_scaling(values: NDArray[Any], columns: Columns, quartiles: float, narrow: float) -> Scaling:
    """Return where the numbers of each column lie."""
    m = int(values.shape[1])
    scaling = Scaling(np.zeros(m), np.ones(m), np.ones(m), np.full(m, 1 / math.sqrt(12)))
    if columns.free.size:
        _quartiles(values[:, columns.free].astype(np.float64), columns.free, scaling, quartiles)
    if columns.bounded.size and narrow > 0:
        _ranges(values[:, columns.bounded].astype(np.float64), columns, scaling, narrow)
    elif columns.bounded.size:
        half = (columns.high - columns.low) / 2
        scaling.centre[columns.bounded] = columns.low + half
        scaling.below[columns.bounded] = scaling.above[columns.bounded] = half
    return scaling


def _quartiles(x: NDArray[np.float64], at: NDArray[np.intp], scaling: Scaling, rho: float) -> None:
    """Find the median and both quartiles of columns without bounds, halving an interval again and again.

    One person moves the count below each column's threshold by one: a vector of norm sqrt(columns). Counts on
    both sides of the median are told together: sqrt(2 columns).
    """
    k = x.shape[1]
    step = rho / (1 + _HALVINGS + 2 * _SPREADS)
    x = np.sort(x, axis=0)  # NaN last
    present = np.maximum(told(np.count_nonzero(~np.isnan(x), axis=0), math.sqrt(k), step).sums, 1.0)

    def below(threshold: NDArray[np.float64], *, equal: bool) -> NDArray[np.int64]:
        side = "right" if equal else "left"
        return np.array([np.searchsorted(x[:, j], threshold[j], side) for j in range(k)], dtype=np.int64)

    low, high = np.full(k, -(_LARGEST - _SMALLEST)), np.full(k, _LARGEST - _SMALLEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        up = told(below(_number(middle), equal=True), math.sqrt(k), step).sums < present / 2
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    centre = _number(high)
    # Half of the people on each side lie within the distance to its quartile.
    lows, highs = np.full((2, k), _SMALLEST), np.full((2, k), _LARGEST)
    start, end = below(centre, equal=False), below(centre, equal=True)
    for _ in range(_SPREADS):
        middle = (lows + highs) / 2
        reach = np.exp2(middle)
        left = start - below(centre - reach[0], equal=False)
        right = below(centre + reach[1], equal=True) - end
        near = told(np.array([left, right]), math.sqrt(2 * k), 2 * step).sums
        up = near < present / 4
        lows, highs = np.where(up, middle, lows), np.where(up, highs, middle)
    reach = np.exp2(highs)
    scaling.centre[at] = centre
    # A side on which a quarter of the people was never found is as wide as the other.
    scaling.below[at], scaling.above[at] = (
        np.minimum(reach[0], reach[1] * 64),
        np.minimum(reach[1], reach[0] * 64),
    )


def _number(key: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the number behind a key: numbers of either sign, evenly by powers of two from 2**-30 on."""
    return np.sign(key) * np.exp2(_SMALLEST) * (np.exp2(np.abs(key)) - 1)


def _ranges(x: NDArray[np.float64], columns: Columns, scaling: Scaling, rho: float) -> None:
    """Find the mean of columns with bounds, then how far around it their numbers reach.

    A share in +-1/2 beside its presence, of weight sqrt(3)/2, moves by at most 1: sqrt(columns) in all. A
    histogram of distances moves by sqrt(2) a column.
    """
    k, at, width = x.shape[1], columns.bounded, columns.high - columns.low
    share = (np.clip(x, columns.low, columns.high) - columns.low) / width
    mean = _means(share, np.zeros((len(x), 0)), (), 0.4 * rho).mean
    distance = np.abs(share - mean)
    edges = np.exp2(-np.arange(_OCTAVES + 1.0))
    within = np.zeros((_OCTAVES + 1, k), dtype=np.int64)
    for octave in range(_OCTAVES):
        within[octave] = np.count_nonzero(distance <= edges[octave], axis=0)
    noisy = told(within[:-1] - within[1:], math.sqrt(2 * k), 0.6 * rho)
    # From outside in: the first edge beyond which there are clearly people, or two in a hundred.
    beyond = np.cumsum(noisy.sums, axis=0)
    doubt = 2 * noisy.deviation * np.sqrt(np.arange(1.0, _OCTAVES + 1))[:, None]
    clear = beyond > np.maximum(doubt, 0.02 * beyond[-1])
    reach = edges[np.where(clear.any(axis=0), clear.argmax(axis=0), _OCTAVES - 1)]
    # The deviation, from the middle of each octave; beyond the reach all lie at it.
    middle = np.minimum(0.72 * edges[:-1, None], reach)
    counts = np.where(noisy.sums > 2 * noisy.deviation, noisy.sums, 0.0)
    typical = np.sqrt((counts * middle**2).sum(axis=0) / np.maximum(counts.sum(axis=0), 1.0))
    scaling.centre[at] = columns.low + mean * width
    scaling.below[at] = scaling.above[at] = reach * width
    scaling.spread[at] = np.clip(typical / (2 * reach), 0.05, 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """The mean share of each column among those present, how many they are, and the noise in that number."""

    mean: NDArray[np.float64]
    present: NDArray[np.float64]
    doubt: float


def learn_means(share: NDArray[np.float64], people: People, rho: float) -> Means:
    """Return the mean of every column of shares in [0, 1]."""
    several = [range(len(people))[asked.places] for asked in people.questions]
    several = [
        places
        for asked, places in zip(people.questions, several, strict=True)
        if asked.answers and len(places) > 1
    ]
    chosen = np.array([place for places in several for place in places], dtype=np.intp)
    single = np.setdiff1d(np.arange(len(people)), chosen)
    found = _means(share[:, single], share[:, chosen], tuple(map(len, several)), rho)
    order = np.concatenate([single, chosen])
    mean, present = np.empty(len(people)), np.empty(len(people))
    mean[order], present[order] = found.mean, found.present
    return Means(mean, present, found.doubt)


def _means(
    single: NDArray[np.float64], choices: NDArray[np.float64], sizes: tuple[int, ...], rho: float
) -> Means:
    """Return the means of columns that stand alone, then of columns of which a person has one at most.

    A share less 1/2, beside its presence of weight sqrt(3)/2, moves by at most 1. The answers to one
    question, beside its presence of weight 1, move by at most sqrt(2).
    """
    known = ~np.isnan(single)
    alone = np.trunc(np.where(known, single - 0.5, 0.0) * _FINE).sum(axis=0)
    there = np.count_nonzero(known, axis=0) * _PRESENT
    chosen = np.nansum(choices, axis=0) * _FINE
    firsts = np.cumsum((0, *sizes[:-1])) if sizes else np.zeros(0, dtype=np.intp)
    asked = np.count_nonzero(~np.isnan(choices[:, firsts]), axis=0) * _FINE
    norm = _FINE * math.sqrt(single.shape[1] + 2 * len(sizes))
    found = told(np.concatenate([alone, there, chosen, asked]), norm, rho)
    noisy, doubt = found.sums, found.deviation / _PRESENT
    alone, there, chosen, asked = np.split(noisy, np.cumsum([alone.size, there.size, chosen.size]))
    rows = max(len(single), 1.0)
    there = np.clip(there / _PRESENT, 1.0, rows)
    asked = np.repeat(np.clip(asked / _FINE, 1.0, rows), sizes)
    mean = np.concatenate([alone / _FINE / there + 0.5, chosen / _FINE / asked])
    return Means(np.clip(mean, 0.0, 1.0), np.concatenate([there, asked]), float(doubt))
