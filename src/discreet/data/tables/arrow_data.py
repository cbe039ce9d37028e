"""Arrow as a file (.arrow, .feather, .ipc) and as a stream: DuckDB, ADBC, anything with its C interface."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet.data.tables.columns import arrow, unique
from discreet.data.tables.parquet import column_array, faces
from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from discreet.data.tables.column import Column
    from discreet.typing import ArrowLike, RawArray

ENDINGS = (".arrow", ".arrows", ".feather", ".ipc")


@dataclass(frozen=True, slots=True, eq=False)
class ArrowFileSource:
    """A file of Arrow's own format, with or without an index at its end."""

    path: Path

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        return _columns(_attempt(self._open, self.path).schema, str(self.path))

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, RawArray]]:
        """Yield the wanted columns, batch by batch; damage is looked for in each."""
        reader = _attempt(self._open, self.path)
        if hasattr(reader, "num_record_batches"):
            for place in range(reader.num_record_batches):
                yield _attempt(lambda at=place: _arrays(reader.get_batch(at), wanted), self.path)
            return
        while (batch := _attempt(lambda: next(reader, None), self.path)) is not None:
            yield _attempt(lambda held=batch: _arrays(held, wanted), self.path)

    def _open(self) -> ArrowLike:
        file, ipc = arrow().OSFile(str(self.path)), arrow("pyarrow.ipc")
        try:
            return ipc.open_file(file)
        except (arrow().ArrowInvalid, OSError):
            file.seek(0)
            return ipc.open_stream(file)


@dataclass(slots=True, eq=False, repr=False)
class StreamSource:
    """Rows that come as a stream of Arrow's; it is asked for once more where rows are read again."""

    data: ArrowLike
    reader: ArrowLike = field(init=False)
    schema: ArrowLike = field(init=False)

    def __post_init__(self) -> None:
        self.reader = self._stream()

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns."""
        return _columns(self.schema, "the stream")

    def batches(self, wanted: Sequence[str]) -> Iterator[dict[str, RawArray]]:
        """Yield the wanted columns, batch by batch."""
        reader, self.reader = self.reader or self._stream(), None
        try:
            for batch in reader:
                yield _arrays(batch, wanted)
        except InputError:
            raise
        except Exception:  # noqa: BLE001 - of a driver; it may quote an entry
            raise _not_run() from None

    def _stream(self) -> ArrowLike:
        try:
            reader = arrow().RecordBatchReader.from_stream(self.data)
            self.schema = reader.schema
        except Exception:  # noqa: BLE001 - of a driver
            raise _not_run() from None
        return reader


def _not_run() -> InputError:
    return InputError(
        "the query behind the table cannot be run, or its rows were read before: run it to see why"
    )


def _columns(schema: ArrowLike, where: str) -> tuple[Column, ...]:
    try:
        if unique(schema.names) != tuple(schema.names):
            raise InputError(f"{where}: two columns have the same name; rename one")
        return faces(schema)
    except UnicodeDecodeError:
        raise InputError(f"{where}: its columns have names that are no text; it may be damaged") from None


def _arrays(batch: Any, wanted: Sequence[str]) -> dict[str, RawArray]:
    """Return columns as arrays; a batch whose parts do not fit is refused before it is looked at."""
    batch = batch.select(list(wanted))
    batch.validate(full=True)
    table = arrow().Table.from_batches([batch])
    return {name: column_array(table.column(name), name) for name in wanted}


def _attempt(read: Any, path: Path) -> Any:
    try:
        return read()
    except InputError:
        raise
    except Exception:  # noqa: BLE001 - Arrow's many kinds, some of which quote the file
        raise InputError(f"{path}: not a file of Arrow's format, or damaged or truncated") from None
