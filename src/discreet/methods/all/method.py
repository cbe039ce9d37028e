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
from discreet.methods.all.after import Tested, results, units
from discreet.methods.all.budget import planned, schedule
from discreet.methods.all.clipping import Ball, can_be_apart, clear_difference, pull_of, reach_of
from discreet.methods.all.learn import learn, learn_start
from discreet.methods.all.proved.method import ready_proved
from discreet.methods.all.record import Means, Measured, Noisy
from discreet.methods.all.rows import FINE, PARTS, Columns, boxes_of
from discreet.methods.all.spread import ALIKE, UNLIKE, tilt_of
from discreet.methods.all.sums import Totals, check_noise, contrast, with_noise, with_sample
from discreet.methods.method import Ready, expected, released
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise, strongest_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.after import Results
    from discreet.methods.all.budget import Budget
    from discreet.methods.all.clipping import Reach
    from discreet.methods.all.record import Groups, Learned
    from discreet.methods.all.rows import Box
    from discreet.methods.method import Parameters
    from discreet.report.release import Release

APPROXIMATE = (
    "p-values from the t distribution are near the truth, which very rare answers in small groups can strain,"
    " and columns that do not differ are independent of the rest, or nearly so"
)
_CUT = 0.1  # about by how much the shares of both groups' numbers that are cut may differ
_MOST = 2**29  # no sum is moved by more than this, times the square root of the columns
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
        told = tested.told(np.arange(len(people)), "adaptive BH")
        places = strongest_first(told, adaptive_bh(tested.p, asked.q))
        return released(
            "noise on every statistic", people, asked, events, places, told, fdr, tested.values(places)
        )

    return Ready(events, fdr, draw)


def measured(people: People, budget: Budget, signals: int, groups: Groups | None = None) -> Tested:
    """Learn the constants, measure, and compute p-values; columns dropped on the way count as p = 1.

    `signals` is about how many effects are expected; more are assumed where more are seen.

    Guarantee: Gaussian(sqrt(2 rho)), rho being the whole budget.
    """
    with np.errstate(all="ignore"):  # a warning would speak of the data
        known = learn(people, budget, learn_start(people, budget, groups))
        budget = settled(people, known, budget)
        first = measure(people, known, budget)
        contrast, results = staged(people, known, first, budget.stages, signals)
    _, effects = units(known.scaling, known.columns, known.rows)
    return Tested(tuple(map(str, people.names)), effects, results, np.where(contrast.left, results.p, 1.0))


def check_budget(budget: Budget, columns: int) -> None:
    """Refuse, before anything is spent, a budget that asks for noise that cannot be drawn."""
    main = (budget.contrast, budget.squares, budget.missing, budget.stages / _STAGES or budget.contrast)
    most = _MOST * math.sqrt(columns) / math.sqrt(2 * min(main))
    check_noise(1 / math.sqrt(2 * budget.whole), most)


def settled(people: People, known: Learned, budget: Budget) -> Budget:
    """Return the budget of the measurements, with what learning has left, divided to suit these rows."""
    budget = budget.and_also(known.left)
    rows, present = known.rows, known.means.present
    if not any(_weighed(known)):
        budget = replace(budget, weights=0.0).and_also(budget.weights)
    reach = _reach(people, known)
    rho = 2 * (budget.squares + budget.sums + budget.contrast + budget.stages)
    size, middle = np.minimum(rows.scale, rows.most), rows.middle / FINE
    hidden = size * np.minimum(known.means.doubt / known.means.present, 0.5)
    level = np.clip(middle, hidden, size - hidden)
    variance = np.where(rows.answers, level * (size - level), (rows.scale * known.scaling.spread) ** 2)
    variance = np.maximum(variance * present, 1e-9)
    noise = (reach.contrast / FINE) ** 2 / rho / float(np.mean(variance * known.shares * (1 - known.shares)))
    squares = _of_squares(known, (reach.squares / FINE**2 / variance)[~rows.answers] ** 2 / rho)
    sums = ((size - 2 * level) * reach.sums / FINE / variance)[rows.answers] ** 2 / rho
    typical = float(np.median(sums)) if sums.size else 0.0
    return budget.sharpened(noise, squares, typical, _of_means(known, reach, variance, rho))


def _weighed(known: Learned) -> tuple[bool, bool]:
    """Say, for both parts of rows, whether the weights that clipping leaves each group must be measured.

    For answers that are not centred they must be, even where nothing is clipped, if the sizes of the groups
    are not known.
    """
    exact = known.groups.deviation == 0 and math.isinf(known.balls.positive.radius)
    positive = known.rows.positive
    return bool(positive.any()) and not exact, not (positive.all() or math.isinf(known.balls.signed.radius))


def _of_squares(known: Learned, error: NDArray[np.float64]) -> tuple[float, float]:
    """Return the squared relative error of a contrast's variance if squares got all of the budget.

    `error` is that of a sum of squares. Beside it, the share of the budget that would be needed to learn what
    is known anyway: for groups of equal size the variance follows from the squares of everybody, however
    different the spreads of the groups are.
    """
    if not error.size:
        return 0.0, 0.0
    f = known.share
    typical = float(np.median(error)) * (f**4 + (1 - f) ** 4) / (f * (1 - f)) ** 2
    return typical, typical / (ALIKE**2 + (UNLIKE * (1 - 2 * f)) ** 2)


def _of_means(known: Learned, reach: Reach, variance: NDArray[np.float64], rho: float) -> tuple[float, float]:
    """Return what errors of means add to the variance of contrasts, relative to that of sampling.

    This is for sums measured with the whole budget; beside it, the share of the budget that would be needed
    to learn what is known anyway. Errors of means matter where more people are present in one group, as far
    as that is known (what is not known of it moves a contrast in proportion to the mean itself, however well
    the mean is known), or where the numbers of one group are clipped more often.
    """
    present = known.means.present
    uneven = known.uneven**2 + np.where(np.isinf(known.centred), known.uneven_variance, 0.0)
    uneven += np.where(known.rows.answers, 0.0, _CUT * known.shares * (1 - known.shares) * present) ** 2
    deviation = reach.sums / FINE / math.sqrt(rho)
    added = (deviation / present) ** 2 * uneven / (variance * known.shares * (1 - known.shares))
    return float(np.median(added)), float(np.median(deviation**2 / known.centred))


def measure(people: People, known: Learned, budget: Budget) -> Measured:
    """Measure the sums of all columns with noise.

    Guarantee: the composition of Gaussian events that spend the parts contrast, sums, squares and weights.
    """
    share, shares, protected = known.share, known.shares, people.protect == "everything"
    reach = _reach(people, known)
    total = _totals(people, known)
    told = _weighed(known)
    weighed = PARTS * FINE * max(float(protected), math.sqrt(people.seen) * max(share, 1 - share))
    unit = 1 / (PARTS * FINE)
    weights = Noisy(np.zeros(2), math.inf)
    if budget.weights:
        exact = np.where(told, contrast(total.weights, share), 0)
        weights = with_noise(exact, weighed * math.sqrt(sum(told)), budget.weights, unit)
        weights = replace(weights, deviation=np.where(told, weights.deviation, math.inf))
    by_group = np.stack([total.squares[0] - total.squares[1], total.squares[1]])
    sums = with_noise(total.rows[0], reach.sums, budget.sums, 1 / FINE)
    contrasts = with_noise(contrast(total.rows, shares), PARTS * reach.contrast, budget.contrast, unit)
    lacking, *_ = known.contrast_of_centres(known.group_weights(tilt_of(known, weights)))
    return Measured(
        replace(contrasts, sums=contrasts.sums + lacking),
        _sharper(sums, known),
        with_noise(by_group, reach.squares, budget.squares, 1 / FINE**2),
        weights,
    )


def _sharper(sums: Noisy, known: Learned) -> Noisy:
    """Combine the measured sums with what is known of them from when the centres were moved."""
    expected = known.rows.shift / FINE * known.weight * known.groups.people + known.rest
    trust = 1 / (1 + sums.deviation**2 / known.centred)
    return replace(
        sums, sums=expected + trust * (sums.sums - expected), deviation=sums.deviation * np.sqrt(trust)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """The combined contrasts of all stages, the variance of their noise, and which columns are left."""

    sums: NDArray[np.float64]
    variance: NDArray[np.float64]
    left: NDArray[np.bool_]

    def and_also(self, sums: NDArray[np.float64], variance: NDArray[np.float64]) -> Contrast:
        """Combine with another measurement of the columns that are left, weighting by inverse variance."""
        mean, noise = self.sums.copy(), self.variance.copy()
        before = self.variance[self.left]
        share = before / (before + variance)
        mean[self.left] += share * (sums - mean[self.left])
        noise[self.left] = before * (1 - share)
        return replace(self, sums=mean, variance=noise)


def staged(
    people: People, known: Learned, first: Measured, rho: float, signals: int
) -> tuple[Contrast, Results]:
    """Return the contrasts after all stages, and what follows from them; `rho` pays for the later ones.

    Which columns are dropped depends on the number of signals: the one expected, or the one that the first
    stage suggests if that is larger (half of the columns without an effect have p-values above 1/2).
    """
    noisy, tilt = first.contrast, tilt_of(known, first.weights)
    combined = Contrast(
        noisy.sums, np.full(len(people), noisy.deviation**2), np.ones(len(people), dtype=np.bool_)
    )
    outcome = results(people.alternative, known, first, combined.sums, combined.variance)
    if rho == 0:
        return combined, outcome
    seen = len(people) - 2 * int(np.count_nonzero(outcome.p > 0.5))
    later = schedule(max(signals, seen), len(people))
    whole = sum(share for _, share in later)
    for least, share in later:
        left = combined.left & (outcome.z >= least)
        combined = replace(combined, left=left)
        if not left.any():
            break
        asked = people.asked(left)
        around = replace(known, apart=_apart(known, outcome))
        kept = _known(asked, around, left)
        # Rows of fewer columns: the same budget adds less noise.
        moved, total = PARTS * _reach(asked, kept).contrast, _totals(people, kept, left)
        exact, unit = contrast(total.rows, kept.shares), 1 / (PARTS * FINE)
        again = with_noise(exact, moved, rho * share / whole, unit)
        # All stages in the units of the first, whose clipping left other weights.
        unit = known.weight[left] / kept.weight
        sums = (again.sums + kept.contrast_of_centres(kept.group_weights(tilt))[0]) * unit
        combined = combined.and_also(sums, (again.deviation * unit) ** 2)
        outcome = results(people.alternative, known, first, combined.sums, combined.variance)
    return combined, outcome


def _apart(known: Learned, outcome: Results) -> NDArray[np.float64]:
    """Return how far apart the groups are in each column, where the stages so far make that clear."""
    size = known.shares * (1 - known.shares) * known.means.present * known.weight
    return clear_difference(outcome.contrast, np.sqrt(outcome.variance), size, known.rows.positive)


def _known(asked: People, known: Learned, left: NDArray[np.bool_]) -> Learned:
    """Return the constants of the columns that are left, with clipping radii that suit their number."""
    parts = ("centre", "reach", "spread")
    scaling = replace(known.scaling, **{part: getattr(known.scaling, part)[left] for part in parts})
    means = Means(known.means.mean[left], known.means.present[left], known.means.doubt[left])
    rows = known.rows.only(left)
    boxes = boxes_of(asked, rows)
    # Rows of fewer columns are shorter in proportion: clipped so, they keep about the same weights.
    share = [
        float(np.count_nonzero(left & part)) / max(1, np.count_nonzero(part))
        for part in (known.rows.positive, ~known.rows.positive)
    ]
    balls = replace(
        known.balls,
        positive=_smaller(known.balls.positive, share[0], boxes[0]),
        signed=_smaller(known.balls.signed, share[1], boxes[1]),
    )
    norms = tuple(
        replace(norm, norm=norm.norm * math.sqrt(part)) for norm, part in zip(known.norms, share, strict=True)
    )
    apart = known.apart[left] if can_be_apart(boxes[1], balls.signed) else np.zeros(len(asked))
    return replace(
        known,
        apart=apart,
        shares=known.shares[left],
        missing=known.missing.only(left),
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


def _reach(people: People, known: Learned) -> Reach:
    """Return how far one person can move the sums of these rows.

    Around two centres an entry is at most the largest entry plus the distance of the centres, and the length
    of a row is bounded by its ball alone: `can_be_apart`.
    """
    boxes = boxes_of(people, known.rows)
    if known.apart.any():
        entry = known.rows.most * FINE + float(np.max(np.abs(known.offsets)))
        signed = replace(boxes[1], entry=max(boxes[1].entry, entry), squares=math.inf)
        boxes = boxes[0], signed
    pull = pull_of(known.shares, known.rows.positive)
    return reach_of(boxes, known.balls, pull, protected=people.protect == "everything", seen=people.seen)


def _totals(people: People, known: Learned, left: NDArray[np.bool_] | None = None) -> Totals:
    """Return the sums of people's rows around their group's centre, of columns that are `left`. Private."""
    sides = known.sides if known.apart.any() else (known.rows, known.rows)
    rules = np.stack([rows.rules(known.scaling, known.columns) for rows in sides])
    return Totals.of(people.values, people.group, known.balls, known.rows.positive, rules, left)
