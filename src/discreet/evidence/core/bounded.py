"""One side of a test on a sum of [0, 1] contributions: the statistic, its score map, one person's pull."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.evidence.core import tails
from discreet.evidence.core.common import basis_of, ceiling_for, conclude, enough
from discreet.evidence.core.effect import effect
from discreet.evidence.core.score_map import ScoreMap, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.effect import Effect
    from discreet.evidence.core.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Size:
    """How many people the statistic is scaled for: all of them (public), or at least some public number."""

    people: int
    adjacency: str

    @property
    def public(self) -> bool:
        """Whether the number of people itself is public."""
        return self.adjacency == "replace"


def size(adjacency: str, least: int | None, seen: float) -> Size:
    """Return the public size of a test on `seen` people."""
    return Size(enough(seen, 2, "people") if least is None else least, adjacency)


def mean_effect(
    name: str, total: NDArray[np.float64], n: float, size: Size, unit: NDArray[np.float64] | None = None
) -> Effect:
    """Return the mean of contributions of size at most 1, over max(n, people); `total` is their sum.

    With the number of people public one person replaced moves it by at most the contributions' range over n;
    otherwise one added or removed moves it by at most 1/people (docs/proofs/effects.md). Contributions must
    have a range of at most 1; for signs give half of their sum and a unit of 2.
    """
    return effect(name, total / max(n, size.people), 1 / size.people, unit)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """z = (sum - n*rate) / (sd sqrt(max(n, people))), clipped and made into a score by the score map.

    A person added moves the score within [-fall, rise], removed within [-rise, fall]; one replaced moves it
    by at most rise = fall.
    """

    rate: float
    sd: float
    size: Size
    steps: ScoreMap
    rise: float
    fall: float

    def score(self, total: NDArray[np.float64], n: float) -> NDArray[np.float64]:
        """Return the scores of sums of contributions, shape (m,)."""
        return self.steps((total - n * self.rate) / (self.sd * np.sqrt(max(n, self.size.people))))


def side(rate: float, sd: float | None, size: Size, ceiling: float | None, tail: str) -> Side:
    """Return the test of mean <= rate for contributions in [0, 1]; docs/proofs/mean.md.

    `sd` None stands for sqrt(rate(1 - rate)), which assumes nothing.
    """
    scale = float(np.sqrt(rate * (1 - rate))) if sd is None else sd
    people = size.people
    clip = ceiling_for(ceiling, people)
    root = scale * float(np.sqrt(people))
    if size.public:
        rise = fall = 1 / root
    else:
        rise = (1 - rate) / root
        # Adding a person who pulls down also lengthens the denominator, which costs z its share.
        longer = scale * float(np.sqrt(people + 1))
        fall = max(rate / root, rate / longer + clip * (1 - root / longer))
    if tail == "normal":
        survival = tails.normal
    elif not size.public:
        survival = tails.any_bounded_sum((1 - rate) / root, clip)
    elif sd is None:
        survival = tails.bernoulli_sum(people, rate, clip)
    else:
        survival = tails.bounded_sum(people, (1 - rate) / root, clip)
    steps = score_map(survival, max(rise, fall), clip)
    return Side(rate, scale, size, steps, steps.move(rise), steps.move(fall))


def combine(
    names: tuple[str, ...],
    score: NDArray[np.float64],
    used: Sequence[Side],
    *,
    alternative: Alternative,
    proof: str,
    effect: Effect | None = None,
    tail: str = "safe",
) -> Evidence:
    """Return the evidence of scores that are each the largest of some of the sides used."""
    rise, fall = max(one.rise for one in used), max(one.fall for one in used)
    return conclude(
        names,
        score,
        alternative=alternative,
        top=max(one.steps.top for one in used),
        sensitivity=max(rise, fall),
        spread=rise + fall,
        adjacency=used[0].size.adjacency,
        proof=proof,
        effect=effect,
        basis=basis_of(tail),
    )
