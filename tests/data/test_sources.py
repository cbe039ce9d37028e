"""Every way to hold the same table gives the same evidence."""

from __future__ import annotations

import gzip

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.data.tables import arrays, csv_file, parquet
from discreet.data.tables.reading import Tables

N = 5000


@pytest.fixture(scope="module")
def frame():
    """Return a pandas table with numbers, booleans, text, missing values and a public group."""
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 5, N).astype(float)
    whole[::7] = np.nan
    return pd.DataFrame(
        {
            "treated": rng.integers(0, 2, N),
            "score": rng.random(N).astype(np.float32),
            "count": rng.integers(0, 9, N).astype(np.int16),
            "gaps": whole,
            "yes": rng.random(N) < 0.3,
            "city": pd.array(rng.choice(["Ulm", "Bonn", "Kiel"], N), dtype="string"),
            "when": pd.date_range("2020-01-01", periods=N, freq="h"),
        }
    )


TEST = discreet.TwoGroups(group="treated", levels=(0, 1), bounds=(0, 9), alternative="two-sided")
NUMBERS = ["score", "count", "gaps", "yes"]


@pytest.fixture(scope="module")
def expected(frame):
    """Return the evidence from plain arrays."""
    block = discreet.block.Block(
        frame[NUMBERS].to_numpy(dtype=np.float64), {"treated": frame["treated"].to_numpy()}
    )
    accumulator = TEST.start(NUMBERS)
    accumulator.update(block)
    return accumulator.finish()


def same(evidence, expected):
    """Say whether two pieces of evidence agree in names, certificate and scores."""
    close = np.allclose(evidence.score, expected.score, atol=1e-3)
    return evidence.names == expected.names and evidence.certificate == expected.certificate and close


def written(frame, folder, kind):
    """Write the table in one of the file formats and return its path."""
    if kind == "csv":
        frame.to_csv(folder / "people.csv", index=False)
        return folder / "people.csv"
    if kind == "csv.gz":
        with gzip.open(folder / "people.csv.gz", "wt") as out:
            frame.to_csv(out, index=False)
        return folder / "people.csv.gz"
    if kind in ("parquet", "huge"):
        pq.write_table(pa.Table.from_pandas(frame), folder / "people.parquet", row_group_size=700)
        return folder / "people.parquet"
    for part in range(3):
        pq.write_table(pa.Table.from_pandas(frame[part::3]), folder / f"part-{part}.parquet")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "huge", "folder"])
def test_files_of_every_kind_agree(frame, expected, tmp_path, monkeypatch, kind):
    """CSV, gzip, Parquet and a folder of Parquet, read in many small blocks, give the same evidence."""
    monkeypatch.setattr(arrays, "CELLS", 2048)
    monkeypatch.setattr(csv_file, "_BLOCK", 5000)
    monkeypatch.setattr(parquet, "_ROWS", 2000)
    monkeypatch.setattr(parquet, "_MOST", 100 if kind == "huge" else 5000)
    path = written(frame, tmp_path, kind)
    columns = NUMBERS if "csv" in kind else None  # CSV does not say which columns are text
    table = Tables(path).read(("treated",), columns=columns, person=None)
    assert sum(1 for _ in table.blocks()) > 2
    for given in (path, str(path)):
        assert same(discreet.measure(given, TEST, columns=columns), expected)


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        lambda frame: frame.convert_dtypes(),
        lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).lazy(),
        lambda frame: pl.from_pandas(frame).lazy().filter(pl.col("count") >= 0),
        pa.Table.from_pandas,
        nw.from_native,
    ],
    ids=["pandas", "nullable", "arrow-backed", "polars", "lazy", "query", "pyarrow", "narwhals"],
)
def test_frames_of_every_make_agree(frame, expected, convert):
    """The same table in pandas, polars eager and lazy, pyarrow and narwhals gives the same evidence."""
    assert same(discreet.measure(convert(frame), TEST), expected)


def test_arrays_are_read_by_position_or_field(frame, expected):
    """A plain array names its columns 0, 1, ...; a structured one by its fields."""
    names = ["treated", "score", "count", "gaps", "yes"]
    plain = frame[names].to_numpy(dtype=np.float64)
    test = discreet.TwoGroups(group="0", bounds=(0, 9), alternative="two-sided")
    evidence = discreet.measure(plain, test)
    assert evidence.names == ("1", "2", "3", "4")
    assert np.allclose(evidence.score, expected.score, atol=1e-3)
    structured = np.rec.fromarrays([frame[name].to_numpy() for name in names], names=names)
    assert same(discreet.measure(np.asarray(structured), TEST), expected)


@pytest.mark.parametrize("kind", ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "g"])
def test_arrays_of_every_number_type_are_read(kind):
    """Yes/no, whole numbers and floats of any size give the same score as doubles."""
    values = np.random.default_rng(0).integers(0, 2, (90, 2)).astype(kind)
    test = discreet.TwoGroups(group="0", bounds=(0, 1))
    wanted = discreet.measure(values.astype(float), test).score
    assert np.array_equal(discreet.measure(values, test).score, wanted)


def test_columns_are_chosen_by_name_pattern_type_and_level(frame):
    """Each way picks what it says, and never the group column."""
    assert discreet.measure(frame, TEST, columns=["gaps", "score"]).names == ("gaps", "score")
    assert discreet.measure(frame, TEST, columns="*s*").names == ("score", "gaps", "yes")
    declared = pl.from_pandas(frame)
    assert discreet.measure(declared, TEST, columns=bool).names == ("yes",)
    assert discreet.measure(declared, TEST, columns=int).names == ("count",)
    assert discreet.measure(declared, TEST, columns=float).names == ("score", "gaps")
    for kind in (bool, int, float):
        with pytest.raises(discreet.DiscreetError, match="one missing value"):
            discreet.measure(frame, TEST, columns=kind)
    chosen = discreet.measure(frame, TEST, columns={"city": ["Ulm", "Rome"], "yes": None, "count": [1, 2.0]})
    assert chosen.names[:3] == ("city=Ulm", "city=Rome", "city=other")
    assert chosen.names[3:] == ("yes", "count=1", "count=2.0", "count=other")


def test_undeclared_levels_go_to_other_and_missing_stays_missing():
    """Every row is in one level or in "other"; a missing entry is in none. One level alone has no "other"."""
    frame = pd.DataFrame({"city": ["Ulm", "Bonn", None, "Kiel"], "n": [1, 2, 3, 4]})
    wanted = np.array([[1, 0, 0], [0, 1, 0], [np.nan] * 3, [0, 0, 1]])
    for levels, kept in ((["Ulm", "Bonn"], wanted), (["Ulm"], wanted[:, :1])):
        table = Tables(frame).read((), columns={"city": levels}, person=None)
        assert len(table.names) == kept.shape[1]
        block = next(iter(table.blocks()))
        assert np.array_equal(block.values, kept, equal_nan=True)


def test_a_list_may_name_levels_too(frame):
    """As on the command line: "city=Ulm,Rome"; a column whose own name reads like that is itself."""
    named = frame.assign(**{"city=Ulm": frame["score"]})
    columns = ["city=Ulm", "city=Bonn, Ulm", "count=1", "gaps"]
    assert discreet.measure(named, TEST, columns=columns).names == (
        "city=Ulm",
        "city=Bonn",
        "city=Ulm (2)",
        "city=other",
        "count=1",
        "gaps",
    )


@pytest.mark.parametrize("kind", ["csv", "tsv.gz", "polars", "parquet"])
def test_row_numbers_are_tested_only_when_named(frame, tmp_path, kind):
    """They are first and nameless in CSV as pandas writes it, and have a name of its own in Parquet."""
    few = frame[["treated", "score"]][frame["score"] > 0.1]
    path, separator, name = tmp_path / f"people.{kind}", "\t" if "tsv" in kind else ",", ""
    if kind == "parquet":
        few.to_parquet(path)
        data, name = path, "__index_level_0__"
    else:
        few.to_csv(path, sep=separator)
        data = pl.read_csv(path) if kind == "polars" else path
    for columns in (None, "*", ["s*"], float, ["*"]):
        assert discreet.measure(data, TEST, columns=columns).names == ("score",)
    assert discreet.measure(data, TEST, columns=[name]).names == (name or "column",)


def test_tabs_separate_where_the_name_says_so(frame, expected, tmp_path):
    """.tsv files are read like CSV."""
    frame.to_csv(tmp_path / "people.tsv", sep="\t", index=False)
    assert same(discreet.measure(tmp_path / "people.tsv", TEST, columns=NUMBERS), expected)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", "treated;score\n0;1,5\n1;2,5\n", "semicolons where commas"),
        ("a.csv", "treated\tscore\n0\t1\n1\t2\n", "tabs where commas"),
        ("a.tsv", "treated,score\n0,1\n1,2\n", "commas where tabs"),
        ("a.csv", "treated,größe\n0,1\n1,2\n", "UTF-8"),
        ("a.csv", "treated,score\n" + "0,1\n1,2\n" * 9000 + "ä,3\n", "UTF-8"),
    ],
)
def test_other_separators_and_encodings_are_named(tmp_path, name, content, reason):
    """Of a file as spreadsheets write it, the message says what is different."""
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    with pytest.raises(discreet.DiscreetError, match=reason):
        discreet.measure(tmp_path / name, TEST)


@pytest.mark.parametrize("test", ["two-groups", discreet.TwoGroups, None])
def test_a_test_is_an_object(frame, test):
    """Its name or its class is not enough."""
    with pytest.raises(discreet.DiscreetError, match="object such as TwoGroups"):
        discreet.measure(frame, test)
    with pytest.raises(discreet.DiscreetError, match="object such as TwoGroups"):
        discreet.discover(frame, test, q=0.1, epsilon=1, delta=1e-6)


def test_groups_that_are_not_there_are_about_levels(frame):
    """The message says what is assumed and how to give them; of strata only where there are some."""
    for test in (
        discreet.TwoGroups(group="city", bounds=(0, 1)),
        discreet.TwoByTwo(group="city"),
        discreet.RankSum(group="city"),
    ):
        with pytest.raises(discreet.DiscreetError, match=r"--levels A B.*0 and 1 if absent$"):
            discreet.measure(frame, test, columns=["score"])
    with pytest.raises(discreet.DiscreetError, match="'city' is text: give the values"):
        discreet.discover(
            frame, discreet.Compare(group="city"), columns=["score"], q=0.1, epsilon=1, delta=1e-6
        )
    within = discreet.Stratified(group="city", levels=("A", "B"), stratum="yes", strata=(0, 1), bounds=(0, 1))
    with pytest.raises(discreet.DiscreetError, match="strata"):
        discreet.measure(frame, within, columns=["score"])


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (["nope"], "no column 'nope'"),
        (["city"], "declare its levels"),
        (["when"], "declare its levels"),
        (["treated"], "not tested"),
        ("zzz*", "no column 'zzz\\*'"),
        ("c*y", "'c\\*y' matches only text"),
        (["city"], "--columns 'city=yes,no'"),
        (["city="], "at least one"),
        ({"city": "Ulm"}, "give a list"),
        ({"city": 3}, "give a list"),
        (str, "bool, int or float"),
        (3, "columns must be"),
        ({"city": []}, "levels"),
        ({"city": ["Ulm", "Ulm"]}, "levels"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(frame, columns, reason):
    """The message names the column and the remedy."""
    with pytest.raises(discreet.DiscreetError, match=reason):
        discreet.measure(frame, TEST, columns=columns)


@pytest.mark.parametrize("data", [3, [1, 2], np.zeros(3), np.array([["a"]]), None, {"a": [1]}])
def test_what_is_not_a_table_is_refused(data):
    """A number, a list, a vector, text: refused by type or shape alone."""
    with pytest.raises(discreet.DiscreetError, match=r"array|data must be"):
        discreet.measure(data, TEST)


def test_a_label_column_that_is_not_there_is_named(frame):
    """The group and person columns must exist."""
    with pytest.raises(discreet.DiscreetError, match="'arm'"):
        discreet.measure(frame, discreet.RankSum(group="arm"))
    with pytest.raises(discreet.DiscreetError, match="'who'"):
        discreet.measure(frame, TEST, person="who")


def test_hostile_and_repeated_names_are_kept_apart(tmp_path):
    """Repeated, empty, numeric, dotted, quoted and line-broken names each stay one column of their own."""
    names = ["a", "a", "", "x.y", 'quo"te', "nul\x00l", "=1+1", "a (2)"]
    values = np.random.default_rng(0).random((50, len(names)))
    test = discreet.Mean(bounds=(0, 1), null=0.3)
    wanted = discreet.measure(values, test).score
    pandas = pd.DataFrame(values, columns=names)
    arrow = pa.Table.from_arrays([pa.array(column) for column in values.T], names=names)
    csv = tmp_path / "hostile.csv"
    pandas.drop(columns=["nul\x00l"]).to_csv(csv, index=False)
    file = tmp_path / "hostile.parquet"
    pq.write_table(arrow.rename_columns(["a", "b", "", "x.y", "x", *names[5:]]), file)
    for data in (pandas, arrow, file):
        evidence = discreet.measure(data, test)
        assert len(set(evidence.names)) == len(names)
        assert np.array_equal(evidence.score, wanted)
    evidence = discreet.measure(csv, test)
    assert len(set(evidence.names)) == len(names) - 1
    assert np.array_equal(evidence.score, np.delete(wanted, 5))
    assert discreet.measure(pd.DataFrame({1: [0.5, 0.2], ("t", 2): [1.0, 0.0]}), test).names == (
        "1",
        "('t', 2)",
    )


PRIVATE = "31415926"


def corrupt(folder, kind):
    """Write a broken file and return its path."""
    good = pa.table({"treated": np.arange(4000) % 2, "score": np.random.default_rng(0).random(4000)})
    pq.write_table(good, folder / "good.parquet", write_page_checksum=True)
    whole = (folder / "good.parquet").read_bytes()
    head = "treated,score\n" + "0,1\n1,2\n" * 2000
    content = {
        "truncated.parquet": whole[: len(whole) // 2],
        "flipped.parquet": whole[:200] + bytes(b ^ 255 for b in whole[200:9000]) + whole[9000:],
        "empty.parquet": b"",
        "text.parquet": b"not parquet at all",
        "empty.csv": b"",
        "typed.csv": (head + f"0,{PRIVATE}x\n").encode(),
        "ragged.csv": (head + f"0,1,{PRIVATE}\n").encode(),
        "binary.csv": bytes(range(256)) * 9,
        "cut.csv.gz": gzip.compress(head.encode() * 50)[:-400],
        "not.csv.gz": head.encode(),
    }[kind]
    (folder / kind).write_bytes(content)
    return folder / kind


@pytest.mark.parametrize(
    "kind",
    [
        "truncated.parquet",
        "flipped.parquet",
        "empty.parquet",
        "text.parquet",
        "empty.csv",
        "typed.csv",
        "ragged.csv",
        "binary.csv",
        "cut.csv.gz",
        "not.csv.gz",
    ],
)
def test_broken_files_are_refused_by_name_and_without_values(tmp_path, monkeypatch, kind):
    """Damaged, truncated, empty and wrongly typed files raise one clear error, with no value in it."""
    monkeypatch.setattr(csv_file, "_BLOCK", 4096)
    path = corrupt(tmp_path, kind)
    with pytest.raises(discreet.DiscreetError) as refusal:
        discreet.measure(path, discreet.TwoGroups(group="treated", levels=(0, 1), bounds=(0, 1)))
    message = str(refusal.value)
    assert kind in message
    assert PRIVATE not in message
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None
    if kind == "typed.csv":
        assert "'score'" in message


def test_paths_that_lead_nowhere_are_refused(tmp_path):
    """Missing files, empty folders, unknown endings, and folders whose files disagree."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "people.xlsx").write_bytes(b"")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    pq.write_table(pa.table({"treated": [0, 1], "score": [0.1, 0.2]}), mixed / "a.parquet")
    pq.write_table(pa.table({"treated": [0, 1]}), mixed / "b.parquet")
    for path in (tmp_path / "gone.csv", tmp_path / "empty", tmp_path / "people.xlsx", mixed):
        with pytest.raises(discreet.DiscreetError, match=path.name):
            discreet.measure(path, discreet.TwoGroups(group="treated", levels=(0, 1), bounds=(0, 1)))


def test_an_empty_table_is_refused():
    """No rows, or no columns to test."""
    with pytest.raises(discreet.DiscreetError, match="people"):
        discreet.measure(np.zeros((0, 3)), discreet.Proportion(null=0.5))
    with pytest.raises(discreet.DiscreetError, match="no rows"):
        discreet.measure(np.zeros((0, 3)), discreet.SignedRank())
    with pytest.raises(discreet.DiscreetError, match="selects nothing"):
        discreet.measure(np.zeros((5, 0)), discreet.Proportion(null=0.5))


def test_a_name_with_a_line_break_is_refused(tmp_path):
    """One line is the header: an open quote in it could take the first people for a part of a name."""
    path = tmp_path / "people.csv"
    path.write_text('"a\nb",c\n' + "".join(f"{i % 2},1\n" for i in range(200)))
    with pytest.raises(discreet.DiscreetError, match="line 1: a quote is out of place or not closed"):
        discreet.measure(path, discreet.Proportion(null=0.4))
