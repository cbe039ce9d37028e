"""One view of every table: named columns of a few kinds, handed out in batches of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

KINDS = ("bool", "int", "float", "object", "text", "other")
CELLS = 2**23  # values read at a time: tens of megabytes, whatever the number of people


@dataclass(frozen=True, slots=True)
class Column:
    """A column's public face: its unique name, its kind, and whether that kind is declared.

    It is not where a single value could change it, as a missing one makes floats of whole numbers in pandas.
    """

    name: str
    kind: str
    declared: bool = True


class Source(Protocol):
    """A table that can be read, possibly more than once."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, with unique names."""
        ...

    def batches(self, wanted: Sequence[str]) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Yield batches of rows: floats with NaN, or objects with None, where missing."""
        ...


def unique(names: Iterable[Any]) -> tuple[str, ...]:
    """Return names as text, a repeated one followed by (2), (3), ..."""
    seen: set[str] = set()
    result: list[str] = []
    for raw in names:
        base = name = str(raw)
        count = 1
        while name in seen:
            count += 1
            name = f"{base} ({count})"
        seen.add(name)
        result.append(name)
    return tuple(result)


def is_missing(entry: Any) -> bool:
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArraySource:
    """A NumPy array (n, m); columns are called "0", "1", ..., or by the field names of a structured array."""

    table: NDArray[Any]

    def __post_init__(self) -> None:
        if self.table.dtype.names is None and (self.table.ndim != 2 or self.table.dtype.kind not in "biuf"):
            raise InputError(
                "an array must be two-dimensional, people by columns, and hold numbers; "
                f"got shape {self.table.shape} of {self.table.dtype}"
            )

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        kinds = {"b": "bool", "i": "int", "u": "int", "f": "float"}
        if self.table.dtype.names is None:
            dtypes = [(str(i), self.table.dtype) for i in range(self.table.shape[1])]
        else:
            dtypes = [(name, self.table.dtype[name]) for name in self.table.dtype.names]
        return tuple(
            Column(name, kinds.get(kind.kind, "text" if kind.kind in "UO" else "other"))
            for name, kind in dtypes
        )

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the wanted columns in batches of rows."""
        structured = self.table.dtype.names is not None
        for first in range(0, self.table.shape[0], rows_at_a_time(len(wanted))):
            part = self.table[first : first + rows_at_a_time(len(wanted))]
            yield {name: floats(part[name] if structured else part[:, int(name)]) for name in wanted}


def floats(column: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as floats that hold each of them; other values as they are."""
    if column.dtype.char not in "?bBhHiIlLqQeg":  # neither whole numbers nor rare floats
        return column
    return column.astype(np.float32 if column.dtype.itemsize < 4 else np.float64)
