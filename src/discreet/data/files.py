"""Files larger than memory: CSV (also gzip), Parquet, and folders of Parquet, read in blocks with pyarrow."""

from __future__ import annotations

import csv
import gzip
import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import narwhals as nw

from discreet.data.ahead import ahead
from discreet.data.frame import column_of, to_array
from discreet.data.source import Column, rows_at_a_time, unique
from discreet.errors import InputError, missing_extra

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_BLOCK = 2**23  # bytes of CSV parsed at a time
_WHOLE = 2**26  # values of a row group read at once: 256 MB of 32-bit floats
_BUFFER = 2**18  # bytes of a Parquet column read at a time; by default whole row groups stay in memory


def open_file(path: Path) -> ParquetSource | CsvSource:
    """Return the source a path names, by its ending."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.is_dir():
        parts = tuple(sorted(path.rglob("*.parquet")))
        if not parts:
            raise InputError(f"{path}: the folder holds no .parquet file")
        return ParquetSource(parts)
    name = path.name.lower()
    if name.endswith((".parquet", ".pq")):
        return ParquetSource((path,))
    if name.endswith((".csv", ".csv.gz")):
        return CsvSource(path)
    raise InputError(
        f"{path}: the name must end in .parquet, .csv or .csv.gz, or be a folder of .parquet files"
    )


def _arrow(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise missing_extra("files", "Reading CSV and Parquet files") from None


def _arrays(batch: Any, wanted: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the columns of a record batch as arrays, without a copy where Arrow already holds floats."""
    arrow = _arrow("pyarrow")
    floats = (arrow.float32(), arrow.float64())
    arrays: dict[str, NDArray[Any]] = {}
    for name in wanted:
        column = batch.column(batch.schema.get_field_index(name))
        if column.type in floats:
            arrays[name] = column.to_numpy(zero_copy_only=False)
        else:
            arrays[name] = to_array(nw.from_native(arrow.chunked_array([column]), series_only=True))
    return arrays


def _kinds(schema: Any, names: Sequence[str]) -> tuple[Column, ...]:
    """Return the public faces of an Arrow schema's columns."""
    empty = schema.empty_table().rename_columns(list(names))
    types = dict(nw.from_native(empty, eager_only=True).schema)
    return tuple(column_of(name, types[name]) for name in names)


def _pieces(file: Any, wanted: list[str], groups: range) -> Iterator[list[Any]]:
    """Yield lists of record batches; row groups that fit are read whole, at half the cost."""
    rows = rows_at_a_time(len(wanted))
    for group in groups:
        if file.metadata.row_group(group).num_rows * len(wanted) <= _WHOLE:
            yield file.read_row_group(group, columns=wanted).to_batches(max_chunksize=rows)
        else:
            yield from ([batch] for batch in file.iter_batches(rows, row_groups=[group], columns=wanted))


@dataclass(frozen=True, slots=True, eq=False)
class ParquetSource:
    """One Parquet file or many with the same columns; or some row groups of one file."""

    paths: tuple[Path, ...]
    groups: range | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the first file."""
        schema = self._open(self.paths[0]).schema_arrow
        if len(set(schema.names)) != len(schema.names):
            raise InputError(f"{self.paths[0]}: two columns have the same name; rename one")
        return _kinds(schema, schema.names)

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the wanted columns in batches of rows, file after file."""
        invalid = _arrow("pyarrow").ArrowException
        for path in self.paths:
            file = self._open(path)
            present = set(file.schema_arrow.names)
            absent = [name for name in wanted if name not in present]
            if absent:
                raise InputError(f"{path}: no column {absent[0]!r}, which another file of the folder has")
            try:
                groups = range(file.num_row_groups) if self.groups is None else self.groups
                for piece in ahead(_pieces(file, list(wanted), groups)):
                    for batch in piece:
                        yield _arrays(batch, wanted)
            except (invalid, OSError):
                raise InputError(f"{path}: the file is damaged or truncated") from None

    def split(self, rows: int) -> Iterator[tuple[ParquetSource, int]]:
        """Yield pieces of about so many rows, or one row group if it has more, and each one's first slot."""
        first = 0
        for path in self.paths:
            metadata = self._open(path).metadata
            start, held = 0, 0
            for group in range(metadata.num_row_groups):
                held += metadata.row_group(group).num_rows
                if held >= rows or group + 1 == metadata.num_row_groups:
                    yield ParquetSource((path,), range(start, group + 1)), first
                    first, start, held = first + held, group + 1, 0

    @staticmethod
    def _open(path: Path) -> Any:
        parquet = _arrow("pyarrow.parquet")
        try:
            # Without checksums a flipped bit is just another number.
            return parquet.ParquetFile(
                path, page_checksum_verification=True, pre_buffer=False, buffer_size=_BUFFER
            )
        except (_arrow("pyarrow").ArrowException, OSError):
            raise InputError(f"{path}: not a Parquet file, or damaged, truncated or empty") from None


@dataclass(frozen=True, slots=True, eq=False)
class CsvSource:
    """A CSV file with a header; kinds are read off its first block, empty entries are missing."""

    path: Path

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        arrow = _arrow("pyarrow")
        names = self._names()
        try:
            with self._open(names, None, {}) as reader:
                schema = reader.schema
        except (arrow.ArrowException, OSError) as error:
            raise self._damaged(error, names) from None
        # A column empty in the first block has no kind yet: taken for numbers.
        fields = [(f.name, arrow.float64() if arrow.types.is_null(f.type) else f.type) for f in schema]
        return _kinds(arrow.schema(fields), names)

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the wanted columns in blocks."""
        arrow = _arrow("pyarrow")
        names = self._names()
        # Whole numbers in the first block may be followed by fractions: all numbers are read as floats.
        types = {
            one.name: arrow.string() if one.kind == "text" else arrow.float64()
            for one in self.columns
            if one.kind in ("int", "float", "text")
        }
        try:
            with self._open(names, list(wanted), types) as reader:
                for batch in ahead(reader):
                    yield _arrays(batch, wanted)
        except (arrow.ArrowException, OSError, EOFError) as error:
            raise self._damaged(error, names) from None

    def _names(self) -> tuple[str, ...]:
        opener = gzip.open if self.path.name.lower().endswith(".gz") else open
        try:
            with opener(self.path, "rt", encoding="utf-8-sig", newline="") as text:
                header = next(csv.reader(text), list[str]())
        except (OSError, EOFError, UnicodeDecodeError, csv.Error):
            raise InputError(f"{self.path}: not readable as CSV text") from None
        if not header:
            raise InputError(f"{self.path}: the file is empty; a header line with column names is needed")
        return unique(header)

    def _open(self, names: Sequence[str], wanted: list[str] | None, types: dict[str, Any]) -> Any:
        text = _arrow("pyarrow.csv")
        return text.open_csv(
            self.path,
            read_options=text.ReadOptions(block_size=_BLOCK, column_names=list(names), skip_rows=1),
            parse_options=text.ParseOptions(newlines_in_values=True),
            convert_options=text.ConvertOptions(
                include_columns=wanted, column_types=types, strings_can_be_null=True
            ),
        )

    def _damaged(self, error: Exception, names: Sequence[str]) -> InputError:
        """Return an error that names the column, if the reader did, and nothing it held."""
        found = re.search(r"column #(\d+)", str(error))
        if found and int(found.group(1)) < len(names):
            column = names[int(found.group(1))]
            return InputError(f"{self.path}: column {column!r} holds something other than its first rows do")
        return InputError(f"{self.path}: damaged, truncated, or rows of different lengths")
