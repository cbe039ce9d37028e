"""Levels that a table's own type does not have are refused before anything is read, with the near miss."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.data.tables.columns import declared_levels
from discreet.data.tables.reading import Tables

PEOPLE = 400
SEX = ["Female", "Male"]


def columns():
    """Return a table by column: half women, one stratum for each of two cities."""
    return {
        "x": [i / PEOPLE for i in range(PEOPLE)],
        "sex": [SEX[i % 2] for i in range(PEOPLE)],
        "yes": [i % 3 == 0 for i in range(PEOPLE)],
    }


def of_pandas(_):
    """Return categories of pandas."""
    frame = pd.DataFrame(columns())
    return frame.assign(sex=pd.Categorical(frame["sex"], [*SEX, "Other"]))


def of_polars(_):
    """Return an Enum of polars."""
    return pl.DataFrame(columns(), schema_overrides={"sex": pl.Enum([*SEX, "Other"])})


def of_lazy(folder):
    """Return a query."""
    return of_polars(folder).lazy()


def of_arrow(folder):
    """Return what polars hands to Arrow: the schema holds the categories, but for early versions."""
    table = of_polars(folder).to_arrow()
    if b"_PL_ENUM_VALUES2" not in (table.schema.field("sex").metadata or {}):
        pytest.skip("this version of polars writes categories into Arrow's schema in another way")
    return table


def of_parquet(folder):
    """Return a Parquet file that polars wrote."""
    of_arrow(folder)
    of_polars(folder).write_parquet(folder / "people.parquet")
    return folder / "people.parquet"


def of_folder(folder):
    """Return a folder of such files."""
    of_parquet(folder)
    return folder


MAKES = [of_polars, of_lazy, of_arrow, of_parquet, of_folder]


@pytest.mark.parametrize("make", MAKES)
def test_a_misspelt_level_is_refused_with_the_near_miss(make, tmp_path):
    """A level of a group, of a stratum, of a column to test; the right ones pass."""
    table = make(tmp_path)
    wrong, right = ("female", "Male"), ("Female", "Male")
    kind = {"bounds": (0, 1)}
    for levels in (wrong, right):
        for test, chosen in (
            (discreet.TwoGroups(group="sex", levels=levels, **kind), ["x"]),
            (discreet.Stratified(group="yes", stratum="sex", strata=levels, **kind), ["x"]),
            (discreet.Sign(), {"sex": list(levels)}),
            (discreet.Sign(), f"sex={','.join(levels)}"),
        ):
            if levels is right:
                discreet.measure(table, test, columns=chosen)
            else:
                with pytest.raises(
                    discreet.DiscreetError, match=r"'female'; did you mean 'Female'\?.*'Other'"
                ):
                    discreet.measure(table, test, columns=chosen)


@pytest.mark.parametrize("make", [of_pandas, *MAKES])
def test_a_yes_no_column_has_two_levels(make, tmp_path):
    """A word is neither of them."""
    test = discreet.TwoGroups(group="yes", levels=("no", "yes"), bounds=(0, 1))
    with pytest.raises(discreet.DiscreetError, match="'False', 'True'"):
        discreet.measure(make(tmp_path), test, columns=["x"])


def test_what_occurs_in_a_file_declares_nothing(tmp_path):
    """Categories of pandas, dictionaries of Parquet and polars' Categorical hold what people entered."""
    frame = of_pandas(tmp_path)
    frame.to_parquet(tmp_path / "p.parquet")
    words = pl.DataFrame(columns(), schema_overrides={"sex": pl.Categorical})
    for table in (frame, tmp_path / "p.parquet", words, words.lazy(), words.to_arrow()):
        (sex,) = (column for column in Tables(table).opened.columns if column.name == "sex")
        assert declared_levels(sex) is None
        with pytest.raises(discreet.DiscreetError) as refusal:
            discreet.measure(
                table, discreet.Stratified(group="yes", stratum="sex", strata=["Malle"], bounds=(0, 1))
            )
        assert "Female" not in str(refusal.value)


def test_declared_answers_are_tested_without_being_named(tmp_path):
    """An Enum is tested by its levels: each of several, one of two; what is none of them cannot occur."""
    for make in MAKES:
        table = make(tmp_path)
        assert discreet.measure(table, discreet.Sign(null=0.5)).names == (
            *("x", "sex=Female", "sex=Male", "sex=Other", "yes"),
        )
    two = pl.DataFrame(columns(), schema_overrides={"sex": pl.Enum(SEX)})
    assert discreet.measure(two, discreet.Sign(null=0.5), columns="s*").names == ("sex=Male",)
    assert discreet.measure(two, discreet.Sign(null=0.5), columns={"sex": None}).names == ("sex=Male",)


def test_an_empty_stratum_is_refused_wherever_the_table_comes_from():
    """Strata are public: one that nobody is in was misspelt."""
    test = discreet.Stratified(group="yes", stratum="sex", strata=("female", "Male"), bounds=(0, 1))
    with pytest.raises(discreet.DiscreetError, match="stratum 'female'"):
        discreet.measure(pd.DataFrame(columns()), test, columns=["x"])


def test_the_preview_lists_levels_that_are_text(tmp_path):
    """Most files declare none: whoever reads the preview sees how they are spelt."""
    pd.DataFrame(columns()).to_csv(tmp_path / "people.csv", index=False)
    line = ["discover", str(tmp_path / "people.csv"), "--test", "two-groups", "--group", "sex"]
    line += ["--levels", "female", "Male", "--bounds", "0", "1"]
    told = CliRunner().invoke(app, [*line, "--dry-run"])
    assert "compared letter by letter: 'female', 'Male'" in told.output
    assert "compared letter by letter" in CliRunner().invoke(app, line).output
