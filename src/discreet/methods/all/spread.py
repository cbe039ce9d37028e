"""How entries spread in each group, and what clipping leaves of them there: from what was told alone.

Groups that have the same centre need not have the same spread. Then the variance of a contrast is not that of
everybody's entries; longer rows are clipped more; and more numbers of the wider group are cut, so that a
range whose middle is not the centre makes a difference (docs/proofs/all-p-values.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from discreet.methods.all.rows import FINE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.record import Learned, Measured, Noisy
    from discreet.methods.all.rows import Rows

    Floats = NDArray[np.float64]
    Pair = tuple[Floats, Floats]

ALIKE = 0.5
"""Variances of numbers differ from what rows' lengths say of them by about this share."""
UNLIKE = 0.7
"""And those of the groups in one column from each other by about this."""
_COMMON = 0.7  # and those of one group in all columns from what is usual, by about this
_UNSEEN = 1 / 3  # of what clipping takes, it may take from one group more than from the other
_LEAST = 0.1  # of what is usual, no variance is taken to be smaller
_FEWEST = (
    0.6  # of the numbers are taken to be inside of their range, at least: others have few values, or two
)
_DIFFER = 0.1  # about how far the groups' shares of numbers inside may be from each other
_STEEP = 0.5  # about the change of that share by the logarithm of the mean square
_DEVIATIONS = np.linspace(0.05, 3.0, 200)  # of normal numbers, in half ranges
_CUT = 2 * ndtr(-1 / _DEVIATIONS)
_DENSITY = np.exp(-0.5 / _DEVIATIONS**2) / np.sqrt(2 * np.pi)
_SQUARES = _DEVIATIONS**2 * (1 - _CUT - 2 * _DENSITY / _DEVIATIONS) + _CUT  # their mean, cut to +-1


@dataclass(frozen=True, slots=True)
class Weights:
    """sum (y - f) w over everyone, w what clipping leaves of a part of their rows; and its variance."""

    excess: float
    variance: float


def weights_of(known: Learned, told: Noisy, part: int) -> Weights:
    """Return sum (y - f) w of answers that are never negative, part 0, or of the other columns, part 1.

    Before it is measured it is known from the sizes of the groups, but for what clipping takes from one group
    more than from the other: taken to be a third of what it takes in all, of rows more if one group is small,
    since all may be taken from it. Both are put together by inverse variance. The error is the same for all
    columns, so it must be small.
    """
    groups, share = known.groups, known.share
    weight = known.norms[part].mean_weight((known.balls.positive, known.balls.signed)[part])
    expected = (groups.second - share * groups.people) * weight
    unseen = _UNSEEN * (1 - weight) * groups.people * share * (1 - share)
    unseen *= 1 / (2 * min(share, 1 - share)) if part else 1.0
    before = 0.5 * (groups.deviation * weight) ** 2 + unseen**2
    noise = float(np.broadcast_to(told.deviation, told.sums.shape)[part])
    trust = before / (before + noise**2) if before and np.isfinite(noise) else 0.0
    return Weights(expected + trust * (float(told.sums[part]) - expected), before * (1 - trust))


def tilt_of(known: Learned, told: Noisy) -> float:
    """Return how much more clipping takes from the second group, over what it takes from everybody."""
    weight, size = known.norms[1].mean_weight(known.balls.signed), known.groups.people
    lost = max(1 - weight, 1e-9) * size * known.share * (1 - known.share)
    excess = weights_of(known, told, 1).excess - (known.groups.second - known.share * size) * weight
    return float(np.clip(-excess / lost, -1 / (1 - known.share), 1 / known.share))


def excess_of(there: Pair, left: Pair, share: Floats) -> Floats:
    """Return sum (y - f) over those present, each group counting as much as is left of it.

    Of a column with the same mean in both groups, a contrast holds this many times the mean of everybody.
    """
    first, second = there[0] * left[0], there[1] * left[1]
    return ((1 - share) * second - share * first) * (there[0] + there[1]) / (first + second)


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """For both groups sum (w (v - mean))^2, and about the share of numbers inside the range they are cut to.

    `unsure` is the deviation of what is not known of a contrast's variance, `vague` that of the noise in the
    difference of the shares inside, `unseen` of what is not known of it beside what is usual.
    """

    squares: Pair
    inside: Pair
    unsure: Floats
    vague: Floats
    unseen: Floats

    def variance(self, share: Floats) -> Floats:
        """Return the variance of sum (y - share) w v by sampling."""
        return share**2 * self.squares[0] + (1 - share) ** 2 * self.squares[1]


def spread_of(
    known: Learned, measured: Measured, weights: Pair, there: Pair, mean: Floats, doubt: Floats, apart: Floats
) -> Spread:
    """Return how entries spread: of answers by their mean, of numbers by their squares in each group.

    `weights` is what clipping leaves of each group's entries and `there` how many of each are present; `mean`
    is that of everybody and `apart` how far the groups' means are from each other, in the units of rows.
    """
    rows, f = known.rows, known.shares
    squares, unsure = _numbers(known, measured, there, mean, apart)
    answers, error = _answers(rows, known.weight, there[0] + there[1], mean, doubt)
    uncut = rows.answers | known.scaling.zero_to_one(known.columns)
    first, second = (
        np.where(uncut, 1.0, _inside(squares[group] / there[group] / weights[group] ** 2, rows))
        for group in (0, 1)
    )
    by_group = [np.where(rows.answers, part * answers, squares[g]) for g, part in enumerate((1 - f, f))]
    unsure = np.where(rows.answers, f * (1 - f) * error, unsure)
    noise = float(measured.squares.deviation)
    vague = _STEEP * np.hypot(noise / squares[0], noise / squares[1])
    unseen = np.where(uncut, 0.0, 1 / np.hypot(1 / _DIFFER, 1 / vague))
    return Spread((by_group[0], by_group[1]), (first, second), unsure, vague, unseen)


def _numbers(
    known: Learned, measured: Measured, there: Pair, mean: Floats, apart: Floats
) -> tuple[Pair, Floats]:
    """Return sum (w (v - mean of the group))^2 over each group, and the error of what contrasts make of it.

    Columns of numbers are scaled alike: rows as long as they are leave each about as much. From that both
    groups may differ together, by ALIKE, and one from the other, by UNLIKE; with what was told this is a
    normal law, whose mean and variance follow. To that the error of sampling is added.
    """
    signed, f = ~known.rows.positive, known.shares
    present = there[0] + there[1]
    energy = known.norms[1].energy(known.balls.signed) / FINE**2 / max(np.count_nonzero(signed), 1)
    typical = float(np.mean(present[signed])) / known.groups.people if signed.any() else 1.0
    usual = [np.maximum(energy / max(typical, 1e-9), 1e-9) * count for count in there]
    told, noise = measured.squares.sums, float(measured.squares.deviation) ** 2
    means = (mean - f * apart, mean + (1 - f) * apart)
    own = [told[g] - there[g] * means[g] ** 2 for g in (0, 1)]
    # One group may vary more in all columns alike.
    usual = [_common(own[g][signed], usual[g][signed], noise) * usual[g] for g in (0, 1)]
    off = [own[g] - usual[g] for g in (0, 1)]
    away = (-UNLIKE * f, UNLIKE * (1 - f))
    law = [[(ALIKE**2 + away[g] * away[h]) * usual[g] * usual[h] for h in (0, 1)] for g in (0, 1)]
    first, second, both = law[0][0] + noise, law[1][1] + noise, law[0][1]
    whole = first * second - both**2
    pull = ((second * off[0] - both * off[1]) / whole, (first * off[1] - both * off[0]) / whole)
    about = (usual[g] + law[g][0] * pull[0] + law[g][1] * pull[1] for g in (0, 1))
    a, b = (np.maximum(each, _LEAST * least) for each, least in zip(about, usual, strict=True))
    counts = (f**2, (1 - f) ** 2)
    x, y = (counts[0] * law[0][g] + counts[1] * law[1][g] for g in (0, 1))
    left = counts[0] * x + counts[1] * y - (second * x**2 - 2 * both * x * y + first * y**2) / whole
    sampled = 2 * (counts[0] * a) ** 2 / there[0] + 2 * (counts[1] * b) ** 2 / there[1]
    return (a, b), np.sqrt(np.maximum(left, 0.0) + sampled)


def _common(own: Floats, usual: Floats, noise: float) -> float:
    """Return how many times as large as usual the squares of all columns are, as far as that is known."""
    whole = max(float(np.sum(usual)), 1e-9)
    unsure = own.size * noise / whole**2 + (ALIKE**2 + UNLIKE**2 / 4) / max(own.size, 1)
    more = (float(np.sum(own)) / whole - 1) / (1 + unsure / _COMMON**2)
    return max(1 + more, _LEAST)


def _answers(rows: Rows, weight: Floats, present: Floats, mean: Floats, doubt: Floats) -> Pair:
    """Return sum (w (v - mean))^2 of answers, which are 0 or `scale`, over everybody, and its error."""
    size, middle = np.minimum(rows.scale, rows.most), rows.middle / FINE
    # A rate is at least what one person would make of it; where little is known of it, about one half.
    level = np.clip(middle + mean / weight, size / present, size * (1 - 1 / present))
    level = size / 2 + (level - size / 2) / (1 + (4 * doubt / size) ** 2)
    error = np.hypot(weight * np.abs(size - 2 * level) * doubt, doubt**2) * present
    error = np.minimum(error, weight**2 * present * size**2 / 8)
    return weight**2 * present * level * (size - level), error


def _inside(square: Floats, rows: Rows) -> Floats:
    """Return about the share of numbers that are not cut, from their mean square, as if they were normal."""
    half = np.minimum(rows.scale / 2, rows.most)
    return np.interp(square / half**2, _SQUARES, np.maximum(1 - _CUT, _FEWEST))
