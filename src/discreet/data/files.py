"""Which file a path names, and CSV or TSV (also gzip) larger than memory, read in blocks with pyarrow."""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.data.arrow import array_of, arrow, faces
from discreet.data.parquet import ParquetSource
from discreet.data.source import unique
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.data.source import Column

_BLOCK = 2**23  # bytes of CSV parsed at a time
_TABS = (".tsv", ".tsv.gz")
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}


def open_file(path: Path) -> ParquetSource | CsvSource:
    """Return the source a path names, by its ending."""
    if not os.path.exists(path):  # noqa: PTH110 - a name too long for a file is no file
        raise InputError(f"{path}: no such file or folder")
    if path.is_dir():
        parts = tuple(sorted(path.rglob("*.parquet")))
        if not parts:
            raise InputError(f"{path}: the folder holds no .parquet file")
        return ParquetSource(parts)
    name = path.name.lower()
    if name.endswith((".parquet", ".pq")):
        return ParquetSource((path,))
    if name.endswith((*_TABS, ".csv", ".csv.gz")):
        return CsvSource(path)
    raise InputError(
        f"{path}: the name must end in .parquet, .csv, .tsv, .csv.gz or .tsv.gz, or be a folder of "
        ".parquet files"
    )


@dataclass(frozen=True, slots=True, eq=False)
class CsvSource:
    """A CSV or TSV file with a header; kinds are read off its first block, empty entries are missing."""

    path: Path
    text: frozenset[str] = frozenset()  # columns read as text, whatever their kind

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        names = self._names()
        try:
            with self._open(names, None, {}) as reader:
                schema = reader.schema
        except (arrow().ArrowException, OSError) as error:
            raise self._damaged(error, names) from None
        # A column empty in the first block has no kind yet: taken for numbers.
        fields = [(f.name, arrow().float64() if arrow().types.is_null(f.type) else f.type) for f in schema]
        return faces(arrow().schema(fields), names)

    @property
    def separator(self) -> str:
        """What lies between two entries: a tab in .tsv files, else a comma."""
        return "\t" if self.path.name.lower().endswith(_TABS) else ","

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the wanted columns in blocks."""
        names = self._names()
        # Whole numbers in the first block may be followed by fractions: all numbers are read as floats.
        types = {
            one.name: arrow().string() if one.kind == "text" else arrow().float64()
            for one in self.columns
            if one.kind in ("int", "float", "text")
        } | dict.fromkeys(self.text, arrow().string())
        try:
            with self._open(names, list(wanted), types) as reader:
                for batch in reader:
                    whole = arrow().Table.from_batches([batch])
                    yield {name: array_of(whole.column(name)) for name in wanted}
        except (arrow().ArrowException, OSError, EOFError) as error:
            raise self._damaged(error, names) from None

    def _names(self) -> tuple[str, ...]:
        opener = gzip.open if self.path.name.lower().endswith(".gz") else open
        try:
            with opener(self.path, "rt", encoding="utf-8-sig", newline="") as text:
                header = next(csv.reader(text, delimiter=self.separator), list[str]())
        except UnicodeDecodeError:
            raise self._encoding() from None
        except (OSError, EOFError, zlib.error, csv.Error):
            raise InputError(f"{self.path}: not readable as CSV text") from None
        if not header:
            raise InputError(f"{self.path}: the file is empty; a header line with column names is needed")
        other = [word for mark, word in _SEPARATORS.items() if mark != self.separator and mark in header[0]]
        if len(header) == 1 and other:
            expected = _SEPARATORS[self.separator]
            raise InputError(
                f"{self.path}: the header has {other[0]} where {expected} are expected: .csv files are "
                "separated by commas, .tsv files by tabs"
            )
        return unique(header)

    def _open(self, names: Sequence[str], wanted: list[str] | None, types: dict[str, Any]) -> Any:
        text = arrow("pyarrow.csv")
        return text.open_csv(
            self.path,
            read_options=text.ReadOptions(
                block_size=_BLOCK, column_names=list(names), skip_rows_after_names=1
            ),
            parse_options=text.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            convert_options=text.ConvertOptions(
                include_columns=wanted, column_types=types, strings_can_be_null=True
            ),
        )

    def _encoding(self) -> InputError:
        return InputError(f"{self.path}: not UTF-8 text, perhaps Latin-1 or UTF-16: save it as UTF-8")

    def _damaged(self, error: Exception, names: Sequence[str]) -> InputError:
        """Return an error that names the column, if the reader did, and nothing it held."""
        if "invalid UTF8" in str(error):
            return self._encoding()
        found = re.search(r"column #(\d+)", str(error))
        if found and int(found.group(1)) < len(names):
            column = names[int(found.group(1))]
            return InputError(
                f"{self.path}: column {column!r} holds something other than its first rows do (missing is "
                "empty, NA, NaN or n/a)"
            )
        return InputError(f"{self.path}: damaged, truncated, or rows of different lengths")
