"""The constants that rows are made with, learned step by step, each with its part of the budget.

First what does not depend on how rows are scaled and clipped: group sizes, where columns lie, who has no
entry in which group. Then how long rows are, which balls they are clipped to, and around which centres. Each
step tells whole-number sums with noise (docs/proofs/all-privacy.md). A poor answer costs power, not privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from discreet.methods.all.after import clear_difference
from discreet.methods.all.budget import missing_share
from discreet.methods.all.clipping import (
    Balls,
    Norms,
    best_balls,
    largest_labels,
    scaled_rows,
    sensitivities_of,
    two_centres_are_free,
    usual_norms,
)
from discreet.methods.all.record import (
    CLEAR,
    Groups,
    Learned,
    Means,
    Missing,
    Retained,
    alike,
    retained_of,
    uneven_labels,
    usual_unevenness,
)
from discreet.methods.all.rows import FINE, PARTS, Columns, around_centres, boxes_of, can_be_cut
from discreet.methods.all.sums import (
    Totals,
    contrast,
    row_lengths,
    sampled,
    sum_lacking,
    with_noise,
)
from discreet.methods.all.where import learn_means, learn_where, retained_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.budget import Budget
    from discreet.methods.all.clipping import Sensitivities
    from discreet.methods.all.record import Noisy
    from discreet.methods.all.rows import Box, Scaling
    from discreet.typing import RawArray

_OFF = 0.3  # how far off the mean of a column the centre of its numbers may be, in deviations
_CUT = 0.5  # of the numbers are cut, at most: by so much less a mean moves with its centre
_MISSING = 0.1  # of the budget, at most, for who is missing
_WIDTHS = (0.03, 0.18)  # of bins of rows' lengths, as shares of these, at least and at most
_HELD = 2.5  # deviations of noise: the share of the people that the widest laws have in a bin, over its width
_RANGE = 50.0  # the longest length that is told apart, over the shortest
_CHANCE = 0.03  # that noise makes people of nothing in any bin
_SEEMS = 1.5  # deviations of noise: people in bins beside others who seem to be there
_SEEN = 0.75  # of the people must stand out of the noise, or their rows are taken to be as long as is usual


def learn_groups(group: NDArray[np.int8], rho: float) -> Groups:
    """Return the sizes of the groups: exact where they are public, for which `rho` is 0.

    One person replaced moves the two counts by (1, -1), or one of them by 1.
    """
    counts = np.array([np.count_nonzero(group == side) for side in (0, 1)])
    if rho == 0:
        return Groups(float(counts[0]), float(counts[1]), 0.0)
    noisy = with_noise(counts, math.sqrt(2), rho)
    return Groups(float(noisy.sums[0]), float(noisy.sums[1]), float(noisy.deviation))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Start:
    """What is learned first: group sizes, where numbers lie, means, who has no entry. Public but the sample.

    `values` and `group` are those of the people who teach the constants, `part` their share of all; `rho` is
    what is left for contrasts, `unspent` how much of that was meant for learning.
    """

    groups: Groups
    share: float
    shares: NDArray[np.float64]
    missing: Missing
    columns: Columns
    scaling: Scaling
    means: Means
    values: RawArray
    group: NDArray[np.int8]
    part: float
    rho: float
    unspent: float


def learn_start(people: People, budget: Budget, groups: Groups | None = None) -> Start:
    """Learn all that does not depend on how rows are scaled and clipped.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the parts spent (docs/proofs/all-privacy.md).
    """
    groups = learn_groups(people.group, budget.groups) if groups is None else groups
    share = round(groups.share * PARTS) / PARTS
    columns = Columns.of(people)
    sample, values = sampled(people.values)
    # Counts move as much by one who leaves as by one who is replaced: half for each of two subgroups.
    where = learn_where(
        values, columns, budget.where / people.seen, people.size * len(values) / max(people.rows, 1)
    )
    unknown, scaling = np.isinf(where.present_sd), where.scaling
    means, unspent = Means(where.mean, where.present, where.present_sd), where.unspent * people.seen
    if unknown.any():
        entries = scaling.shares(values, columns, unknown)
        means = means.or_else(learn_means(entries, people, unknown, budget.centre / people.seen), unknown)
        rate = np.clip(means.mean, 0.0025, 0.9975)  # their deviation is at least a twentieth then
        spread = np.where(scaling.zero_to_one(columns), np.sqrt(rate * (1 - rate)), scaling.spread)
        scaling = replace(scaling, spread=spread)
    else:
        unspent += budget.centre
    part = len(values) / max(people.rows, 1)
    means = means.of_all(part)
    norm = missing_norm(people, groups, means)
    rho = budget.contrast + budget.stages + unspent
    wanted = missing_share(norm, groups, means, share, rho)
    more = max(min(wanted, _MISSING) * rho - budget.missing, 0.0)
    missing = learn_missing(people, columns, groups, means, share, norm, budget.missing + more)
    shares = shares_present(people, columns, groups, means, share, missing)
    public = (groups, share, shares, missing, columns, scaling, means)
    return Start(*public, values, people.group[sample], part, rho - more, unspent - more)


def missing_norm(people: People, groups: Groups, means: Means) -> float:
    """Return the norm that vectors of missing answers are clipped to: nobody's, as a rule.

    All of them may be missing in the smaller group, and what is clipped there would seem not to be missing.
    """
    first = [asked.places.start for asked in people.questions]
    rate = np.maximum(1 - means.present[first] / groups.people, 0.0)
    usual = float(rate.sum()) / min(groups.share, 1 - groups.share)
    return min(math.sqrt(len(first)), math.sqrt(1 + 2 * usual))


def learn_missing(
    people: People, columns: Columns, groups: Groups, means: Means, share: float, norm: float, rho: float
) -> Missing:
    """Return how unevenly entries are missing.

    A person's vector of missing answers is clipped to `norm`. Two vectors without negative entries and of
    this norm are sqrt(2) times as far apart.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    protected, larger = people.protect == "everything", max(share, 1 - share)
    first = np.array([asked.places.start for asked in people.questions], dtype=np.intp)
    total = sum_lacking(people.values, first, people.group, norm)
    moved = PARTS * FINE * norm * max(math.sqrt(2) * larger, float(protected))
    uneven = with_noise(contrast(total, share), moved, rho, 1 / (PARTS * FINE))
    clear, at = np.abs(uneven.sums) > CLEAR * float(uneven.deviation), columns.question
    excess, variance = alike(uneven, usual_unevenness(groups, means, share)[first])
    return Missing(uneven, clear[at], excess[at], variance[at])


def shares_present(
    people: People, columns: Columns, groups: Groups, means: Means, share: float, missing: Missing
) -> NDArray[np.float64]:
    """Return the second group's share of those present in each column of numbers, in whole parts."""
    n = groups.people
    second = np.clip(share * means.present + (groups.second - share * n) - missing.excess, 0.0, means.present)
    shares = np.full(len(people), share)
    at = columns.numbers
    if at.size:
        # A share further from 1/2 would let one person weigh more, which costs as much as it would gain.
        least = min(share, 1 - share)
        exact = np.clip(second[at] / np.maximum(means.present[at], 1.0), least, 1 - least)
        clear = missing.clear[at]
        shares[at] = np.where(clear, np.round(exact * PARTS) / PARTS, share)
    return shares


def learn(people: People, budget: Budget, start: Start) -> Learned:
    """Learn the other constants; rows are clipped to balls where that pays.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the parts spent (docs/proofs/all-privacy.md).
    """
    groups, shares, columns, means, part = start.groups, start.shares, start.columns, start.means, start.part
    protected = people.protect == "everything"
    unsure = _unsure(groups, start.share, budget.weights, protected=protected)
    rows = scaled_rows(people, means, start.scaling, columns, groups.people, shares, start.rho, unsure)
    boxes = boxes_of(people, rows)
    rules = rows.rules(start.scaling, columns)
    lengths = partial(row_lengths, start.values, rules)
    usual, signed = usual_norms(rows, start.scaling), ~rows.positive
    norm_of = partial(learn_norms, rho=budget.norms / 2, inside=start.group >= 0, people=groups.people * part)
    norms = (
        norm_of(lengths(rows.positive), boxes[0], usual[0]),
        norm_of(lengths(signed), boxes[1], usual[1]),
    )
    largest = max(start.share, 1 - start.share, float(protected))
    best = partial(
        best_balls,
        boxes=boxes,
        shares=shares,
        positive=rows.positive,
        people=groups.people,
        rho=start.rho,
        offset=float(np.sum(rows.shift**2)),
        weight_sd=largest / math.sqrt(2 * max(budget.weights, 1e-12)),
        protected=protected,
    )
    balls, unspent = best(norms), start.unspent
    total = Totals.of(start.values, start.group, balls, rows.positive, np.stack([rules, rules]))
    labels = largest_labels(shares, rows.positive)
    sensitivity = sensitivities_of(boxes, balls, labels, protected=protected, seen=people.seen)
    noisy = with_noise(total.rows[0], sensitivity.sums, budget.recentre, 1 / FINE)
    kept = norms[0].mean_weight(balls.positive), norms[1].mean_weight(balls.signed)
    weight, difference = np.where(rows.positive, *kept), np.zeros(len(people))
    centred = noisy.sums - rows.shift / FINE * weight * groups.people * part
    if two_centres_are_free(boxes[1], balls.signed):
        there = means.present * max(part, 1e-9)
        mean = replace(noisy, sums=centred, unit=0.0).over(there)
        difference = _differences(total, sensitivity, start, weight, mean, rows.positive, budget.difference)
        # Around two centres rows are shorter.
        shorter = FINE**2 * float(np.sum(shares * (1 - shares) * difference**2))
        norms = norms[0], norms[1].shorter_by(shorter)
    else:
        unspent += budget.difference
    there = means.present * part * weight
    # Centres move as far as they are more likely to be wrong than what was told of them.
    wrong = np.where(rows.answers, means.present_sd / means.present * rows.scale, _OFF) ** 2
    trust = wrong / (wrong + (noisy.deviation / there) ** 2)
    scaling, rows = around_centres(start.scaling, rows.moved_by(trust * centred / there), columns)
    boxes = boxes_of(people, rows)
    balls = _fitted(best(norms), boxes)
    difference = difference if two_centres_are_free(boxes[1], balls.signed) else np.zeros(len(people))
    # A range that moves with its centre takes in other numbers: sums become smaller by about as many.
    moved = np.where(columns.without_bounds, _CUT * trust * centred, 0.0)
    sure = noisy.deviation**2 + moved**2 if part == 1 else np.full(len(people), math.inf)
    constants = (groups, start.share, shares, start.missing, columns, scaling, means, rows, norms, balls)
    learned = Learned(*constants, (1 - trust) * centred, sure, difference, Retained(), unspent)
    return _with_retained(learned, start, budget.retained)


def _with_retained(learned: Learned, start: Start, rho: float) -> Learned:
    """Return the constants with what clipping and cutting leave of the numbers of each group.

    Where one group spreads more than the other, more is taken from it in every column, so that all columns
    together tell how much (docs/proofs/all-p-values.md). Where nothing is taken the budget is left.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    rows, ball, signed = learned.rows, learned.balls.signed, ~learned.rows.positive
    cut = can_be_cut(learned.columns, learned.scaling, rows) & signed
    if not cut.any() and (math.isinf(ball.radius) or not signed.any()):
        return replace(learned, unspent=learned.unspent + rho)
    sides = learned.sides if learned.difference.any() else (rows, rows)
    rules = [side.rules(learned.scaling, learned.columns) for side in (rows, *sides)]
    counted = cut if cut.any() else signed
    # A person adds a vector of norm at most 1, without negative entries, to the sums of one group.
    total = retained_sums(start.values, start.group, rules, signed, counted, cut, ball)
    noisy = with_noise(total, math.sqrt(2) * FINE, rho, 1 / FINE)
    there = learned.means.present
    second = np.clip(learned.shares * there + learned.uneven, 0.0, there)
    present = start.part * np.stack([there - second, second])[:, counted].mean(axis=1)
    weight = learned.norms[1].mean_weight(ball)
    return replace(learned, retained=retained_of(noisy, present, weight, cut=bool(cut.any())))


def learn_norms(
    norm: NDArray[np.float64],
    box: Box,
    usual: float,
    rho: float,
    inside: NDArray[np.bool_],
    people: float,
) -> Norms:
    """Return how many people have rows of which `norm`, in one part; one person moves it by sqrt(2).

    People in neither group are not `inside`; about how many are is `people`. Where nothing is to be seen in
    the noise, rows are taken to be about as long as is `usual`.
    """
    if box.columns == 0:
        return Norms(np.ones(1), np.ones(1))
    # Bins as narrow as shows above the noise; the last ends at the longest length that there can be.
    ratio = 1 + min(max(_HELD / (math.sqrt(rho) * people), _WIDTHS[0]), _WIDTHS[1])
    bins = math.ceil(math.log(_RANGE) / math.log(ratio))
    edges = box.radius * ratio ** -np.arange(float(bins))[::-1]
    counts = np.bincount(np.searchsorted(edges[:-1], norm), inside, minlength=bins)
    noisy = with_noise(counts, math.sqrt(2), rho)
    # Bins that have more than noise, alone or with those beside them; and next to these what seems to.
    beside = np.convolve(noisy.sums, np.ones(3), "same") / math.sqrt(3)
    least = -ndtri(_CHANCE / bins) * noisy.deviation
    there = (noisy.sums > least) | (beside > least)
    for _ in range(bins):
        there |= (np.convolve(there, np.ones(3), "same") > 0) & (beside > _SEEMS * noisy.deviation)
    kept = np.where(there, np.maximum(noisy.sums, 0.0), 0.0)
    if kept.sum() <= _SEEN * people:
        around = 1 + math.sqrt(0.8 / box.columns) * np.array([-1.3, -0.5, 0.0, 0.5, 1.3])
        around = np.minimum(usual * np.sqrt(np.maximum(around, 0.1)), box.radius)
        return Norms(np.full(5, 0.2), np.maximum(around, 1.0))
    # Those who were lost in the noise may have the longest rows that are usual.
    lost = max(people - float(kept.sum()), 0.0)
    longest = edges[np.flatnonzero(kept)[-1]]
    share, norm = np.append(kept, lost), np.append(edges[0], edges[1:] / math.sqrt(ratio))
    return Norms(share / share.sum(), np.append(norm, min(max(longest, 1.25 * usual), box.radius)))


def _differences(
    total: Totals,
    sensitivity: Sensitivities,
    start: Start,
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
    noisy = with_noise(contrast(total.rows, shares), PARTS * sensitivity.contrast, rho, unit)
    size = shares * (1 - shares) * start.means.present * weight
    excess, unknown = uneven_labels(start.groups, start.share, shares, start.means, start.missing)
    mean_variance = np.square(mean.deviation)
    variance = noisy.deviation**2 + mean.sums**2 * unknown + mean_variance * (excess**2 + unknown)
    return clear_difference(noisy.sums - mean.sums * excess, np.sqrt(variance), size, positive)


def _unsure(groups: Groups, share: float, rho: float, *, protected: bool) -> float:
    """Return the variance of what will be known of sum (y - f): from the sizes of groups, and from itself."""
    moved = 1.0 if protected else max(share, 1 - share)
    return 1 / (1 / max(0.5 * groups.deviation**2, 1e-9) + 2 * rho / moved**2)


def _fitted(balls: Balls, boxes: tuple[Box, Box]) -> Balls:
    """Return balls of the same radii for boxes that moved a little."""
    positive, signed = (replace(ball, entry=box.entry) for ball, box in zip(balls.both, boxes, strict=True))
    return Balls(positive, signed)
