"""Ranges that noise made too narrow are widened, by how many numbers lie beyond them.

A comparison of groups as they are takes little harm from such a range. Beside covariates it bends what is
linear in them, far more than slopes that are taken off afterwards can straighten (docs/proofs/balance.md).
Columns that noise made seem zeros and ones, or zeros alone, have such a range as well.
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
_ZEROS = 0.5  # of a column that is compared by its signs, surely
_NOWHERE = 2.0**500  # the range of one that seemed zeros, and is not: next to nothing is left of it


def widened(
    values: NDArray[np.floating], scaling: Scaling, columns: Columns, present: Floats, rho: float
) -> tuple[Scaling, Floats]:
    """Return ranges that most numbers are inside of, and how many times as wide they are; shape (m,).

    Numbers that seem zeros and ones are all inside of theirs if they are. Where nothing but zeros was seen,
    signs are compared if most surely are zeros: of other columns nothing is known, not even their size.
    One person moves how many are beyond in k columns by sqrt(k) at most: in each by one.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    factor = np.ones(scaling.half_width.size)
    at = columns.numbers
    if not at.size:
        return scaling, factor
    counts = np.array([_beyond(values.T[place], scaling, place) for place in at], dtype=np.int64)
    told = with_noise(counts, math.sqrt(at.size), rho)
    there = np.maximum(present[at], 1.0)
    share, noise = told.sums / there, _SURELY * told.deviation / there
    surely, zeros = share - noise, scaling.signs(columns)[at]
    wide = ndtri(1 - FITS / 2) / ndtri(1 - np.clip(surely, FITS, _NOTHING) / 2)
    wide = np.where(surely >= _NOTHING, _FAR, wide)
    nowhere = _NOWHERE / np.maximum(scaling.half_width[at], 1 / _NOWHERE)
    factor[at] = np.where(zeros, np.where(share + noise < 1 - _ZEROS, 1.0, nowhere), wide)
    return replace(scaling, half_width=np.minimum(scaling.half_width * factor, _LARGEST)), factor


def _beyond(column: NDArray[Any], scaling: Scaling, place: int) -> int:
    away = np.abs(column.astype(np.float64) - scaling.centre[place])
    return int(np.count_nonzero(away > scaling.half_width[place]))
