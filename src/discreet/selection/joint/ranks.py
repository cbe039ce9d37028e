"""Scores in falling order, sorted only where somebody looks."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SORT = 512  # segments up to this long are sorted rather than cut


class Ranks:
    """Scores by rank, the largest at rank 0. Private.

    Cuts part the ranks into segments: nobody before a cut scores less than anybody after it, and a cut's own
    rank is exact. A segment is cut, or sorted, when one of its ranks is asked for.
    """

    def __init__(self, negative: NDArray[np.float64]) -> None:
        """Take scores without NaN, their signs changed; shape (m,)."""
        self._negative = negative
        self._ranked = negative.copy()
        self._cuts = [0, negative.size]
        self._sorted: set[int] = set()
        self._known: dict[int, float] = {}

    def score(self, rank: int) -> float:
        """Return the score of this rank."""
        known = self._known.get(rank)
        if known is None:
            known = self._known[rank] = self._find(rank)
        return known

    def _find(self, rank: int) -> float:
        while True:
            at = bisect_right(self._cuts, rank)
            start, end = self._cuts[at - 1], self._cuts[at]
            if start in self._sorted or (rank == start and start > 0):
                return -float(self._ranked[rank])
            if end - start <= _SORT:
                self._ranked[start:end].sort()
                self._sorted.add(start)
                continue
            # A rank near the front of a long segment has neighbours that will be asked for next.
            cut = start + _SORT if rank - start < _SORT else rank
            first = start + (start > 0)  # the rank of a cut stays where it is
            self._ranked[first:end].partition(cut - first)
            insort(self._cuts, cut)

    def positions(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions that hold these ranks; among equal scores the lower position comes first.

        That is the same order for every outcome: were it another one, an item might hold no rank at all.
        """
        worst = -self.score(int(ranks.max()))
        front = np.flatnonzero(self._negative <= worst)
        return front[np.argsort(self._negative[front], kind="stable")[ranks]]
