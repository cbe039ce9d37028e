"""A public staircase from a raw statistic to a score: the same numbers give the score and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.evidence.core.arguments import MOST

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

STEPS = 16  # steps to one person's largest move; rounding down loses at most a sixteenth of it
SLOPE = 1.15  # costs nothing from z = 4.6 on for a normal-like statistic
EVEN = 5.0  # up to here, where cutoffs lie, influence that grows with the statistic is paid for
_SLACK = 1e-5  # rounding of a raw statistic in floats, in units of the influence, for up to 2^33 people


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMap:
    """The score of a raw statistic t is scores[floor(t / step)], ends included; scores never fall.

    A move of t by at most j steps changes the score by at most max_k scores[k + j] - scores[k]: the
    certificate is read off the staircase itself, rounding and all. `slack` is what rounding in floats can add
    to a move.
    """

    step: float
    scores: NDArray[np.float64]
    slack: float = 0.0

    def __call__(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of raw statistics, shape (m,)."""
        place = np.clip(np.floor(raw / self.step), 0, self.scores.size - 1)
        return self.scores[place.astype(np.int64)]

    def move(self, raw_move: float, grow: float = 0.0) -> float:
        """Return the most a score changes when the statistic rises from t by at most raw_move + grow * t."""
        place = np.arange(self.scores.size)
        steps = _steps(raw_move + self.slack, grow, self.step, self.scores.size)
        return float(np.max(self.scores[np.minimum(place + steps, place[-1])] - self.scores))

    @property
    def top(self) -> float:
        """The largest score."""
        return float(self.scores[-1])


def score_map(
    survival: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    influence: float,
    ceiling: float,
    *,
    grow: float = 0.0,
    slope: float = SLOPE,
) -> ScoreMap:
    """Return the staircase for a statistic clipped at `ceiling`, score = Phi_bar^-1(survival(t)), at least 0.

    `survival` bounds P(T >= t) under the null, and never rises; rounding t down keeps the score valid:
    P(score >= s) <= Phi_bar(s) for s > 0. The score climbs at most `slope` as fast as t, so that one person's
    influence grows by no more than that: a conservative tail is steep where it leaves 0, far below any
    cutoff, and a light one is steep at its far end; without the limit everything would pay for them. Where
    the influence is influence + grow * t, the score climbs less the higher t is above `EVEN`.
    """
    slack = influence * _SLACK
    step = min((influence * (1 + _SLACK) + grow * min(EVEN, ceiling)) / STEPS, ceiling)
    # The last rung lies at or under the ceiling: the influence was certified for a statistic clipped there.
    rungs = step * np.arange(1, int(np.floor(ceiling / step)) + 1)
    p = np.minimum(survival(rungs.astype(np.float64)), 1.0)
    gentler = STEPS / np.maximum(_steps(influence + slack, grow, step, p.size + 1), STEPS) if grow else 1.0
    scores = gentle(np.concatenate([[0.0], scores_of_p(p)]), slope * step * gentler)
    return ScoreMap(step, scores, slack)


def _steps(rise: float, grow: float, step: float, size: int) -> NDArray[np.int64]:
    """Return how many steps up rise + grow * t can lead from each of `size` places."""
    most = rise + grow * step * np.arange(1, size + 1)
    return np.ceil(most / step - 1e-9).astype(np.int64)


def gentle(scores: NDArray[np.float64], climb: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest non-decreasing staircase at most `scores` that climbs at most `climb` to each step.

    Needs scores that never fall, up to rounding; lowering a score only makes its p-value larger.
    """
    rising = np.maximum.accumulate(scores)
    slope = climb * np.arange(scores.size) if isinstance(climb, float) else np.cumsum(climb)
    limited = np.minimum.accumulate(rising - slope) + slope
    return np.maximum.accumulate(np.maximum(limited, 0.0))


def scores_of_p(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the z scores of one-sided p-values, inside [0, 37]."""
    return np.clip(-scipy.special.ndtri(p), 0.0, MOST)
