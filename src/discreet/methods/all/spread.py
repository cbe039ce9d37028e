"""How entries spread in each group, who lacks them, and what clipping leaves: from what was told alone.

Groups that have the same centre need not have the same spread. Then the variance of a contrast is not that of
everybody's entries; longer rows are clipped more; and more numbers of the wider group are cut, so that a
range whose middle is not the centre makes a difference (docs/proofs/all-p-values.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtr

from discreet.methods.all.rows import FINE, can_be_cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.record import Learned, Measured, Noisy, Retained
    from discreet.methods.all.rows import Rows

    Floats = NDArray[np.float64]
    Pair = tuple[Floats, Floats]
    Shares = tuple[Floats | float, Floats | float]

ALIKE = 0.5
"""Variances of numbers differ from what rows' lengths say of them by about this share."""
_DIFFERENT = 2.0  # likewise, at most
UNLIKE = 0.7
"""And those of the groups in one column from each other by about this."""
_COMMON = 0.7  # and those of one group in all columns from what is usual, by about this
_LONGER = 0.2  # rows that are clipped are longer where more is given, by about this power of it
_CROWDED = 0.2  # of what clipping takes from given answers it takes from people, at least
_UNSEEN = 1 / 3  # of what clipping takes, it may take from one group more than from the other
_LEAST = 0.1  # of what is usual, no variance is taken to be smaller
_FEWEST = 0.6  # of the numbers are taken to be inside of their range: others have few values, or two
_DEVIATIONS: Floats = np.linspace(0.05, 3.0, 200)  # of normal numbers, in half ranges
_CUT: Floats = 2 * np.asarray(ndtr(-1 / _DEVIATIONS))
_DENSITY: Floats = np.exp(-0.5 / _DEVIATIONS**2) / np.sqrt(2 * np.pi)
_SQUARES: Floats = _DEVIATIONS**2 * (1 - _CUT - 2 * _DENSITY / _DEVIATIONS) + _CUT  # their mean, cut to +-1
_STEEP: Floats = 2 * _DENSITY / _DEVIATIONS / (1 - _CUT)  # by how much fewer are inside of e times as wide
_USUAL, _OFF = 0.2, 0.3  # about the mean of these squares where a range fits, and how far off it may be
_FITS = 0.5  # where it is larger a range does not fit
_UNLIKE = 0.3  # by about so much the groups' deviations differ in a column, on the log scale
_OF_VARIANCES = 0.6  # of the difference of variances over their mean, about, is that on the log scale


@dataclass(frozen=True, slots=True)
class Weights:
    """sum (y - f) w over everyone, w what clipping leaves of a part of their rows; and its variance."""

    excess: float
    variance: float


def weights_of(learned: Learned, noisy: Noisy, given: float = 1.0) -> Weights:
    """Return sum (y - f) w of answers that are never negative.

    Before it is measured it is known from the sizes of the groups, but for what clipping takes from one group
    more than from the other: taken to be a third of what it takes in all. Both are put together by inverse
    variance. The error is the same for all columns, so it must be small. `given` is what is left of answers
    that are given: few people give most.
    """
    groups, share = learned.groups, learned.share
    weight = learned.norms[0].mean_weight(learned.balls.positive)
    expected = (groups.second - share * groups.people) * weight
    taken = max(1 - weight, _CROWDED * (1 - given))
    unseen = _UNSEEN * taken * groups.people * share * (1 - share)
    before = 0.5 * (groups.deviation * weight) ** 2 + unseen**2
    noise = float(np.broadcast_to(noisy.deviation, noisy.sums.shape)[0])
    trust = before / (before + noise**2) if before and np.isfinite(noise) else 0.0
    return Weights(expected + trust * (float(noisy.sums[0]) - expected), before * (1 - trust))


@dataclass(frozen=True, slots=True)
class Kept:
    """What clipping leaves of answers without negative entries.

    Of those that are given in all, with the relative error of that; of people's rows in each group, and of
    what is given there; and sum (y - f) w.
    """

    given: float
    error: float
    of_people: tuple[float, float]
    of_given: tuple[float, float]
    weights: Weights


def kept_of(learned: Learned, measured: Measured) -> Kept:
    """Return what clipping leaves of answers, from their sums beside the rates that were learned before.

    Who gives many answers has a longer row, of which clipping takes more: of given answers less is left than
    of people. In a group it takes of them in proportion to what it takes of people, over how many they give.
    """
    rows, f, n = learned.rows, learned.share, learned.groups.people
    positive, weight = rows.positive, learned.norms[0].mean_weight(learned.balls.positive)
    if not positive.any() or np.isinf(learned.balls.positive.radius):
        return Kept(1.0, 0.0, (1.0, 1.0), (1.0, 1.0), weights_of(learned, measured.weights))
    sums = measured.sums.sums[positive]
    left = np.maximum(sums / rows.scale[positive] / n, 1e-9)
    rate = np.where(rows.turned, 1 - learned.means.mean, learned.means.mean)[positive]
    # The rates have noise that scales follow; their sums have not. No more is left than of people.
    slope = float(rate @ left) / float(left @ left)
    error = max(
        float(np.linalg.norm(learned.means.present_sd[positive] / n * left)) / float(left @ left), 1e-9
    )
    below = (1 / weight - slope) / error
    slope += error * float(np.exp(-(below**2) / 2 - log_ndtr(-below))) / np.sqrt(2 * np.pi)
    given = float(np.clip(1 / slope, 0.3, weight))
    weights = weights_of(learned, measured.weights, given)
    weight = min(weight, 1 - _CROWDED * (1 - given))
    first, second = max(n - learned.groups.second, 1.0), max(learned.groups.second, 1.0)
    by_people = weights.excess + f * weight * n
    of_people = np.clip([(weight * n - by_people) / first, by_people / second], _LEAST, 1.0)
    total = max(float(np.sum(sums)), 1e-9)
    by_given = float(np.sum(measured.contrast.sums[positive])) + f * total
    each = np.clip([(total - by_given) / first, by_given / second], _LEAST * total / n, None)
    taken = (1 / given - 1) * total / n / max(1 - weight, 1e-9)
    of_given = each / (each + taken * (1 - of_people) * (each * n / total) ** _LONGER)
    pairs = [(float(pair[0]), float(pair[1])) for pair in (of_people, of_given)]
    return Kept(given, error / slope, pairs[0], pairs[1], weights)


def rate_of(rows: Rows, weight: Floats, mean: Floats, kept: Floats) -> Floats:
    """Return the rate of answers, from the mean of rows less their shift and what is left of those given."""
    about = np.where(rows.positive, weight * rows.shift / FINE / kept, rows.middle / FINE)
    return (about + mean / kept) / np.minimum(rows.scale, rows.most)


def excess_of(group_sizes: Pair, left: Shares, share: Floats) -> Floats:
    """Return sum (y - f) over those present, each group counting as much as is left of it.

    Of a column with the same mean in both groups, a contrast holds this many times the mean of everybody.
    """
    first, second = group_sizes[0] * left[0], group_sizes[1] * left[1]
    return ((1 - share) * second - share * first) * (group_sizes[0] + group_sizes[1]) / (first + second)


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """For both groups sum (w (v - mean))^2, and about the share of numbers inside the range they are cut to.

    `unsure` is the deviation of what is not known of a contrast's variance, `vague` that of the difference of
    the shares inside. `narrow` is by about how much more, relative to themselves, these shares may differ
    where ranges are too narrow.
    """

    squares: Pair
    within_range: Pair
    unsure: Floats
    vague: Floats
    narrow: Floats

    def variance(self, share: Floats) -> Floats:
        """Return the variance of sum (y - share) w v by sampling."""
        return share**2 * self.squares[0] + (1 - share) ** 2 * self.squares[1]


def spread_of(
    learned: Learned,
    measured: Measured,
    weights: Pair,
    group_sizes: Pair,
    mean: Floats,
    difference: Floats,
    answers: Pair,
) -> Spread:
    """Return how entries spread: of answers as `squares_of_answers` says, of numbers by each group's squares.

    `weights` is what clipping leaves of each group's entries, and `group_sizes` how many of each group are
    present; `mean` is that of everybody and `difference` how far the groups' means are from each other, in
    the units of rows.
    """
    rows, f = learned.rows, learned.shares
    squares, unsure = _numbers(learned, measured, group_sizes, mean, difference)
    sampling, error = answers
    uncut = ~can_be_cut(learned.columns, learned.scaling, rows)
    noise = float(measured.squares.deviation)
    within_range, vague = zip(
        *(share_within_range(squares[g], noise, group_sizes[g] * weights[g] ** 2, rows) for g in (0, 1)),
        strict=True,
    )
    first, second = (np.where(uncut, 1.0, share) for share in within_range)
    by_group = [np.where(rows.answers, part * sampling, squares[g]) for g, part in enumerate((1 - f, f))]
    unsure = np.where(rows.answers, f * (1 - f) * error, unsure)
    vague = np.where(uncut, 0.0, np.hypot(*vague))
    means = (mean - f * difference, mean + (1 - f) * difference)
    narrow = np.where(
        uncut, 0.0, unlike_within_range(measured.squares, group_sizes, weights, means, rows, learned.retained)
    )
    return Spread((by_group[0], by_group[1]), (first, second), unsure, vague, narrow)


def _numbers(
    learned: Learned, measured: Measured, group_sizes: Pair, mean: Floats, difference: Floats
) -> tuple[Pair, Floats]:
    """Return sum (w (v - mean of the group))^2 over each group, and the error of what contrasts make of it.

    Columns of numbers are scaled alike: rows as long as they are leave each about as much. From that both
    groups may differ together, by ALIKE, and one from the other, by UNLIKE; with what was told this is a
    normal law, whose mean and variance follow. To that the error of sampling is added.
    """
    signed, f = ~learned.rows.positive, learned.shares
    present = group_sizes[0] + group_sizes[1]
    energy = learned.norms[1].energy(learned.balls.signed) / FINE**2 / max(np.count_nonzero(signed), 1)
    typical = float(np.mean(present[signed])) / learned.groups.people if signed.any() else 1.0
    usual = [np.maximum(energy / max(typical, 1e-9), 1e-9) * count for count in group_sizes]
    squares, noise = measured.squares.sums, float(measured.squares.deviation) ** 2
    means = (mean - f * difference, mean + (1 - f) * difference)
    own = [squares[g] - group_sizes[g] * means[g] ** 2 for g in (0, 1)]
    # One group may vary more in all columns alike.
    usual = [_common(own[g][signed], usual[g][signed], noise) * usual[g] for g in (0, 1)]
    off = [own[g] - usual[g] for g in (0, 1)]
    away = (-UNLIKE * f, UNLIKE * (1 - f))
    # As far as columns are seen to differ more than that, they do.
    size: Floats = np.maximum(usual[0] + usual[1], np.sqrt(noise))
    seen: Floats = np.square((off[0] + off[1]) / size) - 2 * noise / size**2
    alike = min(max(ALIKE**2, float(np.mean(seen[signed]))) if signed.any() else ALIKE**2, _DIFFERENT**2)
    law = [[(alike + away[g] * away[h]) * usual[g] * usual[h] for h in (0, 1)] for g in (0, 1)]
    first, second, both = law[0][0] + noise, law[1][1] + noise, law[0][1]
    whole = first * second - both**2
    pull = ((second * off[0] - both * off[1]) / whole, (first * off[1] - both * off[0]) / whole)
    about = (usual[g] + law[g][0] * pull[0] + law[g][1] * pull[1] for g in (0, 1))
    a, b = (np.maximum(each, _LEAST * least) for each, least in zip(about, usual, strict=True))
    counts = (f**2, (1 - f) ** 2)
    x, y = (counts[0] * law[0][g] + counts[1] * law[1][g] for g in (0, 1))
    left = counts[0] * x + counts[1] * y - (second * x**2 - 2 * both * x * y + first * y**2) / whole
    sampled = 2 * (counts[0] * a) ** 2 / group_sizes[0] + 2 * (counts[1] * b) ** 2 / group_sizes[1]
    return (a, b), np.sqrt(np.maximum(left, 0.0) + sampled)


def _common(own: Floats, usual: Floats, noise: float) -> float:
    """Return how many times as large as usual the squares of all columns are, as far as that is known."""
    whole = max(float(np.sum(usual)), 1e-9)
    unsure = own.size * noise / whole**2 + (ALIKE**2 + UNLIKE**2 / 4) / max(own.size, 1)
    more = (float(np.sum(own)) / whole - 1) / (1 + unsure / _COMMON**2)
    return max(1 + more, _LEAST)


def squares_of_answers(
    rows: Rows, weight: Floats, present: Floats, mean: Floats, mean_sd: Floats, kept: Floats
) -> Pair:
    """Return sum (w (v - mean))^2 of answers, which are 0 or `scale`, over everybody, and its error.

    `weight` is what clipping leaves of people's rows, `kept` of the answers that are given.
    """
    size, shift = np.minimum(rows.scale, rows.most), rows.shift / FINE
    # A rate is at least what one person would make of it; where little is known of it, about one half.
    level = np.clip(size * rate_of(rows, weight, mean, kept), size / present, size * (1 - 1 / present))
    level = size / 2 + (level - size / 2) / (1 + (4 * mean_sd / size) ** 2)
    # The mean square of weights is between the square of their mean and their mean: they are at most 1.
    square = np.where(rows.positive, kept * (1 + kept) / 2, weight**2)
    error = np.hypot(kept * np.abs(size - 2 * level) * mean_sd, mean_sd**2) * present
    error = np.minimum(error, square * present * size**2 / 8)
    given, others = square * (size - shift) ** 2, np.square(weight * shift)
    off = np.square((kept * level - weight * shift) * rows.positive)
    share = level / size
    sampling = np.where(
        rows.positive, share * given + (1 - share) * others - off, square * level * (size - level)
    )
    return sampling * present, error


def share_within_range(squares: Floats, noise: float, size: Floats, rows: Rows) -> Pair:
    """Return about the share of numbers that are not cut, as if they were normal, and its error.

    From their squares, told with this noise, and how many they would be if all were at the ends.
    """
    whole = size * _end(rows) ** 2
    share, least, most = (
        np.interp((squares + by) / whole, _SQUARES, np.maximum(1 - _CUT, _FEWEST))
        for by in (0.0, noise, -noise)
    )
    return share, (most - least) / 2


def unlike_within_range(
    noisy: Noisy, group_sizes: Pair, weights: Pair, means: Pair, rows: Rows, retained: Retained
) -> Floats:
    """Return how much more the shares of both groups' numbers inside may differ where ranges are too narrow.

    Relative to themselves. Of a range that fits, nearly all is inside, whatever the spreads are; of one that
    is narrower than a deviation, as its squares say, the share inside goes with one over the deviation.
    """
    people = (group_sizes[0] * weights[0] ** 2, group_sizes[1] * weights[1] ** 2)
    whole = (people[0] + people[1]) * _end(rows) ** 2
    noise = math.sqrt(2) * float(noisy.deviation) / whole
    seen = noisy.sums.sum(axis=0) / whole
    squares: Floats = _USUAL + (seen - _USUAL) / (1 + (noise / _OFF) ** 2)
    fits = ~rows.answers & (squares < _FITS)
    variances = [(noisy.sums[g] - group_sizes[g] * means[g] ** 2) / people[g] for g in (0, 1)]
    error = float(noisy.deviation) ** 2 * (1 / people[0] ** 2 + 1 / people[1] ** 2)
    sampled = 2 / group_sizes[0] + 2 / group_sizes[1]
    steep: Floats = np.interp(squares, _SQUARES, _STEEP)
    usual = float(np.interp(_USUAL, _SQUARES, _STEEP))
    # All columns may spread more in one group: what is cut of it says so.
    first, second = retained.within_range
    common = 2 * (first - second) / (first + second) / usual
    before = math.hypot(_UNLIKE, common)
    unlike = _unlike(variances[0][fits], variances[1][fits], error[fits], sampled[fits], before)
    return unlike * np.sqrt(np.maximum(steep**2 - usual**2, 0.0))


def _unlike(first: Floats, second: Floats, error: Floats, sampled: Floats, before: float) -> float:
    """Return by about how much the groups' deviations differ in a column, on the log scale.

    From the variances of these columns, whose differences were told with this squared error, and from what is
    known before.
    """
    level = float(np.mean(first + second)) / 2 if first.size else 0.0
    if level <= 0:
        return before
    noise = _OF_VARIANCES**2 * (error / level**2 + sampled)
    apart = float(np.mean(np.square(_OF_VARIANCES * (first - second) / level) - noise))
    # What the mean of these squares may be off by, beside what is known before; half of that is added.
    off = 2 * float(np.mean((noise + max(apart, 0.0)) ** 2)) / first.size
    trust = before**4 / (before**4 + off)
    return math.sqrt(max(before**2 + trust * (apart - before**2), 0.0) + math.sqrt(trust * off) / 2)


def _end(rows: Rows) -> Floats:
    """Return how far the ends of a column's range are from its middle, in the units of rows."""
    return np.minimum(rows.scale / 2, rows.most)
