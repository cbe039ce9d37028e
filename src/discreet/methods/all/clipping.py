"""How rows are scaled and clipped: what leaves the most to be found, by numbers that are public by then.

Columns of equal deviation share the noise evenly; where there is much noise, it pays to give more to those
that cost less, and rare answers cost the most. How long people's rows are is told as histograms.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from discreet.methods.all.geometry import Ball, Balls, boxes_of, pull_of, reach_of
from discreet.methods.all.looks import row_lengths
from discreet.methods.all.noisy import with_noise
from discreet.methods.all.reading import FINE, Rows
from discreet.methods.all.record import Norms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.geometry import Box
    from discreet.methods.all.reading import Columns, Scaling
    from discreet.methods.all.record import Means

_ENTRIES = (2.5, 3.5, 5.0, 7.0, 10.0, 15.0)  # the largest scaled entries that are considered
_EVENNESS = (1.0, 0.7, 0.4, 0.0)  # 1: every column has deviation 1; 0: an answer is an answer
_STRENGTHS = np.array([3.0, 4.0, 6.0, 9.0, 14.0, 20.0])  # z scores without privacy, of common answers
_NEEDED = 2.7  # the z score of a discovery, about
_USUAL = (0.7, 5.0)
_CENTRED_FROM = (0.0, 0.05, 0.15, 0.3, 1.0)  # answers more frequent than this are centred
_COMMON = 0.03  # of the variance of a column: errors that all columns share would make false ones crowd
_RATIO, _BINS = 1.18, 24
_SEEN = 0.75  # of the people must stand out of the noise, or their rows are taken to be as long as is usual
_OWN = 0.7  # of the largest entry is the least radius for numbers: few are clipped for their own sake
_SMALLEST = 0.3  # radii are tried from this share of the usual norm on
# Clipping weighs a column by the others. Where these differ between the groups and a column that does not
# goes with them, its contrast is moved by about (1 - mean weight) * correlation * difference, in deviations.
# Clear differences are taken out; for the others as much as this is allowed, squared
# (docs/proofs/all-p-values.md).
_BIAS = 0.2**2
_CLEAR = 2.5  # deviations of its noise, from which on a difference is clear
_LEAST = 0.94  # answers keep this weight: what clipping does to their means must be small


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
    doubt = np.minimum(np.maximum(0.5 / math.sqrt(max(size, 4.0)), means.doubt / means.present), 0.5)
    answers = np.zeros(mean.size, dtype=np.bool_)
    answers[columns.answers] = True
    turned = answers & (mean > 0.5)
    centre = np.where(turned, 1 - mean, mean)
    rate = np.clip(centre, doubt, 0.5)
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
        balls = Balls(first, second)
        moved = reach_of(boxes, balls, pull_of(shares, option.positive), protected=protected).contrast / FINE
        noise = moved**2 / (2 * rho * size * balance)
        common = (option.shift / FINE) ** 2 * unsure / (size * balance)
        if np.any(common > _COMMON * (noise + weight)):
            return -1.0
        seen = _STRENGTHS[:, None] * strength / np.sqrt(1 + noise / weight)
        return float(np.sum(ndtr(seen - _NEEDED)))

    centred = max(_CENTRED_FROM, key=lambda least: worth(rows(_USUAL[0], _USUAL[1], least)))
    best = max((rows(*option, centred) for option in product(_EVENNESS, _ENTRIES)), key=worth)
    return best if worth(best) >= 0 else replace(best, centred=answers)


def usual_norms(rows: Rows, scaling: Scaling) -> tuple[float, float]:
    """Return about how long both parts of a row are, in steps: without negative entries, and with."""
    variance = np.where(rows.answers, rows.centre * (1 - rows.centre), scaling.spread**2)
    squared = np.where(rows.positive, rows.centre, variance) * rows.scale**2
    parts = (float(np.sum(squared[part])) for part in (rows.positive, ~rows.positive))
    positive, signed = (FINE * math.sqrt(part) for part in parts)
    return positive, signed


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
    norm = row_lengths(whole) if sizes is None else row_lengths(whole) / sizes
    counts = np.bincount(np.searchsorted(edges[:-1], norm), inside, minlength=_BINS)
    noisy = with_noise(counts, math.sqrt(2), rho)
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
        {ball: (norm.mean_weight(ball) ** 2, norm.energy(ball)) for ball in balls}
        for norm, balls in zip(norms, tried, strict=True)
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


def can_be_apart(box: Box, ball: Ball) -> bool:
    """Say whether rows of numbers may be taken around another centre in each group at no cost in noise.

    They may where clipping alone bounds them: a row is then no longer than the radius, whatever its centre.
    """
    return 2 * ball.radius <= box.shrunk and ball.radius <= box.radius


def clear_difference(
    contrast: NDArray[np.float64],
    deviation: NDArray[np.float64] | float,
    size: NDArray[np.float64],
    positive: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return how far apart the groups are in each column, where that is clear from a contrast; 0 elsewhere.

    A contrast is `size` times the difference, but for its noise. Differences are shrunk a little, as those
    that seem clear are rather too large.
    """
    z = contrast / deviation
    clear = (np.abs(z) > _CLEAR) & ~positive
    return np.where(clear, (1 - 1 / np.maximum(z * z, 1.0)) * contrast / np.maximum(size, 1e-9), 0.0)


def _tried(norms: Norms, box: Box, least: float) -> list[Ball]:
    """Return the balls to choose from: none, and radii around the usual norm, from so many entries on."""
    usual = max(float(norms.share @ norms.norm), 1.0)
    radii = max(usual * _SMALLEST, least * box.entry) * 1.12 ** np.arange(24.0)
    whole = Ball(math.inf, box.entry)
    return [
        whole,
        *(Ball(float(radius), box.entry) for radius in radii if radius < box.radius and box.columns),
    ]
