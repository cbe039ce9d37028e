"""Rows clipped to balls: how far one person then moves the sums, and which scales and radii are best.

Each part of a row is clipped by itself, in whole numbers of steps. Scales and radii follow from numbers that
are public by then: columns of equal deviation share the noise evenly; where there is much noise, it pays to
give more to those that cost less, and rare answers cost the most. Proof: docs/proofs/all-privacy.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from discreet.methods.all.in_numpy import clipped
from discreet.methods.all.rows import FINE, Rows, boxes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.record import Learned, Means
    from discreet.methods.all.rows import Box, Columns, Scaling

_ENTRIES = (2.5, 3.5, 5.0, 7.0, 10.0, 15.0)  # the largest scaled entries that are considered
_EVENNESS = (1.0, 0.7, 0.4, 0.0)  # 1: every column has deviation 1; 0: an answer is an answer
_STRENGTHS = np.array([3.0, 4.0, 6.0, 9.0, 14.0, 20.0])  # z scores without privacy, of common answers
_NEEDED = 2.7  # the z score of a discovery, about
_USUAL = (0.7, 5.0)
_CENTRED_FROM = (0.0, 0.05, 0.15, 0.3, 1.0)  # answers more frequent than this are centred
_COMMON = 0.03  # of the variance of a column: errors that all columns share would make false ones crowd
_OWN = 0.7  # of the largest entry is the least radius for numbers: few are clipped for their own sake
# Radii that are tried, over the usual norm: most of them near it, where the best one is as a rule.
_RADII = np.concatenate(
    [np.geomspace(0.3, 0.85, 10)[:-1], np.geomspace(0.85, 1.4, 17), np.geomspace(1.4, 4.5, 11)[1:]]
)
# Clipping weighs a column by the others. Where these differ between the groups and a column that does not
# goes with them, its contrast is moved by about (1 - mean weight) * correlation * difference, in deviations.
# Clear differences are taken out; for the others as much as this is allowed, squared
# (docs/proofs/all-p-values.md).
_BIAS = 0.2**2
_UP = 1 + 2.0**-40
_OVER = 0.2  # a ball is this much larger, squared, than rows without their largest entry, at most
_FEW = 3  # columns of numbers: a ball is a second range for these, and weighs none by the others
_LEAST = 0.94  # answers keep this weight: what clipping does to their means must be small


@dataclass(frozen=True, slots=True)
class Ball:
    """Rows of one part clipped: entries first, each by what the others amount to; then the row to `radius`.

    With C^2 = radius^2 - min(b^2, radius^2/6) and b the largest entry,
    w_ij = min(1, C / sqrt(|v_i|^2 - v_ij^2)).
    A column is weighted by the other columns alone, so that one without effect stays so; if b is small, no
    row is then longer than `radius`. A radius of infinity clips nothing.
    """

    radius: float
    entry: float

    @property
    def room(self) -> float:
        """C^2, for entries other than the one that is weighted."""
        return self.radius**2 - min(self.entry**2, self.radius**2 * _OVER / (1 + _OVER))

    def clip(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the clipped rows of some people, whole numbers; shape (n, columns)."""
        if math.isinf(self.radius) or rows.shape[1] == 0:
            return rows
        return clipped(rows, self.room, self.radius)[0]

    def kept(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return which share of the length of some people's rows clipping leaves; shape (n,)."""
        if math.isinf(self.radius) or rows.shape[1] == 0:
            return np.ones(len(rows))
        return clipped(rows, self.room, self.radius)[1]

    def weight(self, norm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return about the weight of the entries of rows this long."""
        if math.isinf(self.radius):
            return np.ones(norm.shape)
        return np.minimum(1.0, math.sqrt(self.room) / np.maximum(norm, 1e-9))


@dataclass(frozen=True, slots=True)
class Balls:
    """How both parts of a row are clipped."""

    positive: Ball
    signed: Ball

    @property
    def both(self) -> tuple[Ball, Ball]:
        """The two, in the order of boxes and norms."""
        return self.positive, self.signed

    @property
    def numbers(self) -> NDArray[np.float64]:
        """Room and radius of each ball, by group and part; shape (2, 2, 2)."""
        return np.array([[(ball.room, ball.radius) for ball in self.both]] * 2)

    def clip(self, whole: NDArray[np.int16], positive: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the clipped rows of some people, whole numbers; shape (n, m)."""
        rows = whole.astype(np.float64)
        if positive.any():
            rows[:, positive] = self.positive.clip(rows[:, positive])
        if not positive.all():
            rows[:, ~positive] = self.signed.clip(rows[:, ~positive])
        return rows


@dataclass(frozen=True, slots=True, eq=False)
class Norms:
    """The share of people in each bin of norms, and a norm that stands for the bin. Public."""

    share: NDArray[np.float64]
    norm: NDArray[np.float64]

    def mean_weight(self, ball: Ball) -> float:
        """Return about the mean weight that clipping leaves to an entry, never 0."""
        return max(float(self.share @ ball.weight(self.norm)), 1e-6)

    def shorter_by(self, squared: float) -> Norms:
        """Return the norms of rows that are shorter by this on average, squared; at least half as long."""
        return replace(self, norm=np.sqrt(np.maximum(self.norm**2 - squared, self.norm**2 / 4)))

    def energy(self, ball: Ball) -> float:
        """Return the mean of squared norms after clipping."""
        return float(self.share @ (ball.weight(self.norm) * self.norm) ** 2)


@dataclass(frozen=True, slots=True)
class Sensitivities:
    """How far one person can move each kind of sum, in steps."""

    contrast: float
    sums: float
    squares: float


LargestLabels = tuple[tuple[float, float], tuple[float, float]]
"""The largest |y - f| of each group, then part."""


def largest_labels(shares: NDArray[np.float64], positive: NDArray[np.bool_]) -> LargestLabels:
    """Return how much labels weigh at most; f is the share of each column."""
    ends = [
        (float(some.max(initial=0.0)), float(1 - some.min(initial=1.0)))
        for some in (shares[positive], shares[~positive])
    ]
    return (ends[0][0], ends[1][0]), (ends[0][1], ends[1][1])


def sensitivities_of(
    boxes: tuple[Box, Box], balls: Balls, labels: LargestLabels, *, protected: bool, seen: int = 1
) -> Sensitivities:
    """Return the sensitivities of sum (y - f) v, of sum v, and of sum v^2.

    A neighbour with the same label moves the first by |y - f| times the distance of two rows; one with
    another label by both rows, each times its own |y - f|. Rows without negative entries in a ball are
    sqrt(2) radii apart. Whoever leaves one of `seen` = 2 tables for the other moves the sums of both by one
    row.
    """
    same: list[float] = []
    other, farthest, length = [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]
    for group in (0, 1):
        moved = [0.0, 0.0]
        for part, (box, ball) in enumerate(zip(boxes, balls.both, strict=True)):
            most = min(box.radius, ball.radius)
            distance = box.diameter
            if not math.isinf(ball.radius):
                distance = min(box.shrunk_diameter, (2.0 if part else math.sqrt(2)) * ball.radius)
            if seen > 1:
                distance = max(distance, math.sqrt(seen) * most)
            moved[part] = labels[group][part] * distance
            other[part] += labels[group][part] * most
            farthest[part], length[part] = max(farthest[part], distance), max(length[part], most)
        same.append(math.hypot(*moved))
    contrast = max(*same, math.hypot(*other)) if protected else max(same)
    fourth = [min(box.squares, box.entry * size) for box, size in zip(boxes, length, strict=True)]
    return Sensitivities(
        contrast * _UP, math.hypot(*farthest) * _UP, math.sqrt(2) * math.hypot(*fourth) * _UP
    )


def row_sensitivities(people: People, learned: Learned) -> Sensitivities:
    """Return how far one person can move the sums of these rows.

    Around two centres an entry is at most the largest entry plus the distance of the centres, and the length
    of a row is bounded by its ball alone: `two_centres_are_free`.
    """
    boxes = boxes_of(people, learned.rows)
    if learned.difference.any():
        entry = learned.rows.most * FINE + float(np.max(np.abs(learned.offsets)))
        signed = replace(boxes[1], entry=max(boxes[1].entry, entry), squares=math.inf)
        boxes = boxes[0], signed
    labels, protected = largest_labels(learned.shares, learned.rows.positive), people.protect == "everything"
    return sensitivities_of(boxes, learned.balls, labels, protected=protected, seen=people.seen)


def scaled_rows(
    people: People,
    means: Means,
    scaling: Scaling,
    columns: Columns,
    size: float,
    shares: NDArray[np.float64],
    rho: float,
    unsure: float,
) -> Rows:
    """Return the rows around these means, scaled so that the most columns would be discovered.

    `size` is about the number of people; noise is that of a contrast measured with `rho`. Answers that are
    not centred are less far apart, but add to each contrast sum (y - f), known up to the variance `unsure`;
    centred ones are shorter, which counts where labels are protected.
    """
    mean = means.mean
    # A rate is not taken to be smaller than what noise and chance could hide.
    lowest = np.minimum(np.maximum(0.5 / math.sqrt(max(size, 4.0)), means.present_sd / means.present), 0.5)
    answers = np.zeros(mean.size, dtype=np.bool_)
    answers[columns.answers] = True
    turned = answers & (mean > 0.5)
    centre = np.where(turned, 1 - mean, mean)
    rate = np.clip(centre, lowest, 0.5)
    deviation = np.where(answers, np.sqrt(rate * (1 - rate)), scaling.spread)
    typical = float(np.exp(np.mean(np.log(deviation))))
    protected = people.protect == "everything"
    # The same odds ratio shows less in a rare answer.
    strength = np.where(answers, 2 * deviation, 1.0)

    balance = float(np.mean(shares * (1 - shares)))
    usual = rate.copy()  # of a question with several answers, that of the most frequent one
    for asked in people.questions:
        usual[asked.places] = np.max(rate[asked.places])

    def rows(evenness: float, most: float, centred: float) -> Rows:
        scale = (typical / deviation) ** evenness / typical
        parts = (answers, turned, answers & (usual >= centred))
        return Rows(centre, np.where(answers, np.minimum(scale, most), scale), most, *parts)

    def worth(option: Rows) -> float:
        weight = (option.scale * deviation) ** 2
        boxes = boxes_of(people, option)
        # Rows as long as they are on average, and a little more.
        lengths = ((norm / FINE) ** 2 for norm in usual_norms(option, scaling))
        first, second = (
            Ball(FINE * math.sqrt(1.25 * part + 1), box.entry)
            for part, box in zip(lengths, boxes, strict=True)
        )
        labels = largest_labels(shares, option.positive)
        sensitivity = sensitivities_of(boxes, Balls(first, second), labels, protected=protected)
        noise = (sensitivity.contrast / FINE) ** 2 / (2 * rho * size * balance)
        common = (option.shift / FINE) ** 2 * unsure / (size * balance)
        if np.any(common > _COMMON * (noise + weight)):
            return -1.0
        seen = _STRENGTHS[:, None] * strength / np.sqrt(1 + noise / weight)
        return float(np.sum(ndtr(seen - _NEEDED)))

    tried = {least: worth(rows(_USUAL[0], _USUAL[1], least)) for least in _CENTRED_FROM}
    centred = max(tried, key=tried.__getitem__)
    best = max((rows(*option, centred) for option in product(_EVENNESS, _ENTRIES)), key=worth)
    return best if worth(best) >= 0 else replace(best, centred=answers)


def usual_norms(rows: Rows, scaling: Scaling) -> tuple[float, float]:
    """Return about how long both parts of a row are, in steps: without negative entries, and with."""
    variance = np.where(rows.answers, rows.centre * (1 - rows.centre), scaling.spread**2)
    squared = np.where(rows.positive, rows.centre, variance) * rows.scale**2
    parts = (float(np.sum(squared[part])) for part in (rows.positive, ~rows.positive))
    positive, signed = (FINE * math.sqrt(part) for part in parts)
    return positive, signed


def best_balls(
    norms: tuple[Norms, Norms],
    boxes: tuple[Box, Box],
    shares: NDArray[np.float64],
    positive: NDArray[np.bool_],
    people: float,
    rho: float,
    offset: float,
    weight_sd: float,
    *,
    protected: bool,
) -> Balls:
    """Return the clipping of both parts with the most signal for the noise, from what is known of the norms.

    With weights w the signal is proportional to mean(w), and over all columns the variance of the sums to
    mean((w |v|)^2) and that of the noise to their number. A ball of infinite radius leaves the box as it is.
    What clipping takes from entries that are never negative, of which `offset` is the squared length of a
    mean row, is known within `present_sd` people.
    """
    tried = [_tried(norm, box, least) for norm, box, least in zip(norms, boxes, (0.0, _OWN), strict=True)]
    tried[0] = [ball for ball in tried[0] if norms[0].mean_weight(ball) >= _LEAST]
    signals = [
        {ball: (norm.mean_weight(ball) ** 2, norm.energy(ball)) for ball in balls}
        for norm, balls in zip(norms, tried, strict=True)
    ]
    size, labels = people * float(np.mean(shares * (1 - shares))), largest_labels(shares, positive)

    def cost(pair: tuple[Ball, Ball]) -> float:
        moved = sensitivities_of(boxes, Balls(*pair), labels, protected=protected).contrast
        noise = moved**2 / (2 * rho * size)
        clipped = 1 - math.sqrt(signals[0][pair[0]][0])
        unknown = offset * min(weight_sd, clipped / 3 * size) ** 2 / size / signals[0][pair[0]][0]
        return unknown + sum(
            (of[ball][1] + box.columns * (noise + size * _BIAS * FINE**2 * (1 - math.sqrt(of[ball][0])) ** 2))
            / of[ball][0]
            for ball, of, box in zip(pair, signals, boxes, strict=True)
            if box.columns
        )

    return Balls(*min(product(tried[0], tried[1]), key=cost))


def two_centres_are_free(box: Box, ball: Ball) -> bool:
    """Say whether rows of numbers may be taken around another centre in each group at no cost in noise.

    They may where clipping alone bounds them: a row is then no longer than the radius, whatever its centre.
    """
    return 2 * ball.radius <= box.shrunk_diameter and ball.radius <= box.radius


def _tried(norms: Norms, box: Box, least: float) -> list[Ball]:
    """Return the balls to choose from: none, and radii around the usual norm, from so many entries on.

    Few columns of numbers are cut to their ranges alone. What a ball takes from them it takes as another
    range would, narrower than the one that is named; how many numbers of each group are beyond is told of
    ranges, and where one group spreads more, more of it would be cut than is allowed for.
    """
    if least and box.columns <= _FEW:
        return [Ball(math.inf, box.entry)]
    usual = max(float(norms.share @ norms.norm), 1.0)
    radii = np.unique(np.maximum(usual * _RADII, least * box.entry))
    some = [float(radius) for radius in radii if radius < box.radius and box.columns]
    return [Ball(radius, box.entry) for radius in (math.inf, *some)]
