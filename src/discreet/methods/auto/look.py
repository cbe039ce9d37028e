"""A first look at a few scores, for a share of the budget: how many stand out; then the method for so many.

Where few are real it pays to select them and to measure those afresh; where many are, to measure all. Public
numbers do not tell which: a few order statistics of the scores do, and one person moves each of them by no
more than one score. Proofs: docs/proofs/look.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.evidence.core.compared import compared, pairs_of
from discreet.evidence.core.people import People
from discreet.methods.all.learn import learn_groups
from discreet.methods.all.method import APPROXIMATE
from discreet.methods.all.scores import noisy_tail
from discreet.methods.all.sums import check_noise, learners, some_rows, with_noise
from discreet.methods.auto.belief import Belief, Public, counts, measured_of, states_of
from discreet.methods.aware.count import MOST_STEPS, STEPS, in_steps, step_of
from discreet.methods.first_look import epsilon_of
from discreet.methods.focus.method import ready_focus
from discreet.methods.method import Ready
from discreet.methods.registry import METHODS
from discreet.methods.scores import independent_nulls
from discreet.noise.samplers import rounded_gaussian
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import gaussian_events
from discreet.report.parts import FdrPromise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.evidence.core.compared import Pairs
    from discreet.evidence.core.evidence import Evidence
    from discreet.methods.method import Parameters
    from discreet.report.release import Release

    Told = tuple[tuple[int, float], ...]
    Counted = Callable[[], tuple[Pairs, ...]]

SHARE = 0.05
"""Of the budget, for the look."""
SIZES = 0.1
"""Of that, for the sizes of the groups where these are protected."""
TIES = 0.04
"""And for how many people have the same entry."""
QUESTIONS = 5
"""How many scores are told, one after another."""
_DENSE = 10  # where one in so many columns stands out, or more, all are told
_OF_ANSWERS = 4  # and of yes/no answers, whose rows are short, one in so many times that
_TOGETHER = 2**20  # entries looked at together
_SAMPLED = 4096  # people who show how common the commonest entry is
_BLUNT = 0.78  # beyond this share of people with one entry the scores of a column are far below its z
_RARER = 0.15  # those of declared answers stay sharp for so much more
_MEASURED = 2.5  # times the last rank that stands out are measured, of columns: one too many costs little
_ABOVE = 0.5  # deviations of the look's noise above a level: what is real mostly is, by far
_HIGHEST = 0.45  # of the largest score that there is
_GRID = 512
_SPARE = 1.3  # times as many are measured as are expected to be real
_MANY = 4  # where all are told, one in so many is expected to be real
_BLUNTLY = (
    f"a first look, for {TIES * SHARE:.1%} of the budget, saw columns in which most people have the same "
    'entry: "all" measures every hypothesis'
)


@dataclass(frozen=True, slots=True)
class Look:
    """What a look told: ranks and the noisy scores there, in the order of asking. Public."""

    told: Told
    deviation: float


def look(evidence: Evidence, ask: Callable[[Told], int], questions: int, rho: float) -> Look:
    """Tell the scores of some ranks with noise, one after another; `ask` chooses by what was told so far.

    Guarantee: Gaussian(sqrt(2 rho)), one part for each question (docs/proofs/look.md).
    """
    sensitivity, ceiling = evidence.certificate.sensitivity, evidence.null.ceiling
    ordered, step = in_steps(evidence.score, sensitivity, ceiling), step_of(sensitivity)
    sigma = sigma_of(questions, rho)
    told: Told = ()
    for noise in rounded_gaussian(sigma, questions).tolist():
        rank = ask(told)
        told = (*told, (rank, (int(ordered[-rank]) + noise) * step))
    return Look(told, sigma * step)


def sigma_of(questions: int, rho: float) -> float:
    """Return the deviation of the noise in each answer, in steps."""
    return STEPS * math.sqrt(questions / (2 * rho)) * (1 + 2.0**-40)


def ready_looked(data: People | Evidence, asked: Parameters) -> Ready:
    """Settle the cost, and every release that may follow; the draw looks, then draws one of them.

    Guarantee: Gaussian(sqrt(2 rho_1)) for the look, then a method that spends no more than what the look left
    of the budget, whichever it is: inside (epsilon, delta) together. Everything that could be chosen is made
    ready, and refused if it cannot be drawn, before anything is spent.
    """
    data = data.held() if isinstance(data, People) else data
    whole, m = gaussian_budget(asked.epsilon, asked.delta), len(data)
    first = SHARE * whole
    later = replace(asked, epsilon=epsilon_of((1 - SHARE) * whole, asked.delta))
    # Where nothing but the commonest entries is looked at, the rest of the look is for the release too.
    more = replace(asked, method="all", epsilon=epsilon_of((1 - TIES * SHARE) * whole, asked.delta))
    # Both budgets are rounded down, each by itself: the charge covers the larger.
    spent = (gaussian_budget(each.epsilon, asked.delta) for each in (later, more))
    events = gaussian_events((first, max(next(spent), next(spent) - (1 - TIES) * first)))
    _check(data, first)
    # How groups compare is counted once: for the look, and for the selection that may follow.
    pairs = cache(partial(pairs_of, data)) if isinstance(data, People) else None
    follows = {count: _follows(data, later, count, pairs) for count in measured_of(m).tolist()}
    blunt = METHODS["all"].ready(more, data), _BLUNTLY
    fdr = _promise(data, asked)

    def draw() -> Release:
        record, (ready, why) = {}, blunt
        few_ties, rho = (
            (_few_ties(data, TIES * first), (1 - TIES) * first) if isinstance(data, People) else (True, first)
        )
        if few_ties:
            evidence, rho = _scores(data, rho, pairs)
            public = _public(data, evidence, later)
            if isinstance(data, People):
                seen, signals, count = _searched(data, evidence, public, rho)
            else:
                seen, belief = _looked(evidence, public, rho)
                signals, count = belief.signals, belief.best(m)
            ready, why = follows[count]
            saw = f"saw about {signals:,} of {m:,} stand out"
            why = f"a first look, for {SHARE:.0%} of the budget, {saw}: {why}"
            record = {f"score {rank:,}": score for rank, score in seen.told}
            record["noise_sd"] = seen.deviation
        made = ready.draw()
        return replace(
            made,
            fdr=fdr,
            privacy=replace(made.privacy, epsilon=asked.epsilon, delta=asked.delta, events=events),
            parameters={**made.parameters, "chosen": why, "look": record},
        )

    return Ready(events, fdr, draw)


def _follows(
    data: People | Evidence, later: Parameters, count: int, pairs: Counted | None
) -> tuple[Ready, str]:
    """Return what follows if so many are to be measured, ready, and what it does."""
    if count == len(data):
        few = _dense(data) if isinstance(data, People) else _MANY
        asked = replace(later, method="all", expect=float(max(1, count // few)))
        return METHODS["all"].ready(asked, data), '"all" measures every hypothesis'
    asked = replace(later, method="focus", k=count, expect=float(max(1, round(count / _SPARE))))
    words = f'"focus" measures {count:,} afresh'
    if isinstance(data, People):
        return ready_focus(data, asked, pairs), words
    return METHODS["focus"].ready(asked, data), words


def _public(data: People | Evidence, evidence: Evidence, later: Parameters) -> Public:
    """Return what a choice goes by: of comparisons what is measured is not the score that selects."""
    from discreet.methods.auto.method import setting_of  # which imports this file

    certificate, m = evidence.certificate, len(data)
    pull, rho = certificate.sensitivity, gaussian_budget(later.epsilon, later.delta)
    each, most = pull**2 / (2 * rho), float(m)
    if isinstance(data, People):
        setting = setting_of(later, data)
        each = setting.noise / (1 - setting.spent) / m
    elif certificate.norm is not None:
        most = min(most, (certificate.norm / pull) ** 2)
    return Public(m, evidence.null, pull, each, most, rho, later.q)


def _looked(evidence: Evidence, public: Public, rho: float) -> tuple[Look, Belief]:
    """Look, each question chosen by the answers so far; and say what is to be believed after it.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    deviation = sigma_of(QUESTIONS, rho) * step_of(evidence.certificate.sensitivity)
    before = Belief.before(states_of(public))

    def believed(answers: Told) -> Belief:
        return reduce(lambda belief, each: belief.after(*each, deviation), answers, before)

    seen = look(evidence, lambda told: believed(told).question(deviation), QUESTIONS, rho)
    return seen, believed(seen.told)


def _searched(people: People, evidence: Evidence, public: Public, rho: float) -> tuple[Look, int, int]:
    """Look for the last rank that stands out; return it, and how many to measure: all where it is so large.

    What is measured then are sums over whole rows, not these scores: no belief about scores says what is
    found. A score stands out if a release of as many would report it.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    m = len(people)
    deviation = sigma_of(QUESTIONS, rho) * step_of(evidence.certificate.sensitivity)
    ranks = counts(m // 4, 2)
    levels = dict(zip(ranks.tolist(), _levels(ranks, public, deviation).tolist(), strict=True))
    seen = look(evidence, lambda told: _between(_last(told, levels), told, ranks), QUESTIONS, rho)
    last, _ = _last(seen.told, levels)
    measured = measured_of(m)
    wanted = int(np.searchsorted(measured, round(_MEASURED * max(last, 1))))
    everyone = last * _dense(people) > m or wanted >= measured.size - 1
    return seen, last, m if everyone else int(measured[wanted])


def _levels(ranks: NDArray[np.int64], public: Public, deviation: float) -> NDArray[np.float64]:
    """Return for each rank the noisy score that so many must reach, for a release of them to report them."""
    levels: list[float] = []
    count = np.minimum(np.rint(_MEASURED * ranks), public.m).astype(np.int64)
    deviations: list[float] = np.sqrt(public.noise(ranks.astype(np.float64), count)).tolist()
    for rank, noise in zip(ranks.tolist(), deviations, strict=True):
        at = np.linspace(0.0, public.null.ceiling + 9 * noise, _GRID)
        p = noisy_tail(at, noise, public.null)
        levels.append(float(at[min(int(np.count_nonzero(p > public.q * rank / public.m)), _GRID - 1)]))
    # Higher ones would be missed by scores at the top.
    return np.minimum(np.array(levels) + _ABOVE * deviation, _HIGHEST * public.null.ceiling)


def _last(answers: Told, levels: dict[int, float]) -> tuple[int, float]:
    """Return the last rank that stands out, 0 if none does, and the first beyond it that was asked about.

    Scores fall with their rank, and answers are noisy: that end is taken which all answers together
    contradict least, so that no single one decides. Of two, the later.
    """
    above = {rank: score - levels[rank] for rank, score in answers}

    def contradicted(end: int) -> float:
        return sum(max(-by if rank <= end else by, 0.0) for rank, by in above.items())

    last = min(sorted((0, *above), reverse=True), key=contradicted)
    return last, min((rank for rank in above if rank > last), default=math.inf)


def _between(ends: tuple[int, float], answers: Told, ranks: NDArray[np.int64]) -> int:
    """Return the rank to ask about next: halfway, or where all is settled one that would show an error.

    That is the next one beyond the end: to miss many that are real costs more than to measure a few too many.
    """
    unasked = ranks[(ranks > ends[0]) & (ranks < ends[1])]
    if unasked.size:
        return int(unasked[unasked.size // 2])
    unasked = np.setdiff1d(ranks, [rank for rank, _ in answers])
    beyond = unasked[unasked > ends[1]]
    return int((*beyond, *unasked[::-1], ranks[-1])[0])


def _dense(people: People) -> int:
    """Return how many columns there may be for each that stands out, if all are to be told."""
    answers = sum(len(range(people.columns)[asked.places]) for asked in people.questions if asked.answers)
    return _DENSE * (_OF_ANSWERS if 2 * answers > people.columns else 1)


def _few_ties(people: People, rho: float) -> bool:
    """Say whether nine columns in ten have scores near their z, by how many people have the commonest entry.

    One person replaced moves each of these numbers by 1 at most, and so any of their order statistics.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    values = np.sort(some_rows(people.values, learners(people.rows, _SAMPLED)), axis=0)
    size = len(values)
    parts = np.array_split(values.T, 1 + values.size // _TOGETHER)
    count = np.concatenate([_longest_runs(part) for part in parts])
    for asked in people.questions:
        count[asked.places] -= round(_RARER * size) if asked.answers else 0
    tenth = np.sort(count)[-max(1, people.columns // 10)]
    return bool(with_noise(tenth, 1.0, rho).sums <= _BLUNT * size)


def _longest_runs(ordered: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """Return how often the commonest entry of each row occurs; entries ascend, missing ones are last."""
    rows, size = len(ordered), int(ordered.shape[1])
    if not ordered.size:
        return np.zeros(rows, dtype=np.int64)
    begins = np.ones(ordered.shape, dtype=np.bool_)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    at: NDArray[np.intp] = np.flatnonzero(begins)
    first: Any = np.searchsorted(at, np.arange(rows) * size)
    longest: NDArray[np.int64] = np.maximum.reduceat(np.diff(at, append=ordered.size), first)
    return np.where(np.isnan(ordered[:, 0]), 0, longest)


def _check(data: People | Evidence, rho: float) -> None:
    """Refuse, before anything is spent, a look whose noise or whose scores whole numbers cannot hold."""
    sigma = sigma_of(QUESTIONS, rho)
    check_noise(sigma, sigma)
    if (
        not isinstance(data, People)
        and data.null.ceiling / step_of(data.certificate.sensitivity) > MOST_STEPS
    ):
        raise InputError(
            f"the sensitivity {data.certificate.sensitivity:g} is too small for scores up to "
            f"{data.null.ceiling:g}: give more"
        )


def _scores(data: People | Evidence, rho: float, pairs: Counted | None) -> tuple[Evidence, float]:
    """Return the scores to look at, and what is left of `rho` for that once group sizes are known."""
    if not isinstance(data, People):
        return data, rho
    sizes = SIZES * rho if data.protect == "everything" else 0.0
    groups = [learn_groups(part.group, sizes) for part in data.parts()]
    usual = np.median([(group.first, group.second) for group in groups], axis=0)
    with np.errstate(all="ignore"):  # a warning would speak of the data
        counted = None if pairs is None else pairs()
        return compared(data, sizes=(float(usual[0]), float(usual[1])), pairs=counted), rho - sizes


def _promise(data: People | Evidence, asked: Parameters) -> FdrPromise:
    """Return what is known of false discoveries: for the choice that was made, by simulation."""
    words = APPROXIMATE if isinstance(data, People) else independent_nulls(data.null)
    return FdrPromise(asked.q, "simulated", words, "discreet bench auto")
