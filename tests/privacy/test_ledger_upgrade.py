"""A ledger of layout 1, written by an earlier version, is read as it is and goes on when it is written to."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.errors import BudgetError, LedgerError
from discreet.privacy.events import Gaussian, Pure
from discreet.privacy.ledger import Ledger, chain, file

OLD = Path(__file__).parents[1] / "golden" / "ledger_v1.ledger"


@pytest.fixture
def old(tmp_path):
    """Return a ledger with a copy of the old file."""
    return Ledger(shutil.copyfile(OLD, tmp_path / "budget.ledger"))


def layout(ledger):
    """Return the number of the layout."""
    with closing(sqlite3.connect(ledger.path)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def test_it_is_read_without_being_changed(old):
    """Budgets, history, results and the verdict; the file stays the same, byte for byte."""
    before = old.path.read_bytes()
    assert old.budgets() == ("people", "survey")
    assert (old.budget("people").releases, old.budget("people").unfinished) == (2, 1)
    assert old.budget("survey").spent == 0.75
    assert [entry.state for entry in old.history("people")] == ["released", "charged"]
    assert json.loads(old.result("people", "first").result)["m"] == 3
    assert old.verify().good
    assert old.path.read_bytes() == before
    assert layout(old) == 1


def test_it_goes_on(old):
    """The first charge upgrades it: old hashes are still in the chain, old charges still count."""
    kept = old.head()
    heads = [entry.hash for entry in old.history("people")]
    with pytest.raises(BudgetError):
        old.charge("survey", [Pure(0.5)], "add-remove", {})
    assert layout(old) == 1
    old.charge("survey", [Pure(0.125)], "add-remove", {})
    assert layout(old) == file.VERSION
    assert old.budget("survey").spent == 0.875
    for head in heads:
        assert old.verify(head).good
    assert old.verify().rows == 12
    assert old.head() != kept
    paid = old.pay("people", [Gaussian(0.01)], "replace", {"q": 0.2}, lambda *_: '"done"', "cut")
    assert (paid.result, old.budget("people").releases, old.budget("people").unfinished) == ('"done"', 2, 0)


def test_the_same_question_finds_its_old_answer(old):
    """What was asked before data had a name is compared without it."""
    asked = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6, "ledger": old, "dataset": "people", "method": "aware"}
    table = np.zeros((10, 3), dtype=bool)
    again = discreet.discover(
        table, discreet.Proportion(null=0.5, alternative="greater"), release_id="first", **asked
    )
    assert again.discoveries
    with pytest.raises(discreet.DiscreetError, match=r"other parameters \(q\)"):
        discreet.discover(
            table,
            discreet.Proportion(null=0.5, alternative="greater"),
            release_id="first",
            **{**asked, "q": 0.2},
        )


def test_a_broken_chain_is_not_upgraded(old):
    """An edited old ledger is refused whole, and `verify` says where."""
    with closing(sqlite3.connect(old.path)) as db, db:
        db.execute("UPDATE chain SET body = replace(body, '0.25', '0.05')")
    for use in (lambda: old.budget("survey"), lambda: old.charge("survey", [Pure(0.1)], "add-remove", {})):
        with pytest.raises(LedgerError, match="changed or damaged"):
            use()
    assert not old.verify().good
    assert layout(old) == 1


def test_a_damaged_upgrade_is_noticed(old):
    """The state that an upgrade computed is sealed like any other."""
    old.create("new", epsilon=1.0, delta=0.0)
    assert old.verify().good
    with closing(sqlite3.connect(old.path)) as db, db:
        (text,) = db.execute("SELECT text FROM state WHERE dataset = 'survey'").fetchone()
        state = json.loads(text)
        state["sums"]["pure"] = "1/4"
        db.execute("UPDATE state SET text = ? WHERE dataset = 'survey'", (chain.canonical(state),))
    with pytest.raises(LedgerError, match="running state"):
        old.charge("survey", [Pure(0.5)], "add-remove", {})
    assert "running state" in str(old.verify())
