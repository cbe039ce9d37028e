"""Invented people for a comparison of two groups: the columns a plan is about, and how they are filled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from discreet.evidence.core.covariates import Covariates, is_bounds
from discreet.evidence.core.people import People, Question
from discreet.planner.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.compare import Compare
    from discreet.planner.column import Column

_WIDTH = 6.0  # standard deviations between the bounds of a covariate
_UNLIKE = 0.5  # standard deviations between the groups in a covariate
TOGETHER = 0.2
"""How strongly any two columns correlate if nothing is said: those of health and survey tables do by so much,
about. It matters to wide tables, in which the rows of some people are then far longer than those of most."""
_UNITS = (-1.0, 2.0)
"""Powers of ten between which the standard deviations of columns without bounds lie: years, grams a litre and
cells a microlitre share no scale. It matters where people are too few to learn where each column lies: one
range then suits all columns only if they are alike (docs/how-to/planning.md)."""


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
    together : float
        The correlation of any two columns, before their numbers are made skewed, rounded, or answers.
    said : bool
        Whether that correlation was said.
    one_scale : bool
        Whether numbers without bounds share one scale, as markers of one panel do; else each has its units.
    """

    test: Compare
    columns: tuple[Column, ...]
    share: float = 0.5
    together: float = TOGETHER
    said: bool = False
    one_scale: bool = False

    @property
    def largest_effect(self) -> float:
        """The largest effect there can be."""
        return math.inf

    @property
    def unit(self) -> str:
        """What an effect of 1 is."""
        return "a difference between groups in standard deviations of the column"

    @property
    def missing(self) -> float:
        """The share of all entries that are missing."""
        return float(np.mean([column.missing or 0.0 for column in self.columns]))

    @property
    def assumed(self) -> str:
        """What the invented people are like, in words."""
        kinds = ("numbers", "numbers with bounds", "answers")
        of_kind = {kind: [column for column in self.columns if column.kind == kind] for kind in kinds}
        lost = [column.missing or 0.0 for column in self.columns]
        words = [
            *(_described(kind, alike) for kind, columns in of_kind.items() for alike in _by_law(columns)),
            f"{_spread(lost, '.0%')} of the entries missing" if any(lost) else "no entries missing",
            f"{1 - self.share:.3g} and {self.share:.3g} of the people in the two groups",
            *([f"{self.subgroups:,} subgroups of one size"] if self.subgroups > 1 else []),
            *([_alike(len(self.test.adjust))] if self.test.adjust else []),
            f"any two columns correlated by {self.together:g}" if self.together else "columns independent",
        ]
        return "Assumed: " + "; ".join(words) + "."

    @property
    def real_places(self) -> NDArray[np.int64]:
        """The hypotheses that can be real, in order: those that are said to be, else all that can be.

        Nobody gives an answer that was not declared. A column is followed through all subgroups.
        """
        said = any(column.real for column in self.columns)
        possible = [
            place in column.real if said else place < column.hypotheses - column.other
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
        away = group.astype(np.float64) - self.share
        values = np.empty((n, effects.size // self.subgroups))
        common = math.sqrt(self.together) * rng.standard_normal(n)
        units = 10.0 ** rng.uniform(*_UNITS, len(self.columns))
        for question, column, unit in zip(questions, self.columns, units.tolist(), strict=True):
            latent = common + math.sqrt(1 - self.together) * rng.standard_normal(n)
            for place, own in enumerate(effects.reshape(self.subgroups, -1)):
                rows = np.flatnonzero(inside == place)
                filled = column.filled(away[rows], own[question.places], latent[rows], rng)
                values[rows, question.places] = filled * unit if self._in_units(column) else filled
            if column.missing:
                values[rng.random(n) < column.missing, question.places] = np.nan
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

    def _in_units(self, column: Column) -> bool:
        return column.in_units and not self.one_scale

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


def _alike(covariates: int) -> str:
    each = "the covariate" if covariates == 1 else f"each of {covariates:,} covariates"
    return f"groups {_UNLIKE:g} standard deviations apart in {each}, on which columns do not depend"


def _by_law(columns: Sequence[Column]) -> list[list[Column]]:
    """Return columns of numbers by how they are spread; answers are all alike in that."""
    if not columns or columns[0].answers:
        return [list(columns)] if columns else []
    laws = dict.fromkeys(column.law for column in columns)
    return [[column for column in columns if column.law == law] for law in laws]


def _described(kind: str, columns: Sequence[Column]) -> str:
    """Return columns of one kind and one shape in words."""
    counted = f"{len(columns):,} column" + ("" if len(columns) == 1 else "s")
    if columns[0].answers:
        said = [float(column.rates[0]) for column in columns if column.rate is not None]
        frequent = f"the first given by {_spread(said, '.3g')}" if said else "equally frequent"
        some = len(said) < len(columns) and said
        return f"{counted} of answers, {frequent}{', or equally frequent' if some else ''}"
    law = SHAPES[columns[0].law]
    if columns[0].bounded:
        width = _spread([column.deviation for column in columns], ".3g")
        return f"{counted} of {kind}, {law}, {width} of the width of the bounds wide"
    places = [column.lies for column in columns if column.lies is not None]
    placed = f" and {_spread(places, 'g')} standard deviations from 0" if places else ""
    units = ", each in units of its own" if columns[0].in_units and len(columns) > 1 else ""
    return f"{counted} of {kind}, {law}{placed}{units}"


def _spread(values: Sequence[float], form: str) -> str:
    """Return a number, or from which to which they go."""
    least, most = format(min(values), form), format(max(values), form)
    return least if least == most else f"{least} to {most}"
