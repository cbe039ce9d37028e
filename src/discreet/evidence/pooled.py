"""The floor lemma at work: a two-group difference divided by its own pooled standard deviation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.evidence import tails
from discreet.evidence.common import ceiling_for, conclude
from discreet.evidence.contribution import COARSE, bounds_of
from discreet.evidence.effect import effect
from discreet.evidence.groups import MEMBERSHIP, sizes
from discreet.evidence.staircase import staircase

if TYPE_CHECKING:
    from discreet.evidence.accumulate import Sums
    from discreet.evidence.evidence import Evidence


def floor_influence(step: float, shrink: float, clip: float) -> float:
    """Return how far a ratio N/S clipped to [0, clip] moves: |N' - N| <= step * S', S <= (1 + shrink) * S'.

    The floor lemma: z' - z = (N' - N)/S' + z (S - S')/S' <= step + clip * shrink, where z < clip is the
    smaller of the two; if z < 0 the first term alone bounds the clipped move. The same holds for |z|.
    """
    return step + clip * shrink


def pooled_evidence(
    sums: Sums, floor: float, sides: int, ceiling: float | None, tail: str, bounds: Any, *, proof: str
) -> Evidence:
    """Return the evidence of z = (T2 - f S) / sqrt(f (1 - f) V N / (N - 1)), V the sum of squares, floored.

    T2 is the second group's sum, S everyone's, f the second group's share; V = max(Q - S^2/N, N floor^2).
    One person replaced moves T2 - f S by at most max(f, 1 - f) and V by at most (N - 1)/N.
    """
    first, second = sizes(sums.count)
    people = first + second
    share = second / people
    total, everyone = sums.total[1] / COARSE, sums.total.sum(axis=0) / COARSE
    square = sums.square.sum(axis=0) / COARSE**2
    contrast = (1 - share) * total - share * (everyone - total)
    least = people * floor * floor
    factor = share * (1 - share) * people / (people - 1)
    variation = np.maximum(square - everyone * everyone / people, least)
    raw = contrast / np.sqrt(factor * variation)

    clip = ceiling_for(ceiling, people)
    step = max(share, 1 - share) / float(np.sqrt(factor * least))
    shrink = float(np.sqrt(1 + (people - 1) / people / least)) - 1
    influence = floor_influence(step, shrink, clip)
    knots = [least, 2 * least]
    while knots[-1] < people / 4:  # no sum of squares about the mean is larger
        knots.append(2 * knots[-1])
    # A bound for one sum of squares holds for all larger ones: one person then weighs less.
    pulls = [step * float(np.sqrt(least / knot)) for knot in (knots[0], *knots[:-1])]
    survivals = [
        tails.normal if tail == "normal" else tails.bounded_sum(people, bound, clip) for bound in pulls
    ]
    steps = staircase(knots, survivals, influence, clip)
    score = steps(raw, variation)
    if sides == 2:
        score = np.maximum(score, steps(-raw, variation))
    width = bounds_of(bounds, sums.names)[1]
    weight = share * first
    found = effect("difference of means", contrast / weight, max(share, 1 - share) / weight, width)
    return conclude(
        sums.names,
        score,
        sides=sides,
        top=steps.top,
        sup=steps.move,
        proof=proof,
        public=MEMBERSHIP,
        effect=found,
    )
