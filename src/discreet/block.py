"""What travels from data to evidence: some people's rows, and what an entry of a label column is taken for.

Each label is read by itself. How a whole column arrives, as floats, as text, as objects, may depend on one
person's entry, so nothing here may depend on that. Text is kept as Python's own: an array of fixed width
would cost everyone the length of the longest entry, and drop null characters. Proof: docs/proofs/reading.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from discreet.typing import RawArray

UNEVEN = "the columns of the table differ in length: a file of it is damaged"
TILE = 2**16  # values handled at a time: small enough for the processor's cache
WIDE = 4  # columns of a table that are handled together

_WHOLE: tuple[type, ...] = (int, np.integer, np.bool_)
_SCALAR: tuple[type, ...] = (np.generic,)
_FLOAT: tuple[type, ...] = (np.floating,)
_COMPLEX: tuple[type, ...] = (complex, np.complexfloating)
_ANSWERS = {"true": 1.0, "false": 0.0}
_REMEMBERED = 2**12  # texts of one column whose position is looked up again, not found again


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

    columns: NDArray[np.floating] | Sequence[NDArray[np.floating]]
    labels: Mapping[str, RawArray] = field(default_factory=dict[str, "RawArray"])
    people: RawArray | None = None
    first: int = 0

    def __post_init__(self) -> None:
        beside = [*self.labels.values(), *([] if self.people is None else [self.people])]
        if any(len(column) != self.rows for column in beside):
            raise InputError(UNEVEN)

    @property
    def values(self) -> NDArray[np.floating]:
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

    def tiles(self) -> Iterator[tuple[slice, slice, NDArray[np.floating]]]:
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
        few: list[NDArray[np.floating]] = []
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
    def labels(self) -> Mapping[str, RawArray]:
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
    few: Sequence[NDArray[np.floating]], left: int
) -> Iterator[tuple[slice, slice, NDArray[np.floating]]]:
    rows = few[0].size
    high = max(1, -(-rows // max(1, -(-rows * WIDE // TILE))))  # pieces of nearly equal height
    copy = np.empty((len(few), high), dtype=few[0].dtype)
    for top in range(0, rows, high):
        end = min(top + high, rows)
        for place, column in enumerate(few):
            copy[place, : end - top] = column[top:end]
        yield slice(top, end), slice(left, left + len(few)), copy[:, : end - top].T


def processors() -> int:
    """Return how many processors this process may use."""
    allowed: Any = getattr(os, "sched_getaffinity", None)  # Linux: a container may have fewer than there are
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def memory() -> float:
    """Return how many bytes of memory this process may use; infinite where the system does not say."""
    most = math.inf
    with suppress(AttributeError, OSError, ValueError):  # no such thing on Windows
        most = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # a container may have less, "max" if it has not
        most = min(most, float(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return most


def codes(label: NDArray[np.generic], levels: Sequence[object]) -> NDArray[np.intp]:
    """Return the position of each label among the public levels, -1 where it is none of them; shape (rows,).

    A level that is a number, or reads as one, is compared as a number: 1, 1.0, True, "1" and "true" are the
    same. All others are compared as text; so are all levels when two of them, as "1" and "01", would be one
    number.
    """
    wanted = [_number(level) for level in levels]
    known = [value for value in wanted if value == value]  # noqa: PLR0124 - only NaN differs from itself
    alike = len(set(known)) != len(known)
    by_number = {value: at for at, value in enumerate(wanted) if not alike and not np.isnan(value)}
    by_text = {_text(level): at for at, level in enumerate(levels) if alike or np.isnan(wanted[at])}
    if label.dtype.kind in "biuf" and not alike:
        values, place = numbers(label), np.full(label.shape, -1, dtype=np.intp)
        for value, at in by_number.items():
            place[values == value] = at
        return place

    seen: dict[str, int] = {}

    def position(entry: object) -> int:
        at = looked_up(entry)
        if type(entry) is str and len(seen) < _REMEMBERED:
            seen[entry] = at
        return at

    def looked_up(entry: object) -> int:
        entry = plain(entry)
        if entry is None or (isinstance(entry, float) and np.isnan(entry)):
            return -1
        at = by_number.get(_number(entry), -1) if by_number else -1
        return by_text.get(_text(entry), -1) if at < 0 and by_text else at

    # No call for a text that was seen before: this takes most of the time of a long table.
    places = [
        seen[entry] if type(entry) is str and entry in seen else position(entry) for entry in label.tolist()
    ]
    return np.array(places, dtype=np.intp)


def numbers(label: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return a label column as numbers, NaN where it holds none; shape (rows,)."""
    if label.dtype.kind in "biuf":
        return label.astype(np.float64)
    return np.array([_number(entry) for entry in label.tolist()], dtype=np.float64)


def as_read(label: NDArray[np.generic]) -> RawArray:
    """Return some people's labels as numbers if each of theirs reads as one or is missing, else as text."""
    values = numbers(label)
    if label.dtype.kind in "biuf":
        return values
    texts = [spelled(entry) for entry in label.tolist()]
    missing = np.array([text in ("", "nan") for text in texts], dtype=np.bool_)
    return values if np.all(~np.isnan(values) | missing) else np.array(texts, dtype=object)


def plain(entry: Any) -> Any:
    """Return a scalar of NumPy as Python's own, and a complex number that is real as a float.

    One complex entry makes a column of numbers complex, one long double makes long doubles of all.
    """
    if isinstance(entry, _COMPLEX):
        return entry if entry.imag else float(entry.real)
    if isinstance(entry, _FLOAT):
        return float(entry)
    return entry.item() if isinstance(entry, _SCALAR) else entry


def spelled(entry: Any) -> str:
    """Return an entry as text; yes is 1, a whole number has no point, and what is missing is empty."""
    entry = plain(entry)
    if isinstance(entry, bool):  # in a column of yes and no it is a number, and the column is not asked
        entry = int(entry)
    if isinstance(entry, float):
        entry = int(entry) if entry.is_integer() else None if entry != entry else entry  # noqa: PLR0124
    try:
        return "" if entry is None else str(entry)
    except ValueError:
        return f"{entry:#x}"  # a whole number of more digits than Python writes


def _text(entry: object) -> str:
    """Return an entry spelled; a whole number or a yes/no as the float it is in a column of its kind."""
    number = _number(entry) if isinstance(entry, _WHOLE) else np.nan
    return spelled(entry if np.isnan(number) else number)


def _number(entry: Any) -> float:
    try:
        return float(entry)
    except (TypeError, ValueError, OverflowError):
        return _ANSWERS.get(entry.strip().lower(), np.nan) if isinstance(entry, str) else np.nan
