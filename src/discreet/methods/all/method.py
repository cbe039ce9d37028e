"""Release a noisy contrast of the groups for every hypothesis, then apply BH to the p-values.

The budget is divided by public numbers, constants such as centres and scales are learned privately, and the
contrasts are measured in stages. Before each later stage, columns that show nothing are dropped by a public
rule on their own z scores so far; the noise of a stage depends only on which columns are left, so that no
false discoveries are added. Proofs: docs/proofs/all-privacy.md, docs/proofs/all-fdr.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import adaptive_bh
from discreet.methods.all.after import Tested, units
from discreet.methods.all.budget import planned
from discreet.methods.all.learn import learn, learn_start
from discreet.methods.all.proved.method import ready_proved
from discreet.methods.all.record import Measured, Noisy
from discreet.methods.all.rows import FINE, PARTS
from discreet.methods.all.spread import ALIKE, UNLIKE
from discreet.methods.all.stages import LEAST_OF_SUMS, staged
from discreet.methods.all.sums import check_noise, contrast, with_noise, with_sample
from discreet.methods.all.totals import reach_by, totals_by
from discreet.methods.method import Ready, expected, released
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise, strongest_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.budget import Budget
    from discreet.methods.all.clipping import Reach
    from discreet.methods.all.record import Groups, Learned
    from discreet.methods.method import Parameters
    from discreet.report.release import Release

APPROXIMATE = (
    "p-values from the t distribution are near the truth, which very rare answers in small groups can strain,"
    " and columns that do not differ are independent of the rest, or nearly so"
)
_CUT = 0.1  # about by how much what is left of both groups' numbers may differ in one column, at least
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
    later = LEAST_OF_SUMS * budget.stages / _STAGES or budget.contrast
    main = (budget.contrast, budget.squares, budget.missing, later)
    most = _MOST * math.sqrt(columns) / math.sqrt(2 * min(main))
    check_noise(1 / math.sqrt(2 * budget.whole), most)


def settled(people: People, known: Learned, budget: Budget) -> Budget:
    """Return the budget of the measurements, with what learning has left, divided to suit these rows."""
    budget = budget.and_also(known.left)
    rows, present = known.rows, known.means.present
    if not _weighed(known):
        budget = replace(budget, weights=0.0).and_also(budget.weights)
    reach = reach_by(people, known)
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


def _weighed(known: Learned) -> bool:
    """Say whether the weights that clipping leaves answers without negative entries must be measured.

    They must be even where nothing is clipped, if the sizes of the groups are not known.
    """
    exact = known.groups.deviation == 0 and math.isinf(known.balls.positive.radius)
    return bool(known.rows.positive.any()) and not exact


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
    taken = max(math.hypot(known.remains.gap, known.remains.unsure), _CUT) if known.remains.unsure else 0.0
    uneven += np.where(known.rows.positive, 0.0, taken * known.shares * (1 - known.shares) * present) ** 2
    deviation = reach.sums / FINE / math.sqrt(rho)
    added = (deviation / present) ** 2 * uneven / (variance * known.shares * (1 - known.shares))
    return float(np.median(added)), float(np.median(deviation**2 / known.centred))


def measure(people: People, known: Learned, budget: Budget) -> Measured:
    """Measure the sums of all columns with noise.

    Guarantee: the composition of Gaussian events that spend the parts contrast, sums, squares and weights.
    """
    share, shares, protected = known.share, known.shares, people.protect == "everything"
    reach = reach_by(people, known)
    total = totals_by(people, known)
    weighed = PARTS * FINE * max(float(protected), math.sqrt(people.seen) * max(share, 1 - share))
    unit = 1 / (PARTS * FINE)
    weights = Noisy(np.zeros(1), math.inf)
    if budget.weights:
        weights = with_noise(contrast(total.weights[:, :1], share), weighed, budget.weights, unit)
    by_group = np.stack([total.squares[0] - total.squares[1], total.squares[1]])
    sums = with_noise(total.rows[0], reach.sums, budget.sums, 1 / FINE)
    contrasts = with_noise(contrast(total.rows, shares), PARTS * reach.contrast, budget.contrast, unit)
    lacking, *_ = known.contrast_of_centres(known.group_weights)
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
