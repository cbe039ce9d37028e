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
_OFF = 0.085  # about how far from 0 the mean of a column may be when contrasts are taken, in deviations
_UNEVEN = 1.0  # about how uneven: the difference of both groups' rates of missing entries, over the mean rate


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """Those without an entry. Public.

    Attributes
    ----------
    uneven : Noisy, shape (questions,)
        sum (y - f) over them.
    clear : array of bool, shape (m,)
        Where the first of these stands out of its noise.
    excess, variance : arrays of float64, shape (m,)
        What is to be expected of it, and what is not known of it, squared.
    """

    uneven: Noisy
    clear: NDArray[np.bool_]
    excess: NDArray[np.float64]
    variance: NDArray[np.float64]


def missing_norm(people: People, groups: Groups, means: Means) -> float:
    """Return the norm that vectors of missing answers are clipped to: a few more than usual."""
    first = [asked.places.start for asked in people.questions]
    rate = np.maximum(1 - means.present[first] / groups.people, 0.0)
    return min(math.sqrt(len(first)), math.sqrt(1 + 2 * float(rate.sum())))


def missing_share(norm: float, groups: Groups, means: Means, share: float, rho: float) -> float:
    """Return the share of the budget that is best spent on how unevenly entries are missing.

    A column whose mean is `_OFF` deviations from 0 adds `_OFF` times the noise told here to the noise of its
    contrast; the share balances the two. It is 0 where the number of missing entries says enough.
    """
    long = math.sqrt(1 + float(np.sum(np.minimum(means.present / groups.people, 1.0))))
    best = _OFF * norm / (math.sqrt(2) * long)
    unknown = _OFF**2 * float(np.mean(_usual(groups, means, share) ** 2)) * 2 * rho
    return best if unknown / (2 * max(share, 1 - share) * long) ** 2 > 2 * best else 0.0


def _usual(groups: Groups, means: Means, share: float) -> NDArray[np.float64]:
    """Return about how large sum (y - f) over the missing is; at least as many are missing as noise hides."""
    lacking = np.clip(groups.people - means.present, means.doubt, groups.people)
    return _UNEVEN * lacking * share * (1 - share)


def learn_missing(
    people: People, columns: Columns, groups: Groups, means: Means, share: float, norm: float, rho: float
) -> Missing:
    """Return how unevenly entries are missing.

    A person's vector of missing answers is clipped to `norm`. Two vectors without negative entries and of
    this norm are sqrt(2) times as far apart.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    protected, larger = people.protect == "everything", max(share, 1 - share)
    first = [asked.places.start for asked in people.questions]
    total = np.zeros((2, len(first)), dtype=np.int64)
    for part in tiles(people.rows, len(first)):
        group = people.group[part]
        lacks = np.isnan(people.values[part][:, first]) & (group >= 0)[:, None]
        many = np.sqrt(np.maximum(lacks.sum(axis=1), norm**2))
        add(total, np.trunc(FINE * norm / many)[:, None] * lacks, group)
    moved = PARTS * FINE * norm * max(math.sqrt(2) * larger, float(protected))
    uneven = told(contrast(total, share), moved, rho, 1 / (PARTS * FINE))
    usual = _usual(groups, means, share)
    sums, deviation = uneven.sums[columns.question], float(uneven.deviation)
    clear = np.abs(sums) > _CLEAR * deviation
    return Missing(uneven, clear, *shrunk(sums, deviation, np.where(clear, np.inf, usual)))


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
        # A share further from 1/2 would let one person weigh more, which costs as much as it would gain.
        least = min(share, 1 - share)
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
