"""Exact sums of everyone's whole numbers, some people at a time. Private until noise is added."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.block import processors
from discreet.methods.all.reading import PARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

_Result = TypeVar("_Result")
_SHARED = 2**22  # entries that are worth a thread
_TILE = 2**18  # entries worked on at a time: they stay in the processor's cache


def tiles(rows: int, columns: int) -> Iterator[slice]:
    """Give everyone's places, some at a time."""
    height = max(1, _TILE // max(1, columns))
    for top in range(0, rows, height):
        yield slice(top, top + height)


def shared(rows: int, columns: int, work: Callable[[int, int], _Result]) -> list[_Result]:
    """Call `work` for everyone, some people in each thread, and return the results in order.

    How many threads there are is public: it follows from the size of the table and from the machine.
    """
    threads = max(1, min(processors(), rows * columns // _SHARED))
    ends = [rows * part // threads for part in range(threads + 1)]

    def quiet(first: int, last: int) -> _Result:
        with np.errstate(all="ignore"):  # a warning would speak of the data; each thread has its own state
            return work(first, last)

    if threads == 1:
        return [quiet(0, rows)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(quiet, ends[:-1], ends[1:]))


def by_column(values: NDArray[Any]) -> NDArray[Any]:
    """Return a table with the entries of a column side by side, shape (columns, n); often without a copy."""
    return np.ascontiguousarray(values.T)


def some_rows(values: NDArray[Any], chosen: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the rows of some people, the entries of a column side by side; shape (chosen, columns)."""
    places = np.flatnonzero(chosen)
    some = np.empty((values.shape[1], places.size), dtype=values.dtype)
    columns = values.T

    def work(first: int, last: int) -> None:
        for column in range(first, last):
            np.take(columns[column], places, out=some[column], mode="clip")

    shared(values.shape[1], places.size, work)
    return some.T


def add(total: NDArray[np.int64], whole: NDArray[np.float64], group: NDArray[np.int8]) -> None:
    """Add some people's whole numbers to the sums over all of them, and over the second group."""
    for place, among in enumerate((group >= 0, group == 1)):
        total[place] += exact(among.astype(np.float64) @ whole)


def exact(total: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return sums of whole numbers, below 2**53 for one tile, as such."""
    return total.astype(np.int64)


def contrast(total: NDArray[np.int64], share: ArrayLike) -> NDArray[np.int64]:
    """Return sum (y - f) v in parts, from the sums over everyone and over the second group."""
    return PARTS * total[1] - np.rint(np.multiply(share, PARTS)).astype(np.int64) * total[0]
