"""Reading is a function of each person's own rows and of public things: one person reaches nobody else."""

from __future__ import annotations

import gzip
import itertools
import time
import tracemalloc
import warnings
import zlib
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import discreet
from discreet.block import as_read, codes
from discreet.data.tables import csv_file
from discreet.data.tables.csv_file import MISSING, numbers_of
from discreet.data.tables.reading import Tables

FEW = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
PEOPLE = 12


def read(data, *, columns=None, labels=(), person=None):
    """Return names, columns, labels and people of all blocks; every block has the same types."""
    table = Tables(data).read(labels, columns=columns, person=person)
    blocks = list(table.blocks())
    for one in blocks:
        assert [c.dtype for c in columns_of(one)] == [c.dtype for c in columns_of(blocks[0])]
    values = [np.concatenate(parts) for parts in zip(*map(columns_of, blocks), strict=True)]
    beside = {name: np.concatenate([one.labels[name] for one in blocks]) for name in labels}
    ids = None if person is None else np.concatenate([one.people for one in blocks]).tolist()
    return table.names, values, beside, ids


def columns_of(block):
    """Return the columns of a block."""
    return list(block.columns.T) if isinstance(block.columns, np.ndarray) else list(block.columns)


def unmoved(one, two, who, levels=(0, 1)):
    """Assert that two readings agree, bit for bit, in all but the person at a row, or of an id."""
    (names, values, labels, ids), (names_2, values_2, labels_2, ids_2) = one, two
    assert names == names_2
    keep, keep_2 = ([key != who for key in x or range(PEOPLE)] for x in (ids, ids_2))
    if ids is not None:
        assert list(itertools.compress(ids, keep)) == list(itertools.compress(ids_2, keep_2))
    for column, column_2 in zip(values, values_2, strict=True):
        assert column.dtype == column_2.dtype
        assert (column.size, column_2.size) == (len(keep), len(keep_2))
        assert column[keep].tobytes() == column_2[keep_2].tobytes()
    for name, label in labels.items():
        found, found_2 = codes(label, levels)[keep], codes(labels_2[name], levels)[keep_2]
        assert np.array_equal(found, found_2)


# CSV: whatever a line holds.

CELLS = ["", "1", "0.25", "-3e7", "true", "False", "NA", " 7", "nan", "inf", "1e400", "9" * 400, "2\0", "+4"]
CELLS += ["\r", "\t", "é", "\x1b", ",", ",,", "#N/A", "0x1", "1_0", "text", "\ufeff1"]
CELLS += ['"', '""', '"5"', '"a', 'b"', '"x""y"']
LINES = (
    st.lists(st.sampled_from(CELLS) | st.text(max_size=3), max_size=6)
    .map(",".join)
    .filter(lambda line: "\n" not in line and not any("\ud800" <= letter <= "\udfff" for letter in line))
)


def csv_of(rows, path, head="id,arm,a,b,city"):
    """Write lines below a header, packed if the name says so."""
    text = "\n".join([head, *rows]) + "\n"
    path.write_bytes(gzip.compress(text.encode(), 1) if path.suffix == ".gz" else text.encode())
    return path


ROWS = [
    f"{i},{i % 2},{i / 7!r},{['true', '0', '', '1e3'][i % 4]},{'ulm' if i % 3 else 'rom'}"
    for i in range(PEOPLE)
]
ASKED = {"columns": {"a": None, "b": None, "city": ["ulm", "1"]}, "labels": ("arm",)}


@pytest.mark.slow
@given(
    line=LINES, place=st.integers(0, PEOPLE - 1), packed=st.booleans(), size=st.sampled_from([16, 64, 4096])
)
@FEW
def test_a_line_of_a_csv_file_is_one_row_and_moves_no_other(tmp_path, line, place, packed, size):
    """Any line in the place of one: refused, or one row as before and all others the same, bit for bit."""
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    before = read(csv_of(ROWS, path), **ASKED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "_BLOCK", size)
        try:
            after = read(csv_of([*ROWS[:place], line, *ROWS[place + 1 :]], path), **ASKED)
        except discreet.DiscreetError as refusal:
            said = str(refusal)
        else:
            unmoved(before, after, place)
            return
    assert f"line {place + 2}:" in said


@pytest.mark.slow
@given(
    line=LINES,
    rows=st.lists(st.integers(0, 4), min_size=1),
    reduce=st.sampled_from(["mean", "first", "any", "difference", "slope"]),
)
@FEW
def test_the_rows_of_a_person_move_no_other_person(tmp_path, line, rows, reduce):
    """More rows, fewer, other ones of one person: everyone else's reduced row is the same, bit for bit."""
    asked = ASKED | {"person": discreet.Person("id", reduce)}
    others = [row.replace(f"{i},", f"{i % 5},", 1) for i, row in enumerate(ROWS)]
    new = [*others, *(f"me,{line}" if row == 0 else f"me,1,{row},0.5,rom" for row in rows)]
    before = read(csv_of([*others, "me,0,1,2,ulm"], tmp_path / "t.csv"), **asked)
    try:
        after = read(csv_of(new, tmp_path / "t.csv"), **asked)
    except discreet.DiscreetError:
        return
    unmoved(before, after, "me")


@pytest.mark.slow
@given(st.lists(st.sampled_from(CELLS) | st.floats().map(repr) | st.text(max_size=4), min_size=1, max_size=9))
@FEW
def test_an_entry_is_the_same_number_beside_any_other(cells):
    """A column is numbers if each entry is one, and each is what it is alone."""
    cells = [None if cell in MISSING else cell for cell in cells]
    whole = numbers_of(pa.chunked_array([cells], type=pa.string()))
    alone = [numbers_of(pa.chunked_array([[cell]], type=pa.string())) for cell in cells]
    assert (whole is None) == any(one is None for one in alone)
    if whole is not None:
        assert whole.tobytes() == np.concatenate(alone).tobytes()
        assert whole.dtype == np.float64


# Frames: whatever one person's entry makes of a column's type.

ODD = [None, np.nan, pd.NA, True, 1, -2, 0.1, 2**53 + 1, 2**70, 10**400, 1 + 2j, "x", "1", "", Decimal("0.3")]
ODD += [
    np.float32(0.1),
    np.float16(2),
    np.longdouble(1) / 3,
    pd.Timestamp(0),
    pd.Timedelta(1),
    1e300,
    [1],
    (1,),
    b"1",
]
PLAIN = {
    "arm": [i % 2 for i in range(PEOPLE)],
    "whole": [3 * i for i in range(PEOPLE)],
    "big": [2**53 + i for i in range(PEOPLE)],
    "part": [i / 7 for i in range(PEOPLE)],
    "yes": [i % 3 == 0 for i in range(PEOPLE)],
}
TYPES = [
    "int64",
    "uint8",
    "int16",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bool",
    "Int8",
    "Int64",
    "Float32",
]
TYPES += ["boolean", "int16[pyarrow]", "float[pyarrow]", "bool[pyarrow]", "object"]


@pytest.mark.slow
@given(
    name=st.sampled_from(["whole", "part", "yes", "arm", "big"]),
    place=st.integers(0, PEOPLE - 1),
    entry=st.sampled_from(ODD) | st.floats() | st.integers(),
    kind=st.sampled_from([None, *TYPES]),
    named=st.booleans(),
    reduce=st.sampled_from([None, "mean", "first", "any"]),
)
@example(name="part", place=3, entry=1 + 2j, kind=None, named=False, reduce=None)
@example(name="part", place=3, entry=np.longdouble(1) / 3, kind=None, named=False, reduce=None)
@example(name="yes", place=3, entry=None, kind=None, named=False, reduce=None)
@example(name="whole", place=3, entry="x", kind=None, named=False, reduce=None)
@FEW
def test_one_entry_of_a_pandas_column_moves_no_other(name, place, entry, kind, named, reduce):
    """Its type may change with the entry; names, types and everyone else's values are as before."""
    frame = pd.DataFrame({**PLAIN, "id": [f"p{i}" for i in range(PEOPLE)]})
    frame[name] = column = as_type(PLAIN[name], kind)
    other = list(column)
    other[place] = entry
    odd = frame.assign(**{name: as_type(other, kind)})
    asked = {"labels": ("arm",), "person": discreet.Person("id", reduce) if reduce else None}
    asked["columns"] = ["part", "whole", "yes", "big"] if named else ["[!i]*"]
    before = read(frame, **asked)
    try:
        after = read(odd, **asked)
    except discreet.DiscreetError as refusal:
        said = str(refusal)
    else:
        unmoved(before, after, f"p{place}" if reduce else place)
        return
    assert repr(name) in said


IDS = [
    [7, 8, 9],
    [0.5, 1.5, 4.0],
    [np.float32(0.1), np.float32(0.2), np.float32(3)],
    ["7", "b", "c c"],
    [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02 10:00"), pd.Timestamp("2021-01-01")],
    list(pd.to_timedelta([1, 2, 3], unit="h")),
]


@pytest.mark.parametrize("ids", IDS, ids=lambda ids: type(ids[0]).__name__)
@pytest.mark.parametrize("entry", ODD, ids=repr)
def test_one_odd_entry_changes_no_other_identifier_level_or_label(ids, entry):
    """Whatever pandas makes of the column, others are who they were and in the level they were in."""
    frame = pd.DataFrame({"x": [0.5, 0.25, 0.125], "key": as_type(ids, None)})
    odd = frame.assign(key=as_type([entry, *ids[1:]], None))
    seen = []
    for one in (frame, odd):
        try:
            who = read(one, columns=["x"], person=discreet.Person("key", "first"))[3]
        except discreet.DiscreetError:
            assert one is odd  # the odd one is rounded
            who = None
        levels = [list(frame["key"])[1], list(frame["key"])[2]]
        _, indicators, _, _ = read(one, columns={"key": levels})
        _, _, labels, _ = read(one, columns=["x"], labels=("key",))
        found = [codes(labels["key"], some)[1:].tolist() for some in (levels, [*levels, "1", "01"])]
        seen.append(([column[1:].tolist() for column in indicators], found, who and who[-2:]))
    assert seen[0][:2] == seen[1][:2]
    assert seen[1][2] in (None, seen[0][2])


def as_type(entries, kind):
    """Return a pandas column of a type, or of the one that pandas finds, or of objects."""
    for dtype in (kind, None, object):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                return pd.Series(entries, dtype=dtype)
            except (TypeError, ValueError, OverflowError, pa.ArrowException, Warning):
                continue
    raise AssertionError


DECLARED = {
    **{
        pa.from_numpy_dtype(one): np.float64 for one in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f8")
    },
    pa.bool_(): np.float64,
    pa.decimal128(12, 2): np.float64,
    pa.float32(): np.float32,
}


@pytest.mark.parametrize("kind", DECLARED, ids=str)
@pytest.mark.parametrize("make", ["pyarrow", "polars", "parquet", "pandas", "written"])
def test_the_type_of_an_array_is_that_of_the_column_and_not_of_its_values(kind, make, tmp_path):
    """With or without a missing entry, and whatever the others are, numbers arrive in one precision."""
    entries = [Decimal(i % 2) if pa.types.is_decimal(kind) else i % 2 for i in range(5)]
    if pa.types.is_boolean(kind):
        entries = [bool(i) for i in entries]
    seen = []
    for first in (entries[0], None):
        column = pa.array([first, *entries[1:]], type=kind)
        data = pa.table({"x": column})
        if make in ("pandas", "written"):
            data = data.to_pandas()
        if make == "polars":
            data = pl.from_arrow(data)
        if make in ("parquet", "written"):
            pq.write_table(data if make == "parquet" else pa.Table.from_pandas(data), tmp_path / "t.parquet")
            data = tmp_path / "t.parquet"
        (values,) = read(data, columns=["x"])[1]
        seen.append((values.dtype, values[1:].tobytes()))
    assert seen[0] == seen[1]
    narrow = make in ("pyarrow", "polars", "parquet") or (make == "written" and pa.types.is_float32(kind))
    assert seen[0][0] == (DECLARED[kind] if narrow else np.float64)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("complex", "pandas"),
        *itertools.product(["timedelta", "date", "text"], ["pandas", "polars", "parquet"]),
    ],
)
def test_what_is_no_number_is_refused_by_name_when_it_is_chosen(kind, make, tmp_path):
    """Complex numbers, durations, dates and text are not measurements."""
    entries = {
        "complex": [1 + 2j, 3j],
        "timedelta": pd.to_timedelta([1, 2], unit="s"),
        "date": pd.to_datetime(["2020-01-01", "2020-01-02"]),
        "text": ["1", "2"],
    }[kind]
    frame = pd.DataFrame({"fine": [0.5, 1.0], "odd": entries})
    if make == "polars":
        frame = pl.from_pandas(frame)
    elif make == "parquet":
        frame.to_parquet(tmp_path / "t.parquet")
        frame = tmp_path / "t.parquet"
    with pytest.raises(discreet.DiscreetError, match="'odd'"):
        read(frame, columns=["fine", "odd"])


# The holes that were.


def test_a_reduction_is_applied_to_everyone_also_when_nobody_has_two_rows():
    """One more row of one person must not decide whether all others' values become 0 and 1."""
    once = pd.DataFrame({"id": [f"p{i}" for i in range(PEOPLE)], "x": [0.3 + i for i in range(PEOPLE)]})
    twice = pd.concat([once, once.tail(1)])
    for reduce in ("any", "mean", "first"):
        person = discreet.Person("id", reduce)
        unmoved(read(once, person=person), read(twice, person=person), f"p{PEOPLE - 1}")
    assert set(read(once, person=discreet.Person("id", "any"))[1][0].tolist()) == {1.0}


@pytest.mark.parametrize("make", ["pandas", "polars", "parquet"])
def test_a_mean_is_taken_in_doubles_whatever_the_column(make, tmp_path):
    """Somebody's second row must not decide in which precision all others are counted."""
    once = pd.DataFrame(
        {"id": [f"p{i}" for i in range(PEOPLE)], "x": np.arange(PEOPLE, dtype=np.float32) / 7}
    )
    seen = []
    for number, frame in enumerate((once, pd.concat([once, once.head(1)]))):
        data = {"pandas": frame, "polars": pl.from_pandas(frame)}.get(make)
        if data is None:
            data = tmp_path / f"{number}.parquet"
            frame.to_parquet(data)
        seen.append(read(data, person=discreet.Person("id", "mean")))
        assert seen[-1][1][0].dtype == np.float64
    unmoved(*seen, "p0")


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('"1,2', "quote"),
        ('1,"2', "quote"),
        ('1,2"', "quote"),
        ('1,2"3"', "quote"),
        ('1,"2\n3"', "quote"),
        ('1,"2"3', "quote"),
        ("1", "as many entries"),
        ("1,2,3", "as many entries"),
        ("", "empty"),
        ("\r", "empty"),
        ("1\r2,3", "carriage return"),
        ("1,secret", "not a number"),
        ("1,2\0", "not a number"),
    ],
)
def test_a_line_that_is_no_row_is_named_by_its_number_alone(tmp_path, monkeypatch, ending, line, reason):
    """An open quote took the rest of the file for one entry, an empty line or a missing entry shifted it."""
    monkeypatch.setattr(csv_file, "_BLOCK", 1000)
    rows = [f"{i % 2},{i % 7}" for i in range(2000)]
    rows[1234] = line
    text = "\n".join(["a,b", *rows, ""]).replace(",", "\t" if ending == "tsv" else ",")
    path = tmp_path / f"t.{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    with pytest.raises(discreet.DiscreetError, match=rf"line 1,236: .*{reason}") as refusal:
        discreet.measure(path, discreet.Proportion(null=0.5))
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_an_empty_line_of_one_column_is_a_person_with_a_missing_entry(tmp_path, end, last):
    """It was nobody, and all that came after moved up by one."""
    lines = ["x", "1", "", '""', "NA", "", "0"]
    (tmp_path / "t.csv").write_bytes((end.join(lines) + end * last).encode())
    (values,) = read(tmp_path / "t.csv")[1]
    assert np.array_equal(values, [1, np.nan, np.nan, np.nan, np.nan, 0], equal_nan=True)


def test_quotes_around_entries_are_read_as_ever(tmp_path):
    """A separator, a doubled quote and blanks inside; also in the header, behind the mark of UTF-8 text."""
    text = '\ufeff"x, y","say ""so"""\r\n"1.5","a ""b"" c"\r\n" 2 ",""\r\n"NA","d,e"\r\n'
    (tmp_path / "t.csv").write_bytes(text.encode())
    asked = {"columns": ["x, y"], "labels": ('say "so"',)}
    names, (values,), labels, _ = read(tmp_path / "t.csv", **asked)
    assert names == ("x, y",)
    assert np.array_equal(values, [1.5, 2, np.nan], equal_nan=True)
    assert labels['say "so"'].tolist() == ['a "b" c', None, "d,e"]


@pytest.mark.parametrize("size", [1, 8, 1000])
def test_an_entry_is_the_same_wherever_blocks_of_lines_begin(tmp_path, monkeypatch, size):
    """A mark of UTF-8 text is skipped where a text begins: other people's lengths would say where that is."""
    monkeypatch.setattr(csv_file, "_BLOCK", size)
    path = csv_of(["\ufeffa,1", "a,1", "\ufeffa,0"], tmp_path / "t.csv", "arm,x")
    assert read(path, labels=("arm",))[2]["arm"].tolist() == ["\ufeffa", "a", "\ufeffa"]


@pytest.mark.parametrize("harm", ["cut", "flipped", "tail", "checksum"])
def test_a_damaged_gzip_file_is_refused(tmp_path, harm):
    """Whatever zlib says of it, the message is ours."""
    whole = gzip.compress("\n".join(["x", *(f"{i / 7}" for i in range(5000))]).encode())
    harmed = {
        "cut": whole[:-900],
        "flipped": whole[:500] + bytes(255 - byte for byte in whole[500:900]) + whole[900:],
        "tail": whole + b"tail",
        "checksum": whole[:-8] + b"\0" * 4 + whole[-4:],
    }[harm]
    (tmp_path / "t.csv.gz").write_bytes(harmed)
    with pytest.raises(
        discreet.DiscreetError, match=r"damaged, truncated|UTF-8|as many entries|not a number"
    ):
        read(tmp_path / "t.csv.gz")


@pytest.mark.parametrize("unit", [b"\0", b"1", b"1,"])
def test_a_small_packed_file_of_one_endless_line_is_refused_in_little_memory(tmp_path, monkeypatch, unit):
    """A line has a longest length: a packed file unfolds to a thousand times its size."""
    monkeypatch.setattr(csv_file, "LONGEST", 2**20)
    monkeypatch.setattr(csv_file, "_BLOCK", 2**20)
    packer = zlib.compressobj(1, wbits=31)
    with (tmp_path / "t.csv.gz").open("wb") as out:
        out.write(packer.compress(b"x\n"))
        for _ in range(50):
            out.write(packer.compress(unit * (2**20 // len(unit))))
        out.write(packer.flush())
    tracemalloc.start()
    try:
        with pytest.raises(discreet.DiscreetError, match="bytes"):
            read(tmp_path / "t.csv.gz")
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_one_long_entry_costs_its_own_length(tmp_path):
    """An array of fixed width gave everyone the room of the longest: gigabytes for one of 40,000 letters."""
    rows = [f"p{i},{'ab'[i % 2]},{i % 2}" for i in range(20_000)]
    asked = {"labels": ("arm",), "columns": ["x"], "person": discreet.Person("id", "first")}
    plain = csv_of(rows, tmp_path / "a.csv", "id,arm,x")
    long = csv_of([f"{'p' * 40_000},{'b' * 40_000},1", *rows[1:]], tmp_path / "b.csv", "id,arm,x")
    read(plain, **asked)
    peaks, times = [], []
    for path in (plain, long):
        tracemalloc.start()
        start = time.process_time()
        _, _, labels, _ = read(path, **asked)
        codes(labels["arm"], ("a", "b"))
        assert as_read(labels["arm"]).dtype == object
        times.append(time.process_time() - start)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 2**20
    assert times[1] < 3 * times[0] + 0.5


def test_a_null_character_makes_another_entry():
    """NumPy's text drops it from the end, and a 2 with one was a 2."""
    entries = np.array(["2\0", "2", "u\0", "u"], dtype=object)
    assert codes(entries, (2, "u")).tolist() == [-1, 0, -1, 1]
    assert codes(entries, ("2", "02", "u")).tolist() == [-1, 0, -1, 2]
    assert as_read(entries).tolist() == entries.tolist()


@pytest.mark.parametrize("reduce", [None, "first"])
def test_what_an_identifier_is_does_not_depend_on_those_of_others(reduce):
    """Yes/no, whole numbers, floats: the same text, whatever type the column has beside an odd entry."""
    for ids in ([True, False], [1, 2], [1.5, 2.0], np.array([0.1, 0.2], np.float32)):
        plain, odd = pd.Series(ids), pd.Series([*ids, "odd"], dtype=object)
        seen = [
            read(pd.DataFrame({"id": one, "x": 0.5}), person=discreet.Person("id", reduce))[3]
            for one in (plain, pd.Series([*ids, None], dtype=object), odd)
        ]
        assert seen[0] == seen[1] == seen[2][:2]


def test_versions_are_not_numbers():
    """Of "7" and "7.0" one person is made, of "v7" and "v7.0" two."""
    frame = pd.DataFrame({"id": ["7", "7.0", "v7", "v7.0", "7.0.0"], "x": 0.5})
    assert read(frame, person=discreet.Person("id", "first"))[3] == ["7", "v7", "v7.0", "7.0.0"]


def test_rounded_identifiers_are_refused_one_by_one():
    """A category of long whole numbers is floats once somebody's is missing: two people would become one."""
    ids = pd.Categorical([2**60, 2**60 + 1, None])
    frame = pd.DataFrame({"id": pd.Series([float(2**60), "x", None], dtype=object), "x": 0.5})
    with pytest.raises(discreet.DiscreetError, match="as text"):
        read(frame, person="id")
    assert len(read(frame.assign(id=ids), person="id")[3]) == 2


def test_parts_of_a_folder_have_one_type_for_a_column(tmp_path):
    """float32 beside doubles is refused; a part in which nobody has a value is read as the first part is."""
    for number, column in enumerate((np.ones(3, np.float32), np.ones(3))):
        pq.write_table(pa.table({"x": column}), tmp_path / f"{number}.parquet")
    with pytest.raises(discreet.DiscreetError, match="another kind"):
        read(tmp_path)
    pq.write_table(pa.table({"x": pa.nulls(3)}), tmp_path / "1.parquet")
    (values,) = read(tmp_path)[1]
    assert values.dtype == np.float32
    assert np.isnan(values[3:]).all()
