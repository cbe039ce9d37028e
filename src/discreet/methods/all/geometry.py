"""How far one person can move the sums: the size of the set that rows come from, and clipping it to a ball.

Everything is in whole numbers of steps. Proof: docs/proofs/all-privacy.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.reading import FINE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.reading import Rows

_UP = 1 + 2.0**-40


@dataclass(frozen=True, slots=True)
class Box:
    """The set of all possible rows: its diameter, its radius around 0, the norm of squares, one entry.

    Attributes
    ----------
    diameter, radius : float
        Any two rows are at most this far apart; no row is longer.
    squares : float
        The vector of a row's squared entries is no longer.
    entry : float
        No single entry is larger.
    """

    diameter: float
    radius: float
    squares: float
    entry: float


def box_of(people: People, rows: Rows) -> Box:
    """Return the set that rows come from."""
    end = rows.most * FINE
    low = np.clip(-rows.centre * rows.scale * FINE, -end, 0.0)
    high = np.clip((1 - rows.centre) * rows.scale * FINE, 0.0, end)
    ends = np.maximum(-low, high)
    alone = np.ones(len(people), dtype=np.bool_)
    diameter = radius = squares = 0.0
    for asked in people.questions:
        if not asked.answers or asked.places.stop - asked.places.start == 1:
            continue
        # A row of several answers is 0 (missing), `below` (none of them), or that with one entry of `above`.
        alone[asked.places] = False
        below, above = low[asked.places], high[asked.places]
        longest = _longest(below**2, above**2)
        diameter += max(longest, float(np.sum(np.sort((above - below) ** 2)[-2:])))
        radius += longest
        squares += _longest(below**4, above**4)
    diameter += float(np.sum((high - low)[alone] ** 2))
    radius += float(np.sum(ends[alone] ** 2))
    squares += float(np.sum(ends[alone] ** 4))
    sizes = [max(1.0, math.sqrt(part)) * _UP for part in (diameter, radius, squares)]
    return Box(sizes[0], sizes[1], sizes[2], float(np.max(ends, initial=1.0)) * _UP)


def _longest(below: NDArray[np.float64], above: NDArray[np.float64]) -> float:
    """Return the largest sum of entries of `below`, one of which may be that of `above` instead."""
    return float(np.sum(below) + np.max(np.maximum(above - below, 0.0)))


@dataclass(frozen=True, slots=True)
class Ball:
    """Rows clipped to norm `radius`: each entry by a weight that does not depend on the entry itself.

    w_ij = min(1, sqrt((C^2 - b^2) / (|v_i|^2 - v_ij^2))), C the radius and b the largest entry: then
    |(w_ij v_ij)_j| <= C, and whether a column is null or not, its entries are weighted by the others.
    A radius of infinity clips nothing.
    """

    radius: float
    entry: float

    def clip(self, whole: NDArray[np.int16]) -> NDArray[np.float64]:
        """Return the clipped rows of some people, whole numbers; shape (n, m)."""
        rows = whole.astype(np.float64)
        if math.isinf(self.radius):
            return rows
        squared = rows * rows
        others = squared.sum(axis=1)[:, None] - squared
        room = self.radius**2 - self.entry**2
        np.maximum(others, room, out=others)
        return np.trunc(rows * np.sqrt(room / others))

    def weight(self, norm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return about the weight of the entries of rows this long."""
        if math.isinf(self.radius):
            return np.ones(norm.shape)
        return np.minimum(1.0, np.sqrt((self.radius**2 - self.entry**2) / np.maximum(norm, 1e-9) ** 2))


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one person can move each kind of sum, for rows in a box, or in a box and clipped to a ball."""

    contrast: float
    sums: float
    squares: float


def reach_of(box: Box, ball: Ball, share: float, *, protected: bool) -> Reach:
    """Return the sensitivities of sum (y - f) v, of sum v, and of sum v^2, in steps.

    A neighbour with the same label moves the first by max(f, 1 - f) times the distance of two rows; one with
    another label by a mean of two rows.
    """
    # Weights differ from entry to entry: clipped answers may lie further apart than any in the box.
    diameter = box.diameter if math.isinf(ball.radius) else 2 * ball.radius
    radius = min(box.radius, ball.radius)
    moved = max(share, 1 - share) * diameter
    contrast = max(moved, radius) if protected else moved
    squares = min(box.squares, box.entry * radius)
    return Reach(contrast * _UP, diameter * _UP, math.sqrt(2) * squares * _UP)
