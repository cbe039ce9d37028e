"""From a person's entries to a row of whole numbers, by public constants; and the set that rows come from.

Entries that are never negative, and entries of both signs, which are centred, are two parts of a row. How far
apart two rows can be says how far one person can move a sum of them. Proof: docs/proofs/all-privacy.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People

FINE = 2**10
"""Whole numbers to one standard deviation."""
NO_SIZE = 2.0**-20
"""Numbers that are all nearer to 0 than this seem to be 0."""
FARTHEST = 1.7e308
"""No centre is further out: with an infinite one, sums would not be numbers."""
LARGEST = 2**14
"""No entry is larger: the kernels' sums have room for these."""
PARTS = 2**12
"""The share of the second group is a whole number of these."""
_UP = 1 + 2.0**-40
_TOGETHER = 2**18  # entries worked on at a time, about


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Which columns hold answers, numbers with bounds, and numbers without; and those bounds. Public.

    Attributes
    ----------
    answers, bounded, free : arrays of int
        Places of the columns of each kind.
    low, high : arrays of float64, shape (bounded columns,)
        Bounds.
    question : array of int, shape (m,)
        The number of the question that each column belongs to.
    """

    answers: NDArray[np.intp]
    bounded: NDArray[np.intp]
    free: NDArray[np.intp]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    question: NDArray[np.intp]

    @property
    def without_bounds(self) -> NDArray[np.bool_]:
        """Which columns are numbers without bounds, shape (m,)."""
        return np.isin(np.arange(self.question.size), self.free)

    @property
    def numbers(self) -> NDArray[np.intp]:
        """Places of the columns that are not answers, those with bounds first."""
        return np.concatenate([self.bounded, self.free])

    @classmethod
    def of(cls, people: People) -> Columns:
        """Return the columns of these people."""
        kinds: dict[str, list[int]] = {"answers": [], "bounded": [], "free": []}
        bounds: list[tuple[float, float]] = []
        question = np.zeros(len(people), dtype=np.intp)
        for number, asked in enumerate(people.questions):
            places = range(len(people))[asked.places]
            question[asked.places] = number
            kind = "answers" if asked.answers else "free" if asked.bounds is None else "bounded"
            kinds[kind] += places
            if not asked.answers and asked.bounds is not None:
                bounds += [asked.bounds] * len(places)
        low, high = np.array(bounds, dtype=np.float64).reshape(-1, 2).T
        answers, bounded, free = (np.array(kinds[kind], dtype=np.intp) for kind in kinds)
        return cls(answers, bounded, free, low, high, question)


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """How numbers become shares of a range, in [0, 1]: 1/2 + (x - centre)/(2 reach), clipped.

    Learned privately, hence public. `spread` is about the standard deviation of these shares.
    """

    centre: NDArray[np.float64]
    half_width: NDArray[np.float64]
    spread: NDArray[np.float64]

    def zero_to_one(self, columns: Columns) -> NDArray[np.bool_]:
        """Say which numbers without bounds seem to be 0 and 1, as yes and no are often written."""
        return columns.without_bounds & (self.centre == 0.5) & (self.half_width == 0.5)

    def signs(self, columns: Columns) -> NDArray[np.bool_]:
        """Say of which nothing but zeros was seen: what is known of them is their sign."""
        return columns.without_bounds & (self.centre == 0.0) & (self.half_width < NO_SIZE)

    def shares(
        self, values: NDArray[np.floating[Any]], columns: Columns, sought: NDArray[np.bool_] | None = None
    ) -> NDArray[np.float64]:
        """Return everyone's entries as shares in [0, 1], NaN where missing; shape (n, m).

        Those of the columns that are `sought`, or of all; the others are not worked out, and hold anything.
        """
        m = int(values.shape[1])
        number = np.zeros(m, dtype=np.bool_)
        number[columns.numbers] = True
        share = np.empty((m, len(values)))
        places: NDArray[np.intp] = np.flatnonzero(np.ones(m) if sought is None else sought)
        for at in np.array_split(places, max(1, places.size * len(values) // _TOGETHER)):
            x = values.T[at].astype(np.float64)
            centre, half_width = self.centre[at, None], self.half_width[at, None]
            numbers = np.clip(0.5 + (x - centre) / half_width / 2, 0.0, 1.0)
            share[at] = np.where(number[at, None], numbers, np.where(np.isnan(x), np.nan, x >= 0.5))
        return share.T


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What a person's row is made of: centre and scale of each column, which ones are answers. Public.

    A number adds (share - centre) * scale, clipped to [-most, most], and 0 where it is missing. An answer
    adds scale or 0, and centre * scale where it is missing: rows of answers have no negative entries, so that
    two of them are less far apart. An answer that is `centred` adds centre * scale less than that. An answer
    that most people give is turned around, as `turned` says, and `centre` with it. All in steps of 1/FINE,
    toward zero: a function of that person's entries and of public numbers. `less` is taken off whatever is
    not missing, in whole steps: 0 but for rows around the own centre of a group.
    """

    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    most: float
    answers: NDArray[np.bool_]
    turned: NDArray[np.bool_]
    centred: NDArray[np.bool_]
    less: NDArray[np.float64] | float = 0.0

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which columns have no negative entries: answers that are not centred."""
        return self.answers & ~self.centred

    @property
    def shift(self) -> NDArray[np.float64]:
        """What an entry is on average, in steps: the centre of answers that are not centred already."""
        return np.where(self.centred, 0.0, self.middle)

    @property
    def middle(self) -> NDArray[np.float64]:
        """The centre of answers, in steps."""
        return np.where(self.answers, np.trunc(self.centre * self.scale * FINE), 0.0)

    @property
    def sign(self) -> NDArray[np.float64]:
        """-1 for columns that were turned around."""
        return np.where(self.turned, -1.0, 1.0)

    def whole(self, share: NDArray[np.float64]) -> NDArray[np.int16]:
        """Return the rows of some people as whole numbers; shape (n, m)."""
        end = self.most * FINE
        entry = np.where(self.turned, 1 - share, share) - np.where(self.answers, 0.0, self.centre)
        steps = np.trunc(np.clip(entry * (self.scale * FINE), -end, end))
        whole = np.where(np.isnan(steps), self.middle, steps - self.less)
        return (whole - np.where(self.centred, self.middle, 0.0)).astype(np.int16)

    def rules(self, scaling: Scaling, columns: Columns) -> NDArray[np.float64]:
        """Return how the entries of each column become whole numbers, as the kernel asks for; shape (m, 7).

        Whether it is an answer; the centre, factor and offset of numbers, (x - centre) * factor + offset;
        what no and yes are, or the least and the largest number; what a missing entry is.
        """
        m = self.scale.size
        number = np.zeros(m, dtype=np.bool_)
        number[columns.numbers] = True
        step = self.scale * FINE
        factor = np.where(number, step / scaling.half_width / 2, 0.0)
        offset = np.where(number, (0.5 - self.centre) * step - self.less, 0.0)
        low, high, missing = self.whole(np.repeat([[0.0], [1.0], [np.nan]], m, axis=1)).astype(np.float64)
        table = [~number, np.where(number, scaling.centre, 0.0), factor, offset, low, high, missing]
        return np.ascontiguousarray(np.array(table, dtype=np.float64).T)

    def moved_by(self, mean: NDArray[np.float64]) -> Rows:
        """Return the rows around other centres: those that are now at `mean`, in deviations."""
        return replace(self, centre=np.clip(self.centre + mean / self.scale, 0.0, 1.0))

    def only(self, active: NDArray[np.bool_]) -> Rows:
        """Return the rows of some columns."""
        parts = (self.answers[active], self.turned[active], self.centred[active])
        less = np.broadcast_to(self.less, self.scale.shape)[active]
        return Rows(self.centre[active], self.scale[active], self.most, *parts, less)


def can_be_cut(columns: Columns, scaling: Scaling, rows: Rows) -> NDArray[np.bool_]:
    """Say in which columns numbers may lie beyond what rows let through: not zeros and ones, or signs."""
    let = 2 * scaling.half_width * np.minimum(rows.most / rows.scale, 1.0)
    middle = scaling.centre + (2 * rows.centre - 1) * scaling.half_width
    low = np.maximum(middle - let, scaling.centre - scaling.half_width)
    high = np.minimum(middle + let, scaling.centre + scaling.half_width)
    beyond = columns.without_bounds & ~scaling.zero_to_one(columns) & ~scaling.signs(columns)
    at = columns.bounded
    beyond[at] = (low[at] > columns.low) | (high[at] < columns.high)
    return beyond


def beyond(rules: NDArray[np.float64], cut: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return rules by which an entry becomes 1 or -1 where it is cut, and 0 elsewhere."""
    rules = rules.copy()
    middle, half = (rules[:, 4] + rules[:, 5]) / 2, np.maximum((rules[:, 5] - rules[:, 4]) / 2, 1.0)
    rules[:, 0] = 0.0
    rules[:, 2] = np.where(cut, rules[:, 2] / half, 0.0)
    rules[:, 3] = np.where(cut, (rules[:, 3] - middle) / half, 0.0)
    rules[:, 4], rules[:, 5] = -1.0, 1.0
    return rules


def around_centres(scaling: Scaling, rows: Rows, columns: Columns) -> tuple[Scaling, Rows]:
    """Move the ranges of numbers without bounds to where their centres now are.

    What lies far out is drawn in as far on both sides then: where the groups have the same centre but not the
    same spread, they keep the same mean. Zeros and ones, and signs, stay where they are.
    """
    still = scaling.zero_to_one(columns) | scaling.signs(columns)
    free = columns.free[~still[columns.free]]
    centre, middle = scaling.centre.copy(), rows.centre.copy()
    moved = centre[free] + (middle[free] - 0.5) * 2 * scaling.half_width[free]
    centre[free], middle[free] = np.clip(moved, -FARTHEST, FARTHEST), 0.5
    return replace(scaling, centre=centre), replace(rows, centre=middle)


@dataclass(frozen=True, slots=True)
class Box:
    """The set that one part of a row comes from.

    Attributes
    ----------
    diameter : float
        Any two rows are at most this far apart.
    shrunk_diameter : float
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

    diameter: float
    shrunk_diameter: float
    radius: float
    squares: float
    entry: float
    columns: int


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
        diameter, shrunk_diameter, radius, squares = (math.sqrt(float(squared)) * _UP for squared in total)
        entry = float(np.max(longest[part], initial=1.0)) * _UP
        return Box(diameter, shrunk_diameter, radius, squares, entry, int(np.count_nonzero(part)))

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
