"""What samples say: of a mean, with its error; of a privacy loss, with a stated chance of being wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of values in [0, 1] over independent repetitions."""

    mean: float
    error: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def estimate(values: NDArray[np.float64]) -> Estimate:
    """Average values in [0, 1]: mean +- 1.96 standard errors, at least log(40)/n on either side.

    The floor is what n equal runs still allow: an event never seen in n runs has probability at most
    log(40)/n at 97.5% confidence.
    """
    n = values.size
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    half = max(1.959964 * error, math.log(40) / n)
    return Estimate(mean, error, max(0.0, mean - half), min(1.0, mean + half))


def lower(hits: int, trials: int, alpha: float) -> float:
    """Return a Clopper-Pearson lower bound on a probability; above the truth with chance alpha at most."""
    return 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, alpha))


def upper(hits: int, trials: int, alpha: float) -> float:
    """Return a Clopper-Pearson upper bound on a probability; below the truth with chance alpha at most."""
    return 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1.0 - alpha))


def epsilon_found(first: NDArray[np.int64], second: NDArray[np.int64], delta: float, alpha: float) -> float:
    """Return a lower bound on epsilon from outcomes on two neighbours; too high with chance alpha at most.

    A quarter of the outcomes chooses the event that looks worst, the rest measures it: if the mechanism is
    (epsilon, delta)-DP then P(S) <= e^epsilon P'(S) + delta, so epsilon >= log((P(S) - delta)/P'(S)).
    """
    cut = first.size // 4
    best = 0.0
    for a, b in ((first, second), (second, first)):
        event = _worst_event(a[:cut], b[:cut], delta)
        p = lower(int(np.isin(a[cut:], event).sum()), a.size - cut, alpha / 4)
        q = upper(int(np.isin(b[cut:], event).sum()), b.size - cut, alpha / 4)
        if p > delta:
            best = max(best, math.log((p - delta) / q))
    return best


def _worst_event(a: NDArray[np.int64], b: NDArray[np.int64], delta: float) -> NDArray[np.int64]:
    """Return the set of outcomes, in order of likelihood ratio, whose bound looks best on pilot counts."""
    outcomes = np.unique(np.concatenate((a, b)))
    count_a, count_b = _tally(a, outcomes), _tally(b, outcomes)
    order = np.argsort(-(count_a + 1) / (count_b + 1))
    hits_a, hits_b = np.cumsum(count_a[order]), np.cumsum(count_b[order])
    # Four standard errors off each side stand in for the confidence bounds.
    p = (hits_a - 4 * np.sqrt(hits_a + 1)) / a.size - delta
    q = (hits_b + 4 * np.sqrt(hits_b + 1)) / b.size
    return outcomes[order[: int(np.argmax(np.maximum(p, 1e-12) / q)) + 1]]


def _tally(sample: NDArray[np.int64], outcomes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(np.searchsorted(outcomes, sample), minlength=outcomes.size)
