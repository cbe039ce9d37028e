"""What covariates leave of a person's row: slopes are learned privately, taken off, and the rest is cut.

Nothing is cut before: a column that covariates nearly explain would no longer be linear in them, and what
cutting hides of it would go with whatever else is not (docs/proofs/balance.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all import in_numpy
from discreet.methods.all.adjusted.balance import by_person, squared_lengths
from discreet.methods.all.adjusted.parts import LENGTH, OFF, ROUNDS
from discreet.methods.all.clipping import Ball, Norms
from discreet.methods.all.learn import learn_norms
from discreet.methods.all.rows import FINE, LARGEST, Box
from discreet.methods.all.sums import by_column, row_lengths, tiles, with_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.rows import Columns, Rows, Scaling

    Floats = NDArray[np.float64]

_BEYOND = 2.0**40  # steps: further than this is as far as anything
_COVARIATE = 2**6  # whole numbers to one deviation of a covariate
_MOST_OFF = 2.0  # deviations of its noise are taken off a slope, at most
_FARTHEST = 2.5  # deviations of what slopes may be off by that are not cut


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """How entries become what covariates leave of them. Learned privately, hence public.

    Attributes
    ----------
    rules : array of float64, shape (m, 7)
        How entries become whole numbers, as `Rows.rules` says, but that numbers are not cut to a range.
    base : array of float64, shape (m,)
        Where rows cut entries, in steps: about two deviations of a number.
    slopes : array of float64, shape (p + 1, m)
        These times u are taken off, in deviations.
    unknown : array of float64, shape (m,)
        About the squared error of the slopes of each column.
    """

    rules: Floats
    base: Floats
    slopes: Floats
    unknown: Floats

    @property
    def ends(self) -> Floats:
        """The largest entries of each column, in steps; shape (m,).

        What is left is cut as entries would be without covariates, and where slopes are not known further
        out, so that what follows the covariates is not bent by it: no further than the kernels' sums allow.
        """
        more = _FARTHEST * FINE * np.sqrt(np.minimum(self.unknown, 1.0))
        return np.minimum(np.ceil(self.base) + np.ceil(more), LARGEST)

    @property
    def box(self) -> Box:
        """The set of rows whose entries are no larger than these."""
        up, ends = 1 + 2.0**-40, self.ends
        radius, squares = (math.sqrt(float(np.sum(ends**power))) * up for power in (2, 4))
        return Box(2 * radius, 2 * radius, radius, squares, float(ends.max(initial=1.0)) * up, ends.size)

    def whole(self, values: NDArray[np.floating], u: Floats) -> NDArray[np.int16]:
        """Return what is left of some people's rows, whole numbers, 0 where there is no entry; (n, m)."""
        ends = self.ends
        left = in_numpy.whole(by_column(values), self.rules).T - FINE * by_person(u, self.slopes)
        return np.where(np.isnan(values), 0.0, np.trunc(np.clip(left, -ends, ends))).astype(np.int16)


def without_covariates(scaling: Scaling, columns: Columns, rows: Rows, covariates: int) -> Left:
    """Return how entries become whole numbers before slopes are known.

    Bounds that were declared hold, and what is known of a column of signs is no more than these.
    """
    rules, m = rows.rules(scaling, columns), rows.scale.size
    size = np.minimum(rows.scale, rows.most) * FINE
    number = np.minimum(np.maximum(rows.centre, 1 - rows.centre) * rows.scale, rows.most) * FINE
    base = np.where(rows.answers, np.maximum(rows.middle, size - rows.middle), number)
    free = columns.free[~(scaling.zero_to_one(columns) | scaling.signs(columns))[columns.free]]
    rules[free, 4:6] = -_BEYOND, _BEYOND
    for bound, at in ((columns.low, 4), (columns.high, 5)):
        place = columns.bounded
        steps = (bound - rules[place, 1]) * rules[place, 2] + rules[place, 3]
        rules[place, at] = np.clip(steps, -_BEYOND, _BEYOND)
    return Left(rules, base, np.zeros((covariates + 1, m)), np.ones(m))


def learn_left(
    left: Left,
    values: NDArray[np.floating],
    u: Floats,
    short: Floats,
    inside: NDArray[np.bool_],
    present: Floats,
    people: float,
    usual: float,
    budget: tuple[float, float],
) -> tuple[Left, Norms]:
    """Return what covariates leave of rows, learned in rounds, and how long that is.

    What one round leaves is shorter, and so the noise in the next is less; and what clipping took from the
    slopes of one is found by the next.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the sum of the budget: for slopes and for lengths.
    """
    rho, norms = budget
    m = left.base.size
    ball = Ball(max(min(longest(m) * usual, left.box.radius), 1.0), left.box.entry)
    weight, lengths = 1.0, Norms(np.ones(1), np.full(1, usual))
    for part in ROUNDS:
        rows = ball.clip(left.whole(values, u).astype(np.float64))
        slopes, unknown = _learn_slopes(u, short, rows, ball.radius, present * weight, part * rho)
        left = replace(left, slopes=left.slopes + slopes, unknown=unknown)
        length = row_lengths(left.whole(values, u))
        lengths = learn_norms(length, left.box, usual, norms / len(ROUNDS), inside, people)
        usual = max(float(lengths.share @ lengths.norm), 1.0)
        ball = Ball(max(min(longest(m) * usual, left.box.radius), 1.0), left.box.entry)
        weight = lengths.mean_weight(ball)
    return left, lengths


def longest(columns: int) -> float:
    """Return the length of rows that slopes are learned from, at most, over the usual one."""
    return LENGTH * math.sqrt(1 + 2.5 / columns)


def _learn_slopes(
    u: Floats, short: Floats, rows: Floats, radius: float, present: Floats, rho: float
) -> tuple[Floats, Floats]:
    """Return how columns follow the covariates, in deviations, and about the squared error.

    Rows are no longer than `radius`, covariates are shortened to their usual length: two people's products,
    of rows that may be opposite, are at most twice the product of both apart.
    """
    reach = math.sqrt(u.shape[1] + math.sqrt(2 * u.shape[1]))
    length = np.sqrt(squared_lengths(u))
    whole = np.trunc(u * (_COVARIATE * np.minimum(1.0, reach / length))[:, None])
    total = np.zeros((u.shape[1], rows.shape[1]), dtype=np.int64)
    for part in tiles(*rows.shape):
        total += (whole[part].T @ rows[part]).astype(np.int64)  # below 2**53, and so exact
    moved = 2 * _COVARIATE * reach * radius * (1 + 2.0**-40)
    noisy = with_noise(total, moved, rho, 1 / (_COVARIATE * FINE))
    there = np.maximum(present, 1.0)
    told = noisy.sums / there
    slopes, error = drawn(told, noisy.deviation / there)
    # Where covariates vary less than they should, slopes along them are as much too small; as they were told:
    # drawn toward 0 they are smaller still.
    missed = (short / (1 - short)) ** 2 @ told**2
    return slopes, OFF * error + missed


def drawn(slopes: Floats, deviation: Floats) -> tuple[Floats, Floats]:
    """Return slopes drawn toward 0 where noise is most of them, and about the squared error of each column.

    Slopes of shape (p + 1, m), with noise of this deviation in those of each column. What columns have in
    common is kept: along directions of the covariates that few follow the most is taken off (Efron and Morris
    1972), of few columns nearly as much along all. A column that is not like the others, of which more would
    be taken off than noise adds, keeps the rest.
    """
    count, m = slopes.shape
    noisy = slopes / deviation
    moments = noisy @ noisy.T
    alike = np.trace(moments) / count / m * np.eye(count)
    size, axes = np.linalg.eigh((moments + count * alike) / (m + count))
    kept = np.maximum(0.0, 1 - 1 / np.maximum(size, 1e-300))
    along = axes.T @ noisy
    off = np.clip((1 - kept)[:, None] * along, -_MOST_OFF, _MOST_OFF)
    taken = float(np.sum(1 - kept))
    unlike = np.maximum(np.sum(off**2, axis=0) - taken - math.sqrt(2 * taken), 0.0)
    return axes @ (along - off) * deviation, (float(np.sum(kept)) + unlike) * deviation**2
