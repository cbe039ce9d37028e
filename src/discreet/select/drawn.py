"""Items in the contest: how far their uniforms have been read, and their scores in units of the noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANGE = 2.0**40
"""Scores are clipped to this many noise scales around 0: public, and it keeps infinities in the contest."""

SCALES = (2.0**-900, 2.0**900)
"""Noise scales in use: RANGE of them neither overflows nor underflows. Public, like the scale."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Items with 80 bits of their uniforms: V lies in [bits, bits + 1) / 2**80."""

    index: NDArray[np.int64]
    high: NDArray[np.uint16]
    low: NDArray[np.uint64]


def in_scales(scores: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return scores in units of the noise scale, NaN at the bottom, clipped to +-RANGE."""
    with np.errstate(all="ignore"):
        return np.fmax(np.clip(scores / scale, -RANGE, RANGE), -RANGE)
