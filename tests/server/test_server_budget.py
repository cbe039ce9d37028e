"""Totals and shares: held, charged, never exceeded, on both kinds of database."""

import math
import threading
import time

import pytest
from places import ASK as SMALL
from places import make_place

from discreet.errors import BudgetError, InputError
from discreet.privacy.curves import gaussian_budget
from discreet.privacy.events import Gaussian
from discreet.privacy.filter import Filter
from discreet.server import budget
from discreet.server.accounts import people
from discreet.server.jobs import accept, ending, queue
from discreet.server.operate.verify import verify
from discreet.server.store import Store

ASK = {**SMALL, "epsilon": 0.9}


def capacity(total, each):
    """Return how many releases of epsilon `each` a plain filter admits."""
    cost = Gaussian(math.sqrt(2 * gaussian_budget(each, 1e-6) * (1 + 2.0**-36)))
    count = 0
    while Filter(total, 1e-6).admits([[cost]] * (count + 1)):
        count += 1
    return count


def test_questions_are_granted_up_to_the_capacity_exactly(both):
    """Whatever is answered, refused or waiting: as many are accepted as the filter admits, and no more."""
    wanted = capacity(2.0, 0.9)
    for number in range(wanted):
        both.submit(ASK, request_id=f"r{number}", again=True)
        if number == 1:
            both.work()
    with pytest.raises(BudgetError, match="nothing was spent"):
        both.submit(ASK, again=True)
    assert both.work() == wanted - 2
    with pytest.raises(BudgetError):
        both.submit(ASK, again=True)
    verdict = verify(both.store)
    assert (verdict.faults, verdict.charges, verdict.results) == ((), wanted, wanted)


def test_two_servers_on_one_database_cannot_overspend(both):
    """Many threads on two connections to the same database accept the capacity exactly."""
    wanted = capacity(2.0, 0.9)
    stores = [both.store, Store(both.config.url)]
    granted, refused = [], []

    def ask(number):
        config = both.config
        try:
            granted.append(
                accept.submit(
                    stores[number % 2], config, both.ana, "cohort", ASK, request_id=f"n{number}", again=True
                )
            )
        except BudgetError:
            refused.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(wanted + 6)]
    both.change(queue_per_account=1000)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(granted), len(refused)) == (wanted, 6)
    stores[1].close()


def test_a_share_ends_before_the_total_and_the_total_before_the_shares(tmp_path, cohort):
    """A question must fit both; the refusal names the one that it does not fit."""
    place = make_place(tmp_path, cohort, epsilon=1.0, share=0.6)
    place.submit(SMALL)
    with pytest.raises(BudgetError, match="analyst:ana"):
        place.submit({**ASK, "epsilon": 0.4})
    with place.store.writing() as db:
        budget.open_purse(db, "cohort", "everyone", epsilon=1.0, delta=1e-6, neighbours="replace")
        other = people.create(db, "test", "bob", "analyst")
    with pytest.raises(BudgetError, match="'cohort'"):
        accept.submit(place.store, place.config, other, "cohort", {**ASK, "epsilon": 0.99})
    place.store.close()


def test_the_charge_itself_is_guarded(place):
    """Even without any hold, charges beyond the total are refused and change nothing."""
    cost = Gaussian(0.2)
    made = 0
    for _ in range(200):
        try:
            with place.store.writing() as db:
                budget.charge(db, "cohort", "analyst:ana", cost)
        except BudgetError:
            break
        made += 1
    limit = 0
    while Filter(2.0, 1e-6).admits([[cost]] * (limit + 1)):
        limit += 1
    assert made == limit
    with place.store.reading() as db:
        assert budget.purses(db, "cohort")[""].sums.count == limit


def test_what_is_left_does_not_tell_when_data_were_read(place):
    """From acceptance to the slot of the answer, what anybody is told of the budget is the same."""
    told = []

    def look():
        with place.store.reading() as db:
            state = budget.standing(db, "cohort", "analyst:ana", time.time())
            told.append((state.budget("x"), state.text))

    place.change(first_answer_seconds=1000.0)
    place.submit()
    look()
    assert place.work() == 1
    look()
    bad = place.submit({**ASK, "epsilon": 0.1})
    look()
    claim = queue.claim(place.store, place.config, "w")
    ending.end(place.store, place.config, claim, ending.failed("broken"))
    assert place.row(bad).state == "failed"
    look()
    assert told[0] == told[1]
    assert told[2] == told[3]
    assert told[0] != told[2]


def test_how_many_more_releases_like_this_one(place):
    """The plain unit agrees with asking until nothing is left."""
    cost = Gaussian(math.sqrt(2 * gaussian_budget(0.9, 1e-6)))
    with place.store.reading() as db:
        state = budget.standing(db, "cohort", "", time.time())
    assert budget.more_like(state, cost) == capacity(2.0, 0.9)
    assert budget.more_like(state, Gaussian(9.0)) == 0


def test_budgets_are_final_and_need_a_delta(place):
    """A second total is refused, and so is one without delta."""
    with place.store.writing() as db, pytest.raises(InputError, match="final"):
        budget.open_purse(db, "cohort", "", epsilon=9.0, delta=1e-6, neighbours="replace")
    with place.store.writing() as db, pytest.raises(InputError, match="delta"):
        budget.open_purse(db, "cohort", "team:x", epsilon=1.0, delta=0.0, neighbours="replace")
