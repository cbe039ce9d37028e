"""Items in the contest: how far their uniforms have been read, and their scores in units of the noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RANGE = 2.0**40
"""Scores are clipped to this many noise scales around 0: public, and it keeps infinities in the contest."""

SCALES = (2.0**-900, 2.0**900)
"""Noise scales in use: RANGE of them neither overflows nor underflows. Public, like the scale."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drawn:
    """Items, their scores, and 80 bits of their uniforms: V lies in [bits, bits + 1) / 2**80. Private.

    All that was ever read of these uniforms is here, so whoever holds the record can read on. `bounds`, where
    they are known already, are the noisy scores and the ends of intervals around them, shape (3, items).
    """

    index: NDArray[np.int64]
    score: NDArray[np.float64]
    high: NDArray[np.uint16]
    low: NDArray[np.uint64]
    bounds: NDArray[np.float64] | None = None

    def subset(self, chosen: NDArray[np.int64], bounds: NDArray[np.float64]) -> Drawn:
        """Return the chosen ones; `bounds` are everyone's."""
        subset = (
            self.index.take(chosen),
            self.score.take(chosen),
            self.high.take(chosen),
            self.low.take(chosen),
        )
        return Drawn(*subset, bounds.take(chosen, axis=1))

    def after(self, first: int) -> Drawn:
        """Return the same items, counted from `first`."""
        return self if first == 0 else replace(self, index=self.index + first)

    def __repr__(self) -> str:
        return "Drawn(private)"


def together(parts: Sequence[Drawn]) -> Drawn:
    """Return the items of several records as one."""
    return Drawn(
        np.concatenate([part.index for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.high for part in parts]),
        np.concatenate([part.low for part in parts]),
    )


def in_scales(scores: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return scores in units of the noise scale, NaN at the bottom, clipped to +-RANGE.

    Callers silence floating-point warnings, which would tell of the scores.
    """
    level = scores / scale
    level.clip(-RANGE, RANGE, out=level)
    np.copyto(level, -RANGE, where=np.isnan(level))
    return level


def in_one_piece(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores as C can read them: one after the other, where processors expect numbers."""
    return scores if scores.flags.carray else scores.copy()
