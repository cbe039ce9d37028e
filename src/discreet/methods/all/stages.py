"""Measure all columns, drop those that show nothing, measure the others again: noise goes where it matters.

A column is dropped by a public rule on its own z score so far; the noise of a stage depends on which columns
are left and on nothing else. Proof that this costs no false discoveries: docs/proofs/all-fdr.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.alternative import toward
from discreet.methods.all.after import results
from discreet.methods.all.geometry import Ball, boxes_of
from discreet.methods.all.learn import Means
from discreet.methods.all.measure import measure_again, whole_rows
from discreet.methods.all.reading import Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.after import Results
    from discreet.methods.all.geometry import Box
    from discreet.methods.all.measure import Learned, Measured
    from discreet.methods.all.shares import Later


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """The contrasts of all stages together, each column's own noise, and which columns are left."""

    sums: NDArray[np.float64]
    variance: NDArray[np.float64]
    left: NDArray[np.bool_]

    def with_another(self, sums: NDArray[np.float64], variance: NDArray[np.float64]) -> Contrast:
        """Return the mean with another measurement of the columns that are left, by inverse variance."""
        mean, noise = self.sums.copy(), self.variance.copy()
        before = self.variance[self.left]
        share = before / (before + variance)
        mean[self.left] += share * (sums - mean[self.left])
        noise[self.left] = before * (1 - share)
        return replace(self, sums=mean, variance=noise)


def staged(
    people: People, known: Learned, first: Measured, rho: float, later: Later
) -> tuple[Contrast, Results]:
    """Return the contrasts after all stages, and what follows from them; `rho` pays for the later ones."""
    noisy = first.contrast
    contrast = Contrast(
        noisy.sums, np.full(len(people), noisy.deviation**2), np.ones(len(people), dtype=np.bool_)
    )
    found = results(people, known, first, contrast.sums, contrast.variance)
    if rho == 0:
        return contrast, found
    rows = whole_rows(people, known)
    whole = sum(share for _, share in later)
    for least, share in later:
        left = contrast.left & (toward(found.z, people.alternative) >= least)
        contrast = replace(contrast, left=left)
        if not left.any():
            break
        some = people.asked(left)
        theirs = _known(some, known, left)
        again = measure_again(some, theirs, rows[:, left], rho * share / whole)
        # All stages in the units of the first, whose clipping left other weights.
        unit = known.weight[left] / theirs.weight
        contrast = contrast.with_another(again.sums * unit, (again.deviation * unit) ** 2)
        found = results(people, known, first, contrast.sums, contrast.variance)
    return contrast, found


def _known(some: People, known: Learned, left: NDArray[np.bool_]) -> Learned:
    """Return the constants of the columns that are left, with balls as wide as their number asks for."""
    parts = ("centre", "reach", "spread")
    scaling = replace(known.scaling, **{part: getattr(known.scaling, part)[left] for part in parts})
    means = Means(known.means.mean[left], known.means.present[left], known.means.doubt[left])
    rows = known.rows.only(left)
    boxes = boxes_of(some, rows)
    # Rows of fewer columns are shorter in proportion: clipped so, they keep about the same weights.
    kept = [
        float(np.count_nonzero(left & part)) / max(1, np.count_nonzero(part))
        for part in (known.rows.positive, ~known.rows.positive)
    ]
    balls = replace(
        known.balls,
        positive=_smaller(known.balls.positive, kept[0], boxes[0]),
        signed=_smaller(known.balls.signed, kept[1], boxes[1]),
    )
    norms = tuple(
        replace(norm, norm=norm.norm * math.sqrt(share))
        for norm, share in zip(known.norms, kept, strict=True)
    )
    return replace(
        known,
        shares=known.shares[left],
        columns=Columns.of(some),
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
