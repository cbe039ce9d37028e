"""Whether r of the noisy scores are expected above a level T: the rule behind each comparison.

The rule sees the scores only through how many of them lie in each bin of x - T, and adds up whole numbers,
one for each bin. Sums of whole numbers are exact, so the answer is monotone in every score and shifts with T
to the last bit: rounding cannot make one person count for more (docs/proofs/aware-privacy.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Steps = NDArray[np.int32 | np.int64]

FEW = 64
"""Up to this many uncertain items the expected shortfall is computed; beyond that it is bounded."""
MOST = 1 << 30
"""The largest number of hypotheses: with more, the sums below would not fit into 64 bits."""
LEAST_BETA = 2.0**-40
"""The smallest share of shortfall that may be allowed: rounding errors are far below it."""
_BINS = 64  # to one noise scale
_LOWEST = -22.0  # in noise scales: items further below T have a chance under 2**-31 and count as 0
_SURE = 2.0**-8  # of the allowed shortfall goes to items that are taken for certain
_WEAK = 0.1  # items of a smaller chance are counted as one Poisson variable
_COINS = 512  # at most so many others are counted one by one
_UNIT = 32  # chances of weak items count in 2**-32
_COIN = 20  # their sum, and the chances of all others, in 2**-20: a step that exceeds all float error
_LOG_FACTORIAL = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, FEW)))))


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Bins of x - T, ascending, and the chance that an item at a bin's lower edge clears T with its noise.

    Attributes
    ----------
    edge : array of int64, shape (b + 1,)
        Lower edges in steps. Items below the first never count as above T, items from the last on always do.
    chance, miss : array of float64, shape (b,)
        The chance to clear T and its complement, each accurate by itself.
    """

    edge: NDArray[np.int64]
    chance: NDArray[np.float64]
    miss: NDArray[np.float64]

    @classmethod
    def of(cls, scale: float, sure: float) -> Bins:
        """Return the bins for Gumbel noise of this scale; chances above 1 - `sure` count as certain."""
        width = max(1, int(scale / _BINS))
        first, last = math.floor(_LOWEST * scale), math.ceil(scale * math.log(-math.log(sure)))
        edge = np.arange(first, last + width, width, dtype=np.int64)
        hazard = np.exp(edge[:-1] / scale)
        chance = np.maximum.accumulate(-np.expm1(-hazard))
        return cls(edge, chance, np.minimum.accumulate(np.exp(-hazard)))

    def counts(self, ordered: Steps, level: int) -> tuple[NDArray[np.int64], int]:
        """Return how many of the ascending scores lie in each bin above `level`, and how many beyond them."""
        kind = np.iinfo(ordered.dtype)
        below = np.searchsorted(ordered, np.clip(self.edge + level, kind.min, kind.max).astype(ordered.dtype))
        return np.diff(below), ordered.size - int(below[-1])


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedCount:
    """Passes if at least r - 1/2 items are expected above T."""

    r: int
    bins: Bins
    chance: NDArray[np.int64]

    @classmethod
    def of(cls, r: int, scale: float) -> ExpectedCount:
        """Return the rule for r items and Gumbel noise of `scale` steps."""
        bins = Bins.of(scale, 2.0**-_UNIT)
        return cls(r, bins, np.floor(bins.chance * 2.0**_UNIT).astype(np.int64))

    def passes(self, ordered: Steps, level: int) -> bool:
        """Say whether T = `level` is low enough. Level and scores are in steps, the scores ascending."""
        held, sure = self.bins.counts(ordered, level)
        return 2 * (int(held @ self.chance) + (sure << _UNIT)) >= (2 * self.r - 1) << _UNIT


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedShortfall:
    """Pass where a bound on E(r - N)^+ is at most beta*r, N the number of items above T.

    Attributes
    ----------
    allowed : float
        The largest expected shortfall of the uncertain items.
    weak, coin : array of int64, shape (b,)
        Chances of the bins rounded down, in 2**-32 up to 1/10 and in 2**-20 beyond; 0 where the other holds.
    rate, exponent, limit : arrays of int64, shapes (l,), (l, b), (l,)
        Chernoff bounds: it is enough that (r - sure)*rate + exponent @ held <= limit for one of the l.
    """

    r: int
    bins: Bins
    allowed: float
    weak: NDArray[np.int64]
    coin: NDArray[np.int64]
    rate: NDArray[np.int64]
    exponent: NDArray[np.int64]
    limit: NDArray[np.int64]

    @classmethod
    def of(cls, r: int, scale: float, beta: float, m: int) -> ExpectedShortfall:
        """Return the rule for r of m items, Gumbel noise of `scale` steps and a shortfall of beta*r."""
        bins = Bins.of(scale, beta * _SURE)
        allowed = beta * r * (1.0 - _SURE) * (1.0 - 2.0**-20)  # the last part pays for float error
        coin = np.minimum(np.floor(bins.chance * 2.0**_COIN), 2.0**_COIN - 1).astype(np.int64)
        strong = coin > _WEAK * 2.0**_COIN
        weak = np.floor(bins.chance * 2.0**_UNIT).astype(np.int64)
        # A weak item that becomes a coin takes at most this off the rounded sum, and a coin has more.
        weak = np.minimum(weak, int(_WEAK * 2.0**_COIN) << (_UNIT - _COIN))
        weak, coin = np.where(strong, 0, weak), np.where(strong, coin, 0)
        return cls(r, bins, allowed, weak, coin, *_chernoff(r, bins, allowed, m))

    def passes(self, ordered: Steps, level: int) -> bool:
        """Say whether T = `level` is low enough. Level and scores are in steps, the scores ascending."""
        held, sure = self.bins.counts(ordered, level)
        wanted = self.r - sure
        if wanted <= 0:
            return True
        if bool(np.any(wanted * self.rate + self.exponent @ held <= self.limit)):
            return True
        return wanted <= FEW and self._expected(held, wanted) <= self.allowed

    def _expected(self, held: NDArray[np.int64], wanted: int) -> float:
        """Return E(wanted - N)^+ for the uncertain items, weak ones as one Poisson variable.

        The strongest of the others enter one by one, as coins; the rest joins the Poisson variable, at the
        same mean. That is larger in the convex order (Hoeffding 1956), so the result can only grow.
        """
        used = np.flatnonzero(held * self.coin)[::-1]
        taken = np.minimum(np.cumsum(held[used]), _COINS)
        coins = np.diff(taken, prepend=0)
        rest = int((held[used] - coins) @ self.coin[used])
        mean = (int(held @ self.weak) >> (_UNIT - _COIN)) + rest
        short = _poisson_shortfall(mean * 2.0**-_COIN, wanted)
        for chance, times in zip((self.coin[used] * 2.0**-_COIN).tolist(), coins.tolist(), strict=True):
            miss = 1.0 - chance
            for _ in range(times):
                short[1:] = short[1:] * miss + short[:-1] * chance
        return float(short[-1])


@lru_cache(maxsize=64)
def rule_for(r: int, scale: float, beta: float | None, m: int) -> ExpectedShortfall | ExpectedCount:
    """Return the public rule for a candidate count: with beta the proved one, without the calibrated one."""
    return ExpectedCount.of(r, scale) if beta is None else ExpectedShortfall.of(r, scale, beta, m)


def _poisson_shortfall(mean: float, wanted: int) -> NDArray[np.float64]:
    """Return E(j - N)^+ for j = 0, ..., wanted and N Poisson, as double sums of its probabilities."""
    if mean == 0.0:
        return np.arange(wanted + 1.0)
    chance = np.exp(np.arange(wanted) * math.log(mean) - mean - _LOG_FACTORIAL[:wanted])
    return np.concatenate(([0.0], np.cumsum(np.cumsum(chance))))


def _chernoff(
    r: int, bins: Bins, allowed: float, m: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return E(r - N)^+ <= max_k k e^(-t k) * e^(t r) * prod(1 - p_i (1 - e^-t)) <= allowed in whole numbers.

    The first inequality holds for every t > 0. The t that are used are public: none is below 1/sqrt(r), about
    the best one when all r are uncertain. For small r, where the shortfall itself is computed, there is none.
    """
    if r <= FEW:
        none = np.zeros(0, dtype=np.int64)
        return none, np.zeros((0, bins.chance.size), dtype=np.int64), none
    lowest = 1.0 / math.sqrt(r)
    t: NDArray[np.float64] = np.geomspace(lowest, 4.0, 2 + math.ceil(math.log(4.0 / lowest, 1.5)))
    unit = 2.0 ** min(_UNIT, 58 - m.bit_length())  # so that m items of rate 4 stay below 2**62
    rate = np.floor(t * unit).astype(np.int64)
    t = rate / unit
    exponent = np.ceil(np.log1p(bins.chance * np.expm1(-t)[:, None]) * unit * (1.0 - 2.0**-40))
    exponent = np.clip(np.minimum.accumulate(exponent, axis=1), -rate[:, None], 0).astype(np.int64)
    peak = np.maximum(1.0, np.stack((np.floor(1 / t), np.ceil(1 / t))))
    weight = np.max(np.log(peak) - t * peak, axis=0)
    limit = np.floor((math.log(allowed) - weight - 2.0**-30) * unit).astype(np.int64)
    return rate, exponent, limit
