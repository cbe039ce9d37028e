"""Parquet files larger than memory, read one column of some row groups at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import local
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals as nw

from discreet.data.tables.arrays import enum_levels, rows_at_a_time
from discreet.data.tables.column import Column
from discreet.data.tables.columns import arrow
from discreet.data.tables.frame import kind_of, to_array
from discreet.errors import DiscreetError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from discreet.typing import ArrowLike, RawArray

_ROWS = 2**17  # small row groups are read together up to so many rows
_MOST = 2**24  # a column of a larger row group is not read at once


@dataclass(frozen=True, slots=True, eq=False)
class ParquetSource:
    """One Parquet file or many with the same columns; or some row groups of one file."""

    paths: tuple[Path, ...]
    part: range | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the first file."""
        schema = _open(self.paths[0]).schema_arrow
        if len(set(schema.names)) != len(schema.names):
            raise InputError(f"{self.paths[0]}: two columns have the same name; rename one")
        return faces(schema)

    def batches(self, wanted: Sequence[str]) -> Iterator[Mapping[str, RawArray]]:
        """Yield the wanted columns in batches of rows, file after file."""
        known: Any = None
        for path in self.paths:
            stamp = _stamp(path)
            file = _open(path)
            schema = file.schema_arrow
            known = schema if known is None else known
            present = set(schema.names)
            absent = [name for name in wanted if name not in present]
            if absent:
                raise InputError(f"{path}: no column {absent[0]!r}, which another file of the folder has")
            for name in wanted:
                # Numbers in one file, text in the next: one person's identifiers would not be the same.
                if not _alike(known.field(name).type, schema.field(name).type):
                    raise InputError(f"{path}: column {name!r} is of another kind than in {self.paths[0]}")
            types = {name: known.field(name).type for name in wanted}
            part = range(file.metadata.num_row_groups) if self.part is None else self.part
            readers = Readers(path, file.metadata, stamp)
            for groups, rows in _together(file.metadata, part):
                if rows <= _MOST:
                    yield RowGroups(readers, groups, rows, types)
                else:
                    yield from _sliced(path, file, groups, rows, types)

    def split(self, rows: int) -> Iterator[tuple[ParquetSource, int]]:
        """Yield pieces of about so many rows, or one row group if it has more, and each one's first slot."""
        first = 0
        for path in self.paths:
            metadata = _open(path).metadata
            start, held = 0, 0
            for group in range(metadata.num_row_groups):
                held += metadata.row_group(group).num_rows
                if held >= rows or group + 1 == metadata.num_row_groups:
                    yield ParquetSource((path,), range(start, group + 1)), first
                    first, start, held = first + held, group + 1, 0


class Readers(local):
    """A reader of one file for each thread: two never share one, and opening takes a wide file's time."""

    def __init__(self, path: Path, metadata: object, stamp: tuple[int, ...]) -> None:
        if _stamp(path) != stamp:
            # Groups of one file and entries of another would be nobody's own rows.
            raise DiscreetError(f"{path} changed while it was read: put back the file that was asked about")
        self.path = path
        self.file = _open(path, metadata)


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what tells a file from another that is put in its place; nothing where there is none.

    Not its number on the disk, which some network file systems change while they serve it.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return ()
    return status.st_size, status.st_mtime_ns


@dataclass(frozen=True, slots=True, eq=False)
class RowGroups(Mapping[str, "RawArray"]):
    """Some row groups of a file; a column is read when it is asked for, and not kept.

    Each is read and counted while it is still in the processor's cache, and people by the million cost no
    more memory than a few columns do.
    """

    lazy: ClassVar[bool] = True

    readers: Readers
    groups: list[int]
    rows: int
    types: dict[str, Any]

    def __getitem__(self, name: str) -> RawArray:
        try:
            column = self.readers.file.read_row_groups(self.groups, columns=[name], use_threads=False)
            if column.num_rows != self.rows:
                raise _damaged(self.readers.path)
            return _array(column, name, self.types[name])
        except (arrow().ArrowException, OSError, UnicodeDecodeError):
            raise _damaged(self.readers.path) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)


def _together(metadata: ArrowLike, part: range) -> Iterator[tuple[list[int], int]]:
    """Yield row groups, small ones joined with those that follow, and their rows."""
    groups: list[int] = []
    rows = 0
    for group in part:
        more = metadata.row_group(group).num_rows
        if groups and rows + more > _ROWS:
            yield groups, rows
            groups, rows = [], 0
        groups, rows = [*groups, group], rows + more
    if rows:
        yield groups, rows


def _sliced(
    path: Path, file: Any, groups: list[int], rows: int, types: dict[str, Any]
) -> Iterator[dict[str, RawArray]]:
    """Yield a huge row group in batches of rows."""
    batch_rows = rows_at_a_time(len(types))
    try:
        for batch in file.iter_batches(batch_rows, row_groups=groups, columns=list(types), use_threads=False):
            whole = arrow().Table.from_batches([batch])
            rows -= whole.num_rows
            yield {name: _array(whole, name, kind) for name, kind in types.items()}
    except (arrow().ArrowException, OSError, UnicodeDecodeError):
        raise _damaged(path) from None
    if rows:
        raise _damaged(path)


def _array(table: Any, name: str, kind: Any) -> RawArray:
    """Return a column as an array; one without any value is of the kind it has in the first file."""
    column = table.column(table.schema.get_field_index(name))
    return column_array(column.cast(kind) if arrow().types.is_null(column.type) else column, name)


def _alike(first: ArrowLike, second: ArrowLike) -> bool:
    """Say whether two columns become arrays of one type; one without any value is like any."""
    types = arrow().types
    if first == second or types.is_null(first) or types.is_null(second):
        return True
    return all(kind(first) == kind(second) for kind in (_is_number, types.is_float32, types.is_temporal))


def _is_number(kind: object) -> bool:
    types = arrow().types
    return (
        types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    )


def _open(path: Path, metadata: ArrowLike = None) -> ArrowLike:
    parquet = arrow("pyarrow.parquet")
    try:
        # Without checksums a flipped bit is just another number.
        return parquet.ParquetFile(path, metadata=metadata, page_checksum_verification=True, pre_buffer=False)
    except (arrow().ArrowException, OSError, ValueError):
        raise InputError(f"{path}: not a Parquet file, or damaged, truncated or empty") from None


def _damaged(path: Path) -> InputError:
    return InputError(f"{path}: the file is damaged or truncated")


def column_array(column: Any, name: str) -> RawArray:
    """Return an Arrow column as an array, without a copy where it already holds floats in one piece."""
    if str(column.type) in ("float", "double"):
        return column.to_numpy()  # of this type, with NaN where missing
    return to_array(nw.from_native(column, series_only=True).alias(name))


def faces(schema: ArrowLike) -> tuple[Column, ...]:
    """Return the public faces of an Arrow schema's columns."""
    types = nw.from_native(schema.empty_table(), eager_only=True).schema
    return tuple(
        Column(field.name, kind_of(types[field.name]), levels=enum_levels(field)) for field in schema
    )
