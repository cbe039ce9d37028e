"""Any single change to a ledger file is noticed; without the chain it would not be."""

import gc
import json
import re
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import astuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import LedgerError
from discreet.privacy.events import ZCDP, Pure
from discreet.privacy.ledger import Ledger, chain
from discreet.privacy.ledger.chain import replay

COLUMNS = ("kind", "dataset", "time", "body", "hash")
KINDS = ("create", "charge", "settle")


def filled(path):
    """Return a ledger of two data sets, six charges and four results: twelve rows."""
    ledger = Ledger(path)
    ledger.create("cohort", epsilon=1.0, delta=1e-6)
    ledger.create("survey", epsilon=2.0, delta=0.0, adjacency="add-remove")
    for i in range(3):
        first = ledger.charge("cohort", [ZCDP(0.001 * (i + 1))], "replace", {"q": 0.1, "i": i}, f"c{i}")
        second = ledger.charge("survey", [Pure(0.1)], "add-remove", {"q": 0.2}, f"s{i}")
        if i:
            ledger.settle(first, json.dumps({"found": [i]}))
            ledger.settle(second, json.dumps({"found": []}))
    return ledger


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Return the path of a ledger to copy and change."""
    return filled(tmp_path_factory.mktemp("chain") / "original.ledger").path


def copy_of(original, changes):
    """Return a ledger with the file of `original`, changed by SQL."""
    path = original.with_name("changed.ledger")
    shutil.copyfile(original, path)
    with closing(sqlite3.connect(path)) as db, db:
        for sql, values in changes:
            db.execute(sql, values)
    return Ledger(path)


def rows_of(original):
    """Return the chain's rows as they are."""
    with closing(sqlite3.connect(original)) as db:
        return [chain.Row(*row) for row in db.execute("SELECT * FROM chain ORDER BY position")]


def shifted(start, by):
    """Return SQL that renumbers all rows from `start` on: past the rows that are there, then back."""
    return [
        ("UPDATE chain SET position = position + 1000 WHERE position >= ?", (start,)),
        ("UPDATE chain SET position = position - 1000 + ? WHERE position >= 1000", (by,)),
    ]


def swap(a, b):
    """Return SQL that makes two rows change places."""
    return [
        ("UPDATE chain SET position = -1 WHERE position = ?", (a,)),
        ("UPDATE chain SET position = ? WHERE position = ?", (a, b)),
        ("UPDATE chain SET position = ? WHERE position = -1", (b,)),
    ]


@st.composite
def attacks(draw, rows):
    """Draw one change: its name and its SQL."""
    n = len(rows)
    at = draw(st.integers(1, n))
    row = rows[at - 1]
    kind = draw(st.sampled_from(["edit", "delete", "cut", "swap", "insert", "append", "head", "renumber"]))
    if kind == "edit":
        column = draw(st.sampled_from(COLUMNS))
        old = getattr(row, column)
        others = st.sampled_from(sorted({getattr(r, column) for r in rows}))
        texts = st.one_of(
            others, st.just(old + " "), st.text(max_size=8), st.just(old[:-1] + chr(ord(old[-1]) ^ 1))
        )
        new = draw(st.one_of(texts, st.integers(-9, 9), st.binary(max_size=4)).filter(lambda new: new != old))
        change = f"UPDATE chain SET {column} = ? WHERE position = ?"  # noqa: S608 (a column of ours)
        return kind, [(change, (_encodable(new), at))]
    if kind == "delete":
        gone = [("DELETE FROM chain WHERE position = ?", (at,))]
        return kind, gone + (shifted(at + 1, -1) if draw(st.booleans()) else [])
    if kind == "cut":
        return kind, [("DELETE FROM chain WHERE position >= ?", (at,))]
    if kind == "swap":
        return kind, swap(at, draw(st.integers(1, n).filter(lambda other: other != at)))
    if kind in {"insert", "append"}:
        # A forger who seals the new row well, but not the rows after it.
        place = at if kind == "insert" else n + 1
        previous = rows[place - 2].hash if place > 1 else draw(st.sampled_from([r.hash for r in rows]))
        body = draw(st.sampled_from([r.body for r in rows]))
        what = draw(st.sampled_from(KINDS))
        sealed = chain.seal(previous, place, what, row.dataset, row.time, body)
        new = (place, what, row.dataset, row.time, body, sealed)
        return kind, [*shifted(place, 1), ("INSERT INTO chain VALUES (?, ?, ?, ?, ?, ?)", new)]
    if kind == "head":
        column, new = draw(
            st.sampled_from(
                [
                    ("seed", "0" * 32),
                    ("position", at - 1),
                    ("position", n + at),
                    ("position", "x"),
                    ("seed", b"x"),
                    ("hash", rows[at - 2].hash),
                    (None, 0),
                ]
            ).filter(lambda pair: pair != ("hash", rows[-1].hash))
        )
        if column is None:
            return kind, [("DELETE FROM head", ())]
        return kind, [(f"UPDATE head SET {column} = ?", (new,))]  # noqa: S608 (a column of ours)
    return kind, shifted(at, draw(st.sampled_from([1, 5, -1000])))


def _encodable(value):
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_single_change_is_noticed(original, data):
    """Edited, deleted, cut, swapped, inserted, appended or renumbered rows; `verify` and every use notice."""
    _, changes = data.draw(attacks(rows_of(original)))
    ledger = copy_of(original, changes)
    assert not ledger.verify().good
    with pytest.raises(LedgerError):
        ledger.charge("cohort", [ZCDP(1e-6)], "replace", {})


def test_the_untouched_copy_is_whole(original):
    """The checks above can pass: without a change the same copy is good and can be used."""
    ledger = copy_of(original, [])
    assert ledger.verify().good
    assert ledger.verify().rows == 12
    ledger.charge("cohort", [ZCDP(1e-6)], "replace", {})


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE result SET text = replace(text, '1', '7')",
        "UPDATE result SET text = 5",
        "DELETE FROM result WHERE position = (SELECT min(position) FROM result)",
        "INSERT INTO result VALUES (1, '{}')",
        "UPDATE result SET position = position + 100",
    ],
)
def test_results_are_sealed_too(original, change):
    """A result that was changed, removed, added or moved is noticed, and never handed out."""
    ledger = copy_of(original, [(change, ())])
    verdict = ledger.verify()
    assert "result" in str(verdict)
    assert not verdict.good
    if "INSERT" not in change:
        with pytest.raises(LedgerError, match=r"result stored at row .* was changed or removed"):
            ledger.stored("cohort", "c1", {"q": 0.1, "i": 1})


def test_without_the_chain_moved_rows_are_missed(tmp_path, monkeypatch):
    """The planted fault: hashes of single rows, without what came before, miss two rows that swap costs."""

    def alone(_previous, _position, kind, dataset, time, body):
        return chain.sha256(chain.canonical([kind, dataset, time, body]))

    def swapped(ledger):
        costs = [row.position for row in rows_of(ledger.path) if row.kind == "charge"][:2]
        return copy_of(ledger.path, swap(*costs)).verify()

    assert not swapped(filled(tmp_path / "chained")).good
    monkeypatch.setattr(chain, "seal", alone)
    unchained = filled(tmp_path / "unchained")
    assert unchained.verify().good
    # The index of release ids notices it all the same: the planted fault is to have neither.
    assert swapped(unchained).faults == ("the index of release ids is not that of the rows",)


def reseal(rows, seed, *, stripped=False):
    """Return SQL that writes these rows as a whole chain of their own, with head record and running state."""
    tables = ("chain", "result", "state", "entry")
    changes = [(f"DELETE FROM {table}", ()) for table in tables]  # noqa: S608 (tables of ours)
    previous, forged = seed, []
    for place, row in enumerate(rows, 1):
        body = re.sub(r',?"state":"[0-9a-f]*"', "", row.body) if stripped else row.body
        previous = chain.seal(previous, place, row.kind, row.dataset, row.time, body)
        forged.append(chain.Row(place, row.kind, row.dataset, row.time, body, previous))
        changes.append(("INSERT INTO chain VALUES (?, ?, ?, ?, ?, ?)", astuple(forged[-1])))
    with suppress(LedgerError):
        for name, history in replay(forged).items():
            changes.append(("INSERT INTO state VALUES (?, ?)", (name, history.state.text)))
            for entry in history.entries.values():
                new = (name, entry.release_id, entry.position, 0, None)
                changes.append(("INSERT INTO entry VALUES (?, ?, ?, NULL, ?, ?)", new))
    return [*changes, ("UPDATE head SET position = ?, hash = ?", (len(rows), previous))]


def test_a_rewritten_chain_needs_a_hash_kept_elsewhere(original):
    """Who rewrites every hash is not noticed by the chain, as documented; a hash kept elsewhere tells."""
    rows = rows_of(original)
    with closing(sqlite3.connect(original)) as db:
        (seed,) = db.execute("SELECT seed FROM head").fetchone()
    kept = [row.hash for row in rows if row.kind == "charge"]
    for forged in (rows[:3], [row for row in rows if row.kind == "create"]):
        ledger = copy_of(original, reseal(forged, seed))
        assert ledger.verify().good
        assert not ledger.verify(kept[-1]).good
        assert "rewritten or cut" in str(ledger.verify(kept[-1]))
    assert copy_of(original, reseal(rows[:3], seed)).verify(kept[0]).good


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("create", '{"aside":0.0,"delta":1e-6,"epsilon":9.0,"neighbours":"replace"}', "not one this library"),
        (
            "charge",
            '{"events":[{"kind":"zcdp","rho":0.5,"count":1}],"release_id":"x","request":{}}',
            "exceed",
        ),
        (
            "charge",
            '{"events":[{"kind":"zcdp","rho":-1,"count":1}],"release_id":"x","request":{}}',
            "not one",
        ),
        ("charge", '{"events":[],"release_id":"c0","request":{}}', "not one this library"),
        ("settle", '{"release_id":"c1","sha256":"0"}', "not one this library"),
        ("settle", '{"release_id":"none","sha256":"0"}', "not one this library"),
        ("refund", '{"release_id":"c0"}', "not one this library"),
        ("charge", "[]", "not one this library"),
        ("charge", "nonsense", "not one this library"),
    ],
)
def test_forged_rows_must_also_make_sense(original, kind, body, words):
    """A well-sealed row that no ledger writes is noticed all the same."""
    rows = [row for row in rows_of(original) if row.kind != "settle"]
    with closing(sqlite3.connect(original)) as db:
        (seed,) = db.execute("SELECT seed FROM head").fetchone()
    forged = chain.Row(0, kind, "cohort", "now", body, "")
    first = [*rows, forged] if '"c1"' not in body else [*rows_of(original), forged]
    assert words in str(copy_of(original, reseal(first, seed, stripped=True)).verify())


UNDO = """CREATE TRIGGER undo AFTER UPDATE ON head WHEN NEW.position > 12 BEGIN
    DELETE FROM chain WHERE position > 12;
    UPDATE head SET position = 12, hash = (SELECT hash FROM chain WHERE position = 12);
END"""


@pytest.mark.parametrize("sql", [UNDO, "CREATE TABLE more (x)", "CREATE VIEW look AS SELECT 1"])
def test_a_planted_trigger_or_table_is_noticed(original, sql):
    """The first would undo every charge and leave a chain that holds: nothing would ever be spent."""
    ledger = copy_of(original, [(sql, ())])
    with pytest.raises(LedgerError, match="does not write"):
        ledger.charge("cohort", [ZCDP(0.001)], "replace", {})
    assert any("does not write" in fault for fault in ledger.verify().faults)


def test_a_ledger_left_in_wal_mode_comes_back(original):
    """Another program may have switched it; a copy of the file would then miss the last charges."""
    ledger = copy_of(original, [("PRAGMA application_id", ())])
    with closing(sqlite3.connect(ledger.path)) as db:
        assert db.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    ledger.charge("cohort", [ZCDP(0.001)], "replace", {})
    with closing(sqlite3.connect(ledger.path)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert ledger.verify().good


@pytest.mark.parametrize("act", [Ledger.budgets, Ledger.verify, lambda book: book.history("cohort")])
def test_a_damaged_ledger_is_let_go(original, act):
    """Who reads rows that are no text is done with the file, also before the collector has run."""
    damaged = copy_of(original, [("UPDATE chain SET body = CAST(x'ff' AS TEXT) WHERE position = 5", ())])
    gc.disable()
    try:
        with suppress(LedgerError):
            act(damaged)
        with closing(sqlite3.connect(damaged.path, timeout=0)) as other:
            other.execute("BEGIN EXCLUSIVE")
    finally:
        gc.enable()
