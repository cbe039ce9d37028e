"""A person's row in the proved tier: every entry less its centre, beside whether it is there.

Nothing is clipped, so that a column's sums are made of its own entries alone. Whether an entry is there has a
coordinate of its own for each question: with a weight that costs little, or nothing, beside the entry.
Everything is in whole numbers of steps. Proof: docs/proofs/all-privacy.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STEPS = 2**12
"""Whole numbers to the largest scale."""
_PRESENCE = 0.2  # presence has at least this weight, squared, beside an entry of weight 1
_UP = 1 + 2.0**-40


@dataclass(frozen=True, slots=True, eq=False)
class QuestionBlock:
    """One question: what its entries and its presence are in a row, in whole steps. Public.

    Attributes
    ----------
    places : slice
        Its hypotheses.
    answers : bool
        Whether entries are answers: `size` if given, 0 if not, less the centre.
    size : float
        What the range of an entry comes to.
    centre : array of float, shape (hypotheses,)
        What is taken off: whole steps.
    present : float
        What presence comes to.
    """

    places: slice
    answers: bool
    size: float
    centre: Floats
    present: float

    @property
    def low(self) -> Floats:
        """The least that an entry comes to."""
        return -self.centre

    @property
    def high(self) -> Floats:
        """The most that an entry comes to."""
        return self.size - self.centre

    def corners(self) -> Floats:
        """Return all rows that matter: an answer each, none of them or the ends, and no entry; then presence.

        A person with an entry gives one of the answers or none of them; a number lies between the ends.
        """
        count = self.centre.size
        entries = np.vstack([self.size * np.eye(count), np.zeros((1, count))]) - self.centre
        there = np.column_stack([entries, np.full(count + 1, self.present)])
        return np.vstack([there, np.zeros((1, count + 1))])

    def whole(self, share: Floats) -> Floats:
        """Return the entries of some people: whole steps, 0 where there is none; `share` in [0, 1]."""
        return np.where(np.isnan(share), 0.0, np.trunc(self.size * share) - self.centre)


def block(places: slice, mean: Floats, size: float, *, answers: bool) -> QuestionBlock:
    """Return the block of a question around these means, its entries `size` steps wide."""
    size = max(math.floor(size), 2.0)
    centre = np.trunc(np.clip(mean, 0.0, 1.0) * size)
    return QuestionBlock(
        places, answers, size, centre, max(math.floor(size * math.sqrt(presence(mean))), 1.0)
    )


def presence(mean: Floats) -> float:
    """Return the squared weight of presence beside entries of width 1: what is free, or a little more."""
    length, apart = _longest(mean), 1.0 if mean.size == 1 else 2.0
    return min(max(apart - length, _PRESENCE), 1.0)


def cost(mean: Floats) -> tuple[float, float]:
    """Return how far apart two rows of a question can be, and how long one can be, squared, for width 1."""
    length, apart = _longest(mean), 1.0 if mean.size == 1 else 2.0
    longest = length + presence(mean)
    return max(apart, longest), longest


def _longest(mean: Floats) -> float:
    """Return the squared length of the longest entry: one answer, or none, less the centre."""
    square = float(mean @ mean)
    return max(square, square + 1 - 2 * float(mean.min()))


@dataclass(frozen=True, slots=True)
class BlockSensitivities:
    """How far one person moves each kind of sum, in steps."""

    contrast: float
    sums: float
    squares: float
    uneven: float


def sensitivities_of(
    blocks: Sequence[QuestionBlock], share: float, *, protected: bool, seen: int = 1
) -> BlockSensitivities:
    """Return the sensitivities of sum (y - f) row, of sum row, of sum v^2 and of sum (y - f) v^2 of numbers.

    A neighbour with the same label moves the first by max(f, 1 - f) times the distance of two rows, one with
    another label by a mean of two rows. Whoever leaves one of `seen` = 2 tables for the other moves the sums
    of both by one row.
    """
    apart = length = fourth = 0.0
    for block in blocks:
        corners = block.corners()
        square = np.sum(corners * corners, axis=1)
        apart += float(np.max(square[:, None] + square - 2 * corners @ corners.T))
        length += float(square.max())
        if not block.answers:
            fourth += float(np.max(np.maximum(-block.low, block.high))) ** 4
    larger = max(share, 1 - share)
    apart = max(apart, seen * length if seen > 1 else 0.0)
    moved, fourth = larger * math.sqrt(apart), math.sqrt(seen * fourth)
    contrast = max(moved, math.sqrt(length)) if protected else moved
    uneven = max(larger, 1 / math.sqrt(seen)) if protected else larger
    return BlockSensitivities(contrast * _UP, math.sqrt(apart) * _UP, fourth * _UP, uneven * fourth * _UP)
