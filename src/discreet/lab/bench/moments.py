"""What two groups are compared by: counts, sums and squares of everyone present, and the textbook tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, stdtr

from discreet.classical.step_up import step_up_positions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People

Q, DELTA = 0.1, 1e-6
_EXPECTED = 5  # the chi-square test is for tables in which at least so many are expected everywhere


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Sums over those of each group who have an entry, which lies in [-1/2, 1/2] where bounds are +-1/2.

    Attributes
    ----------
    count, total, square : arrays of float64, shape (2, m)
        How many, the sum of their entries, and of the squares.
    """

    count: NDArray[np.float64]
    total: NDArray[np.float64]
    square: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Means of both groups, 0 where nobody has an entry."""
        return self.total / np.maximum(self.count, 1)

    @property
    def variance(self) -> NDArray[np.float64]:
        """Variances of both groups, never below 0."""
        return np.maximum(self.square / np.maximum(self.count, 1) - self.mean**2, 0)

    @property
    def pooled(self) -> NDArray[np.float64]:
        """The variance of both groups taken as one, shape (m,)."""
        people = np.maximum(self.count.sum(axis=0), 1)
        return np.maximum(self.square.sum(axis=0) / people - (self.total.sum(axis=0) / people) ** 2, 0)


def bounds_of(people: People) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the lower and the upper bound of each hypothesis' entries, and which are about answers."""
    low, high, answers = np.zeros(len(people)), np.ones(len(people)), np.zeros(len(people), dtype=bool)
    for question in people.questions:
        answers[question.places] = question.answers
        if question.bounds is not None:
            low[question.places], high[question.places] = question.bounds
    return low, high, answers


def moments(people: People) -> Moments:
    """Return the moments of both groups; missing entries add nothing."""
    low, high, _ = bounds_of(people)
    sides = [np.flatnonzero(people.group == side) for side in (0, 1)]
    sums = np.zeros((3, 2, len(people)))
    for place in range(len(people)):
        scaled = (people.values[:, place] - low[place]) / (high[place] - low[place]) - 0.5
        for side, members in enumerate(sides):
            entries = np.clip(scaled[members], -0.5, 0.5)
            entries = entries[~np.isnan(entries)]
            sums[:, side, place] = entries.size, entries.sum(), entries @ entries
    return Moments(*sums)


def not_private(people: People) -> NDArray[np.int64]:
    """Return the discoveries of BH without privacy: Welch's t test of numbers, chi-square of answers."""
    sums, answers = moments(people), bounds_of(people)[2]
    count, everyone = np.maximum(sums.count, 2), np.maximum(sums.count.sum(axis=0), 1)
    pooled: NDArray[np.float64] = sums.pooled * (1 / count).sum(axis=0)
    separate: NDArray[np.float64] = (sums.variance / (count - 1)).sum(axis=0)
    spread = np.where(answers, pooled, separate)
    difference = sums.mean[1] - sums.mean[0]
    z = np.divide(difference, np.sqrt(spread), out=np.zeros(len(people)), where=spread > 0)
    rate = 0.5 + sums.total.sum(axis=0) / everyone
    expected = sums.count.min(axis=0) * np.minimum(rate, 1 - rate)
    z[(sums.count.min(axis=0) < 2) | (answers & (expected < _EXPECTED))] = 0.0
    p = np.where(answers, ndtr(-np.abs(z)), stdtr(np.maximum(everyone - 2, 1), -np.abs(z)))
    return step_up_positions(2 * p, Q)
