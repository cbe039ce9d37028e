"""How long people's rows are, told as histograms, and the clipping that suits them best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.geometry import Ball, Balls, reach_of
from discreet.methods.all.noisy import told
from discreet.methods.all.reading import FINE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.geometry import Box

_RATIO, _BINS = 1.18, 24
_SMALLEST = 0.3  # radii are tried from this share of the usual norm on
# Clipping weighs a column by the others, which may differ between the groups: this much of it, squared.
_BIAS = 0.05**2
_LEAST = 0.94  # answers keep this weight: what clipping does to their means must be small


@dataclass(frozen=True, slots=True, eq=False)
class Norms:
    """The share of people in each bin of norms, and a norm that stands for the bin. Public."""

    share: NDArray[np.float64]
    norm: NDArray[np.float64]

    def mean_weight(self, ball: Ball) -> float:
        """Return about the mean weight that clipping leaves to an entry, never 0."""
        return max(float(self.share @ ball.weight(self.norm)), 1e-6)

    def energy(self, ball: Ball) -> float:
        """Return the mean of squared norms after clipping."""
        return float(self.share @ (ball.weight(self.norm) * self.norm) ** 2)


def learn_norms(
    whole: NDArray[np.int16], box: Box, usual: float, rho: float, inside: NDArray[np.bool_], people: float
) -> Norms:
    """Return how many people have rows of which norm, in one part; one person moves it by sqrt(2).

    People in neither group are not `inside`; about how many are is `people`. Where nothing is to be seen in
    the noise, rows are taken to be about as long as is `usual`.
    """
    if box.columns == 0:
        return Norms(np.ones(1), np.ones(1))
    edges = box.radius * _RATIO ** -np.arange(float(_BINS))[::-1]  # the last is the longest that there can be
    norm = np.concatenate([_lengths(part) for part in np.array_split(whole, max(1, whole.size // 2**22))])
    counts = np.bincount(np.searchsorted(edges[:-1], norm), inside, minlength=_BINS)
    noisy = told(counts, math.sqrt(2), rho)
    kept = np.where(noisy.sums > 3 * noisy.deviation, noisy.sums, 0.0)
    if kept.sum() <= people / 2:
        around = np.minimum(usual * np.array([0.8, 0.9, 1.0, 1.1, 1.25]), box.radius)
        return Norms(np.full(5, 0.2), np.maximum(around, 1.0))
    return Norms(kept / kept.sum(), np.append(edges[0], edges[1:] / math.sqrt(_RATIO)))


def _lengths(whole: NDArray[np.int16]) -> NDArray[np.float64]:
    rows = whole.astype(np.float64)
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))


def best_balls(
    norms: tuple[Norms, Norms],
    boxes: tuple[Box, Box],
    share: float,
    people: float,
    rho: float,
    *,
    protected: bool,
) -> Balls:
    """Return the clipping of both parts with the most signal for the noise, from what is known of the norms.

    With weights w the signal is proportional to mean(w), and over all columns the variance of the sums to
    mean((w |v|)^2) and that of the noise to their number. A ball of infinite radius leaves the box as it is.
    """
    tried = [_tried(norm, box) for norm, box in zip(norms, boxes, strict=True)]
    tried[0] = [ball for ball in tried[0] if norms[0].mean_weight(ball) >= _LEAST]
    known = [
        {ball: (norm.mean_weight(ball) ** 2, norm.energy(ball)) for ball in some}
        for norm, some in zip(norms, tried, strict=True)
    ]

    def cost(pair: tuple[Ball, Ball]) -> float:
        moved = reach_of(boxes, Balls(*pair), share, protected=protected).contrast
        size = people * share * (1 - share)
        noise = moved**2 / (2 * rho * size)
        return sum(
            (of[ball][1] + box.columns * (noise + size * _BIAS * FINE**2 * (1 - math.sqrt(of[ball][0])) ** 2))
            / of[ball][0]
            for ball, of, box in zip(pair, known, boxes, strict=True)
            if box.columns
        )

    return Balls(*min(product(tried[0], tried[1]), key=cost))


def _tried(norms: Norms, box: Box) -> list[Ball]:
    """Return the balls to choose from: none at all, and radii around the usual norm."""
    usual = max(float(norms.share @ norms.norm), 1.0)
    radii = usual * _SMALLEST * 1.12 ** np.arange(24.0)
    whole = Ball(math.inf, box.entry)
    return [
        whole,
        *(Ball(float(radius), box.entry) for radius in radii if radius < box.radius and box.columns),
    ]
