"""How far one person can move the sums: the set that rows come from, and clipping it to a ball.

A row has two parts, its answers, which are never negative, and its numbers, which are centred; each is
clipped by itself. Everything is in whole numbers of steps. Proof: docs/proofs/all-privacy.md.
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
_OVER = 0.2  # a ball is this much larger, squared, than rows without their largest entry, at most


@dataclass(frozen=True, slots=True)
class Box:
    """The set that one part of a row comes from, also after its entries are shrunk toward 0.

    Attributes
    ----------
    apart, radius : float
        Any two rows are at most this far apart; no row is longer.
    squares : float
        The vector of a row's squared entries is no longer.
    entry : float
        No single entry is larger.
    columns : int
        How many entries there are.
    """

    apart: float
    radius: float
    squares: float
    entry: float
    columns: int


@dataclass(frozen=True, slots=True)
class Ball:
    """Rows of one part clipped: entries first, each by what the others amount to; then the row to `radius`.

    With C^2 = radius^2 - min(b^2, radius^2/6) and b the largest entry,
    w_ij = min(1, C / sqrt(|v_i|^2 - v_ij^2)).
    A column is weighted by the other columns alone, so that one without effect stays so; if b is small, no
    row is then longer than `radius`. A radius of infinity clips nothing.
    """

    radius: float
    entry: float

    @property
    def room(self) -> float:
        """C^2, for entries other than the one that is weighted."""
        return self.radius**2 - min(self.entry**2, self.radius**2 * _OVER / (1 + _OVER))

    def clip(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the clipped rows of some people, whole numbers; shape (n, columns)."""
        if math.isinf(self.radius) or rows.shape[1] == 0:
            return rows
        squared = rows * rows
        others = squared.sum(axis=1)[:, None] - squared
        np.maximum(others, self.room, out=others)
        rows = np.trunc(rows * np.sqrt(self.room / others))
        length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        long = length > self.radius
        rows[long] = np.trunc(rows[long] * (self.radius / length[long])[:, None])
        return rows

    def weight(self, norm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return about the weight of the entries of rows this long."""
        if math.isinf(self.radius):
            return np.ones(norm.shape)
        return np.minimum(1.0, math.sqrt(self.room) / np.maximum(norm, 1e-9))


@dataclass(frozen=True, slots=True)
class Balls:
    """How both parts of a row are clipped."""

    answers: Ball
    numbers: Ball

    def clip(self, whole: NDArray[np.int16], answers: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the clipped rows of some people, whole numbers; shape (n, m)."""
        rows = whole.astype(np.float64)
        if answers.all():
            return self.answers.clip(rows)
        if not answers.any():
            return self.numbers.clip(rows)
        rows[:, answers] = self.answers.clip(rows[:, answers])
        rows[:, ~answers] = self.numbers.clip(rows[:, ~answers])
        return rows


def boxes_of(people: People, rows: Rows) -> tuple[Box, Box]:
    """Return the sets that answers and numbers come from."""
    end = rows.most * FINE
    low = np.clip(-rows.centre * rows.scale * FINE, -end, 0.0)
    high = np.clip((1 - rows.centre) * rows.scale * FINE, 0.0, end)
    numbers, ends = ~rows.answers, np.maximum(-low, high)
    return _answers(people, rows), _box(
        float(np.sum((high - low)[numbers] ** 2)),
        float(np.sum(ends[numbers] ** 2)),
        float(np.sum(ends[numbers] ** 4)),
        float(np.max(ends[numbers], initial=1.0)),
        int(np.count_nonzero(numbers)),
    )


def _answers(people: People, rows: Rows) -> Box:
    """Return the set that answers come from: of several to a question a person gives one, or none."""
    size = np.minimum(rows.scale, rows.most) * FINE
    single = rows.answers.copy()
    apart = radius = squares = 0.0
    for asked in people.questions:
        if not asked.answers or asked.places.stop - asked.places.start == 1:
            continue
        single[asked.places] = False
        sizes = _from_zero(rows, size, asked.places)
        apart, radius, squares = apart + sizes[0], radius + sizes[1], squares + sizes[2]
    return _box(
        apart + float(np.sum(size[single] ** 2)),
        radius + float(np.sum(size[single] ** 2)),
        squares + float(np.sum(size[single] ** 4)),
        float(np.max(size[rows.answers], initial=1.0)),
        int(np.count_nonzero(rows.answers)),
    )


def _from_zero(rows: Rows, size: NDArray[np.float64], places: slice) -> tuple[float, float, float]:
    """Return how far apart answers to one question are, squared, how long, and their fourth powers."""
    # Without an entry a row is `centre`. With one it is `none`, but for the answer that is given.
    turned, most, centre = rows.turned[places], size[places], rows.shift[places]
    none, given = most[turned], most[~turned]
    # Shrunk, two rows without negative entries are no further apart than the larger of both is long.
    given_two = float(np.sum(np.sort(given**2)[-2:]))
    given_one = float(np.sum(centre[~turned] ** 2) + np.max(given**2 - centre[~turned] ** 2, initial=0.0))
    return (
        float(np.sum(none**2)) + max(given_two, given_one),
        max(float(np.sum(none**2) + np.max(given**2, initial=0.0)), float(np.sum(centre**2))),
        max(float(np.sum(none**4) + np.max(given**4, initial=0.0)), float(np.sum(centre**4))),
    )


def _box(apart: float, radius: float, squares: float, entry: float, columns: int) -> Box:
    sizes = [math.sqrt(part) * _UP for part in (apart, radius, squares)]
    return Box(sizes[0], sizes[1], sizes[2], entry * _UP, columns)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one person can move each kind of sum, in steps."""

    contrast: float
    sums: float
    squares: float


def reach_of(boxes: tuple[Box, Box], balls: Balls, share: float, *, protected: bool) -> Reach:
    """Return the sensitivities of sum (y - f) v, of sum v, and of sum v^2.

    A neighbour with the same label moves the first by max(f, 1 - f) times the distance of two rows; one with
    another label by a mean of two rows. Rows without negative entries in a ball are sqrt(2) radii apart.
    """
    answers, numbers = boxes
    clipped = (balls.answers.radius, balls.numbers.radius)
    apart = math.hypot(min(answers.apart, math.sqrt(2) * clipped[0]), min(numbers.apart, 2 * clipped[1]))
    lengths = [min(box.radius, radius) for box, radius in zip(boxes, clipped, strict=True)]
    fourth = [min(box.squares, box.entry * size) for box, size in zip(boxes, lengths, strict=True)]
    moved = max(share, 1 - share) * apart
    contrast = max(moved, math.hypot(*lengths)) if protected else moved
    return Reach(contrast * _UP, apart * _UP, math.sqrt(2) * math.hypot(*fourth) * _UP)
