"""From a table to people: what the method counts on is true of every table, however people are read."""

import audit
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import gather
from discreet.gather import gathered
from discreet.methods.all import sums
from discreet.methods.all.method import ready_all
from discreet.methods.method import Parameters

ANSWERS = ["a", "b", "c", "d"]


def visits(rng, n=12):
    """Return several rows of each person, with an answer that changes."""
    rows = [
        {"id": f"p{i}", "t": rng.choice([*ANSWERS, "x", None]), "v": rng.normal(), "g": i % 2}
        for i in range(n)
        for _ in range(rng.integers(1, 5))
    ]
    return pd.DataFrame(rows)


def read(table, reduce):
    """Return the people of a table with identifiers."""
    person = discreet.Person("id", reduce)
    return gathered(table, discreet.Compare(group="g"), person=person, columns={"t": ANSWERS, "v": None})


@pytest.mark.parametrize("reduce", ["mean", "first", "any"])
def test_a_person_gives_one_answer_to_a_question_at_most(reduce):
    """Rows that are made one may say yes to several answers; those are then not of one question."""
    for seed in range(30):
        people = read(visits(np.random.default_rng(seed)), reduce)
        for asked in people.questions:
            entries = np.asarray(people.values)[:, asked.places]
            yes, missing = entries >= 0.5, np.isnan(entries)
            assert yes.sum(axis=1).max() <= 1
            assert np.array_equal(missing.any(axis=1), missing.all(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("reduce", ["mean", "first", "any"])
def test_a_person_with_several_rows_moves_no_more_than_is_paid_for(reduce):
    """Somebody who gave all answers in turn, replaced by somebody who gave none, and by others."""
    asked = Parameters(q=0.1, epsilon=1.0, delta=1e-6, method="all")
    for seed in range(12):
        rng = np.random.default_rng(seed)
        table = visits(rng)
        others = table[table.id != "p0"]
        rows = [
            pd.DataFrame(
                [
                    {"id": "p0", "t": t, "v": rng.choice([-9.0, 9.0, np.nan]), "g": rng.integers(3)}
                    for t in said
                ]
            )
            for said in (ANSWERS, ["x"], [None], ["a", "b"], ["c", "d"])
        ]
        tables = [
            read(pd.concat([own, others] if turn % 2 else [others, own]), reduce)
            for turn, own in enumerate(rows)
        ]
        found = audit.ratios(
            lambda people: ready_all(people, asked).draw(), tables[0], tables[1:], rng, "mixed"
        )
        assert max(found.values()) <= audit.ROOM


def test_learners_are_drawn_one_by_one(monkeypatch):
    """Of few people all, of many about as many as are needed, each by a word of its own: no place counts."""
    monkeypatch.setattr(sums, "LEARNERS", 50)
    word = np.random.default_rng(1).integers(0, 2**16, 200).astype(np.uint16)
    monkeypatch.setattr(sums.entropy, "words", lambda count, kind: word[:count].astype(kind))
    chosen = sums.learners(200)
    assert 25 < np.count_nonzero(chosen) < 85
    assert sums.learners(50).all()
    word = word[::-1]
    assert np.array_equal(sums.learners(200), chosen[::-1])


@pytest.mark.parametrize("width", [1, 300])
def test_files_are_held_by_their_people_and_columns_alone(tmp_path, monkeypatch, width):
    """How many bytes a person's entries take does not decide how a file is read."""
    monkeypatch.setattr(gather, "LARGEST", 60)
    for rows, held in ((20, True), (21, False)):
        lines = [f"{i % 2},{i},{'0' * width}1,3" for i in range(rows)]
        path = tmp_path / "people.csv"
        path.write_text("\n".join(["g,a,b,c", *lines]) + "\n")
        test = discreet.RankSum(group="g", levels=(0, 1))
        assert (gathered(path, test, person=None, columns=None) is not None) == held
        test = discreet.Compare(group="g", levels=(0, 1))
        assert gathered(path, test, person=None, columns=None) is not None


def test_people_in_neither_group_have_no_entries():
    """Their entries are missing, all of them, whatever their type."""
    table = pd.DataFrame({"g": [0, 1, 2, None], "v": [1.0, 2.0, 3.0, 4.0], "w": [1, 2, 3, 4]})
    people = gathered(table, discreet.Compare(group="g"), person=None, columns=None)
    assert people.group.tolist() == [0, 1, -1, -1]
    assert np.isnan(people.values).all(axis=1).tolist() == [False, False, True, True]
    assert np.isnan(people.values).any(axis=1).tolist() == [False, False, True, True]


def test_people_of_very_many_subgroups_stay_in_their_own():
    """Subgroups are told apart however many there are: places of 16 bits would mix them."""
    many = 70_000
    label = np.array([0, 1, 40_000, 65_536, many - 1])
    table = pd.DataFrame({"v": np.zeros(5), "g": [0, 1, 0, 1, 0], "w": label})
    test = discreet.Compare(group="g", within="w", levels_within=range(many))
    people = gathered(table, test, person=None, columns=None)
    assert people.subgroup.tolist() == label.tolist()


@pytest.mark.parametrize("protect", ["columns", "everything"])
@pytest.mark.parametrize("kinds", [("f4", "f4"), ("f4", "f8"), ("f8", "f4")])
def test_blocks_of_a_file_are_read_into_their_places(tmp_path, kinds, protect):
    """Several blocks, columns of one or two types, missing entries, and people in neither group."""
    rng = np.random.default_rng(1)
    n = 2 * 70_000
    group = rng.integers(0, 3, n)
    columns = {name: rng.random(n).astype(kind) for name, kind in zip("xy", kinds, strict=True)}
    columns["x"][::7] = np.nan
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"g": group, **columns}), path, row_group_size=n // 2)
    test = discreet.Compare(group="g", levels=(0, 1), protect=protect)
    people = gathered(path, test, person=None, columns=["x", "y"])
    neither = group > 1
    expected = np.where(neither[:, None], np.nan, np.stack(list(columns.values()), axis=1))
    entries = np.asarray(people.values)
    assert entries.dtype == np.result_type(*kinds)
    assert np.array_equal(entries, expected, equal_nan=True)
    assert np.array_equal(people.group, np.where(neither, -1, group))
