"""After the draw: z scores, p-values and estimates, from what was told and from public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

from discreet.alternative import toward
from discreet.methods.all.rows import FINE
from discreet.report.parts import Told, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.methods.all.record import Learned, Measured
    from discreet.methods.all.rows import Columns, Rows, Scaling

RATES = "difference of rates"
MEANS = "difference of means"
SIGNS = "difference of shares above 0, less those below"
_LEAST = 1.0  # degrees of freedom
_NO_SIZE = 2.0**-20  # numbers of which nothing but zeros was seen: what is known of them is their sign
_ALIKE = 0.5  # variances of numbers differ by about this share of them


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """One z score for each hypothesis, noise in its variance, its degrees of freedom, and the estimates.

    `error` is the standard error of an estimate, `noise` the part of it that privacy adds, `deviation` the
    standard deviation of the column, in the units of the estimate. `contrast` is sum (y - f) w v among those
    present as if both groups lacked as many entries, of variance `variance` where the groups do not differ.
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
    known: Learned,
    measured: Measured,
    contrasts: NDArray[np.float64],
    noise: NDArray[np.float64],
) -> Results:
    """Return the approximate tier: a t law for (contrast)/(estimated deviation), noise included.

    The contrast is corrected for the second group's true share, and for missing entries that depend on the
    group where the mean of the others is not 0. The variance of all corrections is in that of z.
    """
    groups, share, rows = known.groups, known.share, known.rows
    n = groups.people
    balance = known.shares * (1 - known.shares)
    off = known.off
    off_variance = 0.5 * (groups.deviation / n) ** 2
    present = np.minimum(np.maximum(known.means.present, 1.0), n)
    weight, shift = known.weight, rows.shift / FINE
    # Answers were added up from 0, not from their centre; what their weights came to is taken off.
    weights = _weights(measured, known, off * n, off_variance * n * n)
    sums = measured.sums.sums - shift * weight * n
    mean, doubt = sums / present, measured.sums.deviation / present
    excess, excess_variance = known.uneven, known.uneven_variance
    contrast = contrasts - shift * weights.excess - mean * excess
    lever = known.contrast_of_centres()[1] * weight
    extra = (
        (mean**2 + lever**2) * excess_variance
        + doubt**2 * (excess**2 + excess_variance)
        + shift**2 * weights.variance
    )
    squares, unsure = _squares(measured, known, weight, present, mean, doubt)
    sampling = balance * squares
    variance = sampling + noise + extra
    degrees = np.maximum(2 * (variance / (balance * unsure)) ** 2, _LEAST)
    z = rows.sign * contrast / np.sqrt(variance)
    p = _p_value(toward(z, alternative), degrees, two_sided=alternative == "two-sided")
    # Among those present another share may be in the second group.
    part = np.clip(known.shares + excess / present, 0.5 * share, 0.5 + 0.5 * share)
    kept = _kept(measured, known, weight)
    worth = units(known.scaling, known.columns, known.two_valued)[0] / (rows.scale * kept)
    unit = worth / (part * (1 - part) * present)
    estimate = rows.sign * contrast * unit
    sampling = sampling * _under_the_truth(rows, weight, mean, contrast, part, present)
    off_by = np.hypot(known.means.doubt / present, (1 / kept - 1) / 2)
    error = np.hypot(np.sqrt(sampling + noise + extra) * unit, np.abs(estimate) * off_by)
    deviation = np.sqrt(squares / present) * worth
    return Results(z, degrees, p, estimate, error, np.sqrt(noise) * unit, deviation, contrast, variance)


def _under_the_truth(
    rows: Rows,
    weight: NDArray[np.float64],
    mean: NDArray[np.float64],
    contrast: NDArray[np.float64],
    part: NDArray[np.float64],
    present: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the variance of an answer's contrast over what it is where groups do not differ; 1 for numbers.

    It is ((1-h) s1 + h s0)/s, s1 and s0 the variances of the groups, s that of everybody.
    """
    step = rows.scale * weight
    rate = np.clip(rows.centre + mean / step, 1e-4, 1 - 1e-4)
    apart = contrast / (part * (1 - part) * present * step)
    second, first = (np.clip(rate + by * apart, 1e-4, 1 - 1e-4) for by in (1 - part, -part))
    ratio = ((1 - part) * second * (1 - second) + part * first * (1 - first)) / (rate * (1 - rate))
    return np.where(rows.answers, ratio, 1.0)


def _kept(measured: Measured, known: Learned, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return about what clipping leaves of an entry: of answers by what their sums came to, all together.

    Estimates allow for a weight that is off by half of what clipping takes: it may take more in one group.
    """
    rows = known.rows
    if not rows.positive.any():
        return weight
    rate = np.where(rows.turned, 1 - known.means.mean, known.means.mean)
    whole = float(np.sum((rate * rows.scale)[rows.positive])) * known.groups.people
    share = np.clip(float(np.sum(measured.sums.sums[rows.positive])) / max(whole, 1e-9), 0.3, 1.0)
    return np.where(rows.positive, np.minimum(share, weight), weight)


def _squares(
    measured: Measured,
    known: Learned,
    weight: NDArray[np.float64],
    present: NDArray[np.float64],
    mean: NDArray[np.float64],
    doubt: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sum (w (v - mean))^2 over those present, and the deviation of the noise in it.

    Of answers, which are 0 or `scale`, it follows from their mean; of numbers from squares.
    """
    rows = known.rows
    about = np.maximum(measured.squares.sums - mean**2 * present, 0.0)
    unsure = np.full(about.size, measured.squares.deviation)
    # Columns of numbers are scaled alike: rows as long as they are leave each about this.
    signed = ~rows.positive
    energy = known.norms[1].energy(known.balls.signed) / FINE**2 / max(np.count_nonzero(signed), 1)
    typical = float(np.mean(present[signed])) if signed.any() else 1.0
    usual = energy * known.groups.people * present / typical
    about = (about * usual**2 + usual * (unsure / _ALIKE) ** 2) / (usual**2 + (unsure / _ALIKE) ** 2)
    unsure = 1 / np.hypot(1 / unsure, 1 / (_ALIKE * usual))
    size, middle = np.minimum(rows.scale, rows.most), rows.middle / FINE
    # A rate is at least what one person would make of it; where little is known of it, about one half.
    level = np.clip(middle + mean / weight, size / present, size * (1 - 1 / present))
    level = size / 2 + (level - size / 2) / (1 + (4 * doubt / size) ** 2)
    follows = weight**2 * present * level * (size - level)
    error = np.hypot(weight * np.abs(size - 2 * level) * doubt, doubt**2) * present
    error = np.minimum(error, weight**2 * present * size**2 / 8)
    return np.where(rows.answers, follows, about), np.where(rows.answers, error, unsure)


@dataclass(frozen=True, slots=True, eq=False)
class _Excess:
    """A sum of (y - f) that ought to be 0 but may not be, and what is not known of it, squared."""

    excess: NDArray[np.float64]
    variance: NDArray[np.float64]


def _weights(measured: Measured, known: Learned, expected: float, doubt: float) -> _Excess:
    """Return sum (y - f) w, which entries that are never negative add to their contrasts.

    Before it is measured it is known from the sizes of the groups, with the variance `doubt`, but for what
    clipping takes from one group more than from the other: taken to be a third of what it takes in all. Both
    are put together by inverse variance. The error is the same for all columns, so it must be small.
    """
    weight = known.norms[0].mean_weight(known.balls.positive)
    unseen = (1 - weight) / 3 * known.groups.people * known.share * (1 - known.share)
    before = doubt * weight**2 + unseen**2
    if before == 0 or measured.weights.deviation == 0:
        return _Excess(np.array([expected * weight]), np.array([before]))
    part = before / (before + measured.weights.deviation**2)
    return _Excess(
        expected * weight + part * (measured.weights.sums - expected * weight),
        np.array([before * (1 - part)]),
    )


def _p_value(
    stronger: NDArray[np.float64], degrees: NDArray[np.float64], *, two_sided: bool
) -> NDArray[np.float64]:
    tail = np.asarray(stdtr(degrees, -stronger), dtype=np.float64)
    return np.minimum(2 * tail, 1.0) if two_sided else tail


def units(
    scaling: Scaling, columns: Columns, two_valued: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return what the whole range of each column's entries is worth, and what differences are called.

    Rates of answers, also where they are written as 0 and 1, and means of numbers: of numbers cut to the
    range that was learned, which the name then says, unless it has all of the bounds inside. Where nearly all
    are 0 and no size was seen, what is compared is their signs.
    """
    unit = np.ones(scaling.centre.size)
    names = [RATES] * unit.size
    bounds = dict(zip(columns.bounded.tolist(), zip(columns.low, columns.high, strict=True), strict=True))
    for place in columns.numbers.tolist():
        centre, reach = float(scaling.centre[place]), float(scaling.reach[place])
        low, high = bounds.get(place, (-np.inf, np.inf))
        zero, one = (min(max(0.5 + (x - centre) / reach / 2, 0.0), 1.0) for x in (0.0, 1.0))
        if two_valued is not None and two_valued[place] and one > zero:
            unit[place] = 1 / (one - zero)
            continue
        if low < 0 < high and abs(centre) <= reach < _NO_SIZE:
            unit[place], names[place] = 2.0, SIGNS
            continue
        unit[place] = 2 * reach
        inside = centre - reach <= low and centre + reach >= high
        ends = f"{max(centre - reach, low):.4g} to {min(centre + reach, high):.4g}"
        names[place] = MEANS if inside else f"{MEANS}, cut to {ends}"
    return unit, tuple(names)
