"""The mirror rule: count negatives to bound false positives (docs/proofs/mirror.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mirror_prefix(signed: NDArray[np.float64], q: float) -> NDArray[np.int64]:
    """Return the positions of the positives in the longest prefix with (1 + negatives)/positives <= q.

    `signed` comes in an order that knows nothing of the signs. A null is negative at least as often as it is
    positive, so the negatives of a prefix stand for its false positives. The *longest* such prefix is a
    stopping time of the walk from the end; the first failure from the front is not one.
    """
    positive = signed > 0
    ups = np.cumsum(positive)
    downs = np.arange(1, signed.size + 1) - ups
    good = np.flatnonzero((1 + downs) <= q * np.maximum(ups, 1))
    if good.size == 0:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(positive[: good[-1] + 1])
