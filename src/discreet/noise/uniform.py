"""Whole numbers, uniform below a bound (docs/proofs/samplers.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.noise import entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray


def uniform_below(bound: int, count: int) -> NDArray[np.uint64]:
    """Return `count` independent integers, exactly uniform on [0, bound), bound <= 2**64; shape (count,).

    Words of just enough bits, drawn again where they reach `bound`: how often depends on `bound` and chance,
    so give it public bounds only.
    """
    bound = check.whole(bound, "bound", 1, 1 << 64)
    shift = np.uint64(64 - max(1, (bound - 1).bit_length()))
    values = entropy.words(count, np.uint64) >> shift
    if bound == 1:
        return np.zeros(count, dtype=np.uint64)
    last = np.uint64(bound - 1)
    again = np.flatnonzero(values > last)
    while again.size:
        values[again] = entropy.words(again.size, np.uint64) >> shift
        again = again[values[again] > last]
    return values
