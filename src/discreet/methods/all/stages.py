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
from discreet.methods.all.geometry import Ball, box_of, reach_of
from discreet.methods.all.measure import measure_again, whole_rows
from discreet.methods.all.reading import Columns
from discreet.methods.all.shares import LATER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.after import Results
    from discreet.methods.all.measure import Learned, Measured


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """The contrasts of all stages together, each column's own noise, and which columns are left."""

    sums: NDArray[np.float64]
    variance: NDArray[np.float64]
    left: NDArray[np.bool_]

    def with_another(self, sums: NDArray[np.float64], variance: float) -> Contrast:
        """Return the mean with another measurement of the columns that are left, by inverse variance."""
        mean, noise = self.sums.copy(), self.variance.copy()
        before = self.variance[self.left]
        share = before / (before + variance)
        mean[self.left] += share * (sums - mean[self.left])
        noise[self.left] = before * (1 - share)
        return replace(self, sums=mean, variance=noise)


def staged(people: People, known: Learned, first: Measured, rho: float) -> tuple[Contrast, Results]:
    """Return the contrasts after all stages, and what follows from them; `rho` pays for the later ones."""
    noisy = first.contrast
    contrast = Contrast(
        noisy.sums, np.full(len(people), noisy.deviation**2), np.ones(len(people), dtype=np.bool_)
    )
    found = results(people, known, first, contrast.sums, contrast.variance)
    if rho == 0:
        return contrast, found
    rows = whole_rows(people, known)
    whole = sum(share for _, share in LATER)
    for least, share in LATER:
        left = contrast.left & (toward(found.z, people.alternative) >= least)
        contrast = replace(contrast, left=left)
        if not left.any():
            break
        some = people.asked(left)
        theirs = _known(some, known, left)
        again = measure_again(some, theirs, rows[:, left], rho * share / whole)
        # All stages in the units of the first, whose clipping left other weights.
        unit = known.weight / theirs.weight
        contrast = contrast.with_another(again.sums * unit, (again.deviation * unit) ** 2)
        found = results(people, known, first, contrast.sums, contrast.variance)
    return contrast, found


def _known(some: People, known: Learned, left: NDArray[np.bool_]) -> Learned:
    """Return the constants of the columns that are left, with a ball as wide as their number asks for."""
    rows = replace(known.rows, centre=known.rows.centre[left], scale=known.rows.scale[left])
    parts = ("centre", "below", "above", "spread")
    scaling = replace(known.scaling, **{part: getattr(known.scaling, part)[left] for part in parts})
    means = replace(known.means, mean=known.means.mean[left], present=known.means.present[left])
    theirs = replace(known, columns=Columns.of(some), scaling=scaling, means=means, rows=rows)
    box = box_of(some, rows)
    whole = Ball(math.inf, box.entry)
    if math.isinf(known.ball.radius):
        return replace(theirs, ball=whole)
    room = (known.ball.radius**2 - known.ball.entry**2) * np.count_nonzero(left) / left.size
    ball = Ball(math.sqrt(room + box.entry**2), box.entry)
    # Rows of fewer columns are shorter in proportion: clipped to this ball they keep about the same weights.
    protected = some.protect == "everything"
    clipped = reach_of(box, ball, known.share, protected=protected).contrast / known.weight
    if reach_of(box, whole, known.share, protected=protected).contrast <= clipped:
        return replace(theirs, ball=whole)
    ratio = math.sqrt(np.count_nonzero(left) / left.size)
    return replace(theirs, ball=ball, norms=replace(known.norms, norm=known.norms.norm * ratio))
