"""What a release plans, learns and measures, all of it public: what everything after the draw reads.

Nothing here draws noise or sees data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from discreet.methods.all.rows import FINE, LARGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.clipping import Balls, Norms
    from discreet.methods.all.rows import Columns, Rows, Scaling

    Floats = NDArray[np.float64]

CLEAR = 3.0
"""Deviations of its noise, beyond which a sum is clearly not what was expected."""
_ONE_SIDED = 0.7  # of what there would be if all were missing in one group
_TOGETHER = 0.75  # of the variance of how uneven it is, columns have in common
_INSIDE, _VARIED = 0.95, 0.1  # about the share of numbers that are not cut, and how far off that may be
_FROM_ONE = 0.5  # of what there would be if all that is taken were taken from one group
_LEAST_LEFT = 0.05  # no group is taken to have less left
_LIGHTEST = 0.05  # no mean weight is taken to be smaller


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
        half = -float(ndtri(chance)) * (1 + 1e-9) * np.asarray(self.deviation) + np.asarray(self.unit) / 2
        return self.sums - half, self.sums + half


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
    present_sd: NDArray[np.float64]

    def or_else(self, other: Means, at: NDArray[np.bool_]) -> Means:
        """Return the other ones at some places."""
        pairs = ((self.mean, other.mean), (self.present, other.present), (self.present_sd, other.present_sd))
        return Means(*(np.where(at, there, here) for here, there in pairs))

    def of_all(self, part: float) -> Means:
        """Return those of everybody, from those of a sample that is this part of them."""
        return Means(self.mean, self.present / max(part, 1e-9), self.present_sd / max(part, 1e-9))


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

    def only(self, active: NDArray[np.bool_]) -> Missing:
        """Return those of some columns."""
        return replace(
            self, clear=self.clear[active], excess=self.excess[active], variance=self.variance[active]
        )


def uneven_labels(
    groups: Groups, share: float, shares: Floats, means: Means, missing: Missing
) -> tuple[Floats, Floats]:
    """Return about sum (y - f) over those present in each column, and what is not known of it, squared."""
    n, apart = groups.people, shares - share
    present = np.minimum(np.maximum(means.present, 1.0), n)
    excess = groups.second - share * n - missing.excess - apart * present
    return excess, 0.5 * groups.deviation**2 + missing.variance + (apart * means.present_sd) ** 2


def usual_unevenness(groups: Groups, means: Means, share: float) -> Floats:
    """Return about how large sum (y - f) over the missing is, by how many are missing in each column.

    How many that is, is drawn toward the mean of all columns as far as noise makes them differ. The groups'
    rates differ by about their mean, and by more if one group is small and some are clearly missing, for all
    may be missing there.
    """
    gone, noise = groups.people - means.present, means.present_sd**2
    between = max(float(np.var(gone) - np.mean(noise)), 0.0)
    trust = between / (between + noise)
    lacking = np.mean(gone) + trust * (gone - np.mean(gone))
    doubt = np.sqrt(trust**2 * noise + np.mean(noise) / gone.size + 2 * groups.deviation**2)
    least = np.clip(lacking - doubt, 0.0, groups.people)
    lacking = np.clip(lacking, doubt, groups.people)
    return np.maximum(lacking * share * (1 - share), _ONE_SIDED * least * max(share, 1 - share))


def alike(noisy: Noisy, usual: Floats) -> tuple[Floats, Floats]:
    """Return what is to be expected of sums of about this size, told with noise; and the variance of it.

    Columns go together: what is missing more in one group is so in most, so that all of them teach something
    of each. A sum that is clearly none of these is taken as it was told.
    """
    noise = float(noisy.deviation) ** 2
    size, own = np.sqrt(_TOGETHER) * usual, (1 - _TOGETHER) * np.maximum(usual, 1e-9) ** 2
    precision = 1 + float(np.sum(size**2 / (own + noise)))
    common = size * float(np.sum(size * noisy.sums / (own + noise))) / precision
    other = np.square(noisy.sums - common) > CLEAR**2 * (own + noise)
    trust = np.where(other, 1.0, own / (own + noise))
    variance = trust * noise + ((1 - trust) * size) ** 2 / precision
    return common + trust * (noisy.sums - common), variance


@dataclass(frozen=True, slots=True)
class Retained:
    """What is left of the numbers of the first and of the second group. Public.

    Attributes
    ----------
    tilt : float
        How much more clipping takes from the second group, over what it takes from everybody.
    inside : (float, float)
        The share of each group's numbers that are not cut, rows counting as much as clipping leaves of them.
    unsure : float
        The deviation of what is not known of the difference of both together.
    gap : float
        That difference.
    """

    tilt: float = 0.0
    within_range: tuple[float, float] = (1.0, 1.0)
    unsure: float = 0.0
    gap: float = 0.0


def retained_of(noisy: Noisy, present: Floats, weight: float, *, cut: bool) -> Retained:
    """Return what is left of each group, from what was told of the sums of `retained_sums`.

    `present` is about how many of each group have an entry in a column, and `weight` what rows' lengths say
    that clipping leaves of everybody's. What is left of both groups differs by no more than what is taken
    from everybody allows, and that is put together with what was told.
    """
    people = np.maximum(present, 1.0)
    shares, error = noisy.sums / people[:, None], float(noisy.deviation) / people
    f = float(people[1] / people.sum())
    both = people / people.sum()
    # Of everybody: the share inside, as far as it is told, and what is taken in all.
    within_range = 1.0
    if cut:
        noise = float(np.hypot(*(both * error))) / max(weight, _LEAST_LEFT)
        seen = float(both @ shares[:, 0]) / max(weight, _LEAST_LEFT)
        trust = 1 / (1 + (noise / _VARIED) ** 2)
        within_range = min(_INSIDE + trust * (seen - _INSIDE), 1.0)
    rows = _gap(shares.sum(axis=1), error * math.sqrt(2), 1 - weight, f)
    kept = max(weight * within_range, _LEAST_LEFT)
    gap, unsure = _gap(shares[:, 0], error, 1 - kept, f) if cut else rows
    first, second = (
        min(max(kept + by * gap, _LEAST_LEFT) / max(weight + by * rows[0], _LEAST_LEFT), 1.0)
        for by in (-f, 1 - f)
    )
    tilt = -rows[0] / max(1 - weight, 1e-9)
    return Retained(float(np.clip(tilt, -1 / (1 - f), 1 / f)), (first, second), unsure, gap)


def _gap(shares: Floats, error: Floats, taken: float, share: float) -> tuple[float, float]:
    """Return how much more is left of the second group than of the first, and what is not known of it."""
    before = _FROM_ONE * min(max(taken, 0.0) / min(share, 1 - share), 1.0)
    noise = float(np.hypot(*error))
    if before == 0:
        return 0.0, 0.0
    trust = before**2 / (before**2 + noise**2)
    return trust * float(shares[1] - shares[0]), before * math.sqrt(1 - trust)


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The constants that rows are made with; learned privately, hence public.

    `share` is f, about the share of the second group; `shares` are those among the people who have an entry
    in each column of numbers, as far as they differ: exactly these are subtracted from each label y.
    `means.present` is about how many people have an entry. `rest` is how far sums are from 0, or from their
    shift, now that centres were moved, and `centred` the variance of that, infinite if it is not known.
    `difference` is how far the groups differ in each column, second less first, in the units of rows, as far
    as that is clear and the column is clipped with its group's own centre (0 elsewhere). `retained` is what
    clipping and cutting leave of each group's numbers, `unspent` the budget that was not needed.
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
    centred: NDArray[np.float64]
    difference: NDArray[np.float64]
    retained: Retained
    unspent: float

    @property
    def offsets(self) -> tuple[Floats, Floats]:
        """How far the centre of each group is from that of `rows`, in whole steps."""
        room = LARGEST - math.ceil(self.rows.most * FINE)
        first = -self.shares * self.difference
        low, high = (np.clip(np.rint(by * FINE), -room, room) for by in (first, first + self.difference))
        return low, high

    @property
    def sides(self) -> tuple[Rows, Rows]:
        """The rows of each group: less its own centre where the groups are known to be apart.

        Both are cut to the same range first. If that moved with the centre, what is cut would not go with it.
        """
        first, second = (replace(self.rows, less=offset) for offset in self.offsets)
        return first, second

    def contrast_of_centres(self, weights: tuple[Floats, Floats]) -> tuple[Floats, Floats, Floats]:
        """Return sum (y - f) over those present of how far their group's centre is from that of `rows`.

        What the contrast of rows around two centres lacks; how much one more person in the second group
        rather than the first would change it; and what the sums of rows lack.
        """
        first, second = (weight * by / FINE for by, weight in zip(self.offsets, weights, strict=True))
        f, present = self.shares, self.means.present
        lever = (1 - f) * second + f * first
        between_centres, middle = present * (second - first), present * (f * second + (1 - f) * first)
        return (
            f * (1 - f) * between_centres + self.uneven * lever,
            lever,
            middle + self.uneven * (second - first),
        )

    @property
    def group_weights(self) -> tuple[Floats, Floats]:
        """About the mean weight that clipping leaves to an entry of each column in each group."""
        lost = np.where(self.rows.positive, 0.0, self.retained.tilt * (1 - self.weight))
        first, second = (
            np.clip(self.weight - by * lost, _LIGHTEST, 1.0) for by in (-self.share, 1 - self.share)
        )
        return first, second

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
        positive = self.norms[0].mean_weight(self.balls.positive)
        return np.where(self.rows.positive, positive, self.norms[1].mean_weight(self.balls.signed))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The sums with their noise, in deviations of a column and in people; public once drawn.

    Attributes
    ----------
    contrast : Noisy, shape (m,)
        sum (y - f) w v.
    sums : Noisy, shape (m,)
        sum w v.
    squares : Noisy, shape (2, m)
        sum (w v)^2 over the first group, then over the second.
    weights : Noisy, shape (1,)
        sum (y - f) w, w the weight that clipping leaves to a person's answers without negative entries; the
        deviation is infinite where it was not told.
    """

    contrast: Noisy
    sums: Noisy
    squares: Noisy
    weights: Noisy
