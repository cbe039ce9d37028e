"""How many hypotheses to select: a noisy binary search whose cost does not depend on the answer.

At a candidate count r the search asks whether Q_r(x) >= level_r - Z, where Q_r(x) is the highest level that r
noisy scores are expected to reach. Q_r is monotone in the scores x and shifts with them, so one person moves
it by at most the sensitivity, and each answer is a function of one Gaussian release
(docs/proofs/aware-privacy.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.methods.aware.shortfall import rule_for
from discreet.noise.samplers import SIGMAS, rounded_gaussian

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.methods.aware.shortfall import Steps

STEPS = 64
"""Steps to one sensitivity: scores are rounded down to whole steps, and so is the noise of the search."""
MOST_STEPS = 2.0**38
"""The highest score there may be, in steps."""
_FARTHEST = 2.0**55
"""The largest level or noise scale, in steps: whole numbers then stay below 2**62."""
_NARROW = 2.0**31 - 2
_SLACK = 2.0**-12  # of a step: more than the rounding of scores up to MOST_STEPS


def step_of(sensitivity: float) -> float:
    """Return the step that scores are rounded to: slightly more than sensitivity/STEPS."""
    return sensitivity / (STEPS - _SLACK)


@np.errstate(all="ignore")  # a warning, or an error in its place, would tell of the scores
def in_steps(scores: NDArray[np.float64], sensitivity: float, ceiling: float = np.inf) -> Steps:
    """Return scores rounded down to whole steps, ascending; one person moves each by at most STEPS.

    This holds in floating point too: rounding x * factor errs by less than half the slack, and the factor is
    smaller by the slack. Where the public `ceiling` of the scores is low enough, half the memory suffices.
    """
    steps = scores * ((STEPS - _SLACK) / sensitivity)
    narrow = ceiling / step_of(sensitivity) < _NARROW
    ordered = np.floor(steps, out=steps).astype(np.int32 if narrow else np.int64)
    ordered.sort()
    return ordered


def merged(parts: Sequence[Steps]) -> Steps:
    """Return the scores of several blocks in ascending order, however they were divided into blocks."""
    if len(parts) == 1:
        return parts[0]
    ordered = np.concatenate(parts)
    ordered.sort()
    return ordered


@np.errstate(all="ignore")
def search(
    ordered: Steps,
    counts: NDArray[np.int64],
    scale: NDArray[np.float64],
    level: NDArray[np.float64],
    *,
    depth: int,
    sigma_steps: float,
    step: float,
    beta: float | None,
) -> int:
    """Return the position in `counts` of the last candidate that passed, or -1.

    Makes `depth` comparisons, each with fresh rounded Gaussian noise of standard deviation `sigma_steps`.
    With `beta`, a candidate r passes if a bound on its expected shortfall is at most beta*r; without, if at
    least r - 1/2 scores are expected above the level. Positions beyond the last candidate fail without a
    comparison. `scale` and `level` are in the units of the scores, `ordered` is in steps.
    """
    noise = rounded_gaussian(sigma_steps, depth)
    at, last = 0, -1
    for depth_left, z in zip(range(depth - 1, -1, -1), noise.tolist(), strict=True):
        middle = at + (1 << depth_left) - 1
        if middle < counts.size and math.isfinite(level[middle]):
            rule = rule_for(int(counts[middle]), float(scale[middle]) / step, beta, ordered.size)
            if rule.passes(ordered, whole_level(float(level[middle]), step) - z):
                last, at = middle, middle + 1
    return last


def check_steps(
    sigma_steps: float, scale: NDArray[np.float64], level: NDArray[np.float64], step: float
) -> None:
    """Refuse, before anything is drawn, noise and levels too large for whole numbers of steps."""
    finite = level[np.isfinite(level)]
    farthest = max(float(scale.max()), float(np.abs(finite).max(initial=0.0))) / step
    if not (SIGMAS[0] <= sigma_steps <= SIGMAS[1] and farthest <= _FARTHEST):
        raise InputError(
            f"epsilon and delta ask for noise of {sigma_steps / STEPS:g} sensitivities in the search for how "
            "many: change epsilon, or measure the scores in another unit"
        )


def whole_level(level: float, step: float) -> int:
    """Return a level in whole steps, rounded up by more than a score can be rounded up."""
    return math.ceil(level / step + 2.0**-10)
