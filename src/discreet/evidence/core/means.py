"""Means of bounded values: of one group against a number, and of two groups, in one or several strata."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.alternative import toward
from discreet.check import NO_AND_YES
from discreet.errors import InputError
from discreet.evidence.core import tails
from discreet.evidence.core.accumulate import Sums
from discreet.evidence.core.cap import cap_at
from discreet.evidence.core.contribution import COARSE, FINE, bounds_of, scale
from discreet.evidence.core.effect import difference_effect, effect
from discreet.evidence.core.groups import Grouped, both_groups, hidden_strata
from discreet.evidence.core.invented import evidence_of_sums
from discreet.evidence.core.scores import (
    NuisanceScoreMap,
    ScoreMap,
    basis_of,
    ceiling_for,
    conclude,
    enough,
    nuisance_score_map,
    score_map,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.cap import Cap
    from discreet.evidence.core.effect import Effect
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.groups import Groups, Strata
    from discreet.evidence.core.invented import Invented
    from discreet.typing import Bounds, Levels, Protect, RawArray, Tail

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Means(Grouped):
    """The public arguments of every test of a difference of means; `TwoGroups` says what they mean."""

    proof = "two-groups"
    effect = "difference of means"
    groups = 2
    unit = "a difference between groups in standard deviations"

    bounds: Bounds
    levels: Levels = NO_AND_YES
    alternative: Alternative = "two-sided"
    protect: Protect = "columns"
    sd: float | None = None
    floor: float | None = None
    tail: Tail = "safe"


def difference_sums(test: Means, names: Sequence[str], groups: Groups) -> Sums:
    """Return an empty accumulator of a difference of means, its deviation known, capped or estimated."""
    return Sums(
        tuple(names),
        scale(test.bounds, names, 0.0, _parts(test)),
        groups.weigh,
        partial(_difference, test, groups),
        cells=2 * len(groups.strata),
        squared=test.floor is not None,
        counted=True,
    )


def _parts(test: Means) -> int:
    return FINE if test.floor is None else COARSE


def check_deviation(test: Means, strata: int = 1) -> None:
    """Refuse a standard deviation both known and estimated, and an estimated one of protected strata."""
    if test.sd is not None and test.floor is not None:
        raise InputError("sd and floor exclude each other: the deviation is either known or estimated")
    if test.floor is not None and test.protect == "everything" and strata > 1:
        raise InputError(
            'floor needs public strata, protect="columns"; protected ones: give sd, or use Adjusted'
        )


def _difference(test: Means, groups: Groups, sums: Sums) -> Evidence:
    """Return the evidence of a contrast of the people present, summed over strata; `TwoGroups` has one.

    Where those present are more unequally divided than everyone is, a stratum weighs less, so that one person
    does no more than when everyone is present.
    """
    protected = test.protect == "everything"
    if not protected and groups.stratum is not None:
        # Who is in which stratum is public: a misspelt one is said, not left out.
        people = sums.count.reshape(-1, 2).sum(axis=1)
        empty = [stratum for stratum, count in zip(groups.strata, people, strict=True) if count == 0]
        if empty:
            raise InputError(
                f"nobody of the two groups is in stratum {empty[0]!r}: strata are compared exactly; give "
                "them as the column has them, or leave that one out"
            )
    strata = hidden_strata(sums.rows, len(groups.strata)) if protected else both_groups(sums.count)
    first, second = np.moveaxis(sums.present.reshape(-1, 2, len(sums.names))[strata.used], 1, 0)
    total = sums.total.reshape(-1, 2, len(sums.names))[strata.used] / _parts(test)
    present = np.maximum(first + second, 1.0)
    weight = present / np.maximum(present, np.maximum(first, second) / strata.pull)
    excess = first * total[:, 1] - second * total[:, 0]
    contrast = np.sum(weight * excess / present, axis=0)
    clip = ceiling_for(test.ceiling, strata.everyone)
    if test.floor is None:
        score, steps, sensitivity = _known(test, strata, contrast, clip)
    else:
        square = sums.square.reshape(-1, 2, len(sums.names))[strata.used].sum(axis=1) / COARSE**2
        everyone = total.sum(axis=1)
        variation = np.maximum(square - everyone * everyone / present, 0.0)
        if protected:
            cap = cap_at(strata.everyone / 2, strata.everyone / 2, test.floor, protected=True)
            deviation = cap.of_means(first[0], second[0], everyone[0] / present[0], variation[0])
            score, steps, sensitivity = _capped(test, cap, contrast / deviation, clip)
        else:
            own = first * second * variation / (present * np.maximum(present - 1, 1.0))
            score, steps, sensitivity = _pooled(test, strata, contrast, np.sum(weight**2 * own, axis=0), clip)
    unit = bounds_of(test.bounds, sums.names)[1]
    if strata.used.size == 1:
        moves = 1 + protected
        size = difference_effect(
            test.effect, first[0], second[0], excess[0], strata.smaller, unit, moves=moves
        )
    else:
        most = strata.pull / strata.weight
        size = effect(test.effect, contrast / strata.weight, most, unit, strata=strata.used.size)
    return conclude(
        sums.names,
        score,
        alternative=test.alternative,
        steps=[steps],
        sensitivity=sensitivity,
        proof="docs/proofs/two-groups.md",
        basis=basis_of(test.tail, "proved" if test.floor is None else "checked"),
        public=strata.public,
        effect=size,
    )


def _known(test: Means, strata: Strata, contrast: Floats, clip: float) -> tuple[Floats, ScoreMap, float]:
    """Return scores, their map and one person's influence, the deviation being known or the largest."""
    deviation = (test.sd or 0.5) * float(np.sqrt(strata.weight))
    influence = strata.pull / deviation
    term = min(strata.pull, 1.0) / deviation
    survival = (
        tails.normal
        if test.tail == "normal"
        else tails.bounded_sum(strata.everyone, term, clip, both=True, light=test.sd is None)
    )
    steps = score_map(survival, influence, clip)
    return steps(toward(contrast / deviation, test.alternative)), steps, steps.move(influence)


def _capped(test: Means, cap: Cap, z: Floats, clip: float) -> tuple[Floats, ScoreMap, float]:
    """Return the same for an estimated deviation and protected groups."""
    survival = tails.normal if test.tail == "normal" else tails.any_bounded_sum(cap.influence, clip)
    steps = score_map(survival, cap.influence, clip, grow=cap.grow)
    return steps(toward(z, test.alternative)), steps, steps.move(cap.influence, cap.grow)


def _pooled(
    test: Means, strata: Strata, contrast: Floats, own: Floats, clip: float
) -> tuple[Floats, NuisanceScoreMap, float]:
    """Return the same for public groups: z = contrast / sqrt(max(own, least)).

    `own` is the variance of the contrast when groups are drawn at random among those present, `least` its
    value when all are and strata have the deviation `floor`. One person moves `own` by at most `margin`.
    """
    least = (test.floor or 0.5) ** 2 * strata.drawn
    variance = np.maximum(own, least)
    margin = 0.25
    step = strata.pull / float(np.sqrt(least))
    knots = [least / margin, 2 * least / margin]
    while knots[-1] < strata.drawn / 4 / margin:  # no deviation is larger than half the width
        knots.append(2 * knots[-1])
    # A bound for one variance holds for all larger ones: one person then weighs less.
    coins = [1 / float(np.sqrt(knot * margin)) for knot in (knots[0], *knots[:-1])]
    survivals = [
        tails.normal if test.tail == "normal" else _of_coins(strata.everyone, coin, strata.pull, clip)
        for coin in coins
    ]
    grow = float(np.sqrt(1 + margin / least)) - 1
    steps = nuisance_score_map(knots, survivals, step, clip, grow=grow)
    z = toward(contrast / np.sqrt(variance), test.alternative)
    return steps(z, variance / margin), steps, steps.move


def _of_coins(people: int, coin: float, pull: float, clip: float) -> tails.Survival:
    """Return the bound on a tail of sums of independent coins, as of answers in random groups."""
    power = tails.bounded_sum(people, coin * pull, clip)
    return tails.least(power, tails.tilted_sum(coin), partial(tails.near_normal, coin))


def invented_difference(test: Means, z: RawArray, people: Invented, strata: int) -> Evidence:
    """Put everyone in the middle of the bounds but for a contrast of z standard errors, strata alike."""
    n, first, second = people.n, people.first, people.second
    actual = people.sd or test.sd or 0.5
    squared = test.floor is not None
    # The textbook z of the pooled test divides by N - 1.
    contrast = z * actual * np.sqrt(first * second / n * (n / (n - 1) if squared else 1.0))
    parts = COARSE if squared else FINE
    pair = [parts * (first / 2 - contrast) / strata, parts * (second / 2 + contrast) / strata]
    squares = [np.full(z.size, n * (actual**2 + 0.25)) * COARSE**2, np.zeros(z.size)] if squared else None
    return evidence_of_sums(test, [first / strata, second / strata] * strata, pair * strata, squares)


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
        if sd is None:
            whole = 1 / root  # a term about its own mean, which may differ from the null
            survival = tails.least(
                survival, tails.tilted_sum(whole, _any_number(rate, whole)), partial(tails.near_normal, whole)
            )
    elif sd is None:
        survival = tails.bernoulli_sum(people, rate, clip)
    else:
        survival = tails.bounded_sum(people, (1 - rate) / root, clip)
    steps = score_map(survival, max(rise, fall), clip)
    return Side(rate, scale, size, steps, steps.move(rise), steps.move(fall))


def _any_number(rate: float, step: float) -> tails.Survival:
    """Return a bound on log E exp(sz) for sums of [0, 1] variables of this mean, however many there are.

    s^2/2 times the largest variance of a coin between this one and the one tilted by s, over its own.
    """

    def log_moment(s: Floats) -> Floats:
        tilted = np.asarray(scipy.special.expit(s * step + np.log(rate) - np.log1p(-rate)), dtype=np.float64)
        at = np.clip(0.5, rate, tilted)
        return 0.5 * s * s * at * (1 - at) / (rate * (1 - rate))

    return log_moment


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
    rise, fall = max(side.rise for side in used), max(side.fall for side in used)
    return conclude(
        names,
        score,
        alternative=alternative,
        steps=[side.steps for side in used],
        sensitivity=max(rise, fall),
        spread=rise + fall,
        adjacency=used[0].size.adjacency,
        proof=proof,
        effect=effect,
        basis=basis_of(tail),
    )
