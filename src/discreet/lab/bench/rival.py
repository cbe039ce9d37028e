"""Noise on all by hand: what a good privacy engineer writes in an afternoon, to be compared with.

For each group, the number of people present, sums and sums of squares of numbers scaled to their bounds, and
counts of answers, all in one Gaussian mechanism; then z with the noise in its variance, and BH. Noise is
numpy's, in floats: good enough to compare power, not to publish.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from discreet.classical.step_up import step_up_positions
from discreet.lab.bench.moments import DELTA, Moments, Q, bounds_of, moments
from discreet.privacy.curves import gaussian_delta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People

# Squared weights of presence and of squares beside a sum: about the largest that cost nothing (see `costs`).
_WEIGHTS = {"columns": (0.7, 0.8), "everything": (0.25, 1.0)}
_SURE = 2  # deviations of its noise by which a count must be above 0 for a mean to be taken


@lru_cache
def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the largest shift of a standard normal variable that is (epsilon, delta)-private."""
    return float(brentq(lambda mu: gaussian_delta(epsilon, mu) - delta, 1e-9, 1e3))


def costs(people: People) -> list[float]:
    """Return the most by which one person moves the weighted sums of each question, squared.

    For a number or a yes/no question a person adds (presence, x, square) with |x| <= 1/2; for several answers
    to choose from (presence, one-hot). If labels are public a person stays in a group, and the distance of
    two such rows counts; otherwise both groups may move, each by the length of a row.
    """
    presence, square = _WEIGHTS[people.protect]
    found: list[float] = []
    for question in people.questions:
        several = len(range(len(people))[question.places]) > 1
        distance = 2.0 if several else 1.0
        length = presence + (1.0 if several else 0.25 if question.answers else 0.25 + square / 16)
        found.append(max(distance, length if people.protect == "columns" else 2 * length))
    return found


def by_hand(people: People, epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the discoveries of BH on z scores computed from noisy sums."""
    difference, error = differences(people, epsilon, rng)
    return step_up_positions(2 * ndtr(-np.abs(difference / error)), Q)


def differences(
    people: People, epsilon: float, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return noisy differences of means, numbers scaled to their bounds, and their standard errors.

    The errors are those of equal shares, with the noise; infinite where a group may be empty.
    """
    deviation = float(np.sqrt(sum(costs(people)))) / gaussian_mu(epsilon, DELTA)
    presence, square = _WEIGHTS[people.protect]
    exact, (_, _, answers), m = moments(people), bounds_of(people), len(people)
    count, lever = exact.count.copy(), np.zeros(m)
    total = exact.total + rng.normal(0, deviation, (2, m))
    for question in people.questions:
        off = rng.normal(0, deviation / np.sqrt(presence), (2, 1))
        count[:, question.places] += off
        if len(range(m)[question.places]) > 1:  # counts from 0 were noised, here taken from the middle
            total[:, question.places] -= off / 2
            lever[question.places] = 0.5
    squares = exact.square + rng.normal(0, deviation / np.sqrt(square), (2, m))
    noisy = Moments(count, total, np.where(answers, count / 4, squares))
    size = np.maximum(count, 1)
    # The noise of a mean is its own and that of the count below it.
    noise = deviation**2 * (1 + (noisy.mean + lever) ** 2 / presence) / size**2
    spread = np.minimum(np.where(answers, noisy.pooled, noisy.variance), 0.25) / size
    error = np.sqrt((spread + noise).sum(axis=0))
    error[(count < _SURE * deviation / np.sqrt(presence)).any(axis=0)] = np.inf
    return noisy.mean[1] - noisy.mean[0], error
