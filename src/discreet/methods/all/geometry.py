"""How far one person can move the sums: the set that rows come from, and clipping it to a ball.

A row has two parts, entries that are never negative, and entries of both signs, which are centred; each is
clipped by itself. Everything is in whole numbers of steps. Proof: docs/proofs/all-privacy.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.ball import clipped
from discreet.methods.all.reading import FINE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.reading import Rows

_UP = 1 + 2.0**-40
_OVER = 0.2  # a ball is this much larger, squared, than rows without their largest entry, at most


@dataclass(frozen=True, slots=True)
class Box:
    """The set that one part of a row comes from.

    Attributes
    ----------
    apart : float
        Any two rows are at most this far apart.
    shrunk : float
        The same after entries are shrunk toward 0, each by itself.
    radius : float
        No row is longer.
    squares : float
        The vector of a row's squared entries is no longer.
    entry : float
        No single entry is larger.
    columns : int
        How many entries there are.
    """

    apart: float
    shrunk: float
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
        return clipped(rows, self.room, self.radius)[0]

    def weight(self, norm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return about the weight of the entries of rows this long."""
        if math.isinf(self.radius):
            return np.ones(norm.shape)
        return np.minimum(1.0, math.sqrt(self.room) / np.maximum(norm, 1e-9))


@dataclass(frozen=True, slots=True)
class Balls:
    """How both parts of a row are clipped; the signed one to a share of the radius, one for each group."""

    positive: Ball
    signed: Ball
    sizes: tuple[float, float] = (1.0, 1.0)

    def of(self, group: int) -> tuple[Ball, Ball]:
        """Return the balls for both parts of people in this group."""
        return self.positive, Ball(self.signed.radius * self.sizes[group], self.signed.entry)

    def clip(
        self, whole: NDArray[np.int16], positive: NDArray[np.bool_], group: NDArray[np.int8]
    ) -> NDArray[np.float64]:
        """Return the clipped rows of some people, whole numbers; shape (n, m)."""
        rows = whole.astype(np.float64)
        if positive.any():
            rows[:, positive] = self.positive.clip(rows[:, positive])
        if not positive.all():
            for side in (0, 1):
                place = np.ix_(np.flatnonzero((group == 1) == (side == 1)), ~positive)
                rows[place] = self.of(side)[1].clip(rows[place])
        return rows


def boxes_of(people: People, rows: Rows) -> tuple[Box, Box]:
    """Return the sets that entries without negative ones, and entries of both signs, come from."""
    size, end = np.minimum(rows.scale, rows.most) * FINE, rows.most * FINE
    low = np.where(rows.answers, -rows.middle, np.clip(-rows.centre * rows.scale * FINE, -end, 0.0))
    high = np.where(
        rows.answers, size - rows.middle, np.clip((1 - rows.centre) * rows.scale * FINE, 0.0, end)
    )
    low, high = np.where(rows.positive, 0.0, low), np.where(rows.positive, size, high)
    longest = np.maximum(-low, high)
    # Each column by itself: its two ends; then the questions with several answers, of which one is given.
    single = np.ones(rows.scale.size, dtype=np.bool_)
    several: list[tuple[bool, tuple[float, float, float, float]]] = []
    for asked in people.questions:
        if asked.answers and asked.places.stop - asked.places.start > 1:
            single[asked.places] = False
            centred = bool(rows.centred[asked.places.start])
            several.append((centred, (_centred if centred else _from_zero)(rows, size, asked.places)))

    def box(part: NDArray[np.bool_], *, centred: bool) -> Box:
        width, ends = (high - low)[part & single], longest[part & single]
        alone = [np.sum(width**2), np.sum(width**2), np.sum(ends**2), np.sum(ends**4)]
        blocks = [sizes for signed, sizes in several if signed == centred]
        total = np.sum([alone, *blocks], axis=0)
        apart, shrunk, radius, squares = (math.sqrt(float(squared)) * _UP for squared in total)
        entry = float(np.max(longest[part], initial=1.0)) * _UP
        return Box(apart, shrunk, radius, squares, entry, int(np.count_nonzero(part)))

    return box(rows.positive, centred=False), box(~rows.positive, centred=True)


def _from_zero(rows: Rows, size: NDArray[np.float64], places: slice) -> tuple[float, float, float, float]:
    """Return how far apart answers to one question are, squared, also shrunk, how long, and fourth powers."""
    # Without an entry a row is `centre`. With one it is `none`, but for the answer that is given.
    turned, most, centre = rows.turned[places], size[places], rows.shift[places]
    none, given = most[turned], most[~turned]
    # Shrunk, two rows without negative entries are no further apart than the larger of both is long.
    given_two = float(np.sum(np.sort(given**2)[-2:]))
    given_one = float(np.sum(centre[~turned] ** 2) + np.max(given**2 - centre[~turned] ** 2, initial=0.0))
    apart = float(np.sum(none**2)) + max(given_two, given_one)
    return (
        apart,
        apart,
        max(float(np.sum(none**2) + np.max(given**2, initial=0.0)), float(np.sum(centre**2))),
        max(float(np.sum(none**4) + np.max(given**4, initial=0.0)), float(np.sum(centre**4))),
    )


def _centred(rows: Rows, size: NDArray[np.float64], places: slice) -> tuple[float, float, float, float]:
    """Return the same of answers less their centre; shrunk, each entry may be anywhere between its ends."""
    turned, most = rows.turned[places], np.trunc(size[places])
    given = (np.eye(most.size, dtype=np.bool_) != turned) * most
    corners = np.vstack([given, turned * most, rows.middle[places]]) - rows.middle[places]
    length = np.sum(corners**2, axis=1)
    apart = float((length[:, None] + length - 2 * corners @ corners.T).max())
    return apart, float(np.sum(most**2)), float(length.max()), float(np.sum(corners**4, axis=1).max())


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one person can move each kind of sum, in steps."""

    contrast: float
    sums: float
    squares: float


Pull = tuple[tuple[float, float], tuple[float, float]]
"""The largest |y - f| of each group, then part."""


def pull_of(shares: NDArray[np.float64], positive: NDArray[np.bool_]) -> Pull:
    """Return how much labels weigh at most; f is the share of each column."""
    ends = [
        (float(some.max(initial=0.0)), float(1 - some.min(initial=1.0)))
        for some in (shares[positive], shares[~positive])
    ]
    return (ends[0][0], ends[1][0]), (ends[0][1], ends[1][1])


def reach_of(boxes: tuple[Box, Box], balls: Balls, pull: Pull, *, protected: bool, seen: int = 1) -> Reach:
    """Return the sensitivities of sum (y - f) v, of sum v, and of sum v^2.

    A neighbour with the same label moves the first by |y - f| times the distance of two rows; one with
    another label by both rows, each times its own |y - f|. Rows without negative entries in a ball are
    sqrt(2) radii apart. Whoever leaves one of `seen` = 2 tables for the other moves the sums of both by one
    row.
    """
    same: list[float] = []
    other, apart, length = [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]
    for group in (0, 1):
        moved = [0.0, 0.0]
        for part, (box, ball) in enumerate(zip(boxes, balls.of(group), strict=True)):
            most = min(box.radius, ball.radius)
            far = box.apart
            if not math.isinf(ball.radius):
                far = min(box.shrunk, (2.0 if part else math.sqrt(2)) * ball.radius)
            if seen > 1:
                far = max(far, math.sqrt(seen) * most)
            moved[part] = pull[group][part] * far
            other[part] += pull[group][part] * most
            apart[part], length[part] = max(apart[part], far), max(length[part], most)
        same.append(math.hypot(*moved))
    contrast = max(*same, math.hypot(*other)) if protected else max(same)
    fourth = [min(box.squares, box.entry * size) for box, size in zip(boxes, length, strict=True)]
    return Reach(contrast * _UP, math.hypot(*apart) * _UP, math.sqrt(2) * math.hypot(*fourth) * _UP)
