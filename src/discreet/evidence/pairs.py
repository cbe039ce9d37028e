"""Which columns go together? Every pair of columns is a hypothesis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core.arguments import TEXTS, only_replace, settle
from discreet.evidence.core.effect import effect
from discreet.evidence.core.people import answers_of
from discreet.evidence.core.protocol import Test
from discreet.evidence.core.ranks import kendall
from discreet.evidence.core.scores import ceiling_for, conclude
from discreet.evidence.core.several import (
    PROOF,
    Reach,
    TableMap,
    answer_size,
    rank_influence,
    rank_norm,
    table_norm,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.evidence.core.people import Entries, Question
    from discreet.typing import Adjacency

_LEAST = 5  # people


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs(Test):
    """Test every pair of columns for association: numbers, yes/no columns and declared answers.

    Two numbers by Kendall's rank correlation, a number and answers by the rank test of Kruskal and Wallis,
    two columns of answers by Pearson's chi-square: k columns are k (k - 1)/2 hypotheses, in one release with
    one certificate. Without one of both entries a person counts on no side of that pair.

    Parameters
    ----------
    {ceiling}
    {adjacency}

    Notes
    -----
    Null hypothesis of a pair: among those with both entries, the two columns are independent. One person
    moves all pairs at once, so that few columns find more than many. p-values are checked, not proved; how
    far one person moves a score is proved: docs/proofs/several-groups.md, docs/proofs/correlation.md.
    Effects: Kendall's tau, the correlation ratio of ranks, Cramer's V, all shrunk where people are missing.

    References
    ----------
    M. G. Kendall (1938), A new measure of rank correlation, Biometrika 30, 81-93.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> sleep, smokes = rng.random(10_000), rng.random(10_000) < 0.3
    >>> table = pd.DataFrame({"sleep": sleep, "smokes": smokes, "mood": sleep + rng.random(10_000)})
    >>> discreet.discover(table, discreet.Pairs(), q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'sleep & mood'
    """

    name = "pairs"
    question = "Associations between all pairs of columns"
    proof = "several-groups"
    effect = "association"
    sources = ("tables",)
    unit = "a correlation"
    largest_effect = 1.0

    ceiling: float | None = None
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        only_replace(self.adjacency, "the number of people is public")

    @property
    def needs_rows(self) -> bool:
        """Columns are compared with one another."""
        return True

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of pairs of numbers, and of pairs of answers."""
        from discreet.evidence.core.invented import PEOPLE, NullCase

        return [
            NullCase("Pairs, numbers", cls(), None, (columns.drawn,), most=4_000, paired=True),
            NullCase("Pairs, yes/no", cls(), columns.coin, (PEOPLE,), most=20_000, answers=2, paired=True),
        ]

    def of_rows(self, entries: Entries) -> Evidence:
        """Return the evidence of an association between each two columns.

        Parameters
        ----------
        entries : Entries
            Private.

        Returns
        -------
        Evidence
            One hypothesis for each pair.
        """
        asked = [*zip(entries.names, entries.questions, strict=True)]
        chosen = [
            (first, second) for first, second in combinations(asked, 2) if first[1].column != second[1].column
        ]
        if not chosen:
            raise InputError("a pair needs two columns: choose more")
        if entries.rows < _LEAST:
            raise InputError(f"people must number at least {_LEAST} for this test")
        clip = ceiling_for(self.ceiling, entries.rows)
        kinds: dict[tuple[int, int], _Kind] = {}
        t, share, used = np.zeros(len(chosen)), np.zeros(len(chosen)), list[_Kind]()
        for place, ((_, first), (_, second)) in enumerate(chosen):
            # A number before answers: its column is ranked, theirs are the groups.
            left, right = (second, first) if first.answers and not second.answers else (first, second)
            shape = _shape(left), _shape(right)
            if shape not in kinds:
                kinds[shape] = _Kind.of_shape(shape, entries.rows, clip)
            used.append(kinds[shape])
            signed = used[-1].statistic(entries, left, right)
            t[place], share[place] = abs(signed), signed / used[-1].longest
        names = tuple(f"{first} & {second}" for (first, _), (second, _) in chosen)
        return _evidence(self, names, t, share, used)

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean of the z scores of Kendall's correlation, as if numbers were normal."""
        n = people.n
        return np.arcsin(np.clip(effect, -1, 1)) * 2 / np.pi * n * (n - 1) / 2 / _deviation(n)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people, all columns of whom are numbers."""
        known = _Kind.of_shape((0, 0), people.n, ceiling_for(self.ceiling, people.n))
        t = np.maximum(z, 0.0)
        return _evidence(self, ("",) * z.size, t, t / known.longest, [known] * z.size)


@dataclass(frozen=True, slots=True, eq=False)
class _Kind(TableMap):
    """Pairs of columns with so many answers each, 0 for numbers: how they are scored. Public."""

    @classmethod
    def of_shape(cls, shape: tuple[int, int], people: int, clip: float) -> _Kind:
        """Return it for so many people."""
        first, second = shape
        full = answer_size(people, max(first, 1)), answer_size(people, max(second, 1))
        if first:
            table = TableMap.of(first, second, people, full, clip, protected=True)
            return cls(shape, full, table.steps, table.sensitivity, table.longest, table.moved)
        if second:
            reach, longest = Reach(*rank_influence(people, full[1], protected=True)), math.sqrt(people - 1)
        else:
            reach = Reach(2 * (people - 1) / _deviation(people), 0.0)
            longest = people * (people - 1) / 2 / _deviation(people)
        steps, sensitivity = reach.scores(max(second - 1, 1), clip)
        return cls(shape, full, steps, sensitivity, longest, min(2.0, reach.influence / longest + reach.grow))

    def statistic(self, entries: Entries, first: Question, second: Question) -> float:
        """Return t of two columns, with a sign where both are numbers. Private."""
        if first.answers:
            return table_norm(entries.answer(first), entries.answer(second), self.shape, self.full)
        if second.answers:
            return rank_norm(entries.number(first), entries.answer(second), self.shape[1], self.full[1])
        return kendall(entries.number(first), entries.number(second)) / _deviation(entries.rows)


def _evidence(
    test: Pairs, names: tuple[str, ...], t: NDArray[np.float64], share: NDArray[np.float64], used: list[_Kind]
) -> Evidence:
    scores = [kind.steps(t[place : place + 1]) for place, kind in enumerate(used)]
    return conclude(
        names,
        np.concatenate(scores),
        alternative="greater",
        steps=[kind.steps for kind in used],
        sensitivity=max(kind.sensitivity for kind in used),
        proof=PROOF,
        basis="checked",
        effect=effect(test.effect, share, max(kind.moved for kind in used)),
    )


def _shape(question: Question) -> int:
    return answers_of(question) if question.answers else 0


def _deviation(people: int) -> float:
    """Return the standard deviation of concordant less discordant pairs, where nothing is tied or missing."""
    return math.sqrt(people * (people - 1) * (2 * people + 5) / 18)
