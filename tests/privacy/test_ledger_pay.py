"""A release is reserved, drawn and stored under one lock: whatever fails, nothing paid for is lost."""

import json
import math
import resource
import shutil
import signal
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace

import pytest

from discreet.errors import BudgetError, InputError, LedgerError
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import ZCDP, Gaussian, Pure
from discreet.privacy.ledger import Ledger, file, steps
from discreet.privacy.ledger.records import MOST_DRAWS

COST = [ZCDP(0.005)]
ASKED = {"q": 0.1, "data": {"kind": "table", "file": "people.csv", "columns": "c0ffee"}}


@pytest.fixture
def ledger(tmp_path):
    """Return a ledger with one data set, "cohort", of (1, 1e-6)."""
    made = Ledger(tmp_path / "budget.ledger")
    made.create("cohort", epsilon=1.0, delta=1e-6)
    return made


def pay(ledger, draw=lambda *_: "{}", release_id="first", request=ASKED, cost=COST):
    """Pay for one release."""
    return ledger.pay("cohort", cost, "replace", request, draw, release_id)


def fails(*_):
    """Draw nothing."""
    raise MemoryError


def never(*_):
    """Fail the test: this must not be drawn."""
    raise AssertionError


def test_a_release_is_stored_before_it_is_returned(ledger):
    """Its hash is the head of the chain after its result; asked again, it is not drawn again."""
    paid = pay(ledger, lambda charge, state: json.dumps([charge.release_id, state.sums.count]))
    assert (paid.result, paid.fresh, paid.kept) == ('["first", 1]', True, True)
    assert paid.hash == ledger.head() == ledger.history("cohort")[0].settled
    assert ledger.verify(paid.hash).good
    again = pay(ledger, never)
    assert (again.result, again.hash, again.fresh) == (paid.result, paid.hash, False)
    assert ledger.result("cohort", "first").result == paid.result
    assert (ledger.budget("cohort").releases, ledger.budget("cohort").unfinished) == (1, 0)


def test_what_is_refused_is_not_drawn(ledger):
    """The total, the neighbours, the names and the events are looked at first."""
    with pytest.raises(BudgetError):
        pay(ledger, never, cost=[ZCDP(1.0)])
    with pytest.raises(BudgetError):
        ledger.pay("cohort", COST, "add-remove", ASKED, never)
    for wrong in ({"release_id": ""}, {"cost": []}, {"request": {"x": object()}}):
        with pytest.raises(InputError):
            pay(ledger, never, **wrong)
    assert ledger.verify().rows == 1


def test_the_charge_is_on_disk_while_it_is_drawn_and_nobody_comes_between(ledger, monkeypatch):
    """The file alone shows it; who asks meanwhile waits for the lock."""
    monkeypatch.setattr(file, "BUSY_SECONDS", 0.05)
    seen = []

    def draw(charge, _):
        with closing(sqlite3.connect(f"{ledger.path.as_uri()}?immutable=1", uri=True)) as db:
            seen.extend(db.execute("SELECT kind, hash FROM chain WHERE position = 2"))
        with pytest.raises(LedgerError, match="locked for too long"):
            pay(ledger, never)
        assert seen == [("charge", charge.hash)]
        return "{}"

    assert pay(ledger, draw).fresh
    assert not pay(ledger, never).fresh
    assert [path.name for path in ledger.path.parent.iterdir()] == ["budget.ledger"]


def test_what_was_interrupted_is_completed_for_nothing(ledger):
    """By the same request under the same id; the charge stands meanwhile, and another request is refused."""
    with pytest.raises(MemoryError):
        pay(ledger, fails)
    spent = ledger.budget("cohort").spent
    assert spent > 0
    assert ledger.budget("cohort").unfinished == 1
    assert ledger.stored("cohort", "first", ASKED) is None
    with pytest.raises(LedgerError, match="completes it"):
        ledger.result("cohort", "first")
    with pytest.raises(InputError, match=r"other parameters \(q\)"):
        pay(ledger, never, request=ASKED | {"q": 0.2})
    with pytest.raises(LedgerError, match="another kind"):
        pay(ledger, never, cost=[Pure(0.004)])
    assert pay(ledger, lambda *_: '"late"').result == '"late"'
    assert ledger.budget("cohort").spent == spent
    (entry,) = ledger.history("cohort")
    assert (entry.state, entry.interrupted) == ("released", 1)
    assert ledger.verify().good


@pytest.mark.parametrize("more", [-1e-3, -1e-16, 1e-16, 1e-3])
def test_what_another_version_charged_is_completed(ledger, more):
    """Where this one draws it at a higher cost, in the last bits or by far, that is charged instead."""
    (cost,) = COST
    other = [replace(cost, rho=cost.rho * (1 + more))]
    with pytest.raises(MemoryError):
        pay(ledger, fails)
    with pytest.raises(MemoryError):
        pay(ledger, fails, cost=other)  # interrupted once more
    assert pay(ledger, cost=other).fresh
    assert ledger.verify().good
    (entry,) = ledger.history("cohort")
    assert (entry.state, entry.interrupted, ledger.budget("cohort").unfinished) == ("released", 2, 0)
    fresh = Ledger(ledger.path.with_name("fresh.ledger"))
    fresh.create("cohort", epsilon=1.0, delta=1e-6)
    pay(fresh, cost=max(COST, other, key=lambda events: events[0].rho))
    assert ledger.budget("cohort").spent == fresh.budget("cohort").spent


def test_a_higher_cost_that_does_not_fit_is_refused(ledger):
    """In words, and the charge stands as it is: the version that made it can complete it."""
    with pytest.raises(MemoryError):
        pay(ledger, fails)
    before = ledger.budget("cohort")
    with pytest.raises(BudgetError, match="higher cost"):
        pay(ledger, never, cost=[ZCDP(1e3)])
    assert ledger.budget("cohort") == before
    assert pay(ledger).fresh
    assert ledger.verify().good


def test_a_budget_spent_whole_by_one_release_is_completed(tmp_path):
    """At a cost that differs in its last bits, and alone fits as well as the first did."""
    ledger = Ledger(tmp_path / "whole.ledger")
    ledger.create("cohort", epsilon=1.0, delta=1e-6)
    mu = math.sqrt(2 * gaussian_budget(1.0, 1e-6))
    with pytest.raises(MemoryError):
        pay(ledger, fails, cost=[Gaussian(math.nextafter(mu, 0))])
    assert pay(ledger, cost=[Gaussian(mu)]).fresh
    assert ledger.verify().good


def test_without_a_chosen_id_the_same_request_completes_it_too(ledger):
    """Only the same one, and only as long as it has no result."""
    with pytest.raises(MemoryError):
        pay(ledger, fails, None)
    pay(ledger, request=ASKED | {"q": 0.2}, release_id=None)
    assert [entry.state for entry in ledger.history("cohort")] == ["charged", "released"]
    pay(ledger, release_id=None)
    assert [entry.state for entry in ledger.history("cohort")] == ["released", "released"]
    pay(ledger, release_id=None)
    assert len(ledger.history("cohort")) == 3


def test_a_charge_does_not_pay_for_draws_without_end(ledger):
    """Who interrupts on purpose gets no more than a few."""
    for _ in range(MOST_DRAWS):
        with pytest.raises(MemoryError):
            pay(ledger, fails)
    with pytest.raises(LedgerError, match="counts as spent"):
        pay(ledger, never)
    with pytest.raises(LedgerError, match="counts as spent"):
        ledger.stored("cohort", "first", ASKED)
    assert ledger.budget("cohort").releases == 1
    assert ledger.verify().good


ERRORS = [ZeroDivisionError(), ValueError(), IndexError(), AssertionError(), RuntimeWarning()]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
@pytest.mark.parametrize("release_id", ["first", None])
def test_an_error_in_a_draw_settles_it(ledger, error, release_id):
    """It may depend on what was drawn: one draw is all there is, and the charge stands without a result."""

    def raises(*_):
        raise error

    with pytest.raises(type(error)):
        pay(ledger, raises, release_id)
    (entry,) = ledger.history("cohort")
    assert (entry.state, entry.kept, entry.failed) == ("released", False, True)
    assert (ledger.budget("cohort").releases, ledger.budget("cohort").unfinished) == (1, 0)
    if release_id is None:  # another charge, under another name
        assert pay(ledger, release_id=None).fresh
        assert len(ledger.history("cohort")) == 2
    else:
        for again in (lambda: pay(ledger, never), lambda: ledger.result("cohort", "first")):
            with pytest.raises(LedgerError, match="ended in an error"):
                again()
    assert ledger.verify().good


def seen_of_a_charge(ledger, name):
    """Return what somebody sees who asks until there is an answer, where every other draw raises."""
    draws = iter([True, False] * MOST_DRAWS)

    def draw(*_):
        if next(draws):
            raise ZeroDivisionError
        return '"the second draw"'

    for _ in range(MOST_DRAWS):
        with suppress(ZeroDivisionError, LedgerError):
            return pay(ledger, draw, name).result
    return "an error"


def test_what_is_seen_of_a_charge_is_one_draw(ledger, monkeypatch):
    """Wrong twin: errors taken for interruptions, after which another draw is shown."""
    assert seen_of_a_charge(ledger, "first") == "an error"
    monkeypatch.setattr(steps, "may_tell", lambda _: False)
    assert seen_of_a_charge(ledger, "second") == '"the second draw"'


@pytest.fixture
def small_files(ledger):
    """Let no file grow by more than a little."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def limit(more):
        resource.setrlimit(resource.RLIMIT_FSIZE, (ledger.path.stat().st_size + more, limits[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("size", [10, 100_000, 3_000_000])
def test_a_result_that_does_not_fit_is_handed_out_and_never_drawn_again(ledger, small_files, size):
    """How large it is must not decide whether it is paid for: a disk quota would tell it for nothing."""
    small_files(100_000)
    text = json.dumps("x" * size)
    paid = pay(ledger, lambda *_: text)
    assert (paid.result, paid.kept) == (text, size == 10)
    assert ledger.budget("cohort").unfinished == 0
    if not paid.kept:
        for again in (lambda: pay(ledger, never), lambda: ledger.result("cohort", "first")):
            with pytest.raises(LedgerError, match="no room for the result"):
                again()
    assert ledger.verify(paid.hash).good


def test_where_there_is_no_room_to_reserve_nothing_is_drawn(ledger, small_files):
    """Refused in words, and nothing is charged."""
    small_files(0)
    with pytest.raises(LedgerError, match="disk"):
        pay(ledger, never)
    assert ledger.budget("cohort").releases == 0


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_waits_until_the_result_is_stored(ledger):
    """The first is heard afterwards and says so; a second stops the draw, which can be completed."""

    def pressed(times):
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        return "{}"

    with pytest.raises(KeyboardInterrupt, match="stored as first"):
        pay(ledger, lambda *_: pressed(1))
    assert not pay(ledger, never).fresh
    with pytest.raises(KeyboardInterrupt):
        pay(ledger, lambda *_: pressed(2), "second")
    assert [entry.state for entry in ledger.history("cohort")] == ["released", "charged"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    pay(ledger, release_id="second")
    assert ledger.budget("cohort").unfinished == 0


def test_copies_of_a_ledger_never_agree_on_a_hash(ledger, tmp_path):
    """The same id, request and result within a second: a nonce in each row tells the releases apart."""
    paid = []
    for i in range(20):
        copy = Ledger(shutil.copyfile(ledger.path, tmp_path / f"{i}.ledger"))
        paid.append(pay(copy).hash)
        assert ledger.verify(paid[-1]).faults
    assert len(set(paid)) == 20


def test_of_the_data_what_both_say_is_compared(ledger):
    """A file that is gone has no columns; one with another name is another request."""
    pay(ledger)
    gone = {"q": 0.1, "data": {"kind": "table", "file": "people.csv"}}
    assert not pay(ledger, never, request=gone).fresh
    for other in ({"file": "other.csv"}, {"file": None}, {"columns": "0"}, {"kind": "genotypes"}):
        with pytest.raises(InputError, match=r"other parameters \(data\)"):
            pay(ledger, never, request={"q": 0.1, "data": ASKED["data"] | other})


@pytest.mark.parametrize("request_", [["q"], 5, None, {"q": {1, 2}}, {"q": float("nan")}], ids=str)
def test_requests_that_json_cannot_hold_are_refused_at_every_step(ledger, request_):
    """With a release id or without: a word about the request, nothing drawn, nothing spent."""
    pay(ledger)
    for release_id in ("first", None):
        with pytest.raises(InputError, match="request must"):
            pay(ledger, never, release_id, request_)
        with pytest.raises(InputError, match="request must"):
            ledger.entry("cohort", release_id, request_)
    with pytest.raises(InputError, match="request must"):
        ledger.stored("cohort", "first", request_)
    for release_id in (5, b"first", ["first"]):
        with pytest.raises(InputError, match="release_id must"):
            pay(ledger, never, release_id)
        with pytest.raises(InputError, match="release_id must"):
            ledger.entry("cohort", release_id, ASKED)
    assert ledger.budget("cohort").releases == 1
