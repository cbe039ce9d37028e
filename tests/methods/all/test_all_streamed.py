"""Entries that stay in their file give the same sums, bit for bit, in memory that more people do not fill."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import gather
from discreet.errors import InputError
from discreet.evidence.core.streamed import Streamed
from discreet.gather import gathered
from discreet.methods.all import sums
from discreet.methods.all.clipping import Ball, Balls


def people_in(path, *, n=5_000, m=6, kinds=("f4", "f4"), seed=1):
    """Write a table of several row groups with missing entries, answers and a third group."""
    rng = np.random.default_rng(seed)
    columns = {f"x{j}": rng.normal(size=n).astype(kinds[j % 2]) for j in range(m)}
    columns["x1"][::7] = np.nan
    group = rng.integers(0, 3, n)
    answers = pa.array(np.array(["a", "b", "c"])[rng.integers(0, 3, n)])
    pq.write_table(
        pa.table({"g": group, "t": answers, **columns}),
        path,
        row_group_size=n // 3 + 1,
        write_page_checksum=True,
    )
    return path


def both(path, monkeypatch, protect, *, answers):
    """Return the same people held, and streamed."""
    monkeypatch.setattr("discreet.data.tables.parquet._ROWS", 1)  # row groups are not read together
    test = discreet.Compare(group="g", levels=(0, 1), protect=protect)
    columns = {f"x{j}": None for j in range(6)} | ({"t": ["a", "b", "c"]} if answers else {})
    held = gathered(path, test, person=None, columns=columns, stream=True)
    monkeypatch.setattr(gather, "LARGEST", 1)
    streamed = gathered(path, test, person=None, columns=columns, stream=True)
    assert isinstance(held.values, np.ndarray)
    assert isinstance(streamed.values, Streamed)
    assert len(streamed.values.blocks) > 2
    return held, streamed


@pytest.mark.parametrize("protect", ["columns", "everything"])
@pytest.mark.parametrize("kinds", [("f4", "f4"), ("f4", "f8"), ("f8", "f4")])
def test_sums_of_streamed_entries_are_those_of_held_ones(tmp_path, monkeypatch, kinds, protect):
    """Sample, missing entries and clipped rows: to the last bit, of some columns too, and held again."""
    path = people_in(tmp_path / "p.parquet", kinds=kinds)
    held, streamed = both(path, monkeypatch, protect, answers=protect == "columns")
    rng = np.random.default_rng(2)
    chosen = rng.random(held.rows) < 0.3
    some = streamed.values.sampled(chosen)
    assert np.array_equal(some.some, held.values[chosen], equal_nan=True)
    assert np.array_equal(streamed.held().values, held.values, equal_nan=True)
    assert some.kind == held.values.dtype
    count = held.values.shape[1]
    for left in (np.ones(count, dtype=bool), np.arange(count) % 2 == 1):
        columns, part = held.values[:, left], some.only(left)
        m = columns.shape[1]
        first = np.arange(m)
        expected = sums.sum_lacking(columns, first, held.group, 1.5)
        assert np.array_equal(sums.sum_lacking(part, first, held.group, 1.5), expected)
        assert expected.any()
        rules = np.tile([0.0, 0.1, 300.0, 0.0, -2000.0, 2000.0, 0.0], (2, m, 1))
        balls, positive = Balls(Ball(np.inf, 1.0), Ball(600.0, 2000.0)), np.zeros(m, dtype=bool)
        totals = sums.Totals.of(columns, held.group, balls, positive, rules)
        again = sums.Totals.of(part, held.group, balls, positive, rules)
        for name in ("rows", "squares", "weights"):
            assert np.array_equal(getattr(again, name), getattr(totals, name))


@pytest.mark.parametrize("options", [{}, {"method": "all"}, {"method": "focus"}, {"guarantee": "proved"}])
def test_releases_are_made_of_streamed_entries(tmp_path, monkeypatch, options):
    """Every method finds a clear difference, whether it can read the file again or holds it after all."""
    rng = np.random.default_rng(3)
    n = 4_000
    group = rng.integers(0, 2, n)
    columns = {f"x{j}": rng.random(n, dtype=np.float32) for j in range(5)}
    columns["x3"] += 3 * group.astype(np.float32)
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"g": group, **columns}), path, row_group_size=n // 4)
    monkeypatch.setattr(gather, "LARGEST", 1)
    test = discreet.Compare(group="g", levels=(0, 1))
    release = discreet.discover(path, test, q=0.1, epsilon=8, delta=1e-6, **options)
    assert release.discoveries[:1] == ("x3",)


def test_a_damaged_file_is_refused_before_anything_is_spent(tmp_path, monkeypatch):
    """The whole file is read once before the charge: a flipped bit is seen, and the ledger is as it was."""
    path = people_in(tmp_path / "p.parquet")
    monkeypatch.setattr(gather, "LARGEST", 1)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    ledger = discreet.Ledger(tmp_path / "ledger.jsonl")
    ledger.create("d", epsilon=5, delta=1e-5)
    test = discreet.Compare(group="g", levels=(0, 1))
    with pytest.raises(InputError):
        discreet.discover(
            path, test, q=0.1, epsilon=1, delta=1e-6, columns="x*", method="all", ledger=ledger, dataset="d"
        )
    assert ledger.budget("d").releases == 0


MEMORY = """
import sys
import discreet
from discreet import gather
from discreet.lab.bench.timing import most_memory
gather.LARGEST = int(sys.argv[2])
test = discreet.Compare(group="g", levels=(0, 1))
discreet.discover(sys.argv[1], test, q=0.1, epsilon=1.0, delta=1e-6, method="all")
print(most_memory())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are told per process on Linux")
def test_memory_does_not_grow_with_the_number_of_people(tmp_path):
    """Of 48 MB that three times the people take, less than half is held; all of it where it may be."""
    columns, few, many = 40, 150_000, 450_000
    rng = np.random.default_rng(4)
    for n in (few, many):
        table = {f"x{j}": rng.random(n, dtype=np.float32) for j in range(columns)}
        table["g"] = rng.integers(0, 2, n).astype(np.int8)
        pq.write_table(pa.table(table), tmp_path / f"{n}.parquet", row_group_size=50_000)

    def peak(n, largest):
        command = [sys.executable, "-c", MEMORY, str(tmp_path / f"{n}.parquet"), str(largest)]
        return float(subprocess.run(command, capture_output=True, encoding="ascii", check=True).stdout)

    small, large, held = peak(few, 2**20), peak(many, 2**20), peak(many, 2**29)
    more = 4 * columns * (many - few)
    assert large - small < more / 2
    assert held - small > more / 2


def test_genotypes_in_a_table_are_held(tmp_path, monkeypatch):
    """Alleles are rounded before they are compared, and so are read once; nothing fails."""
    rng = np.random.default_rng(3)
    table = {
        "g": rng.integers(0, 2, 900),
        **{f"v{j}": rng.integers(0, 3, 900).astype("f4") for j in range(5)},
    }
    pq.write_table(pa.table(table), tmp_path / "g.parquet")
    monkeypatch.setattr(gather, "memory", lambda: 1.0)
    test = discreet.Trend(group="g", levels=(0, 1))
    found = discreet.discover(tmp_path / "g.parquet", test, q=0.1, epsilon=2, delta=1e-6)
    assert len(found) <= 5


def test_a_file_put_in_the_place_of_another_is_noticed(tmp_path, monkeypatch):
    """Groups of one file and entries of another would be nobody's own rows."""
    path = people_in(tmp_path / "people.parquet")
    _, streamed = both(path, monkeypatch, "columns", answers=False)
    people_in(tmp_path / "other.parquet", seed=2).replace(path)
    with pytest.raises(discreet.DiscreetError, match="changed while it was read"):
        streamed.values.held()
