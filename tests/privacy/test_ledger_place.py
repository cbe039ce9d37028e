"""A ledger has one name, so that its journal is found; and SQLite does what it is told."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from discreet.errors import LedgerError
from discreet.privacy.events import ZCDP
from discreet.privacy.ledger import Ledger, file

COST = [ZCDP(0.001)]


@pytest.fixture
def ledger(tmp_path):
    """Return a ledger with one data set, "cohort", of (1, 1e-6)."""
    made = Ledger(tmp_path / "budget.ledger")
    made.create("cohort", epsilon=1.0, delta=1e-6)
    return made


def test_a_second_hard_link_is_refused_under_both_names(ledger, tmp_path):
    """Reading too: a half-written file would be read without its journal."""
    other = Ledger(tmp_path / "other.ledger")
    os.link(ledger.path, other.path)
    for book in (ledger, other):
        for use in (
            lambda book=book: book.charge("cohort", COST, "replace", {}),
            lambda book=book: book.pay("cohort", COST, "replace", {}, lambda *_: "{}"),
            lambda book=book: book.budget("cohort"),
            lambda book=book: book.create("x", epsilon=1.0, delta=0.0),
            book.verify,
        ):
            with pytest.raises(LedgerError, match="has 2 names"):
                use()
    other.path.unlink()
    ledger.charge("cohort", COST, "replace", {})
    assert ledger.verify().rows == 2


HALF = """
import os, signal, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA cache_size = 1")
db.execute("BEGIN IMMEDIATE")
db.execute("UPDATE chain SET body = printf('%.*c', 9000, 'x')")
for i in range(200):
    db.execute("INSERT INTO result VALUES (?, printf('%.*c', 9000, 'x'))", (1000 + i,))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_why_one_name(ledger, tmp_path, monkeypatch):
    """A process is killed when half of a transaction is in the file; only its own name finds the journal.

    The planted fault is to look through the second name all the same: the file is then taken as it is, torn.
    """
    for i in range(5):
        ledger.charge("cohort", COST, "replace", {"i": i})
    second = tmp_path / "second.ledger"
    os.link(ledger.path, second)
    ran = subprocess.run([sys.executable, "-c", HALF, ledger.path], check=False)
    assert ran.returncode == -signal.SIGKILL
    torn = shutil.copyfile(second, tmp_path / "torn.ledger")
    with monkeypatch.context() as patch:
        patch.setattr(file, "check_one_name", lambda _: None)
        assert not Ledger(torn).verify().good
    with pytest.raises(LedgerError, match="has 2 names"):
        Ledger(second).verify()
    second.unlink()
    assert ledger.verify().good
    assert ledger.budget("cohort").releases == 5


def test_a_link_made_while_a_release_is_drawn_is_noticed(ledger, tmp_path):
    """Nothing is shown, and the release is completed when the link is gone."""

    def draw(*_):
        os.link(ledger.path, tmp_path / "late")
        return "{}"

    with pytest.raises(LedgerError, match="has 2 names"):
        ledger.pay("cohort", COST, "replace", {}, draw, "first")
    (tmp_path / "late").unlink()
    assert ledger.pay("cohort", COST, "replace", {}, lambda *_: "{}", "first").fresh
    assert ledger.budget("cohort").releases == 1


def test_symbolic_links_lead_to_the_file_and_its_journal(ledger, tmp_path):
    """The journal lies beside the file, whatever name was given; a link to nowhere is no ledger."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(ledger.path)
    seen = []

    def draw(*_):
        seen.extend(path.name for path in tmp_path.rglob("*-journal"))
        return "{}"

    Ledger(link).pay("cohort", COST, "replace", {}, draw)
    assert seen == ["budget.ledger-journal"]
    assert ledger.budget("cohort").releases == 1
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for wrong in (loop, tmp_path / "elsewhere" / "dangling"):
        with pytest.raises(LedgerError):
            Ledger(wrong).budgets()


@pytest.mark.parametrize("name", ["budget.ledger", "a b\\c.ledger"])
def test_a_file_mounted_by_itself_is_refused(tmp_path, monkeypatch, name):
    """As `docker run -v budget.ledger:/budget.ledger` does it; a mounted folder is well."""
    ledger = Ledger(tmp_path / name)
    ledger.create("cohort", epsilon=1.0, delta=1e-6)
    spelled = str(ledger.path).replace("\\", "\\134").replace(" ", "\\040")
    mounts = tmp_path / "mountinfo"
    line = "36 35 98:0 /mnt1 {} rw,noatime master:1 - ext3 /dev/root rw\n"
    monkeypatch.setattr(file, "_MOUNTS", mounts)
    for point in ("/", tmp_path):
        mounts.write_text(line.format(point))
        ledger.charge("cohort", COST, "replace", {})
    mounts.write_text(line.format("/") + line.format(spelled))
    with pytest.raises(LedgerError, match="mount its folder"):
        ledger.charge("cohort", COST, "replace", {})
    mounts.unlink()
    assert ledger.budget("cohort").releases == 2


def test_a_journal_mode_that_sqlite_will_not_leave_is_refused(ledger, monkeypatch):
    """Another program keeps the file in WAL mode: the answer to the pragma is read."""
    monkeypatch.setattr(file, "BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(ledger.path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("SELECT * FROM head").fetchone()
        with pytest.raises(LedgerError, match=r"durable journal|locked"):
            ledger.charge("cohort", COST, "replace", {})
    ledger.charge("cohort", COST, "replace", {})
    connect = file._connect

    def in_memory(path, *, create):
        db = connect(path, create=create)
        db.execute("PRAGMA journal_mode = OFF")
        return closing_stub(db)

    class closing_stub:  # noqa: N801 (stands for a connection)
        def __init__(self, db):
            self.db = db

        def execute(self, sql, *rest):
            return self.db.execute(sql.replace("journal_mode = DELETE", "journal_mode"), *rest)

        def close(self):
            self.db.close()

    monkeypatch.setattr(file, "_connect", in_memory)
    with pytest.raises(LedgerError, match=r"durable journal .*is off"):
        ledger.charge("cohort", COST, "replace", {})
    assert Path(ledger.path).stat().st_nlink == 1
