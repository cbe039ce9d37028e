"""Every source of tables: how an invented study is written, and how it is measured."""

from __future__ import annotations

import csv
import gzip
import io
import logging
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any
from unittest import mock

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
from nasty import FLOATS, INTS, NUMBERS, Study
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from pairs import Recorder

import discreet
import discreet.sklearn as selector
from discreet.data.tables import labelled as labelled_files
from discreet.data.tables import readstat_process
from discreet.data.tables.dictionary import Variable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WIDE = ("bool", *INTS, "float32", "float64")  # what data frames have
FINE = (*WIDE, "decimal")  # and Arrow, polars and Parquet


@dataclass(frozen=True)
class Form:
    """One source: the types it declares, how it is written, and what it may refuse."""

    name: str
    write: Callable[[Study, Path], Any]
    numbers: tuple[str, ...] = WIDE
    labels: tuple[str, ...] = (*WIDE, "text")
    text: bool = True
    one_type: bool = False  # an array: columns are known by their places
    lines: bool = False  # a person's rows are lines of text, which can be damaged
    people: bool = True  # rows can have identifiers
    options: dict[str, Any] = field(default_factory=dict)
    cell: Callable[[Any], Any] = lambda entry: entry  # as it can be written
    refuses: str = r"\Z\A"  # refusals that the documents allow, beside those of every source

    def measure(self, study: Study, test: Any, folder: Path) -> Any:
        """Return the evidence on a study, written to a folder if it is a file."""
        with np.errstate(all="ignore"):  # of writing, not of reading
            data = self.write(study, folder)
        # Of numbers, levels are declared for a test of answers alone.
        others = (0, 1, 2) if isinstance(test, discreet.Contingency) else None
        columns: Any = {name: study.levels["t"] if name == "t" else others for name in study.tested}
        person = discreet.Person("id", study.reduce) if study.identified else None
        if self.one_type:
            places = {name: str(place) for place, name in enumerate(study.types)}
            test, columns = renamed(test, places), {places[name]: columns[name] for name in columns}
        options = {key: value() for key, value in self.options.items()}
        return discreet.measure(data, test, columns=columns, person=person, **options)


def renamed(test: Any, names: dict[str, str]) -> Any:
    """Return a test that reads columns of other names; Recorder passes it on."""
    inner = getattr(test, "test", None) if hasattr(test, "seen") else None
    if inner is not None:
        return replace(test, test=renamed(inner, names))
    changed: dict[str, Any] = {}
    for argument in type(test).arguments():
        value = getattr(test, argument)
        if isinstance(value, str) and value in test.labels:
            changed[argument] = names[value]
        elif isinstance(value, tuple) and value and set(value) <= set(test.labels):
            changed[argument] = tuple(names[name] for name in value)
    return replace(test, **changed)


def numeric(study: Study, name: str, *, hold: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return a number column in its declared type, and where it is missing: NaN, or 0, or left out."""
    kind, entries = study.types[name], study.column(name)
    missing = np.array([one is None for one in entries])
    empty = np.nan if kind in FLOATS and hold else 0
    with np.errstate(all="ignore"):
        return np.array([empty if one is None else one for one in entries], dtype=kind), missing


def array(study: Study, _: Path) -> np.ndarray:
    """Return a two-dimensional array."""
    return np.stack([numeric(study, name)[0] for name in study.types], axis=1)


def masked(study: Study, _: Path) -> Any:
    """Return the same with a mask over numbers that nobody should see."""
    pairs = [numeric(study, name, hold=False) for name in study.types]
    return np.ma.array(np.stack([p[0] for p in pairs], axis=1), mask=np.stack([p[1] for p in pairs], axis=1))


def structured(study: Study, _: Path, *, mask: bool = False) -> Any:
    """Return a structured array; text is held as objects."""
    kinds = [(name, object if kind in ("text", "object") else kind) for name, kind in study.types.items()]
    table = np.zeros(len(study.rows), dtype=kinds)
    hidden = np.zeros(len(study.rows), dtype=[(name, bool) for name in study.types])
    for name, kind in study.types.items():
        if kind in ("text", "object"):
            table[name], hidden[name] = study.column(name), [one is None for one in study.column(name)]
        else:
            table[name], hidden[name] = numeric(study, name, hold=not mask)
    return np.ma.array(table, mask=hidden) if mask else table


def pandas_frame(study: Study, _: Path | None = None, *, kind: str = "numpy") -> pd.DataFrame:
    """Return a pandas frame: with NumPy's types a missing entry changes the type, as it does in pandas."""
    columns: dict[str, Any] = {}
    for name, declared in study.types.items():
        entries = study.column(name)
        if kind == "arrow":
            columns[name] = pd.Series(arrow_column(study, name), dtype=pd.ArrowDtype(arrow_type(declared)))
        elif declared == "category":
            columns[name] = pd.Series(pd.Categorical(entries))
        elif declared in ("text", "object"):
            own = "string" if kind == "nullable" and declared == "text" else object
            columns[name] = pd.Series(entries, dtype=own)
        elif kind == "nullable":
            columns[name] = pd.Series(pd.array([_plain(one) for one in entries], dtype=_nullable(declared)))
        elif None in entries and declared == "bool":
            columns[name] = pd.Series(entries, dtype=object)
        elif None in entries and declared in INTS:
            columns[name] = pd.Series([np.nan if one is None else one for one in entries], dtype=np.float64)
        else:
            columns[name] = pd.Series(numeric(study, name)[0])
    return pd.DataFrame(columns)


def _nullable(declared: str) -> str:
    known = {"bool": "boolean", "float32": "Float32", "float64": "Float64"}
    return known.get(declared) or declared.replace("int", "Int").replace("u", "U")


def _plain(one: Any) -> Any:
    return None if one is not None and one != one else one  # noqa: PLR0124 - NaN


def arrow_type(declared: str) -> Any:
    """Return Arrow's name for a declared type."""
    known = {"text": pa.string(), "bool": pa.bool_(), "decimal": pa.decimal128(18, 3)}
    known["category"] = pa.dictionary(pa.int32(), pa.string())
    return known.get(declared) or pa.from_numpy_dtype(declared)


def arrow_column(study: Study, name: str) -> Any:
    """Return a column as Arrow holds it."""
    kind = study.types[name]
    if kind in ("text", "category"):
        return pa.array(study.column(name), pa.string()).cast(arrow_type(kind))
    if kind == "decimal":
        return pa.array(study.column(name), arrow_type(kind))
    values, missing = numeric(study, name, hold=False)
    return pa.array(values, arrow_type(kind), mask=missing)


def arrow_table(study: Study, _: Path | None = None) -> Any:
    """Return an Arrow table in a few chunks."""
    whole = pa.table({name: arrow_column(study, name) for name in study.types})
    cut = len(study.rows) // 3
    return pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])


def polars_frame(study: Study, _: Path, *, lazy: bool = False) -> Any:
    """Return a polars frame, or a query."""
    frame = pl.from_arrow(arrow_table(study))
    return frame.lazy() if lazy else frame


def parquet(study: Study, folder: Path) -> Path:
    """Write a Parquet file of a few row groups."""
    pq.write_table(arrow_table(study), folder / "t.parquet", row_group_size=17)
    return folder / "t.parquet"


def parquet_folder(study: Study, folder: Path) -> Path:
    """Write two Parquet files."""
    whole, cut = arrow_table(study), len(study.rows) // 2
    (folder / "parts").mkdir(exist_ok=True)
    pq.write_table(whole.slice(0, cut), folder / "parts" / "a.parquet")
    pq.write_table(whole.slice(cut), folder / "parts" / "b.parquet")
    return folder / "parts"


def text_file(study: Study, folder: Path, *, ending: str = ".csv", separator: str = ",") -> Path:
    """Write CSV or TSV; a row with an entry "raw" is that line, whatever it holds."""
    separator = "\t" if ending.startswith(".tsv") else separator
    out = io.BytesIO()
    out.write((separator.join(study.types) + "\n").encode())
    for row in study.rows:
        out.write(row["raw"] if "raw" in row else line(row, study, separator))
    path = folder / f"t{ending}"
    path.write_bytes(gzip.compress(out.getvalue(), mtime=0) if ending.endswith(".gz") else out.getvalue())
    return path


def semicolons(study: Study, folder: Path) -> discreet.Table:
    """Write CSV with decimal commas, and say so."""
    return discreet.Table(text_file(study, folder, separator=";"), separator=";", decimal=",")


def latin(study: Study, folder: Path) -> discreet.Table:
    """Write CSV, and say that a letter is one byte: whatever is written is some text then."""
    return discreet.Table(text_file(study, folder), encoding="latin-1")


def _bytes(entry: Any) -> Any:
    """Return text as it is read with one letter for each byte."""
    return entry.encode().decode("latin-1") if isinstance(entry, str) else entry


def line(row: dict[str, Any], study: Study, separator: str = ",") -> bytes:
    """Return a row as a line of CSV; between semicolons, floats have a decimal comma."""
    text = io.StringIO()
    words = ["" if row[name] is None else row[name] for name in study.types]
    if separator == ";":
        words = [str(word).replace(".", ",") if isinstance(word, float) else word for word in words]
    csv.writer(text, delimiter=separator, lineterminator="\n").writerow(words)
    return text.getvalue().encode()


def with_codes(study: Study, folder: Path) -> discreet.Table:
    """Write CSV whose dictionary takes some numbers for missing and knows all answers."""
    said = [Variable(name, missing=(1, "0.5")) for name in study.types if name[0] == "v"]
    return discreet.Table(text_file(study, folder), dictionary=discreet.Dictionary(tuple(said)))


def with_missing(study: Study, folder: Path) -> discreet.Table:
    """Write CSV in which some words and numbers stand for no entry, in whatever column."""
    return discreet.Table(text_file(study, folder), missing=["k.A.", 14, "0.5"])


def sheet(study: Study, folder: Path) -> Path:
    """Write a worksheet; a column that is not tested holds a word for everyone, so that no row is empty."""
    book = openpyxl.Workbook(write_only=True)
    page = book.create_sheet()
    page.append([*study.types, "n"])
    for row in study.rows:
        page.append([*(_cell(row[name]) for name in study.types), "n"])
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def _cell(entry: Any) -> Any:
    """Return an entry as a cell can hold it; of text what XML allows, and no formulas."""
    if isinstance(entry, str):
        entry = ILLEGAL_CHARACTERS_RE.sub("", entry).replace("\r\n", "\n").replace("\r", "\n")  # as XML does
        return entry.replace("=", "")[:2_000]
    if isinstance(entry, float) and not np.isfinite(entry):
        return str(entry)
    return entry


def labelled(study: Study, folder: Path, *, ending: str) -> Path:
    """Write a file of SPSS, Stata or SAS; as in a worksheet, no row is empty."""
    columns: dict[str, Any] = {}
    for name, kind in study.types.items():
        entries = study.column(name)
        if kind == "text":
            columns[name] = ["" if entry is None else _plain_text(entry) for entry in entries]
        else:
            floats = np.array([np.nan if entry is None else float(entry) for entry in entries])
            columns[name] = np.where(np.abs(floats) < _LARGEST[ending], floats, np.nan)
    write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}[
        ending
    ]
    write(pd.DataFrame({**columns, "n": "n"}), folder / f"t{ending}")
    return folder / f"t{ending}"


_LARGEST = {".sav": 8e307, ".dta": 8e307, ".xpt": 7e75}  # what each has room for


def _plain_text(entry: Any) -> Any:
    """Return text as these files hold it: no zero bytes, not too long, without blanks at its end."""
    return entry.replace("\0", "")[:200].rstrip(" ") if isinstance(entry, str) else entry


@contextmanager
def _in_this_process(path: Path, asked: Any) -> Any:
    """Read such a file as the program does that is started for it: hundreds of them would take long."""
    out = io.BytesIO()
    reader = labelled_files.ENDINGS[path.suffix]
    readstat_process.answer({"path": str(path), "reader": reader, **asked}, out)
    out.seek(0)
    yield out


@dataclass(frozen=True)
class Labelled(Form):
    """Files of SPSS, Stata and SAS."""

    def measure(self, study: Study, test: Any, folder: Path) -> Any:
        """Return the evidence, from a file that is read without starting a program."""
        with mock.patch("discreet.data.tables.labelled._reading", _in_this_process):
            return super().measure(study, test, folder)


def feather(study: Study, folder: Path) -> Path:
    """Write Arrow's own file, in a few batches."""
    with pa.OSFile(str(folder / "t.arrow"), "wb") as file:
        table = arrow_table(study)
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=17)
    return folder / "t.arrow"


def stream(study: Study, _: Path) -> Any:
    """Return rows that come once."""
    table = arrow_table(study)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=17))


def duckdb_relation(study: Study, _: Path) -> Any:
    """Return a query of DuckDB."""
    return duckdb.from_arrow(arrow_table(study))


@cache
def client() -> Any:
    """Return a cluster inside this process, to be closed by `close`."""
    import distributed

    return distributed.Client(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.ERROR,
        set_as_default=False,
    )


def close() -> None:
    """Close the cluster, if there is one."""
    if client.cache_info().currsize:
        client().cluster.close()
        client().close()
        client.cache_clear()


def dask_array(study: Study, folder: Path) -> Any:
    """Return a dask array in uneven pieces."""
    import dask.array as da

    return da.from_array(array(study, folder), chunks=(11, -1))


def dask_frame(study: Study, _: Path) -> Any:
    """Return a dask frame; the types of its partitions are those that pandas gives each of them."""
    import dask
    import dask.dataframe as dd

    cut = len(study.rows) // 2
    halves = [replace(study, rows=study.rows[:cut]), replace(study, rows=study.rows[cut:])]
    nobody = pandas_frame(replace(study, rows=()))
    return dd.from_delayed(
        [dask.delayed(pandas_frame)(half) for half in halves], meta=nobody, verify_meta=False
    )


@dataclass(frozen=True)
class Selector(Form):
    """scikit-learn: what `PrivateSelectFdr.fit` hands to `discover` is measured in its place."""

    def measure(self, study: Study, test: Any, folder: Path) -> Any:
        """Return the evidence that a fit would release from."""
        (label,) = test.labels or (None,)
        with np.errstate(all="ignore"):
            features = {name: kind for name, kind in study.types.items() if name[0] == "v"}
            data = self.write(replace(study, types=features), folder)
        found: list[Any] = []

        class Nothing:
            indices = ()

        def take(table: Any, asked: Any, *, columns: Any, **_: Any) -> Any:
            by_itself = isinstance(asked, Recorder) or asked.needs_rows
            found.append(discreet.measure(table, asked if by_itself else Recorder(asked), columns=columns))
            return Nothing()

        y: Any = None
        if label is not None:
            is_text = study.types[label] in _WORDS
            y = np.array(study.column(label), dtype=object) if is_text else numeric(study, label)[0]
        kept, selector.discover = selector.discover, take
        try:
            _estimator(test).fit(data, y)
        finally:
            selector.discover = kept
        return found[0]


def _estimator(test: Any) -> Any:
    """Return the estimator that asks a test's question by its own parameters, or else by the test."""
    inner = test.test if isinstance(test, Recorder) else test
    plain = inner.protect == "columns" if hasattr(inner, "protect") else True  # as the estimator does it
    if plain and isinstance(inner, discreet.Compare) and inner.bounds is None:
        return selector.PrivateSelectFdr(alternative=inner.alternative)
    if plain and isinstance(inner, discreet.TwoGroups) and inner.sd is None and inner.floor is None:
        return selector.PrivateSelectFdr(bounds=inner.bounds, alternative=inner.alternative)
    if isinstance(inner, discreet.Correlation) and inner.method == "product":
        ends = {"bounds": inner.bounds, "y_bounds": inner.partner_bounds}
        return selector.PrivateSelectFdr(**ends, floor=inner.floor, alternative=inner.alternative)
    return selector.PrivateSelectFdr(test)


_TEXT_TYPES = {"numbers": ("bool", "int64", "float64"), "labels": ("text", "int64", "float64", "bool")}
_DASK = {"engine": lambda: "dask", "scheduler": client}
_WORDS = ("text", "category")
_DOUBLES = {"numbers": ("bool", "int32", "float64"), "labels": ("text", "int32", "float64", "bool")}
_BOOL = r"holds text or dates where numbers are expected|neither numbers, yes/no nor missing"
_BAD_CELL = rf"t\.([ct]sv|xlsx)|{_BOOL}"  # what a line of text cannot be is refused, with its number
FORMS = {
    form.name: form
    for form in (
        Form("array", array, NUMBERS, NUMBERS, text=False, one_type=True),
        Form("masked", masked, NUMBERS, NUMBERS, text=False, one_type=True),
        Form("structured", structured, NUMBERS, (*NUMBERS, "text", "object")),
        Form("masked structured", partial(structured, mask=True), NUMBERS, (*NUMBERS, "text", "object")),
        Form("pandas", pandas_frame, (*WIDE, "object"), (*WIDE, *_WORDS, "object"), refuses=_BOOL),
        Form("pandas nullable", partial(pandas_frame, kind="nullable"), WIDE, (*WIDE, *_WORDS)),
        Form("pandas arrow", partial(pandas_frame, kind="arrow"), FINE, (*FINE, *_WORDS)),
        Form("polars", polars_frame, FINE, (*FINE, *_WORDS)),
        Form("polars lazy", partial(polars_frame, lazy=True), FINE, (*FINE, *_WORDS)),
        Form("arrow", arrow_table, FINE, (*FINE, *_WORDS)),
        Form("parquet", parquet, FINE, (*FINE, *_WORDS)),
        Form("parquet folder", parquet_folder, FINE, (*FINE, *_WORDS)),
        *(
            Form(ending[1:], partial(text_file, ending=ending), **_TEXT_TYPES, lines=True, refuses=_BAD_CELL)
            for ending in (".csv", ".tsv", ".csv.gz", ".tsv.gz")
        ),
        Form("csv semicolons", semicolons, **_TEXT_TYPES, lines=True, refuses=_BAD_CELL),
        Form("csv latin-1", latin, **_TEXT_TYPES, lines=True, refuses=_BAD_CELL, cell=_bytes),
        Form("csv with codes", with_codes, **_TEXT_TYPES, lines=True, refuses=_BAD_CELL),
        Form("csv with words for missing", with_missing, **_TEXT_TYPES, lines=True, refuses=_BAD_CELL),
        Form("xlsx", sheet, **_TEXT_TYPES, refuses=_BAD_CELL, cell=_cell),
        *(
            Labelled(ending[1:], partial(labelled, ending=ending), **_DOUBLES, cell=_plain_text)
            for ending in (".sav", ".dta", ".xpt")
        ),
        Form("arrow file", feather, FINE, (*FINE, *_WORDS)),
        Form("arrow stream", stream, FINE, (*FINE, *_WORDS)),
        Form("duckdb", duckdb_relation, FINE, (*FINE, *_WORDS)),
        Form("dask array", dask_array, NUMBERS[:-1], NUMBERS[:-1], text=False, one_type=True, options=_DASK),
        Form("dask frame", dask_frame, people=False, options=_DASK),
        Form("dask parquet", parquet, FINE, (*FINE, *_WORDS), people=False, options=_DASK),
        Selector("sklearn frame", pandas_frame, people=False),
        Selector("sklearn nullable", partial(pandas_frame, kind="nullable"), people=False),
        Selector("sklearn array", array, NUMBERS, NUMBERS, text=False, one_type=True),
        Selector("sklearn masked", masked, NUMBERS, NUMBERS, text=False, one_type=True),
    )
}
