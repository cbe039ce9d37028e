"""What a release learns before it measures: group sizes, means, and who has no entry in which group.

Each step spends its own share and tells whole-number sums with noise (docs/proofs/all-privacy.md). A poor
answer costs power, never privacy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.looks import sum_lacking
from discreet.methods.all.noisy import with_noise
from discreet.methods.all.reading import FINE, PARTS
from discreet.methods.all.record import Groups, Means, Missing
from discreet.methods.all.tiles import contrast
from discreet.methods.all.where import PRESENT
from discreet.noise import entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.reading import Columns

LEARNERS = 2**16
"""More people than this teach the constants little: a sample of about this size does."""
_CLEAR = 3.0  # deviations
_OFF = 0.085  # about how far from 0 the mean of a column may be when contrasts are taken, in deviations
_UNEVEN = 1.0  # about how uneven: the difference of both groups' rates of missing entries, over the mean rate


def learn_groups(group: NDArray[np.int8], rho: float) -> Groups:
    """Return the sizes of the groups: exact where they are public, for which `rho` is 0.

    One person replaced moves the two counts by (1, -1), or one of them by 1.
    """
    counts = np.array([np.count_nonzero(group == side) for side in (0, 1)])
    if rho == 0:
        return Groups(float(counts[0]), float(counts[1]), 0.0)
    noisy = with_noise(counts, math.sqrt(2), rho)
    return Groups(float(noisy.sums[0]), float(noisy.sums[1]), float(noisy.deviation))


def learners(rows: int) -> NDArray[np.bool_]:
    """Return the people that constants are learned from: all, or of very many a sample by lot.

    Each is drawn by itself, so that it does not matter in which order people come: where they have
    identifiers, somebody who is replaced may come first, and move all others by a place.
    """
    if rows <= LEARNERS:
        return np.ones(rows, dtype=np.bool_)
    return entropy.words(rows, np.uint16) < 2**16 * LEARNERS // rows


def learn_means(share: NDArray[np.float64], people: People, sought: NDArray[np.bool_], rho: float) -> Means:
    """Return the mean of the columns that are sought, all answers among them, of shares in [0, 1]."""
    several = [range(len(people))[asked.places] for asked in people.questions]
    several = [
        places
        for asked, places in zip(people.questions, several, strict=True)
        if asked.answers and len(places) > 1
    ]
    chosen = np.array([place for places in several for place in places], dtype=np.intp)
    single = np.setdiff1d(np.flatnonzero(sought), chosen)
    learned = _means(share[:, single], share[:, chosen], tuple(map(len, several)), rho)
    order = np.concatenate([single, chosen])
    means = Means(*(np.ones(len(people)) for _ in range(3)))
    means.mean[order], means.present[order], means.doubt[order] = learned.mean, learned.present, learned.doubt
    return means


def _means(
    single: NDArray[np.float64], choices: NDArray[np.float64], sizes: tuple[int, ...], rho: float
) -> Means:
    """Return the means of columns that stand alone, then of columns of which a person has one at most.

    A share less 1/2, beside its presence of weight sqrt(3)/2, moves by at most 1. The answers to one
    question, beside its presence of weight 1, move by at most sqrt(2).
    """
    known = ~np.isnan(single)
    alone = np.trunc(np.where(known, single - 0.5, 0.0) * FINE).sum(axis=0)
    there = np.count_nonzero(known, axis=0) * PRESENT
    chosen = np.nansum(choices, axis=0) * FINE
    firsts = np.cumsum((0, *sizes[:-1])) if sizes else np.zeros(0, dtype=np.intp)
    asked = np.count_nonzero(~np.isnan(choices[:, firsts]), axis=0) * FINE
    norm = FINE * math.sqrt(single.shape[1] + 2 * len(sizes))
    noisy = with_noise(np.concatenate([alone, there, chosen, asked]), norm, rho)
    totals, doubt = noisy.sums, noisy.deviation / PRESENT
    alone, there, chosen, asked = np.split(totals, np.cumsum([alone.size, there.size, chosen.size]))
    rows = max(len(single), 1.0)
    there = np.clip(there / PRESENT, 1.0, rows)
    asked = np.repeat(np.clip(asked / FINE, 1.0, rows), sizes)
    mean = np.concatenate([alone / FINE / there + 0.5, chosen / FINE / asked])
    return Means(np.clip(mean, 0.0, 1.0), np.concatenate([there, asked]), np.full(mean.size, float(doubt)))


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
    first = np.array([asked.places.start for asked in people.questions], dtype=np.intp)
    total = sum_lacking(people.values, first, people.group, norm)
    moved = PARTS * FINE * norm * max(math.sqrt(2) * larger, float(protected))
    uneven = with_noise(contrast(total, share), moved, rho, 1 / (PARTS * FINE))
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
