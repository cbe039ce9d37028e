"""The k largest of scores plus independent continuous noise, in exact law and one pass.

Every item i owns a uniform real V_i, a stream of random bits read only as far as needed. Sixteen bits rule
out almost every item; eighty give the others' noise in floats with an error bound; where two error intervals
overlap, more bits and decimals decide. So the order that comes out is the order of x_i/scale + noise(V_i) for
true uniforms: no lattice, no ties, no rounding of the law (docs/proofs/contest.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.kernels import compiled
from discreet.noise import entropy
from discreet.noise.laws import Gumbel, Laplace
from discreet.selection.contest.drawn import SCALES, Drawn, in_one_piece, in_scales, together
from discreet.selection.contest.settle import exact_order
from discreet.selection.contest.sieve import coarse, sieve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.noise.laws import Law

_SMALL = 1 << 10  # up to so many items all bits are read at once
_FEW = 1 << 15  # up to so many items two tables cost less than a sieve
_ULPS = 2.0**-44  # 512 units in the last place: far more than log, log1p and a few additions can lose
_LEVEL_ULPS = 2.0**-50  # a level goes through one division and two additions: three roundings of 2**-53


@np.errstate(all="ignore")  # a warning, or an error in its place, would tell of the scores
def largest(scores: NDArray[np.float64], scale: float, k: int, law: Law) -> NDArray[np.int64]:
    """Return the positions of the k largest scores + scale * noise, largest first; shape (k,).

    NaN counts as minus infinity, and infinities as +-RANGE * scale, so every item can be chosen. A scale
    outside SCALES is refused before anything is drawn.
    """
    return _ranked(_contenders(scores, scale, k, law), scale, k, law)


def check_scale(scale: float) -> None:
    """Refuse a noise scale that cannot be drawn."""
    if not SCALES[0] <= scale <= SCALES[1]:
        raise InputError(
            f"sensitivity and epsilon ask for noise of scale {scale:g}, outside [{SCALES[0]:g}, "
            f"{SCALES[1]:g}]: measure the scores and sensitivity in another unit, or change epsilon"
        )


@np.errstate(all="ignore")
def contenders(scores: NDArray[np.float64], scale: float, k: int, law: Law, first: int = 0) -> Drawn:
    """Draw everyone's noise and return all who may be among the k largest, with the bits read so far.

    `first` is the place of the first score among all, when these are one block of several
    (docs/proofs/blocks.md).
    """
    return _contenders(scores, scale, k, law).after(first)


def _contenders(scores: NDArray[np.float64], scale: float, k: int, law: Law) -> Drawn:
    check_scale(scale)
    m, scores = scores.size, in_one_piece(scores)
    if _SMALL < m <= _FEW and 4 * k < m:
        return coarse(scores, scale, k, law)
    if m > _SMALL and 4 * k < m:
        drawn, line, words = sieve(scores, scale, k, law)
        leaders = _leaders(drawn, scale, k, law, line)
        if leaders is not None:
            return leaders
        # Too few cleared the line. Everyone's bits are read on, none is drawn anew: the law stays exact.
        low = entropy.words(m, np.uint64)
        low[drawn.index] = drawn.low
    else:
        words, low = entropy.words(m, np.uint16), entropy.words(m, np.uint64)
    everyone = Drawn(np.arange(m), scores, words, low)
    leaders = _leaders(everyone, scale, k, law, -np.inf)
    assert leaders is not None  # noqa: S101  without a line nobody is missed
    return leaders


@np.errstate(all="ignore")
def best(parts: Sequence[Drawn], scale: float, k: int, law: Law) -> Drawn:
    """Return who may be among the k largest of several blocks' contenders; no bit is read."""
    if len(parts) == 1:
        return parts[0]
    leaders = _leaders(together(parts), scale, k, law, -np.inf)
    assert leaders is not None  # noqa: S101  without a line nobody is missed
    return leaders


@np.errstate(all="ignore")
def ranked(drawn: Drawn, scale: float, k: int, law: Law) -> NDArray[np.int64]:
    """Return the places of the k largest of the drawn items, largest first; shape (k,)."""
    return _ranked(drawn, scale, k, law)


def _ranked(drawn: Drawn, scale: float, k: int, law: Law) -> NDArray[np.int64]:
    key, low, high = _intervals(drawn, scale, law)
    front = key.argsort()[::-1]
    low, high = low.take(front), high.take(front)
    if (low[:-1] > high[1:]).all():  # no two intervals overlap
        return drawn.index[front[:k]]
    # A gap separates two neighbours when every interval before it lies above every interval after it.
    lowest_before = np.minimum.accumulate(low)[:-1]
    highest_after = np.maximum.accumulate(high[::-1])[::-1][1:]
    gaps = np.flatnonzero(lowest_before > highest_after) + 1
    starts = np.concatenate(([0], gaps))
    ends = np.concatenate((gaps, [front.size]))
    unsettled = (ends - starts > 1) & (starts < k)
    for start, end in zip(starts[unsettled].tolist(), ends[unsettled].tolist(), strict=True):
        group = front[start:end]
        front[start:end] = group[exact_order(scale, law, drawn, group)]
    return drawn.index[front[:k]]


def _leaders(drawn: Drawn, scale: float, k: int, law: Law, line: float) -> Drawn | None:
    """Return all who may be among the k largest drawn, or None if fewer than k surely clear the line."""
    bounds = _intervals(drawn, scale, law)
    _, low, high = bounds
    if line > -np.inf and np.count_nonzero(low > line) < k:
        return None
    if low.size <= k:
        return replace(drawn, bounds=bounds)
    kth = np.partition(low, low.size - k)[low.size - k]
    return drawn.subset(np.flatnonzero(high >= kth), bounds)


def _intervals(drawn: Drawn, scale: float, law: Law) -> NDArray[np.float64]:
    """Return every noisy score in units of the scale, and the ends of an interval around it; (3, items)."""
    if drawn.bounds is not None:
        return drawn.bounds
    bounds = np.empty((3, drawn.score.size))
    if compiled is not None and isinstance(law, (Gumbel, Laplace)):
        compiled.noisy(drawn.score, drawn.high, drawn.low, scale, isinstance(law, Gumbel), bounds)
        return bounds
    level = in_scales(drawn.score, scale)
    v, w, doubt = _uniforms(drawn)
    noise = law.isf(v, w)
    slack = _ULPS * (8.0 + np.abs(noise)) + _LEVEL_ULPS * np.abs(level) + doubt
    key = np.add(level, noise, out=bounds[0])
    np.subtract(key, slack, out=bounds[1])
    np.add(key, slack, out=bounds[2])
    return bounds


def _uniforms(
    drawn: Drawn,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return V, 1 - V and how far noise(V) can move within the 80 bits known, as floats.

    For both laws |noise'(v)| <= 2 / min(v, 1 - v). Where the leading bits are all alike, nothing is known.
    """
    high, low = drawn.high.astype(np.float64), drawn.low.astype(np.float64)
    v = high * 2.0**-16 + (low + 0.5) * 2.0**-80
    w = (65535.0 - high) * 2.0**-16 + ((~drawn.low).astype(np.float64) + 0.5) * 2.0**-80
    tail = np.minimum(v, w)
    return v, w, np.where(tail < 2.0**-76, np.inf, 2.0**-78 / tail)
