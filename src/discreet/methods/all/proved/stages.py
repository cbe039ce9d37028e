"""Tell the contrasts of all questions, drop those that show nothing, tell the others again with less noise.

A question is dropped by a public rule on its own z scores so far; the noise of a stage depends on which
questions are left and on nothing else. Proof that this costs no false discoveries: docs/proofs/all-fdr.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.alternative import toward
from discreet.methods.all.proved.rows import sensitivities_of
from discreet.methods.all.record import Noisy
from discreet.methods.all.sums import with_noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.methods.all.proved.rows import QuestionBlock

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """Contrasts as they are, in parts of a step: the entries of all hypotheses, then presence. Private."""

    sums: NDArray[np.int64]
    parts: int

    def __repr__(self) -> str:
        return "Exact(private)"


def tell_in_stages(
    exact: Exact,
    blocks: Sequence[QuestionBlock],
    variance: Floats,
    budget: Sequence[float],
    least: Sequence[float],
    *,
    share: float,
    protected: bool,
    seen: int,
    alternative: Alternative,
) -> tuple[Noisy, NDArray[np.bool_]]:
    """Return the contrasts of all stages together, and which hypotheses are left at the end.

    Parameters
    ----------
    exact : Exact
        The contrasts.
    blocks : sequence of Block
        The questions.
    variance : array of float, shape (m,)
        About the variance of each contrast, but for noise.
    budget : sequence of float
        What each stage spends.
    least : sequence of float
        Before each stage but the first, questions are dropped that have no z score as large as this; where a
        question has several hypotheses, as the largest of so many is by chance.
    share, protected, seen, alternative : float, bool, int, {"two-sided", "greater", "less"}
        The public f, whether labels are protected, in how many such tables a person may be seen, and which
        differences count.

    Notes
    -----
    Guarantee: one Gaussian event for each part of the budget. That of a stage in which nothing is left is
    not used.
    """
    m = variance.size
    size = np.array([block.centre.size for block in blocks])
    question = np.concatenate([np.repeat(np.arange(size.size), size), np.arange(size.size)])
    mean, noise = np.zeros(question.size), np.full(question.size, np.inf)
    active = np.ones(size.size, dtype=np.bool_)
    for stage, rho in enumerate(budget):
        if stage:
            z = toward(mean[:m] / np.sqrt(noise[:m] + variance), alternative)
            highest = np.full(size.size, -np.inf)
            np.maximum.at(highest, question[:m], z)
            active &= highest >= _as_rare(least[stage - 1], size, two_sided=alternative == "two-sided")
        hypotheses = active[question]
        if not hypotheses.any():
            break
        some = [block for block, stays in zip(blocks, active.tolist(), strict=True) if stays]
        sensitivity = exact.parts * sensitivities_of(some, share, protected=protected, seen=seen).contrast
        again = with_noise(exact.sums[hypotheses], sensitivity, rho, 1 / exact.parts)
        precision = 1 / noise[hypotheses] + again.deviation**-2
        mean[hypotheses] += (again.sums - mean[hypotheses]) * again.deviation**-2 / precision
        noise[hypotheses] = 1 / precision
    return Noisy(mean, np.sqrt(noise), 1 / exact.parts), active[question[:m]]


def _as_rare(least: float, count: NDArray[np.int64], *, two_sided: bool) -> Floats:
    """Return what the largest of `count` z scores exceeds as often as one exceeds `least`."""
    sides = 2 if two_sided else 1
    chance = -np.expm1(math.log1p(-sides * float(ndtr(-least))) / count)
    return np.asarray(-ndtri(chance / sides), dtype=np.float64)
