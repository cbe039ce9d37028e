"""Two groups compared in every column at once: numbers by ranks, answers by rates, one certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.alternative import toward
from discreet.errors import InputError
from discreet.evidence.core import groups
from discreet.evidence.core.cap import answers_tail, caps, ranks_tail
from discreet.evidence.core.effect import difference_effect, joined
from discreet.evidence.core.ranks import rank_excess
from discreet.evidence.core.scores import ceiling_for, conclude, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.cap import Cap
    from discreet.evidence.core.effect import Effect
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.people import People
    from discreet.evidence.core.scores import ScoreMap

_ENTRIES = 2**20  # looked at together: they stay in the processor's cache


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
    people: People,
    *,
    sizes: tuple[float, float] | None = None,
    ceiling: float | None = None,
    directed: bool = False,
    pairs: Sequence[Pairs] | None = None,
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
    directed : bool
        Whether `signed` holds the scores with their signs, above 0 where the second group is larger or says
        yes more often.
    pairs : sequence of Pairs, optional
        What `pairs_of` these people returned, if that is known.

    Returns
    -------
    Evidence
        Its null law is checked, not proved: docs/proofs/compare.md.
    """
    if people.covariates is not None:
        raise InputError(
            'an adjusted comparison has no scores: call `discover` without a method, or with "all"'
        )
    protected = people.protect == "everything"
    first, second = _sizes(people, sizes, protected=protected)
    answers = _about_answers(people)
    clip, rates = ceiling_for(ceiling, first + second), bool(answers.all())
    kinds: list[_Kind] = []
    for cap, chosen, about_answers in zip(
        caps(first, second, protected=protected), (~answers, answers), (False, True), strict=True
    ):
        if chosen.any():
            survival = partial(answers_tail if about_answers else ranks_tail, cap)
            # One law for numbers and answers, which is that of ranks.
            steps = score_map(survival, cap.influence, clip, grow=cap.grow, multiple=1.0)
            kinds.append(_Kind(cap, steps, chosen, about_answers))
    scores: list[NDArray[np.float64]] = []
    signs: list[NDArray[np.float64]] = []
    effects: list[Effect] = []
    for each in pairs_of(people) if pairs is None else pairs:
        score = np.zeros(people.columns)
        for kind in kinds:
            raw = _statistic(kind.cap, each, about_answers=kind.answers)
            score[kind.chosen] = kind.steps(toward(raw[kind.chosen], people.alternative))
        scores.append(score)
        signs.append(np.sign(each.excess))
        name = "difference of rates" if rates else "P(larger) - P(smaller)"
        moves = 1 + protected + (not rates)
        counts = (each.first, each.second, 2 * each.excess)
        effects.append(difference_effect(name, *counts, min(first, second), moves=moves))
    sensitivity = max(kind.move for kind in kinds)
    if directed:
        sensitivity = max(sensitivity, *(kind.steps.across(kind.cap.influence) for kind in kinds))
    evidence = conclude(
        people.names,
        np.concatenate(scores),
        alternative=people.alternative,
        steps=[kind.steps for kind in kinds],
        sensitivity=sensitivity,
        # A column alone moves in one subgroup only, where people cannot change theirs.
        spread=sensitivity if people.columns == people.touched == 1 else None,
        proof="docs/proofs/compare.md" if people.subgroup is None else "docs/proofs/subgroups.md",
        basis="checked",
        public=people.public,
        effect=joined(effects),
    )
    if directed:
        evidence = replace(evidence, signed=np.concatenate(signs) * evidence.score)
    if people.subgroup is None:
        return evidence
    return replace(evidence, certificate=replace(evidence.certificate, norm=_norm(kinds, people.touched)))


@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """The columns of one kind, numbers or answers: their cap and their score map. Public."""

    cap: Cap
    steps: ScoreMap
    chosen: NDArray[np.bool_]
    answers: bool

    @property
    def move(self) -> float:
        """The most that one person, replaced, moves a score."""
        return self.steps.move(self.cap.influence, self.cap.grow)

    @property
    def join(self) -> float:
        """The most that one person who comes or leaves moves a score: ranks by half as much."""
        return self.steps.move(self.cap.influence / (1 if self.answers else 2), self.cap.grow)


def _norm(kinds: Sequence[_Kind], touched: int) -> float:
    """Return how far one person moves all scores together: those of one subgroup, or of two a little."""
    columns = [(kind, int(np.count_nonzero(kind.chosen))) for kind in kinds]
    replaced = sum(count * kind.move**2 for kind, count in columns)
    moved = 2 * sum(count * kind.join**2 for kind, count in columns)
    return math.sqrt(max(replaced, moved if touched == 2 else 0.0)) * (1 + 2.0**-40)


def pairs_of(people: People) -> tuple[Pairs, ...]:
    """Return how the groups compare in every column, subgroup by subgroup. Private."""
    answers = _about_answers(people)
    return tuple(count_pairs(part, answers) for part in people.parts())


def _about_answers(people: People) -> NDArray[np.bool_]:
    answers = np.zeros(people.columns, dtype=np.bool_)
    for question in people.questions:
        answers[question.places] = question.answers
    return answers


def count_pairs(people: People, answers: NDArray[np.bool_]) -> Pairs:
    """Return how the groups compare in every column, among the people present there."""
    m = people.columns
    first, second, yes, excess = (np.zeros(m) for _ in range(4))
    inside = people.group >= 0
    member = (np.array([[0], [1]]) == people.group).astype(np.float64)
    many = max(1, _ENTRIES // max(people.rows, 1))
    for start in range(0, m, many):
        places = slice(start, min(start + many, m))
        block = people.values[:, places]
        first[places], second[places] = member @ (~np.isnan(block)).astype(np.float64)
        about = np.flatnonzero(answers[places])
        # Whatever the entries are, they count as no or yes: the certificate is about nothing else.
        said = member @ (block[:, about] >= 0.5).astype(np.float64)
        yes[start + about] = said.sum(axis=0)
        excess[start + about] = (first[start + about] * said[1] - second[start + about] * said[0]) / 2
    second_group = people.group[inside] == 1
    for question in people.questions:
        for place in range(m)[question.places] if not question.answers else ():
            column = people.values[inside, place]
            bounded = column if question.bounds is None else np.clip(column, *question.bounds)
            excess[place] = rank_excess(bounded, second_group)
    return Pairs(first, second, yes, excess)


def _statistic(cap: Cap, pairs: Pairs, *, about_answers: bool) -> NDArray[np.float64]:
    if not about_answers:
        return pairs.excess / cap.of_ranks(pairs.first, pairs.second)
    contrast = 2 * pairs.excess / np.maximum(pairs.first + pairs.second, 1.0)
    return contrast / cap.of_answers(pairs.first, pairs.second, pairs.yes)


def _sizes(people: People, given: tuple[float, float] | None, *, protected: bool) -> tuple[float, float]:
    """Return about how many people are in the two groups, from what is public.

    Of several subgroups those of a middling one: half of the people are in larger ones.
    """
    if not protected:
        counts = people.counts().astype(np.float64)
        counts = counts[np.argsort(counts.sum(axis=1))]
        before = np.cumsum(counts.sum(axis=1))
        middling = int(np.count_nonzero(before < float(before[-1]) / 2))
        return groups.sizes(counts[middling])
    most = max(float(people.rows), 1.0)
    half = people.size / 2
    first, second = given if given is not None else (half, half)
    return min(max(first, 1.0), most), min(max(second, 1.0), most)
