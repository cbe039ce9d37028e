"""What tests of several groups share: weights that shrink small groups, norms of weighted sums, their scores.

A chi-square statistic divides by the size n of each group, so that one person in a small group weighs much.
Here a group weighs 1/n from a public size on, and n / size^2 below it: it counts for less the smaller it is,
and the others keep their full weight. Proof: docs/proofs/several-groups.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincc

from discreet.docstrings import Text
from discreet.evidence.core.arguments import TEXTS
from discreet.evidence.core.ranks import middle_ranks
from discreet.evidence.core.scores import EVEN, score_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.scores import ScoreMap

    Floats = NDArray[np.float64]

SEVERAL_TEXTS = {
    **TEXTS,
    "levels": Text(
        "sequence of two or more", "The values of `group` to compare; people with any other are left out."
    ),
}
PROOF = "docs/proofs/several-groups.md"
CROWD = 1.5  # where sizes are not known, a group of one in so many times the number of groups has full weight
_RARE = 2.0  # an answer has full weight if it is one of so many times the number of answers, or
_USUAL = 5.0  # one of so many
_PLACES = np.linspace(0.0, 1.0, 129)  # sizes of a small group, as shares of the size of full weight
_SLACK = 1e-6  # of the influence, for the rounding of a statistic
_MULTIPLE = 3.0  # of the normal tail, the law of scores made of chi: one for tables of every shape


def weights(counts: Floats, full: float) -> Floats:
    """Return the weight of groups of these sizes: 1/n, and less than that below the size of `full` weight."""
    return np.minimum(1 / np.maximum(counts, 1.0), counts / full**2)


def full_size(counts: Floats) -> float:
    """Return the size of full weight for groups of public sizes: one of them, by what it leaves to be seen.

    A contrast of group g is about sqrt(n_g) strong, and is seen sqrt(size) times as sharply, or less where
    the group is shrunk.
    """
    sizes = np.maximum(counts, 2.0)
    seen = [
        float(np.sum(np.sqrt(sizes) * np.minimum(math.sqrt(size), sizes / math.sqrt(size)))) for size in sizes
    ]
    return float(sizes[int(np.argmax(seen))])


def rank_influence(people: float, full: float, *, protected: bool) -> tuple[float, float]:
    """Return (influence, grow): one person raises the norm t of weighted rank sums by influence + grow * t.

    Nobody beyond `people` is present. If `protected`, a person may change the group.
    """
    totals = _falling(people / full)
    length = np.sqrt(_lengths(totals[:-1]))
    lacking = np.maximum(totals[:-1, None] - _before(full), 0.0)
    join = np.max(length / 2 + lacking * _steep(full) / 2, axis=1)
    stay = np.max(length, axis=1)
    moved = stay / 2 + join if protected else np.maximum(stay, join)
    most = float(np.max(moved / totals[1:]))
    return math.sqrt(12 / full) * most * (1 + _SLACK), 1 / (full - 1)


def mean_influence(people: float, full: float, floor: float, *, protected: bool) -> tuple[float, float]:
    """Return the same for the norm of weighted sums of deviations from the mean, of values in [0, 1].

    The deviation that the norm is divided by is never below `floor`.
    """
    totals = _falling(people)
    lows, highs = totals[1:] / full, totals[:-1] / full
    length = np.sqrt(_lengths(highs)) / lows[:, None]  # of what one person adds, value by value
    if protected:  # another group, same value, or all of the way between two lengths
        crossed = np.sqrt(np.minimum(_PLACES[1:], highs[:, None]) + np.minimum(1.0, highs[:, None]))
        length = np.maximum(np.max(length, axis=1, keepdims=True), crossed)
    most = float(np.max(length + _steep(full))) / math.sqrt(full)
    wider = math.sqrt(1 + 1 / (_enough(people, full) * floor * floor))
    return most / floor * (1 + _SLACK), wider * (1 + 1 / (full - 1)) - 1


def _enough(people: float, full: float) -> float:
    """Return how many people must be present before their own deviation is all that counts."""
    return min(2 * full, max(people, 2.0))


def table_influence(people: float, rows: float, columns: float, *, protected: bool) -> tuple[float, float]:
    """Return the same for the norm of a weighted table of answers by groups.

    `rows` and `columns` are the sizes of full weight of answers and of groups; groups are public unless
    `protected`.
    """
    totals = _falling(people)
    lows, highs = totals[1:], totals[:-1]
    of_rows, of_columns = _lengths(highs / rows), _lengths(highs / columns)  # squared
    long_rows, long_columns = (np.sqrt(part.max(axis=1)) for part in (of_rows, of_columns))
    ratio = math.sqrt(columns / rows)  # sqrt(y_R / y_C), whatever the number of people
    grow = (1 + 1 / (rows - 1)) * (1 + 1 / (columns - 1)) - 1
    steep_rows, steep_columns = _steep(rows), _steep(columns)
    row_changed = ratio * long_columns * _joined(steep_rows, highs / rows)
    column_changed = long_rows / ratio * _joined(steep_columns, highs / columns)
    both, alone = np.zeros(lows.size), np.zeros(lows.size)
    for place, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        beside = ratio * long_columns[place] * steep_rows[:, None] + long_rows[place] / ratio * steep_columns
        product = low * low / (rows * columns)
        arriving = of_rows[place][:, None] * of_columns[place] / product
        leaving = (long_rows[place] * long_columns[place]) ** 2 / product
        crossed = 4 * min(1.0, (high / rows) ** 2) * min(1.0, (high / columns) ** 2)
        both[place] = np.max(np.sqrt(leaving + arriving + crossed) + beside)
        few = 1.5 if low <= max(rows, columns) + 1 else 1.0
        alone[place] = np.max(few * np.sqrt(arriving) + beside)
    worst = np.maximum(row_changed, alone)
    if protected:
        worst = np.maximum(np.maximum(worst, column_changed), both)
    return float(np.max(worst / np.sqrt(lows))) * (1 + grow) * (1 + _SLACK), grow


def even(t: Floats, influence: float, grow: float) -> tuple[Floats, float]:
    """Return scores that rise as t does up to `EVEN`, and how far one person moves any of them.

    From t a person leads to t + influence + grow * t at most. Beyond `EVEN` scores rise in proportion to
    1/(influence + grow * t).
    """
    most = influence + EVEN * grow
    beyond = np.log1p(grow * np.maximum(t - EVEN, 0.0) / most) * (most / grow)
    return np.minimum(t, EVEN) + beyond, most * (1 + _SLACK)


def _falling(most: float) -> Floats:
    """Return totals from `most` down to 2, close together near the top, where one person moves the most."""
    if most <= 2:
        return np.array([2.0, 2.0])
    steps = np.cumprod(1 + 0.001 * 1.05 ** np.arange(200.0))
    return np.concatenate([[most], most / steps[: int(np.searchsorted(steps, most / 2))], [2.0]])


def _lengths(total: Floats) -> Floats:
    """Return (y - x)((y - x) x + min(1, y^2)) over the cells of x, at its most; shape (totals, cells)."""
    y = total[:, None]
    rest = np.maximum(y - _PLACES[:-1], 0.0)
    return rest * (rest * np.minimum(_PLACES[1:], y) + np.minimum(1.0, y * y))


def _before(full: float) -> Floats:
    """Return how large a group was, at least, before somebody joined it; shape (cells,)."""
    return np.maximum(_PLACES[:-1] - 1 / full, 0.0)


def _steep(full: float) -> Floats:
    """Return sqrt(x)(1 - x)/2 at its most: what the weight of a small group gains when somebody joins."""
    return np.sqrt(_PLACES[1:]) * (1 - _before(full)) / 2


def _joined(steep: Floats, total: Floats) -> Floats:
    """Return the most of sqrt(1 + x) + steep(x), x and 1 being at most the total; shape (totals,)."""
    y = total[:, None]
    return np.max(np.sqrt(np.minimum(_PLACES[1:], y) + np.minimum(1.0, y)) + steep, axis=1)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one person raises a statistic from t: by influence + grow * t at most. Public."""

    influence: float
    grow: float

    def scores(self, degrees: int, ceiling: float) -> tuple[ScoreMap, float]:
        """Return the map to scores of a statistic whose law is chi with so many degrees, and their moves."""
        tail = partial(chi_tail, degrees, self.influence / 2)
        steps = score_map(tail, self.influence, ceiling, grow=self.grow, multiple=_MULTIPLE)
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


def mean_norm(
    total: Floats, square: Floats, present: Floats, people: float, full: float, floor: float
) -> Floats:
    """Return t of columns of values in [0, 1], from sums, sums of squares and counts of groups. Private.

    Shapes (groups, m). Where too few are present, those who lack stand for the largest variance.
    """
    count = present.sum(axis=0)
    mean = total.sum(axis=0) / np.maximum(count, 1.0)
    excess = total - present * mean
    enough = _enough(people, full)
    variation = np.maximum(square.sum(axis=0) - total.sum(axis=0) * mean, 0.0)
    variation += np.maximum(enough - count, 0.0) / 4
    variance = np.maximum(variation / (np.maximum(count, enough) - 1), floor * floor)
    return np.sqrt(np.sum(weights(present, full) * excess**2, axis=0) / variance)


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
