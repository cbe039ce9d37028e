"""The main sums: the contrast of the groups for every hypothesis, in stages that drop what shows nothing.

A column is dropped by a public rule on its own z score so far; the noise of a stage depends on which columns
are left and on nothing else. Proof that this costs no false discoveries: docs/proofs/all-fdr.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.alternative import toward
from discreet.methods.all.adding import Totals
from discreet.methods.all.after import results
from discreet.methods.all.clipping import can_be_apart, clear_difference
from discreet.methods.all.geometry import Ball, boxes_of, pull_of, reach_of
from discreet.methods.all.noisy import check_noise, with_noise
from discreet.methods.all.reading import FINE, PARTS, Columns
from discreet.methods.all.record import Means, Measured, Noisy
from discreet.methods.all.tiles import contrast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.after import Results
    from discreet.methods.all.budget import Budget, Stages
    from discreet.methods.all.geometry import Box, Reach
    from discreet.methods.all.record import Learned

_MOST = 2**29  # no sum is moved by more than this, times the square root of the columns
_STAGES = 8  # later ones; none spends less than one in so many parts


def check_budget(budget: Budget, columns: int) -> None:
    """Refuse, before anything is spent, a budget that asks for noise that cannot be drawn."""
    main = (budget.contrast, budget.squares, budget.missing, budget.stages / _STAGES or budget.contrast)
    most = _MOST * math.sqrt(columns) / math.sqrt(2 * min(main))
    check_noise(1 / math.sqrt(2 * budget.whole), most)


def settled(people: People, known: Learned, budget: Budget) -> Budget:
    """Return the budget of what is measured, with what learning has left, divided as the rows ask for."""
    budget = budget.and_also(known.left)
    rows, present = known.rows, known.means.present
    exact = known.groups.deviation == 0 and math.isinf(known.balls.positive.radius)
    if exact or not rows.positive.any():
        budget = replace(budget, weights=0.0).and_also(budget.weights)
    reach = _reach(people, known)
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


def measure(people: People, known: Learned, budget: Budget) -> Measured:
    """Tell the sums of all columns.

    Guarantee: the composition of Gaussian events, of the parts contrast, sums, squares and weights.
    """
    share, shares, protected = known.share, known.shares, people.protect == "everything"
    reach = _reach(people, known)
    total = _totals(people, known)
    weighed = PARTS * FINE * max(float(protected), math.sqrt(people.seen) * max(share, 1 - share))
    unit = 1 / (PARTS * FINE)
    sums = with_noise(total.rows[0], reach.sums, budget.sums, 1 / FINE)
    contrasts = with_noise(contrast(total.rows, shares), PARTS * reach.contrast, budget.contrast, unit)
    return Measured(
        replace(contrasts, sums=contrasts.sums + known.weight * known.contrast_of_centres()[0]),
        sums if math.isinf(known.centred) else _sharper(sums, known),
        with_noise(total.squares, reach.squares, budget.squares, 1 / FINE**2),
        with_noise(contrast(total.weights, share), weighed, budget.weights, unit)
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


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """The contrasts of all stages together, each column's own noise, and which columns are left."""

    sums: NDArray[np.float64]
    variance: NDArray[np.float64]
    left: NDArray[np.bool_]

    def combined_with(self, sums: NDArray[np.float64], variance: NDArray[np.float64]) -> Contrast:
        """Return the mean with another measurement of the columns that are left, by inverse variance."""
        mean, noise = self.sums.copy(), self.variance.copy()
        before = self.variance[self.left]
        share = before / (before + variance)
        mean[self.left] += share * (sums - mean[self.left])
        noise[self.left] = before * (1 - share)
        return replace(self, sums=mean, variance=noise)


def staged(
    people: People, known: Learned, first: Measured, rho: float, later: Stages
) -> tuple[Contrast, Results]:
    """Return the contrasts after all stages, and what follows from them; `rho` pays for the later ones."""
    noisy = first.contrast
    contrast = Contrast(
        noisy.sums, np.full(len(people), noisy.deviation**2), np.ones(len(people), dtype=np.bool_)
    )
    outcome = results(people.alternative, known, first, contrast.sums, contrast.variance)
    if rho == 0:
        return contrast, outcome
    whole = sum(share for _, share in later)
    for least, share in later:
        left = contrast.left & (toward(outcome.z, people.alternative) >= least)
        contrast = replace(contrast, left=left)
        if not left.any():
            break
        asked = people.only(left)
        around = replace(known, apart=_apart(known, outcome))
        kept = _known(asked, around, left)
        again = measure_again(asked, kept, rho * share / whole)
        lacking = around.contrast_of_centres()[0][left] if kept.apart.any() else 0.0
        # All stages in the units of the first, whose clipping left other weights.
        unit = known.weight[left] / kept.weight
        sums = (again.sums + kept.weight * lacking) * unit
        contrast = contrast.combined_with(sums, (again.deviation * unit) ** 2)
        outcome = results(people.alternative, known, first, contrast.sums, contrast.variance)
    return contrast, outcome


def _apart(known: Learned, outcome: Results) -> NDArray[np.float64]:
    """Return how far apart the groups are, as far as that is clear from all stages so far."""
    size = known.shares * (1 - known.shares) * known.means.present * known.weight
    return clear_difference(outcome.contrast, np.sqrt(outcome.variance), size, known.rows.positive)


def _known(asked: People, known: Learned, left: NDArray[np.bool_]) -> Learned:
    """Return the constants of the columns that are left, with balls as wide as their number asks for."""
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
        columns=Columns.of(asked),
        scaling=scaling,
        means=means,
        rows=rows,
        balls=balls,
        norms=norms,
    )


def _smaller(ball: Ball, share: float, box: Box) -> Ball:
    """Return the ball for a share of the columns; none where their box is as small."""
    radius = math.sqrt(ball.room * share + min(box.entry**2, ball.room * share / 5)) if share else math.inf
    return Ball(radius if radius < box.radius else math.inf, box.entry)


def measure_again(people: People, known: Learned, rho: float) -> Noisy:
    """Tell the contrast of rows of fewer columns, for which it costs less noise.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    total = _totals(people, known)
    moved = PARTS * _reach(people, known).contrast
    return with_noise(contrast(total.rows, known.shares), moved, rho, 1 / (PARTS * FINE))


def _reach(people: People, known: Learned) -> Reach:
    """Return how far one person can move the sums of these rows.

    Around two centres an entry is no larger than the largest of all, and a row no longer than its ball, which
    is then what bounds it: `can_be_apart`.
    """
    boxes = boxes_of(people, known.rows)
    if known.apart.any():
        signed = replace(boxes[1], entry=max(boxes[1].entry, known.rows.most * FINE), squares=math.inf)
        boxes = boxes[0], signed
    pull = pull_of(known.shares, known.rows.positive)
    return reach_of(boxes, known.balls, pull, protected=people.protect == "everything", seen=people.seen)


def _totals(people: People, known: Learned) -> Totals:
    """Return the sums of people's rows around their group's centre. Private."""
    sides = known.sides if known.apart.any() else (known.rows, known.rows)
    return Totals.of(people.values, people.group, known.scaling, known.columns, sides, known.balls)
