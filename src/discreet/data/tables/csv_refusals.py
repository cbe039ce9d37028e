"""What is wrong with a CSV file, in words that name a line and a remedy, and no entry."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from discreet.data.source import SEPARATORS
from discreet.data.tables.column import declare
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discreet.data.tables.csv_file import CsvSource

_SHOWN, _OFFERED = 5, 8  # names in a message: of columns that are not numbers, and of those that are


def not_numbers_in(source: CsvSource, line: int, text: Sequence[str], numbers: Sequence[str]) -> InputError:
    """Return the error that names columns that are not numbers, a line of the first, and what to do."""
    name, *more = text
    options = " ".join(f"--columns {shlex.quote(number)}" for number in numbers)
    choice = f"; or test the others: {options}, in Python columns={list(numbers)!r}"
    choice = choice if 0 < len(numbers) <= _OFFERED else "; or name the columns to test"
    comma = "Are there decimal commas? Then --decimal ,. "
    return InputError(
        f"{source.path}: column {name!r}, line {line:,}: not a number{nor_in(more)}. "
        f"{comma if source.separator != ',' and source.decimal != ',' else ''}CSV declares no types: what is "
        f"tested without levels must be numbers, or missing (empty, NA, NaN, n/a). If the entry "
        f"stands for a missing one, say so: --missing WORD; else mend it, as marks between thousands, units "
        f"and % are no part of a number; {declare(name)}{choice}"
    )


def nor_in(more: Sequence[str]) -> str:
    """Return which other columns are not numbers either, in words."""
    also = f", nor in {', '.join(map(repr, more[:_SHOWN]))}" if more else ""
    return also + (f" and {len(more) - _SHOWN:,} more" if len(more) > _SHOWN else "")


def no_separator(path: Path) -> InputError:
    """Return the error that nobody said what separates the entries of a text file."""
    return InputError(
        f"{path}: say what separates the entries of a .txt file: --separator tab, or in Python "
        'discreet.Table(path, separator="tab")'
    )


def other_separator(path: Path, other: str, separator: str) -> InputError:
    """Return the error that the header seems to have another mark between its names."""
    mark = "tab" if other == "\t" else other
    return InputError(
        f"{path}: the header has {SEPARATORS[other]} where {SEPARATORS[separator]} are expected: .csv "
        "files are separated by commas, .tsv files by tabs, unless you say otherwise: --separator "
        f"{shlex.quote(mark)}, or in Python discreet.Table(path, separator={mark!r})"
    )


def no_utf8(path: Path) -> InputError:
    """Return the error that a file is no text as it should be."""
    return InputError(
        f"{path}: not UTF-8 text. If it was saved in another encoding, as spreadsheets on Windows often do, "
        "say in which: --encoding windows-1252, or in Python discreet.Table(path, "
        'encoding="windows-1252"); or save it as UTF-8'
    )


def utf16(path: Path) -> InputError:
    """Return the error that a file begins as UTF-16 does."""
    return InputError(f"{path}: UTF-16 text, which is not read: save it as UTF-8")


def both_marked(path: Path, encoding: str) -> InputError:
    """Return the error that a file is said to be what its first bytes deny."""
    return InputError(f"{path}: begins with the mark of UTF-8, and not as {encoding}: leave encoding out")


def no_csv(path: Path) -> InputError:
    """Return the error that a file has no lines of entries."""
    return InputError(f"{path}: not readable as CSV text, one line for each row")
