"""Who has no entry, and in which group: what it does to contrasts, and how rows make up for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.noisy import told
from discreet.methods.all.reading import FINE, PARTS
from discreet.methods.all.tiles import add, contrast, tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.learn import Groups, Means
    from discreet.methods.all.reading import Columns
    from discreet.methods.all.record import Noisy

_CLEAR = 3.0  # deviations
_UNEVEN = 1.0  # about how uneven: the difference of both groups' rates of missing entries, over the mean rate


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """Those without an entry. Public.

    Attributes
    ----------
    uneven, absent : Noisy, shape (questions,)
        sum (y - f) over them, and how many they are.
    clear : array of bool, shape (m,)
        Where the first of these stands out of its noise.
    excess, variance : arrays of float64, shape (m,)
        What is to be expected of it, and what is not known of it, squared.
    """

    uneven: Noisy
    absent: Noisy
    clear: NDArray[np.bool_]
    excess: NDArray[np.float64]
    variance: NDArray[np.float64]


def learn_missing(
    people: People, columns: Columns, groups: Groups, means: Means, share: float, rho: float
) -> Missing:
    """Return how unevenly entries are missing.

    A person's vector of missing answers is clipped to a norm: a few more than usual. Two vectors without
    negative entries and of this norm are sqrt(2) times as far apart.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    protected, larger = people.protect == "everything", max(share, 1 - share)
    first = [asked.places.start for asked in people.questions]
    rate = np.maximum(1 - means.present[first] / groups.people, 0.0)
    norm = min(math.sqrt(len(first)), math.sqrt(1 + 2 * float(rate.sum())))
    total = np.zeros((2, len(first)), dtype=np.int64)
    for part in tiles(people.rows, len(first)):
        group = people.group[part]
        lacks = np.isnan(people.values[part][:, first]) & (group >= 0)[:, None]
        many = np.sqrt(np.maximum(lacks.sum(axis=1), norm**2))
        add(total, np.trunc(FINE * norm / many)[:, None] * lacks, group)
    moved = PARTS * FINE * norm * max(math.sqrt(2) * larger, float(protected))
    uneven = told(contrast(total, share), moved, rho / 2, 1 / (PARTS * FINE))
    absent = told(total[0], math.sqrt(2) * FINE * norm, rho / 2, 1 / FINE)
    # As many are taken to be missing as noise could hide.
    lacking = np.clip(groups.people - means.present, means.doubt, groups.people)
    usual = _UNEVEN * lacking * share * (1 - share)
    sums, deviation = uneven.sums[columns.question], float(uneven.deviation)
    clear = np.abs(sums) > _CLEAR * deviation
    return Missing(uneven, absent, clear, *shrunk(sums, deviation, np.where(clear, np.inf, usual)))


def shrunk(
    sums: NDArray[np.float64], deviation: float, usual: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what is to be expected of sums whose size is `usual`, told with noise; and the variance of it.

    An infinite size takes them as they were told.
    """
    trust = 1 / (1 + (deviation / np.maximum(usual, 1e-9)) ** 2)
    return trust * sums, trust * deviation**2


def shares_present(
    people: People, columns: Columns, groups: Groups, means: Means, share: float, missing: Missing
) -> tuple[NDArray[np.float64], tuple[float, float]]:
    """Return the second group's share of those present in each column of numbers, in whole parts.

    Beside them, for both groups, how long rows of numbers are on average, as a share of the longer ones.
    """
    n = groups.people
    second = np.clip(share * means.present + (groups.second - share * n) - missing.excess, 0.0, means.present)
    shares = np.full(len(people), share)
    at = columns.numbers
    if at.size:
        least = min(0.5, max(0.002, 1 / n))
        exact = np.clip(second[at] / np.maximum(means.present[at], 1.0), least, 1 - least)
        clear = missing.clear[at]
        shares[at] = np.where(clear, np.round(exact * PARTS) / PARTS, share)
        there = [
            float(np.mean((means.present - second)[at])) / (1 - share),
            float(np.mean(second[at])) / share,
        ]
        sizes = np.sqrt(np.clip(np.array(there) / max(*there, 1.0), 0.1, 1.0))
        if clear.any():
            return shares, (float(sizes[0]), float(sizes[1]))
    return shares, (1.0, 1.0)
