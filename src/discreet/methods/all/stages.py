"""Measure the columns that show something again, in stages: fewer columns, less noise.

Before each stage columns are dropped by a public rule on their own z scores so far; the noise of a stage
depends only on which columns are left. Proofs: docs/proofs/all-privacy.md, docs/proofs/all-fdr.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.after import results
from discreet.methods.all.budget import schedule
from discreet.methods.all.clipping import Ball, can_be_apart, clear_difference
from discreet.methods.all.record import Means
from discreet.methods.all.rows import FINE, PARTS, Columns, boxes_of
from discreet.methods.all.sums import contrast, with_noise
from discreet.methods.all.totals import reach_by, totals_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.after import Results
    from discreet.methods.all.clipping import Reach
    from discreet.methods.all.record import Learned, Measured, Noisy
    from discreet.methods.all.rows import Box

LEAST_OF_SUMS = 0.01
"""Of the budget of a stage: sums for which less would be best are not told again."""
_LITTLE = 0.02  # of the variance of noise: errors of means that add less are left as they are


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
    noisy = first.contrast
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
        reach, total = reach_by(asked, kept), totals_by(people, kept, left)
        price = rho * share / whole
        of_sums = _for_sums(known, first.sums, left, reach, price)
        exact, unit = contrast(total.rows, kept.shares), 1 / (PARTS * FINE)
        again = with_noise(exact, PARTS * reach.contrast, price - of_sums, unit)
        # All stages in the units of the first, whose clipping left other weights.
        unit = known.weight[left] / kept.weight
        lacking, _, also = kept.contrast_of_centres(kept.group_weights)
        combined = combined.and_also((again.sums + lacking) * unit, (again.deviation * unit) ** 2)
        if of_sums:
            more = with_noise(total.rows[0], reach.sums, of_sums, 1 / FINE)
            before = known.contrast_of_centres(known.group_weights)[2][left]
            more = replace(more, sums=(more.sums + also) * unit - before, deviation=more.deviation * unit)
            numbers = ~known.rows.positive
            first = replace(first, sums=_joined(first.sums, more.at(numbers[left]), left & numbers))
        outcome = results(people.alternative, known, first, combined.sums, combined.variance)
    return combined, outcome


def _for_sums(known: Learned, told: Noisy, left: NDArray[np.bool_], reach: Reach, rho: float) -> float:
    """Return how much of the budget of a stage is best spent on sums of the columns that are left.

    An error of a mean moves a contrast where less is left of one group's numbers than of the other's.
    """
    lever, signed = _lever(known)[left], ~known.rows.positive[left]
    if not signed.any():
        return 0.0
    added = float(np.median((np.broadcast_to(told.deviation, known.shares.shape)[left] * lever)[signed])) ** 2
    noise = (max(reach.contrast, 1.0) / FINE) ** 2 / (2 * rho)
    if not added > _LITTLE * noise:
        return 0.0
    # With a share s of the budget the noise is 1/(1-s) times as large, and what means add is own/s.
    own = float(np.median(lever[signed])) ** 2 * (reach.sums / FINE) ** 2 / (2 * rho) / noise
    share = math.sqrt(own) / (1 + math.sqrt(own))
    return rho * share if share > LEAST_OF_SUMS else 0.0


def _lever(known: Learned) -> NDArray[np.float64]:
    """Return by about how much contrasts move with the sums of their columns, in which the groups are alike.

    They do where more are present in one group, and where more is left of one group's numbers.
    """
    f, present = known.shares, known.means.present
    uneven = known.uneven**2 + known.uneven_variance
    gap = math.hypot(known.remains.gap, known.remains.unsure)
    return np.sqrt(uneven + np.where(known.rows.positive, 0.0, gap * f * (1 - f) * present) ** 2) / present


def _joined(told: Noisy, more: Noisy, at: NDArray[np.bool_]) -> Noisy:
    """Combine sums of all columns with those told again of the ones `at`, by inverse variance."""
    sums, deviation = told.sums.copy(), np.broadcast_to(told.deviation, told.sums.shape).copy()
    trust = deviation[at] ** 2 / (deviation[at] ** 2 + np.square(more.deviation))
    sums[at] += trust * (more.sums - sums[at])
    deviation[at] *= np.sqrt(1 - trust)
    return replace(told, sums=sums, deviation=deviation)


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
