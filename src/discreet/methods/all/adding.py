"""Rows made whole, clipped and added up, some people at a time: in C where it was built, else in NumPy.

Both come to the same bits, for they compute on whole numbers and round alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.kernels import compiled
from discreet.methods.all.reading import FINE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.geometry import Balls
    from discreet.methods.all.reading import Columns, Rows, Scaling

_HUGE = 1e300  # a radius that clips nothing


def whole_numbers(
    values: NDArray[np.floating[Any]], scaling: Scaling, columns: Columns, rows: Rows
) -> NDArray[np.int16]:
    """Return the rows of some people as whole numbers, before clipping; shape (n, m). Private."""
    if compiled is None or not values.size or values.dtype.itemsize not in (4, 8):
        return rows.whole(scaling.shares(values, columns))
    answers, less = rows.answers, np.where(rows.centred, rows.middle, 0.0)
    rule = np.ascontiguousarray(
        [
            answers,
            scaling.centre,
            scaling.reach,
            np.where(answers, 0.0, rows.centre),
            rows.scale * FINE,
            rows.turned,
            rows.middle,
            less,
        ],
        dtype=np.float64,
    )
    whole = np.empty(values.shape, dtype=np.int16)
    table = np.ascontiguousarray(values)
    compiled.whole(table, table.itemsize, table.shape[1], rule, float(rows.most * FINE), whole)
    return whole


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

    def add(
        self, whole: NDArray[np.int16], group: NDArray[np.int8], balls: Balls, positive: NDArray[np.bool_]
    ) -> None:
        """Clip the rows of some people and add them."""
        adder = _in_numpy if compiled is None or not whole.size else _in_c
        sums, squares, kept = adder(whole, group, balls, positive)
        for total, each in ((self.rows, sums), (self.weights, kept[:, None])):
            each = each.astype(np.int64)  # below 2**53 for one tile  # noqa: PLW2901
            total[0] += each[0] + each[1]
            total[1] += each[1]
        self.squares += squares.astype(np.int64)

    def __repr__(self) -> str:
        return "Totals(private)"


Sums = tuple["NDArray[np.float64]", "NDArray[np.float64]", "NDArray[np.float64]"]


def _in_c(
    whole: NDArray[np.int16], group: NDArray[np.int8], balls: Balls, positive: NDArray[np.bool_]
) -> Sums:
    assert compiled is not None  # noqa: S101  asked before
    m = whole.shape[1]
    sums, squares, kept = np.zeros((2, m)), np.zeros(m), np.zeros(2)
    numbers = np.empty((2, 2, 2))  # by group and part: room and radius
    for side in (0, 1):
        for part, ball in enumerate(balls.of(side)):
            clips = not math.isinf(ball.radius)
            numbers[side, part] = (ball.room, ball.radius) if clips else (_HUGE, _HUGE)
    clips = not (math.isinf(balls.positive.radius) and math.isinf(balls.signed.radius))
    rows, own = np.ascontiguousarray(whole), positive.astype(np.float64)
    compiled.add(rows, np.ascontiguousarray(group), own, numbers, clips, float(FINE), sums, squares, kept)
    return sums, squares, kept


def _in_numpy(
    whole: NDArray[np.int16], group: NDArray[np.int8], balls: Balls, positive: NDArray[np.bool_]
) -> Sums:
    clipped = balls.clip(whole, positive, group)
    member = (np.array([[0], [1]]) == group).astype(np.float64)
    before = np.sum(whole[:, positive].astype(np.float64) ** 2, axis=1)
    after = np.sum(clipped[:, positive] ** 2, axis=1)
    # What clipping leaves of the length of each person's entries that are never negative, in steps.
    share = np.sqrt(np.minimum(after / np.maximum(before, 1.0), 1.0))
    kept = np.trunc(FINE * np.where(before > 0, share, 1.0))
    squares = np.einsum("ij,ij->j", clipped * (group >= 0)[:, None], clipped)
    return member @ clipped, squares, member @ kept
