"""Nobody waits for all that somebody else asks: turns, lanes, one order of locks, one job for one request."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from places import ABOUT, ASK
from sqlalchemy import event, update

from discreet.errors import InputError
from discreet.server.accounts import credentials, people
from discreet.server.datasets import registry, shares
from discreet.server.http.rates import Rates
from discreet.server.jobs import accept, ending, queue, view
from discreet.server.operate.verify import verify
from discreet.server.store import Store
from discreet.server.store.tables import job


@pytest.fixture
def bob(both):
    """Return a second analyst of the place."""
    with both.store.writing() as db:
        made = people.create(db, "test", "bob", "analyst")
        shares.grant(db, "test", "cohort", "everyone", 2.0, 1e-6)
    return made


def test_whoever_was_served_longest_ago_comes_first(both, bob):
    """Somebody with many questions waits for their own, and newcomers for one of them at most."""
    both.change(queue_per_account=10)
    mine = [both.submit({**ASK, "epsilon": 0.1 + number / 1000}) for number in range(4)]
    his = [
        accept.submit(both.store, both.config, bob, "cohort", {**ASK, "epsilon": 0.2 + number / 1000})
        for number in range(2)
    ]
    taken = [queue.claim(both.store, both.config, f"w{number}", "ask").id for number in range(6)]
    assert taken == [mine[0], his[0], mine[1], his[1], mine[2], mine[3]]


def test_plans_and_trials_keep_no_question_waiting(both, bob):
    """They have workers of their own, one at a time for an account: a trial's time tells nothing of data."""
    trials = [both.submit(kind=kind) for kind in ("try", "plan", "try")]
    asked = both.submit()
    his = accept.submit(both.store, both.config, bob, "cohort", ASK, kind="plan")
    claim = queue.claim(both.store, both.config, "a", "ask")
    assert claim.id == asked
    assert queue.claim(both.store, both.config, "b", "ask") is None
    first = queue.claim(both.store, both.config, "t", "trial")
    assert first.id == trials[0]
    assert queue.claim(both.store, both.config, "u", "trial").id == his
    assert queue.claim(both.store, both.config, "v", "trial") is None  # ana's other trials wait for hers
    ending.end(both.store, both.config, first, ending.done("{}"))
    assert queue.claim(both.store, both.config, "v", "trial").id == trials[1]


def test_too_many_trials_leave_room_for_questions(place):
    """Each lane has its own limit for an account."""
    place.change(queue_per_account=1)
    place.submit(kind="plan")
    with pytest.raises(accept.QueueError):
        place.submit(kind="try")
    place.submit()


def test_a_question_is_begun_in_time_or_not_at_all(place):
    """So that its answer comes within the horizon of the grid, or the refusal does."""
    made = place.submit()
    with place.store.writing() as db:
        db.execute(update(job).values(submitted=time.time() - place.config.job_seconds - 1))
    assert queue.claim(place.store, place.config, "w") is None
    ending.sweep(place.store, place.config)
    assert place.row(made).message == ending.LATE


def test_a_question_that_waits_while_metadata_change_is_refused(place):
    """It was accepted under other words; nothing is spent, and nothing is paused."""
    made = place.submit()
    with place.store.writing() as db:
        registry.change(db, "test", "cohort", {**ABOUT, "review": True})
    assert place.work() == 1
    assert (place.row(made).state, place.row(made).message) == ("refused", ending.CHANGED)
    assert verify(place.store).charges == 0


def test_the_same_request_at_once_on_two_servers_is_one_job(both):
    """Every copy gets the same job, though the budget has room for one, and none an error."""
    both.change(queue_per_account=1000)
    stores = [both.store, Store(both.config.url)]

    def ask(number, kind):
        body = {**ASK, "epsilon": 1.9}
        put = {"kind": kind, "request_id": f"same-{kind}"}
        return accept.submit(stores[number % 2], both.config, both.ana, "cohort", body, **put)

    with ThreadPoolExecutor(8) as pool:
        for kind in ("ask", "plan"):
            assert len(set(pool.map(ask, range(8), [kind] * 8))) == 1
    stores[1].close()
    assert verify(both.store).faults == ()


def test_a_failure_and_a_custodian_s_pause_do_not_lock_each_other_out(on_postgres):
    """One holds the data set and wants the log, the other must not hold the log and want the data set."""
    place = on_postgres
    place.submit()
    claim = queue.claim(place.store, place.config, "w")
    begun = threading.Event()

    def fail():
        begun.wait()
        ending.end(place.store, place.config, claim, ending.failed("broken"))

    with ThreadPoolExecutor(1) as aside:
        ended = aside.submit(fail)
        with place.store.writing() as db:
            registry._locked(db, "cohort")
            begun.set()
            time.sleep(0.3)  # the other one has gone as far as it can
            registry.set_state(db, "custodian", "cohort", "paused", "a look at it")
        ended.result(timeout=60)
    assert verify(place.store).faults == ()


ORDER = ("job", "purse", "dataset", "metadata", "account", "credential", "audit")
PARENTS = {"job": "account", "purse": "dataset", "metadata": "dataset", "credential": "account"}


def test_locks_are_taken_in_one_order_everywhere(on_postgres):
    """Whatever the server does in one transaction locks tables in one order: no two can wait in a circle."""
    place, taken, wrong = on_postgres, [], []

    def look(_connection, _cursor, statement, *_):
        words = statement.replace('"', " ").split()
        if words[0] == "INSERT":  # a new row is nobody else's, but the row it names is locked
            name = PARENTS.get(words[2], words[2])
        elif words[0] == "UPDATE":
            name = words[1]
        elif "FOR UPDATE" in statement:
            name = words[words.index("FROM") + 1].strip(",")
        else:
            return
        name = "audit" if name == "head" else name
        if name not in ORDER or statement.startswith("UPDATE job SET settled"):  # of a row that is locked
            return
        # Of a table that was locked before, other rows may be meant now: not after the log.
        late = name not in taken or "audit" in taken
        if taken and late and ORDER.index(name) < max(map(ORDER.index, taken)):
            wrong.append((*taken, name))
        taken.append(name)

    def over(*_):
        taken.clear()

    event.listen(place.store.engine, "before_cursor_execute", look)
    for end in ("commit", "rollback"):
        event.listen(place.store.engine, end, over)
    everything(place)
    assert wrong == []
    with place.store.writing() as db:  # a wrong twin: two things in one transaction, the log in between
        people.create(db, "test", "eve", "analyst")
        credentials.invite(db, "test", "ana")
    assert wrong


def everything(place):
    """Do what the server can do, each as the server does it."""
    store, held = place.store, {**ABOUT, "review": True}

    def do(act, *arguments, **options):
        with store.writing() as db:
            return act(db, *arguments, **options)

    do(people.create, "test", "bob", "analyst")
    secret = do(credentials.invite, "test", "bob")
    do(lambda db: (credentials.owner_of_link(db, secret), people.set_password(db, "bob", "bob", "hash")))
    people.log_in(store, place.config, "bob", "wrong")
    do(credentials.token, "bob", "label", ("read",), 1)
    do(credentials.revoke, do(credentials.session, "bob", 10.0))
    do(people.change, "test", "bob", "auditor")
    do(people.end_sessions, "test", "bob")
    do(people.disable, "test", "bob")
    do(shares.grant, "test", "cohort", "everyone", 1.0, 1e-6)
    do(registry.change, "test", "cohort", held)
    made = place.submit()
    place.submit(kind="try")
    place.work()
    do(view.review, "test", made, action="approve")
    place.submit({**ASK, "epsilon": 0.1})
    ending.release_worker(store, place.config, queue.claim(store, place.config, "w").worker)
    ending.end(store, place.config, queue.claim(store, place.config, "w"), ending.failed("broken"))
    ending.sweep(store, place.config)
    do(registry.set_state, "test", "cohort", "open")
    assert verify(store).faults == ()


@pytest.mark.usefixtures("one_minute")
def test_requests_are_counted_for_all_servers_together(both):
    """Two servers share their counts; nobody's address or credential is stored."""
    first, second = Rates(both.store), Rates(both.store)
    assert [first.allows("me", 4) for _ in range(3)] == [True] * 3
    assert second.allows("me", 4)
    for each in (first, second, first):
        each.share()
    assert [each.allows("me", 4) for each in (first, second)] == [False, False]
    assert second.allows("you", 4)
    second.share()
    with both.store.reading() as db:
        kept = str(db.execute(queue.tables.rate.select()).all())
    assert "me" not in kept.replace("time", "")


def test_what_an_account_lost_it_lost_at_once(place):
    """A role or an account that changed between the look at a token and the question counts as it is now."""
    with place.store.writing() as db:
        people.change(db, "test", "ana", "auditor")
    with pytest.raises(InputError, match="only analysts"):
        place.submit()
    with place.store.writing() as db:
        people.disable(db, "test", "ana")
    with pytest.raises(InputError, match="no account"):
        accept.submit(place.store, place.config, replace(place.ana), "cohort", ASK)
