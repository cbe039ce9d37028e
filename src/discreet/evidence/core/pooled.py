"""The floor lemma at work: a two-group difference divided by its own pooled standard deviation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.alternative import Alternative, toward
from discreet.evidence.core import tails
from discreet.evidence.core.common import basis_of, ceiling_for, conclude
from discreet.evidence.core.contribution import COARSE, bounds_of
from discreet.evidence.core.effect import effect
from discreet.evidence.core.groups import both_groups
from discreet.evidence.core.nuisance import nuisance_score_map

if TYPE_CHECKING:
    from discreet.evidence.core.accumulate import Sums
    from discreet.evidence.core.evidence import Evidence


def floor_influence(step: float, shrink: float, clip: float) -> float:
    """Return how far a ratio N/S clipped to [0, clip] moves: |N' - N| <= step * S', S <= (1 + shrink) * S'.

    The floor lemma: z' - z = (N' - N)/S' + z (S - S')/S' <= step + clip * shrink, where z < clip is the
    smaller of the two; if z < 0 the first term alone bounds the clipped move. The same holds for |z|.
    """
    return step + clip * shrink


def pooled_evidence(
    sums: Sums,
    floor: float,
    alternative: Alternative,
    ceiling: float | None,
    tail: str,
    bounds: Any,
    *,
    proof: str,
) -> Evidence:
    """Return the evidence of z = sum_h (T2_h - f_h S_h) / sqrt(max(W, least)), W = sum_h k_h V_h.

    In stratum h (there may be only one), T2 is the second group's sum, S everyone's, f the second group's
    share, V the sum of squares about the mean and k = f (1 - f) N / (N - 1): W is the variance of the sum
    when groups are drawn by lot. least is W when every stratum has the deviation `floor`. One person replaced
    moves the sum by at most max_h max(f, 1 - f) and W by at most max_h f (1 - f).
    """
    strata = both_groups(sums.count)
    share, people = strata.share, strata.people
    total = sums.total.reshape(-1, 2, len(sums.names))[strata.used] / COARSE
    square = sums.square.reshape(-1, 2, len(sums.names))[strata.used].sum(axis=1) / COARSE**2
    everyone = total.sum(axis=1)
    contrast = strata.contrast(total)
    factor = share * (1 - share) * people / (people - 1)
    least = floor * floor * float(factor @ people)
    variance = np.maximum(factor @ (square - everyone * everyone / people[:, None]), least)
    raw = contrast / np.sqrt(variance)

    size = int(people.sum())
    clip = ceiling_for(ceiling, size)
    pull, margin = strata.pull, float(np.max(share * (1 - share)))
    step = pull / float(np.sqrt(least))
    influence = floor_influence(step, float(np.sqrt(1 + margin / least)) - 1, clip)
    knots = [least / margin, 2 * least / margin]
    while knots[-1] < float(factor @ people) / 4 / margin:  # no deviation is larger than half the width
        knots.append(2 * knots[-1])
    # A bound for one variance holds for all larger ones: one person then weighs less.
    pulls = [pull / float(np.sqrt(knot * margin)) for knot in (knots[0], *knots[:-1])]
    survivals = [tails.normal if tail == "normal" else tails.bounded_sum(size, one, clip) for one in pulls]
    steps = nuisance_score_map(knots, survivals, influence, clip)
    width = bounds_of(bounds, sums.names)[1]
    return conclude(
        sums.names,
        steps(toward(raw, alternative), variance / margin),
        alternative=alternative,
        top=steps.top,
        sup=steps.move,
        proof=proof,
        basis=basis_of(tail, "checked"),
        public=strata.public,
        effect=effect(
            "difference of means",
            contrast / strata.weight,
            pull / strata.weight,
            width,
            strata=strata.used.size,
        ),
    )
