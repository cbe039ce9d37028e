"""Invented people for a comparison of two groups: the columns a plan is about, and how they are filled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from discreet.evidence.core.covariates import Covariates, is_bounds
from discreet.evidence.core.people import People, Question
from discreet.planner.shapes import AWAY, PLACED, SHAPES, draw_standardised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.compare import Compare

_WIDTH = 6.0  # standard deviations between the bounds, where nothing is said
_UNLIKE = 0.5  # standard deviations between the groups in a covariate


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table to be asked, as `discover` reads it. Public.

    Attributes
    ----------
    hypotheses : int
        How many it makes: 1 for a number or a yes/no column, else one for each answer.
    answers : bool
        Whether it holds answers, not numbers.
    other : bool
        Whether its last hypothesis is about all answers that were not declared; nobody gives one of these.
    bounded : bool
        Whether its numbers have bounds.
    """

    hypotheses: int = 1
    answers: bool = False
    other: bool = False
    bounded: bool = False


@dataclass(frozen=True, slots=True)
class Cohort:
    """What is assumed of the people and of their columns; all public.

    Attributes
    ----------
    test : Compare
        What will be asked.
    columns : tuple of Column
        The columns of the table, in order.
    share : float
        The second group's share of the people.
    sd : float or None
        Standard deviation of numbers with bounds, as a share of their width.
    missing : float
        The share of entries that are missing, in both groups.
    rate : float or None
        How frequent the first answer to each question is; equally frequent answers when absent.
    shape : str
        How the numbers are spread: a key of `SHAPES`.
    centre : float
        Where numbers without bounds lie: their mean, in standard deviations, if their shape leaves it open.
    """

    test: Compare
    columns: tuple[Column, ...]
    share: float = 0.5
    sd: float | None = None
    missing: float = 0.0
    rate: float | None = None
    shape: str = "normal"
    centre: float = AWAY

    @property
    def largest_effect(self) -> float:
        """The largest effect there can be."""
        return math.inf

    @property
    def unit(self) -> str:
        """What an effect of 1 is."""
        return "a difference between groups in standard deviations of the column"

    @property
    def depends_on_shape(self) -> bool:
        """Whether it matters how numbers are spread: without bounds a range has to be learned."""
        return any(not column.answers and not column.bounded for column in self.columns)

    @property
    def assumed(self) -> str:
        """What the invented people are like, in words."""
        free = sum(not column.answers and not column.bounded for column in self.columns)
        bounded = sum(not column.answers and column.bounded for column in self.columns)
        asked = sum(column.answers for column in self.columns)
        law = SHAPES[self.shape]
        placed = f" and {self.centre:g} standard deviations from 0" if self.shape in PLACED else ""
        frequent = "equally frequent" if self.rate is None else f"the first given by {self.rate:.3g}"
        width = f"{self._deviation:.3g} of the width of the bounds wide"
        words = [
            *([f"{_counted(free)} of numbers, {law}{placed}"] if free else []),
            *([f"{_counted(bounded)} of numbers with bounds, {law}, {width}"] if bounded else []),
            *([f"{_counted(asked)} of answers, {frequent}"] if asked else []),
            f"{self.missing:.0%} of the entries missing" if self.missing else "no entries missing",
            f"{1 - self.share:.3g} and {self.share:.3g} of the people in the two groups",
            *([f"{self.subgroups:,} subgroups of one size"] if self.subgroups > 1 else []),
            *([_alike(len(self.test.adjust))] if self.test.adjust else []),
            "columns independent of one another",
        ]
        return "Assumed: " + "; ".join(words) + "."

    @property
    def _deviation(self) -> float:
        return 1 / _WIDTH if self.sd is None else self.sd

    @property
    def real_places(self) -> NDArray[np.int64]:
        """The hypotheses that can be real, in order: all but those about answers that nobody gives.

        A column is followed through all subgroups.
        """
        possible = [
            place < column.hypotheses - column.other
            for column in self.columns
            for place in range(column.hypotheses)
        ]
        first = len(possible) * np.arange(self.subgroups)
        return (np.flatnonzero(possible)[:, None] + first).ravel()

    @property
    def subgroups(self) -> int:
        """How many subgroups the groups are compared in."""
        return max(1, len(self.test.levels_within))

    def questions(self) -> tuple[Question, ...]:
        """Return the columns, numbers with bounds of 0 and 1 if they have some."""
        ends = np.cumsum([column.hypotheses for column in self.columns]).tolist()
        return tuple(
            Question(
                str(place),
                slice(end - column.hypotheses, end),
                column.answers,
                (0.0, 1.0) if column.bounded else None,
            )
            for place, (end, column) in enumerate(zip(ends, self.columns, strict=True))
        )

    def people(self, n: int, effects: NDArray[np.float64], rng: np.random.Generator) -> People:
        """Return n invented people whose groups differ by `effects`, in deviations; shape (m,)."""
        second = min(max(1, round(n * self.share)), n - 1)
        group = (np.arange(n) >= n - second).astype(np.int8)
        questions = self.questions()
        inside = self._inside(n)
        values = np.empty((n, effects.size // self.subgroups))
        for question, column in zip(questions, self.columns, strict=True):
            fill = self._answers if column.answers else self._numbers
            for place, own in enumerate(effects.reshape(self.subgroups, -1)):
                rows = np.flatnonzero(inside == place)
                filled = fill(column, group[rows], own[question.places], rng)
                values[rows, question.places] = filled
            if self.missing:
                values[rng.random(n) < self.missing, question.places] = np.nan
        return self._asked(values, group, self._covariates(group, rng))

    def nobody(self, group: NDArray[np.int8], n: int) -> People:
        """Return the table that `n` people would fill, groups as in `group`, without its rows."""
        none = None if self.test.adjust is None else Covariates(np.zeros(0, dtype=np.bool_), np.zeros((n, 0)))
        return self._asked(np.zeros((n, 0)), np.resize(group, n), none)

    def _asked(
        self, values: NDArray[np.float64], group: NDArray[np.int8], covariates: Covariates | None
    ) -> People:
        hypotheses = sum(column.hypotheses for column in self.columns) * self.subgroups
        return People(
            [str(place) for place in range(hypotheses)],
            self.questions(),
            self.test.alternative,
            self.test.protect,
            values,
            group,
            subgroup=None if self.test.within is None else self._inside(group.size),
            subgroups=self.subgroups,
            covariates=covariates,
        )

    def _inside(self, n: int) -> NDArray[np.int32]:
        """Return in which subgroup each of n people is."""
        return np.arange(n, dtype=np.int32) % self.subgroups

    def _covariates(self, group: NDArray[np.int8], rng: np.random.Generator) -> Covariates | None:
        """Return normal covariates in which the groups are not quite alike, levels being parts of them."""
        if self.test.adjust is None:
            return None
        parts: list[NDArray[np.float64]] = []
        for levels in self.test.adjust.values():
            z = rng.standard_normal(group.size) + _UNLIKE * (group - self.share)
            if is_bounds(levels):
                parts.append(np.clip(2 * z / _WIDTH, -1.0, 1.0)[:, None])
            else:
                place = np.minimum((ndtr(z) * len(levels)).astype(np.int64), len(levels) - 1)
                parts.append(2.0 * (place[:, None] == np.arange(1, len(levels))) - 1)
        answers = [not is_bounds(levels) for levels in self.test.adjust.values()]
        each = [part.shape[1] for part in parts]
        return Covariates(np.repeat(answers, each), np.concatenate(parts, axis=1))

    def _numbers(
        self, column: Column, group: NDArray[np.int8], effect: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return a column of numbers; with bounds, of deviation `sd` around their middle."""
        z = draw_standardised(self.shape, effect[0] * (group - self.share), rng)
        if column.bounded:
            return np.clip(0.5 + self._deviation * z, 0.0, 1.0)[:, None]
        return (z + self.centre if self.shape in PLACED else z)[:, None]

    def _answers(
        self, column: Column, group: NDArray[np.int8], effects: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return one answer of several for each person; a single level is said yes or no to."""
        given = effects.size - column.other
        if given == 1:
            rates = np.array([0.5 if self.rate is None else self.rate])
        else:
            first = 1 / given if self.rate is None else self.rate
            rates = np.concatenate([[first], np.full(given - 1, (1 - first) / (given - 1))])
        moved = effects[:given] * np.sqrt(rates * (1 - rates))
        moved = moved if given == 1 else moved - moved.mean()
        drawn = rng.random(group.size)
        entries = np.zeros((group.size, effects.size))
        for side in (0, 1):
            at = np.flatnonzero(group == side)
            law = np.clip(rates + moved * (side - self.share), 0.0, 1.0)
            if given == 1:
                entries[at, 0] = drawn[at] < law[0]
            else:
                chosen = np.searchsorted(np.cumsum(law / law.sum())[:-1], drawn[at], side="right")
                entries[at, chosen] = 1.0
        return entries


def _alike(covariates: int) -> str:
    each = "the covariate" if covariates == 1 else f"each of {covariates:,} covariates"
    return f"groups {_UNLIKE:g} standard deviations apart in {each}, on which columns do not depend"


def _counted(columns: int) -> str:
    return f"{columns:,} column" + ("" if columns == 1 else "s")
