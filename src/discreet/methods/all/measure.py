"""The main sums: the contrast of the groups for every hypothesis, and what its variance is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.geometry import Ball, Balls, boxes_of, reach_of
from discreet.methods.all.learn import Groups, Means, learn_groups, learn_means, learn_scaling, learners
from discreet.methods.all.noisy import Noisy, check_noise, told
from discreet.methods.all.norms import Norms, best_balls, learn_norms
from discreet.methods.all.reading import FINE, Columns, Rows, Scaling
from discreet.methods.all.scales import scaled_rows, usual_norms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.geometry import Box
    from discreet.methods.all.shares import Shares

PARTS = 2**12
"""The share of the second group is a whole number of these."""
_TILE = 2**20  # entries worked on at a time
_MOST = 2**29  # no sum is moved by more than this, times the square root of the columns
_STAGES = 5  # later ones; none spends less than one in so many parts


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
    norms: tuple[Norms, Norms]
    balls: Balls

    @property
    def weight(self) -> NDArray[np.float64]:
        """About the mean weight that clipping leaves to an entry of each column."""
        return _weights(self.rows, self.norms, self.balls)


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
    absent : Noisy, shape (questions,)
        How many have no entry.
    weights : Noisy, shape (1,)
        sum (y - f) w, w the weight that clipping leaves to a person's entries that are never negative.
    """

    contrast: Noisy
    sums: Noisy
    squares: Noisy
    missing: Noisy
    absent: Noisy
    weights: Noisy


def check_budget(budget: Shares, columns: int) -> None:
    """Refuse, before anything is spent, a budget that asks for noise that cannot be drawn."""
    main = (budget.contrast, budget.squares, budget.missing / 2, budget.stages / _STAGES or budget.contrast)
    most = _MOST * math.sqrt(columns) / math.sqrt(2 * min(main))
    check_noise(1 / math.sqrt(2 * max(budget.spent())), most)


def learn(people: People, budget: Shares, groups: Groups | None = None) -> Learned:
    """Learn the constants, each step with its part of the budget; rows are clipped to balls where that pays.

    Guarantee: the composition of Gaussian(sqrt(2 part)) over the parts (docs/proofs/all-privacy.md).
    """
    groups = learn_groups(people.group, budget.groups) if groups is None else groups
    share = round(groups.share * PARTS) / PARTS
    columns = Columns.of(people)
    some = learners(people.rows)
    values = people.values[some]
    # Counts move as much by one who leaves as by one who is replaced: half for each of two subgroups.
    scaling = learn_scaling(values, columns, budget.quartiles / people.seen, budget.range / people.seen)
    learned = scaling.shares(values, columns)
    means = learn_means(learned, people, budget.centre / people.seen)
    rho = budget.contrast + budget.stages
    unsure = _unsure(groups, share, budget.weights, protected=people.protect == "everything")
    rows = scaled_rows(people, means.mean, scaling, columns, groups.people, share, rho, unsure)
    boxes = boxes_of(people, rows)
    whole, positive = rows.whole(learned), rows.positive
    usual = usual_norms(rows, scaling)
    inside, part = people.group[some] >= 0, len(values) / max(people.rows, 1)
    norms = (
        learn_norms(whole[:, positive], boxes[0], usual[0], budget.norms / 2, inside, groups.people * part),
        learn_norms(whole[:, ~positive], boxes[1], usual[1], budget.norms / 2, inside, groups.people * part),
    )
    protected = people.protect == "everything"
    balls = best_balls(norms, boxes, share, groups.people, rho, protected=protected)
    moved = reach_of(boxes, balls, share, protected=protected, seen=people.seen).sums
    total = _sums(whole, balls, positive, inside)
    found = told(total, moved, budget.recentre, 1 / FINE).sums
    weight = _weights(rows, norms, balls)
    centred = found - rows.shift / FINE * weight * groups.people * part
    rows = rows.moved_by(centred / (means.present * weight))
    part = max(part, 1e-9)
    means = replace(means, present=means.present / part, doubt=means.doubt / part)
    return Learned(
        groups, share, columns, scaling, means, rows, norms, _fitted(balls, boxes_of(people, rows))
    )


def _unsure(groups: Groups, share: float, rho: float, *, protected: bool) -> float:
    """Return the variance of what will be known of sum (y - f): from the sizes of groups, and from itself."""
    moved = 1.0 if protected else max(share, 1 - share)
    return 1 / (1 / max(0.5 * groups.deviation**2, 1e-9) + 2 * rho / moved**2)


def _weights(rows: Rows, norms: tuple[Norms, Norms], balls: Balls) -> NDArray[np.float64]:
    positive, signed = norms[0].mean_weight(balls.positive), norms[1].mean_weight(balls.signed)
    return np.where(rows.positive, positive, signed)


def _fitted(balls: Balls, boxes: tuple[Box, Box]) -> Balls:
    """Return balls of the same radii for boxes that moved a little."""
    return Balls(Ball(balls.positive.radius, boxes[0].entry), Ball(balls.signed.radius, boxes[1].entry))


def measure(people: People, known: Learned, budget: Shares) -> Measured:
    """Tell the sums of all columns.

    Guarantee: the composition of Gaussian events, of the parts contrast, sums, squares, missing and weights.
    """
    share, protected = known.share, people.protect == "everything"
    boxes = boxes_of(people, known.rows)
    reach = reach_of(boxes, known.balls, share, protected=protected, seen=people.seen)
    absent = _absent(people, known)
    total = _Totals.of(people, known, absent)
    larger = max(share, 1 - share)
    # Two vectors without negative entries and of this norm are sqrt(2) times as far apart.
    lacked = PARTS * FINE * absent * max(math.sqrt(2) * larger, float(protected))
    weighed = PARTS * FINE * max(float(protected), math.sqrt(people.seen) * larger)
    unit = 1 / (PARTS * FINE)
    return Measured(
        told(_contrast(total.rows, share), PARTS * reach.contrast, budget.contrast, unit),
        told(total.rows[0], reach.sums, budget.sums, 1 / FINE),
        told(total.squares, reach.squares, budget.squares, 1 / FINE**2),
        told(_contrast(total.absent, share), lacked, budget.missing / 2, unit),
        told(total.absent[0], math.sqrt(2) * FINE * absent, budget.missing / 2, 1 / FINE),
        told(_contrast(total.weights, share), weighed, budget.weights, unit)
        if budget.weights
        else Noisy(np.zeros(1), 0.0),
    )


def measure_again(people: People, known: Learned, rows: NDArray[np.int16], rho: float) -> Noisy:
    """Tell the contrast of rows of fewer columns, for which it costs less noise.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    boxes = boxes_of(people, known.rows)
    protected = people.protect == "everything"
    reach = reach_of(boxes, known.balls, known.share, protected=protected, seen=people.seen)
    total = np.zeros((2, len(people)), dtype=np.int64)
    for part in _parts(*rows.shape):
        _add(total, known.balls.clip(rows[part], known.rows.positive), people.group[part])
    return told(_contrast(total, known.share), PARTS * reach.contrast, rho, 1 / (PARTS * FINE))


def whole_rows(people: People, known: Learned) -> NDArray[np.int16]:
    """Return everyone's rows as whole numbers, before clipping; shape (n, m). Private."""
    rows = np.empty((people.rows, len(people)), dtype=np.int16)
    for part in _parts(*rows.shape):
        rows[part] = _whole(people, known, part)
    return rows


def _absent(people: People, known: Learned) -> float:
    """Return the norm that a person's missing answers are clipped to: a few more than usual, or all."""
    first = [asked.places.start for asked in people.questions]
    rate = np.maximum(1 - known.means.present[first] / known.groups.people, 0.0)
    return math.sqrt(1 + 2 * float(rate.sum()))


def _contrast(total: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """Return sum (y - f) v in parts, from the sums over everyone and over the second group."""
    return PARTS * total[1] - round(share * PARTS) * total[0]


def _sums(
    whole: NDArray[np.int16], balls: Balls, positive: NDArray[np.bool_], inside: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the exact sums of clipped rows of those in a group. Private."""
    total = np.zeros(whole.shape[1], dtype=np.int64)
    for part in _parts(*whole.shape):
        total += _exact(inside[part].astype(np.float64) @ balls.clip(whole[part], positive))
    return total


@dataclass(slots=True, eq=False, repr=False)
class _Totals:
    """Exact sums over everyone in either group, then over the second; of squares, over everyone. Private."""

    rows: NDArray[np.int64]
    absent: NDArray[np.int64]
    weights: NDArray[np.int64]
    squares: NDArray[np.int64]

    @classmethod
    def of(cls, people: People, known: Learned, absent: float) -> _Totals:
        """Add everyone up, some people at a time."""
        m, count = len(people), len(people.questions)
        shapes = ((2, m), (2, count), (2, 1), m)
        total = cls(*(np.zeros(shape, dtype=np.int64) for shape in shapes))
        first = [asked.places.start for asked in people.questions]
        positive = known.rows.positive
        for part in _parts(people.rows, m):
            group = people.group[part]
            inside = (group >= 0)[:, None]
            missing = np.isnan(people.values[part][:, first]) & inside
            many = np.sqrt(np.maximum(missing.sum(axis=1), absent**2))
            _add(total.absent, np.trunc(FINE * absent / many)[:, None] * missing, group)
            whole = _whole(people, known, part)
            clipped = known.balls.clip(whole, positive)
            _add(total.rows, clipped, group)
            _add(total.weights, _kept(whole[:, positive], clipped[:, positive]), group)
            total.squares += _exact(np.einsum("ij,ij->j", clipped * inside, clipped))
        return total

    def __repr__(self) -> str:
        return "Totals(private)"


def _kept(whole: NDArray[np.int16], clipped: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what clipping leaves of the length of each person's entries, in steps; shape (n, 1)."""
    before = np.sum(whole.astype(np.float64) ** 2, axis=1)
    after = np.sum(clipped * clipped, axis=1)
    share = np.sqrt(np.minimum(after / np.maximum(before, 1.0), 1.0))
    return np.trunc(FINE * np.where(before > 0, share, 1.0))[:, None]


def _whole(people: People, known: Learned, part: slice) -> NDArray[np.int16]:
    return known.rows.whole(known.scaling.shares(people.values[part], known.columns))


def _add(total: NDArray[np.int64], whole: NDArray[np.float64], group: NDArray[np.int8]) -> None:
    """Add some people's whole numbers to the sums over all of them, and over the second group."""
    for place, among in enumerate((group >= 0, group == 1)):
        total[place] += _exact(among.astype(np.float64) @ whole)


def _exact(total: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return sums of whole numbers, below 2**53 for one tile, as such."""
    return total.astype(np.int64)


def _parts(rows: int, columns: int) -> Iterator[slice]:
    height = max(1, _TILE // max(1, columns))
    for top in range(0, rows, height):
        yield slice(top, top + height)
