"""Score maps that change with a second private number, slowly enough to certify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.evidence.core.score_map import SLOPE, ScoreMap, score_map

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


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
        each = np.stack([one(raw) for one in self.score_maps])
        column = np.arange(raw.size)
        return (1 - weight) * each[at, column] + weight * each[at + 1, column]

    @property
    def top(self) -> float:
        """The largest score."""
        return max(one.top for one in self.score_maps)


def nuisance_score_map(
    knots: Sequence[float],
    survivals: Sequence[Callable[[NDArray[np.float64]], NDArray[np.float64]]],
    influence: float,
    clip: float,
    *,
    grow: float = 0.0,
    slope: float = SLOPE,
) -> NuisanceScoreMap:
    """Return the staircase with one tail bound for each knot, valid from the knot before to the one after."""
    score_maps = tuple(score_map(survival, influence, clip, grow=grow, slope=slope) for survival in survivals)
    height = np.stack([one.scores for one in score_maps])
    gap = np.max(np.abs(np.diff(height, axis=0)), axis=1) / np.diff(knots)
    move = max(one.move(influence, grow) for one in score_maps) + float(np.max(gap))
    # Rounding in the weighted mean is far below one part in 10^9.
    return NuisanceScoreMap(np.array(knots, dtype=np.float64), score_maps, move * (1 + 1e-9))
