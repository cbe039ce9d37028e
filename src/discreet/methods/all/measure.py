"""The main sums: the contrast of the groups for every hypothesis, and what its variance is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.geometry import Ball, box_of, reach_of
from discreet.methods.all.learn import Groups, Means, learn_groups, learn_means, learn_scaling, sample
from discreet.methods.all.noisy import Noisy, check_noise, told
from discreet.methods.all.norms import Norms, best_ball, learn_norms
from discreet.methods.all.reading import FINE, Columns, Rows, Scaling
from discreet.methods.all.scales import scaled_rows
from discreet.methods.all.shares import LATER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.shares import Shares

PARTS = 2**12
"""The share of the second group is a whole number of these."""
_TILE = 2**20  # entries worked on at a time
_MOST = 2**29  # no sum is moved by more than this, times the square root of the columns
_CLEAR = 1.01  # a ball is this much wider than the largest entry, at least


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The constants that rows are made with; learned privately, hence public.

    `share` is f, about the share of the second group: exactly this is subtracted from each label y.
    `means.present` is about how many people have an entry.
    """

    groups: Groups
    share: float
    columns: Columns
    scaling: Scaling
    means: Means
    rows: Rows
    norms: Norms
    ball: Ball

    @property
    def weight(self) -> float:
        """About the mean weight that clipping leaves to an entry."""
        return self.norms.mean_weight(self.ball)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The sums with their noise, in deviations of a column and in people; public once drawn.

    Attributes
    ----------
    contrast : Noisy, shape (m,)
        sum (y - f) w v.
    sums, squares : Noisy, shape (m,)
        sum w v and sum (w v)^2.
    missing : Noisy, shape (questions,)
        sum (y - f) over those without an entry.
    """

    contrast: Noisy
    sums: Noisy
    squares: Noisy
    missing: Noisy


def check_budget(budget: Shares, columns: int) -> None:
    """Refuse, before anything is spent, a budget that asks for noise that cannot be drawn."""
    main = (budget.contrast, budget.squares, budget.missing, budget.stages / len(LATER) or budget.contrast)
    most = _MOST * math.sqrt(columns) / math.sqrt(2 * min(main))
    check_noise(1 / math.sqrt(2 * max(budget.spent())), most)


def learn(people: People, budget: Shares, groups: Groups | None = None, *, clip: bool) -> Learned:
    """Learn the constants, each step with its part of the budget; rows are clipped to a ball if that pays.

    Guarantee: the composition of Gaussian(sqrt(2 part)) over the parts (docs/proofs/all-privacy.md).
    """
    groups = learn_groups(people.group, budget.groups) if groups is None else groups
    share = round(groups.share * PARTS) / PARTS
    columns = Columns.of(people)
    learners = sample(people.values)
    scaling = learn_scaling(learners, columns, budget.quartiles, budget.range)
    learned = scaling.shares(learners, columns)
    means = learn_means(learned, people, budget.centre)
    rho = budget.contrast + budget.stages
    rows = scaled_rows(people, means.mean, scaling, columns, groups.people, share, rho)
    box = box_of(people, rows)
    norms = learn_norms(rows.whole(learned), box, budget.norms)
    ball = Ball(math.inf, box.entry)
    protected = people.protect == "everything"
    if clip:
        ball = best_ball(norms, box, len(people), share, groups.people, rho, protected=protected)
    moved = reach_of(box, ball, share, protected=protected).sums
    found = told(_sums(rows, learned, ball), moved, budget.recentre, 1 / FINE).sums
    rows = rows.moved_by(found / (means.present * norms.mean_weight(ball)))
    means = replace(means, present=means.present * (people.rows / max(len(learners), 1)))
    entry = box_of(people, rows).entry
    ball = Ball(max(ball.radius, _CLEAR * entry), entry)
    return Learned(groups, share, columns, scaling, means, rows, norms, ball)


def measure(people: People, known: Learned, budget: Shares) -> Measured:
    """Tell the sums of all columns.

    Guarantee: the composition of four Gaussian events, of the parts contrast, sums, squares and missing.
    """
    share, protected = known.share, people.protect == "everything"
    reach = reach_of(box_of(people, known.rows), known.ball, share, protected=protected)
    absent = _absent(people, known)
    total = _Totals.of(people, known, absent)
    # Two people of one group may miss different answers: norms of `absent`, at right angles.
    apart = max(math.sqrt(2) * max(share, 1 - share), 1.0 if protected else 0.0)
    moved = PARTS * FINE * absent * apart
    return Measured(
        told(_contrast(total.rows, share), PARTS * reach.contrast, budget.contrast, 1 / (PARTS * FINE)),
        told(total.rows[0], reach.sums, budget.sums, 1 / FINE),
        told(total.squares, reach.squares, budget.squares, 1 / FINE**2),
        told(_contrast(total.absent, share), moved, budget.missing, 1 / (PARTS * FINE)),
    )


def measure_again(people: People, known: Learned, rows: NDArray[np.int16], rho: float) -> Noisy:
    """Tell the contrast of rows of fewer columns, for which it costs less noise.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    box = box_of(people, known.rows)
    reach = reach_of(box, known.ball, known.share, protected=people.protect == "everything")
    total = np.zeros((2, len(people)), dtype=np.int64)
    for part in _parts(*rows.shape):
        _add(total, known.ball.clip(rows[part]), people.group[part])
    return told(_contrast(total, known.share), PARTS * reach.contrast, rho, 1 / (PARTS * FINE))


def whole_rows(people: People, known: Learned) -> NDArray[np.int16]:
    """Return everyone's rows as whole numbers, before clipping; shape (n, m). Private."""
    rows = np.empty((people.rows, len(people)), dtype=np.int16)
    for part in _parts(*rows.shape):
        rows[part] = _whole(people, known, part)
    return rows


def _absent(people: People, known: Learned) -> float:
    """Return the norm that a person's missing answers are clipped to: a few more than usual."""
    first = [asked.places.start for asked in people.questions]
    rate = np.maximum(1 - known.means.present[first] / known.groups.people, 0.0)
    return math.sqrt(1 + 2 * float(rate.sum()))


def _contrast(total: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """Return sum (y - f) v in parts, from the sums over everyone and over the second group."""
    return PARTS * total[1] - round(share * PARTS) * total[0]


def _sums(rows: Rows, shares: NDArray[np.float64], ball: Ball) -> NDArray[np.int64]:
    """Return the exact sums of clipped rows. Private."""
    total = np.zeros(shares.shape[1], dtype=np.int64)
    for part in _parts(*shares.shape):
        total += _exact(ball.clip(rows.whole(shares[part])).sum(axis=0))
    return total


@dataclass(slots=True, eq=False, repr=False)
class _Totals:
    """Exact sums over everyone in either group, then over the second; of squares, over everyone. Private."""

    rows: NDArray[np.int64]
    absent: NDArray[np.int64]
    squares: NDArray[np.int64]

    @classmethod
    def of(cls, people: People, known: Learned, absent: float) -> _Totals:
        """Add everyone up, some people at a time."""
        m, count = len(people), len(people.questions)
        total = cls(*(np.zeros(shape, dtype=np.int64) for shape in ((2, m), (2, count), m)))
        first = [asked.places.start for asked in people.questions]
        for part in _parts(people.rows, m):
            group = people.group[part]
            missing = np.isnan(people.values[part][:, first]) & (group >= 0)[:, None]
            many = np.sqrt(np.maximum(missing.sum(axis=1), absent**2))
            _add(total.absent, np.trunc(FINE * absent / many)[:, None] * missing, group)
            whole = known.ball.clip(_whole(people, known, part))
            _add(total.rows, whole, group)
            total.squares += _exact(np.einsum("ij,ij->j", whole, whole))
        return total

    def __repr__(self) -> str:
        return "Totals(private)"


def _whole(people: People, known: Learned, part: slice) -> NDArray[np.int16]:
    return known.rows.whole(known.scaling.shares(people.values[part], known.columns))


def _add(total: NDArray[np.int64], whole: NDArray[np.float64], group: NDArray[np.int8]) -> None:
    """Add some people's whole numbers to the sums over all of them, and over the second group."""
    for place, among in enumerate((np.ones(group.size), (group == 1).astype(np.float64))):
        total[place] += _exact(among @ whole)


def _exact(total: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return sums of whole numbers, below 2**53 for one tile, as such."""
    return total.astype(np.int64)


def _parts(rows: int, columns: int) -> Iterator[slice]:
    height = max(1, _TILE // max(1, columns))
    for top in range(0, rows, height):
        yield slice(top, top + height)
