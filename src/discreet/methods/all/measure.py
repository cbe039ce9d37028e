"""The main sums: the contrast of the groups for every hypothesis, and what its variance is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.adding import Totals, whole_numbers
from discreet.methods.all.geometry import Ball, Balls, boxes_of, pull_of, reach_of
from discreet.methods.all.learn import Groups, Means, learn_groups, learn_means, learners
from discreet.methods.all.missing import Missing, learn_missing, missing_norm, missing_share, shares_present
from discreet.methods.all.noisy import check_noise, told
from discreet.methods.all.norms import Norms, best_balls, learn_norms
from discreet.methods.all.reading import FINE, PARTS, Columns, Rows, Scaling
from discreet.methods.all.record import Noisy
from discreet.methods.all.scales import scaled_rows, usual_norms
from discreet.methods.all.tiles import contrast
from discreet.methods.all.where import learn_where

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.geometry import Box, Reach
    from discreet.methods.all.shares import Shares

_MOST = 2**29  # no sum is moved by more than this, times the square root of the columns
_OFF = 0.3  # how far off the mean of a column the centre of its numbers may be, in deviations
_MISSING = 0.1  # of the budget, at most, for who is missing
_STAGES = 5  # later ones; none spends less than one in so many parts


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The constants that rows are made with; learned privately, hence public.

    `share` is f, about the share of the second group; `shares` are those among the people who have an entry
    in each column of numbers, as far as they differ: exactly these are subtracted from each label y.
    `means.present` is about how many people have an entry. `rest` is how far sums are from 0, or from their
    shift, now that centres were moved, and `centred` the variance of that, infinite if it is not known.
    `left` is the part of the budget that was not needed.
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
    left: float

    @property
    def off(self) -> float:
        """How far the second group's share is from f, as far as is known."""
        return self.groups.second / self.groups.people - self.share

    @property
    def uneven(self) -> NDArray[np.float64]:
        """About sum (y - f) over those present in each column; it counts where their mean is not 0."""
        n = self.groups.people
        present = np.minimum(np.maximum(self.means.present, 1.0), n)
        return self.off * n - self.missing.excess - (self.shares - self.share) * present

    @property
    def uneven_variance(self) -> NDArray[np.float64]:
        """What is not known of that, squared."""
        present = (self.shares - self.share) * self.means.doubt
        return 0.5 * self.groups.deviation**2 + self.missing.variance + present**2

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
    weights : Noisy, shape (1,)
        sum (y - f) w, w the weight that clipping leaves to a person's answers.
    """

    contrast: Noisy
    sums: Noisy
    squares: Noisy
    weights: Noisy


def check_budget(budget: Shares, columns: int) -> None:
    """Refuse, before anything is spent, a budget that asks for noise that cannot be drawn."""
    main = (budget.contrast, budget.squares, budget.missing, budget.stages / _STAGES or budget.contrast)
    most = _MOST * math.sqrt(columns) / math.sqrt(2 * min(main))
    check_noise(1 / math.sqrt(2 * budget.whole), most)


def learn(people: People, budget: Shares, groups: Groups | None = None) -> Learned:
    """Learn the constants, each step with its part of the budget; rows are clipped to balls where that pays.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the parts spent (docs/proofs/all-privacy.md).
    """
    groups = learn_groups(people.group, budget.groups) if groups is None else groups
    share = round(groups.share * PARTS) / PARTS
    columns = Columns.of(people)
    some = learners(people.rows)
    values = people.values[some]
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
    positive, group = rows.positive, people.group[some]
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
    found = told(total.rows[0], moved, budget.recentre, 1 / FINE)
    weight = _weights(rows, norms, balls)
    centred = found.sums - rows.shift / FINE * weight * groups.people * part
    there = means.present * part * weight
    # Centres move as far as they are more likely to be wrong than what was told of them.
    wrong = np.where(rows.answers, means.doubt / means.present * rows.scale, _OFF) ** 2
    trust = wrong / (wrong + (found.deviation / there) ** 2)
    rows = rows.moved_by(trust * centred / there)
    balls = _fitted(balls, boxes_of(people, rows))
    sure = float(found.deviation) ** 2 if part == 1 else math.inf
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


def _weights(rows: Rows, norms: tuple[Norms, Norms], balls: Balls) -> NDArray[np.float64]:
    positive, signed = norms[0].mean_weight(balls.positive), norms[1].mean_weight(balls.signed)
    return np.where(rows.positive, positive, signed)


def _fitted(balls: Balls, boxes: tuple[Box, Box]) -> Balls:
    """Return balls of the same radii for boxes that moved a little."""
    positive, signed = (
        Ball(ball.radius, box.entry) for ball, box in zip((balls.positive, balls.signed), boxes, strict=True)
    )
    return replace(balls, positive=positive, signed=signed)


def settled(people: People, known: Learned, budget: Shares) -> Shares:
    """Return the budget of what is measured, with what learning has left, divided as the rows ask for."""
    budget = budget.and_also(known.left)
    rows, present = known.rows, known.means.present
    exact = known.groups.deviation == 0 and math.isinf(known.balls.positive.radius)
    if exact or not rows.positive.any():
        budget = replace(budget, weights=0.0).and_also(budget.weights)
    protected = people.protect == "everything"
    boxes = boxes_of(people, rows)
    reach = reach_of(
        boxes, known.balls, pull_of(known.shares, rows.positive), protected=protected, seen=people.seen
    )
    rho = 2 * (budget.squares + budget.sums + budget.contrast + budget.stages)
    size, middle = np.minimum(rows.scale, rows.most), rows.middle / FINE
    hidden = size * np.minimum(known.means.doubt / known.means.present, 0.5)
    level = np.clip(middle, hidden, size - hidden)
    variance = np.where(rows.answers, level * (size - level), (rows.scale * known.scaling.spread) ** 2)
    variance = np.maximum(variance * present, 1e-9)
    noise = (reach.contrast / FINE) ** 2 / rho / float(np.mean(variance * known.shares * (1 - known.shares)))
    squares = (reach.squares / FINE**2 / variance)[~rows.answers] ** 2 / rho
    sums = ((size - 2 * level) * reach.sums / FINE / variance)[rows.answers] ** 2 / rho
    typical = [float(np.median(errors)) if errors.size else 0.0 for errors in (squares, sums)]
    return budget.sharpened(noise, typical[0], typical[1], _of_means(known, reach, variance, rho))


def _of_means(known: Learned, reach: Reach, variance: NDArray[np.float64], rho: float) -> tuple[float, float]:
    """Return what errors of means add to the variance of contrasts, over that of sampling.

    If sums were measured with all of the budget; beside it the share of it that would teach what is known.
    They count where more are present in one group.
    """
    present = known.means.present
    uneven = known.uneven_variance + known.uneven**2
    deviation = reach.sums / FINE / math.sqrt(rho)
    added = (deviation / present) ** 2 * uneven / (variance * known.shares * (1 - known.shares))
    return float(np.median(added)), deviation**2 / known.centred


def measure(people: People, known: Learned, budget: Shares) -> Measured:
    """Tell the sums of all columns.

    Guarantee: the composition of Gaussian events, of the parts contrast, sums, squares and weights.
    """
    share, protected = known.share, people.protect == "everything"
    positive, shares = known.rows.positive, known.shares
    boxes = boxes_of(people, known.rows)
    reach = reach_of(boxes, known.balls, pull_of(shares, positive), protected=protected, seen=people.seen)
    constants = (known.scaling, known.columns, known.rows, known.balls)
    total = Totals.of(people.values, people.group, *constants)
    weighed = PARTS * FINE * max(float(protected), math.sqrt(people.seen) * max(share, 1 - share))
    unit = 1 / (PARTS * FINE)
    sums = told(total.rows[0], reach.sums, budget.sums, 1 / FINE)
    return Measured(
        told(contrast(total.rows, shares), PARTS * reach.contrast, budget.contrast, unit),
        sums if math.isinf(known.centred) else _sharper(sums, known),
        told(total.squares, reach.squares, budget.squares, 1 / FINE**2),
        told(contrast(total.weights, share), weighed, budget.weights, unit)
        if budget.weights
        else Noisy(np.zeros(1), 0.0),
    )


def _sharper(sums: Noisy, known: Learned) -> Noisy:
    """Return sums together with what is known of them since centres were moved."""
    expected = known.rows.shift / FINE * known.weight * known.groups.people + known.rest
    trust = known.centred / (known.centred + sums.deviation**2)
    return replace(
        sums, sums=expected + trust * (sums.sums - expected), deviation=sums.deviation * math.sqrt(trust)
    )


def measure_again(people: People, known: Learned, rows: NDArray[np.int16], rho: float) -> Noisy:
    """Tell the contrast of rows of fewer columns, for which it costs less noise.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    boxes, positive = boxes_of(people, known.rows), known.rows.positive
    protected = people.protect == "everything"
    reach = reach_of(
        boxes, known.balls, pull_of(known.shares, positive), protected=protected, seen=people.seen
    )
    total = Totals.blank(len(people))
    total.add(rows, people.group, known.balls, positive)
    return told(contrast(total.rows, known.shares), PARTS * reach.contrast, rho, 1 / (PARTS * FINE))


def whole_rows(people: People, known: Learned) -> NDArray[np.int16]:
    """Return everyone's rows as whole numbers, before clipping; shape (n, m). Private."""
    return whole_numbers(people.values, known.scaling, known.columns, known.rows)
