"""Entries that stay in their file: read again, some people at a time, whenever they are asked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from discreet.block import UNEVEN, processors
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from discreet.block import Block
    from discreet.typing import RawArray


class _OtherTypeError(Exception):
    """A column is of another type than the first one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Streamed:
    """Everyone's entries, of which those of one block of people are held at a time. Private.

    Attributes
    ----------
    blocks : tuple of Block
        Everyone, in order; a column is read from the file when it is asked for.
    ends : tuple of int
        Where each block begins, and the last ends.
    mask : array of float32, shape (n,), or None
        0 for each person, NaN for one who is to have no entries.
    places : array of int, shape (m,)
        The columns that are asked for.
    kind : dtype
        Of all entries.
    chosen, some : arrays, shape (n,) and (people, m)
        Which people were sampled, and their entries.
    """

    blocks: tuple[Block, ...]
    ends: tuple[int, ...]
    mask: NDArray[np.float32] | None
    places: NDArray[np.intp]
    kind: np.dtype[np.floating] = field(default_factory=lambda: np.dtype(np.float64))
    chosen: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    some: RawArray = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def of(cls, blocks: list[Block], mask: NDArray[np.float32] | None) -> Streamed:
        """Return the entries of these blocks."""
        ends = np.cumsum([0, *(block.rows for block in blocks)]).tolist()
        return cls(tuple(blocks), tuple(ends), mask, np.arange(len(blocks[0].columns)))

    @property
    def shape(self) -> tuple[int, int]:
        """How many people and columns."""
        return self.ends[-1], self.places.size

    def __len__(self) -> int:
        return self.ends[-1]

    def only(self, left: NDArray[np.bool_]) -> Streamed:
        """Return some of the columns."""
        return replace(self, places=self.places[left], some=self.some[:, left])

    def sampled(self, chosen: NDArray[np.bool_]) -> Streamed:
        """Return the same with the entries of some people held: the whole file is read, and checked, once."""
        kind = self.blocks[0].columns[0].dtype
        try:
            some = self._some(chosen, kind)
        except _OtherTypeError:
            kind = np.dtype(np.float64)
            some = self._some(chosen, kind)
        return replace(self, kind=kind, chosen=chosen, some=some)

    def _some(self, chosen: NDArray[np.bool_], kind: np.dtype[np.floating]) -> RawArray:
        """Return the entries of some people in one type, while every column is read; shape (people, m)."""
        before = np.concatenate([[0], np.cumsum(chosen)])[list(self.ends)].tolist()
        some = np.empty((self.places.size, before[-1]), dtype=kind)

        def read(block: Block, first: int, last: int, start: int, stop: int) -> None:
            taken = np.flatnonzero(chosen[first:last])
            for row, column in enumerate(self._columns(block, first, last, self.places)):
                some[row, start:stop] = _typed(column, kind)[taken]

        with ThreadPoolExecutor(processors(), initializer=np.seterr, initargs=("ignore",)) as pool:
            for _ in pool.map(read, self.blocks, self.ends[:-1], self.ends[1:], before[:-1], before[1:]):
                pass
        return some.T

    def pieces(self) -> Iterator[tuple[slice, RawArray]]:
        """Give everyone's entries, some people at a time: who, and a table that the next piece overwrites."""
        m, highest = self.places.size, max(np.diff(self.ends).tolist())
        buffer = np.empty(m * highest, dtype=self.kind)
        parts = np.array_split(np.arange(m), processors())
        with ThreadPoolExecutor(processors(), initializer=np.seterr, initargs=("ignore",)) as pool:
            for block, first, last in zip(self.blocks, self.ends[:-1], self.ends[1:], strict=True):
                table = buffer[: m * (last - first)].reshape(m, last - first)
                for _ in pool.map(partial(self._fill, block, first, last, table), parts):
                    pass
                yield slice(first, last), table.T

    def held(self) -> RawArray:
        """Return all entries at once, shape (n, m)."""
        streamed = self if self.chosen.size else self.sampled(np.zeros(len(self), dtype=np.bool_))
        table = np.empty(self.shape[::-1], dtype=streamed.kind)
        for who, piece in streamed.pieces():
            table[:, who] = piece.T
        return table.T

    def _fill(
        self, block: Block, first: int, last: int, table: NDArray[np.generic], part: NDArray[np.intp]
    ) -> None:
        for row, column in zip(part, self._columns(block, first, last, self.places[part]), strict=True):
            table[row] = _typed(column, self.kind)

    def _columns(self, block: Block, first: int, last: int, places: NDArray[np.intp]) -> Iterator[RawArray]:
        """Give some columns of a block; people in neither group have no entry."""
        columns: Any = copy(block.columns)  # it remembers the last one read: each thread has its own
        for place in places.tolist():
            column: RawArray = columns[place]
            if column.shape != (last - first,):
                raise InputError(UNEVEN)
            yield column if self.mask is None else column + self.mask[first:last]

    def __repr__(self) -> str:
        return "Streamed(private)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("people's entries are private and are not pickled")


def _typed(column: RawArray, kind: np.dtype[np.floating]) -> RawArray:
    """Return a column that this type can hold."""
    if kind not in (column.dtype, np.float64):
        raise _OtherTypeError
    return column
