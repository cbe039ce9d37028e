"""A difference of two public groups' means among the people present, its deviation known or capped."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.alternative import Alternative, toward
from discreet.evidence.core import tails
from discreet.evidence.core.common import basis_of, ceiling_for, conclude
from discreet.evidence.core.contribution import FINE, bounds_of
from discreet.evidence.core.effect import effect
from discreet.evidence.core.groups import MEMBERSHIP, sizes
from discreet.evidence.core.score_map import score_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.accumulate import Sums
    from discreet.evidence.core.effect import Effect
    from discreet.evidence.core.evidence import Evidence

_FEWEST = 0.8  # effects are shrunk where fewer than this share of the smaller group is present


def difference_evidence(
    sums: Sums, sd: float, alternative: Alternative, ceiling: float | None, tail: str, bounds: Any
) -> Evidence:
    """Return the evidence of z = (T2 - f S)/max(sd sqrt(n1 n2/N), a/D) among the N people present.

    f is the second group's share of them, a = max(f, 1 - f), and D what a/(sd sqrt(n1 n2/N)) is when everyone
    is present, which is all that one person can do to z; docs/proofs/two-groups.md.
    """
    whole = sizes(sums.count)
    people, many = sum(whole), max(whole)
    influence = many / people / (sd * sqrt(whole[0] * whole[1] / people))
    first, second = sums.present
    present = np.maximum(first + second, 1.0)
    contrast = (first * sums.total[1] - second * sums.total[0]) / (present * FINE)
    known = sd * np.sqrt(first * second / present)
    pull = np.maximum(first, second) / present
    raw = contrast / np.maximum(known, np.where(pull > 0, pull, 1.0) / influence)
    clip = ceiling_for(ceiling, people)
    survival = tails.normal if tail == "normal" else tails.bounded_sum(people, influence, clip)
    steps = score_map(survival, influence, clip)
    return conclude(
        sums.names,
        steps(toward(raw, alternative)),
        alternative=alternative,
        top=steps.top,
        sup=steps.move(influence),
        proof="docs/proofs/two-groups.md",
        basis=basis_of(tail),
        public=MEMBERSHIP,
        effect=difference_effect(
            "difference of means",
            first,
            second,
            contrast * present,
            min(whole),
            bounds_of(bounds, sums.names)[1],
        ),
    )


def difference_effect(
    name: str,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    excess: NDArray[np.float64],
    smaller: float,
    unit: NDArray[np.float64] | None = None,
    *,
    moves: int = 1,
) -> Effect:
    """Return excess/(n1 n2), nearer 0 where the groups have few people present; docs/proofs/compare.md.

    `excess` is the sum over pairs of the two groups of a number within +-1: a difference of values, or its
    sign. One person moves the effect by at most `moves` over the least number of people it is divided by.
    """
    fewest = _FEWEST * smaller
    few, many = np.minimum(first, second), np.maximum(first, second)
    share = excess / np.maximum(np.maximum(few, fewest) * many, fewest)
    return effect(name, share, min(2.0, moves / fewest), unit)
