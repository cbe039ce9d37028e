"""Two groups compared in every column at once: numbers by ranks, answers by rates, one certificate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from discreet.alternative import toward
from discreet.evidence.core import groups, tails
from discreet.evidence.core.cap import caps
from discreet.evidence.core.common import ceiling_for, conclude
from discreet.evidence.core.effect import difference_effect
from discreet.evidence.core.ranks import middle_ranks
from discreet.evidence.core.score_map import score_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.cap import Cap
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.people import People

SLOPE = 1.02  # near-normal laws: scores climb hardly faster than z from the start
_ENTRIES = 2**24  # looked at together


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """How the people present compare, column by column; private. All arrays have shape (m,).

    Attributes
    ----------
    first, second : array of float64
        How many people of each group are present.
    yes : array of float64
        How many of them say yes, where the column is about an answer.
    excess : array of float64
        Half of: pairs in which the second group is larger, less pairs in which it is smaller.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    yes: NDArray[np.float64]
    excess: NDArray[np.float64]


def compared(
    people: People, *, sizes: tuple[float, float] | None = None, ceiling: float | None = None
) -> Evidence:
    """Return the evidence of differences between the two groups, from the people present in each column.

    Numbers: z = (U - n1 n2/2)/S, U the pairs in which the second group is larger, ties one half. Answers:
    z = (T - X n2/N)/S, T of the X yes being in the second group. S is the deviation when groups are drawn by
    lot among those present, or larger: the influence cap (`Cap`). Without an entry a person counts on neither
    side of that column.

    Parameters
    ----------
    people : People
        Private.
    sizes : (first, second), optional
        About how many people are in the two groups; public. Who is in which group being public, they are
        counted; otherwise halves if None. What is wrong costs power, never privacy.
    ceiling : float, optional
        As in the tests.

    Returns
    -------
    Evidence
        Its null law is checked, not proved: docs/proofs/compare.md.
    """
    protected = people.protect == "everything"
    first, second = _sizes(people, sizes, protected=protected)
    answers = np.zeros(len(people), dtype=np.bool_)
    for question in people.questions:
        answers[question.places] = question.answers
    pairs = count_pairs(people, answers)
    clip, rates = ceiling_for(ceiling, first + second), bool(answers.all())
    score, tops, moves = np.zeros(len(people)), [0.0], [0.0]
    for cap, chosen, about_answers in zip(
        caps(first, second, protected=protected), (~answers, answers), (False, True), strict=True
    ):
        if not chosen.any():
            continue
        survival = partial(answers_tail if about_answers else ranks_tail, cap)
        steps = score_map(survival, cap.influence, clip, grow=cap.grow, slope=SLOPE)
        raw = _statistic(cap, pairs, about_answers=about_answers)
        score[chosen] = steps(toward(raw[chosen], people.alternative))
        tops.append(steps.top)
        moves.append(steps.move(cap.influence, cap.grow))
    return conclude(
        people.names,
        score,
        alternative=people.alternative,
        top=max(tops),
        sup=max(moves),
        proof="docs/proofs/compare.md",
        basis="checked",
        public="" if protected else groups.MEMBERSHIP,
        effect=difference_effect(
            "difference of rates" if rates else "P(larger) - P(smaller)",
            pairs.first,
            pairs.second,
            2 * pairs.excess,
            min(first, second),
            moves=1 + protected + (not rates),
        ),
    )


def ranks_tail(cap: Cap, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the tail of z of ranks, whatever the ties: normal, with room for half a step of a lattice."""
    return tails.normal(t - cap.influence / 2)


def answers_tail(cap: Cap, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the tail of z of answers: a centred Poisson variable's, as skewed as z can be.

    With room for half a step, influence/share at most, and for a median on the other side of 0.
    """
    mean = 1 / cap.influence**2
    places = mean + t / cap.influence + 1 / 6 - 1 / (2 * cap.share)
    return np.asarray(scipy.special.gammainc(np.maximum(places, 1e-9), mean), dtype=np.float64)


def count_pairs(people: People, answers: NDArray[np.bool_]) -> Pairs:
    """Return how the groups compare in every column, among the people present there."""
    m = len(people)
    first, second, yes, excess = (np.zeros(m) for _ in range(4))
    inside = people.group >= 0
    member = (np.array([[0], [1]]) == people.group).astype(np.float64)
    many = max(1, _ENTRIES // max(people.rows, 1))
    for start in range(0, m, many):
        places = slice(start, min(start + many, m))
        block = people.values[:, places]
        first[places], second[places] = member @ ~np.isnan(block)
        about = np.flatnonzero(answers[places])
        # Whatever the entries are, they count as no or yes: the certificate is about nothing else.
        said = member @ (block[:, about] >= 0.5)
        yes[start + about] = said.sum(axis=0)
        excess[start + about] = (first[start + about] * said[1] - second[start + about] * said[0]) / 2
    for question in people.questions:
        for place in range(m)[question.places] if not question.answers else ():
            column = people.values[inside, place]
            excess[place] = _rank_excess(column, people.group[inside] == 1, question.bounds)
    return Pairs(first, second, yes, excess)


def _rank_excess(
    column: NDArray[np.floating[Any]], second: NDArray[np.bool_], bounds: tuple[float, float] | None
) -> float:
    """Return U - n1 n2 / 2 of the people present: the sum of the second group's centred ranks."""
    ranks = middle_ranks(column if bounds is None else np.clip(column, *bounds))
    present = np.count_nonzero(~np.isnan(ranks))
    return float(np.nansum(ranks[second] - (present + 1) / 2))


def _statistic(cap: Cap, pairs: Pairs, *, about_answers: bool) -> NDArray[np.float64]:
    if not about_answers:
        return pairs.excess / cap.of_ranks(pairs.first, pairs.second)
    contrast = 2 * pairs.excess / np.maximum(pairs.first + pairs.second, 1.0)
    return contrast / cap.of_answers(pairs.first, pairs.second, pairs.yes)


def _sizes(people: People, given: tuple[float, float] | None, *, protected: bool) -> tuple[float, float]:
    """Return about how many people are in the two groups, from what is public."""
    if not protected:
        return groups.sizes(
            np.array([np.sum(people.group == 0), np.sum(people.group == 1)], dtype=np.float64)
        )
    most = max(float(people.rows), 1.0)
    first, second = given if given is not None else (most / 2, most / 2)
    return min(max(first, 1.0), most), min(max(second, 1.0), most)
