"""Words and numbers that stand for no entry, declared for a whole table: read alike from every kind of it."""

from __future__ import annotations

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.data.tables.reading import Tables
from discreet.errors import InputError

CODES = ("k.A.", -9, 999)
ROWS = [
    ("arm", "x", "y", "who"),
    *zip([0, 1, "k.A.", 1], [1.5, -9, 2, "k.A."], [999, 5, 6, 7], [999, 1, 2, -9], strict=True),
]


def written(folder, kind):
    """Return the same table in one of its kinds."""
    head, rows = ROWS[0], ROWS[1:]
    if kind == "csv":
        path = folder / "t.csv"
        path.write_text("\n".join(",".join(map(str, row)) for row in ROWS) + "\n", "utf-8")
        return path
    if kind == "xlsx":
        book = openpyxl.Workbook()
        for row in ROWS:
            book.active.append(row)
        book.save(folder / "t.xlsx")
        return folder / "t.xlsx"
    return pd.DataFrame(
        {name: pd.Series([row[at] for row in rows], dtype=object) for at, name in enumerate(head)}
    )


def values(data, **asked):
    """Return everyone's values, who they are, and the labels of the arm."""
    (block,) = Tables(data).read(("arm",), columns=["x", "y"], **asked).blocks()
    return np.stack(
        [np.asarray(column, float) for column in np.moveaxis(np.asarray(block.values), -1, 0)]
    ), block


@pytest.mark.parametrize("kind", ["csv", "xlsx", "pandas"])
def test_codes_are_missing_in_every_column_but_that_of_the_person(tmp_path, kind):
    """Numbers and words alike, groups too; somebody whose number is 999 is still there."""
    table = discreet.Table(written(tmp_path, kind), missing=CODES)
    found, block = values(table, person=None)
    nan = np.nan
    np.testing.assert_array_equal(found, [[1.5, nan, 2, nan], [nan, 5, 6, 7]])
    assert [label is None for label in block.labels["arm"]] == [False, False, True, False]
    _, block = values(table, person="who")
    assert len(block.people) == 4


def test_without_codes_the_same_words_are_refused_with_a_way_out(tmp_path):
    """The message says what to type and nothing of the cell."""
    for kind in ("csv", "xlsx"):
        with pytest.raises(InputError, match="--missing WORD") as refusal:
            values(written(tmp_path, kind), person=None)
        assert "k.A." not in str(refusal.value)


def test_a_code_for_missing_is_no_level():
    """Of declared answers, those that stand for nothing make no hypothesis; a group cannot be one."""
    answers = pl.Enum(["no", "yes", "k.A."])
    frame = pl.DataFrame({"g": [0, 1, 9, 1], "a": pl.Series(["no", "yes", "k.A.", "yes"], dtype=answers)})
    table = discreet.Table(frame, missing=["k.A.", 9])
    assert Tables(table).read(("g",), columns=None, person=None).names == ("a=yes",)
    with pytest.raises(InputError, match="also in missing"):
        discreet.measure(table, discreet.RankSum(group="g", levels=[0, 9]))


def test_they_are_part_of_the_request_and_of_plan_files(tmp_path):
    """Another list is another request, one code spelled otherwise is not; plans name them."""
    path = written(tmp_path, "csv")
    known = [Tables(discreet.Table(path, missing=codes)).public() for codes in (None, "9", [9.0], ["9", "x"])]
    assert "missing" not in known[0]
    assert known[1] == known[2] != known[3]
    drawn = CliRunner().invoke(app, ["describe", str(path), "--missing", "k.A.", "--missing", "-9"])
    assert 'missing = ["k.A.", "-9"]' in drawn.output
    plan = tmp_path / "plan.toml"
    plan.write_text(f'data = "{path}"\ngroup = "arm"\nlevels = [0, 1]\nmissing = ["k.A.", -9]\n', "utf-8")
    shown = CliRunner().invoke(app, ["discover", "--config", str(plan), "--dry-run"])
    assert shown.exit_code == 0, shown.output
    assert "k.A." in shown.output


@pytest.mark.parametrize("wrong", [[None], [float("nan")], {"x": 9}, [9, 9.0], [[9]]])
def test_what_is_no_code_is_refused(wrong):
    """Codes are text or numbers, all different."""
    with pytest.raises(InputError, match="missing"):
        discreet.Table("t.csv", missing=wrong)


def test_a_code_is_known_in_columns_of_less_precision():
    """-99.9 is another number in float32: that one is meant. Wrong twin: without codes nothing is missing."""
    entries = pl.Series([-99.9, 1.5, 999.0], dtype=pl.Float32)
    for codes, missing in (((-99.9, "999", 1e300, "k.A."), [True, False, True]), (None, [False] * 3)):
        table = discreet.Table(pl.DataFrame({"x": entries}), missing=codes)
        (block,) = Tables(table).read((), columns=["x"], person=None).blocks()
        assert block.columns[0].dtype == np.float32
        assert np.isnan(block.columns[0]).tolist() == missing
