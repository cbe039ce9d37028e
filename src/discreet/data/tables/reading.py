"""Any table, opened once and read as blocks of people: the columns asked for, and those beside them.

Nothing of a format is loaded before a file of it is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from discreet import check
from discreet.block import Block, codes
from discreet.data.source import EXCEL, TEXT, Source, Table, as_table, hashed
from discreet.data.tables.arrays import ArraySource, is_missing
from discreet.data.tables.columns import asked_levels, check_levels, choose
from discreet.data.tables.dictionary import Dictionary, DocumentedSource, in_codes
from discreet.data.tables.person import Person, one_row_each
from discreet.errors import DiscreetError, InputError, no_column

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from numpy.typing import NDArray

    from discreet.data.tables.column import Chosen, TableSource
    from discreet.typing import RawArray

_NOTHING = ArraySource(np.zeros((0, 0)))


class Tables(Source):
    """An array, a data frame of any make, or a path to a table. Its head is read once, as are its rows."""

    def __init__(self, data: object) -> None:
        self.table = as_table(data)
        self.data = self.table.data
        self._opened: TableSource | None = None
        self._held: tuple[Any, tuple[Block, ...]] | None = None

    @property
    def opened(self) -> TableSource:
        """The table with its columns."""
        if self._opened is None:
            data, dictionary = self.table.data, self.table.dictionary
            if isinstance(data, (str, Path)):
                source = _open_file(check.path(data, "data"), self.table)
            else:
                source = _in_memory(data)
            own = getattr(source, "dictionary", None)
            missing: Any = self.table.missing or ()
            if own is not None or dictionary is not None or missing:
                said = Dictionary() if own is None else own
                said = dictionary.over(said) if isinstance(dictionary, Dictionary) else said
                source = DocumentedSource(source, said, missing)
            self._opened = source
        return self._opened

    @property
    def is_file(self) -> bool:
        """Whether it may be larger than memory."""
        return isinstance(self.data, (str, Path))

    def public(self) -> dict[str, Any]:
        """Return the file's name and all column names, hashed; types in some formats follow from values."""
        file = Path(self.data).absolute().name if self.is_file else None
        known: dict[str, Any] = {"kind": "table", "file": file, **self.table.public()}
        try:
            return {**known, "columns": hashed(column.name for column in self.opened.columns)}
        except DiscreetError:
            return known  # said in its turn, when the data is read

    @property
    def vouched(self) -> str:
        """Who vouches for how a file is read, where another package does; empty of our own readers."""
        if not self.is_file:
            return ""
        path = Path(self.data)
        name = path.name.lower()
        if name.endswith((".parquet", ".pq", *TEXT, *EXCEL)):
            return ""
        try:
            if path.is_dir():
                return ""
        except (OSError, ValueError):  # no path that can be: said when it is opened
            return ""
        from discreet.data.tables import arrow_data, labelled
        from discreet.data.tables.readers import package_of, reader_of

        own = name.endswith((*labelled.ENDINGS, *arrow_data.ENDINGS))
        point = None if own else reader_of(name)
        return "" if point is None else f"The file was read by {package_of(point)}: its authors vouch for it."

    def check(self, test: Any, columns: Any) -> None:
        """Refuse a level that the table's own type does not have, and a test on families."""
        if test.sources == ("genotypes",):
            raise InputError(f"{type(test).__name__} reads PLINK files, which say who is whose parent")
        texts = {c.name for c in self.opened.columns if c.kind == "text" and c.declared and c.levels is None}
        for name, role in test.numbers_beside.items():
            if name in texts:
                raise InputError(
                    f"column {name!r} is text, and is read as numbers here ({role}): name another column, or "
                    "make it one of numbers"
                )
        if asked := asked_levels(test, columns):
            check_levels(self.opened.columns, asked)
            missing: Any = self.table.missing or ()
            for name, levels in asked.items():
                if np.any(codes(np.array(levels, dtype=object), missing) >= 0):
                    raise InputError(f"a level of {name!r} is also in missing: it cannot be both")

    def read(self, labels: Sequence[str], *, columns: Any, person: Any) -> TableReading:
        """Return the table as it is asked; rows that are held are not read again."""
        source: Any = self.opened
        file = getattr(source, "source", source)  # without its dictionary
        known = [column.name for column in source.columns]
        check.made(
            person, (str, Person, type(None)), "person must be a column's name or Person(column, reduce=...)"
        )
        who = Person(person) if isinstance(person, str) else person
        reserved = list(labels) + ([who.column] if who else [])
        for name in reserved:
            if name not in known:
                raise no_column(getattr(file, "where", "the table"), name, known)
        if who and isinstance(source, DocumentedSource):
            source = replace(source, person=who.column)
        chosen = choose(source.columns, columns, reserved)
        text = [choice.column.name for choice in chosen if choice.levels is not None]
        if hasattr(source, "reading"):  # it declares no types: who asks says what is text
            source = source.reading(frozenset([*text, *reserved]))
        table = TableReading(source, chosen, tuple(labels), who)
        held = self._held
        return table if held is None or held[0] != table.asked else replace(table, held=held[1])

    def hold(self, table: TableReading, blocks: Sequence[Block]) -> None:
        """Keep everyone's rows, for the next request for the same columns."""
        self._held = (table.asked, tuple(blocks))

    def completed(self, test: Any) -> Any:
        """Return a test with bounds of the dictionary, if it was given none, and codes in place of labels."""
        test = self._in_codes(test)
        bounds: Any = getattr(self.table.dictionary, "bounds", None)
        return replace(test, bounds=bounds) if bounds and getattr(test, "bounds", 0) is None else test

    def _in_codes(self, test: Any) -> Any:
        """Return a test whose levels are codes, where they were given by their labels."""
        given = asked_levels(test, None).values()
        if not any(isinstance(level, str) for levels in given for level in levels):
            return test
        try:
            dictionary: Any = getattr(self.opened, "dictionary", None)
        except DiscreetError:
            return test  # said in its turn, when the data is read
        return test if dictionary is None else in_codes(test, dictionary)

    def labels(self, names: Iterable[str]) -> dict[str, str]:
        """Return what hypotheses are in words, as far as the dictionary says, inside subgroups as well."""
        dictionary: Any = getattr(self._opened, "dictionary", None)  # None of p-values, which are no table
        known: dict[str, str] = {} if dictionary is None else dictionary.labels
        texts = {name: known.get(name.partition(" | ")[0]) for name in names}
        return {name: text for name, text in texts.items() if text is not None}

    def let_go(self) -> None:
        """Keep no rows in memory."""
        self._held = None


@dataclass(frozen=True, slots=True, eq=False)
class TableReading:
    """Chosen columns of a source, the label columns beside them, and who each row belongs to."""

    source: TableSource
    chosen: tuple[Chosen, ...]
    labels: tuple[str, ...]
    person: Person | None
    held: tuple[Block, ...] | None = None  # everyone, where the rows have been read

    @property
    def names(self) -> tuple[str, ...]:
        """The hypotheses: one for each number column, one for each declared level."""
        return tuple(name for choice in self.chosen for name in choice.names)

    @property
    def genotyped(self) -> None:
        """Tables hold no packed genotypes."""
        return

    @property
    def asked(self) -> tuple[Any, ...]:
        """What was asked of the source."""
        return self.chosen, self.labels, self.person

    def parts(self) -> Iterator[tuple[slice, Generator[Block]]]:
        """Yield everyone, with all hypotheses."""
        yield slice(None), self.blocks()

    def blocks(self) -> Generator[Block]:
        """Yield people in blocks, one row each.

        With `person`, all chosen values are held in memory at once, since a person's rows may lie anywhere.
        """
        if self.held is not None:
            yield from self.held
            return
        if self.person is None:
            yield from self._rows(self.source)
            return
        parts = list(self._rows(self.source))
        if not parts:
            return
        values, labels, people = one_row_each(
            np.concatenate([part.values for part in parts]),
            {name: np.concatenate([part.labels[name] for part in parts]) for name in self.labels},
            np.concatenate([part.people for part in parts if part.people is not None]),
            self.person.reduce,
        )
        yield Block(values, labels, people)

    def without_source(self) -> TableReading:
        """Return what says how to read a piece of this table, without the table."""
        return replace(self, source=_NOTHING, held=None)

    def piece(self, source: TableSource, first: int) -> Iterator[Block]:
        """Yield the people of a piece of the table, whose first row has the slot `first`."""
        return self._rows(source, first)

    def _rows(self, source: TableSource, first: int = 0) -> Iterator[Block]:
        wanted = [choice.column.name for choice in self.chosen] + list(self.labels)
        if self.person is not None:
            wanted.append(self.person.column)
        for batch in source.batches(list(dict.fromkeys(wanted))):
            people = None if self.person is None else batch[self.person.column]
            columns = Columns(batch, self.chosen)
            rows = columns[0].size
            yield Block(columns, {name: batch[name] for name in self.labels}, people, first)
            first += rows


@dataclass(slots=True, eq=False, repr=False)
class Columns(Sequence["RawArray"]):
    """The hypotheses' columns of one batch, each read when it is asked for; the last one read is kept."""

    batch: Mapping[str, RawArray]
    chosen: tuple[Chosen, ...]
    places: list[tuple[int, int]] = field(init=False)
    last: int = -1
    parts: list[RawArray] = field(default_factory=list["RawArray"])

    def __post_init__(self) -> None:
        self.places = [
            (at, part) for at, choice in enumerate(self.chosen) for part in range(len(choice.names))
        ]

    @overload
    def __getitem__(self, index: int) -> RawArray: ...
    @overload
    def __getitem__(self, index: slice) -> list[RawArray]: ...
    def __getitem__(self, index: int | slice) -> RawArray | list[RawArray]:
        if isinstance(index, slice):
            return [self[at] for at in range(len(self))[index]]
        at, part = self.places[index]
        if at != self.last:
            choice = self.chosen[at]
            self.last, self.parts = at, list(_columns(self.batch[choice.column.name], choice))
        return self.parts[part]

    def __len__(self) -> int:
        return len(self.places)


def _in_memory(data: object) -> TableSource:
    """Return an array, or a data frame of any make, as columns."""
    if isinstance(data, np.ndarray):
        return ArraySource(cast("RawArray", data))
    from discreet.data.tables.frame import frame_source

    frame = frame_source(data)
    if frame is not None:
        return frame
    raise InputError(
        "data must be a path, a NumPy array, a pandas, polars or pyarrow table, a DuckDB relation, or "
        f"anything else that gives an Arrow stream; got {type(data).__name__}"
    )


def _open_file(path: Path, table: Table) -> TableSource:
    """Return the source a path names, by its ending; no more than the head of a file is read."""
    if not os.path.exists(path):  # noqa: PTH110 - a name too long for a file is no file
        raise InputError(f"{path}: no such file or folder")
    name = path.name.lower()
    if path.is_dir() or name.endswith((".parquet", ".pq")):
        from discreet.data.tables.parquet import ParquetSource

        parts = tuple(sorted(path.rglob("*.parquet"))) if path.is_dir() else (path,)
        if not parts:
            raise InputError(f"{path}: the folder holds no .parquet file")
        return ParquetSource(parts)
    if name.endswith(TEXT):
        from discreet.data.tables.csv_file import open_csv

        return open_csv(path, table)
    if name.endswith(EXCEL):
        from discreet.data.tables.sheet import open_sheet

        return open_sheet(path, table.sheet)
    from discreet.data.tables import arrow_data, labelled

    if name.endswith(tuple(labelled.ENDINGS)):
        return labelled.open_labelled(path)
    if name.endswith(arrow_data.ENDINGS):
        return arrow_data.ArrowFileSource(path)
    from discreet.data.tables.readers import read_by, reader_of

    if (reader := reader_of(name)) is not None:
        return _in_memory(read_by(reader, path))
    raise InputError(
        f"{path}: the name must end in .parquet, .csv, .tsv or .txt (also .gz), .xlsx, .sav, .dta, "
        f".sas7bdat, .xpt, .arrow or .feather, or be a folder of .parquet files{_database(path)}"
    )


def _database(path: Path) -> str:
    """Return what to do with a database, whose tables have names that nobody said."""
    if path.suffix.lower() not in {".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3"}:
        return ""
    return (
        ". A database holds several tables: in Python, give discover the one that is meant, such as "
        f"duckdb.connect({path.name!r}).table('people'), or save it: COPY people TO 'people.parquet'"
    )


def _columns(array: NDArray[np.generic], choice: Chosen) -> Iterator[RawArray]:
    """Yield a number column, or indicators of its levels and perhaps of "other"; missing stays missing."""
    if choice.levels is None:
        if array.dtype == object:
            from discreet.data.tables.frame import numbers_in

            array = numbers_in(array, choice.column.name)
        yield array
        return
    missing = np.array([is_missing(entry) for entry in array.tolist()], dtype=bool)
    place = np.where(missing, len(choice.levels), codes(array, choice.levels))
    if choice.closed:
        missing |= place < 0
    for position in choice.places:
        yield np.where(missing, np.nan, place == position)
