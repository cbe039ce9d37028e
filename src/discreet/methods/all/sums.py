"""Exact sums over people, or over a sample of them, and the one place where noise is added.

Rows made whole, clipped and added up, and looks at columns before there are rows: how large numbers are,
where they lie, who has none. In C where it was built, else in NumPy (`in_numpy.py`), to the same bits: sums
are of whole numbers, so neither the number of threads nor the order of people changes one. Entries are at
most 2**14: the squares of 2**34 people, and contrasts of as many, stay below 2**63. Private until noise is
added.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from discreet.block import processors
from discreet.errors import InputError
from discreet.evidence.core.streamed import Streamed
from discreet.kernels import compiled
from discreet.methods.all import in_numpy
from discreet.methods.all.in_numpy import PARTS_OF_WINDOW, SIZES
from discreet.methods.all.record import Noisy
from discreet.methods.all.rows import FINE, PARTS
from discreet.noise import entropy
from discreet.noise.samplers import SIGMAS, rounded_gaussian

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.clipping import Balls
    from discreet.methods.all.rows import Columns, Rows, Scaling
    from discreet.typing import RawArray

    Entries = NDArray[np.floating[Any]]
    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

_Result = TypeVar("_Result")
LEARNERS = 2**16
"""More people than this teach the constants of rows little: a sample of about this size does."""
_SHARED = 2**22  # entries that are worth a thread
_TILE = 2**18  # entries worked on at a time: they stay in the processor's cache
_HUGE = 1e30  # a radius that clips nothing, and its square
_UP = 1 + 2.0**-40  # more than the rounding of a sensitivity and of a deviation


def _are_floats(table: RawArray) -> bool:
    """Say whether a table holds floats that the kernels read, of single or of double precision."""
    return table.dtype.isnative and table.dtype.char in "fd"


def check_noise(least: float, most: float) -> None:
    """Refuse, before anything is spent, deviations of noise that cannot be drawn."""
    if not SIGMAS[0] <= least <= most <= SIGMAS[1]:
        raise InputError(
            "epsilon and delta ask for more, or for less, noise than can be drawn: take epsilon nearer to 1"
        )


def with_noise(total: ArrayLike, sensitivity: float, rho: float, unit: float = 1.0) -> Noisy:
    """Return `total`, whole numbers of which one person moves the vector by `sensitivity`, with noise.

    Guarantee: Gaussian(sqrt(2 rho)), since the sum of a whole number and a rounded normal variable is the
    rounding of their sum (docs/proofs/samplers.md). `unit` says what one whole number stands for.
    """
    exact = np.asarray(total)
    deviation = max(sensitivity, 1.0) / math.sqrt(2 * rho) * _UP
    noise = rounded_gaussian(deviation, exact.size).reshape(exact.shape)
    return Noisy((exact.astype(np.int64) + noise).astype(np.float64) * unit, deviation * unit, unit)


def tiles(rows: int, columns: int, start: int = 0) -> Iterator[slice]:
    """Give the places from `start` to `rows`, some at a time."""
    height = max(1, _TILE // max(1, columns))
    for top in range(start, rows, height):
        yield slice(top, min(top + height, rows))


def shared(rows: int, columns: int, work: Callable[[int, int], _Result]) -> list[_Result]:
    """Call `work` for everyone, some people in each thread, and return the results in order.

    How many threads there are is public: it follows from the size of the table and from the machine. Warnings
    would speak of the data: there are none.
    """
    threads = max(1, min(processors(), rows * columns // _SHARED))
    if threads == 1:
        with np.errstate(all="ignore"):
            return [work(0, rows)]
    ends = [rows * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads, initializer=np.seterr, initargs=("ignore",)) as pool:
        return list(pool.map(work, ends[:-1], ends[1:]))


def by_column(values: RawArray) -> RawArray:
    """Return a table with the entries of a column side by side, shape (columns, n); often without a copy."""
    return np.ascontiguousarray(values.T)


def learners(rows: int, wanted: int | None = None) -> NDArray[np.bool_]:
    """Return the people that constants are learned from: all, or of very many a random sample.

    About as many as are `wanted`, LEARNERS if None.

    Each is drawn by itself, so that it does not matter in which order people come: where they have
    identifiers, somebody who is replaced may come first, and move all others by a place.
    """
    wanted = LEARNERS if wanted is None else wanted
    if rows <= wanted:
        return np.ones(rows, dtype=np.bool_)
    return entropy.words(rows, np.uint16) < 2**16 * wanted // rows


def with_sample(people: People) -> People:
    """Return the people; of entries in a file, which is read once whole, with the sample that teaches held.

    So that a file that cannot be read to its end is refused before anything is spent.
    """
    values: Any = people.values
    if not isinstance(values, Streamed):
        return people
    return replace(people, values=cast("Any", values.sampled(learners(people.rows))))


def sampled(values: Entries | Streamed) -> tuple[NDArray[np.bool_], RawArray]:
    """Return which people constants are learned from, and their rows."""
    if isinstance(values, Streamed):
        return values.chosen, values.some
    chosen = learners(len(values))
    return chosen, values if len(values) <= LEARNERS else some_rows(values, chosen)


def some_rows(values: RawArray, chosen: NDArray[np.bool_]) -> RawArray:
    """Return the rows of some people, the entries of a column side by side; shape (chosen, columns)."""
    places = np.flatnonzero(chosen)
    some = np.empty((values.shape[1], places.size), dtype=values.dtype)
    columns = values.T

    def work(first: int, last: int) -> None:
        for column in range(first, last):
            np.take(columns[column], places, out=some[column], mode="clip")

    shared(values.shape[1], places.size, work)
    return some.T


def contrast(total: NDArray[np.int64], share: ArrayLike) -> NDArray[np.int64]:
    """Return sum (y - f) v in parts, from the sums over everyone and over the second group."""
    return PARTS * total[1] - np.rint(np.multiply(share, PARTS)).astype(np.int64) * total[0]


def whole_numbers(values: Entries, scaling: Scaling, columns: Columns, rows: Rows) -> NDArray[np.int16]:
    """Return the rows of some people as whole numbers, before clipping; shape (n, m)."""
    rules = rows.rules(scaling, columns)
    n, m = values.shape
    whole = np.empty((m, n), dtype=np.int16)
    table = by_column(values)

    def work(first: int, last: int) -> None:
        if compiled is None or not values.size or not _are_floats(table):
            whole[:, first:last] = in_numpy.whole(table[:, first:last], rules)
        else:
            compiled.whole(table, table.itemsize, m, rules, first, last, whole)

    shared(n, m, work)
    return whole.T


def row_lengths(
    values: RawArray, rules: Floats | None = None, part: NDArray[np.bool_] | None = None
) -> Floats:
    """Return the length of each person's row of some columns, or of all; shape (n,).

    Entries are made whole as the rules say, shape (m, 7); without rules they are whole numbers already.
    """
    n, m = values.shape
    places = np.flatnonzero(np.ones(m) if part is None else part)
    rules = np.zeros((0, 7)) if rules is None else np.ascontiguousarray(rules[places])
    table, squared = by_column(values), np.zeros(n, dtype=np.int64)
    in_c = n and (_are_floats(table) if rules.size else table.dtype == np.int16)

    def work(first: int, last: int) -> None:
        if compiled is not None and in_c:
            kind = (table, table.itemsize, len(table), places.astype(np.int64))
            compiled.lengths(*kind, rules, first, last, squared)
            return
        for some in tiles(last, places.size, first):
            entries = table[places, some]
            rows = (in_numpy.whole(entries, rules) if rules.size else entries).T.astype(np.float64)
            squared[some] = np.einsum("ij,ij->i", rows, rows)

    if places.size:
        shared(n, places.size, work)
    return np.sqrt(squared)


@dataclass(slots=True, eq=False, repr=False)
class Totals:
    """Exact sums of clipped rows, squares and weights of both parts: over everyone, over the second group."""

    rows: NDArray[np.int64]
    squares: NDArray[np.int64]
    weights: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        values: RawArray | Streamed,
        group: NDArray[np.int8],
        balls: Balls,
        positive: NDArray[np.bool_],
        rules: Floats | None = None,
        active: NDArray[np.bool_] | None = None,
    ) -> Totals:
        """Clip everyone's rows of the columns that are `active`, or of all, and add them up.

        Entries are made whole first, as the rules of a person's group say, shape (2, m, 7); without rules
        they are whole numbers already.
        """
        if isinstance(values, Streamed):
            some = values if active is None else values.only(active)
            each = (cls.of(piece, group[who], balls, positive, rules) for who, piece in some.pieces())
            return reduce(Totals.merged, each)
        places = np.flatnonzero(np.ones(values.shape[1]) if active is None else active)
        n, m = len(values), places.size
        rules = np.zeros((2, 0, 7)) if rules is None else rules
        member, table = np.ascontiguousarray(group), by_column(values)
        signed, numbers = (~positive).astype(np.uint8), balls.numbers
        clips = not np.isinf(numbers[..., 1]).all()
        in_c = values.size and (_are_floats(table) if rules.size else table.dtype == np.int16)

        def work(first: int, last: int) -> tuple[NDArray[np.int64], ...]:
            sums = (np.zeros((2, m), np.int64), np.zeros((2, m), np.int64), np.zeros((2, 2), np.int64))
            if compiled is not None and in_c:
                finite, who = np.minimum(numbers, _HUGE), (first, last, member)
                kind = (table, table.itemsize, len(table), places.astype(np.int64), rules)
                compiled.add(*kind, *who, signed, finite, clips, float(FINE), *sums)
            else:
                for part in tiles(last, m, first):
                    in_numpy.add(table[places, part], rules, member[part], signed, numbers, float(FINE), sums)
            return sums

        return cls(*(np.sum(parts, axis=0) for parts in zip(*shared(n, m, work), strict=True)))

    def merged(self, other: Totals) -> Totals:
        """Return the sums over both."""
        return Totals(self.rows + other.rows, self.squares + other.squares, self.weights + other.weights)

    def __repr__(self) -> str:
        return "Totals(private)"


class Statistic(IntEnum):
    """What is asked of the numbers of a column, as the kernel calls it.

    SIZES: how many numbers there are of each size, in the order of numbers: negative ones, the largest first,
    zeros, positive ones. MEANS: sum (x - centre)/window, clipped to +-1, in steps of 2/FINE, and how many
    numbers there are. DISTANCES: sum |x - centre|/window, clipped to 1, in steps of 1/FINE. PLACES: how many
    numbers are in each part of centre +- window.
    """

    SIZES = 0
    MEANS = 1
    DISTANCES = 2
    PLACES = 3


_WIDTHS = (2 * SIZES + 2, 2, 1, PARTS_OF_WINDOW + 1)


def column_statistics(
    what: Statistic, values: Entries, places: Places, centre: Floats, window: Floats
) -> NDArray[np.int64]:
    """Return what is asked of the columns at `places`, one after the other along the last axis."""
    out = np.zeros((places.size, _WIDTHS[what]), dtype=np.int64)
    table, n = by_column(values), len(values)

    def work(first: int, last: int) -> None:
        if compiled is not None and _are_floats(table):
            about = (np.ascontiguousarray(centre), np.ascontiguousarray(window))
            at = places.astype(np.int64)
            compiled.look(table, table.itemsize, len(table), at, int(what), *about, first, last, out)
            return
        for k in range(first, last):
            x = table[places[k]].astype(np.float64)
            away = (x - centre[k]) / window[k]
            if what is Statistic.SIZES:
                out[k] = in_numpy.count_sizes(x)
            elif what is Statistic.MEANS:
                out[k] = in_numpy.sum_places(away, FINE)
            elif what is Statistic.DISTANCES:
                out[k] = in_numpy.sum_distances(away, FINE)
            else:
                out[k] = in_numpy.count_places(away)

    if places.size and n:
        shared(places.size, n, work)
    histogram = what in (Statistic.SIZES, Statistic.PLACES)  # the last bin has those who are not counted
    return out.T[:-1] if histogram else out.T


def sum_lacking(
    values: Entries | Streamed, first: Places, group: NDArray[np.int8], norm: float
) -> NDArray[np.int64]:
    """Return who has no entry in the columns `first`, over both groups and over the second; (2, columns).

    A person counts FINE in each, and less where more than norm^2 entries are missing: the vector of a
    person's missing entries is no longer than `norm`, in steps of 1/FINE.
    """
    if isinstance(values, Streamed):
        parts = [sum_lacking(piece, first, group[who], norm) for who, piece in values.pieces()]
        return np.sum(parts, axis=0)
    table, member = by_column(values), np.ascontiguousarray(group)
    in_c = values.size and _are_floats(table)

    def work(start: int, stop: int) -> NDArray[np.int64]:
        total = np.zeros((2, first.size), dtype=np.int64)
        if compiled is not None and in_c:
            at, who = first.astype(np.int64), (start, stop, member)
            compiled.lacking(table, table.itemsize, len(table), at, *who, norm, float(FINE), total)
            return total
        for part in tiles(stop, first.size, start):
            in_numpy.add_lacking(table[first, part], member[part], norm, float(FINE), total)
        return total

    return np.sum(shared(len(values), first.size, work), axis=0)
