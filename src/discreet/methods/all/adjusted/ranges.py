"""Ranges that noise made too narrow are widened, by how many numbers lie beyond them.

A comparison of groups as they are takes little harm from such a range. Beside covariates it bends what is
linear in them, far more than slopes that are taken off afterwards can straighten (docs/proofs/balance.md).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from discreet.methods.all.sums import with_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.rows import Columns, Scaling

    Floats = NDArray[np.float64]

FITS = 0.05
"""Of numbers are beyond a range that fits, about: two deviations of a normal law either way."""
_SURELY = 1.5  # deviations of the noise: so many fewer may be beyond than were told
_NOTHING = 0.7  # from this share on nothing is known of where a column lies
_FAR = 2.0**20  # times as wide: next to nothing is left of such a column
_LARGEST = 1e307  # no range is wider: both its ends are numbers


def widened(
    values: NDArray[np.floating], scaling: Scaling, columns: Columns, present: Floats, rho: float
) -> tuple[Scaling, Floats]:
    """Return ranges that most numbers are inside of, and how many times as wide they are; shape (m,).

    One person moves how many are beyond in k columns by sqrt(k) at most: in each by one.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    factor = np.ones(scaling.half_width.size)
    still = scaling.zero_to_one(columns) | scaling.signs(columns)
    at = columns.numbers[~still[columns.numbers]]
    if not at.size:
        return scaling, factor
    counts = np.array([_beyond(values.T[place], scaling, place) for place in at], dtype=np.int64)
    told = with_noise(counts, math.sqrt(at.size), rho)
    there = np.maximum(present[at], 1.0)
    surely = told.sums / there - _SURELY * told.deviation / there
    wide = ndtri(1 - FITS / 2) / ndtri(1 - np.clip(surely, FITS, _NOTHING) / 2)
    factor[at] = np.where(surely >= _NOTHING, _FAR, wide)
    return replace(scaling, half_width=np.minimum(scaling.half_width * factor, _LARGEST)), factor


def _beyond(column: NDArray[Any], scaling: Scaling, place: int) -> int:
    away = np.abs(column.astype(np.float64) - scaling.centre[place])
    return int(np.count_nonzero(away > scaling.half_width[place]))
