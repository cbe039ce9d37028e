"""The running state is what all rows add up to, exactly; a charge reads few rows, however many there are."""

import json
import math
import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import LedgerError
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Gaussian, Pure
from discreet.privacy.filter import HUGE, Filter, Sums, up
from discreet.privacy.ledger import Ledger, book, file

NUMBER = st.one_of(st.floats(0, 5), st.sampled_from([0.0, 5e-324, 1e-200, 1e100]))
EVENT = st.one_of(
    st.builds(Pure, NUMBER, st.integers(1, 9)),
    st.builds(BoundedRange, NUMBER, st.integers(1, 9)),
    st.builds(ZCDP, NUMBER, st.integers(1, 9)),
    st.builds(Gaussian, NUMBER, st.integers(1, 9)),
    st.builds(Approximate, NUMBER, st.floats(0, 1e-3), st.integers(1, 9)),
)
CHARGES = st.lists(st.lists(EVENT, min_size=1, max_size=3), max_size=6)


@pytest.mark.slow
@given(CHARGES)
def test_sums_survive_json_and_the_order_of_adding(charges):
    """Exactly: no rounding, so that nothing can be gained by many small charges."""
    sums = Sums()
    for charge in charges:
        sums = Sums.from_dict(json.loads(json.dumps(sums.to_dict()))).plus(charge)
    assert sums == Sums.of(charges)
    backwards = Sums.of(charges[::-1])
    assert (sums.rho, sums.square, sums.pure, sums.slips) == (
        backwards.rho,
        backwards.square,
        backwards.pure,
        backwards.slips,
    )


def test_many_tiny_charges_add_up():
    """A float would stop growing; the planted fault is a sum of floats, which does."""
    sums, rounded = Sums.of([[Pure(1.0)]]), 1.0
    for _ in range(100):
        sums, rounded = sums.plus([Pure(1e-17)]), rounded + 1e-17
    assert rounded == 1.0
    assert up(sums.pure) > 1.0
    assert Filter(1.0, 0.0).admits([[Pure(1.0)]])
    assert not Filter(1.0, 0.0).admits(sums)


@given(st.fractions(0, 10**60))
def test_fractions_are_rounded_up(exact):
    """By no more than one unit in the last place."""
    rounded = up(exact)
    assert rounded >= min(exact, Fraction(HUGE))
    assert rounded == HUGE or math.nextafter(rounded, 0.0) < exact or rounded == 0.0


@settings(max_examples=30)
@given(st.lists(st.lists(st.floats(0, 0.3).map(Gaussian), min_size=1, max_size=3), min_size=1, max_size=5))
def test_a_sum_decides_as_the_list_does(charges):
    """`admits` agrees with `spent` on either side of the total."""
    spent = Filter(1.0, 1e-6).spent(charges)
    if spent == 0:
        return
    for share in (1 - 1e-3, 1 - 1e-7, 1 + 1e-7, 1 + 1e-3):
        total = Filter(spent * share, 1e-6)
        assert total.admits(charges) == (total.spent(Sums.of(charges)) <= total.epsilon)


def grown(path, rows):
    """Return a ledger with two data sets and about so many rows, charged without waiting for the disk."""
    ledger = Ledger(path)
    ledger.create("cohort", epsilon=1.0, delta=1e-6)
    ledger.create("other", epsilon=1.0, delta=1e-6)
    for i in range(rows):
        ledger.charge("cohort", [ZCDP(1e-9)], "replace", {}, f"r{i}")
    return ledger


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a ledger that is not looked at whole before every use."""
    return grown(tmp_path_factory.mktemp("large") / "large.ledger", 3 * book.WHOLE)


def steps(ledger, monkeypatch):
    """Return how many steps SQLite makes for one charge, in tens."""
    count, connect = [0], file._connect

    def counted(path, *, create):
        db = connect(path, create=create)
        db.set_progress_handler(lambda: count.__setitem__(0, count[0] + 1), 10)
        return db

    with monkeypatch.context() as patch:
        patch.setattr(file, "_connect", counted)
        ledger.charge("cohort", [ZCDP(1e-9)], "replace", {})
    return count[0]


@pytest.mark.slow
def test_a_charge_takes_as_many_steps_in_a_long_ledger(tmp_path, large, monkeypatch):
    """Counted in SQLite's own steps, not in seconds; reading all rows would take thousands more."""
    short = grown(tmp_path / "short.ledger", book.WHOLE + 2)
    assert steps(large, monkeypatch) < 1.5 * steps(short, monkeypatch)
    assert large.verify().good


CHANGES = [
    "UPDATE state SET text = replace(text, '\"count\":', '\"count\":1') WHERE dataset = 'cohort'",
    "UPDATE state SET text = (SELECT text FROM state WHERE dataset = 'other') WHERE dataset = 'cohort'",
    "UPDATE state SET text = 'nonsense' WHERE dataset = 'cohort'",
    "UPDATE state SET text = 5 WHERE dataset = 'cohort'",
    "UPDATE head SET position = position - 1",
    "DELETE FROM chain WHERE position = (SELECT max(position) FROM chain)",
    "UPDATE chain SET body = replace(body, '1e-09', '0') WHERE position = (SELECT max(position) FROM chain)",
    "UPDATE chain SET dataset = 'other' WHERE position > 50",
]
SILENT = [
    "DELETE FROM state WHERE dataset = 'other'",
    "DELETE FROM entry WHERE release_id = 'r3'",
    "UPDATE entry SET charge = charge + 1 WHERE release_id = 'r3'",
    "UPDATE entry SET settle = charge WHERE release_id = 'r3'",
    "UPDATE chain SET body = replace(body, '1e-09', '0.0') WHERE position = 40",
]


@pytest.mark.parametrize("change", [*CHANGES, *SILENT])
def test_a_changed_state_is_noticed(large, tmp_path, change):
    """By `verify` always; before a charge where the state, the end of the chain or its own row is concerned.

    Elsewhere a charge goes on, and it counts everything: the state that it adds to is sealed.
    """
    with closing(sqlite3.connect(large.path)) as db, closing(sqlite3.connect(tmp_path / "x")) as copy:
        db.backup(copy)
        copy.execute(change)
        copy.commit()
    changed = Ledger(tmp_path / "x")
    assert not changed.verify().good
    if change in CHANGES:
        with pytest.raises(LedgerError, match="changed or damaged"):
            changed.charge("cohort", [ZCDP(1e-9)], "replace", {})


def test_some_rows_are_looked_at_each_time(large, tmp_path):
    """So that an old row that was changed is noticed in the long run, not only by `verify`."""
    with closing(sqlite3.connect(large.path)) as db, closing(sqlite3.connect(tmp_path / "x")) as copy:
        db.backup(copy)
        copy.execute("UPDATE chain SET time = 'never' WHERE position = 40")
        copy.commit()

    def noticed():
        try:
            return Ledger(tmp_path / "x").budget("cohort") is None
        except LedgerError:
            return True

    # A third of the rows each time, and a little more: missed 400 times with a chance below 1e-70.
    assert any(noticed() for _ in range(400))
