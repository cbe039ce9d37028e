"""After the draw: z scores, p-values and estimates of an adjusted comparison, from what was told alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.after import MEANS, Results, tested, units
from discreet.methods.all.record import alike
from discreet.methods.all.rows import FINE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.methods.all.adjusted.measure import Learned, Measured

    Floats = NDArray[np.float64]

_LEAST = 1.0  # degrees of freedom
_ALIKE = 0.5  # variances of numbers differ by about this share of them
_FEWEST = 2.0  # people compared, at least


def results(alternative: Alternative, known: Learned, told: Measured) -> Results:
    """Return a t law for contrast / deviation: sampling, noise, and what is left of imbalance included.

    The contrast is corrected for entries that are missing more in one group, where the mean of the others is
    not 0. A column that follows the covariates adds imbalance: by what slopes leave of them, or by what
    exceeds the variance with them that was counted as sampling.
    """
    rows, groups = known.rows, known.groups
    there = np.clip(known.means.present / groups.people, 1 / groups.people, 1.0)
    size = there * max(float(told.size.sums[0]), _FEWEST)
    size_squared = there * max(float(told.size_squared.sums[0]), _FEWEST / 4)
    mean, doubt = told.sums.sums / size, told.sums.deviation / size
    usual = np.maximum(1 - there, known.means.present_sd / groups.people) * float(told.size.sums[0])
    question = known.columns.question
    first = np.unique(question, return_index=True)[1]
    excess, unknown = (each[question] for each in alike(told.missing, usual[first]))
    unknown = unknown + known.balance.imbalance
    contrast = told.contrast.sums + mean * excess
    extra = mean**2 * unknown + doubt**2 * (excess**2 + unknown)
    sampling, unsure = _squares(known, told, size_squared, mean)
    # A column adds imbalance by what is left in it of the covariates: by their slopes, or at most by all.
    imbalance = known.balance.imbalance
    beyond = max(imbalance - known.balance.overlap * float(told.size_squared.sums[0]), 0.0)
    left = np.minimum(beyond * sampling / size_squared, imbalance * known.residual.unknown)
    extra = extra + there * left
    noise = np.full(contrast.size, told.contrast.deviation**2)
    variance = sampling + noise + extra
    degrees = np.maximum(2 * (variance / unsure) ** 2, _LEAST)
    z, p = tested(rows.sign * contrast / np.sqrt(variance), degrees, alternative)
    worth = units(known.scaling, known.columns)[0] / (rows.scale * known.weight)
    lever = there * max(float(told.lever.sums[0]), _FEWEST / 2)
    unit = worth / lever / known.balance.worth
    estimate = rows.sign * contrast * unit
    off_by = np.hypot(told.lever.deviation / lever, (1 / known.weight - 1) / 2)
    error = np.hypot(np.sqrt(variance) * unit, np.abs(estimate) * off_by)
    deviation = np.sqrt(sampling / size_squared) * worth
    return Results(z, degrees, p, estimate, error, np.sqrt(noise) * unit, deviation, contrast, variance)


def effects_of(known: Learned) -> tuple[str, ...]:
    """Return what differences are called: of numbers, beyond which distance from the usual they are cut."""
    unit, names = units(known.scaling, known.columns)
    named = list(names)
    still = known.scaling.zero_to_one(known.columns) | known.scaling.signs(known.columns)
    ends = known.residual.ends / FINE * unit / known.rows.scale
    for place in known.columns.numbers[~still[known.columns.numbers]].tolist():
        named[place] = f"{MEANS}, what covariates leave cut to +-{ends[place]:.4g}"
    return tuple(named)


def _squares(known: Learned, told: Measured, size_squared: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """Return sum (r w (v - mean))^2 over those present, and the deviation of the noise in it.

    It was told; where that says little, it is about what rates say of answers, and alike for all numbers.
    """
    rows, weight = known.rows, known.weight
    about = np.maximum(told.squares.sums - mean**2 * size_squared, 0.0)
    unsure = np.full(about.size, told.squares.deviation)
    # Rows as long as they are leave each number about this.
    energy = known.norms.energy(known.balls.signed) / FINE**2
    step, level = np.minimum(rows.scale, rows.most), rows.middle / FINE
    rarest = step * np.minimum(0.25 / size_squared, 0.5)
    level = np.clip(level, rarest, step - rarest)
    answers = np.where(rows.answers, weight**2 * level * (step - level), 0.0)
    numbers = max(energy - float(answers.sum()), energy / 4) / max(np.count_nonzero(~rows.answers), 1)
    usual = np.where(rows.answers, answers, numbers) * size_squared
    trust = usual**2 / (usual**2 + (unsure / _ALIKE) ** 2)
    return trust * about + (1 - trust) * usual, 1 / np.hypot(1 / unsure, 1 / (_ALIKE * usual))
