"""One person's entry, however odd, raises nothing and warns of nothing."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.block import codes
from discreet.errors import InputError

N = 200


def people(**columns):
    """Return a table of people; each column given replaces the first person's entry by an odd one."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": [f"p{i}" for i in range(N)], "a": rng.random(N), "b": rng.random(N)})
    for name, entry in columns.items():
        table[name] = pd.Series([entry, *table.get(name, table["b"])[1:]], dtype=object)
    return table


def numbers(first, kind=np.float64):
    """Return an array of numbers of which the first is odd."""
    table = np.random.default_rng(1).random((N, 2)).astype(kind)
    table[0, 0] = first
    return table


def signalling():
    """Return an array with a signalling NaN."""
    table = numbers(0.0)
    table.view(np.uint64)[0, 0] = 0x7FF0000000000001
    return table


def visits(first, second):
    """Return a table in which one person has two rows."""
    table = pd.DataFrame({"id": ["p", "p", *map(str, range(N))], "a": [first, second, *[0.5] * N]})
    return table, discreet.Person("id", "mean")


MEAN = discreet.Mean(bounds=(0, 1), null=0.5)
VOTE = discreet.Vote(test=lambda values: values.mean(axis=0), blocks=5)


@pytest.mark.parametrize(
    ("table", "test", "options"),
    [
        (people(y=10**400), discreet.Correlation(partner="y"), {"columns": ["a", "b"]}),
        (people(y=10**400), discreet.Proportion(null=0.5), {"columns": {"y": ["u", 1]}}),
        (people(id="\udc80"), VOTE, {"columns": ["a"], "person": "id"}),
        (visits(np.inf, -np.inf)[0], MEAN, {"person": visits(0, 0)[1]}),
        (visits(1.7e308, 1.7e308)[0], MEAN, {"person": visits(0, 0)[1]}),
        (numbers(1.7e308), discreet.SignedRank(null=-1e308), {}),
        (numbers(np.longdouble("1e400"), np.longdouble), MEAN, {}),
        (signalling(), discreet.SignedRank(), {}),
    ],
    ids=["partner", "level", "person", "inf", "overflow", "shift", "long double", "signalling"],
)
def test_nothing_is_raised_and_nothing_is_warned_of(table, test, options):
    """Either would tell that somebody's entry is odd."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        discreet.measure(table, test, **options)


def test_a_width_beyond_all_numbers_is_refused():
    """It is public, so it may be."""
    with pytest.raises(InputError, match="width is a finite number"):
        discreet.Mean(bounds=(-1.7e308, 1.7e308), null=0.0)


@pytest.mark.parametrize("kind", ["int64", "Int64", "int64[pyarrow]", "table", "parquet"])
def test_a_whole_number_beyond_floats_is_rounded_and_not_quoted(kind, tmp_path):
    """Arrow refuses to round 2^60 + 1 and quotes it; here it is clipped like any other value."""
    entries = [2**60 + 1, *[0] * (N - 1)]
    table = pd.DataFrame({"a": pd.array(entries, dtype=kind if "nt64" in kind else "int64")})
    data = table
    if kind == "table":
        data = pa.table(table)
    elif kind == "parquet":
        data = tmp_path / "t.parquet"
        table.to_parquet(data)
    test = discreet.Mean(bounds=(0, 1), null=0.5)
    plain = discreet.measure(np.array(entries, dtype=np.float64)[:, None], test)
    assert np.array_equal(discreet.measure(data, test).score, plain.score)


def in_two_forms(table, name, entry, kind, folder):
    """Return a table, and its neighbour in which the first person's entry is an odd one."""
    odd = table.astype({name: object})
    odd.loc[0, name] = entry
    if kind == "pandas":
        return table, odd
    for place, one in enumerate((table, odd)):
        one.to_csv(folder / f"{place}.csv", index=False)
    return folder / "0.csv", folder / "1.csv"


@pytest.mark.parametrize("kind", ["pandas", "csv"])
@pytest.mark.parametrize("levels", [(1, 2), ("1", "2"), (1.0, "2.0")])
@pytest.mark.parametrize("entry", ["unknown", 1.5, None])
def test_one_odd_phenotype_does_not_change_what_all_others_are_taken_for(kind, levels, entry, tmp_path):
    """A column of numbers becomes one of text by a single entry; a score moves by the sensitivity at most."""
    rng = np.random.default_rng(2)
    dose = rng.binomial(2, 0.4, N)
    table = pd.DataFrame({"rs": dose, "phenotype": 1.0 + (rng.random(N) < 0.2 + 0.3 * dose)})
    test = discreet.Trend(maf_floor=0.5, case_floor=0.5, levels=levels)
    one, two = (
        discreet.measure(data, test) for data in in_two_forms(table, "phenotype", entry, kind, tmp_path)
    )
    assert one.score[0] > 0
    assert np.abs(one.score - two.score).max() <= one.certificate.sensitivity


@pytest.mark.parametrize("kind", ["pandas", "csv"])
@pytest.mark.parametrize(
    "levels",
    [
        ("2024-01-01", "2024-01-02"),
        ("2024-01-01T00:00", "2024-01-02T00:00"),
        ("08:00", "20:00"),
        ("01", "1"),
        ("0x1", "0x2"),
    ],
)
@pytest.mark.parametrize("entry", ["unknown", "2024-01-01 10:30:00", "3.5"])
def test_phenotypes_that_look_like_dates_or_codes_are_read_one_by_one(kind, levels, entry, tmp_path):
    """A reader takes a column for dates, times or numbers until one entry is something else."""
    rng = np.random.default_rng(2)
    dose = rng.binomial(2, 0.4, N)
    case = (rng.random(N) < 0.2 + 0.3 * dose).astype(int)
    table = pd.DataFrame({"rs": dose, "phenotype": np.array(levels, dtype=object)[case]})
    test = discreet.Trend(maf_floor=0.5, case_floor=0.5, levels=levels)
    one, two = (
        discreet.measure(data, test) for data in in_two_forms(table, "phenotype", entry, kind, tmp_path)
    )
    assert one.score[0] > 0
    assert np.abs(one.score - two.score).max() <= one.certificate.sensitivity


@pytest.mark.parametrize(
    ("entries", "levels"),
    [((2**53, 2**53 + 1), (2**53, 2**53 + 1)), ((False, True), ("1", "01"))],
)
def test_levels_that_are_one_number_are_told_apart_alike_in_every_column(entries, levels):
    """Long whole numbers and yes/no are floats in a column of their kind, and stay so beside an odd entry."""
    plain = np.array(entries * 4)
    odd = plain.astype(object)
    odd[0] = "odd"
    found = codes(plain.astype(np.float64), levels)
    assert np.array_equal(codes(odd, levels)[1:], found[1:])
    assert found.max() >= 0


def test_a_whole_number_of_thousands_of_digits_is_just_no_level():
    """Python refuses to write it out; nothing is raised."""
    assert codes(np.array([10**5000, 0, "x"], dtype=object), (0, "x")).tolist() == [-1, 0, 1]


@pytest.mark.parametrize("kind", ["pandas", "csv"])
@pytest.mark.parametrize(
    ("entries", "levels"),
    [
        ([1, 2, 3], [1, 2]),
        ([1, 2, 3], ["1", "2"]),
        ([1.0, 2.5, 3.0], ["1", "2.5"]),
        (["01", "1", "x"], ["01", "1"]),
        ([True, False, True], [True]),
        ([True, False, True], ["true", "False"]),
        (["2024-01-01", "2024-01-02", "2024-01-03"], ["2024-01-01"]),
        (["2024-01-01 10:00", "2024-01-02 11:00", "2024-01-03 12:00"], ["2024-01-01 10:00"]),
    ],
)
def test_one_odd_entry_does_not_change_which_level_all_others_have(kind, entries, levels, tmp_path):
    """Columns of declared levels: a score moves by the sensitivity at most, and levels are found at all."""
    table = pd.DataFrame({"c": (entries * N)[:N]})
    test, columns = discreet.Proportion(null=0.1), {"c": levels}
    one, two = (
        discreet.measure(data, test, columns=columns)
        for data in in_two_forms(table, "c", "odd", kind, tmp_path)
    )
    assert one.score[0] > 0
    assert np.abs(one.score - two.score).max() <= one.certificate.sensitivity


@pytest.mark.slow
def test_a_missing_entry_does_not_change_how_all_others_are_rounded():
    """14 of 30 in 2^20 parts differs between precisions, and pandas holds no missing small whole number."""
    table = pd.DataFrame({"a": np.full(2**19, 14, dtype=np.uint8)})
    missing = table.astype(np.float64)
    missing.loc[0, "a"] = np.nan
    test = discreet.Mean(bounds=(0, 30), null=14 - 0.1)
    one, two = discreet.measure(table, test), discreet.measure(missing, test)
    assert 0 < one.score[0] < one.null.ceiling
    assert np.abs(one.score - two.score).max() <= one.certificate.sensitivity * 0.1


@pytest.mark.parametrize("kind", ["pandas", "csv"])
def test_one_odd_entry_does_not_change_how_other_blocks_read_theirs(kind, tmp_path):
    """A function of a block's labels sees numbers in every block but the one with the odd entry."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"a": rng.random(N), "arm": rng.integers(0, 2, N).astype(float)})

    def arms_differ(values, labels):
        return np.full(values.shape[1], 0.0 if set(labels["arm"].tolist()) == {0.0, 1.0} else 1.0)

    test = discreet.Vote(test=arms_differ, blocks=20, reads=("arm",))
    one, two = (
        discreet.measure(data, test, columns=["a"])
        for data in in_two_forms(table, "arm", "unknown", kind, tmp_path)
    )
    assert one.score[0] > two.score[0] > 0
    assert np.abs(one.score - two.score).max() <= one.certificate.sensitivity


@pytest.mark.parametrize("kind", ["arrow", "polars", "parquet"])
def test_a_date_that_python_has_none_of_is_not_quoted(kind, tmp_path):
    """It is refused by the name of its column, whatever reads it."""
    days = pa.array([1, 2] * 50 + [1_073_741_999], pa.int32()).cast(pa.date32())
    table = pa.table({"day": days, "a": np.arange(101.0)})
    if kind == "polars":
        table = pl.from_arrow(table)
    elif kind == "parquet":
        pq.write_table(table, tmp_path / "t.parquet")
        table = tmp_path / "t.parquet"
    person = discreet.Person("day", reduce="mean")
    with pytest.raises(InputError, match="column 'day' holds dates") as refusal:
        discreet.measure(table, discreet.Sign(null=3), person=person, columns=["a"])
    assert "1073741999" not in str(refusal.value)
