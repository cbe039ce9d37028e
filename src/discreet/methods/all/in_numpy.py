"""What the kernels in C do, in NumPy and to the last bit: for machines on which no compiler built them.

Every step on an entry is one operation, rounded as written, and sums are of whole numbers. Private, as all
that is made of people's entries.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.typing import RawArray

    Floats = NDArray[np.float64]

SMALLEST, SIZES = -30, 102
"""Sizes of numbers are told apart from 2**-30 on, by octaves."""
PARTS_OF_WINDOW = 16
_LITTLE = 2.0**-20  # more than rounding adds to a product of single-precision floats


def whole(table: NDArray[np.generic], rules: Floats) -> Floats:
    """Return the entries of some people, column by column, as whole numbers."""
    each: list[Floats] = [column[:, None] for column in rules.T]
    answer, centre, factor, offset, low, high, missing = each
    x = table.astype(np.float64)
    steps = (x - centre) * factor + offset
    above = np.where(steps > low, steps, low)
    number = np.trunc(np.where(above < high, above, high))
    given = np.where(x >= 0.5, high, low)
    return np.where(np.isnan(x), missing, np.where(answer != 0, given, number))


def clipped(rows: Floats, room: float, radius: float) -> tuple[Floats, Floats]:
    """Return rows of whole numbers clipped, (n, m), and the share of each one's length that is left, (n,).

    Each entry v of a row is multiplied by sqrt(room / (|row|^2 - v^2)) where that is below 1, then rows
    longer than `radius` are shrunk to it. Weights are of single precision; results are rounded toward zero.

    Guarantee: no row is longer than `radius` afterwards. Lengths are sums of whole numbers, hence exact; the
    last factor is smaller than it need be by a share of 2**-20, and rounding adds less than 2**-22 to it.
    """
    squared = np.einsum("ij,ij->i", rows, rows)  # whole numbers below 2**53: exact in any order
    entry, narrow = rows.astype(np.float32), np.float32(room)
    others = squared.astype(np.float32)[:, None] - entry * entry
    weighed = np.trunc(entry * np.sqrt(narrow / np.maximum(others, narrow))).astype(np.float64)
    squared_after = np.einsum("ij,ij->i", weighed, weighed)
    length = np.sqrt(squared_after)
    shrunk = radius / np.maximum(length, 1.0) * (1 - _LITTLE)
    scale = np.where(length > radius, shrunk, 1.0).astype(np.float32)
    share = np.sqrt(squared_after / np.maximum(squared, 1.0)) * scale
    kept = np.where((squared > 0) & (share < 1), share, 1.0)
    return np.trunc(weighed.astype(np.float32) * scale[:, None]).astype(np.float64), kept


def add(
    table: NDArray[np.generic],
    rules: Floats,
    group: NDArray[np.int8],
    signed: NDArray[np.uint8],
    balls: Floats,
    unit: float,
    out: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Make a tile of people whole, clip it and add it to sums of rows, of squares and of weights.

    `balls` has room and radius, by group and part: entries that are never negative, and the others.
    """
    entries: RawArray = table
    if rules.size:
        first, second = (whole(table, each) for each in rules)
        entries = np.where(group == 1, second, first)
    rows = entries.T.astype(np.float64)
    kept = np.ones((len(rows), 2))
    for side in (0, 1):
        people = np.flatnonzero((group == 1) == (side == 1))
        for part, (room, radius) in enumerate(balls[side].tolist()):
            those = np.flatnonzero(signed == part)
            if math.isinf(radius) or not those.size:
                continue
            place = np.ix_(people, those)
            rows[place], share = clipped(rows[place], room, radius)
            kept[people, part] = share
    weights_in_steps = np.trunc(unit * kept)
    total, squares, weights = out
    for place, among in enumerate((group >= 0, group == 1)):
        total[place] += (among.astype(np.float64) @ rows).astype(np.int64)  # below 2**53 for a tile
        weights[place] += weights_in_steps[among].sum(axis=0).astype(np.int64)
        squares[place] += np.einsum("ij,ij->j", rows[among], rows[among]).astype(np.int64)


def count_sizes(x: Floats) -> NDArray[np.int64]:
    """Return how many numbers of each size there are: negative, zero, positive ones; then the missing."""
    octave = np.frexp(np.minimum(np.abs(x), 2.0**80))[1]
    size = np.sign(np.nan_to_num(x)).astype(np.int64) * (1 + np.clip(octave - SMALLEST, 0, SIZES - 1))
    return np.bincount(np.where(np.isnan(x), 2 * SIZES + 1, SIZES + size), minlength=2 * SIZES + 2)


def sum_places(away: Floats, unit: float) -> tuple[float, int]:
    """Return the sum of numbers clipped to +-1, and how many numbers there are."""
    present = ~np.isnan(away)
    share = np.where(present, np.clip(away, -1.0, 1.0), 0.0)
    return float(np.trunc(share * (unit / 2)).sum()), int(np.count_nonzero(present))


def sum_distances(away: Floats, unit: float) -> float:
    """Return the sum of distances from 0, clipped to 1."""
    distance = np.where(np.isnan(away), 0.0, np.minimum(np.abs(away), 1.0))
    return float(np.trunc(distance * unit).sum())


def count_places(away: Floats) -> NDArray[np.int64]:
    """Return how many numbers are in each part of [-1, 1); then the others."""
    place = np.floor((away + 1) * (PARTS_OF_WINDOW / 2))
    inside = (place >= 0) & (place < PARTS_OF_WINDOW)
    where = np.where(inside, place, PARTS_OF_WINDOW).astype(np.int64)
    return np.bincount(where, minlength=PARTS_OF_WINDOW + 1)


def add_lacking(
    table: NDArray[np.generic], group: NDArray[np.int8], norm: float, unit: float, total: NDArray[np.int64]
) -> None:
    """Add who of a tile of people has no entry, over both groups and over the second; clipped to `norm`."""
    lacks = np.isnan(table).T
    many = np.sqrt(np.maximum(lacks.sum(axis=1), norm * norm))
    counted = np.trunc(unit * norm / many)[:, None] * lacks
    for place, among in enumerate((group >= 0, group == 1)):
        total[place] += (among.astype(np.float64) @ counted).astype(np.int64)
