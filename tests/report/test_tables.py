"""Discoveries as data frames and as files."""
# ruff: noqa: PD011  the values of a release are not those of a pandas frame

import csv
import io
import os
import sys
from dataclasses import replace
from threading import Barrier
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from pyarrow import parquet
from sample_releases import HOSTILE, releases, sample, told

from discreet import DiscreetError, Release
from discreet.errors import InputError
from discreet.report import table
from discreet.report.genome import Located
from discreet.report.save import harmless, to_text, write_all

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


def columns_of(frame):
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("count", [0, 3])
def test_every_kind(kind, count):
    """Asked for or remembered, the kind of frame is the caller's; types do not depend on the count."""
    release = sample(count, frame=kind)
    frame, full = release.to_frame(), sample(3).to_frame(kind)
    assert isinstance(frame, FRAMES[kind])
    assert columns_of(frame) == ["rank", "hypothesis", "index", "value", "noise_sd"]
    assert len(frame) == count
    types = (lambda f: f.schema) if kind != "pandas" else (lambda f: f.dtypes.to_dict())
    assert types(frame) == types(full)


def test_the_numbers_are_the_release_s():
    """Rows stand in the order of the release."""
    release = sample(7)
    frame = release.to_frame("polars")
    assert frame["rank"].to_list() == [1, 2, 3, 4, 5, 6, 7]
    assert tuple(frame["hypothesis"]) == release.discoveries
    assert frame["index"].to_list() == release.indices.tolist()
    assert frame["value"].to_list() == release.values.noisy.tolist()
    assert frame["noise_sd"].to_list() == release.values.noise.tolist()


def test_columns_only_where_they_mean_something():
    """No rank without an order, no value that was not released."""
    assert columns_of(sample(3, values=False, ordered=False).to_frame("pandas")) == ["hypothesis", "index"]


def test_estimates_stand_beside_the_discoveries():
    """What was told of the discoveries, in their order, in place of noisy values."""
    release = told(4, m=30, k=20)
    release = replace(release, indices=release.indices[::-1], discoveries=release.discoveries[::-1])
    frame, everything = release.to_frame("pandas"), release.estimates.set_index("hypothesis")
    numbers = ["estimate", "standard_error", "low", "high", "p_value", "q_value"]
    assert list(frame) == ["rank", "hypothesis", "index", "effect", *numbers]
    assert tuple(frame["hypothesis"]) == release.discoveries
    assert frame[numbers].equals(everything.loc[[*release.discoveries], numbers].reset_index(drop=True))


@pytest.mark.slow
@given(releases())
def test_any_release_becomes_any_frame(release):
    """Hostile names and infinite values fit every kind of frame, and text."""
    for kind in FRAMES:
        assert len(release.to_frame(kind)) == len(release)
    assert to_text(release).encode()


def test_without_a_frame_library(monkeypatch):
    """The error names the extra to install."""
    monkeypatch.setattr(table, "find_spec", lambda _: None)
    for kind, extra in [(None, "pandas"), ("polars", "polars"), ("pyarrow", "files")]:
        with pytest.raises(DiscreetError, match=rf"discreet\[{extra}\]"):
            sample().to_frame(kind)


def test_the_first_installed_is_taken(monkeypatch):
    """pandas, then polars, then pyarrow."""
    assert isinstance(sample().to_frame(), pd.DataFrame)
    monkeypatch.setattr(table, "find_spec", lambda name: None if name == "pandas" else object())
    assert isinstance(sample().to_frame(), pl.DataFrame)
    assert isinstance(sample(frame="pandas").to_frame(), pl.DataFrame)


def test_an_unknown_kind_is_refused():
    """The kinds are three."""
    with pytest.raises(InputError, match="kind must be one of"):
        sample().to_frame("excel")


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_text_files(tmp_path, suffix, delimiter):
    """What is written reads back, whatever the names hold; formulas are defused."""
    names = [*HOSTILE, "+1", "-log10 CRP", "@SUM(A1)", " =1", "\uff1d1", 'a,b\t"c"\r\nd', "a\r=cmd()"]
    release = sample(len(names), names=names)
    path = release.save(tmp_path / f"found{suffix}")
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file, delimiter=delimiter)
    assert head == ["rank", "hypothesis", "index", "value", "noise_sd"]
    assert [int(row[2]) for row in rows] == release.indices.tolist()
    assert [float(row[3]) for row in rows] == release.values.noisy.tolist()
    for name, row in zip(names, rows, strict=True):
        assert row[1].removeprefix("'").replace("\r'=", "\r=") == table.valid(name)
        assert row[1].strip()[:1] not in {"=", "+", "-", "@", "\uff1d"}


def test_json_and_parquet_files(tmp_path):
    """Both keep the whole record and every name as it is."""
    release = sample(3, names=["=1", "b", "\u202e"])
    assert Release.from_json(release.save(tmp_path / "r.JSON").read_text()) == release
    found = parquet.read_table(release.save(str(tmp_path / "r.parquet")))
    assert found["hypothesis"].to_pylist() == list(release.discoveries)
    assert Release.from_json(found.schema.metadata[b"discreet"]) == release
    assert parquet.read_table(sample(0).save(tmp_path / "none.parquet")).num_rows == 0


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    """The error names the extra to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DiscreetError, match=r"discreet\[files\]"):
        sample().save(tmp_path / "r.parquet")


@pytest.mark.parametrize("name", ["report.pdf", "report", "nowhere/report.csv"])
def test_files_that_cannot_be_written(tmp_path, name):
    """Unknown suffixes and missing folders end in an InputError, and leave nothing behind."""
    with pytest.raises(InputError, match=r"path must end in|cannot write"):
        sample().save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_variants_are_defused_too():
    """A name or an allele in a variant file can be a formula; the allele "-" is none."""
    variant = SimpleNamespace(chromosome="1", position=5, name="=cmd()", effect="-", other="+1+1")
    head, row = csv.reader(io.StringIO(Located(sample(1), (variant,), 0, {"1": 9}).to_tsv()), delimiter="\t")
    found = dict(zip(head, row, strict=True))
    assert found["variant_id"] == "'=cmd()"
    assert (found["effect_allele"], found["other_allele"]) == ("-", "'+1+1")


@pytest.mark.parametrize("name", ["x;=cmd()", "x;=1+1;", 'x; "@SUM(1)"', "x\n=cmd()", "x;\uff1dcmd()"])
def test_a_formula_behind_a_semicolon_is_defused(name):
    """A spreadsheet that separates by semicolons cuts the quoted name: no part begins like a formula."""
    text = to_text(sample(1, names=[name]))
    cells = [cell.strip('" ') for line in text.splitlines() for cell in line.split(";")]
    assert not [cell for cell in cells if cell[:1] in set("=+-@\uff1d")]
    assert text.replace("'", "").splitlines()[1:] != text.splitlines()[1:]


UNSEEN = [
    "\u200b",
    "\ufeff",
    "\u00a0",
    "\t",
    "\x01",
    "\u2060",
    "\u00ad",
    "\u3164",
    "\u2800",
    "\ufe0f",
    "\u034f",
    " \u200d",
]


@pytest.mark.parametrize("before", UNSEEN, ids=ascii)
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d", "\ufe66"], ids=ascii)
def test_what_nobody_sees_hides_no_formula(before, sign):
    """A spreadsheet may drop an invisible character and run the rest: the apostrophe comes first."""
    assert harmless(f"{before}{sign}1+1").startswith("'")
    assert f"'{sign}1" in harmless(f"name;{before}{sign}1")
    assert harmless(f"{before}plain{sign}1") == f"{before}plain{sign}1"


def test_files_are_written_side_by_side(tmp_path, monkeypatch):
    """Each whole, in the order given, while the others wait for the disk; one that fails stops no other."""
    together = Barrier(3, timeout=30)  # nobody would pass it who waited for the others to be synced
    synced = os.fsync

    def sync(handle):
        together.wait()
        synced(handle)

    monkeypatch.setattr(os, "fsync", sync)
    contents = {tmp_path / name: name.encode() * 1000 for name in "abc"}
    assert write_all(contents) == tuple(contents)
    assert all(path.read_bytes() == content for path, content in contents.items())
    monkeypatch.setattr(os, "fsync", synced)
    with pytest.raises(InputError, match="cannot write"):
        write_all({tmp_path / "no" / "where": b"", tmp_path / "d": b"there"})
    assert (tmp_path / "d").read_bytes() == b"there"
