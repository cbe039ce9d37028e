"""The records that travel from data to evidence: some people's rows, or everyone's packed genotypes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

UNEVEN = "the columns of the table differ in length: a file of it is damaged"
TILE = 2**16  # values handled at a time: small enough for the processor's cache
WIDE = 4  # columns of a table that are handled together


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block:
    """Some people, one row each. Private: its printed form says nothing.

    Attributes
    ----------
    columns : sequence of m arrays of float32 or float64, shape (rows,) each; or an array, shape (rows, m)
        The measurements; NaN marks a missing one.
    labels : mapping from column name to array, shape (rows,)
        The columns a test names beside the measurements: groups, strata, a partner.
    people : array, shape (rows,), optional
        One identifier for each row, when the table has them.
    first : int
        The slot of the first row: how many rows of the table come before it.
    """

    columns: NDArray[np.floating[Any]] | Sequence[NDArray[np.floating[Any]]]
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict[str, "NDArray[Any]"])
    people: NDArray[Any] | None = None
    first: int = 0

    def __post_init__(self) -> None:
        beside = [*self.labels.values(), *([] if self.people is None else [self.people])]
        if any(len(column) != self.rows for column in beside):
            raise InputError(UNEVEN)

    @property
    def values(self) -> NDArray[np.floating[Any]]:
        """All measurements as one array, shape (rows, m)."""
        if isinstance(self.columns, np.ndarray):
            return self.columns
        columns = list(self.columns)
        if any(column.shape != columns[0].shape for column in columns):
            raise InputError(UNEVEN)
        return np.stack(columns, dtype=np.result_type(*columns)).T

    @property
    def rows(self) -> int:
        """How many people."""
        return len(self.columns if isinstance(self.columns, np.ndarray) else self.columns[0])

    def tiles(self) -> Iterator[tuple[slice, slice, NDArray[np.floating[Any]]]]:
        """Yield which rows, which columns, and a copy of their values, in pieces that fit the cache.

        The copy lives until the next piece and may be overwritten: memory is asked for once. Columns are
        asked for one after the other, and let go: they may be read from a file meanwhile.
        """
        if isinstance(self.columns, np.ndarray):
            # An array is cut into bands of whole rows, which lie together in memory.
            width = max(1, self.columns.shape[1])
            high = max(1, TILE // width)
            copy = np.empty((min(high, self.rows), self.columns.shape[1]), dtype=self.columns.dtype)
            for top in range(0, self.rows, high):
                band = self.columns[top : top + high]
                copy[: len(band)] = band
                yield slice(top, top + high), slice(0, width), copy[: len(band)]
            return
        few: list[NDArray[np.floating[Any]]] = []
        left, rows = 0, self.rows
        for column in self.columns:
            if column.shape != (rows,):
                raise InputError(UNEVEN)
            # A piece has one precision, that of its columns: their rounding depends on nothing else.
            if few and (len(few) == WIDE or column.dtype != few[0].dtype):
                yield from _pieces(few, left)
                left, few = left + len(few), []
            few.append(column)
        if few:
            yield from _pieces(few, left)

    def __repr__(self) -> str:
        return "Block(private)"


class Names(Sequence[str]):
    """Names of hypotheses that are made only when asked for: a million of them cost nothing."""

    __slots__ = ()

    def at(self, places: Sequence[int]) -> tuple[str, ...]:
        """Return the names at these places."""
        return tuple(map(self.__getitem__, places))


class Genotyped(Protocol):
    """Everyone's genotypes, packed two bits each, to be counted where they lie. Private."""

    @property
    def rows(self) -> int:
        """How many people."""
        ...

    @property
    def labels(self) -> Mapping[str, NDArray[Any]]:
        """The columns a test names beside the genotypes, shape (rows,) each."""
        ...

    def count(self, cells: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return how many in each cell, (cells, rows), carry 0, 1, 2 alleles or no call, (cells, 4, m)."""
        ...

    def multiply(
        self, weight: NDArray[np.float32], also: NDArray[np.float32], lost: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return exact sums of weight * dose, (k, m), and of weight and `also` over missing calls, (k+j, m).

        Weights are whole numbers up to 1024, (k, rows) and (j, rows); `lost` says which variants, (m,), miss
        calls: the second sums are 0 for the others.
        """
        ...


def _pieces(
    few: Sequence[NDArray[np.floating[Any]]], left: int
) -> Iterator[tuple[slice, slice, NDArray[np.floating[Any]]]]:
    rows = few[0].size
    high = max(1, -(-rows // max(1, -(-rows * WIDE // TILE))))  # pieces of nearly equal height
    copy = np.empty((len(few), high), dtype=few[0].dtype)
    for top in range(0, rows, high):
        end = min(top + high, rows)
        for place, column in enumerate(few):
            copy[place, : end - top] = column[top:end]
        yield slice(top, end), slice(left, left + len(few)), copy[:, : end - top].T
