"""CSV and TSV files (also gzip), which may be larger than memory, read in blocks with pyarrow."""

from __future__ import annotations

import csv
import shlex
from codecs import BOM_UTF8
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from discreet.data.tables.choose import declare
from discreet.data.tables.csv_text import MISSING, Header, blocks_of_lines, first_text, numbers_of, without
from discreet.data.tables.source import Column, arrow, unique
from discreet.data.tables.table import SEPARATORS
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.data.tables.csv_text import Lines
    from discreet.data.tables.table import Table

_BLOCK = 2**23  # bytes of CSV parsed at a time
_SHOWN, _OFFERED = 5, 8  # names in a message: of columns that are not numbers, and of those that are


@dataclass(frozen=True, slots=True, eq=False)
class CsvSource:
    """A CSV or TSV file with a header. It declares no types: what is not asked for as text must be numbers.

    So which columns there are, and of what kind, depends on the header alone, and an entry that is no number
    is refused, never a reason to read its column in another way. Proof: docs/proofs/reading.
    """

    path: Path
    names: tuple[str, ...]
    header: Header
    separator: str = ","
    decimal: str = "."
    text: frozenset[str] = frozenset()  # columns whose entries are groups, levels or people
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "Sequence[str]"])

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        return tuple(Column(name, "float") for name in self.names)

    def reading(self, text: frozenset[str], missing: Mapping[str, Sequence[str]] | None = None) -> CsvSource:
        """Return the same, these columns read as text, and these words of others as missing."""
        return replace(self, text=text, missing=missing or {})

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the wanted columns in blocks: floats, or objects for text."""
        for lines in blocks_of_lines(self.header, _BLOCK):
            lines.check(self.separator)
            table = self._parsed(lines, wanted)
            batch = {
                name: _objects(table[name]) if name in self.text else self._numbers(table[name], name)
                for name in wanted
            }
            not_numbers = [name for name, values in batch.items() if values is None]
            if not_numbers:
                numbers = [name for name in wanted if name not in (*not_numbers, *self.text)]
                entries = without(table[not_numbers[0]], self.missing.get(not_numbers[0], ()))
                line = lines.first + first_text(entries, self.decimal)
                raise _not_numbers(self, line, not_numbers, numbers)
            yield {name: values for name, values in batch.items() if values is not None}

    def _numbers(self, entries: Any, name: str) -> NDArray[Any] | None:
        return numbers_of(without(entries, self.missing.get(name, ())), self.decimal)

    def _parsed(self, lines: Lines, wanted: Sequence[str]) -> Any:
        """Return the entries of some lines as text, as many rows as there are lines."""
        text = arrow("pyarrow.csv")
        # Arrow skips a byte order mark where its text begins: here it would be part of somebody's entry.
        whole = BOM_UTF8 + lines.text if lines.text.startswith(BOM_UTF8) else lines.text
        try:
            table = text.read_csv(
                arrow().BufferReader(whole),
                read_options=text.ReadOptions(column_names=self.names, block_size=len(whole) + 1),
                parse_options=text.ParseOptions(
                    delimiter=self.separator, ignore_empty_lines=len(self.names) > 1
                ),
                convert_options=text.ConvertOptions(
                    include_columns=wanted,
                    column_types=dict.fromkeys(wanted, arrow().string()),
                    null_values=MISSING,
                    strings_can_be_null=True,
                ),
            )
        except arrow().ArrowException as error:
            other = _encoding(self.path) if "UTF8" in str(error) else _unreadable(self.path)
            raise lines.ragged(self.separator, len(self.names)) or other from None
        if table.num_rows != lines.count:
            raise lines.ragged(self.separator, len(self.names)) or _unreadable(self.path)
        return table


def open_csv(path: Path, table: Table) -> CsvSource:
    """Return the source of a CSV file, its header read."""
    separator = table.between
    if separator is None:
        raise InputError(
            f"{path}: say what separates the entries of a .txt file: --separator tab, or in Python "
            'discreet.Table(path, separator="tab")'
        )
    header = Header(path)
    try:
        names = _names(path, header.line, separator)
    except InputError:
        header.close()
        raise
    return CsvSource(path, unique(names), header, separator, table.decimal or ".")


def _names(path: Path, header: Lines, separator: str) -> list[str]:
    """Return the names of the columns."""
    header.check(separator)
    try:
        line = header.text.decode().rstrip("\r\n")
        names = next(csv.reader([line], delimiter=separator), list[str]())
    except UnicodeDecodeError:
        raise _encoding(path) from None
    except csv.Error:
        raise _unreadable(path) from None
    if not names:
        raise InputError(f"{path}: the file is empty; a header line with column names is needed")
    other = [mark for mark in SEPARATORS if mark != separator and mark in names[0]]
    if len(names) == 1 and other:
        mark = "tab" if other[0] == "\t" else other[0]
        raise InputError(
            f"{path}: the header has {SEPARATORS[other[0]]} where {SEPARATORS[separator]} are expected: .csv "
            "files are separated by commas, .tsv files by tabs, unless you say otherwise: --separator "
            f"{shlex.quote(mark)}, or in Python discreet.Table(path, separator={mark!r})"
        )
    return names


def _objects(column: Any) -> NDArray[Any]:
    """Return text as objects, None where missing."""
    return column.to_numpy(zero_copy_only=False)


def _not_numbers(source: CsvSource, line: int, text: Sequence[str], numbers: Sequence[str]) -> InputError:
    """Return the error that names columns that are not numbers, a line of the first, and what to do."""
    name, *more = text
    also = f", nor in {', '.join(map(repr, more[:_SHOWN]))}" if more else ""
    also += f" and {len(more) - _SHOWN:,} more" if len(more) > _SHOWN else ""
    options = " ".join(f"--columns {shlex.quote(number)}" for number in numbers)
    choice = f"; or test the others: {options}, in Python columns={list(numbers)!r}"
    choice = choice if 0 < len(numbers) <= _OFFERED else "; or name the columns to test"
    comma = "; or are there decimal commas? then --decimal ,"
    return InputError(
        f"{source.path}: column {name!r}, line {line:,}: not a number{also}. CSV declares no types: what is "
        f"tested without levels must be numbers, or missing (empty, NA, NaN, n/a). Mend the entry, or say "
        f"in a dictionary that it is missing; {declare(name)}"
        f"{comma if source.separator != ',' and source.decimal != ',' else ''}"
        f"{choice}"
    )


def _encoding(path: Path) -> InputError:
    return InputError(f"{path}: not UTF-8 text, perhaps Latin-1 or UTF-16: save it as UTF-8")


def _unreadable(path: Path) -> InputError:
    return InputError(f"{path}: not readable as CSV text, one line for each row")
