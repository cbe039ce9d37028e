"""Data that are not one Parquet file: genotypes, CSV, a folder, several rows a person, answers as text."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from places import PEOPLE

from discreet.errors import InputError
from discreet.lab.cohort import Simulated
from discreet.server.accounts.people import Account
from discreet.server.datasets import metadata, question, registry, shares
from discreet.server.jobs import accept


@pytest.fixture
def ask(place):
    """Return what registers a data set and asks it; the row of the job comes back."""

    def ask(path, about, body):
        with place.store.writing() as db:
            registry.register(db, "test", "other", {"path": str(path)}, about, epsilon=2.0, delta=1e-6)
            shares.grant(db, "test", "other", "everyone", 2.0, 1e-6)
        made = accept.submit(place.store, place.config, Account("ana", "analyst"), "other", body)
        place.work()
        return place.row(made)

    return ask


def test_genotypes(ask, tmp_path):
    """All variants of a .bed file; phenotypes are protected unless declared public."""
    bed = Simulated(people=400, variants=30).write(tmp_path / "cohort.bed")
    about = {"people": 400, "genotypes": True, "variants": 30}
    row = ask(bed, about, {"test": {"name": "allelic"}, "epsilon": 1})
    assert (row.state, row.detail) == ("done", "")
    with pytest.raises(InputError, match="not public here"):
        question.read({"test": {"name": "trend", "protect": "genotypes"}}, metadata.read(about))


def test_text_and_several_rows(ask, tmp_path):
    """A CSV whose answers are words and whose people have two rows each."""
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(500), 2)
    columns = {"who": who, "arm": np.array(["a", "b"])[who % 2], "hours": rng.random(1000).round(3)}
    path = tmp_path / "visits.csv"
    pc.write_csv(pa.table(columns), path)
    declared = {"arm": {"type": "answers", "levels": ["a", "b"]}, "hours": {"bounds": [0, 1]}}
    about = {"people": 500, "person": "who", "reduce": "first", "columns": declared}
    row = ask(path, about, {"test": {"name": "compare", "group": "arm"}})
    assert (row.state, row.detail) == ("done", "")


def test_a_folder(ask, tmp_path, cohort):
    """A folder of Parquet files is one table."""
    table = pq.read_table(cohort)
    (tmp_path / "folder").mkdir()
    for part in range(2):
        pq.write_table(table.slice(part * PEOPLE // 2, PEOPLE // 2), tmp_path / f"folder/{part}.parquet")
    about = {"people": PEOPLE, "columns": {"diet": {"bounds": [0, 1]}}}
    row = ask(tmp_path / "folder", about, {"test": {"name": "mean", "null": 0.5}})
    assert (row.state, row.detail) == ("done", "")


def test_every_offered_test_can_be_asked_or_says_why(place):
    """With the arguments it needs from the metadata, each test is answered or refused in public words."""
    extra = {"group": "arm", "partner": "sleep", "null": 0.5, "stratum": "treated", "strata": [0, 1]}
    from discreet.evidence.core.registry import find_test

    states = {}
    for name in metadata.OFFERED:
        options = {key: value for key, value in extra.items() if key in find_test(name).arguments()}
        columns = ["diet"] if name not in {"proportion", "two-by-two"} else ["treated"]
        try:
            made = place.submit({"test": {"name": name, **options}, "columns": columns, "epsilon": 0.2})
        except InputError as refusal:
            states[name] = str(refusal)
            continue
        place.work()
        time.sleep(max(0.0, place.row(made).visible - time.time()))
        states[name] = place.row(made).state
    assert "failed" not in states.values(), states
    assert states["compare"] == states["mean"] == states["rank-sum"] == "done", states
