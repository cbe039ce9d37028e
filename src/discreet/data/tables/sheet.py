"""Worksheets of Excel, cell by cell: a column has no type, so each cell is read as an entry of CSV is.

A cell holds a number, yes/no, text, a date or nothing, whatever the other cells of its column hold. Proof:
docs/proofs/reading.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.tables.arrays import rows_at_a_time
from discreet.data.tables.column import Column, declare
from discreet.data.tables.columns import unique
from discreet.data.tables.csv_file import MISSING
from discreet.data.tables.csv_refusals import nor_in
from discreet.errors import InputError, missing_extra, perhaps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.typing import RawArray

_MISSING = frozenset(MISSING)
_ANSWERS = {"true": 1.0, "false": 0.0}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII)
_SHOWN = 6  # worksheets in a message
_UNPACKED = 2**32  # bytes: a packed file can unfold to any size
_SPARSE = 2**24  # cells that a sheet may span beyond eight for each that it holds
_CELL = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"')


@dataclass(frozen=True, slots=True, eq=False)
class SheetSource:
    """One worksheet whose first row names the columns."""

    path: Path
    names: tuple[str, ...]
    rows: list[list[Any]]
    text: frozenset[str] = frozenset()
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "Sequence[str]"])
    where: str = "the table"
    """What is read, in words: one of several worksheets, perhaps."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        return tuple(Column(name, "float", typed=False) for name in self.names)

    def reading(
        self, text: frozenset[str], missing: Mapping[str, Sequence[str]] | None = None
    ) -> SheetSource:
        """Return the same, these columns read as text, and these words of others as missing."""
        return replace(self, text=text, missing=missing or {})

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, RawArray]]:
        """Yield the wanted columns in batches of rows: floats, or objects for text."""
        places = {name: self.names.index(name) for name in wanted}
        width, batch_rows = len(self.names), rows_at_a_time(len(wanted))
        for first in range(0, len(self.rows), batch_rows):
            part = self.rows[first : first + batch_rows]
            for place, row in enumerate(part, first + 2):
                if any(_is_filled(cell) for cell in row[width:]):
                    raise InputError(f"{self.path}: row {place:,}: an entry beyond the last named column")
                if not any(map(_is_filled, row)):
                    raise InputError(f"{self.path}: row {place:,} is empty: remove it if it is nobody's")
            batch: dict[str, RawArray] = {}
            wrong: dict[str, int] = {}  # rows of the first cells that hold no number
            for name, at in places.items():
                if name in self.text:
                    batch[name] = self._objects(part, at)
                    continue
                numbers, row = self._numbers(part, at, name)
                batch[name] = numbers
                if row is not None:
                    wrong[name] = first + row + 2
            if wrong:
                raise self._not_numbers(wrong)
            yield batch

    def _numbers(self, rows: list[list[Any]], at: int, name: str) -> tuple[NDArray[np.float64], int | None]:
        """Return the numbers of a column, and the first row without one, if there is such a row."""
        result, words = np.empty(len(rows)), self.missing.get(name, ())
        for place, row in enumerate(rows):
            cell = row[at]
            number = np.nan if isinstance(cell, str) and cell.strip(" \t") in words else number_in(cell)
            if number is None:
                return result, place
            result[place] = number
        return result, None

    def _not_numbers(self, wrong: Mapping[str, int]) -> InputError:
        """Return the error that names columns that are not numbers, a row of the first, and what to do."""
        name, *more = wrong
        return InputError(
            f"{self.path}: column {name!r}, row {wrong[name]:,}: not a number{nor_in(more)}. A worksheet "
            "declares no types: what is tested without levels must be numbers, or missing (empty, NA, NaN, "
            "n/a, an error). If the cell stands for a missing one, say so: --missing WORD; "
            f"{declare(name)}"
        )

    @staticmethod
    def _objects(rows: list[list[Any]], at: int) -> RawArray:
        result = np.empty(len(rows), dtype=object)
        result[:] = [None if isinstance(row[at], str) and row[at] in _MISSING else row[at] for row in rows]
        return result


def number_in(cell: object) -> float | None:
    """Return the number in a cell, NaN where missing; None if it holds no number."""
    if isinstance(cell, (bool, int, float)):
        return float(cell)
    if not isinstance(cell, str):
        return None  # a date
    word = cell.strip(" \t")
    if cell in _MISSING or word in _MISSING:
        return np.nan
    if word.lower() in _ANSWERS:
        return _ANSWERS[word.lower()]
    return float(word) if _NUMBER.fullmatch(word) else None


def open_sheet(path: Path, sheet: str | None) -> SheetSource:
    """Return the source of a worksheet, the first if none is named."""
    try:
        calamine: Any = import_module("python_calamine")
    except ImportError:
        raise missing_extra("files", "Reading Excel files") from None
    _check_size(path)
    try:
        with calamine.CalamineWorkbook.from_path(str(path)) as book:
            names: list[str] = book.sheet_names
            if sheet is None or sheet in names:
                rows = book.get_sheet_by_name(names[0] if sheet is None else sheet).to_python(
                    skip_empty_area=False
                )
                first = sheet is None and len(names) > 1
                return replace(_source(path, rows), where=_first_of(names) if first else "the table")
    except InputError:
        raise
    except BaseException as error:
        # A reader in Rust may panic, which is no ordinary exception.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise _damaged(path) from None
        raise
    raise InputError(f"{path}: no worksheet {sheet!r}{perhaps(sheet, names)}")


def _first_of(names: Sequence[str]) -> str:
    """Return in words that the first worksheet is read, and which others there are; names are public."""
    others = ", ".join(map(repr, names[1:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
    return f"the first worksheet, {names[0]!r} (others are chosen by --sheet: {others}),"


def _source(path: Path, rows: list[list[Any]]) -> SheetSource:
    """Return the source of all rows of a worksheet."""
    head = rows[0] if rows else []
    width = max((place for place, cell in enumerate(head, 1) if _is_filled(cell)), default=0)
    if not width:
        raise InputError(f"{path}: the first row of the worksheet is empty: it must name the columns")
    return SheetSource(path, unique(_named(cell) for cell in head[:width]), rows[1:])


def _named(cell: object) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _is_filled(cell: object) -> bool:
    return cell is not None and cell != ""


def _check_size(path: Path) -> None:
    """Refuse what would unfold to more than memory holds: packed bytes, or a cell far from all others."""
    try:
        with zipfile.ZipFile(path) as packed:
            parts = packed.infolist()
            sheets = [part for part in parts if re.fullmatch(r"xl/worksheets/.*\.xml", part.filename)]
            large = sum(part.file_size for part in parts) > _UNPACKED
            sparse = not large and any(_is_sparse(packed, part) for part in sheets)
    except Exception:  # noqa: BLE001 - zip files fail in many ways
        raise _damaged(path) from None
    if large:
        raise InputError(f"{path}: the worksheets are too large: save them as CSV or Parquet")
    if sparse:
        raise InputError(f"{path}: a cell of a worksheet lies far from all others: remove it, or save as CSV")


def _is_sparse(packed: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Say whether a sheet spans far more cells than it holds: a reader would make room for all."""
    cells, width, height, rest = 0, 0, 0, b""
    with packed.open(part) as file:
        while text := file.read(2**22):
            references = _CELL.findall(rest + text)
            rest = text[-24:]
            if references:
                cells += len(references)
                columns, rows = {column for column, _ in references}, [int(row) for _, row in references]
                width, height = max(width, *map(_place, columns)), max(height, *rows)
    return width * height > 8 * cells + _SPARSE


def _place(column: bytes) -> int:
    """Return the place of a column by its letters: A is 1, AA is 27."""
    place = 0
    for letter in column:
        place = 26 * place + letter - 64
    return place


def _damaged(path: Path) -> InputError:
    return InputError(f"{path}: not an Excel workbook, or damaged, truncated or protected by a password")
