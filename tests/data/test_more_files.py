"""Excel, SPSS, Stata, SAS, Arrow and streams: each cell by itself, and each refusal names its place alone."""

from __future__ import annotations

import datetime as dt

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import discreet
from discreet.data.source import open_source
from discreet.data.tables.sheet import number_in

SECRET = "Zebedee"  # noqa: S105 - an entry that no message may repeat


def frame():
    """Return numbers, text and a missing entry."""
    return pd.DataFrame({"g": [0, 1, 0, 1], "x": [1.5, None, 3.0, 4.0], "city": ["Ulm", None, "Bonn", "Ulm"]})


def worksheet(path, rows, sheet="Sheet"):
    """Write a worksheet, cell by cell."""
    book = openpyxl.Workbook()
    book.active.title = sheet
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def columns(data, wanted):
    """Return the columns that a test would see."""
    blocks = list(open_source(data).read(["g"], columns=wanted, person=None).blocks())
    return np.concatenate([np.stack(list(block.columns), axis=1) for block in blocks])


@pytest.mark.parametrize(
    "ending", [".sav", ".dta", ".xpt", ".xlsx", ".feather", ".arrow", ".arrows", "duckdb"]
)
def test_every_format_gives_the_same_rows(ending, tmp_path):
    """Numbers, answers and missing entries are those of the table they were written from."""
    table, path = frame(), tmp_path / f"people{ending}"
    if ending in {".sav", ".dta", ".xpt"}:
        name = {".xpt": "xport"}.get(ending, ending[1:])
        getattr(pyreadstat, f"write_{name}")(table, path)
    elif ending == ".xlsx":
        table.to_excel(path, index=False)
    elif ending == "duckdb":
        path = duckdb.from_arrow(pa.Table.from_pandas(table))
    elif ending == ".arrows":
        whole = pa.Table.from_pandas(table)
        with pa.ipc.new_stream(str(path), whole.schema) as writer:
            writer.write_table(whole)
    else:
        table.to_feather(path)
    wanted = {"x": None, "city": ["Ulm", "Bonn"]}
    assert np.array_equal(columns(path, wanted), columns(table, wanted), equal_nan=True)


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        *(
            (2, 2.0),
            (True, 1.0),
            ("", np.nan),
            (" 1.5 ", 1.5),
            ("NA", np.nan),
            (" n/a ", np.nan),
            ("TRUE", 1),
        ),
        *(
            ("TRUE", 1.0),
            ("1,5", None),
            (SECRET, None),
            (dt.date(2020, 1, 1), None),
            ("1_0", None),
            ("1e3", 1e3),
        ),
    ],
)
def test_a_cell_is_read_by_itself(cell, number):
    """As an entry of CSV would be; a date is no number."""
    found = number_in(cell)
    assert found == number or (number is not None and found is not None and np.isnan([found, number]).all())


def test_a_worksheet_is_refused_by_place_alone(tmp_path):
    """Column and row of a bad cell; an empty row, an entry beside the table, a head that is not there."""
    path = tmp_path / "people.xlsx"
    for rows, told in (
        ([["g", "x"], [0, 1], [1, SECRET]], "column 'x', row 3: not a number"),
        ([["g", "x", "y"], [0, 1, 2], [1, SECRET, SECRET]], "column 'x', row 3: not a number, nor in 'y'"),
        ([["g", "x"], [0, 1], [None, None], [1, 2]], "row 3 is empty"),
        ([["g", "x"], [0, 1], [1, 2, SECRET]], "row 3: an entry beyond the last named column"),
        ([[], [0, 1]], "first row of the worksheet is empty"),
    ):
        with pytest.raises(discreet.DiscreetError, match=told) as refusal:
            columns(worksheet(path, rows), rows[0][1:] or ["x"])
        assert SECRET not in str(refusal.value)


def test_a_worksheet_is_named_and_row_numbers_are_left_out(tmp_path):
    """What pandas writes first has no name."""
    path = tmp_path / "people.xlsx"
    frame()[["g", "x"]].to_excel(path, sheet_name="May")
    assert discreet.measure(path, discreet.Sign()).names == ("g", "x")
    assert discreet.measure(discreet.Table(path, sheet="May"), discreet.Sign()).names == ("g", "x")
    with pytest.raises(discreet.DiscreetError, match="did you mean 'May'"):
        discreet.measure(discreet.Table(path, sheet="Mai"), discreet.Sign())


def test_a_cell_far_away_asks_for_no_memory(tmp_path):
    """A reader would make room for all cells between."""
    path = worksheet(tmp_path / "far.xlsx", [["g", "x"], [0, 1]])
    book = openpyxl.load_workbook(path)
    book.active["XFD1048576"] = 1
    book.save(path)
    with pytest.raises(discreet.DiscreetError, match="lies far from all others"):
        columns(path, ["x"])


@pytest.mark.parametrize("ending", [".xlsx", ".sas7bdat", ".feather", ".arrows"])
def test_what_is_no_such_file_is_refused(ending, tmp_path):
    """Nothing it holds is repeated."""
    path = tmp_path / f"people{ending}"
    path.write_bytes(SECRET.encode() * 100)
    with pytest.raises(discreet.DiscreetError) as refusal:
        columns(path, ["x"])
    assert SECRET not in str(refusal.value)


def test_a_truncated_spss_file_does_not_pass_for_a_shorter_one(tmp_path):
    """How many rows there are stands in its head."""
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(pd.DataFrame({"g": range(500), "x": np.linspace(0, 1, 500)}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 800])
    with pytest.raises(discreet.DiscreetError, match="damaged"):
        columns(path, ["x"])


def test_dates_of_spss_are_no_measures(tmp_path):
    """Their format is declared in the head."""
    table = frame()[["g", "x"]].assign(born=dt.date(1990, 1, 2))
    pyreadstat.write_sav(table, tmp_path / "people.sav")
    assert discreet.measure(tmp_path / "people.sav", discreet.Sign()).names == ("g", "x")


class Once:
    """Anything with Arrow's interface for streams, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_anything_that_gives_a_stream_of_arrow_is_a_table():
    """A driver's failure is told without what it says."""
    table = pa.Table.from_pandas(frame())
    assert discreet.measure(Once(table), discreet.Sign()).names == ("g", "x")
    assert discreet.measure(discreet.Table(Once(table)), discreet.Sign()).names == ("g", "x")

    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError(SECRET)

    with pytest.raises(discreet.DiscreetError, match="run it to see why") as refusal:
        discreet.measure(Broken(), discreet.Sign())
    assert SECRET not in str(refusal.value)


def test_names_that_are_no_text_are_refused(tmp_path):
    """A damaged name of a column in an Arrow file is neither decoded in a traceback nor repeated."""
    path = tmp_path / "people.feather"
    pd.DataFrame({"g": [0.0, 1.0], "weights": [1.0, 2.0]}).to_feather(path)
    path.write_bytes(path.read_bytes().replace(b"weights", b"w\xff\xfeghts"))
    with pytest.raises(discreet.DiscreetError, match="names that are no text"):
        discreet.measure(path, discreet.Mean(bounds=(0, 3), null=1))
