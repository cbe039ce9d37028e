"""The set of k whose score plus noise is largest among all sets of k: permute-and-flip on sets, exact.

Every set has an exponential variable E of its own; the noise is the whole part of E/epsilon, in units of the
spread, and ties go to the larger part behind the point. There are far too many sets to draw for, so blocks of
sets are drawn for, best first, and split while they may hold the winner (docs/proofs/joint.md). C does it in
doubles, where these leave no doubt: the same random words give the same choice there and in Python.
"""

from __future__ import annotations

import math
from fractions import Fraction
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.kernels import compiled
from discreet.noise import entropy
from discreet.selection.contest.contest import check_scale
from discreet.selection.contest.drawn import RANGE, in_one_piece
from discreet.selection.joint.arrival import Arrival, Uniform, Words
from discreet.selection.joint.ranks import Ranks
from discreet.selection.joint.subsets import Block, best_set, other_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARGIN = Fraction(1, 8)
"""The weight b of the best score left out, where k > 1: a set scores (1 - b) min inside - b max outside."""
_MARGIN = float(MARGIN)
MOST = 1024
"""The largest k that is offered: counts of sets have some k log2(m/k) bits."""
_WORDS = 512  # random words drawn at once: enough for nearly every choice in C
_IN_C, _LOGS = (
    128,
    690.0,
)  # in C k is at most 128, and m^k at most exp(690), so that counts of sets are doubles
_PLAIN = 2.0**-500, 2.0**500  # spreads whose products with whole numbers are exact in two doubles
_FRONT, _FRONT_OF_ONE = 1 << 14, 1 << 10  # ranks that are sorted at first


class _Entry:
    """A block, a bound on the scores of its sets, and its first arrival; larger keys come first. Private.

    The bound is a * inside - b * outside, in spreads; `after` is the score of the rank after the last worst
    one, and `wide` how far the scores of the missing ranks differ. `key` is the bound plus the whole part of
    the arrival, up to `doubt`.
    """

    __slots__ = ("after", "arrival", "block", "doubt", "inside", "key", "outside", "spread", "wide")

    def __init__(self, block: Block, ranks: Ranks, spread: float, arrival: Arrival, after: float) -> None:
        self.block, self.arrival, self.spread, self.after = block, arrival, spread, after
        self.inside = ranks.score(block.worst)
        self.outside = -self.inside  # with k = 1, alone
        self.wide = 0.0
        if block.k > 1:
            self.outside = ranks.score(block.missing_end - 1)
            self.wide = ranks.score(block.missing) - self.outside
        whole = arrival.whole()
        self.key = (self.inside - _MARGIN * (self.inside + self.outside)) / spread + whole
        # Five roundings of 2**-53, none of anything larger than this; the difference of two keys adds one.
        self.doubt = 2.0**-48 * (1.0 + (abs(self.inside) + abs(self.outside)) / spread + whole)

    @property
    def alike(self) -> bool:
        """Whether all sets of the block score alike."""
        single = self.block.worst_end - self.block.worst == 1
        return (single or self.inside == self.after) and self.wide == 0.0

    def halves(self) -> tuple[Block, Block]:
        """Split by whichever rank moves the score more."""
        single = self.block.worst_end - self.block.worst == 1
        deep = 0.0 if single else (1.0 - _MARGIN) * (self.inside - self.after)
        return self.block.by_missing() if _MARGIN * self.wide >= deep else self.block.by_worst()

    def exact(self) -> Fraction:
        """Return the bound without rounding."""
        inside, outside = Fraction(self.inside), Fraction(self.outside)
        return (inside - MARGIN * (inside + outside)) / Fraction(self.spread)

    def __lt__(self, other: _Entry) -> bool:
        """Tell whether this comes first: bound + whole part is larger, or as large and the rest larger."""
        lead = self.key - other.key
        if abs(lead) > self.doubt + other.doubt:
            return lead > 0
        lead = self.exact() - other.exact() + (self.arrival.whole() - other.arrival.whole())
        return lead > 0 or (lead == 0 and other.arrival.part_below(self.arrival))


def check_joint(k: int, m: int, spread: float, epsilon: float) -> None:
    """Refuse what cannot be drawn: too many at once, or noise beyond all floats."""
    if MOST < k < m:
        raise InputError(f'"joint" chooses at most {MOST} at once; got k = {k}: use "gumbel"')
    check_scale(spread / max(epsilon, 2.0**-1000))


@np.errstate(all="ignore")  # a warning, or an error in its place, would tell of the scores
def joint(scores: NDArray[np.float64], spread: float, k: int, epsilon: float) -> NDArray[np.int64]:
    """Return k positions, ascending: an epsilon-DP choice among all sets of k <= MOST; shape (k,).

    For neighbours whose scores rise by at most u and fall by at most v, u + v <= spread. NaN stands at
    -RANGE * spread, and scores are clipped to +-RANGE * spread.
    """
    if k == scores.size:
        return np.arange(k)
    negative = _negated(scores, RANGE * spread)
    words = entropy.words(_WORDS, np.uint64)
    chosen = in_c(negative, spread, k, epsilon, words)
    return in_python(negative, spread, k, epsilon, Words(words)) if chosen is None else chosen


def _negated(scores: NDArray[np.float64], limit: float) -> NDArray[np.float64]:
    """Return scores with changed signs, clipped to +-limit, NaN at the limit."""
    if compiled is None:
        negative = np.subtract(0.0, scores)  # 0 - 0 is 0, also where a zero is negative
        negative.clip(-limit, limit, out=negative)
        np.copyto(negative, limit, where=np.isnan(negative))
    else:
        negative = np.empty(scores.size)
        compiled.negated(in_one_piece(scores), limit, negative)
    return negative


def in_c(
    negative: NDArray[np.float64], spread: float, k: int, epsilon: float, words: NDArray[np.uint64]
) -> NDArray[np.int64] | None:
    """Return what `in_python` chooses with these words, or None where doubles cannot tell it for certain."""
    m = negative.size
    small = k <= _IN_C and k * math.log(m) < _LOGS and m < 1 << 30
    if compiled is None or not (small and _PLAIN[0] < spread < _PLAIN[1]):
        return None
    places = np.empty(k, dtype=np.int64)
    ranked = negative.copy()
    front = _FRONT if k > 1 else _FRONT_OF_ONE
    if m > 2 * front:  # a sort of all takes longer than the rest, and the first ranks often suffice
        ranked.partition(front)
        ranked[:front].sort()
        done = compiled.joint(negative, ranked[:front], spread, epsilon, words, places)
        if done >= 0:
            return places if done else None
    ranked.sort()
    return places if compiled.joint(negative, ranked, spread, epsilon, words, places) == 1 else None


def in_python(
    negative: NDArray[np.float64], spread: float, k: int, epsilon: float, words: Words
) -> NDArray[np.int64]:
    """Return the choice, with numbers of any size and as many bits as it takes; scores with changed signs."""
    ranks, exact = Ranks(negative), Fraction(epsilon)
    heap: list[_Entry] = []
    for block in (best_set(k), other_sets(k, negative.size)):
        arrival = Arrival(Uniform(words.next()), block.count, exact)
        heappush(heap, _Entry(block, ranks, spread, arrival, -np.inf))
    while not heap[0].alike:
        entry = heappop(heap)
        # The first arrival lies in either half in proportion to its size; the other half's comes later.
        halves = entry.halves()
        first = words.happens(halves[0].count, entry.block.count)
        for half, keeps in zip(halves, (first, not first), strict=True):
            fresh = None if keeps else Arrival(Uniform(words.next()), half.count, exact, entry.arrival)
            after = entry.after
            if half.worst_end < entry.block.worst_end:
                after = ranks.score(half.worst_end)
            heappush(heap, _Entry(half, ranks, spread, fresh or entry.arrival, after))
    winner = heap[0].block
    while not winner.alone:
        wide = winner.worst_end - winner.worst > 1
        near, far = winner.by_worst() if wide else winner.by_missing()
        winner = near if words.happens(near.count, winner.count) else far
    return np.sort(ranks.positions(_any_of(winner, words)))


def _any_of(block: Block, words: Words) -> NDArray[np.int64]:
    """Return the ranks of a set drawn uniformly from a block whose sets score alike; shape (k,)."""
    k, worst, kept = block.k, block.worst, block.missing
    if worst < k:
        return np.arange(k)
    # The best `kept` are in and the next is out. Floyd's way to draw the others before the worst.
    start, wanted, chosen = kept + 1, k - 1 - kept, set[int]()
    for last in range(worst - start - wanted, worst - start):
        pick = words.below(last + 1)
        chosen.add(last if pick in chosen else pick)
    inside = np.fromiter(chosen, dtype=np.int64, count=wanted)
    return np.concatenate((np.arange(kept), start + inside, [worst]))
