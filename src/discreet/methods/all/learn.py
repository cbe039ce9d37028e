"""What a release learns before it measures: group sizes, where numbers lie, means, the length of rows.

Each step spends its own share and tells whole-number sums with noise (docs/proofs/all-privacy.md). A poor
answer costs power, never privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.noisy import told
from discreet.methods.all.where import FINE, PRESENT
from discreet.noise import entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People

LEARNERS = 2**16
"""More people than this teach the constants little: a sample of about this size does."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """The mean share of each column among those present, how many they are, and the noise in that number."""

    mean: NDArray[np.float64]
    present: NDArray[np.float64]
    doubt: NDArray[np.float64]


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
    found = _means(share[:, single], share[:, chosen], tuple(map(len, several)), rho)
    order = np.concatenate([single, chosen])
    means = Means(*(np.ones(len(people)) for _ in range(3)))
    means.mean[order], means.present[order], means.doubt[order] = found.mean, found.present, found.doubt
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
    found = told(np.concatenate([alone, there, chosen, asked]), norm, rho)
    noisy, doubt = found.sums, found.deviation / PRESENT
    alone, there, chosen, asked = np.split(noisy, np.cumsum([alone.size, there.size, chosen.size]))
    rows = max(len(single), 1.0)
    there = np.clip(there / PRESENT, 1.0, rows)
    asked = np.repeat(np.clip(asked / FINE, 1.0, rows), sizes)
    mean = np.concatenate([alone / FINE / there + 0.5, chosen / FINE / asked])
    return Means(np.clip(mean, 0.0, 1.0), np.concatenate([there, asked]), np.full(mean.size, float(doubt)))
