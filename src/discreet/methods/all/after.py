"""After the draw: z scores, p-values and estimates, from what was told and from public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

from discreet.methods.all.rows import FINE, can_be_cut
from discreet.methods.all.spread import (
    excess_of,
    kept_of,
    rate_of,
    spread_of,
    squares_of_answers,
)
from discreet.report.parts import Told, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.methods.all.record import Learned, Measured
    from discreet.methods.all.rows import Columns, Rows, Scaling

    Floats = NDArray[np.float64]

RATES = "difference of rates"
MEANS = "difference of means"
OF_ZEROS_AND_ONES = ": of rates, if all are 0 or 1"
ZEROS_AND_ONES = "difference of rates, if all are 0 or 1"
SIGNS = "difference of shares above 0, less those below"
_LEAST = 1.0  # degrees of freedom
_CLEAR = 2.5  # deviations of its noise, from which on a difference is clear
_CUT = 0.15  # about by how much the shares of both groups' numbers that are cut differ
# Of the mean difference of all columns between the groups, what rows' centres do not take off: of those that
# are not clear, in deviations; and of those that are, a share, since numbers that are cut are lopsided there.
_UNCLEAR, _UNTAKEN = 0.07, 0.22
_ROUGH = 0.3  # of it, what clipping takes from answers in one group more than in the other may be off


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """One z score for each hypothesis, noise in its variance, its degrees of freedom, and the estimates.

    `z` is larger the more it speaks for the alternative: |z| where that is two-sided. `error` is the standard
    error of an estimate, `noise` the part of it that privacy adds, `deviation` the standard deviation of the
    column, in the units of the estimate. `contrast` is sum (y - f) w v among those present as if both groups
    lacked as many entries, of variance `variance` where the groups do not differ.
    """

    z: NDArray[np.float64]
    degrees: NDArray[np.float64]
    p: NDArray[np.float64]
    estimate: NDArray[np.float64]
    error: NDArray[np.float64]
    noise: NDArray[np.float64]
    deviation: NDArray[np.float64]
    contrast: NDArray[np.float64]
    variance: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """What the columns of some people came to; public."""

    names: tuple[str, ...]
    effects: tuple[str, ...]
    results: Results
    p: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: Sequence[Tested]) -> Tested:
        """Return what several subgroups came to, one after the other."""
        if len(parts) == 1:
            return parts[0]
        columns = (
            np.concatenate([getattr(part.results, field.name) for part in parts]) for field in fields(Results)
        )
        return cls(
            tuple(name for part in parts for name in part.names),
            tuple(effect for part in parts for effect in part.effects),
            Results(*columns),
            np.concatenate([part.p for part in parts]),
        )

    def told(self, places: NDArray[np.intp], procedure: str) -> Told:
        """Return the record of it; `places` are those of the columns among all hypotheses."""
        results = self.results
        numbers = (results.estimate, results.error, results.degrees, self.p)
        where = places.astype(np.int64)
        return Told(where, self.names, self.effects, *numbers, procedure, deviation=results.deviation)

    def values(self, places: NDArray[np.intp]) -> Values:
        """Return the estimates at these places, with their noise."""
        kinds = {self.effects[int(place)] for place in places}
        name = kinds.pop() if len(kinds) == 1 else "difference"
        return Values(name, self.results.estimate[places], self.results.noise[places])


def results(
    alternative: Alternative,
    learned: Learned,
    measured: Measured,
    contrasts: NDArray[np.float64],
    noise: NDArray[np.float64],
) -> Results:
    """Return the approximate tier: a t law for (contrast)/(estimated deviation), noise included.

    The contrast is corrected for the second group's true share, and for missing entries that depend on the
    group where the mean of the others is not 0. The variance of all corrections is in that of z.
    """
    rows, f = learned.rows, learned.shares
    n = learned.groups.people
    present = np.minimum(np.maximum(learned.means.present, 1.0), n)
    weight, shift = learned.weight, rows.shift / FINE
    of_answers = kept_of(learned, measured)
    weights, kept = of_answers.weights, np.where(rows.positive, of_answers.given, weight)
    group_weights, retained = learned.group_weights, learned.retained
    centres_apart, lever, sums_of_centres = learned.contrast_of_centres(group_weights)
    # Answers were added up from 0, not from their centre; what their weights came to is taken off.
    sums = measured.sums.sums - shift * weight * n + sums_of_centres
    mean, mean_sd = sums / present, measured.sums.deviation / present
    contrasts = contrasts - shift * weights.excess
    # Among those present another share may be in the second group.
    part = np.clip(f + learned.uneven / present, 0.5 * learned.share, 0.5 + 0.5 * learned.share)
    group_sizes = ((1 - part) * present, part * present)
    difference = _difference_of_means(learned, contrasts - centres_apart, mean, noise)
    # Rather too much than too little is taken to be left of answers, for their variance grows with it.
    most = np.minimum(kept * (1 + of_answers.error), weight)
    answers = squares_of_answers(rows, weight, group_sizes[0] + group_sizes[1], mean, mean_sd, most)
    spread = spread_of(learned, measured, group_weights, group_sizes, mean, difference, answers)
    first, second = (
        np.where(rows.positive, *kept_of_answers)
        for kept_of_answers in zip(of_answers.of_given, group_weights, strict=True)
    )
    excess = excess_of(group_sizes, (first, second), f)
    # What is left of answers that were given is not what is left of people: less where more are given.
    tilted_answers = shift * weight * (excess - excess_of(group_sizes, of_answers.of_people, f))
    contrasts = contrasts - tilted_answers
    # With what numbers beyond their range add: about as much in all columns as all of them together say.
    may_be = can_be_cut(learned.columns, learned.scaling, rows)
    within_range = [np.where(may_be, share, 1.0) for share in retained.within_range]
    usual = excess_of(group_sizes, (first * within_range[0], second * within_range[1]), f)
    own = excess_of(group_sizes, (first * spread.within_range[0], second * spread.within_range[1]), f)
    trust = 1 / (1 + np.square(spread.vague / _CUT))
    cut = usual + trust * (own - usual)
    beyond = np.square(f * (1 - f) * present) * (trust * np.square(spread.vague) + np.square(spread.narrow))
    unknown = learned.uneven_variance
    kept_within_range = weight * ((1 - f) * within_range[0] + f * within_range[1])
    tilted = np.where(rows.positive, 0.0, f * (1 - f) * present * retained.unsure / kept_within_range) ** 2
    extra = (
        mean**2 * (unknown + tilted + beyond)
        + lever**2 * unknown
        + mean_sd**2 * (np.maximum(excess**2, cut**2) + unknown + tilted + beyond)
        + shift**2 * weights.variance
        + np.square(_ROUGH * tilted_answers)
        + np.where(rows.positive, 0.0, np.square(f * (1 - f) * present * weight * _drift_of(learned)))
    )
    # Centres are compared: where more of one group's numbers are cut, its mean is less far from 0.
    contrast = contrasts - mean * cut
    variance = spread.variance(f + cut / present) + noise + extra
    degrees = np.maximum(2 * (variance / spread.unsure) ** 2, _LEAST)
    z, p = tested(rows.sign * contrast / np.sqrt(variance), degrees, alternative)
    worth = units(learned.scaling, learned.columns, rows)[0] / rows.scale
    unit = worth * (1 / (group_sizes[0] * first) + 1 / (group_sizes[1] * second))
    estimate = rows.sign * (contrasts - mean * excess) * unit
    truly = _under_the_truth(rows, rate_of(rows, weight, mean, kept), kept, contrast, part, present)
    sampling = spread.variance(f + excess / present) * truly
    # What is not known of how many are present, and in which group; of what clipping leaves.
    unsure = np.sqrt(unknown) * np.abs(1 / group_sizes[0] - 1 / group_sizes[1])
    off_by = np.hypot(np.hypot(learned.means.present_sd / present, unsure), (1 / kept - 1) / 2)
    off_by = np.hypot(off_by, np.where(rows.positive, of_answers.error, 0.0))
    error = np.hypot(np.sqrt(sampling + noise + extra) * unit, np.abs(estimate) * off_by)
    deviation = np.sqrt((spread.squares[0] + spread.squares[1]) / present) * worth / kept
    return Results(z, degrees, p, estimate, error, np.sqrt(noise) * unit, deviation, contrast, variance)


def _drift_of(learned: Learned) -> float:
    """Return about how far clipping moves the mean of a column in one group, in the units of rows.

    It weighs a column by the others: where these differ between the groups and go with it, its mean moves by
    the share of the rows that are clipped, times the correlation, times what centres do not take off of the
    difference. That columns go together makes rows of unlike length.
    """
    rows, norms, ball, signed = learned.rows, learned.norms[1], learned.balls.signed, ~learned.rows.positive
    columns = max(int(np.count_nonzero(signed)), 1)
    if np.isinf(ball.radius) or columns == 1:
        return 0.0
    squared = norms.norm**2
    uneven = float(norms.share @ squared**2) / float(norms.share @ squared) ** 2 - 1
    # Of columns that do not go together: as fourth moments say, those of numbers as if they were normal.
    rate = np.clip(rows.centre, 1 / learned.groups.people, 1 - 1 / learned.groups.people)
    there = np.clip(learned.means.present / learned.groups.people, 0.01, 1.0)
    second = np.where(rows.answers, rate * (1 - rate), learned.scaling.spread**2) * rows.scale**2 * there
    fourth = np.where(rows.answers, 1 / (rate * (1 - rate)) - 3, 3.0) / there
    usual = float(np.sum((second**2 * (fourth - 1))[signed])) / max(float(np.sum(second[signed])) ** 2, 1e-9)
    correlation = np.sqrt(max(uneven - usual, 0.0) / 2)
    clipped = float(norms.share @ (squared > ball.room))
    difference = float(np.sum(np.abs(learned.difference))) / columns
    return clipped * correlation * (_UNCLEAR + _UNTAKEN * difference)


def _difference_of_means(learned: Learned, contrasts: Floats, mean: Floats, noise: Floats) -> Floats:
    """Return how far the groups' means of rows are apart, drawn toward 0 by the noise in that."""
    size = learned.shares * (1 - learned.shares) * learned.means.present * learned.weight
    difference = (contrasts - mean * learned.uneven) / size
    return difference * np.maximum(1 - noise / size**2 / np.maximum(difference**2, 1e-30), 0.0)


def _under_the_truth(
    rows: Rows, rate: Floats, kept: Floats, contrast: Floats, part: Floats, present: Floats
) -> Floats:
    """Return the variance of an answer's contrast over what it is where groups do not differ; 1 for numbers.

    It is ((1-h) s1 + h s0)/s, s1 and s0 the variances of the groups, s that of everybody.
    """
    rate = np.clip(rate, 1e-4, 1 - 1e-4)
    difference = contrast / (part * (1 - part) * present * rows.scale * kept)
    second, first = (np.clip(rate + by * difference, 1e-4, 1 - 1e-4) for by in (1 - part, -part))
    ratio = ((1 - part) * second * (1 - second) + part * first * (1 - first)) / (rate * (1 - rate))
    return np.where(rows.answers, ratio, 1.0)


def clear_difference(
    contrast: NDArray[np.float64],
    deviation: NDArray[np.float64] | float,
    size: NDArray[np.float64],
    positive: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return how far apart the groups are in each column, where that is clear from a contrast; 0 elsewhere.

    A contrast is `size` times the difference, but for its noise. Differences are drawn toward 0 as far as
    they are not known: columns are in deviations, of which groups are rarely more than one apart. A centre
    that is off by much would take the whole length of its row, and clipping the rest.
    """
    z, size_in_noise = contrast / deviation, np.maximum(size, 1e-9) / deviation
    clear = (np.abs(z) > _CLEAR) & ~positive
    sure = (1 - 1 / np.maximum(z * z, 1.0)) / (1 + 1 / size_in_noise**2)
    return np.where(clear, sure * z / size_in_noise, 0.0)


def tested(z: Floats, degrees: Floats, alternative: Alternative) -> tuple[Floats, Floats]:
    """Return z so that larger is stronger, and its p-value by a t law with so many degrees of freedom."""
    z = {"two-sided": np.abs(z), "greater": z, "less": -z}[alternative]
    tail = np.asarray(stdtr(degrees, -z), dtype=np.float64)
    return z, np.minimum(2 * tail, 1.0) if alternative == "two-sided" else tail


def units(
    scaling: Scaling, columns: Columns, rows: Rows | None = None
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return what the whole range of each column's entries is worth, and what differences are called.

    Rates of answers, and means of numbers: of numbers cut to the range that was learned, and to what rows let
    through of it, which the name then says, unless it has all of the bounds inside. Where nearly all are 0
    and no size was seen, what is compared is their signs.
    """
    unit = np.ones(scaling.centre.size)
    with np.errstate(all="ignore"):  # a range may be as wide as there are numbers
        unit[columns.numbers] = 2 * scaling.half_width[columns.numbers]
    zero_to_one, signs = scaling.zero_to_one(columns), scaling.signs(columns)
    names = [RATES] * unit.size
    with np.errstate(all="ignore"):
        low, high = scaling.centre - scaling.half_width, scaling.centre + scaling.half_width
        if rows is not None:
            let, middle = (
                2 * scaling.half_width * rows.most / rows.scale,
                low + 2 * scaling.half_width * rows.centre,
            )
            low, high = np.maximum(low, middle - let), np.minimum(high, middle + let)
    for place, least, most in zip(columns.bounded.tolist(), columns.low, columns.high, strict=True):
        ends = f"{max(low[place], least):.4g} to {min(high[place], most):.4g}"
        whole = low[place] <= least and high[place] >= most
        names[place] = MEANS if whole else f"{MEANS}, cut to {ends}"
    for place in columns.free.tolist():
        names[place] = f"{MEANS}, cut to {low[place]:.4g} to {high[place]:.4g}"
        if zero_to_one[place] and low[place] <= 0 and high[place] >= 1:
            names[place] += OF_ZEROS_AND_ONES
        elif zero_to_one[place]:  # rows let less through: of two values, a share of their distance
            names[place] = ZEROS_AND_ONES
            unit[place] /= max(min(high[place], 1.0) - max(low[place], 0.0), 1e-9)
        if signs[place]:
            unit[place], names[place] = 2.0, SIGNS
    return unit, tuple(names)
