"""The constants that rows are made with, learned step by step, each with its part of the budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.methods.all.adding import Totals, whole_numbers
from discreet.methods.all.clipping import (
    best_balls,
    can_be_apart,
    clear_difference,
    learn_norms,
    scaled_rows,
    usual_norms,
)
from discreet.methods.all.geometry import Ball, Balls, boxes_of, pull_of, reach_of
from discreet.methods.all.learn import (
    learn_groups,
    learn_means,
    learn_missing,
    learners,
    missing_norm,
    missing_share,
    shares_present,
)
from discreet.methods.all.noisy import with_noise
from discreet.methods.all.reading import FINE, PARTS, Columns
from discreet.methods.all.record import Learned, Means, mean_weights, uneven_labels
from discreet.methods.all.tiles import contrast, some_rows
from discreet.methods.all.where import FARTHEST, learn_where

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.budget import Budget
    from discreet.methods.all.geometry import Box, Reach
    from discreet.methods.all.reading import Rows, Scaling
    from discreet.methods.all.record import Groups, Missing, Noisy, Norms

_OFF = 0.3  # how far off the mean of a column the centre of its numbers may be, in deviations
_MISSING = 0.1  # of the budget, at most, for who is missing


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Start:
    """What is learned first: group sizes, where numbers lie, means, who has no entry. Public but the sample.

    `values` and `group` are those of the people who teach the constants, `part` their share of all; `rho` is
    what is left for contrasts, `left` how much of that was meant for learning.
    """

    groups: Groups
    share: float
    shares: NDArray[np.float64]
    sizes: tuple[float, float]
    missing: Missing
    columns: Columns
    scaling: Scaling
    means: Means
    two_valued: NDArray[np.bool_]
    values: NDArray[Any]
    group: NDArray[np.int8]
    part: float
    rho: float
    left: float


def learn(people: People, budget: Budget, groups: Groups | None = None) -> Learned:
    """Learn the constants, each step with its part of the budget; rows are clipped to balls where that pays.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the parts spent (docs/proofs/all-privacy.md).
    """
    start = _start(people, budget, groups)
    groups, shares, columns, means, part = start.groups, start.shares, start.columns, start.means, start.part
    protected = people.protect == "everything"
    unsure = _unsure(groups, start.share, budget.weights, protected=protected)
    rows = scaled_rows(people, means, start.scaling, columns, groups.people, shares, start.rho, unsure)
    boxes = boxes_of(people, rows)
    whole = whole_numbers(start.values, start.scaling, columns, rows)
    norms = _norms(whole, rows, boxes, start, budget.norms)
    doubt = max(start.share, 1 - start.share, float(protected)) / math.sqrt(2 * max(budget.weights, 1e-12))
    best = partial(
        best_balls,
        boxes=boxes,
        shares=shares,
        positive=rows.positive,
        people=groups.people,
        rho=start.rho,
        offset=float(np.sum(rows.shift**2)),
        doubt=doubt,
        protected=protected,
        sizes=start.sizes,
    )
    balls, left = best(norms), start.left
    total = Totals.blank(len(people))
    total.add(whole, start.group, balls, rows.positive)
    reach = reach_of(boxes, balls, pull_of(shares, rows.positive), protected=protected, seen=people.seen)
    noisy = with_noise(total.rows[0], reach.sums, budget.recentre, 1 / FINE)
    weight, apart = mean_weights(rows, norms, balls), np.zeros(len(people))
    centred = noisy.sums - rows.shift / FINE * weight * groups.people * part
    if can_be_apart(boxes[1], balls.signed):
        there = means.present * max(part, 1e-9)
        mean = replace(noisy, sums=centred, unit=0.0).over(there)
        apart = _differences(total, reach, start, weight, mean, rows.positive, budget.apart)
        # Around two centres rows are shorter.
        shorter = FINE**2 * float(np.sum(shares * (1 - shares) * apart**2))
        norms = norms[0], norms[1].shorter_by(shorter)
    else:
        left += budget.apart
    there = means.present * part * weight
    # Centres move as far as they are more likely to be wrong than what was told of them.
    wrong = np.where(rows.answers, means.doubt / means.present * rows.scale, _OFF) ** 2
    trust = wrong / (wrong + (noisy.deviation / there) ** 2)
    scaling, rows = _around_centres(start.scaling, rows.moved_by(trust * centred / there), columns)
    boxes = boxes_of(people, rows)
    balls = _fitted(best(norms), boxes)
    apart = apart if can_be_apart(boxes[1], balls.signed) else np.zeros(len(people))
    sure = float(noisy.deviation) ** 2 if part == 1 else math.inf
    constants = (groups, start.share, shares, start.missing, columns, scaling, means, rows, norms, balls)
    return Learned(*constants, (1 - trust) * centred, sure, apart, start.two_valued, left)


def _start(people: People, budget: Budget, groups: Groups | None) -> _Start:
    """Learn all that does not depend on how rows are scaled and clipped."""
    groups = learn_groups(people.group, budget.groups) if groups is None else groups
    share = round(groups.share * PARTS) / PARTS
    columns = Columns.of(people)
    sample = learners(people.rows)
    values = some_rows(people.values, sample)
    # Counts move as much by one who leaves as by one who is replaced: half for each of two subgroups.
    where = learn_where(
        values, columns, budget.where / people.seen, people.size * len(values) / max(people.rows, 1)
    )
    sought = np.isinf(where.doubt)
    means, left = Means(where.mean, where.present, where.doubt), where.left * people.seen
    if sought.any():
        learned = where.scaling.shares(values, columns)
        means = _merged(means, learn_means(learned, people, sought, budget.centre / people.seen), sought)
    else:
        left += budget.centre
    part = len(values) / max(people.rows, 1)
    means = replace(means, present=means.present / max(part, 1e-9), doubt=means.doubt / max(part, 1e-9))
    norm = missing_norm(people, groups, means)
    rho = budget.contrast + budget.stages + left
    wanted = missing_share(norm, groups, means, share, rho)
    more = max(min(wanted, _MISSING) * rho - budget.missing, 0.0)
    missing = learn_missing(people, columns, groups, means, share, norm, budget.missing + more)
    shares, sizes = shares_present(people, columns, groups, means, share, missing)
    public = (groups, share, shares, sizes, missing, columns, where.scaling, means, where.two_valued)
    return _Start(*public, values, people.group[sample], part, rho - more, left - more)


def _norms(
    whole: NDArray[np.int16], rows: Rows, boxes: tuple[Box, Box], start: _Start, rho: float
) -> tuple[Norms, Norms]:
    """Return how long both parts of people's rows are."""
    usual, positive, group = usual_norms(rows, start.scaling), rows.positive, start.group
    own = np.array(start.sizes)[(group == 1).astype(np.intp)]
    learned = partial(learn_norms, rho=rho / 2, inside=group >= 0, people=start.groups.people * start.part)
    return (
        learned(whole[:, positive], boxes[0], usual[0]),
        learned(whole[:, ~positive], boxes[1], usual[1], sizes=own),
    )


def _differences(
    total: Totals,
    reach: Reach,
    start: _Start,
    weight: NDArray[np.float64],
    mean: Noisy,
    positive: NDArray[np.bool_],
    rho: float,
) -> NDArray[np.float64]:
    """Return how far apart the groups are in each column, where a first look makes that clear.

    Entries that one group lacks more often than the other add to a contrast as long as their mean is not 0.
    """
    shares, part = start.shares, max(start.part, 1e-9)
    unit = 1 / (PARTS * FINE * part)
    look = with_noise(contrast(total.rows, shares), PARTS * reach.contrast, rho, unit)
    size = shares * (1 - shares) * start.means.present * weight
    excess, unknown = uneven_labels(start.groups, start.share, shares, start.means, start.missing)
    doubt = np.square(mean.deviation)
    variance = look.deviation**2 + mean.sums**2 * unknown + doubt * (excess**2 + unknown)
    return clear_difference(look.sums - mean.sums * excess, np.sqrt(variance), size, positive)


def _around_centres(scaling: Scaling, rows: Rows, columns: Columns) -> tuple[Scaling, Rows]:
    """Move the ranges of numbers without bounds to where their centres now are.

    What lies far out is drawn in as far on both sides then: where the groups have the same centre but not the
    same spread, they keep the same mean.
    """
    free = columns.free
    centre, middle = scaling.centre.copy(), rows.centre.copy()
    moved = centre[free] + (middle[free] - 0.5) * 2 * scaling.reach[free]
    centre[free], middle[free] = np.clip(moved, -FARTHEST, FARTHEST), 0.5
    return replace(scaling, centre=centre), replace(rows, centre=middle)


def _merged(first: Means, second: Means, sought: NDArray[np.bool_]) -> Means:
    """Return the second where that was sought."""
    parts = zip(
        (first.mean, first.present, first.doubt), (second.mean, second.present, second.doubt), strict=True
    )
    return Means(*(np.where(sought, new, old) for old, new in parts))


def _unsure(groups: Groups, share: float, rho: float, *, protected: bool) -> float:
    """Return the variance of what will be known of sum (y - f): from the sizes of groups, and from itself."""
    moved = 1.0 if protected else max(share, 1 - share)
    return 1 / (1 / max(0.5 * groups.deviation**2, 1e-9) + 2 * rho / moved**2)


def _fitted(balls: Balls, boxes: tuple[Box, Box]) -> Balls:
    """Return balls of the same radii for boxes that moved a little."""
    positive, signed = (
        Ball(ball.radius, box.entry) for ball, box in zip((balls.positive, balls.signed), boxes, strict=True)
    )
    return replace(balls, positive=positive, signed=signed)
