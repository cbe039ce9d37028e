"""Weights that make two groups alike in their covariates, learned privately.

A person of the second group counts 1/2 min(1, e^-eta), one of the first -1/2 min(1, e^eta), eta = u b being
the logarithm of the odds of the second group: matching weights. The coefficients b are those for which these
numbers, times the covariates u, add up to about 0 (docs/proofs/balance.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from discreet.methods.all.rows import Columns
from discreet.methods.all.sums import learners, with_noise
from discreet.methods.all.where import learn_where

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.covariates import Covariates
    from discreet.methods.all.record import Noisy

    Floats = NDArray[np.float64]

STEPS = 2**13
"""Whole numbers to one, for what a person counts."""
HALF = STEPS // 2
"""No one counts more."""
FINE = 2**10
"""Whole numbers to one deviation of a covariate."""
_UNITS, _WHERE = 0.55, 0.18  # of the budget for units, at most; of that for where covariates lie
_LOOKS = 3  # at how covariates vary together, at most
_SEEN = 1.8  # times its noise: a variance that needs no closer look
_DOUBT = 0.33  # about the noise in such variances that is aimed at
_SURELY = 0.1  # of a variance there is, at least
ROUNDS = (0.08, 0.14, 0.28, 0.5)
"""Of what is left, for each step toward balance; the last says how good it is."""
FARTHEST = 1.5
"""No step is longer, in deviations of eta."""
_LARGEST = 30.0  # of eta: beyond, a person counts nothing
LEFT = 1.3
"""Times the variance of the last step's noise is left of imbalance, since steps are not exact."""
_ASTRAY = 5.8  # deviations of the last step's noise, 3.5 of both: more than exact steps leave before it
_NOISIER = math.sqrt(ROUNDS[-1] / ROUNDS[-2])  # is what the step before was told than the last
_SLOWEST = 0.7  # of what was out of balance a step leaves, at most
NARROWEST = 1e-6
"""No deviation of a covariate is taken to be smaller, bounds being -1 and 1."""
UP = 1 + 2.0**-40
"""For the rounding of floats."""
_NODES, _CHANCES = np.polynomial.hermite_e.hermegauss(41)


@dataclass(frozen=True, slots=True, eq=False)
class Balance:
    """How covariates become weights. Learned privately, hence public.

    Attributes
    ----------
    centre, turn : arrays of float64, shape (p,) and (p, p)
        u = (1, (covariates - centre) @ turn): about of mean 0, deviation 1, and uncorrelated.
    reach : float
        People with a longer u count less, in proportion; infinite where covariates are public.
    coefficients : array of float64, shape (p + 1,)
        Those of u, for the logarithm of the odds.
    short : array of float64, shape (p + 1,)
        By which share steps along each coefficient may be too short, u having so much less variance than 1.
    before : array of float64, shape (p + 1,)
        By what covariates were out of balance before the last step, as it was told.
    imbalance : float
        The variance of what a column of deviation 1 that follows the covariates exactly adds to its contrast.
    """

    centre: Floats
    turn: Floats
    reach: float
    coefficients: Floats
    short: Floats
    before: Floats | None = None
    imbalance: float = 0.0

    def turned(self, values: Floats) -> tuple[Floats, Floats]:
        """Return u of some people, 0 where a covariate is missing, and what their length leaves to them."""
        u = np.column_stack([np.ones(len(values)), by_person(values - self.centre, self.turn)])
        u = np.nan_to_num(u, nan=0.0)
        return u, np.minimum(1.0, self.reach / np.sqrt(squared_lengths(u) + 1e-300))

    def counts(self, values: Floats, label: NDArray[Any]) -> Floats:
        """Return what each person counts, at most 1/2 either way; 0 for people in neither group."""
        u, share = self.turned(values)
        return share * counted(by_person(u, self.coefficients), label)

    def whole(self, values: Floats, label: NDArray[Any]) -> NDArray[np.int64]:
        """Return the same in whole numbers of 1/STEPS."""
        return np.trunc(STEPS * self.counts(values, label)).astype(np.int64)

    @property
    def moved(self) -> float:
        """How far one person moves the sum of what people add, in whole numbers."""
        return FINE * self.reach * UP

    def excess(self, values: Floats, label: NDArray[Any], kept: Floats | float = 1.0) -> Floats:
        """Return what each person adds to what covariates are out of balance by, whole numbers; (n, p + 1).

        `kept` is what clipping leaves of each one's row, a share.
        """
        u, share = self.turned(values)
        count = share * counted(by_person(u, self.coefficients), label)
        return np.trunc(FINE * (kept * count)[:, None] * u)

    def stepped(self, told: Noisy, people: float, pace: float = 1.0) -> Self:
        """Return the balance a step further, by what `people` who count in full added with noise."""
        slopes = people * _expected_slopes(self.coefficients)
        step = shortened(pace * np.asarray(np.linalg.solve(slopes, told.sums), dtype=np.float64))
        return replace(self, coefficients=self.coefficients + step, before=told.sums)

    def settled(self, told: Noisy, people: float) -> Self:
        """Return the balance after its last step."""
        pace = self.pace(told.sums, float(told.deviation))
        return self.stepped(told, people, pace).left_with(told.sums, float(told.deviation))

    def pace(self, excess: Floats, deviation: float) -> float:
        """Return how much longer than others the last step is to be: one over the share the step before took.

        Labels that do not follow the covariates as is supposed may fall out of balance more slowly. What
        noise may have made of it counts as if the step had arrived.
        """
        if self.before is None:
            return 1.0
        noise = self.before.size * (_NOISIER * deviation) ** 2
        left = float(excess @ self.before) / (float(self.before @ self.before) + noise)
        return 1 / (1 - min(max(left, 0.0), _SLOWEST))

    def left_with(self, excess: Floats, deviation: float) -> Self:
        """Return the balance with the variance of what is left of imbalance.

        It is the noise in the last step, and a little more; and what that step left where it was too short,
        which counts for more there: a column can follow what hardly varies the more steeply. An excess that
        stands clear of all noise says that steps do not arrive, and nothing says that the last one did.
        """
        before = np.maximum(excess**2 - deviation**2, 0.0)
        share = np.where(before > (_ASTRAY * deviation) ** 2, 1.0, self.short**2)
        missed = float((share / (1 - self.short)) @ before)
        return replace(self, imbalance=LEFT * deviation**2 + missed)

    @property
    def worth(self) -> float:
        """How far apart groups are whose labels differ by 1."""
        return 1.0

    @property
    def overlap(self) -> float:
        """How much covariates vary among those compared, squared, to how much they do in all; if normal."""
        slope = float(np.linalg.norm(self.coefficients[1:]))
        weight = _squared(self.coefficients[0] + slope * _NODES) * _CHANCES
        return float(min(weight @ _NODES**2 / max(weight.sum(), 1e-300), 1.0))


def by_person(table: Floats, weights: Floats) -> Floats:
    """Return table @ weights, each person by the same operations in the same order.

    A product of matrices may round a row by where it stands in the table, and somebody who is replaced may
    move all others by a place.
    """
    total = np.zeros((len(table), *weights.shape[1:]))
    for column, weight in zip(table.T, weights, strict=True):
        total += np.multiply.outer(column, weight)
    return total


def squared_lengths(table: Floats) -> Floats:
    """Return the squared length of each person's row, likewise."""
    ones: Floats = np.ones(int(table.shape[1]))
    return by_person(table * table, ones)


def counted(eta: Floats, group: NDArray[np.int8]) -> Floats:
    """Return what people with these log odds count; shape (n,)."""
    eta = np.clip(eta, -_LARGEST, _LARGEST)
    second, first = np.minimum(1.0, np.exp(-eta)), np.minimum(1.0, np.exp(eta))
    return 0.5 * np.where(group == 1, second, np.where(group == 0, -first, 0.0))


def slopes_of(eta: Floats) -> Floats:
    """Return how fast the mean of what people count falls in eta, if eta is their log odds."""
    return 0.5 / (1 + np.exp(np.abs(eta)))


def _squared(eta: Floats) -> Floats:
    """Return the mean square of what people count."""
    return 0.25 * np.exp(-np.abs(eta))


def reach_for(covariates: int) -> float:
    """Return the length of u beyond which people count less: few normal ones are longer."""
    return math.sqrt(1 + covariates + math.sqrt(2 * covariates))


def budget_for_units(covariates: int, people: float) -> float:
    """Return the least budget for a balance that shows how so many covariates vary together."""
    doubt = 2 * math.sqrt(2 * covariates) * reach_for(covariates) ** 2 / max(people, 1.0)
    return (doubt / _DOUBT) ** 2 / 2 / (_UNITS * (1 - _WHERE) / _LOOKS)


def units_of(
    covariates: Covariates, group: NDArray[np.int8], people: float, rho: float
) -> tuple[Balance, float]:
    """Return the units of u, and what was not spent on them: most of it where one look at them is enough.

    Guarantee: Gaussian(sqrt(2 (rho - left))), `left` being what is left; which may depend on what was told.
    """
    p = covariates.answers.size
    reach = reach_for(p)
    part = rho * (1 - _WHERE) / _LOOKS
    centre, scale, left = _where(covariates, people, _WHERE * rho)
    balance = Balance(centre, np.diag(1 / scale), reach, np.zeros(p + 1), np.zeros(p + 1))
    for number in range(1, _LOOKS + 1):
        mean, moments, doubt = _moments(balance, covariates.values, group, people, part + left)
        left = 0.0
        centre = balance.centre + np.linalg.solve(balance.turn.T, mean)
        size, axes = np.linalg.eigh(moments)
        turn = balance.turn @ (axes / np.sqrt(np.maximum(size, doubt)))
        # Along directions whose variance may be lost in the noise, steps are too short.
        surely = np.clip((size - doubt / 2) / np.maximum(size, doubt), _SURELY, 1.0)
        balance = replace(balance, centre=centre, turn=turn, short=np.append(0.0, 1 - surely))
        if size.min() >= _SEEN * doubt:
            return balance, (_LOOKS - number) * part
    return balance, 0.0


def learn_balance(
    covariates: Covariates, group: NDArray[np.int8], people: float, rho: float
) -> tuple[Balance, float]:
    """Return the balance but for its last step, and what was kept for that; about so many are in a group.

    Guarantee: Gaussian(sqrt(2 (rho - kept))).
    """
    balance, left = units_of(covariates, group, people, _UNITS * rho)
    rest = ((1 - _UNITS) * rho + left) * (1 - 2.0**-45)
    for part in ROUNDS[:-1]:
        total = balance.excess(covariates.values, group).sum(axis=0)
        balance = balance.stepped(with_noise(total, balance.moved, part * rest, 1 / FINE), people)
    return balance, ROUNDS[-1] * rest


def shortened(step: Floats) -> Floats:
    """Return a step no longer than the longest that is taken."""
    return step * min(1.0, FARTHEST / max(float(np.linalg.norm(step)), 1e-12))


def _where(covariates: Covariates, people: float, rho: float) -> tuple[Floats, Floats, float]:
    """Return a centre and about the deviation of each covariate, and what was not spent on them."""
    p = covariates.answers.size
    centre, scale = np.zeros(p), np.ones(p)
    at = np.flatnonzero(~covariates.answers)
    if not at.size:
        return centre, scale, rho
    none = np.zeros(0, dtype=np.intp)
    ends = np.ones(at.size)
    columns = Columns(none, np.arange(at.size), none, -ends, ends, np.arange(at.size))
    some = learners(len(covariates.values))
    values = covariates.values[some][:, at]
    where = learn_where(values, columns, rho, people * len(values) / max(len(some), 1))
    # Ranges may be as wide as the bounds: what is wanted is the mean.
    centre[at] = where.scaling.centre + (2 * where.mean - 1) * where.scaling.half_width
    scale[at] = np.maximum(2 * where.scaling.half_width * where.scaling.spread, NARROWEST)
    return centre, scale, where.unspent


def _moments(
    first: Balance, values: Floats, group: NDArray[np.int8], people: float, rho: float
) -> tuple[Floats, Floats, float]:
    """Return the mean and the second moments of covariates, of long rows shortened; and the noise in them.

    The products of two people's entries have a scalar product of at least 0, so that they are sqrt(2) reach^2
    apart at most; rounding adds a step for each of them.
    """
    u, share = first.turned(values)
    u *= (share * (group >= 0))[:, None]
    rows, columns = np.triu_indices(u.shape[1])
    weight = np.where(rows == columns, 1.0, math.sqrt(2))
    total = np.zeros(rows.size)
    for part in np.array_split(u, max(1, u.size // 2**18)):
        total += np.trunc(part[:, rows] * part[:, columns] * (weight * FINE)).sum(axis=0)
    moved = math.sqrt(2) * FINE * first.reach**2 + 2 * math.sqrt(rows.size)
    noisy = with_noise(total, moved * UP, rho, 1 / FINE)
    table = np.zeros((u.shape[1], u.shape[1]))
    table[rows, columns] = noisy.sums / weight / people
    table = table + np.triu(table, 1).T
    mean = table[0, 1:]
    doubt = 2 * float(noisy.deviation) * math.sqrt(mean.size) / people
    return mean, table[1:, 1:] - np.outer(mean, mean), min(max(doubt, 1e-6), 1.0)


def _expected_slopes(coefficients: Floats) -> Floats:
    """Return how fast the mean of u times what people count falls in b, if u is normal."""
    slope = float(np.linalg.norm(coefficients[1:]))
    weight = slopes_of(coefficients[0] + slope * _NODES) * _CHANCES / _CHANCES.sum()
    zero, one, two = (float(weight @ _NODES**power) for power in range(3))
    along = np.concatenate([[0.0], coefficients[1:] / max(slope, 1e-12)])
    first = np.eye(coefficients.size)[0]
    table = zero * np.eye(coefficients.size) + one * (np.outer(first, along) + np.outer(along, first))
    return table + (two - zero) * np.outer(along, along)
