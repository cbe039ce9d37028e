"""From a raw statistic to a score by public steps: the same numbers give the score and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.evidence.core.arguments import MOST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

STEPS = 16  # steps to one person's largest move; rounding down loses at most a sixteenth of it
SLOPE = 1.15  # costs nothing from z = 4.6 on for a normal-like statistic
EVEN = 5.0  # up to here, where cutoffs lie, influence that grows with the statistic is paid for
_SLACK = 1e-5  # rounding of a raw statistic in floats, in units of the influence, for up to 2^33 people


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMap:
    """The score of a raw statistic t is scores[floor(t / step)], ends included; scores never fall.

    A move of t by at most j steps changes the score by at most max_k scores[k + j] - scores[k]: the
    certificate is read off the steps themselves, rounding and all. `slack` is what rounding in floats can add
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


@dataclass(frozen=True, slots=True, eq=False)
class NuisanceScoreMap:
    """One score map at each knot of a margin (a count of yes, a sum of squares); between knots, their mean.

    The score map at a knot is valid as far as the next knots, so the mean of two neighbouring ones is valid
    between them. `move` is the most a score changes when the statistic moves by its influence and the margin
    by 1: the score maps' own move plus the largest gap between neighbouring score maps over their distance.
    """

    knots: NDArray[np.float64]
    score_maps: tuple[ScoreMap, ...]
    move: float

    def __call__(self, raw: NDArray[np.float64], margin: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of raw statistics at their margins, shape (m,)."""
        at = np.clip(np.searchsorted(self.knots, margin, side="right") - 1, 0, self.knots.size - 2)
        weight = np.clip((margin - self.knots[at]) / (self.knots[at + 1] - self.knots[at]), 0.0, 1.0)
        each = np.stack([score_map(raw) for score_map in self.score_maps])
        column = np.arange(raw.size)
        return (1 - weight) * each[at, column] + weight * each[at + 1, column]

    @property
    def top(self) -> float:
        """The largest score."""
        return max(score_map.top for score_map in self.score_maps)


def nuisance_score_map(
    knots: Sequence[float],
    survivals: Sequence[Callable[[NDArray[np.float64]], NDArray[np.float64]]],
    influence: float,
    clip: float,
    *,
    grow: float = 0.0,
    slope: float = SLOPE,
) -> NuisanceScoreMap:
    """Return the score map with one tail bound for each knot, valid from the knot before to the one after."""
    score_maps = tuple(score_map(survival, influence, clip, grow=grow, slope=slope) for survival in survivals)
    height = np.stack([each.scores for each in score_maps])
    gap = np.max(np.abs(np.diff(height, axis=0)), axis=1) / np.diff(knots)
    move = max(each.move(influence, grow) for each in score_maps) + float(np.max(gap))
    # Rounding in the weighted mean is far below one part in 10^9.
    return NuisanceScoreMap(np.array(knots, dtype=np.float64), score_maps, move * (1 + 1e-9))
