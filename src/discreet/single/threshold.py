"""Whether a statistic passes a level, for many questions in turn: paid for by discovery, not by question.

Sparse vector with one-sided noise. A run draws a hidden geometric number once, and adds a fresh one to every
statistic; the first that passes ends the run. All that is released is who passed. A whole run is epsilon-DP,
however many questions it holds (docs/proofs/online.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

from discreet.errors import InputError
from discreet.noise import entropy
from discreet.noise.laplace import geometric
from discreet.noise.samplers import fair
from discreet.single import rank_sum, several

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Survival = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_HIDDEN = 0.25  # the share of epsilon for the hidden number: small levels make the fresh noise count for more
_REACH = 50.0  # noise beyond so many scales has a chance below 1e-21, and is added to every tail
_AT_ONCE = 1 << 18  # values of the noise: a few megabytes
MOVES = {"sign": 1, "rank-sum": rank_sum.MOVES, "kruskal-wallis": rank_sum.MOVES}
"""The tests whose statistic is one number, and how far one person moves it."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A whole number, large where the null is false; how far one person moves it, and its null tail."""

    value: int
    moves: int
    survival: Survival


def scales(moves: float, epsilon: float) -> tuple[float, float]:
    """Return the scales of the hidden number and of the fresh noise: moves/a + 2 moves/b is epsilon."""
    hidden, fresh = moves / (_HIDDEN * epsilon), 2.0 * moves / ((1.0 - _HIDDEN) * epsilon)
    return math.nextafter(hidden, math.inf), math.nextafter(fresh, math.inf)


def tail(survival: Survival, at: int, hidden: float, fresh: float) -> float:
    """Return an upper bound, to within 1e-20 and rounding, of P(statistic + fresh - hidden >= at)."""
    both = math.expm1(-1.0 / hidden) * math.expm1(-1.0 / fresh) / -math.expm1(-1.0 / hidden - 1.0 / fresh)
    above = _weighed(survival, at, fresh, range(math.ceil(_REACH * fresh) + 1), -1.0)
    above += _weighed(survival, at, hidden, range(1, math.ceil(_REACH * hidden) + 1), 1.0)
    return min(1.0, both * above * (1 + 1e-12) + 2.0 * math.exp(-_REACH))


def _weighed(survival: Survival, at: int, scale: float, steps: range, way: float) -> float:
    """Return the sum of exp(-i/scale) P(statistic >= at + way i): at large scales of many i, in parts."""
    total = 0.0
    for start in range(steps.start, steps.stop, _AT_ONCE):
        i = np.arange(start, min(start + _AT_ONCE, steps.stop), dtype=np.float64)
        total += float(np.exp(-i / scale) @ survival(at + way * i))
    return total


def of_signs(x: NDArray[np.float64], null: float, alternative: str) -> Statistic:
    """Return the number of values above the null, below it, or the larger; ties by coin."""
    n, above, below = x.size, x > null, x < null
    count = int(np.count_nonzero(above | (~below & fair(n))))
    value = {"greater": count, "less": n - count, "two-sided": max(count, n - count)}[alternative]
    return Statistic(value, 1, _sided(lambda t: binom.sf(np.ceil(t) - 1.0, n, 0.5), alternative, n / 2.0))


def of_ranks(x: NDArray[np.float64], group: NDArray[np.int64], epsilon: float, alternative: str) -> Statistic:
    """Return the sum of the first group's scores, its opposite, or its size."""
    total = rank_sum.statistic(rank_sum.drawn_by_rank(x, group, 2), epsilon)
    value = {"greater": total, "less": -total, "two-sided": abs(total)}[alternative]
    return Statistic(value, rank_sum.MOVES, _sided(rank_sum.survival(x.size, epsilon), alternative, 0.0))


def of_groups(x: NDArray[np.float64], group: NDArray[np.int64], groups: int, epsilon: float) -> Statistic:
    """Return the sum of the positive sums of scores."""
    value = several.statistic(rank_sum.drawn_by_rank(x, group, groups), groups, epsilon)
    return Statistic(value, rank_sum.MOVES, several.survival(x.size, groups, epsilon))


def _sided(survival: Survival, alternative: str, middle: float) -> Survival:
    """Return the tail of the larger of both sides, at most twice one; certain up to the middle."""
    if alternative != "two-sided":
        return survival
    return lambda t: np.where(t <= middle, 1.0, np.minimum(1.0, 2.0 * survival(t)))


@dataclass(slots=True)
class Run:
    """Questions until the first discovery, about statistics that one person moves equally far.

    Together they are epsilon-DP. The hidden number never leaves the process.
    """

    epsilon: float
    moves: int
    over: bool = False
    _process: tuple[int, int] = field(default_factory=entropy.process)
    _hidden: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._hidden = int(geometric(scales(self.moves, self.epsilon)[0], 1)[0])

    @property
    def usable(self) -> bool:
        """Tell whether it goes on; a copy of it in another process does not."""
        return not self.over and self._process == entropy.process()

    def passes(self, statistic: Statistic, level: float) -> bool:
        """Tell whether the noisy statistic is as rare as the level under the null; if so the run is over."""
        if not self.usable or statistic.moves != self.moves:
            raise InputError("this run is over, or about other statistics: begin another one")
        hidden, fresh = scales(self.moves, self.epsilon)
        noisy = statistic.value + int(geometric(fresh, 1)[0]) - self._hidden
        self.over = tail(statistic.survival, noisy, hidden, fresh) <= level
        return self.over
