"""A column of text where a test reads numbers is refused by its type, before anything is paid."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet

PEOPLE = {
    "arm": np.arange(200) % 2,
    "age": ["old", "young"] * 100,
    "years": np.linspace(20, 80, 200),
    "ended": np.arange(200) % 3 == 0,
    "x": np.random.default_rng(1).random(200),
}


@pytest.mark.parametrize(
    ("test", "right"),
    [
        (discreet.Correlation(partner="age"), discreet.Correlation(partner="years")),
        (discreet.LogRank(group="arm", event="age"), discreet.LogRank(group="arm", event="ended")),
        (
            discreet.LogRank(group="arm", event={"x": "age"}),
            discreet.LogRank(group="arm", event={"x": "ended"}),
        ),
        (
            discreet.Adjusted(group="arm", adjust={"age": (17, 90)}),
            discreet.Adjusted(group="arm", adjust={"age": ["old", "young"], "years": (17, 90)}),
        ),
    ],
)
def test_text_in_place_of_numbers_is_refused(test, right, tmp_path):
    """In frames and in files that declare types; nothing of the entries is told."""
    frame = pl.DataFrame(PEOPLE)
    frame.write_parquet(tmp_path / "people.parquet")
    for table in (frame, tmp_path / "people.parquet"):
        with pytest.raises(discreet.DiscreetError, match="'age' is text, and is read as numbers") as refusal:
            discreet.discover(table, test, columns=["x"], q=0.1, epsilon=1, delta=1e-6)
        assert "young" not in str(refusal.value)
        discreet.measure(table, right, columns=["x"])
