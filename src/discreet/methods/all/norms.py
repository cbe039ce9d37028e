"""How long people's rows are, told as a histogram, and the clipping that suits it best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.geometry import Ball, reach_of
from discreet.methods.all.noisy import told

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.geometry import Box

_RATIO, _BINS = 1.12, 40


@dataclass(frozen=True, slots=True, eq=False)
class Norms:
    """The share of people in each bin of norms, and a norm that stands for the bin. Public."""

    share: NDArray[np.float64]
    norm: NDArray[np.float64]

    def mean_weight(self, ball: Ball) -> float:
        """Return about the mean weight that clipping leaves to an entry, never 0."""
        return max(float(self.share @ ball.weight(self.norm)), 1e-6)


def learn_norms(whole: NDArray[np.int16], box: Box, rho: float) -> Norms:
    """Return how many people have rows of which norm; one person moves it by sqrt(2).

    Where nothing is to be seen in the noise, all rows are taken to be as long as they can be.
    """
    edges = box.radius * _RATIO ** -np.arange(float(_BINS))[::-1]  # the last is the longest that there can be
    norm = np.concatenate([_lengths(part) for part in np.array_split(whole, max(1, whole.size // 2**24))])
    counts = np.bincount(np.searchsorted(edges[:-1], norm), minlength=_BINS)
    noisy = told(counts, math.sqrt(2), rho)
    kept = np.where(noisy.sums > 3 * noisy.deviation, noisy.sums, 0.0)
    if not kept.any():
        return Norms(np.ones(1), np.array([box.radius]))
    return Norms(kept / kept.sum(), np.append(edges[0], edges[1:] / math.sqrt(_RATIO)))


def _lengths(whole: NDArray[np.int16]) -> NDArray[np.float64]:
    rows = whole.astype(np.float64)
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))


def best_ball(
    norms: Norms, box: Box, columns: int, share: float, people: float, rho: float, *, protected: bool
) -> Ball:
    """Return the clipping with the most signal for the noise, from what is known of the norms.

    With weights w the signal is proportional to mean(w), and over all columns the variance of the sums to
    mean((w |v|)^2) and that of the noise to their number. A ball of infinite radius leaves the box as it is.
    """
    radii = box.entry * np.sqrt(1 + 1.15 ** np.arange(-8.0, 60.0))
    balls = [
        Ball(math.inf, box.entry),
        *(Ball(float(radius), box.entry) for radius in radii if radius < box.radius),
    ]

    def cost(ball: Ball) -> float:
        weight = ball.weight(norms.norm)
        signal = float(norms.share @ weight) ** 2
        moved = reach_of(box, ball, share, protected=protected).contrast
        noise = columns * moved**2 / (2 * rho * people * share * (1 - share))
        return (float(norms.share @ (weight * norms.norm) ** 2) + noise) / signal

    return min(balls, key=cost)
