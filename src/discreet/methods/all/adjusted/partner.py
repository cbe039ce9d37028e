"""Weights that leave nothing of the covariates in a number, the partner, in place of two groups.

A person counts 1/2 of what the covariates leave of the partner, e = y - u b, in widths, cut to -1 and 1. The
coefficients b are those for which these numbers, times the covariates u, add up to about 0: the regression of
Huber (1964), learned privately (docs/proofs/balance.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from discreet.methods.all.adjusted.balance import (
    FINE,
    ROUNDS,
    UP,
    Balance,
    by_person,
    shortened,
    units_of,
)
from discreet.methods.all.rows import Columns
from discreet.methods.all.sums import learners, with_noise
from discreet.methods.all.where import learn_where

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.covariates import Covariates
    from discreet.methods.all.record import Noisy

    Floats = NDArray[np.float64]

_UNITS, _PLACE = 0.5, 0.05  # of the budget: how covariates vary, at most; where the partner lies
_WIDTH = 1.0  # deviations of what is left of the partner, beyond which a person counts no more
_MEAN = 0.8  # the mean size of a normal number of deviation 1, about
_FAR = 2.0  # widths, up to which that size is told
_BESIDE = 0.25  # of the length of covariates, for that size
_NARROW, _WIDE = 0.1, 4.0  # deviations of what is left, in widths: no smaller, no larger
_SHRUNK = 0.3  # no step leaves less of a deviation
_CALM = 3.0  # times what noise in a step makes of it, a width is at least: so that the next step is small
_LEAST = 1e-290


@dataclass(frozen=True, slots=True, eq=False)
class Following(Balance):
    """How covariates and a partner become weights. Learned privately, hence public.

    Attributes
    ----------
    middle, unit : float
        Of the partner: about its mean and deviation.
    width : float
        What is left of the partner counts up to here, in these units.
    """

    middle: float = 0.0
    unit: float = 1.0
    width: float = 1.0

    def left(self, u: Floats, partner: Floats) -> Floats:
        """Return what covariates leave of the partner, in widths; NaN without one."""
        units = (partner - self.middle) / self.unit
        return (units - by_person(u, self.coefficients)) / self.width

    def counts(self, values: Floats, label: Floats) -> Floats:
        """Return what each person counts, at most 1/2 either way; 0 for those who lack something."""
        u, share = self.turned(values)
        return share * _counted(self.left(u, label))

    def levers(self, values: Floats, label: Floats) -> Floats:
        """Return what is left of the partner in widths, cut to -4 and 4; 0 for those who lack something."""
        u, _ = self.turned(values)
        return np.nan_to_num(np.clip(self.left(u, label), -_WIDE, _WIDE), nan=0.0)

    @property
    def beside(self) -> float:
        """What the largest left of a partner counts beside covariates, in their units."""
        return _BESIDE * self.reach

    @property
    def moved(self) -> float:
        """How far one person moves the sum of what people add, in whole numbers."""
        return FINE * math.hypot(self.reach, self.beside) * UP

    def excess(self, values: Floats, label: Floats, kept: Floats | float = 1.0) -> Floats:
        """Return the same for a partner, and beside it how large what is left of it is; (n, p + 2)."""
        u, share = self.turned(values)
        left = self.left(u, label)
        size = np.nan_to_num(np.minimum(np.abs(left) / _FAR, 1.0), nan=0.0)
        each = np.column_stack([(kept * share * _counted(left))[:, None] * u, self.beside * size])
        return np.trunc(FINE * each)

    def stepped(self, told: Noisy, people: float, pace: float = 1.0) -> Self:
        """Return the weights a step further, and as wide as what is left of the partner is then."""
        spread = float(told.sums[-1]) / max(self.beside * people, _LEAST) * _FAR / _MEAN
        spread = min(max(spread, _NARROW), _WIDE)
        slope = 0.5 * people * math.erf(1 / spread / math.sqrt(2)) / self.width
        step = shortened(pace * told.sums[:-1] / slope)
        # A step along a covariate takes its square off what is left, but for what noise makes of it.
        before = (spread * self.width) ** 2
        after = max(before - float(step[1:] @ step[1:]), (_SHRUNK**2) * before)
        unsure = _CALM * math.sqrt(step.size) * float(told.deviation) / slope
        width = _WIDTH * max(math.sqrt(after), unsure)
        return replace(self, coefficients=self.coefficients + step, before=told.sums[:-1], width=width)

    def settled(self, told: Noisy, people: float) -> Self:
        """Return the weights after their last step, as wide as they were."""
        excess, deviation = told.sums[:-1], float(told.deviation)
        last = self.stepped(told, people, self.pace(excess, deviation))
        return replace(last, width=self.width).left_with(excess, deviation)

    @property
    def worth(self) -> float:
        """How much of the partner a lever of 1 is."""
        return self.width * self.unit

    @property
    def overlap(self) -> float:
        """Covariates vary among those compared as they do in all."""
        return 1.0


def _counted(left: Floats) -> Floats:
    return 0.5 * np.nan_to_num(np.clip(left, -1.0, 1.0), nan=0.0)


def learn_following(
    covariates: Covariates, partner: Floats, group: NDArray[np.int8], people: float, rho: float
) -> tuple[Following, float]:
    """Return the weights but for their last step, and what was kept for that; so many have all they need.

    Guarantee: Gaussian(sqrt(2 (rho - kept))).
    """
    partner = np.where(group >= 0, partner, np.nan)
    units, more = units_of(covariates, group, people, _UNITS * rho)
    middle, unit, left = _place(partner, people, _PLACE * rho)
    rest = ((1 - _UNITS - _PLACE) * rho + more + left) * (1 - 2.0**-45)
    parts = (units.centre, units.turn, units.reach, units.coefficients, units.short)
    known = Following(*parts, middle=middle, unit=unit)
    for number, part in enumerate(ROUNDS[:-1]):
        total, width = known.excess(covariates.values, partner).sum(axis=0), known.width
        known = known.stepped(with_noise(total, known.moved, part * rest, 1 / FINE), people)
        # The last two steps are toward the same weights.
        known = known if number < len(ROUNDS) - 2 else replace(known, width=width)
    return known, ROUNDS[-1] * rest


def _place(partner: Floats, people: float, rho: float) -> tuple[float, float, float]:
    """Return about the mean and the deviation of the partner, and what was not spent on them."""
    none, one = np.zeros(0, dtype=np.intp), np.zeros(1, dtype=np.intp)
    columns = Columns(none, none, one, np.zeros(0), np.zeros(0), one)
    some = learners(partner.size)
    values = partner[some][:, None]
    where = learn_where(values, columns, rho, people * len(values) / max(partner.size, 1))
    reach = float(where.scaling.half_width[0])
    middle = float(where.scaling.centre[0]) + (2 * float(where.mean[0]) - 1) * reach
    return middle, max(2 * reach * float(where.scaling.spread[0]), _LEAST), where.unspent
