"""One person, many rows: reduced to one contribution before anything is counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.data.table import open_table

VISITS = pd.DataFrame(
    {
        "patient": ["b", "a", "b", "c", None, "a", "b"],
        "arm": [1, 0, 0, 1, 1, 0, 1],
        "value": [1.0, 4.0, np.nan, np.nan, 9.0, 6.0, 3.0],
        "flag": [0, 0, 1, 0, 1, 0, 0],
    }
)


def rows_of(reduce):
    """Return the block of one row each."""
    table = open_table(
        VISITS, columns=["value", "flag"], labels=("arm",), person=discreet.Person("patient", reduce)
    )
    return next(iter(table.blocks()))


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [
        ("mean", [[2.0, 1 / 3], [5.0, 0.0], [np.nan, 0.0]]),
        ("first", [[1.0, 0.0], [4.0, 0.0], [np.nan, 0.0]]),
        ("any", [[1.0, 1.0], [1.0, 0.0], [np.nan, 0.0]]),
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
    assert 0 < moved <= before.certificate.sup * (1 + 1e-9)
    naive = (
        discreet.measure(high, test, columns=["x"]).score[0]
        - discreet.measure(low, test, columns=["x"]).score[0]
    )
    assert naive > before.certificate.sup  # the wrong twin: rows counted as people break it


def test_votes_follow_the_person():
    """With ids, the order of rows does not matter: blocks are drawn by identifier."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"id": [f"p{i}" for i in range(200)], "x": rng.random(200), "y": rng.random(200)})
    test = discreet.Vote(test=lambda values: values.mean(axis=0) - 0.4, blocks=20, adjacency="add-remove")
    shuffled = frame.sample(frac=1, random_state=0)
    first, second = (discreet.measure(data, test, person="id") for data in (frame, shuffled))
    assert np.array_equal(first.score, second.score)


def test_an_unknown_reduction_is_refused():
    """Only mean, first and any."""
    with pytest.raises(discreet.DiscreetError, match="reduce"):
        discreet.Person("id", "median")
