"""All sets of k ranks, in blocks that are counted exactly and split until every set in one scores alike.

A set scores a x_t - b x_j, t the worst rank in it and j the best rank missing. Ranks are counted from 0, so
the set of the k best has t = k - 1 and j = k, and every other set has j < k <= t.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, isqrt


@dataclass(frozen=True, slots=True)
class Block:
    """The sets with worst rank in [worst, worst_end) and best missing rank in [missing, missing_end).

    Where more than one worst rank is left, every missing rank is. `count` is how many sets there are.
    """

    k: int
    worst: int
    worst_end: int
    missing: int
    missing_end: int
    count: int

    @property
    def alike(self) -> bool:
        """Whether all sets in the block score alike."""
        return self.worst_end - self.worst == 1 and self.missing_end - self.missing == 1

    def halves(self) -> tuple[Block, Block]:
        """Split in two: by the worst rank, at the geometric middle of a wide range; then by the missing."""
        k, low, high = self.k, self.worst, self.worst_end
        if high - low > 1:
            cut = max(low + 1, isqrt(low * high)) if high > 4 * low else (low + high) // 2
            front = comb(cut, k) - comb(low, k)
            return Block(k, low, cut, 0, k, front), Block(k, cut, high, 0, k, self.count - front)
        middle = (self.missing + self.missing_end) // 2
        # Sets of this worst rank that hold the best `missing`, less those that hold the best `middle`.
        front = comb(low - self.missing, k - 1 - self.missing) - comb(low - middle, k - 1 - middle)
        return (
            Block(k, low, high, self.missing, middle, front),
            Block(k, low, high, middle, self.missing_end, self.count - front),
        )


def best_set(k: int) -> Block:
    """Return the block that holds the set of the k best alone."""
    return Block(k, k - 1, k, k, k + 1, 1)


def other_sets(k: int, m: int) -> Block:
    """Return the block of all other sets of k out of m > k ranks."""
    return Block(k, k, m, 0, k, comb(m, k) - 1)
