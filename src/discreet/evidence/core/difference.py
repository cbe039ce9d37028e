"""The difference of two groups' means, in one or several strata; its deviation known, capped or estimated."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.alternative import toward
from discreet.errors import InputError
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.common import basis_of, ceiling_for, conclude
from discreet.evidence.core.contribution import COARSE, FINE, bounds_of, scale
from discreet.evidence.core.effect import difference_effect, effect
from discreet.evidence.core.groups import both_groups
from discreet.evidence.core.invented import evidence_of_sums
from discreet.evidence.core.score_map import nuisance_score_map, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.groups import Groups
    from discreet.evidence.core.invented import Invented
    from discreet.evidence.stratified import Stratified
    from discreet.evidence.two_groups import TwoGroups

EFFECT = "difference of means"


def difference_sums(test: TwoGroups | Stratified, names: Sequence[str], groups: Groups) -> Sums:
    """Return an empty accumulator of a difference of means, its deviation known, capped or estimated."""
    estimated = test.floor is not None
    units = scale(test.bounds, names, *((0.5, COARSE) if estimated else (0.0, FINE)))
    return Sums(
        tuple(names),
        units,
        groups.weigh,
        partial(_difference, test, groups),
        cells=2 * len(groups.strata),
        squared=estimated,
        counted=not estimated,
    )


def _difference(test: TwoGroups | Stratified, groups: Groups, sums: Sums) -> Evidence:
    # Who is in which stratum is public: a misspelt one is said, not left out.
    people = sums.count.reshape(-1, 2).sum(axis=1)
    empty = [stratum for stratum, count in zip(groups.strata, people, strict=True) if count == 0]
    if empty and groups.stratum is not None:
        raise InputError(
            f"nobody of the two groups is in stratum {empty[0]!r}: strata are compared exactly; give "
            "them as the column has them, or leave that one out"
        )
    return contrast_evidence(test, sums) if test.floor is None else pooled_evidence(test, sums, test.floor)


def check_deviation(sd: float | None, floor: float | None) -> None:
    """Refuse a standard deviation both known and estimated."""
    if sd is not None and floor is not None:
        raise InputError("sd and floor exclude each other: the deviation is either known or estimated")


def contrast_evidence(test: TwoGroups | Stratified, sums: Sums) -> Evidence:
    """Return the evidence of the difference of means with known sd in all strata; `TwoGroups` has one.

    Each stratum compares the people present there. Where they are more unequally divided than everyone is, it
    weighs less, so that one person does no more than when everyone is present.
    """
    strata = both_groups(sums.count)
    first, second = np.moveaxis(sums.present.reshape(-1, 2, len(sums.names))[strata.used], 1, 0)
    total = sums.total.reshape(-1, 2, len(sums.names))[strata.used] / FINE
    present, pull = np.maximum(first + second, 1.0), strata.pull
    excess = first * total[:, 1] - second * total[:, 0]
    contrast = np.sum(excess / np.maximum(present, np.maximum(first, second) / pull), axis=0)
    deviation = (test.sd or 0.5) * float(np.sqrt(strata.weight))
    influence = pull / deviation
    people = int(strata.people.sum())
    clip = ceiling_for(test.ceiling, people)
    survival = tails.normal if test.tail == "normal" else tails.bounded_sum(people, influence, clip)
    steps = score_map(survival, influence, clip)
    unit = bounds_of(test.bounds, sums.names)[1]
    if strata.used.size == 1:
        smaller = float(np.min(strata.people * np.minimum(strata.share, 1 - strata.share)))
        size = difference_effect(EFFECT, first[0], second[0], excess[0], smaller, unit)
    else:
        size = effect(EFFECT, contrast / strata.weight, pull / strata.weight, unit, strata=strata.used.size)
    return conclude(
        sums.names,
        steps(toward(contrast / deviation, test.alternative)),
        alternative=test.alternative,
        top=steps.top,
        sup=steps.move(influence),
        proof="docs/proofs/two-groups.md",
        basis=basis_of(test.tail),
        public=strata.public,
        effect=size,
    )


def floor_influence(step: float, shrink: float, clip: float) -> float:
    """Return how far a ratio N/S clipped to [0, clip] moves: |N' - N| <= step * S', S <= (1 + shrink) * S'.

    The floor lemma: z' - z = (N' - N)/S' + z (S - S')/S' <= step + clip * shrink, where z < clip is the
    smaller of the two; if z < 0 the first term alone bounds the clipped move. The same holds for |z|.
    """
    return step + clip * shrink


def pooled_evidence(test: TwoGroups | Stratified, sums: Sums, floor: float) -> Evidence:
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
    clip = ceiling_for(test.ceiling, size)
    pull, margin = strata.pull, float(np.max(share * (1 - share)))
    step = pull / float(np.sqrt(least))
    influence = floor_influence(step, float(np.sqrt(1 + margin / least)) - 1, clip)
    knots = [least / margin, 2 * least / margin]
    while knots[-1] < float(factor @ people) / 4 / margin:  # no deviation is larger than half the width
        knots.append(2 * knots[-1])
    # A bound for one variance holds for all larger ones: one person then weighs less.
    pulls = [pull / float(np.sqrt(knot * margin)) for knot in (knots[0], *knots[:-1])]
    survivals = [
        tails.normal if test.tail == "normal" else tails.bounded_sum(size, most, clip) for most in pulls
    ]
    steps = nuisance_score_map(knots, survivals, influence, clip)
    width = bounds_of(test.bounds, sums.names)[1]
    return conclude(
        sums.names,
        steps(toward(raw, test.alternative), variance / margin),
        alternative=test.alternative,
        top=steps.top,
        sup=steps.move,
        proof="docs/proofs/two-groups.md",
        basis=basis_of(test.tail, "checked"),
        public=strata.public,
        effect=effect(EFFECT, contrast / strata.weight, pull / strata.weight, width, strata=strata.used.size),
    )


def invented_difference(
    test: TwoGroups | Stratified, z: NDArray[Any], people: Invented, strata: int
) -> Evidence:
    """Put everyone in the middle of the bounds but for a contrast of z standard errors, strata alike."""
    n, first, second = people.n, people.first, people.second
    actual = people.sd or test.sd or 0.5
    squared = test.floor is not None
    # The textbook z of the pooled test divides by N - 1.
    contrast = z * actual * np.sqrt(first * second / n * (n / (n - 1) if squared else 1.0))
    parts = COARSE if squared else FINE
    pair = [parts * (first / 2 - contrast) / strata, parts * (second / 2 + contrast) / strata]
    squares = [np.full(z.size, n * (actual**2 + 0.25)) * COARSE**2, np.zeros(z.size)] if squared else None
    return evidence_of_sums(test, [first / strata, second / strata] * strata, pair * strata, squares)
