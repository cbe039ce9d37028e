"""How long people's rows are, told as histograms, and the clipping that suits them best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.geometry import Ball, Balls, pull_of, reach_of
from discreet.methods.all.noisy import told
from discreet.methods.all.reading import FINE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.geometry import Box

_RATIO, _BINS = 1.18, 24
_SEEN = 0.75  # of the people must stand out of the noise, or their rows are taken to be as long as is usual
_OWN = 0.7  # of the largest entry is the least radius for numbers: few are clipped for their own sake
_SMALLEST = 0.3  # radii are tried from this share of the usual norm on
# Clipping weighs a column by the others. Where these differ between the groups and a column that does not
# goes with them, its contrast is moved by about (1 - mean weight) * correlation * difference, in deviations:
# allowed for as much as this, squared (docs/proofs/all-p-values.md).
_BIAS = 0.4**2
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
    whole: NDArray[np.int16],
    box: Box,
    usual: float,
    rho: float,
    inside: NDArray[np.bool_],
    people: float,
    sizes: NDArray[np.float64] | None = None,
) -> Norms:
    """Return how many people have rows of which norm, in one part; one person moves it by sqrt(2).

    People in neither group are not `inside`; about how many are is `people`. Norms are taken in units of
    the size of rows in one's group, where `sizes` are given. Where nothing is to be seen in the noise, rows
    are taken to be about as long as is `usual`.
    """
    if box.columns == 0:
        return Norms(np.ones(1), np.ones(1))
    edges = box.radius * _RATIO ** -np.arange(float(_BINS))[::-1]  # the last is the longest that there can be
    norm = np.concatenate([_lengths(part) for part in np.array_split(whole, max(1, whole.size // 2**22))])
    norm = norm if sizes is None else norm / sizes
    counts = np.bincount(np.searchsorted(edges[:-1], norm), inside, minlength=_BINS)
    noisy = told(counts, math.sqrt(2), rho)
    kept = np.where(noisy.sums > 3 * noisy.deviation, noisy.sums, 0.0)
    if kept.sum() <= _SEEN * people:
        around = 1 + math.sqrt(0.8 / box.columns) * np.array([-1.3, -0.5, 0.0, 0.5, 1.3])
        around = np.minimum(usual * np.sqrt(np.maximum(around, 0.1)), box.radius)
        return Norms(np.full(5, 0.2), np.maximum(around, 1.0))
    # Those who were lost in the noise may have the longest rows that are usual.
    lost = max(people - float(kept.sum()), 0.0)
    longest = edges[np.flatnonzero(kept)[-1]]
    share, norm = np.append(kept, lost), np.append(edges[0], edges[1:] / math.sqrt(_RATIO))
    return Norms(share / share.sum(), np.append(norm, min(max(longest, 1.25 * usual), box.radius)))


def _lengths(whole: NDArray[np.int16]) -> NDArray[np.float64]:
    rows = whole.astype(np.float64)
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))


def best_balls(
    norms: tuple[Norms, Norms],
    boxes: tuple[Box, Box],
    shares: NDArray[np.float64],
    positive: NDArray[np.bool_],
    people: float,
    rho: float,
    offset: float,
    doubt: float,
    *,
    protected: bool,
    sizes: tuple[float, float] = (1.0, 1.0),
) -> Balls:
    """Return the clipping of both parts with the most signal for the noise, from what is known of the norms.

    With weights w the signal is proportional to mean(w), and over all columns the variance of the sums to
    mean((w |v|)^2) and that of the noise to their number. A ball of infinite radius leaves the box as it is.
    What clipping takes from entries that are never negative, of which `offset` is the squared length of a
    mean row, is known within `doubt` people.
    """
    # Where groups are clipped unlike one another, nobody may be for the sake of one entry.
    own = _OWN if sizes[0] == sizes[1] else 1 / min(sizes)
    tried = [_tried(norm, box, least) for norm, box, least in zip(norms, boxes, (0.0, own), strict=True)]
    tried[0] = [ball for ball in tried[0] if norms[0].mean_weight(ball) >= _LEAST]
    known = [
        {ball: (norm.mean_weight(ball) ** 2, norm.energy(ball)) for ball in some}
        for norm, some in zip(norms, tried, strict=True)
    ]

    size, pull = people * float(np.mean(shares * (1 - shares))), pull_of(shares, positive)

    def cost(pair: tuple[Ball, Ball]) -> float:
        moved = reach_of(boxes, Balls(*pair, sizes), pull, protected=protected).contrast
        noise = moved**2 / (2 * rho * size)
        clipped = 1 - math.sqrt(known[0][pair[0]][0])
        unknown = offset * min(doubt, clipped / 3 * size) ** 2 / size / known[0][pair[0]][0]
        return unknown + sum(
            (of[ball][1] + box.columns * (noise + size * _BIAS * FINE**2 * (1 - math.sqrt(of[ball][0])) ** 2))
            / of[ball][0]
            for ball, of, box in zip(pair, known, boxes, strict=True)
            if box.columns
        )

    return Balls(*min(product(tried[0], tried[1]), key=cost), sizes)


def _tried(norms: Norms, box: Box, least: float) -> list[Ball]:
    """Return the balls to choose from: none, and radii around the usual norm, from so many entries on."""
    usual = max(float(norms.share @ norms.norm), 1.0)
    radii = max(usual * _SMALLEST, least * box.entry) * 1.12 ** np.arange(24.0)
    whole = Ball(math.inf, box.entry)
    return [
        whole,
        *(Ball(float(radius), box.entry) for radius in radii if radius < box.radius and box.columns),
    ]
