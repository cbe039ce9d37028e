"""An old copy of the database, put under a server or a start: noticed, refused, told to the custodian."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest
from places import ABOUT, ASK, TestClient
from sqlalchemy import delete, insert, select, text
from typer.testing import CliRunner

from discreet.cli import app
from discreet.errors import LedgerError
from discreet.privacy.events import Gaussian
from discreet.server import audit
from discreet.server.accounts import credentials, people
from discreet.server.datasets import registry
from discreet.server.http.app import build
from discreet.server.jobs import payment, queue
from discreet.server.operate import backup, heads
from discreet.server.operate.verify import verify
from discreet.server.store import Store
from discreet.server.store.memory import ForkedError, Memory
from discreet.server.store.tables import schema


def everything(place):
    """Return all rows of the database."""
    with closing(Store(place.config.url)) as store, store.reading() as db:
        return {table: db.execute(select(table)).mappings().all() for table in schema.sorted_tables}


def put_back(place, rows, more=0):
    """Put old rows in the place of all there are, and add new ones, as another program would."""
    with closing(Store(place.config.url)) as store:
        with store.writing() as db:
            for table in reversed(schema.sorted_tables):
                db.execute(delete(table))
            for table in schema.sorted_tables:
                if rows[table]:
                    db.execute(insert(table), [dict(row) for row in rows[table]])
        for _ in range(more):
            with store.writing() as db:
                audit.append(db, "noise", "nothing", "nobody")


def test_an_old_copy_under_a_running_server_is_refused(both):
    """Nothing is added to it, whatever came after; readiness ends, and the custodian reads why."""
    old = everything(both)
    with TestClient(build(both.config), follow_redirects=False) as web:
        store = web.app.state.store
        with store.writing() as db:
            custodian = credentials.session(db, "custodian", 1000.0)
            ana = credentials.session(db, "ana", 1000.0)
        assert web.get("/readyz").status_code == 200
        put_back(both, old, more=60)  # longer than the one that is gone
        with pytest.raises(ForkedError, match="old copy"), store.writing() as db:
            people.create(db, "custodian", "eve", "custodian")
        both.store.close()
        with both.store.reading() as db:
            assert "eve" not in {each.name for each in people.listed(db)}
        assert web.get("/readyz").status_code == 503
        assert web.get("/login").status_code == 200
        with both.store.writing() as db:
            known = credentials.session(db, "custodian", 1000.0)
        for secret, told in ((custodian, False), (ana, False), (known, True)):  # the copy knows the last
            web.cookies.clear()
            web.cookies.set("discreet", secret)
            page = web.get("/")
            assert (page.status_code, "old copy" in page.text) == (503, told)
        answer = web.get("/api/v1/jobs", headers={"Authorization": f"Bearer {both.token()}"})
        assert (answer.status_code, "custodian has been told" in answer.json()["error"]) == (503, True)


def test_a_live_server_looks_by_itself_and_keeps_no_head_of_an_old_copy(both):
    """Without any request it is noticed; so the next start, and every command that writes, refuse as well."""
    both.change(heads=str(both.config.home.parent / "elsewhere.txt"))
    store = Store(both.config.url)
    heads.check(store, both.config)
    witness = heads.Witness(store, both.config)
    witness.look()
    old = everything(both)
    both.submit()
    witness.look()
    kept = heads.kept(both.config)
    put_back(both, old, more=60)
    with pytest.raises(ForkedError, match="lacks row"):
        witness.look()
    assert heads.kept(both.config) == kept
    store.close()
    with pytest.raises(LedgerError, match="old copy"):
        build(both.config)


def test_what_another_server_kept_is_missed_too(both):
    """A copy newer than all this server saw is noticed by a head that another one wrote."""
    first, second = Store(both.config.url), Store(both.config.url)
    witness = heads.Witness(first, both.config)
    witness.look()
    old = everything(both)
    both.submit()
    heads.Witness(second, both.config).look()
    put_back(both, old, more=60)
    with pytest.raises(ForkedError, match=r"heads\.txt"):
        witness.look()
    with pytest.raises(ForkedError), first.writing() as db:
        audit.append(db, "x", "y", "z")
    first.close()
    second.close()


def test_a_worker_charges_nothing_to_an_old_copy(both):
    """Between taking a question and charging it the database is replaced: no charge, nothing drawn."""
    both.submit()
    claim = queue.claim(both.store, both.config, "w")
    old = everything(both)
    both.submit({**ASK, "epsilon": 0.3})
    put_back(both, old, more=60)
    paid = payment.Payment(both.store, both.config, claim, review=False)
    with pytest.raises(ForkedError):
        paid.pay("cohort", (Gaussian(0.01),), "replace", {}, lambda *_: pytest.fail("it was drawn"))
    with pytest.raises(ForkedError):
        queue.claim(both.store, both.config, "w")
    both.store.close()
    assert verify(both.store).charges == 0
    both.store.memory.advance(verify(both.store).rows, "0" * 64)  # as a server tells a new worker
    with pytest.raises(ForkedError):
        queue.claim(both.store, both.config, "w")


def test_a_start_looks_at_every_head_and_at_all_rows_after_the_newest(both):
    """However many lines came after the one that is missing; and what was changed since the last is seen."""
    place = both.change(heads=str(both.config.home.parent / "elsewhere.txt"))
    good = verify(both.store).head
    place.config.heads_file.write_text(f"7 {'0' * 64}\n" + f"8 {good}\n" * 5_000)
    with pytest.raises(LedgerError, match="0000"):
        heads.check(both.store, place.config)
    place.config.heads_file.write_text(f"8 {good}\n")
    for _ in range(3):
        both.token()
    heads.check(both.store, place.config)
    last = verify(both.store).rows
    with both.store.writing() as db:
        db.execute(text("UPDATE audit SET body = '{}' WHERE position = :last"), {"last": last - 1})
    with pytest.raises(LedgerError, match=f"row {last - 1} was changed"):
        heads.check(both.store, place.config)


def test_what_was_undone_is_not_missed(both):
    """A transaction that fails after its row of the log raises no alarm, nor do many at once."""
    with suppress(RuntimeError), both.store.writing() as db:
        audit.append(db, "x", "y", "z")
        raise RuntimeError
    other = Store(both.config.url)

    def add(number):
        store = (both.store, other)[number % 2]
        with store.writing() as db:
            for _ in range(2):
                audit.append(db, "x", "y", "z")
        seen = store.memory.last
        with store.reading() as db:
            audit.follow(db, store.memory, seen)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))
    other.close()
    assert verify(both.store).faults == ()


def test_a_file_that_was_replaced_is_noticed(place, tmp_path):
    """Connections that are open would go on with the file that is gone."""
    backup.backup(place.config, tmp_path / "copy.db")
    place.submit()
    file = place.config.home / "server.db"
    shutil.copy(tmp_path / "copy.db", tmp_path / "new.db")
    os.replace(tmp_path / "new.db", file)  # noqa: PTH105
    for act in (place.submit, lambda: queue.claim(place.store, place.config, "w")):
        with pytest.raises(ForkedError, match="replaced or removed"):
            act()


def test_a_line_that_was_cut_off_is_no_head(place):
    """A full disk or a crash leaves half a line: the next one begins anew, and nothing is missed."""
    witness = heads.Witness(place.store, place.config)
    witness.look()
    with place.config.heads_file.open("a") as file:
        file.write("12 abc")
    place.submit()
    witness.look()
    lines = place.config.heads_file.read_text().splitlines()
    assert [len(line.split()[-1]) for line in lines] == [64, 3, 64]
    assert heads.kept(place.config)[-1] == verify(place.store).head
    heads.check(place.store, place.config)


def test_what_is_lost_for_good_is_forgotten_in_so_many_words(place, tmp_path):
    """Heads in the home by `restore --forget`, heads elsewhere by whoever can write there."""
    home, copy = place.config.home, tmp_path / "copy.db"
    backup.backup(place.config, copy)
    place.submit()
    heads.Witness(place.store, place.config).look()
    place.store.close()
    serve = CliRunner().invoke
    assert serve(app, ["serve", "restore", str(home), str(copy)]).exit_code == 2
    place.change(heads=str(tmp_path / "elsewhere.txt"))
    shutil.copy(home / "heads.txt", place.config.heads_file)
    told = serve(app, ["serve", "restore", str(home), str(copy), "--forget"])
    assert (told.exit_code, "FORGOTTEN" in told.output) == (0, True)
    assert (home / "heads.txt").read_text().endswith("forget\n")
    assert serve(app, ["serve", "account", str(home), "bob"]).exit_code == 0
    with place.store.reading() as db:
        last = next(row for row in audit.latest(db, 10) if row.kind == "restored")
    assert json.loads(last.body)["forgotten"]
    with pytest.raises(LedgerError, match=r"elsewhere\.txt"):
        heads.check(place.store, place.config)
    with place.config.heads_file.open("a") as file:
        file.write("forget\n")
    heads.check(place.store, place.config)


def test_commands_write_nothing_to_an_old_copy(place):
    """They compare heads first."""
    place.config.heads_file.write_text(f"9 {'0' * 64}\n")
    told = CliRunner().invoke(app, ["serve", "account", str(place.config.home), "bob"])
    assert (told.exit_code, "old copy" in told.output) == (2, True)
    with place.store.reading() as db:
        assert registry.find(db, "cohort").about.people == ABOUT["people"]


def test_positions_only_grow():
    """Threads tell what they saw in any order."""
    memory = Memory()
    for position in (3, 5, 4):
        memory.advance(position, str(position))
    assert memory.last == (5, "5")
