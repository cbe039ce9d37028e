"""Noise-aware BH, the mirror and a first look as they ship, with the exact law of what they reveal.

Inputs count in sensitivities: one person moves each of them by 1, and one against another by 2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from discreet.api import release
from discreet.evidence.core.certificate import Certificate, Null
from discreet.evidence.core.evidence import Evidence
from discreet.lab import outcomes
from discreet.methods.auto.look import look, sigma_of
from discreet.methods.aware import count
from discreet.methods.aware.method import public_constants
from discreet.methods.aware.shortfall import rule_for
from discreet.privacy.account import account
from discreet.privacy.curves import effective, gaussian_budget
from discreet.privacy.events import Gaussian
from discreet.selection.values import lattice_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.methods.aware.method import Public
    from discreet.methods.aware.shortfall import Steps

EPSILON, DELTA = 1.0, 1e-3
SEARCH_NOISE = 2.0  # in sensitivities, for one comparison of the search: Gaussian(1/2)
_MOST = 5  # larger studies have too many orders to list
_Q, _MIRROR_Q, _MIRROR_K = 0.5, 0.6, 2
_SUP = 0.05
_NULL = Null("exponential", 20.0)
_LOOK = 0.125  # the budget of a first look: Gaussian(1/2)
_QUESTIONS, _LEVEL = 3, _NULL.ceiling / 2 + 1.0


def comparison_epsilon() -> float:
    """Return what one comparison of the search costs, at DELTA."""
    return account([Gaussian(1 / SEARCH_NOISE)], delta=DELTA)


def ask(x: NDArray[np.float64]) -> int:
    """Ask once whether the best score reaches 3."""
    settings: dict[str, Any] = {"depth": 1, "step": count.step_of(1.0), "beta": None}
    settings["sigma_steps"] = count.STEPS * SEARCH_NOISE
    return 1 + count.search(
        count.in_steps(x, 1.0), np.array([1]), np.array([0.5]), np.array([3.0]), **settings
    )


def answer_law(x: NDArray[np.float64]) -> outcomes.Law:
    """Return the exact chances of no and yes of `ask`."""
    sigma = count.STEPS * SEARCH_NOISE
    yes = _passing(count.in_steps(x, 1.0), (1, 0.5, 3.0), count.step_of(1.0), sigma, None)
    return {(0,): 1.0 - yes, (1,): yes}


def run_aware(x: NDArray[np.float64]) -> int:
    """Release with noise-aware BH; the order of the discoveries as a number."""
    return _code(release(_aware_evidence(x), q=_Q, epsilon=EPSILON, delta=DELTA).indices, x.size)


def aware_law(x: NDArray[np.float64]) -> outcomes.Law:
    """Return the exact law of the ordered discoveries; empty when there are too many items."""
    if x.size > _MOST:
        return {}
    public, evidence = _public(x.size), _aware_evidence(x)
    law: outcomes.Law = {}
    for chosen, chance in enumerate(count_law(evidence.score, public), start=-1):
        if chosen < 0:
            law[()] = chance
            continue
        orders = outcomes.softmax_orders(
            evidence.score, float(public.plan.scale[chosen]), int(public.plan.counts[chosen])
        )
        law.update({order: chance * p for order, p in orders.items()})
    return law


def run_mirror(x: NDArray[np.float64]) -> int:
    """Release with the mirror; the discoveries, in order, as a number."""
    evidence = Evidence.from_z(x, sensitivity=1.0, adjacency="replace", alternative="greater")
    mirrored = release(evidence, q=_MIRROR_Q, epsilon=EPSILON, delta=DELTA, method="mirror", k=_MIRROR_K)
    return _code(mirrored.indices, x.size)


def mirror_law(x: NDArray[np.float64]) -> outcomes.Law:
    """Return the exact law of the selection and the noisy signs, of which the release is a function."""
    if x.size > _MOST:
        return {}
    rho = gaussian_budget(EPSILON, DELTA)
    select, signs = 0.625 * rho, 0.375 * rho
    scale = 2.0 * math.sqrt(float(effective(_MIRROR_K)) / (8 * select))
    lattice = lattice_for(1.0)
    sigma = lattice.sensitivity / math.sqrt(2 * signs / _MIRROR_K)
    positive = [_tail(sigma, 1 - math.floor(float(z) / lattice.step)) for z in np.clip(x, -37.0, 37.0)]
    law: outcomes.Law = {}
    for order, chance in outcomes.softmax_orders(np.abs(x), scale, _MIRROR_K).items():
        for bits in range(1 << _MIRROR_K):
            signs_seen = [bits >> i & 1 for i in range(_MIRROR_K)]
            parts = [positive[o] if up else 1 - positive[o] for o, up in zip(order, signs_seen, strict=True)]
            law[(*order, *signs_seen)] = chance * math.prod(parts)
    return law


def look_epsilon() -> float:
    """Return what a whole first look costs here, at DELTA."""
    return account([Gaussian(math.sqrt(2 * _LOOK))], delta=DELTA)


def run_look(x: NDArray[np.float64]) -> int:
    """Look at three scores, the next rank by the answers so far; return which reach the level, as bits."""
    answers = look(_look(x), lambda answers: _asked(x.size, _reached(answers)), _QUESTIONS, _LOOK).told
    return _bits(_reached(answers))


def look_law(x: NDArray[np.float64]) -> outcomes.Law:
    """Return the exact chances of these answers."""
    evidence = _look(x)
    ordered, step = count.in_steps(evidence.score, 1.0, _NULL.ceiling), count.step_of(1.0)
    sigma, least = sigma_of(_QUESTIONS, _LOOK), math.ceil(_LEVEL / step)
    law: outcomes.Law = {}

    def walk(answers: tuple[bool, ...], weight: float) -> None:
        if len(answers) == _QUESTIONS:
            law[(_bits(answers),)] = weight
            return
        yes = _tail(sigma, least - int(ordered[-_asked(x.size, answers)]))
        walk((*answers, True), weight * yes)
        walk((*answers, False), weight * (1 - yes))

    walk((), 1.0)
    return law


def _bits(answers: tuple[bool, ...]) -> int:
    """Return answers as one whole number."""
    return sum(answer << place for place, answer in enumerate(answers))


def _asked(size: int, answers: tuple[bool, ...]) -> int:
    """Return the rank to ask about: a larger one after a score that reaches the level, else a smaller one."""
    rank = max(1, size // 2)
    for answer in answers:
        rank += 1 if answer else -1
    return min(max(rank, 1), size)


def _reached(answers: tuple[tuple[int, float], ...]) -> tuple[bool, ...]:
    """Return which of the released scores reach the level."""
    return tuple(score >= _LEVEL for _, score in answers)


def _look(x: NDArray[np.float64]) -> Evidence:
    """Return evidence whose scores are x, lifted above 0."""
    certificate = Certificate(1.0, 2.0, "replace", "declared")
    score = np.clip(x + _NULL.ceiling / 2, 0.0, _NULL.ceiling)
    return Evidence([str(place) for place in range(x.size)], score, _NULL, certificate)


def count_law(scores: NDArray[np.float64], public: Public) -> list[float]:
    """Return the exact chances that the search ends at none, at the first count, at the second, ..."""
    plan, ordered = public.plan, count.in_steps(scores, _SUP)
    passing = [
        _passing(ordered, question, public.step, public.sigma_steps, public.shape.beta)
        for question in zip(plan.counts.tolist(), plan.scale.tolist(), plan.level.tolist(), strict=True)
    ]
    chances = [0.0] * (len(passing) + 1)

    def walk(at: int, depth: int, passed: int, weight: float) -> None:
        if depth == 0 or weight == 0.0:
            chances[passed + 1 if weight > 0.0 else 0] += weight
            return
        middle = at + (1 << (depth - 1)) - 1
        up = passing[middle] if middle < len(passing) else 0.0
        walk(middle + 1, depth - 1, middle, weight * up)
        walk(at, depth - 1, passed, weight * (1 - up))

    walk(0, public.shape.depth, -1, 1.0)
    return chances


def _public(m: int) -> Public:
    rho = gaussian_budget(EPSILON, DELTA)
    return public_constants(_NULL, m, _Q, _SUP, 2 * _SUP, rho, "proved", "positive")


def _passing(
    ordered: Steps,
    question: tuple[int, float, float],
    step: float,
    sigma: float,
    beta: float | None,
) -> float:
    """Return the exact chance of yes: where the rule turns, then a tail of the rounded Gaussian."""
    r, scale, level = question
    rule = rule_for(r, scale / step, beta, ordered.size)
    low, high = -(1 << 22), 1 << 22
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rule.passes(ordered, middle) else (low, middle)
    return _tail(sigma, count.whole_level(level, step) - low)


def _tail(sigma: float, least: int) -> float:
    """Return P(N >= least) for rounded Gaussian N."""
    return float(scipy.special.ndtr((0.5 - least) / sigma))


def _aware_evidence(x: NDArray[np.float64]) -> Evidence:
    """Return evidence whose scores are x, lifted to where the search is undecided, and clipped."""
    certificate = Certificate(_SUP, 2 * _SUP, "replace", "declared")
    score = np.clip(x * _SUP + float(_public(x.size).plan.level[0]), 0.0, _NULL.ceiling)
    return Evidence([str(i) for i in range(x.size)], score, _NULL, certificate)


def _code(indices: Sequence[int] | NDArray[np.int64], m: int) -> int:
    code = 0
    for i in indices:
        code = code * (m + 1) + int(i) + 1
    return code
