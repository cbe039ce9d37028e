"""Rule out, with sixteen bits each, the items that cannot be among the k largest noisy scores.

Where the sieve draws its line changes the work and never the outcome, so the line may come from a sample.
Among a few thousand there is no line, but a table (`coarse`): the first word of V encloses the noise, and
whoever lies below the k-th largest lower end is out. C does it in two loops, and keeps the same items.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.kernels import compiled
from discreet.noise import entropy
from discreet.noise.uniform import uniform_below
from discreet.selection.contest.drawn import RANGE, Drawn, in_scales

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.laws import Law


_MARGIN = 2.0 * (2.0**-20 + 2.0**-48 * RANGE)  # twice what floats can be wrong by, in tables and in levels
_BITS = 10  # of a first word, that the tables know; fixed in kernels/contest.c


def coarse(scores: NDArray[np.float64], scale: float, k: int, law: Law) -> Drawn:
    """Return all who may be among the k largest noisy scores, drawn to 80 bits; there are at least k."""
    least, width = _ends(law)
    words = entropy.words(scores.size, np.uint16)
    lower = _lower_ends(scores, words, scale, least)
    ranked = lower.copy()
    ranked.partition(scores.size - k)
    near = _reaching(lower, words, ranked[scores.size - k] - _MARGIN - width)
    return Drawn(near, scores.take(near), words.take(near), entropy.words(near.size, np.uint64))


def _lower_ends(
    scores: NDArray[np.float64], words: NDArray[np.uint16], scale: float, least: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the least that everyone's noisy score can be after their first word, in units of the scale."""
    if compiled is None:
        return in_scales(scores, scale) + least.take(words >> 16 - _BITS)
    lower = np.empty(scores.size)
    compiled.lower_ends(scores, words, scale, least, lower)
    return lower


def _reaching(
    lower: NDArray[np.float64], words: NDArray[np.uint16], needed: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return whose lower end is not below what is needed with their first word."""
    if compiled is None:
        return (lower >= needed.take(words >> 16 - _BITS)).nonzero()[0]
    places = np.empty(lower.size, dtype=np.int64)
    return places[: compiled.reaching(lower, words, needed, places)]


@cache
def _ends(law: Law) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least noise that first words allow, and how far the most is above it; by their `_BITS`."""
    with np.errstate(all="ignore"):
        v = np.arange((1 << _BITS) + 1) / (1 << _BITS)
        noise = law.isf(v, 1.0 - v)
    noise[0], noise[-1] = np.inf, -np.inf
    return noise[1:].copy(), noise[:-1] - noise[1:]


_LEAST, _USUAL = 1 << 13, 1 << 16  # sampled scores: m/16 between these, and m/64 when m is huge
_BINS = 1024
_PER_SCALE = 4
_SAFE = 60.0  # too few items clear the line with probability below exp(-58); then everyone is drawn


@dataclass(frozen=True, slots=True)
class _Pilot:
    """A histogram of sampled scores in units of the noise scale; bin 0 reaches down without end.

    `lower` and `upper` lie `margin` outside the edges of the bins, more than what rounding can move.
    """

    counts: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    margin: float
    weight: float


def sieve(
    scores: NDArray[np.float64], scale: float, k: int, law: Law
) -> tuple[Drawn, float, NDArray[np.uint16]]:
    """Return the items whose noisy score may clear a line, drawn to 80 bits; the line; everyone's first word.

    Everyone else has x/scale + noise below the line, for certain.
    """
    pilot = _look(scores, scale, k)
    line = _line(pilot, k, law)
    # Few items score above a split, and those below it need a small word: only these are looked at closely.
    chance = law.sf(line - pilot.upper)
    above = np.cumsum(pilot.counts[::-1])[::-1] - pilot.counts
    split = int(np.argmin(above * pilot.weight + chance * scores.size))
    words = entropy.words(scores.size, np.uint16)
    # Without its margin the edge is so far down that no rounding lifts the product above upper * scale, and
    # within SCALES the product neither overflows nor underflows.
    edge = (pilot.upper[split] - pilot.margin) * scale
    near = np.flatnonzero((scores > edge) | (words <= _reach(chance[split])))
    level = in_scales(scores[near], scale)
    near = near[words[near] <= _reach(law.sf(line - level - _rounding(level)))]
    return Drawn(near, scores[near], words[near], entropy.words(near.size, np.uint64)), line, words


def _reach(chance: NDArray[np.float64] | np.float64) -> NDArray[np.uint16]:
    """Return the largest first word V can have below `chance`; a bigger word proves V > chance."""
    return np.minimum(np.floor(65536.0 * (1.0 + 2.0**-30) * chance), 65535.0).astype(np.uint16)


def _rounding(level: NDArray[np.float64] | float) -> NDArray[np.float64] | float:
    """Return more than the rounding error of a score in units of the noise scale."""
    return 2.0**-20 + np.abs(level) * 2.0**-48


def _look(scores: NDArray[np.float64], scale: float, k: int) -> _Pilot:
    """Sample the scores and count them in bins that hang from the best of the sample.

    Where the ranks that matter lie below all bins, the bins are hung around those ranks instead.
    """
    m = scores.size
    # To draw places costs more than to look at two scores for each.
    size = m if m <= 2 * _LEAST else max(_LEAST, min(_USUAL, m // 16), m // 64)
    level = in_scales(scores if size == m else scores[uniform_below(m, size)], scale)
    top = float(level.max())
    rank = min(size - 1, int(np.ceil(_wanted(_wanted(k) * size / m))))  # enough for `_line` to find a line
    kth = float(np.partition(level, size - 1 - rank)[size - 1 - rank])
    if kth < top - (_BINS - 64) / _PER_SCALE:
        top = kth + _BINS / _PER_SCALE / 2
    place = np.clip((level - top) * _PER_SCALE + (_BINS - 1), 0, _BINS - 1)
    edge = top + (np.arange(_BINS) - (_BINS - 1)) / _PER_SCALE
    margin = float(_rounding(top))
    # No level lies below -RANGE, whatever the score: an upper edge there would leave NaN and -inf out.
    upper = np.maximum(edge + 1 / _PER_SCALE, -RANGE) + margin
    counts = np.bincount(place.astype(np.int64), minlength=_BINS)
    return _Pilot(counts, edge - margin, upper, margin, m / size)


def _wanted(k: float) -> float:
    """Return a mean M such that a sum of independent coins falls below k with chance exp(-_SAFE) at most.

    Chernoff: P(sum < k) <= exp(-(M - k)**2 / (2 M)), so M solves M - sqrt(2 M _SAFE) = k.
    """
    return k + _SAFE + float(np.sqrt(_SAFE * (_SAFE + 2.0 * k)))


def _line(pilot: _Pilot, k: int, law: Law) -> float:
    """Return a high line that at least `_wanted(k)` items are expected to clear.

    The sample's sum S of chances in [0, 1] overstates its mean by more than sqrt(2 S _SAFE) with probability
    exp(-_SAFE) at most. One such event covers all lines, wherever the bins hang: S falls with the line, so if
    the line taken were above the fixed one that `_wanted(k)` items clear in the mean, S would overstate its
    mean at that fixed line too. Bins count at their lower edge, which only lowers S. The lowest line always
    passes: enough of the sample lies 40 scales above it.
    """
    used = np.flatnonzero(pilot.counts[1:]) + 1
    held, at = pilot.counts[used].astype(np.float64), pilot.lower[used]
    high, low = _BINS + 40 * _PER_SCALE, -40 * _PER_SCALE
    while high - low > 1:
        middle = (high + low) // 2
        total = float(held @ law.sf(pilot.lower[0] + middle / _PER_SCALE - at))
        enough = (total - np.sqrt(2.0 * total * _SAFE)) * pilot.weight >= _wanted(k)
        high, low = (high, middle) if enough else (middle, low)
    return float(pilot.lower[0] + low / _PER_SCALE)
