"""Entries of NumPy arrays, and what all tables share: what is missing, how many rows are read at a time.

What becomes of an array's entry depends on it and on the declared type alone; docs/proofs/sources.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.tables.column import Column
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.typing import ArrowLike, RawArray

CELLS = 2**23  # values read at a time: tens of megabytes, whatever the number of people
_POLARS_ENUM = b"_PL_ENUM_VALUES2"


def is_missing(entry: object) -> bool:
    """Say whether an entry stands for nothing: None, NaN, NaT or pandas' NA."""
    if entry is None:
        return True
    try:
        return bool(entry != entry)  # noqa: PLR0124 - only NaN differs from itself
    except (TypeError, ValueError):
        return True


def rows_at_a_time(width: int) -> int:
    """Return how many rows make a batch of a table this wide."""
    return max(1024, CELLS // max(1, width))


def enum_levels(field: ArrowLike) -> tuple[str, ...] | None:
    """Return the levels of an Enum that polars wrote into Arrow's schema, each after its length."""
    metadata: dict[bytes, bytes] = field.metadata or {}
    if _POLARS_ENUM not in metadata:
        return None
    written = metadata[_POLARS_ENUM]
    levels: list[str] = []
    while written:
        size, _, rest = written.partition(b";")
        if not size.isdigit() or int(size) > len(rest):
            return None
        levels.append(rest[: int(size)].decode(errors="replace"))
        written = rest[int(size) :]
    return tuple(levels)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArraySource:
    """A NumPy array (n, m); columns are called "0", "1", ..., or by the field names of a structured array.

    What is masked is missing. Text and objects are for structured arrays, whose fields have types of their
    own.
    """

    table: RawArray

    def __post_init__(self) -> None:
        table, plain = self.table, self.table.dtype.names is None
        if table.ndim != (2 if plain else 1) or (plain and kind_of(table.dtype) not in _NUMBERS):
            raise InputError(
                "an array must be two-dimensional, people by columns, and hold numbers, or structured and "
                f"one-dimensional; got shape {table.shape} of {table.dtype}"
            )

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        return tuple(Column(name, kind_of(dtype)) for name, dtype in self._types().items())

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, RawArray]]:
        """Yield the wanted columns in batches of rows."""
        types = self._types()
        for name in wanted:
            if kind_of(types[name]) == "other":
                raise InputError(f"column {name!r} is of {types[name]}: neither numbers nor text")
        table = self.table if isinstance(self.table, np.ma.MaskedArray) else np.asarray(self.table)
        for first in range(0, table.shape[0], rows_at_a_time(len(wanted))):
            part = table[first : first + rows_at_a_time(len(wanted))]
            yield {
                name: entries(part[name] if table.dtype.names else part[:, int(name)], types[name])
                for name in wanted
            }

    def _types(self) -> dict[str, np.dtype[Any]]:
        """Return the declared type of each column."""
        dtype = self.table.dtype
        if dtype.names is None:
            return dict.fromkeys(map(str, range(self.table.shape[1])), dtype)
        return {name: dtype[name] for name in dtype.names}


_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "text", "T": "text", "O": "text"}
_NUMBERS = ("bool", "int", "float")


def kind_of(dtype: np.dtype[Any]) -> str:
    """Return the kind of a column of a NumPy array."""
    return _KINDS.get(dtype.kind, "other")


def entries(column: RawArray, declared: np.dtype[Any]) -> RawArray:
    """Return a column's entries: floats with NaN, or objects with None, where missing or masked.

    The type of the result follows from the declared type alone: single precision where that holds every such
    number, else double. Each entry is read by itself.
    """
    mask: Any = np.ma.getmask(column)
    if kind_of(declared) in _NUMBERS:
        own = np.float32 if np.can_cast(declared, np.float32) else np.float64
        if mask is np.ma.nomask:
            return np.asarray(column).astype(own, copy=False)
        floats = np.asarray(column).astype(own)
        floats[mask] = np.nan
        return floats
    objects = np.asarray(column).astype(object)
    objects[mask | np.array([is_missing(entry) for entry in objects.tolist()], dtype=bool)] = None
    return objects
