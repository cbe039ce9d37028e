"""Release a noisy contrast of the groups for every hypothesis, then apply BH to the p-values.

The budget is divided by public numbers, constants such as centres and scales are learned privately, and the
contrasts are measured in stages. Before each later stage, columns that show nothing are dropped by a public
rule on their own z scores so far; the noise of a stage depends only on which columns are left, so that no
false discoveries are added. Proofs: docs/proofs/all-privacy.md, docs/proofs/all-fdr.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import adaptive_bh
from discreet.methods.all.after import Tested, clear_difference, results, units
from discreet.methods.all.budget import may_need_ranks, planned, schedule, settled
from discreet.methods.all.clipping import Ball, row_sensitivities, two_centres_are_free
from discreet.methods.all.learn import learn, learn_groups, learn_start
from discreet.methods.all.proved.method import ready_proved
from discreet.methods.all.ranks import by_ranks
from discreet.methods.all.record import Means, Measured, Noisy
from discreet.methods.all.rows import FINE, PARTS, Columns, boxes_of
from discreet.methods.all.sizes import crowding
from discreet.methods.all.sums import (
    Statistic,
    Totals,
    check_noise,
    column_statistics,
    contrast,
    with_noise,
    with_sample,
)
from discreet.methods.method import Ready, expected, released
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise, strongest_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.after import Results
    from discreet.methods.all.budget import Budget
    from discreet.methods.all.clipping import Sensitivities
    from discreet.methods.all.record import Groups, Learned
    from discreet.methods.all.rows import Box
    from discreet.methods.method import Parameters
    from discreet.report.release import Release

APPROXIMATE = (
    "p-values from the t distribution are near the truth, which very rare answers in small groups can strain,"
    " and columns that do not differ are independent of the rest, or nearly so"
)
LOOK = 0.05
"""Of the budget, for a look at whether columns are alike."""
_ALIKE = 0.6  # of all numbers, in one narrow interval
_MOST = 2**29  # no sum is moved by more than this, times the square root of the columns
_LEAST_OF_SUMS = 0.01  # of the budget of a stage: sums for which less would be best are not told again
_LITTLE = 0.02  # of the variance of noise: errors of means that add less are left as they are
_STAGES = 8  # later ones; none spends less than one in so many parts


def ready_all(people: People, asked: Parameters) -> Ready:
    """Settle the shares of the budget; the draw learns the constants, measures and decides.

    Guarantee: one Gaussian event within (epsilon, delta). How it is divided may depend on earlier noisy
    answers (docs/proofs/all-privacy.md).
    """
    if people.covariates is not None:
        from discreet.methods.all.adjusted.method import ready_adjusted  # which imports this file

        return ready_adjusted(people, asked)
    if asked.guarantee == "proved":
        return ready_proved(people.held(), asked)
    people = with_sample(people)
    rho = gaussian_budget(asked.epsilon, asked.delta)
    columns = people.columns
    signals = expected(asked.expect, len(people)) // people.subgroups
    # Each subgroup spends as if there were no other: a person is in one (docs/proofs/subgroups.md).
    budgets = [planned(part, rho).of(rho) for part in people.parts()]
    for budget in budgets:
        check_budget(budget, columns)
    events = gaussian_events([rho])
    fdr = FdrPromise(asked.q, "simulated", APPROXIMATE, "discreet bench people --raw")

    def draw() -> Release:
        parts = zip(people.parts(), budgets, strict=True)
        tested = Tested.joined([measured(part, budget, signals) for part, budget in parts])
        record = tested.told(np.arange(len(people)), "adaptive BH")
        places = strongest_first(record, adaptive_bh(tested.p, asked.q))
        return released(
            "noise on every statistic", people, asked, events, places, record, fdr, tested.values(places)
        )

    return Ready(events, fdr, draw)


def measured(people: People, budget: Budget, signals: int, groups: Groups | None = None) -> Tested:
    """Learn the constants, measure, and compute p-values; columns dropped on the way count as p = 1.

    `signals` is about how many effects are expected; more are assumed where more are seen. Where people are
    too few to learn where columns of unlike numbers lie, ranks are told.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the whole budget.
    """
    with np.errstate(all="ignore"):  # a warning would speak of the data
        if may_need_ranks(people, budget):
            groups = learn_groups(people.group, budget.groups) if groups is None else groups
            price = LOOK * budget.whole
            if not columns_alike(people, price):
                rest = (budget.whole - budget.groups - price) * (1 - 2.0**-45)
                return by_ranks(people, groups, rest, signals)
            budget = replace(budget, contrast=budget.contrast - price)
        learned = learn(people, budget, learn_start(people, budget, groups))
        budget = settled(people, learned, budget)
        first = measure(people, learned, budget)
        contrast, results = staged(people, learned, first, budget.stages, signals)
    _, effects = units(learned.scaling, learned.columns, learned.rows)
    return Tested(tuple(map(str, people.names)), effects, results, np.where(contrast.active, results.p, 1.0))


def columns_alike(people: People, rho: float) -> bool:
    """Say whether the numbers of all columns without bounds crowd in one narrow interval.

    One person moves the histogram of all of k columns together by sqrt(2) k.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    free = Columns.of(people).free
    nowhere = np.zeros(free.size)
    total = column_statistics(Statistic.SIZES, people.held().values, free, nowhere, nowhere + 1).sum(axis=-1)
    noisy = with_noise(total, math.sqrt(2) * free.size, rho)
    entries = np.full(noisy.sums.size, free.size * max(people.size, 1.0))
    return crowding(noisy.over(entries)) >= _ALIKE


def check_budget(budget: Budget, columns: int) -> None:
    """Refuse, before anything is spent, a budget that asks for noise that cannot be drawn."""
    later = _LEAST_OF_SUMS * budget.stages / _STAGES or budget.contrast
    main = (budget.contrast - LOOK * budget.whole, budget.squares, budget.missing, later)
    most = _MOST * math.sqrt(columns) / math.sqrt(2 * min(main))
    check_noise(1 / math.sqrt(2 * budget.whole), most)


def measure(people: People, learned: Learned, budget: Budget) -> Measured:
    """Measure the sums of all columns with noise.

    Guarantee: the composition of Gaussian events that spend the parts contrast, sums, squares and weights.
    """
    share, shares, protected = learned.share, learned.shares, people.protect == "everything"
    sensitivity = row_sensitivities(people, learned)
    total = _totals(people, learned)
    weighed = PARTS * FINE * max(float(protected), math.sqrt(people.seen) * max(share, 1 - share))
    unit = 1 / (PARTS * FINE)
    weights = Noisy(np.zeros(1), math.inf)
    if budget.weights:
        weights = with_noise(contrast(total.weights[:, :1], share), weighed, budget.weights, unit)
    by_group = np.stack([total.squares[0] - total.squares[1], total.squares[1]])
    sums = with_noise(total.rows[0], sensitivity.sums, budget.sums, 1 / FINE)
    contrasts = with_noise(contrast(total.rows, shares), PARTS * sensitivity.contrast, budget.contrast, unit)
    lacking, *_ = learned.contrast_of_centres(learned.group_weights)
    return Measured(
        replace(contrasts, sums=contrasts.sums + lacking),
        _with_prior(sums, learned),
        with_noise(by_group, sensitivity.squares, budget.squares, 1 / FINE**2),
        weights,
    )


def _with_prior(sums: Noisy, learned: Learned) -> Noisy:
    """Combine the measured sums with what is known of them from when the centres were moved."""
    expected = learned.rows.shift / FINE * learned.weight * learned.groups.people + learned.rest
    trust = 1 / (1 + sums.deviation**2 / learned.centred)
    return replace(
        sums, sums=expected + trust * (sums.sums - expected), deviation=sums.deviation * np.sqrt(trust)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """The combined contrasts of all stages, the variance of their noise, and which columns are left."""

    sums: NDArray[np.float64]
    variance: NDArray[np.float64]
    active: NDArray[np.bool_]

    def and_also(self, sums: NDArray[np.float64], variance: NDArray[np.float64]) -> Contrast:
        """Combine with another measurement of the columns that are left, weighting by inverse variance."""
        mean, noise = self.sums.copy(), self.variance.copy()
        before = self.variance[self.active]
        share = before / (before + variance)
        mean[self.active] += share * (sums - mean[self.active])
        noise[self.active] = before * (1 - share)
        return replace(self, sums=mean, variance=noise)


def staged(
    people: People, learned: Learned, first: Measured, rho: float, signals: int
) -> tuple[Contrast, Results]:
    """Return the contrasts after all stages, and what follows from them; `rho` pays for the later ones.

    Which columns are dropped depends on the number of signals: the one expected, or the one that the first
    stage suggests if that is larger (half of the columns without an effect have p-values above 1/2).
    """
    noisy = first.contrast
    combined = Contrast(
        noisy.sums, np.full(len(people), noisy.deviation**2), np.ones(len(people), dtype=np.bool_)
    )
    outcome = results(people.alternative, learned, first, combined.sums, combined.variance)
    if rho == 0:
        return combined, outcome
    seen = len(people) - 2 * int(np.count_nonzero(outcome.p > 0.5))
    later = schedule(max(signals, seen), len(people))
    whole = sum(share for _, share in later)
    for least, share in later:
        active = combined.active & (outcome.z >= least)
        combined = replace(combined, active=active)
        if not active.any():
            break
        asked = people.asked(active)
        around = replace(learned, difference=_clear_differences(learned, outcome))
        kept = _constants(asked, around, active)
        # Rows of fewer columns: the same budget adds less noise.
        sensitivity, total = row_sensitivities(asked, kept), _totals(people, kept, active)
        price = rho * share / whole
        of_sums = _for_sums(learned, first.sums, active, sensitivity, price)
        exact, unit = contrast(total.rows, kept.shares), 1 / (PARTS * FINE)
        again = with_noise(exact, PARTS * sensitivity.contrast, price - of_sums, unit)
        # All stages in the units of the first, whose clipping left other weights.
        unit = learned.weight[active] / kept.weight
        lacking, _, also = kept.contrast_of_centres(kept.group_weights)
        combined = combined.and_also((again.sums + lacking) * unit, (again.deviation * unit) ** 2)
        if of_sums:
            more = with_noise(total.rows[0], sensitivity.sums, of_sums, 1 / FINE)
            before = learned.contrast_of_centres(learned.group_weights)[2][active]
            more = replace(more, sums=(more.sums + also) * unit - before, deviation=more.deviation * unit)
            numbers = ~learned.rows.positive
            first = replace(first, sums=_joined(first.sums, more.at(numbers[active]), active & numbers))
        outcome = results(people.alternative, learned, first, combined.sums, combined.variance)
    return combined, outcome


def _for_sums(
    learned: Learned, noisy: Noisy, active: NDArray[np.bool_], sensitivity: Sensitivities, rho: float
) -> float:
    """Return how much of the budget of a stage is best spent on sums of the columns that are left.

    An error of a mean moves a contrast where less is left of one group's numbers than of the other's.
    """
    lever, signed = _lever(learned)[active], ~learned.rows.positive[active]
    if not signed.any():
        return 0.0
    added = (
        float(np.median((np.broadcast_to(noisy.deviation, learned.shares.shape)[active] * lever)[signed]))
        ** 2
    )
    noise = (max(sensitivity.contrast, 1.0) / FINE) ** 2 / (2 * rho)
    if not added > _LITTLE * noise:
        return 0.0
    # With a share s of the budget the noise is 1/(1-s) times as large, and what means add is own/s.
    own = float(np.median(lever[signed])) ** 2 * (sensitivity.sums / FINE) ** 2 / (2 * rho) / noise
    share = math.sqrt(own) / (1 + math.sqrt(own))
    return rho * share if share > _LEAST_OF_SUMS else 0.0


def _lever(learned: Learned) -> NDArray[np.float64]:
    """Return by about how much contrasts move with the sums of their columns, in which the groups are alike.

    They do where more are present in one group, and where more is left of one group's numbers.
    """
    f, present = learned.shares, learned.means.present
    uneven = learned.uneven**2 + learned.uneven_variance
    gap = math.hypot(learned.retained.gap, learned.retained.unsure)
    return np.sqrt(uneven + np.where(learned.rows.positive, 0.0, gap * f * (1 - f) * present) ** 2) / present


def _joined(noisy: Noisy, again: Noisy, at: NDArray[np.bool_]) -> Noisy:
    """Combine sums of all columns with those told again of the ones `at`, by inverse variance."""
    sums, deviation = noisy.sums.copy(), np.broadcast_to(noisy.deviation, noisy.sums.shape).copy()
    trust = deviation[at] ** 2 / (deviation[at] ** 2 + np.square(again.deviation))
    sums[at] += trust * (again.sums - sums[at])
    deviation[at] *= np.sqrt(1 - trust)
    return replace(noisy, sums=sums, deviation=deviation)


def _clear_differences(learned: Learned, outcome: Results) -> NDArray[np.float64]:
    """Return how far apart the groups are in each column, where the stages so far make that clear."""
    size = learned.shares * (1 - learned.shares) * learned.means.present * learned.weight
    return clear_difference(outcome.contrast, np.sqrt(outcome.variance), size, learned.rows.positive)


def _constants(asked: People, learned: Learned, active: NDArray[np.bool_]) -> Learned:
    """Return the constants of the columns that are left, with clipping radii that suit their number."""
    parts = ("centre", "half_width", "spread")
    scaling = replace(learned.scaling, **{part: getattr(learned.scaling, part)[active] for part in parts})
    means = Means(learned.means.mean[active], learned.means.present[active], learned.means.present_sd[active])
    rows = learned.rows.only(active)
    boxes = boxes_of(asked, rows)
    # Rows of fewer columns are shorter in proportion: clipped so, they keep about the same weights.
    share = [
        float(np.count_nonzero(active & part)) / max(1, np.count_nonzero(part))
        for part in (learned.rows.positive, ~learned.rows.positive)
    ]
    balls = replace(
        learned.balls,
        positive=_smaller(learned.balls.positive, share[0], boxes[0]),
        signed=_smaller(learned.balls.signed, share[1], boxes[1]),
    )
    norms = tuple(
        replace(norm, norm=norm.norm * math.sqrt(part))
        for norm, part in zip(learned.norms, share, strict=True)
    )
    difference = (
        learned.difference[active] if two_centres_are_free(boxes[1], balls.signed) else np.zeros(len(asked))
    )
    return replace(
        learned,
        difference=difference,
        shares=learned.shares[active],
        missing=learned.missing.only(active),
        columns=Columns.of(asked),
        scaling=scaling,
        means=means,
        rows=rows,
        balls=balls,
        norms=norms,
    )


def _smaller(ball: Ball, share: float, box: Box) -> Ball:
    """Return the ball for a share of the columns; an infinite one where their box is as small."""
    radius = math.sqrt(ball.room * share + min(box.entry**2, ball.room * share / 5)) if share else math.inf
    return Ball(radius if radius < box.radius else math.inf, box.entry)


def _totals(people: People, learned: Learned, active: NDArray[np.bool_] | None = None) -> Totals:
    """Return the sums of people's rows around their group's centre, of columns that are `active`. Private."""
    sides = learned.sides if learned.difference.any() else (learned.rows, learned.rows)
    rules = np.stack([rows.rules(learned.scaling, learned.columns) for rows in sides])
    return Totals.of(people.values, people.group, learned.balls, learned.rows.positive, rules, active)
