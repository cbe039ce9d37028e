"""Rows made whole, clipped and added up: in C where it was built, else in NumPy.

Both come to the same bits, as every step on an entry is one operation, rounded as written, and sums are of
whole numbers. So neither the number of threads nor the order of people changes a sum. Entries are at most
2**14: the squares of 2**34 people, and contrasts of as many, stay below 2**63.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.kernels import compiled
from discreet.methods.all.ball import clipped
from discreet.methods.all.reading import FINE
from discreet.methods.all.tiles import by_column, shared, tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.geometry import Balls
    from discreet.methods.all.reading import Columns, Rows, Scaling

    Entries = NDArray[np.floating[Any]]

_HUGE = 1e30  # a radius that clips nothing, and its square


def whole_numbers(values: Entries, scaling: Scaling, columns: Columns, rows: Rows) -> NDArray[np.int16]:
    """Return the rows of some people as whole numbers, before clipping; shape (n, m). Private."""
    rules = rows.rules(scaling, columns)
    n, m = values.shape
    whole = np.empty((m, n), dtype=np.int16)
    table = by_column(values)

    def work(first: int, last: int) -> None:
        if compiled is None or not values.size or table.itemsize not in (4, 8):
            whole[:, first:last] = _whole_in_numpy(table[:, first:last], rules)
        else:
            compiled.whole(table, table.itemsize, m, rules, first, last, whole)

    shared(n, m, work)
    return whole.T


def _whole_in_numpy(table: Entries, rules: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entries of some people, column by column, as whole numbers."""
    each: list[NDArray[np.float64]] = [column[:, None] for column in rules.T]
    answer, centre, factor, offset, low, high, missing = each
    x = table.astype(np.float64)
    steps = (x - centre) * factor + offset
    above = np.where(steps > low, steps, low)
    number = np.trunc(np.where(above < high, above, high))
    given = np.where(x >= 0.5, high, low)
    return np.where(np.isnan(x), missing, np.where(answer != 0, given, number))


@dataclass(slots=True, eq=False, repr=False)
class Totals:
    """Exact sums of clipped rows: over both groups, then over the second; of weights; of squares. Private."""

    rows: NDArray[np.int64]
    weights: NDArray[np.int64]
    squares: NDArray[np.int64]

    @classmethod
    def blank(cls, m: int) -> Totals:
        """Return sums over nobody."""
        rows, weights, squares = (np.zeros(shape, dtype=np.int64) for shape in ((2, m), (2, 1), m))
        return cls(rows, weights, squares)

    @classmethod
    def of(
        cls,
        values: Entries,
        group: NDArray[np.int8],
        scaling: Scaling,
        columns: Columns,
        sides: tuple[Rows, Rows],
        balls: Balls,
    ) -> Totals:
        """Make everyone's entries whole as their group's rows say, clip them and add them up."""
        rules = np.stack([rows.rules(scaling, columns) for rows in sides])
        return _added(values, rules, group, balls, sides[0].positive)

    def add(
        self, whole: NDArray[np.int16], group: NDArray[np.int8], balls: Balls, positive: NDArray[np.bool_]
    ) -> None:
        """Clip the rows of some people and add them."""
        self.merge(_added(whole, np.zeros((2, 0, 7)), group, balls, positive))

    def merge(self, other: Totals) -> None:
        """Add the sums over other people."""
        self.rows += other.rows
        self.weights += other.weights
        self.squares += other.squares

    def __repr__(self) -> str:
        return "Totals(private)"


def _added(
    values: NDArray[Any],
    rules: NDArray[np.float64],
    group: NDArray[np.int8],
    balls: Balls,
    positive: NDArray[np.bool_],
) -> Totals:
    """Return the sums over everyone of entries, made whole by the rules of their group if there are any."""
    n, m = values.shape
    in_c = compiled is not None and values.size and values.dtype.itemsize in (2, 4, 8)
    add = _in_c if in_c else _in_numpy
    member, table = np.ascontiguousarray(group), by_column(values)
    total = Totals.blank(m)
    parts = shared(n, m, lambda first, last: add(table, rules, member, balls, positive, first, last))
    for part in parts:
        total.merge(part)
    return total


def _in_c(
    table: NDArray[Any],
    rules: NDArray[np.float64],
    group: NDArray[np.int8],
    balls: Balls,
    positive: NDArray[np.bool_],
    first: int,
    last: int,
) -> Totals:
    assert compiled is not None  # noqa: S101  asked before
    numbers = np.empty((2, 2, 2))  # by group and part: room and radius
    for side in (0, 1):
        for part, ball in enumerate(balls.of(side)):
            clips = not math.isinf(ball.radius)
            numbers[side, part] = (ball.room, ball.radius) if clips else (_HUGE, _HUGE)
    clips = not (math.isinf(balls.positive.radius) and math.isinf(balls.signed.radius))
    total, signs, kind = Totals.blank(len(table)), (~positive).astype(np.uint8), table.itemsize
    out = (total.rows, total.squares, total.weights)
    compiled.add(table, kind, rules, first, last, group, signs, numbers, clips, float(FINE), *out)
    return total


def _in_numpy(
    table: NDArray[Any],
    rules: NDArray[np.float64],
    group: NDArray[np.int8],
    balls: Balls,
    positive: NDArray[np.bool_],
    first: int,
    last: int,
) -> Totals:
    total = Totals.blank(len(table))
    for part in tiles(last - first, len(table)):
        some = slice(first + part.start, min(first + part.stop, last))
        entries, member = table[:, some], group[some]
        if rules.size:
            first_side, second_side = (_whole_in_numpy(entries, each) for each in rules)
            entries = np.where(member == 1, second_side, first_side)
        rows = entries.T.astype(np.float64)
        kept = np.ones(len(rows))
        for side in (0, 1):
            people = np.flatnonzero((member == 1) == (side == 1))
            for ball, those in zip(balls.of(side), (positive, ~positive), strict=True):
                if math.isinf(ball.radius) or not those.any():
                    continue
                place = np.ix_(people, those)
                rows[place], share = clipped(rows[place], ball.room, ball.radius)
                if ball is balls.positive:
                    kept[people] = share
        left = np.trunc(FINE * kept)
        for place, among in enumerate((member >= 0, member == 1)):
            total.rows[place] += (among.astype(np.float64) @ rows).astype(np.int64)  # below 2**53 for a tile
            total.weights[place] += int(left[among].sum())
        total.squares += np.einsum("ij,ij->j", rows[member >= 0], rows[member >= 0]).astype(np.int64)
    return total
