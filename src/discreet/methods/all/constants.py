"""The constants that rows are made with, learned step by step, each with its part of the budget."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.adding import Totals, whole_numbers
from discreet.methods.all.clipping import best_balls, learn_norms, scaled_rows, usual_norms
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
from discreet.methods.all.record import Groups, Learned, Means, mean_weights
from discreet.methods.all.tiles import some_rows
from discreet.methods.all.where import learn_where

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.budget import Budget
    from discreet.methods.all.geometry import Box

_OFF = 0.3  # how far off the mean of a column the centre of its numbers may be, in deviations
_MISSING = 0.1  # of the budget, at most, for who is missing


def learn(people: People, budget: Budget, groups: Groups | None = None) -> Learned:
    """Learn the constants, each step with its part of the budget; rows are clipped to balls where that pays.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the parts spent (docs/proofs/all-privacy.md).
    """
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
    rho, left = rho - more, left - more
    missing = learn_missing(people, columns, groups, means, share, norm, budget.missing + more)
    shares, sizes = shares_present(people, columns, groups, means, share, missing)
    protected = people.protect == "everything"
    unsure = _unsure(groups, share, budget.weights, protected=protected)
    rows = scaled_rows(people, means, where.scaling, columns, groups.people, shares, rho, unsure)
    boxes = boxes_of(people, rows)
    whole = whole_numbers(values, where.scaling, columns, rows)
    positive, group = rows.positive, people.group[sample]
    usual = usual_norms(rows, where.scaling)
    inside, many = group >= 0, groups.people * part
    norms = (
        learn_norms(whole[:, positive], boxes[0], usual[0], budget.norms / 2, inside, many),
        learn_norms(
            whole[:, ~positive],
            boxes[1],
            usual[1],
            budget.norms / 2,
            inside,
            many,
            np.array(sizes)[(group == 1).astype(np.intp)],
        ),
    )
    doubt = max(share, 1 - share, float(protected)) / math.sqrt(2 * max(budget.weights, 1e-12))
    offset = float(np.sum(rows.shift**2))
    balls = best_balls(
        norms, boxes, shares, positive, groups.people, rho, offset, doubt, protected=protected, sizes=sizes
    )
    moved = reach_of(boxes, balls, pull_of(shares, positive), protected=protected, seen=people.seen).sums
    total = Totals.blank(len(people))
    total.add(whole, group, balls, positive)
    noisy = with_noise(total.rows[0], moved, budget.recentre, 1 / FINE)
    weight = mean_weights(rows, norms, balls)
    centred = noisy.sums - rows.shift / FINE * weight * groups.people * part
    there = means.present * part * weight
    # Centres move as far as they are more likely to be wrong than what was told of them.
    wrong = np.where(rows.answers, means.doubt / means.present * rows.scale, _OFF) ** 2
    trust = wrong / (wrong + (noisy.deviation / there) ** 2)
    rows = rows.moved_by(trust * centred / there)
    balls = _fitted(balls, boxes_of(people, rows))
    sure = float(noisy.deviation) ** 2 if part == 1 else math.inf
    constants = (groups, share, shares, missing, columns, where.scaling, means, rows, norms, balls)
    return Learned(*constants, (1 - trust) * centred, sure, left)


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
