"""What a release has learned and measured, all of it public: what everything after the draw reads.

Nothing here draws noise or sees data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.geometry import Ball, Balls
    from discreet.methods.all.reading import Columns, Rows, Scaling

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """Sums with noise, the standard deviation of that noise, and the unit they are rounded to. Public.

    Attributes
    ----------
    sums : array of float
        What was told.
    deviation : float, or array of float
        Of the noise; 0 if there is none.
    unit : float, or array of float
        Rounding moved what was told by half of this at most.
    """

    sums: Floats
    deviation: Floats | float = 0.0
    unit: Floats | float = 1.0

    def at(self, places: Any) -> Noisy:
        """Return those at some places."""
        deviation = np.broadcast_to(self.deviation, self.sums.shape)[places]
        return Noisy(self.sums[places], deviation, self.unit)

    def over(self, divisor: Floats) -> Noisy:
        """Return them divided by public numbers above 0."""
        return Noisy(self.sums / divisor, self.deviation / divisor, self.unit / divisor)

    def interval(self, chance: float) -> tuple[Floats, Floats]:
        """Return a lower and an upper bound, each wrong with at most this chance."""
        reach = -float(ndtri(chance)) * (1 + 1e-9) * np.asarray(self.deviation) + np.asarray(self.unit) / 2
        return self.sums - reach, self.sums + reach


@dataclass(frozen=True, slots=True)
class Groups:
    """The sizes of the two groups as far as they are known, and the deviation of the noise in each."""

    first: float
    second: float
    deviation: float

    @property
    def people(self) -> float:
        """How many are in either, at least 2."""
        return max(self.first + self.second, 2.0)

    @property
    def share(self) -> float:
        """The share of the second group, away from 0 and 1."""
        least = min(0.5, max(0.002, 1 / self.people))
        return float(np.clip(self.second / self.people, least, 1 - least))


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """The mean share of each column among those present, how many they are, and the noise in that number."""

    mean: NDArray[np.float64]
    present: NDArray[np.float64]
    doubt: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """Those without an entry. Public.

    Attributes
    ----------
    uneven : Noisy, shape (questions,)
        sum (y - f) over them.
    clear : array of bool, shape (m,)
        Where the first of these stands out of its noise.
    excess, variance : arrays of float64, shape (m,)
        What is to be expected of it, and what is not known of it, squared.
    """

    uneven: Noisy
    clear: NDArray[np.bool_]
    excess: NDArray[np.float64]
    variance: NDArray[np.float64]


def uneven_labels(
    groups: Groups, share: float, shares: Floats, means: Means, missing: Missing
) -> tuple[Floats, Floats]:
    """Return about sum (y - f) over those present in each column, and what is not known of it, squared."""
    n, apart = groups.people, shares - share
    present = np.minimum(np.maximum(means.present, 1.0), n)
    excess = groups.second - share * n - missing.excess - apart * present
    return excess, 0.5 * groups.deviation**2 + missing.variance + (apart * means.doubt) ** 2


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


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The constants that rows are made with; learned privately, hence public.

    `share` is f, about the share of the second group; `shares` are those among the people who have an entry
    in each column of numbers, as far as they differ: exactly these are subtracted from each label y.
    `means.present` is about how many people have an entry. `rest` is how far sums are from 0, or from their
    shift, now that centres were moved, and `centred` the variance of that, infinite if it is not known.
    `apart` is how far the groups differ in each column, second less first, in the units of rows, as far as
    that is clear and the column is clipped with its group's own centre (0 elsewhere). `two_valued`
    are numbers that seem to be 0 and 1. `left` is the part of the budget that was not needed.
    """

    groups: Groups
    share: float
    shares: NDArray[np.float64]
    missing: Missing
    columns: Columns
    scaling: Scaling
    means: Means
    rows: Rows
    norms: tuple[Norms, Norms]
    balls: Balls
    rest: NDArray[np.float64]
    centred: float
    apart: NDArray[np.float64]
    two_valued: NDArray[np.bool_]
    left: float

    @property
    def sides(self) -> tuple[Rows, Rows]:
        """The rows of each group: around its own centre where the groups are known to be apart."""
        second = self.shares * self.apart
        return self.rows.moved_by(-second), self.rows.moved_by(self.apart - second)

    def contrast_of_centres(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sum (y - f) over those present of how far their group's centre is from that of `rows`.

        What the contrast of rows around two centres lacks, before clipping; and how much one more person in
        the second group rather than the first would change it.
        """
        first, second = (side.offset_from(self.rows) for side in self.sides)
        f, present = self.shares, self.means.present
        lever = (1 - f) * second + f * first
        return f * (1 - f) * present * (second - first) + self.uneven * lever, lever

    @property
    def off(self) -> float:
        """How far the second group's share is from f, as far as is known."""
        return self.groups.second / self.groups.people - self.share

    @property
    def uneven(self) -> NDArray[np.float64]:
        """About sum (y - f) over those present in each column; it counts where their mean is not 0."""
        return uneven_labels(self.groups, self.share, self.shares, self.means, self.missing)[0]

    @property
    def uneven_variance(self) -> NDArray[np.float64]:
        """What is not known of that, squared."""
        return uneven_labels(self.groups, self.share, self.shares, self.means, self.missing)[1]

    @property
    def weight(self) -> NDArray[np.float64]:
        """About the mean weight that clipping leaves to an entry of each column."""
        return mean_weights(self.rows, self.norms, self.balls)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The sums with their noise, in deviations of a column and in people; public once drawn.

    Attributes
    ----------
    contrast : Noisy, shape (m,)
        sum (y - f) w v.
    sums, squares : Noisy, shape (m,)
        sum w v and sum (w v)^2.
    weights : Noisy, shape (1,)
        sum (y - f) w, w the weight that clipping leaves to a person's answers.
    """

    contrast: Noisy
    sums: Noisy
    squares: Noisy
    weights: Noisy


def mean_weights(rows: Rows, norms: tuple[Norms, Norms], balls: Balls) -> NDArray[np.float64]:
    """Return about the mean weight that clipping leaves to an entry of each column."""
    positive, signed = norms[0].mean_weight(balls.positive), norms[1].mean_weight(balls.signed)
    return np.where(rows.positive, positive, signed)
