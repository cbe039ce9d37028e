"""After the draw: proved p-values and estimates, from what was told and from public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.proved.p_values import NoisySums, proved_p_values
from discreet.methods.all.record import Noisy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.methods.all.proved.rows import QuestionBlock

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ProvedSums:
    """The sums over rows that were told, and the constants that rows were made with. Public.

    Attributes
    ----------
    share : float
        f, about the share of the second group: exactly this is subtracted from each label.
    groups : (Noisy, Noisy)
        The sizes of the two groups.
    blocks : tuple of Block
        What rows are made of.
    contrast, total : Noisy, shape (m + questions,)
        sum (y - f) row and sum row: the entries of all hypotheses, then the presence of all questions.
    numbers : array of int
        Which hypotheses are about numbers.
    squares, uneven : Noisy, shape (numbers,), or None
        sum v^2 and sum (y - f) v^2 of their entries; None if there are none.
    expected : array of float, shape (m,)
        What the sums of squares were expected to be before they were told.
    left : array of bool, shape (m,)
        Which hypotheses were not dropped on the way.
    unit : array of float, shape (m,)
        What the width of an entry is worth in the column's own units.
    effects : tuple of str
        What the estimates are.
    """

    share: float
    groups: tuple[Noisy, Noisy]
    blocks: tuple[QuestionBlock, ...]
    contrast: Noisy
    total: Noisy
    numbers: NDArray[np.intp]
    squares: Noisy | None
    uneven: Noisy | None
    expected: Floats
    active: NDArray[np.bool_]
    unit: Floats
    effects: tuple[str, ...]

    @property
    def size(self) -> Floats:
        """The width of each hypothesis' entries, in steps."""
        return np.concatenate([np.full(block.centre.size, block.size) for block in self.blocks])

    def noisy_sums(self) -> NoisySums:
        """Return what was told, one entry for each hypothesis."""
        m = self.expected.size
        question = np.repeat(np.arange(len(self.blocks)), [block.centre.size for block in self.blocks])
        there = np.array([block.present for block in self.blocks])[question]
        squares, deviation = np.zeros(m), np.zeros(m)
        if self.squares is not None:
            squares[self.numbers], deviation[self.numbers] = self.squares.sums, self.squares.deviation
        return NoisySums(
            self.contrast.at(slice(m)),
            self.contrast.at(m + question).over(there),
            self.total.at(slice(m)),
            self.total.at(m + question).over(there),
            Noisy(squares, deviation),
            self.groups,
            self.share,
            np.concatenate([block.low for block in self.blocks]),
            np.concatenate([block.high for block in self.blocks]),
            np.isin(np.arange(m), self.numbers, invert=True),
        )

    def p_values(self, alternative: Alternative, failure: float) -> Floats:
        """Return proved p-values; `failure` is the chance, for each column, that a bound is wrong."""
        p = proved_p_values(
            self.noisy_sums(), expected=self.expected, failure=failure, alternative=alternative
        )
        return np.where(self.active, p, 1.0)
