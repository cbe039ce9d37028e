"""From a raw statistic to a score by public steps, and from scores to evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import scipy

from discreet.errors import InputError
from discreet.evidence.core.arguments import MOST
from discreet.evidence.core.certificate import Certificate, Null
from discreet.evidence.core.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.effect import Effect

STEPS = 16  # steps to one person's largest move; rounding down loses at most a sixteenth of it
SLOPE = 1.02  # so much faster than the statistic scores climb, at most
MULTIPLES = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0)  # of the normal tail, tried for the law of scores
EVEN = 5.0  # up to here, where cutoffs lie, influence that grows with the statistic is paid for
_LEVELS, _NOISES = np.array([1e-3, 1e-6]), (0.0, 2.0)  # p-values to be reached where noise takes so much of z
_SLACK = 1e-5  # rounding of a raw statistic in floats, in units of the influence, for up to 2^33 people


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMap:
    """The score of a raw statistic t is scores[floor(t / step)], ends included; scores never fall.

    A move of t by at most j steps changes the score by at most max_k scores[k + j] - scores[k]: the
    certificate is read off the steps themselves, rounding and all. `slack` is what rounding in floats can add
    to a move. Under the null P(score >= s) is at most `multiple` times the normal tail.
    """

    step: float
    scores: NDArray[np.float64]
    slack: float = 0.0
    multiple: float = 1.0

    def __call__(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of raw statistics, shape (m,)."""
        place = np.clip(np.floor(raw / self.step), 0, self.scores.size - 1)
        return self.scores[place.astype(np.int64)]

    def move(self, raw_move: float, grow: float = 0.0) -> float:
        """Return the most a score changes when the statistic rises from t by at most raw_move + grow * t."""
        place = np.arange(self.scores.size)
        steps = _steps(raw_move + self.slack, grow, self.step, self.scores.size)
        return float(np.max(self.scores[np.minimum(place + steps, place[-1])] - self.scores))

    def across(self, raw_move: float) -> float:
        """Return the most that two scores are together whose statistics are, together, at most raw_move."""
        last = min(math.ceil((raw_move + self.slack) / self.step), self.scores.size - 1)
        some = self.scores[: last + 1]
        return float(np.max(some + some[::-1]))

    def clipped(self, ceiling: float) -> Self:
        """Return the same map with no score above the ceiling."""
        return replace(self, scores=np.minimum(self.scores, ceiling))

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
    multiple: float | None = None,
) -> ScoreMap:
    """Return the score map for a statistic clipped at `ceiling`, score = Phi_bar^-1(survival(t)/multiple).

    `survival` bounds P(T >= t) under the null, and never rises; rounding t down keeps the score valid:
    P(score >= s) <= multiple * Phi_bar(s) for s > 0. The score climbs at most `SLOPE` times as fast as t, so
    that one person's influence grows by no more than that: a light tail is steep at its far end, and without
    the limit everything would pay for it. A conservative tail is steep where it leaves 0, unless the law of
    scores is a multiple of the normal tail: if None, the one of `MULTIPLES` that suits. Where the influence
    is influence + grow * t, the score climbs less the higher t is above `EVEN`.
    """
    slack = influence * _SLACK
    step = min((influence * (1 + _SLACK) + grow * min(EVEN, ceiling)) / STEPS, ceiling)
    # The last step lies at or under the ceiling: the influence was certified for a statistic clipped there.
    places = step * np.arange(1, int(np.floor(ceiling / step)) + 1)
    p = np.minimum(survival(places.astype(np.float64)), 1.0)
    gentler = STEPS / np.maximum(_steps(influence + slack, grow, step, p.size + 1), STEPS) if grow else 1.0
    climb = SLOPE * step * gentler
    maps = [score_map_at(step, p, climb, times, slack) for times in ([multiple] if multiple else MULTIPLES)]
    return sharpest(maps, lambda each: each.move(influence, grow) / influence)


def score_map_at(
    step: float,
    p: NDArray[np.float64],
    climb: float | NDArray[np.float64],
    multiple: float,
    slack: float = 0.0,
) -> ScoreMap:
    """Return the score map for statistics of one step and more whose bounds on the tail are `p`."""
    scores = gentle(np.concatenate([[0.0], scores_of_p(p / multiple)]), climb)
    return ScoreMap(step, scores, slack, multiple)


def sharpest(maps: Sequence[ScoreMap], moved: Callable[[ScoreMap], float]) -> ScoreMap:
    """Return the map with which the smallest statistics reach small p-values, without noise and with it.

    The noise is in proportion to `moved`, how far one person moves a score over how far they move z.
    """

    def needed(steps: ScoreMap) -> float:
        wanted = np.add.outer(
            np.multiply(_NOISES, moved(steps)), -scipy.special.ndtri(_LEVELS / steps.multiple)
        )
        places = np.searchsorted(steps.scores, wanted)
        return float(places.sum()) if places.max() < steps.scores.size else math.inf

    return min(maps, key=needed)


def _steps(rise: float, grow: float, step: float, size: int) -> NDArray[np.int64]:
    """Return how many steps up rise + grow * t can lead from each of `size` places."""
    most = rise + grow * step * np.arange(1, size + 1)
    return np.ceil(most / step - 1e-9).astype(np.int64)


def gentle(scores: NDArray[np.float64], climb: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest non-decreasing steps at most `scores` that climbs at most `climb` to each step.

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
        return max(each.top for each in self.score_maps)

    @property
    def multiple(self) -> float:
        """P(score >= s) is at most so many times the normal tail under the null."""
        return max(each.multiple for each in self.score_maps)


def nuisance_score_map(
    knots: Sequence[float],
    survivals: Sequence[Callable[[NDArray[np.float64]], NDArray[np.float64]]],
    influence: float,
    clip: float,
    *,
    grow: float = 0.0,
    multiple: float = 1.0,
    paid: float = math.inf,
) -> NuisanceScoreMap:
    """Return the score map with one tail bound for each knot, valid from the knot before to the one after.

    P(score >= s) is at most `multiple` times the normal tail. From one knot to the next a score rises by no
    more than what makes `move` larger by `paid` times the influence.
    """
    score_maps = [
        score_map(survival, influence, clip, grow=grow, multiple=multiple) for survival in survivals
    ]
    distances = np.diff(knots)
    for place, distance in enumerate(distances.tolist()):
        most = score_maps[place].scores + paid * influence * distance
        after = score_maps[place + 1]
        score_maps[place + 1] = replace(after, scores=np.minimum(after.scores, most))
    height = np.stack([each.scores for each in score_maps])
    gap = np.max(np.abs(np.diff(height, axis=0)), axis=1) / distances
    move = max(each.move(influence, grow) for each in score_maps) + float(np.max(gap))
    # Rounding in the weighted mean is far below one part in 10^9.
    return NuisanceScoreMap(np.array(knots, dtype=np.float64), tuple(score_maps), move * (1 + 1e-9))


def ceiling_for(ceiling: float | None, n: float) -> float:
    """Return the clip asked for, or a third of the largest z that n people can reach, within [8, 20].

    Near that largest z one person weighs far more than elsewhere, and beyond 20 scores only cost noise.
    """
    return float(ceiling) if ceiling is not None else float(np.clip(np.sqrt(n) / 3, 8.0, 20.0))


def enough(count: float, least: int, what: str) -> int:
    """Return the public count, refusing one the test cannot work with."""
    if count < least:
        raise InputError(f"{what} must number at least {least} for this test")
    return int(count)


def basis_of(tail: str, safe: str = "proved") -> str:
    """Return why a null law holds, for a tail by its name; `safe` says so of the safe one."""
    return {"normal": "approximate", "proved": "proved"}.get(tail, safe)


def conclude(
    names: Sequence[str],
    score: NDArray[np.float64],
    *,
    alternative: Alternative,
    steps: Sequence[ScoreMap | NuisanceScoreMap],
    sensitivity: float,
    proof: str,
    adjacency: str = "replace",
    spread: float | None = None,
    public: str = "",
    effect: Effect | None = None,
    basis: str = "proved",
) -> Evidence:
    """Wrap scores that `steps` made into evidence; a spread that is not certified is 2*sensitivity."""
    top, multiple = max(each.top for each in steps), max(each.multiple for each in steps)
    if not (multiple * scipy.special.ndtr(-top) < 0.5 and sensitivity > 0):
        raise InputError("no table of this size could give evidence: add people, or raise floor or ceiling")
    law = "folded normal" if alternative == "two-sided" else "normal"
    null = Null(law, top, basis, multiple=multiple)
    widest = 2 * sensitivity if spread is None else min(max(spread, sensitivity), 2 * sensitivity)
    # A weighted mean can pass the top by one rounding; refusing it there would speak of the data.
    certificate = Certificate(sensitivity, widest, adjacency, proof, public)
    return Evidence(names, np.minimum(score, top), null, certificate, effect=effect)
