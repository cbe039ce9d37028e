"""One person, many rows: reduced to one contribution before anything is counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.data.tables.reading import Tables

VISITS = pd.DataFrame(
    {
        "patient": ["b", "a", "b", "c", None, "a", "b"],
        "arm": [1, 0, 0, 1, 1, 0, 1],
        "value": [1.0, 4.0, np.nan, np.nan, 9.0, 6.0, 3.0],
        "flag": [0, 0, 1, 0, 1, 0, 0],
    }
)


CHANGES = [[2.0, 0.0], [2.0, 0.0], [np.nan, np.nan]]
SLOPES = [[1.0, 0.0], [2.0, 0.0], [np.nan, np.nan]]  # the missing visit of "b" counts as one


def rows_of(reduce):
    """Return the block of one row each."""
    person = discreet.Person("patient", reduce)
    table = Tables(VISITS).read(("arm",), columns=["value", "flag"], person=person)
    return next(iter(table.blocks()))


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [
        ("mean", [[2.0, 1 / 3], [5.0, 0.0], [np.nan, 0.0]]),
        ("first", [[1.0, 0.0], [4.0, 0.0], [np.nan, 0.0]]),
        ("any", [[1.0, 1.0], [1.0, 0.0], [np.nan, 0.0]]),
        ("difference", CHANGES),
        ("slope", SLOPES),
    ],
)
def test_rows_of_one_person_become_one(reduce, expected):
    """Values present are averaged, taken from the first row, or asked for any; nobody's rows are left out."""
    block = rows_of(reduce)
    assert np.allclose(block.values, expected, equal_nan=True)
    assert block.people.tolist() == ["b", "a", "c"]
    assert block.labels["arm"].tolist() == [1, 0, 1]


def test_repeated_people_without_a_reduction_are_refused_without_saying_who():
    """The error names the remedy, not a person, a row or a count."""
    with pytest.raises(discreet.DiscreetError, match="reduce") as refusal:
        discreet.measure(VISITS, discreet.Proportion(null=0.5), person="patient", columns=["flag"])
    assert not any(word in str(refusal.value) for word in ("'a'", "'b'", "3", "7"))


def test_one_row_each_needs_no_reduction():
    """Identifiers that do not repeat are accepted as they are, whatever their type."""
    values = np.random.default_rng(0).random(30)
    test = discreet.Mean(bounds=(0, 1), null=0.4)
    plain = discreet.measure(pd.DataFrame({"x": values}), test)
    for ids in (np.arange(30), [f"p{i}" for i in range(30)], np.arange(30) + 0.5):
        assert (
            discreet.measure(pd.DataFrame({"x": values, "id": ids}), test, person="id").score == plain.score
        )


def test_the_certificate_holds_per_person_and_not_per_row():
    """Somebody with a hundred rows moves the evidence no more than anybody else."""
    rng = np.random.default_rng(1)
    ids = np.concatenate([np.arange(50), np.full(100, 7)])
    frame = pd.DataFrame({"id": ids, "x": rng.random(150)})
    test = discreet.Mean(bounds=(0, 1), null=0.3)
    person = discreet.Person("id", "mean")
    low, high = frame.copy(), frame.copy()
    low.loc[low["id"] == 7, "x"], high.loc[high["id"] == 7, "x"] = 0.0, 1.0
    before, after = discreet.measure(low, test, person=person), discreet.measure(high, test, person=person)
    moved = abs(after.score[0] - before.score[0])
    assert 0 < moved <= before.certificate.sensitivity * (1 + 1e-9)
    naive = (
        discreet.measure(high, test, columns=["x"]).score[0]
        - discreet.measure(low, test, columns=["x"]).score[0]
    )
    assert naive > before.certificate.sensitivity  # the wrong twin: rows counted as people break it


def test_votes_follow_the_person():
    """With ids, the order of rows does not matter: blocks are drawn by identifier."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"id": [f"p{i}" for i in range(200)], "x": rng.random(200), "y": rng.random(200)})
    test = discreet.Vote(test=lambda values: values.mean(axis=0) - 0.4, blocks=20, adjacency="add-remove")
    shuffled = frame.sample(frac=1, random_state=0)
    first, second = (discreet.measure(data, test, person="id") for data in (frame, shuffled))
    assert np.array_equal(first.score, second.score)


def test_an_unknown_reduction_is_refused():
    """Only those that are documented."""
    with pytest.raises(discreet.DiscreetError, match="reduce"):
        discreet.Person("id", "median")


BIG = 2**60 + np.arange(100)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "polars", "parquet"])
@pytest.mark.parametrize("reduce", [None, "first", "mean"])
def test_identifiers_too_large_for_floats_never_make_one_person_of_two(kind, reduce, tmp_path):
    """Whole numbers of 64 bits are rounded to floats: many people would become one; as text they do not."""
    table = pd.DataFrame({"who": BIG, "x": 0.5})
    person = discreet.Person("who", reduce)
    with pytest.raises(discreet.DiscreetError, match="as text") as refusal:
        discreet.measure(as_kind(table, kind, tmp_path), discreet.Sign(null=0.25), person=person)
    assert not any(str(who) in str(refusal.value) for who in BIG)
    named = table.assign(who="p" + table["who"].astype(str))
    evidence = discreet.measure(as_kind(named, kind, tmp_path), discreet.Sign(null=0.25), person=person)
    assert evidence.certificate.people == 100


def as_kind(table, kind, folder):
    """Return the table in another form."""
    if kind == "csv":
        table.to_csv(folder / "t.csv", index=False)
        return folder / "t.csv"
    if kind == "parquet":
        table.to_parquet(folder / "t.parquet")
        return folder / "t.parquet"
    return {
        "pandas": lambda: table,
        "pyarrow": lambda: pa.table(table),
        "polars": lambda: pl.from_pandas(table),
    }[kind]()


def test_identifiers_that_differ_in_spelling_alone_are_one_person():
    """7, 7.0 and "7" are one person; a null character at the end makes another."""
    who = pd.Series([7, 7.0, "7", "a", "a\0", 8], dtype=object)
    table = pd.DataFrame({"who": who, "x": 0.5})
    evidence = discreet.measure(table, discreet.Sign(null=0.25), person=discreet.Person("who", "first"))
    assert evidence.certificate.people == 4


def test_a_folder_whose_files_disagree_on_what_an_identifier_is_is_refused(tmp_path):
    """Text in one file and numbers in the next: everybody would be counted twice."""
    pd.DataFrame({"who": ["01", "02"], "x": 0.5}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"who": [1, 2], "x": 0.5}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(discreet.DiscreetError, match="another kind"):
        discreet.measure(tmp_path, discreet.Sign(null=0.25), person=discreet.Person("who", "first"))


def test_long_identifiers_in_a_csv_file_are_read_as_they_are_spelled(tmp_path):
    """Nothing in a CSV file says that an identifier is a number."""
    table = as_kind(pd.DataFrame({"who": BIG, "x": 0.5}), "csv", tmp_path)
    assert discreet.measure(table, discreet.Sign(null=0.25), person="who").certificate.people == 100


@pytest.mark.parametrize("kind", ["pandas", "csv"])
def test_one_odd_identifier_moves_nobody_else_to_another_block(kind, tmp_path):
    """A column of numbers becomes one of text by a single entry: blocks of a vote must not depend on it."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"who": np.arange(400), "x": rng.normal(0.5, 1, 400)})
    odd = pd.concat([table, pd.DataFrame({"who": ["somebody"], "x": [0.0]})], ignore_index=True)
    vote = discreet.Vote(test=positive, blocks=40, adjacency="add-remove")
    with_and_without = []
    for place, one in enumerate((table, odd)):
        folder = tmp_path / str(place)
        folder.mkdir()
        with_and_without.append(discreet.measure(as_kind(one, kind, folder), vote, person="who"))
    one, two = with_and_without
    assert np.abs(one.score - two.score).max() <= one.certificate.sensitivity


def positive(values):
    """Return 0 where the mean is above 0.3, else 1."""
    return np.where(values.mean(axis=0) > 0.3, 0.0, 1.0)
