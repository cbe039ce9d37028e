"""Rule out, with sixteen bits each, the items that cannot win among a few thousand: no line, two tables.

The first word of V encloses the noise; whoever lies below the k-th largest lower end is out.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise import entropy
from discreet.selection.contest.drawn import RANGE, Drawn, in_scales

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.laws import Law

_WORDS = 1 << 16
_MARGIN = 2.0 * (2.0**-20 + 2.0**-48 * RANGE)  # twice what floats can be wrong by, in tables and in levels
_EXTREME = 64  # so many words at either end leave the noise open by more than _WIDTH
_WIDTH = 3.0 / _EXTREME  # |noise'(v)| <= 2 / min(v, 1 - v), and a third for rounding


def coarse(scores: NDArray[np.float64], scale: float, k: int, law: Law) -> Drawn:
    """Return all who may be among the k largest noisy scores, drawn to 80 bits; there are more than k."""
    most, least = _ends(law)
    words = entropy.words(scores.size, np.uint16)
    level = in_scales(scores, scale)
    lowest = level + least.take(words)
    ranked = lowest.copy()
    ranked.partition(scores.size - k)
    line = ranked[scores.size - k] - _MARGIN
    # Who is a width below the line is out, but for extreme words, which the unsigned difference puts on top.
    near: NDArray[np.int64] = (
        (lowest >= line - _WIDTH) | (words - _EXTREME >= _WORDS - 2 * _EXTREME)
    ).nonzero()[0]
    near = near[level.take(near) + most.take(words.take(near)) >= line]
    return Drawn(near, scores.take(near), words.take(near), entropy.words(near.size, np.uint64))


@cache
def _ends(law: Law) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return noise(w / 2^16) for w = 0..65535, the most that word w can mean, and noise((w + 1) / 2^16)."""
    with np.errstate(all="ignore"):
        v = np.arange(_WORDS + 1) / _WORDS
        noise = law.isf(v, 1.0 - v)
    noise[0], noise[-1] = np.inf, -np.inf
    return noise[:-1].copy(), noise[1:].copy()
