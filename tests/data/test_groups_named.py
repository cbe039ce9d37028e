"""Which groups are compared must be named where a file does not declare what its columns hold."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from typer.testing import CliRunner

import discreet
from discreet.check import Unnamed
from discreet.cli import app
from discreet.evidence.core.protocol import described


def written(frame, kind, folder):
    """Return the path of a table in a file of that kind."""
    path = folder / f"people.{kind}"
    match kind:
        case "csv" | "tsv":
            frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
        case "xlsx":
            frame.to_excel(path, index=False)
        case "parquet":
            frame.to_parquet(path)
        case "sav":
            pyreadstat.write_sav(frame, path)
        case _:
            frame.to_stata(path, write_index=False)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "tsv", "xlsx", "parquet", "sav", "dta"])
def test_groups_in_words_that_nobody_named_are_refused_before_anything_is_paid(kind, tmp_path):
    """In files of every kind, in Python, by a dry run and by the command; what is there is not told."""
    ledger = discreet.Ledger(tmp_path / "b.ledger")
    ledger.create("people", epsilon=1, delta=1e-5)
    words = pd.DataFrame({"arm": ["drug", "placebo"] * 50, "x": np.arange(100.0)})
    path = written(words, kind, tmp_path)
    asked = {"q": 0.1, "epsilon": 1, "delta": 1e-6, "ledger": ledger, "dataset": "people"}
    for test in (discreet.Compare(group="arm"), discreet.RankSum(group="arm")):
        with pytest.raises(discreet.DiscreetError, match="--levels A B") as refusal:
            discreet.discover(path, test, **asked)
        assert "placebo" not in str(refusal.value)
    paid = ["--ledger", str(tmp_path / "b.ledger"), "--dataset", "people"]
    for more in (["--dry-run"], paid):
        told = CliRunner().invoke(app, ["discover", str(path), "--group", "arm", *more])
        assert told.exit_code == 2
        assert "--levels A B" in told.output
        assert "placebo" not in told.output
    assert ledger.budget("people").releases == 0
    named = discreet.Compare(group="arm", levels=("placebo", "drug"))
    discreet.discover(path, named, **asked)
    assert ledger.budget("people").releases == 1


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_whether_groups_must_be_named_does_not_depend_on_what_they_are(kind, tmp_path):
    """0 and 1 in a file without types must be named as well; a dictionary that says numbers is enough."""
    numbers = pd.DataFrame({"arm": [0, 1] * 50, "x": np.arange(100.0)})
    path = written(numbers, kind, tmp_path)
    with pytest.raises(discreet.DiscreetError, match="--levels 0 1"):
        discreet.measure(path, discreet.RankSum(group="arm"))
    book = tmp_path / "book.csv"
    for line, enough in (("arm,number", True), ("arm,", False), ("x,number", False)):
        book.write_text(f"name,type\n{line}\n")
        table = discreet.Table(path, dictionary=book)
        if enough:
            discreet.measure(table, discreet.RankSum(group="arm"))
        else:
            with pytest.raises(discreet.DiscreetError, match="--levels 0 1"):
                discreet.measure(table, discreet.RankSum(group="arm"))
    named = discreet.measure(path, discreet.RankSum(group="arm", levels=(0, 1)))
    declared = discreet.measure(numbers, discreet.RankSum(group="arm"))
    assert np.array_equal(named.score, declared.score)


def test_tests_with_groups_that_nobody_named_are_alike():
    """They are equal to 0 and 1 by name, are known again as the same request, and stay so when replaced."""
    for kind in (discreet.Compare, discreet.RankSum, discreet.TwoByTwo):
        bare, named = kind(group="g"), kind(group="g", levels=(0, 1))
        assert bare == named
        assert described(bare) == described(named)
        assert isinstance(replace(bare, alternative="less").levels, Unnamed)
        assert not isinstance(named.levels, Unnamed)
        assert isinstance(copy.deepcopy(bare).levels, Unnamed)
