"""Looks at columns before rows are made: how large numbers are, where they lie, who has none.

Sums of whole numbers, each a function of one entry, or of one person's entries, and of public constants. In C
where it was built, else in NumPy, to the same bits. Private until noise is added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.kernels import compiled
from discreet.methods.all.reading import FINE
from discreet.methods.all.tiles import add, by_column, shared, tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = NDArray[np.floating[Any]]
    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

SMALLEST, SIZES = -30, 102
"""Sizes are told apart from 2**-30 on, by octaves."""
PARTS_OF_WINDOW = 16
_SIZES, _MEANS, _DISTANCES, _PLACES = range(4)  # as the kernel calls them
_WIDTHS = (2 * SIZES + 2, 2, 1, PARTS_OF_WINDOW + 1)


def count_sizes(values: Table, places: Places) -> NDArray[np.int64]:
    """Return how many numbers of each size the columns at `places` have; shape (2 SIZES + 1, columns).

    In the order of numbers: negative ones, the largest first, zeros, positive ones.
    """
    blank = np.zeros(places.size)
    return _look(values, places, _SIZES, blank, blank)[:-1]


def sum_places(values: Table, places: Places, centre: Floats, window: Floats) -> NDArray[np.int64]:
    """Return sum (x - centre)/window, clipped to +-1, in steps of 2/FINE, and how many numbers there are."""
    return _look(values, places, _MEANS, centre, window)


def sum_distances(values: Table, places: Places, centre: Floats, window: Floats) -> NDArray[np.int64]:
    """Return sum |x - centre|/window, clipped to 1, in steps of 1/FINE; shape (columns,)."""
    return _look(values, places, _DISTANCES, centre, window)[0]


def count_places(values: Table, places: Places, centre: Floats, window: Floats) -> NDArray[np.int64]:
    """Return how many numbers are in each part of centre +- window; shape (PARTS_OF_WINDOW, columns)."""
    return _look(values, places, _PLACES, centre, window)[:-1]


def _look(values: Table, places: Places, what: int, centre: Floats, window: Floats) -> NDArray[np.int64]:
    """Return what is asked of the columns, a column for each; whoever is not counted is in the last row."""
    out = np.zeros((places.size, _WIDTHS[what]), dtype=np.int64)
    if not places.size or not len(values):
        return out.T
    table = by_column(values)

    def work(first: int, last: int) -> None:
        if compiled is None or table.itemsize not in (4, 8):
            for k in range(first, last):
                x = table[places[k]].astype(np.float64)
                out[k] = _in_numpy(x, what, float(centre[k]), float(window[k]))
        else:
            about = (np.ascontiguousarray(centre), np.ascontiguousarray(window))
            at = places.astype(np.int64)
            compiled.look(table, table.itemsize, len(table), at, what, *about, first, last, out)

    shared(places.size, len(values), work)
    return out.T


def _in_numpy(x: Floats, what: int, centre: float, window: float) -> Any:
    """Return what is asked of one column."""
    known = ~np.isnan(x)
    if what == _SIZES:
        octave = np.frexp(np.minimum(np.abs(x), 2.0**80))[1]
        size = np.sign(np.nan_to_num(x)).astype(np.int64) * (1 + np.clip(octave - SMALLEST, 0, SIZES - 1))
        return np.bincount(np.where(known, SIZES + size, 2 * SIZES + 1), minlength=2 * SIZES + 2)
    away = (x - centre) / window
    if what == _PLACES:
        place = np.floor((away + 1) * (PARTS_OF_WINDOW / 2))
        inside = (place >= 0) & (place < PARTS_OF_WINDOW)
        where = np.where(inside, place, PARTS_OF_WINDOW).astype(np.int64)
        return np.bincount(where, minlength=PARTS_OF_WINDOW + 1)
    if what == _MEANS:
        share = np.where(known, np.clip(away, -1.0, 1.0), 0.0)
        return np.trunc(share * (FINE / 2)).sum(), np.count_nonzero(known)
    return np.trunc(np.where(known, np.minimum(np.abs(away), 1.0), 0.0) * FINE).sum()


def sum_lacking(values: Table, first: Places, group: NDArray[np.int8], norm: float) -> NDArray[np.int64]:
    """Return who has no entry in the columns `first`, over both groups and over the second; (2, columns).

    A person counts FINE in each, and less where more than norm^2 entries are missing: the vector of a
    person's missing entries is no longer than `norm`, in steps of 1/FINE.
    """
    table, member = by_column(values), np.ascontiguousarray(group)
    in_c = compiled is not None and values.size and table.itemsize in (4, 8)

    def work(start: int, stop: int) -> NDArray[np.int64]:
        total = np.zeros((2, first.size), dtype=np.int64)
        if compiled is not None and in_c:
            at, who = first.astype(np.int64), (start, stop, member)
            compiled.lacking(table, table.itemsize, len(table), at, *who, norm, float(FINE), total)
            return total
        for part in tiles(stop - start, first.size):
            some = slice(start + part.start, min(start + part.stop, stop))
            lacks = np.isnan(table[first, some]).T
            many = np.sqrt(np.maximum(lacks.sum(axis=1), norm * norm))
            add(total, np.trunc(FINE * norm / many)[:, None] * lacks, member[some])
        return total

    return np.sum(shared(len(values), first.size, work), axis=0)


def row_lengths(whole: NDArray[np.int16]) -> Floats:
    """Return the length of each person's whole numbers; shape (n,)."""
    if not whole.size:
        return np.zeros(len(whole))
    squared = np.zeros(len(whole), dtype=np.int64)
    if compiled is not None:
        compiled.lengths(by_column(whole), whole.shape[1], squared)
    else:
        for part in tiles(*whole.shape):
            rows = whole[part].astype(np.float64)
            squared[part] = np.einsum("ij,ij->i", rows, rows)
    return np.sqrt(squared)
