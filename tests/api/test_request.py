"""Releases against a ledger: refused beyond the total, stored before they are shown, repeated for nothing."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import discreet
from discreet import request as requests
from discreet.errors import BudgetError, InputError
from discreet.methods.method import Method
from discreet.privacy.ledger import Ledger

ASK = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}
TEST = discreet.Proportion(null=0.5)


@pytest.fixture
def ledger(tmp_path):
    """Return a ledger with one data set of exactly one release's budget."""
    book = Ledger(tmp_path / "budget.ledger")
    book.create("people", epsilon=1.0, delta=1e-6)
    return book


@pytest.fixture
def people():
    """Return a table in which column 3 stands out."""
    rng = np.random.default_rng(5)
    table = rng.random((20_000, 10)) < 0.5
    table[:, 3] = True
    return table


@pytest.mark.parametrize("method", ["aware", "peel"])
def test_a_release_of_the_whole_budget_fits_and_no_second_one(ledger, people, method):
    """The charge of (epsilon, delta) fits a total of (epsilon, delta); after it nothing does."""
    r = discreet.discover(people, TEST, ledger=ledger, dataset="people", method=method, **ASK)
    assert "3" in r.discoveries
    assert (r.budget.data_set, r.budget.epsilon, r.budget.delta) == ("people", 1.0, 1e-6)
    assert 0.9 < r.budget.spent <= 1.0
    assert r.budget.next == ledger.budget("people").left
    assert ledger.history("people")[0].state == "released"
    with pytest.raises(BudgetError):
        discreet.discover(people, TEST, ledger=ledger, dataset="people", q=0.1, epsilon=0.1, delta=1e-6)
    assert ledger.budget("people").releases == 1


def test_the_same_request_returns_the_stored_release(ledger, people):
    """Asked again under the same id: the same record, nothing spent; of other data it is refused."""
    asked = {"ledger": ledger, "dataset": "people", "release_id": "first", **ASK}
    first = discreet.discover(people, TEST, **asked)
    assert discreet.discover(people, TEST, **asked) == first
    assert ledger.budget("people").releases == 1
    for other in ("there is no such file.csv", people[:, :9]):
        with pytest.raises(InputError, match=r"other parameters \(data\)"):
            discreet.discover(other, TEST, **asked)
    with pytest.raises(InputError, match="other parameters"):
        discreet.discover(people, TEST, **{**asked, "q": 0.2})
    with pytest.raises(InputError, match="other parameters"):
        discreet.discover(people, discreet.Proportion(null=0.4), **asked)


@pytest.mark.parametrize("result", ['"a word"', "[1]", "{}", "null"])
def test_results_that_are_no_releases_are_passed_over(ledger, result):
    """Whoever pays by hand stores any JSON text; asked for by its id, it is refused in words."""
    ledger.pay("people", [discreet.ZCDP(1e-6)], "replace", {}, lambda *_: result, "own")
    with pytest.raises(InputError, match="no release of 'people'"):
        discreet.stored(ledger, "people")
    with pytest.raises(InputError, match="question of your own"):
        discreet.stored(ledger, "people", "own")


def test_an_empty_stored_release_is_still_a_release(ledger):
    """A release without discoveries is not drawn a second time."""
    evidence = discreet.Evidence.from_z(np.zeros(20), sensitivity=1.0, adjacency="replace")
    asked = {"ledger": ledger, "dataset": "people", "release_id": "none", **ASK}
    first = discreet.release(evidence, **{**asked, "q": 0.01})
    assert len(first) == 0
    assert discreet.release(evidence, **{**asked, "q": 0.01}) == first
    assert ledger.budget("people").releases == 1


def test_bad_data_spends_nothing(ledger, tmp_path):
    """What cannot be read is refused before the charge."""
    with pytest.raises(InputError):
        discreet.discover(tmp_path / "nothing.csv", TEST, ledger=ledger, dataset="people", **ASK)
    with pytest.raises(InputError):
        discreet.discover(np.zeros((0, 3)), TEST, ledger=ledger, dataset="people", **ASK)
    assert ledger.budget("people").releases == 0


def test_an_empty_budget_is_noticed_before_the_data_is_read(ledger, people):
    """The file does not even have to exist."""
    discreet.discover(people, TEST, ledger=ledger, dataset="people", **ASK)
    with pytest.raises(BudgetError):
        discreet.discover("there is no such file.csv", TEST, ledger=ledger, dataset="people", **ASK)


def test_a_release_carries_the_hash_that_seals_it(ledger, people):
    """The same when it comes out of the ledger again; `verify` finds it there."""
    asked = {"ledger": ledger, "dataset": "people", "release_id": "first", **ASK}
    first = discreet.discover(people, TEST, **asked)
    assert first.budget.head == ledger.head() == ledger.history("people")[0].settled
    assert discreet.discover(people, TEST, **asked).budget.head == first.budget.head
    assert requests.stored(ledger, "people", "first") == first
    assert ledger.verify(first.budget.head).good


def dying(ledger, ready=Method.ready):
    """Return a method's `ready` whose draw finds the charge on disk, and is then told to stop."""

    def dies():
        with closing(sqlite3.connect(f"{ledger.path.as_uri()}?immutable=1", uri=True)) as db:
            assert db.execute("SELECT kind FROM chain WHERE position = 2").fetchone() == ("charge",)
        raise KeyboardInterrupt

    return lambda method, asked, data: replace(ready(method, asked, data), draw=dies)


@pytest.mark.parametrize("release_id", ["cut", None])
def test_a_draw_that_is_interrupted_is_charged_and_completed(ledger, people, monkeypatch, release_id):
    """The charge is on disk before noise is drawn; the same again draws, and spends nothing more."""
    asked = {"ledger": ledger, "dataset": "people", "release_id": release_id, **ASK}
    monkeypatch.setattr(Method, "ready", dying(ledger))
    with pytest.raises(KeyboardInterrupt) as stopped:
        discreet.discover(people, TEST, **asked)
    assert "asked again, the same is completed for nothing" in stopped.value.__notes__[0]
    assert ledger.budget("people").unfinished == 1
    monkeypatch.undo()
    with pytest.raises(BudgetError):
        discreet.discover(people, TEST, **{**asked, "release_id": "new"})
    assert "3" in discreet.discover(people, TEST, **asked).discoveries
    assert (ledger.budget("people").releases, ledger.budget("people").unfinished) == (1, 0)


def test_other_neighbours_are_refused(ledger, people):
    """A promise about replacing people cannot be spent on one about adding them."""
    test = discreet.Proportion(null=0.5, adjacency="add-remove", least=1000)
    with pytest.raises(BudgetError, match="adjacency"):
        discreet.discover(people, test, ledger=ledger, dataset="people", **ASK)


def test_a_ledger_needs_a_data_set_and_the_other_way_round(ledger, people):
    """One without the other is refused with the remedy."""
    with pytest.raises(InputError, match="dataset"):
        discreet.discover(people, TEST, ledger=ledger, **ASK)
    with pytest.raises(InputError, match="ledger"):
        discreet.discover(people, TEST, dataset="people", **ASK)


def test_a_release_says_what_was_asked(people):
    """The record holds the test and its public arguments."""
    r = discreet.discover(people, TEST, columns=["3", "4"], **ASK)
    assert r.parameters["test"] == {"name": "proportion", "null": 0.5, "alternative": "two-sided"}
    assert r.parameters["columns"] == ["3", "4"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_come_back_in_the_callers_kind(library, people):
    """From pandas to pandas, from polars to polars."""
    module = pytest.importorskip(library)
    frame = module.DataFrame({f"x{i}": people[:, i] for i in range(10)})
    r = discreet.discover(frame, TEST, **ASK)
    assert isinstance(r.to_frame(), module.DataFrame)


def test_a_whole_number_and_its_float_are_the_same_request(ledger, people):
    """epsilon=1 and epsilon=1.0 find the same stored release."""
    asked = {"ledger": ledger, "dataset": "people", "release_id": "first", "q": 0.1, "delta": 1e-6}
    first = discreet.discover(people, TEST, epsilon=1, **asked)
    assert discreet.discover(people, TEST, epsilon=1.0, **asked) == first
