"""All sets of k ranks, in blocks that are counted exactly and split in two.

A set scores a x_t - b x_j, t the worst rank in it and j the best rank missing. Ranks are counted from 0, so
the set of the k best has t = k - 1 and j = k, and every other set has j < k <= t.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, isqrt


@dataclass(frozen=True, slots=True)
class Block:
    """The sets with worst rank in [worst, worst_end) and best missing rank in [missing, missing_end).

    `count` is how many there are.
    """

    k: int
    worst: int
    worst_end: int
    missing: int
    missing_end: int
    count: int

    @property
    def alone(self) -> bool:
        """Whether one worst and one missing rank are left."""
        return self.worst_end - self.worst == 1 and self.missing_end - self.missing == 1

    def by_worst(self) -> tuple[Block, Block]:
        """Split by the worst rank, at the geometric middle of a wide range."""
        k, low, high, missing, end = self.k, self.worst, self.worst_end, self.missing, self.missing_end
        cut = max(low + 1, isqrt(low * high)) if high > 4 * low else (low + high) // 2
        front = _count(k, low, cut, missing) - _count(k, low, cut, end)
        return Block(k, low, cut, missing, end, front), Block(k, cut, high, missing, end, self.count - front)

    def by_missing(self) -> tuple[Block, Block]:
        """Split by the missing rank, in half."""
        k, low, high, missing, end = self.k, self.worst, self.worst_end, self.missing, self.missing_end
        cut = (missing + end) // 2
        front = _count(k, low, high, missing) - _count(k, low, high, cut)
        return Block(k, low, high, missing, cut, front), Block(k, low, high, cut, end, self.count - front)


def _count(k: int, low: int, high: int, best: int) -> int:
    """Return how many sets with worst rank in [low, high) hold the `best` best: no such set holds k."""
    return comb(high - best, k - best) - comb(low - best, k - best) if best < k else 0


def best_set(k: int) -> Block:
    """Return the block that holds the set of the k best alone."""
    return Block(k, k - 1, k, k, k + 1, 1)


def other_sets(k: int, m: int) -> Block:
    """Return the block of all other sets of k out of m > k ranks."""
    return Block(k, k, m, 0, k, comb(m, k) - 1)
