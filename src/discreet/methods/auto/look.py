"""A first look at how many hypotheses stand out, for a share of the budget; then the method for so many.

Where few are real it pays to select them and to measure those afresh; where many are, to measure all. Public
numbers do not tell which: a few order statistics of the scores do, and one person moves each of them by no
more than one score. Proofs: docs/proofs/look.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.evidence.core.compared import compared
from discreet.evidence.core.people import People
from discreet.methods.all.learn import learn_groups
from discreet.methods.all.method import APPROXIMATE
from discreet.methods.all.scores import noisy_tail
from discreet.methods.all.sums import check_noise, learners, some_rows, with_noise
from discreet.methods.aware.count import MOST_STEPS, STEPS, in_steps, step_of
from discreet.methods.first_look import epsilon_of
from discreet.methods.method import Ready
from discreet.methods.registry import METHODS
from discreet.methods.scores import independent_nulls
from discreet.noise.samplers import rounded_gaussian
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Null
    from discreet.evidence.core.evidence import Evidence
    from discreet.methods.method import Parameters
    from discreet.report.release import Release

SHARE = 0.04
"""Of the budget, for the look."""
SIZES = 0.1
"""Of that, for the sizes of the groups where these are protected."""
TIES = 0.05
"""And for how many people have the same entry."""
_DENSE = (
    10  # where one in so many stands out, or more, all are measured: of columns that are told one by one,
)
_OF_ANSWERS = 4  # and of yes/no answers, whose rows are short, one in so many times that
_SAMPLED = 4096  # people who show how common the commonest entry is
_BLUNT = 0.78  # beyond this share of people with one entry the scores of a column are far below its z
_RARER = 0.15  # those of declared answers stay sharp for so much more
_BETWEEN = 1.4  # times the largest rank that stands out: about the number that does
_MEASURED = 2.5  # times that rank are measured afresh: one too few is lost, one too many costs little
_ABOVE = 0.5  # deviations of the look's noise above a level: what is real mostly is, by far
_HIGHEST = 0.45  # of the largest score that there is: higher levels would be missed by those at the top
_STAGED = 0.7  # about the noise after stages that drop scores, over that of telling all at once
_GRID = 512
_BLUNTLY = (
    f"a first look, for {TIES * SHARE:.1%} of the budget, saw columns in which most people have the same "
    'entry: "all" tells every one'
)


def ranks_for(m: int) -> NDArray[np.int64]:
    """Return the ranks that are looked at, ascending: a quarter of all, an eighth, and so on down to 2.

    Where a quarter stands out all are measured, and it does not matter how many more do.
    """
    halvings = range(2, max(3, m.bit_length() - 1))
    return np.unique([max(1, m >> halving) for halving in halvings]).astype(np.int64)


def levels_for(ranks: NDArray[np.int64], m: int, null: Null, q: float, noise: float) -> NDArray[np.float64]:
    """Return for each rank the score that so many must reach, for a release of them to report them.

    `noise` is the variance of the noise if all scores got the whole budget: a multiple of the rank are
    measured, with less noise the fewer they are.
    """
    levels: list[float] = []
    for rank in ranks.tolist():
        deviation = _STAGED * math.sqrt(noise * min(1.0, _MEASURED * rank / m))
        at = np.linspace(0.0, null.ceiling + 9 * deviation, _GRID)
        p = noisy_tail(at, deviation, null)
        levels.append(float(at[min(int(np.count_nonzero(p > q * rank / m)), _GRID - 1)]))
    return np.array(levels)


@dataclass(frozen=True, slots=True)
class Look:
    """What a look told: how many of the ranks stand out, and the noisy scores it went by. Public."""

    passed: int
    told: dict[int, float]
    deviation: float


def look(evidence: Evidence, ranks: NDArray[np.int64], levels: NDArray[np.float64], rho: float) -> Look:
    """Search for the last rank whose score, with noise, reaches its level.

    Guarantee: Gaussian(sqrt(2 rho)), one part for each question of a search by halves (docs/proofs/look.md).
    """
    sensitivity, ceiling = evidence.certificate.sensitivity, evidence.null.ceiling
    ordered, step = in_steps(evidence.score, sensitivity, ceiling), step_of(sensitivity)
    questions = ranks.size.bit_length()
    sigma = sigma_of(questions, rho)
    low, high = 0, ranks.size
    told: dict[int, float] = {}
    for noise in rounded_gaussian(sigma, questions).tolist():
        if low == high:
            break
        middle = (low + high) // 2
        rank = int(ranks[middle])
        told[rank] = (int(ordered[-rank]) + noise) * step
        low, high = (middle + 1, high) if told[rank] >= levels[middle] else (low, middle)
    return Look(low, told, sigma * step)


def sigma_of(questions: int, rho: float) -> float:
    """Return the deviation of the noise in each answer, in steps."""
    return STEPS * math.sqrt(questions / (2 * rho)) * (1 + 2.0**-40)


def ready_looked(data: People | Evidence, asked: Parameters) -> Ready:
    """Settle the cost, and every release that may follow; the draw looks, then draws one of them.

    Guarantee: Gaussian(sqrt(2 rho_1)) for the look, then a method that spends no more than what the look left
    of the budget, whichever it is: inside (epsilon, delta) together. Everything that could be chosen is made
    ready, and refused if it cannot be drawn, before anything is spent.
    """
    from discreet.methods.auto.method import setting_of  # which imports this file

    data = data.held() if isinstance(data, People) else data
    whole, m = gaussian_budget(asked.epsilon, asked.delta), len(data)
    first = SHARE * whole
    later = replace(asked, epsilon=epsilon_of((1 - SHARE) * whole, asked.delta))
    # Where nothing but the commonest entries is looked at, the rest of the look is for the release too.
    more = replace(asked, method="all", epsilon=epsilon_of((1 - TIES * SHARE) * whole, asked.delta))
    # Both budgets are rounded down, each by itself: the charge covers the larger.
    spent = (gaussian_budget(each.epsilon, asked.delta) for each in (later, more))
    events = gaussian_events((first, max(next(spent), next(spent) - (1 - TIES) * first)))
    ranks = ranks_for(m)
    questions = ranks.size.bit_length()
    _check(data, questions, first)
    follows = [_follows(data, later, ranks, passed) for passed in range(ranks.size + 1)]
    blunt = METHODS["all"].ready(more, data), _BLUNTLY
    noise = setting_of(asked, data).noise
    fdr = _promise(data, asked)

    def draw() -> Release:
        told, (ready, why) = {}, blunt
        sharp, rho = (
            (_sharp(data, TIES * first), (1 - TIES) * first) if isinstance(data, People) else (True, first)
        )
        if sharp:
            evidence, rho = _scores(data, rho)
            levels = levels_for(ranks, m, evidence.null, asked.q, noise)
            levels += _ABOVE * sigma_of(questions, rho) * step_of(evidence.certificate.sensitivity)
            seen = look(evidence, ranks, np.minimum(levels, _HIGHEST * evidence.null.ceiling), rho)
            ready, why = follows[seen.passed]
            told = {f"score {rank:,}": score for rank, score in seen.told.items()}
            told["noise_sd"] = seen.deviation
        made = ready.draw()
        return replace(
            made,
            fdr=fdr,
            privacy=replace(made.privacy, epsilon=asked.epsilon, delta=asked.delta, events=events),
            parameters={**made.parameters, "chosen": why, "look": told},
        )

    return Ready(events, fdr, draw)


def _follows(
    data: People | Evidence, later: Parameters, ranks: NDArray[np.int64], passed: int
) -> tuple[Ready, str]:
    """Return what follows if so many ranks stand out, ready, and why."""
    m = len(data)
    rank = int(ranks[passed - 1]) if passed else max(1, int(ranks[0]) // 2)
    signals = min(m, max(1, round(_BETWEEN * rank)))
    saw = f"a first look, for {SHARE:.0%} of the budget, saw about {signals:,} of {m:,} stand out"
    if _dense(data) * rank > m:
        asked = replace(later, method="all", expect=float(signals))
        return METHODS["all"].ready(asked, data), f'{saw}: "all" tells every one'
    count = min(m, round(_MEASURED * rank))
    asked = replace(later, method="focus", k=count, expect=float(signals))
    return METHODS["focus"].ready(asked, data), f'{saw}: "focus" measures {count:,} afresh'


def _dense(data: People | Evidence) -> float:
    """Return how many hypotheses there may be for each that stands out, if all are to be told."""
    if not isinstance(data, People):
        return _DENSE
    answers = sum(len(range(data.columns)[asked.places]) for asked in data.questions if asked.answers)
    return _DENSE * (_OF_ANSWERS if 2 * answers > data.columns else 1)


def _sharp(people: People, rho: float) -> bool:
    """Say whether nine columns in ten have scores near their z, by how many people have the commonest entry.

    One person replaced moves each of these numbers by 1 at most, and so any of their order statistics.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    values = np.sort(some_rows(people.values, learners(people.rows, _SAMPLED)), axis=0)
    size = len(values)
    count = np.array([_longest_run(column[~np.isnan(column)]) for column in values.T])
    for asked in people.questions:
        count[asked.places] -= round(_RARER * size) if asked.answers else 0
    tenth = np.sort(count)[-max(1, people.columns // 10)]
    return bool(with_noise(tenth, 1.0, rho).sums <= _BLUNT * size)


def _longest_run(ordered: NDArray[np.floating[Any]]) -> int:
    """Return how often the commonest of ascending numbers occurs."""
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], [True] * (ordered.size > 0)))
    return int(np.max(np.diff(ends, prepend=-1), initial=0))


def _check(data: People | Evidence, questions: int, rho: float) -> None:
    """Refuse, before anything is spent, a look whose noise or whose scores whole numbers cannot hold."""
    sigma = sigma_of(questions, rho)
    check_noise(sigma, sigma)
    if (
        not isinstance(data, People)
        and data.null.ceiling / step_of(data.certificate.sensitivity) > MOST_STEPS
    ):
        raise InputError(
            f"the sensitivity {data.certificate.sensitivity:g} is too small for scores up to "
            f"{data.null.ceiling:g}: give more"
        )


def _scores(data: People | Evidence, rho: float) -> tuple[Evidence, float]:
    """Return the scores to look at, and what is left of `rho` for that once group sizes are known."""
    if not isinstance(data, People):
        return data, rho
    sizes = SIZES * rho if data.protect == "everything" else 0.0
    groups = [learn_groups(part.group, sizes) for part in data.parts()]
    usual = np.median([(group.first, group.second) for group in groups], axis=0)
    with np.errstate(all="ignore"):  # a warning would speak of the data
        return compared(data, sizes=(float(usual[0]), float(usual[1]))), rho - sizes


def _promise(data: People | Evidence, asked: Parameters) -> FdrPromise:
    """Return what is known of false discoveries: for the choice that was made, by simulation."""
    words = APPROXIMATE if isinstance(data, People) else independent_nulls(data.null)
    return FdrPromise(asked.q, "simulated", words, "discreet bench auto")
