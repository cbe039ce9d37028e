"""How the budget of a release is divided: what each step may spend, by public numbers alone.

Nothing here draws noise or sees data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from discreet.methods.all.clipping import row_sensitivities
from discreet.methods.all.record import usual_unevenness
from discreet.methods.all.rows import FINE, Columns
from discreet.methods.all.spread import ALIKE, UNLIKE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.clipping import Sensitivities
    from discreet.methods.all.record import Groups, Learned, Means
    from discreet.typing import RawArray

Stages = tuple[tuple[float, float], ...]
"""Before each later stage columns with z scores below the first number are dropped; then its share."""
LEAST = 0.002
"""Of the budget, at least, for what variances are made of."""
_MOST = 0.12  # of the budget, for the same
LATERS = 8
"""Stages after the first."""
LATER_SHARE = 0.5 / LATERS
"""Of each of them; the first one has the other half."""
_EASIEST, _HARDEST = 0.3, 2.5  # z scores asked for before the first of these, and before the last at most
FEWEST = 5
"""Of fewer columns none is dropped: little would be gained."""
_APART = 0.015  # of the budget: differences that would bias others are large, and show in this
_QUIET = 0.1  # where noise adds this little to the variance of a contrast, one stage will do
_NEAR = 0.085  # about how far from 0 the mean of a column may be when contrasts are taken, in deviations
LOOK_COSTS = tuple(2 / error**2 for error in (0.06, 0.06, 0.04))
"""What looks at a column cost, by the errors aimed at, as shares of all people: sizes, places, means."""
COARSE = 2.2
"""Times these errors: with larger ones bounds are kept, or all columns are looked at as one."""
LOCATED = 1.75
"""And with these, ranks show as much of columns as means do."""
FIRST_LOOKS = 0.8
"""Of the budget for where columns lie, for the first looks at all; the rest for those that need more."""
_CUT = 0.1  # about by how much what is left of both groups' numbers may differ in one column, at least
_MOSTLY = 2 / 3  # of the columns are numbers without bounds, at least: of answers rows show more than scores
_WORTH, _MOST_WHERE = 0.3, 0.25  # see `where_share`


@dataclass(frozen=True, slots=True)
class Budget:
    """What each step may spend, as parts of the whole; a part that is not needed is 0.

    `groups`: who is in which group. `where`: where numbers lie. `centre`: the mean of every column. `norms`:
    how long people's rows are. `recentre`: the mean again, now that rows can be clipped. `difference`: a
    first look at how far the groups differ, so that each is clipped around its own centre. `retained`: what
    clipping and cutting leave of each group. The rest: `contrast` of the groups, `squares` for its variance,
    `sums`, `missing` and `weights` to correct it; `stages`: the contrast of fewer columns again.
    """

    groups: float
    where: float
    centre: float
    norms: float
    recentre: float
    difference: float
    squares: float
    sums: float
    missing: float
    weights: float
    contrast: float
    stages: float
    retained: float = 0.0

    def of(self, rho: float) -> Budget:
        """Return the budget of each step."""
        return Budget(*(getattr(self, field.name) * rho for field in fields(self)))

    def without_groups(self) -> Budget:
        """Return the budget where the sizes of the groups are known already."""
        return replace(self, groups=0.0, contrast=self.contrast + self.groups)

    def and_also(self, unspent: float) -> Budget:
        """Return the budget of what is measured, with what learning has left of its own."""
        first = self.contrast / (self.contrast + self.stages)
        return replace(
            self, contrast=self.contrast + first * unspent, stages=self.stages + (1 - first) * unspent
        )

    def divided(
        self, noise: float, squares: tuple[float, float], sums: float, means: tuple[float, float]
    ) -> Budget:
        """Return the budget with as much for squares and for sums as pays.

        Parameters
        ----------
        noise : float
            The variance of the noise in contrasts over that of sampling, if they got all that there is.
        squares : (float, float)
            The squared relative error of a variance that follows from squares, likewise, and the share that
            would teach what is known of it already.
        sums : float
            The squared relative error of one that follows from sums.
        means : (float, float)
            What errors of means add to the variance of contrasts, likewise, and the share that would teach
            what is known of means already.

        Notes
        -----
        An error of v in the variance is worth about 3 v / (1 + noise)^2 of the people at the p-values that
        matter, an added variance v about v / (1 + noise), and a share s costs s noise / (1 + noise).
        """
        whole = self.squares + self.sums + self.contrast + self.stages
        price = max(noise * (1 + noise), 1e-9)
        wanted = [math.sqrt(3 * error / price) for error in (squares[0], sums)]
        wanted[0] -= squares[1]
        wanted[1] = max(wanted[1], math.sqrt(means[0] / max(noise, 1e-9)) - means[1])
        parts = [min(max(share, LEAST), _MOST) * whole for share in wanted]
        first = self.contrast / (self.contrast + self.stages)
        rest = (whole - sum(parts)) * (1 - 2.0**-45)
        return replace(
            self, squares=parts[0], sums=parts[1], contrast=first * rest, stages=(1 - first) * rest
        )

    @property
    def whole(self) -> float:
        """The sum of all parts."""
        return math.fsum(getattr(self, field.name) for field in fields(self))

    def of_a_sample(self, times: float) -> Budget:
        """Return the budget with which people who each stand for so many see what all of them would.

        Sums of n people that are compared with their number need noise in proportion to n, contrasts noise in
        proportion to its root.
        """
        near_zero = ("difference", "missing", "weights", "contrast", "stages", "retained")
        powers = {field.name: 1 if field.name in near_zero else 2 for field in fields(self)}
        return Budget(*(getattr(self, name) * times**power for name, power in powers.items()))


def schedule(signals: int, m: int) -> Stages:
    """Return the later stages, where so many of `m` hypotheses are expected to be real.

    What is found depends little on their number and on their shares (`discreet bench people --raw`).
    """
    if m < FEWEST:
        return ()
    return tuple((least, LATER_SHARE) for least in cutoffs(np.asarray(signals), m).tolist())


def cutoffs(signals: RawArray, m: RawArray | int) -> NDArray[np.float64]:
    """Return the z scores below which columns are dropped before each later stage, on a last axis.

    The last is what half as many of all `m` columns would show by chance as are expected to be real.
    """
    last = np.clip(-ndtri(signals / m / 4), _EASIEST, _HARDEST)
    return _EASIEST + (last - _EASIEST)[..., None] * np.arange(LATERS) / (LATERS - 1)


def planned(people: People, rho: float, m: int | None = None) -> Budget:
    """Return the shares for these questions and this number of people; `m` of the hypotheses are measured.

    Each step gets what it needs to be right within a few people of a hundred, or a tenth of a deviation, and
    no more than a most: what is learned beyond that is worth less than a sharper contrast.
    """
    m, n = len(people) if m is None else m, people.size
    kinds = {(question.answers, question.bounds is not None) for question in people.questions}
    enough = partial(_enough, rho, n)
    groups = group_share(people, rho)
    numbers = [asked.bounds is not None for asked in people.questions if not asked.answers]
    part = m / max(len(people), 1)
    # Of each kind that there is, at least one column may be measured.
    bounded, free = (math.ceil(part * numbers.count(kind)) for kind in (True, False))
    where = where_share(bounded, free, rho, n)
    centre = enough(m, 0.03, 0.005, 0.03)
    norms = enough(2, 0.01, 0.002, 0.01)
    recentre = enough(4 * m, 0.02, 0.003, 0.015)
    sums = enough(4 * m, 0.05, 0.003, 0.01)
    difference = _APART
    missing = 0.005
    weights = 0.01 if any(answers for answers, _ in kinds) else 0.0
    retained = enough(2, 0.015, 0.002, 0.012)
    # About the noise of one stage: columns of deviation 1, rows as long as their number, equal groups.
    noise = 4 * m / (2 * rho * max(n, 1))
    squares = LEAST
    learning = (groups, where, centre, norms, recentre, difference)
    rest = 1 - (sum(learning) + sums + missing + weights + squares + retained)
    rest *= 1 - 2.0**-45
    contrast = rest if noise < _QUIET else rest * (1 - sum(share for _, share in schedule(1, m)))
    return Budget(*learning, squares, sums, missing, weights, contrast, rest - contrast, retained)


def group_share(people: People, rho: float) -> float:
    """Return the share that learns how large the groups are: none where that is public."""
    return _enough(rho, people.size, 2, 0.01, 0.002, 0.05) if people.protect == "everything" else 0.0


def _enough(rho: float, n: int, squared: float, error: float, least: float, most: float) -> float:
    """Return the share at which sums of this squared sensitivity are within `error` of the people."""
    return min(max(squared / (2 * rho * (error * max(n, 1)) ** 2), least), most)


def where_share(bounded: int, free: int, rho: float, size: int) -> float:
    """Return the share of the budget that is best spent on where so many columns of numbers lie.

    With a share s errors are sqrt(full/s) times those aimed at, `full` being the share that reaches them.
    Power is lost in proportion to their squares, full/s, and to s, which contrasts do not get: together the
    least at a multiple of the root of `full`. The factor was tried on columns of a dozen laws.
    """
    full = (bounded * sum(LOOK_COSTS[1:]) + free * sum(LOOK_COSTS)) * 0.5 / (max(size, 1) ** 2 * rho)
    return min(max(_WORTH * math.sqrt(full), full / (FIRST_LOOKS * COARSE**2)), _MOST_WHERE)


def each_located(free: int, bounded: int, rho: float, size: float) -> bool:
    """Say whether `rho` tells well where each column of numbers lies."""
    whole = bounded * sum(LOOK_COSTS[1:]) + free * sum(LOOK_COSTS)
    return FIRST_LOOKS * rho >= whole * 0.5 / (LOCATED * max(size, 1.0)) ** 2


def may_need_ranks(people: People, budget: Budget) -> bool:
    """Say whether most columns are numbers without bounds, and people too few to locate them; public."""
    columns = Columns.of(people)
    free, bounded = columns.free.size, columns.bounded.size
    few = people.subgroup is None and 1 < free >= _MOSTLY * people.columns
    return few and not each_located(free, bounded, budget.where, people.size)


def missing_share(norm: float, groups: Groups, means: Means, share: float, rho: float) -> float:
    """Return the share of the budget that is best spent on how unevenly entries are missing.

    A column whose mean is `_NEAR` deviations from 0 adds `_NEAR` times the noise told here to that of its
    contrast; the share balances the two. It is 0 where the number of missing entries says enough.
    """
    long = math.sqrt(1 + float(np.sum(np.minimum(means.present / groups.people, 1.0))))
    best = _NEAR * norm / (math.sqrt(2) * long)
    unknown = _NEAR**2 * float(np.mean(usual_unevenness(groups, means, share) ** 2)) * 2 * rho
    return best if unknown / (2 * max(share, 1 - share) * long) ** 2 > 2 * best else 0.0


def settled(people: People, learned: Learned, budget: Budget) -> Budget:
    """Return the budget of the measurements, with what learning has left, divided to suit these rows."""
    budget = budget.and_also(learned.unspent)
    rows, present = learned.rows, learned.means.present
    if not _weighed(learned):
        budget = replace(budget, weights=0.0).and_also(budget.weights)
    sensitivity = row_sensitivities(people, learned)
    rho = 2 * (budget.squares + budget.sums + budget.contrast + budget.stages)
    size, middle = np.minimum(rows.scale, rows.most), rows.middle / FINE
    hidden = size * np.minimum(learned.means.present_sd / learned.means.present, 0.5)
    level = np.clip(middle, hidden, size - hidden)
    variance = np.where(rows.answers, level * (size - level), (rows.scale * learned.scaling.spread) ** 2)
    variance = np.maximum(variance * present, 1e-9)
    noise = (
        (sensitivity.contrast / FINE) ** 2
        / rho
        / float(np.mean(variance * learned.shares * (1 - learned.shares)))
    )
    squares = _of_squares(learned, (sensitivity.squares / FINE**2 / variance)[~rows.answers] ** 2 / rho)
    sums = ((size - 2 * level) * sensitivity.sums / FINE / variance)[rows.answers] ** 2 / rho
    typical = float(np.median(sums)) if sums.size else 0.0
    return budget.divided(noise, squares, typical, _of_means(learned, sensitivity, variance, rho))


def _weighed(learned: Learned) -> bool:
    """Say whether the weights that clipping leaves answers without negative entries must be measured.

    They must be even where nothing is clipped, if the sizes of the groups are not known.
    """
    exact = learned.groups.deviation == 0 and math.isinf(learned.balls.positive.radius)
    return bool(learned.rows.positive.any()) and not exact


def _of_squares(learned: Learned, error: NDArray[np.float64]) -> tuple[float, float]:
    """Return the squared relative error of a contrast's variance if squares got all of the budget.

    `error` is that of a sum of squares. Beside it, the share of the budget that would be needed to learn what
    is known anyway: for groups of equal size the variance follows from the squares of everybody, however
    different the spreads of the groups are.
    """
    if not error.size:
        return 0.0, 0.0
    f = learned.share
    typical = float(np.median(error)) * (f**4 + (1 - f) ** 4) / (f * (1 - f)) ** 2
    return typical, typical / (ALIKE**2 + (UNLIKE * (1 - 2 * f)) ** 2)


def _of_means(
    learned: Learned, sensitivity: Sensitivities, variance: NDArray[np.float64], rho: float
) -> tuple[float, float]:
    """Return what errors of means add to the variance of contrasts, relative to that of sampling.

    This is for sums measured with the whole budget; beside it, the share of the budget that would be needed
    to learn what is known anyway. Errors of means matter where more people are present in one group, as far
    as that is known (what is not known of it moves a contrast in proportion to the mean itself, however well
    the mean is known), or where the numbers of one group are clipped more often.
    """
    present = learned.means.present
    uneven = learned.uneven**2 + np.where(np.isinf(learned.centred), learned.uneven_variance, 0.0)
    taken = (
        max(math.hypot(learned.retained.gap, learned.retained.unsure), _CUT)
        if learned.retained.unsure
        else 0.0
    )
    uneven += (
        np.where(learned.rows.positive, 0.0, taken * learned.shares * (1 - learned.shares) * present) ** 2
    )
    deviation = sensitivity.sums / FINE / math.sqrt(rho)
    added = (deviation / present) ** 2 * uneven / (variance * learned.shares * (1 - learned.shares))
    return float(np.median(added)), float(np.median(deviation**2 / learned.centred))
