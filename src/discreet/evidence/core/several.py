"""What tests of several groups share: the norms of weighted rank sums and tables, and their scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincc

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.margins import table_influence, weights
from discreet.evidence.core.ranks import middle_ranks
from discreet.evidence.core.score_map import score_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.score_map import ScoreMap

PROOF = "docs/proofs/several-groups.md"
CROWD = 1.5  # where sizes are not known, a group of one in so many times the number of groups has full weight
_RARE, _USUAL = (
    2.0,
    5.0,
)  # an answer has full weight if it is one of so many times the answers, or one of five


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one person raises a statistic from t: by influence + grow * t at most. Public."""

    influence: float
    grow: float

    def scores(self, degrees: int, ceiling: float) -> tuple[ScoreMap, float]:
        """Return the map to scores of a statistic whose law is chi with so many degrees, and their moves."""
        tail = partial(chi_tail, degrees, self.influence / 2)
        steps = score_map(tail, self.influence, ceiling, grow=self.grow)
        return steps, steps.move(self.influence, self.grow)


@dataclass(frozen=True, slots=True, eq=False)
class TableMap:
    """What is known of tables of one shape: sizes of full weight, the map to scores, and what moves. Public.

    `longest` is the most that t can be, `moved` how far one person moves t over it.
    """

    shape: tuple[int, int]
    full: tuple[float, float]
    steps: ScoreMap
    sensitivity: float
    longest: float
    moved: float

    @classmethod
    def of(
        cls,
        answers: int,
        groups: int,
        people: int,
        full: tuple[float, float],
        clip: float,
        *,
        protected: bool,
    ) -> TableMap:
        """Return it for so many answers and groups, among so many people."""
        reach = Reach(*table_influence(people, *full, protected=protected))
        steps, sensitivity = reach.scores((answers - 1) * (groups - 1), clip)
        longest = math.sqrt(max(people, 1) * min(answers - 1, groups - 1))
        moved = min(1.0, reach.influence / longest + reach.grow)
        return cls((answers, groups), full, steps, sensitivity, longest, moved)


def chi_tail(degrees: int, room: float, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(chi >= t - room): room for half a step of a law on a lattice."""
    return np.asarray(gammaincc(degrees / 2, np.maximum(t - room, 0.0) ** 2 / 2), dtype=np.float64)


def several_levels(levels: object) -> tuple[object, ...]:
    """Return the public values of a column, of which there must be two at least."""
    found = check.levels(levels, "levels")
    if len(found) < 2:
        raise InputError("levels must hold two values or more: the groups to compare")
    return found


def usual_size(people: float, groups: int) -> float:
    """Return the size of full weight of groups whose sizes are not known."""
    return max(people / (CROWD * groups), 2.0)


def answer_size(people: float, answers: int) -> float:
    """Return the size of full weight of answers, whose numbers are not known."""
    return max(people / max(_RARE * answers, _USUAL), 2.0)


def rank_norm(values: NDArray[np.float64], place: NDArray[np.intp], groups: int, full: float) -> float:
    """Return t of a column of numbers, from everyone in a group who has a value. Private."""
    ranks = middle_ranks(np.where(place >= 0, values, np.nan))
    known = ~np.isnan(ranks)
    people = int(np.count_nonzero(known))
    centred = np.where(known, ranks - (people + 1) / 2, 0.0)
    at = np.where(known, place, groups)
    sums = np.bincount(at, centred, minlength=groups + 1)[:groups]
    counts = np.bincount(at, minlength=groups + 1)[:groups].astype(np.float64)
    size = max(people, 2 * full)
    return math.sqrt(float(np.sum(weights(counts, full) * sums**2)) * 12 / (size * (size + 1)))


def table_norm(
    answer: NDArray[np.intp],
    place: NDArray[np.intp],
    shape: tuple[int, int],
    full: tuple[float, float],
) -> float:
    """Return t of a column of answers, from everyone in a group who gives one. Private."""
    rows, columns = shape
    known = (answer >= 0) & (place >= 0)
    cell = np.where(known, answer * columns + place, rows * columns)
    seen = np.bincount(cell, minlength=rows * columns + 1)[:-1].reshape(rows, columns).astype(np.float64)
    of_rows, of_columns, people = seen.sum(axis=1), seen.sum(axis=0), max(float(seen.sum()), 1.0)
    excess = (people * seen - np.outer(of_rows, of_columns)) / people
    weight = np.outer(weights(of_rows, full[0]), weights(of_columns, full[1]))
    return math.sqrt((people - 1) * float(np.sum(weight * excess**2)))
