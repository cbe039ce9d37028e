"""From question to answer: idempotent, recoverable, reviewed, and silent about the data."""

import json
import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import ABOUT, ASK, PEOPLE, make_place
from sqlalchemy import event, select, update

import discreet
from discreet.errors import BudgetError, InputError
from discreet.privacy.events import ZCDP, Gaussian
from discreet.server import audit, budget
from discreet.server.accounts import people
from discreet.server.accounts.people import Account
from discreet.server.datasets import registry, shares
from discreet.server.jobs import accept, ending, payment, queue, view
from discreet.server.jobs.run import run
from discreet.server.operate.verify import verify
from discreet.server.store.memory import StoreError
from discreet.server.store.tables import job

CUSTODIAN = Account("custodian", "custodian")


def seen(place, job_id, account=None):
    """Return what the analyst, or somebody else, is told of a job."""
    with place.store.reading() as db:
        return view.visible_job(db, place.config, account or place.ana, job_id)


def released(place, job_id, account=None):
    """Return the release that answers a job."""
    with place.store.reading() as db:
        return view.release(db, account or place.ana, job_id)


def test_a_question_is_answered_with_the_library_s_own_release(both):
    """The answer is a release that names data set, version and charge; the log is whole."""
    made = both.submit({**ASK, "epsilon": 1.5})
    assert seen(both, made)["state"] == "working"
    assert both.work() == 1
    time.sleep(max(0.0, both.row(made).visible - time.time()))
    release = released(both, made)
    assert release.m == 5  # sleep, diet, the two arms, and all other answers
    assert release.budget.data_set == "cohort, metadata version 1"
    assert release.budget.release == made
    assert verify(both.store, [release.budget.head]).faults == ()


def test_the_same_request_is_the_same_job(place):
    """Sent twice, before and after the answer, it is charged once; with another question it is refused."""
    made = place.submit(request_id="first")
    assert place.submit(request_id="first") == made
    assert place.work() == 1
    assert place.submit(request_id="first") == made
    assert place.work() == 0
    with pytest.raises(InputError, match="another question"):
        place.submit({**ASK, "epsilon": 0.6}, request_id="first")
    assert verify(place.store).charges == 1


def test_nobody_pays_twice_for_the_same_question(place):
    """Another analyst with a share gets the earlier release, unless asking to pay again or kept apart."""
    with place.store.writing() as db:
        bob = people.create(db, "test", "bob", "analyst")
        shares.grant(db, "test", "cohort", "everyone", 1.0, 1e-6)
    made = place.submit({**ASK, "columns": ["sleep", "diet"]})
    place.work()
    time.sleep(max(0.0, place.row(made).visible - time.time()))
    same = {**ASK, "columns": ["sleep", "diet"], "test": {**ASK["test"], "alternative": "two-sided"}}
    assert accept.submit(place.store, place.config, bob, "cohort", same) == made
    assert released(place, made, bob).m == 2
    assert accept.submit(place.store, place.config, bob, "cohort", same, again=True) != made
    with place.store.writing() as db:
        registry.change(db, "test", "cohort", {**ABOUT, "releases": "own"})
    assert accept.submit(place.store, place.config, bob, "cohort", same) != made
    with pytest.raises(InputError, match="open to you"):
        seen(place, made, bob)


@pytest.mark.slow
def test_all_releases_can_be_found_some_at_a_time(place, monkeypatch):
    """The newest first, then those asked before the last one of a list."""
    monkeypatch.setattr(view, "_PAGE", 2)
    made = [place.submit({**ASK, "epsilon": 0.1 + number / 100}) for number in range(5)]
    place.work()
    time.sleep(max(0.0, max(place.row(each).visible for each in made) - time.time()))
    found, before, pages = [], None, 0
    with place.store.reading() as db:
        while pages == 0 or before is not None:
            page, before = view.releases(db, place.config, place.ana, "cohort", before)
            found += [each["id"] for each in page]
            pages += 1
    assert (found, pages) == (made[::-1], 3)


def test_before_its_slot_nothing_is_told(place):
    """A finished job, a failed one and a waiting one look the same until the slot has come."""
    place.change(first_answer_seconds=3600.0)
    waiting = [place.submit({**ASK, "epsilon": 0.1 + number / 100}) for number in range(3)]
    with place.store.reading() as db:
        before = registry.find(db, "cohort")
    run(place.store, place.config, queue.claim(place.store, place.config, "test"))
    claim = queue.claim(place.store, place.config, "test")
    ending.end(place.store, place.config, claim, ending.failed("broken"))
    with place.store.reading() as db:
        assert registry.find(db, "cohort") == before  # the pause, too, waits for the slot
    told = [seen(place, each) for each in waiting]
    for each in told:
        for own in ("id", "request_id", "submitted", "question", "look_again_in", "more_like_this"):
            each.pop(own)
    assert told[0] == told[1] == told[2]
    assert told[0]["state"] == "working"
    for account in (place.ana, CUSTODIAN):
        with place.store.reading() as db, pytest.raises(registry.UnknownError):
            view.release(db, account, waiting[0])


def test_times_of_answers_lie_on_the_grid(place):
    """What becomes visible does so a doubling of the first slot after the question, never before."""
    place.change(first_answer_seconds=0.05)
    for number in range(3):
        row = place.row(place.submit({**ASK, "epsilon": 0.1 + number / 100}))
        place.work()
        slot = place.row(row.id).visible - row.submitted
        assert slot == pytest.approx(0.05 * 2 ** round(np.log2(slot / 0.05)), abs=1e-6)


def test_a_failure_while_reading_is_one_sentence_and_pauses(tmp_path, cohort):
    """Whatever is wrong with the data, the analyst reads the same words; the custodian reads the reason."""
    words = set()
    for name, column in {
        "text": pa.array(["a secret"] * 2000),
        "lists": pa.array([[1.0]] * 2000),
        "gone": None,
    }.items():
        table = pq.read_table(cohort)
        place = table.schema.get_field_index("diet")
        table = table.remove_column(place) if column is None else table.set_column(place, "diet", column)
        path = tmp_path / f"{name}.parquet"
        pq.write_table(table, path)
        spoiled = make_place(tmp_path / name, path)
        made = spoiled.submit()
        spoiled.work()
        time.sleep(max(0.0, spoiled.row(made).visible - time.time()))
        told = seen(spoiled, made)
        assert "diet" in spoiled.row(made).detail
        words.add((told["state"], told["message"]))
        with spoiled.store.reading() as db:
            assert registry.find(db, "cohort").state == "paused"
        with pytest.raises(InputError, match="paused"):
            spoiled.submit({**ASK, "epsilon": 0.1})
        assert verify(spoiled.store).charges == 0
        spoiled.store.close()
    assert words == {("failed", ending.SENTENCE)}


def test_a_pause_is_told_from_the_failure_s_slot_on(tmp_path, cohort):
    """Until then nobody but custodians sees it, and what waits is not begun: one failure tells once."""
    table = pq.read_table(cohort)
    pq.write_table(table.remove_column(table.schema.get_field_index("diet")), tmp_path / "spoiled.parquet")
    spoiled = make_place(tmp_path, tmp_path / "spoiled.parquet").change(first_answer_seconds=60.0)
    made, next_ = spoiled.submit(), spoiled.submit({**ASK, "epsilon": 0.4})
    assert spoiled.work() == 1
    assert (spoiled.row(made).state, spoiled.row(next_).state) == ("failed", "queued")

    def told():
        with spoiled.store.reading() as db:
            return registry.seen_by(db, spoiled.ana, "cohort").state

    before = told(), spoiled.row(spoiled.submit({**ASK, "epsilon": 0.1})).state
    assert before == ("open", "queued")
    for later in (1000.0, 0.0):
        with spoiled.store.writing() as db:
            registry.pause_after(db, "cohort", "another", time.time() + later)
        assert told() == ("open" if later else "paused")  # the earliest slot counts
    assert spoiled.work() == 0
    spoiled.store.close()


def test_a_reader_sees_one_state(both):
    """A charge between two looks at the budget shows in neither or in both: on the whole, nothing changes."""
    both.submit()
    claim = queue.claim(both.store, both.config, "w")
    with both.store.reading() as db:
        before = budget.standing(db, "cohort", "", time.time())
        payment.Payment(both.store, both.config, claim, review=False)._reserve("cohort", (Gaussian(0.1),), {})
        assert budget.purses(db, "cohort")[""].sums.count == 0
        assert budget.standing(db, "cohort", "", time.time()) == before


def test_a_public_refusal_says_why_before_data_are_touched(tmp_path, cohort):
    """What cannot be asked of such a table at all is refused on invented people, and nothing is paused."""
    place = make_place(tmp_path, cohort)
    cohort_gone = {"path": str(tmp_path / "nowhere.parquet")}
    with place.store.writing() as db:
        db.execute(update(registry.tables.dataset).values(source=json.dumps(cohort_gone)))
    made = place.submit({"test": {"name": "mean", "null": 5.0}, "columns": "diet"})
    place.work()
    time.sleep(max(0.0, place.row(made).visible - time.time()))
    told = seen(place, made)
    assert told["state"] == "refused"
    assert "null" in told["message"]
    with place.store.reading() as db:
        assert registry.find(db, "cohort").state == "open"
    place.store.close()


def test_a_public_group_may_be_left_unprotected(place):
    """Where the custodian declares a column public, tests that do not protect it are answered."""
    made = place.submit({"test": {"name": "two-groups", "group": "arm"}, "columns": "diet"})
    place.work()
    assert place.row(made).state == "done"


@pytest.mark.slow
def test_a_held_result_waits_for_a_custodian(tmp_path, cohort):
    """Approved or rejected with a reason, the charge stands; only what is approved is seen."""
    place = make_place(tmp_path, cohort, about={**ABOUT, "review": True})
    first, second = place.submit(), place.submit({**ASK, "epsilon": 0.4})
    place.work()
    time.sleep(max(0.0, max(place.row(each).visible for each in (first, second)) - time.time()))
    assert seen(place, first)["state"] == "awaiting approval"
    with place.store.reading() as db, pytest.raises(InputError, match="no answer"):
        view.release(db, place.ana, first)
    with place.store.writing() as db:
        assert len(view.waiting(db)) == 2
        view.review(db, "custodian", first, "approve")
        with pytest.raises(InputError, match="say why"):
            view.review(db, "custodian", second, "reject")
        view.review(db, "custodian", second, "reject", "too narrow a question")
    assert isinstance(released(place, first), discreet.Release)
    assert seen(place, second)["reason"] == "too narrow a question"
    with place.store.reading() as db, pytest.raises(InputError):
        view.release(db, place.ana, second)
    assert verify(place.store).charges == 2
    place.store.close()


def test_an_interrupted_draw_is_completed_and_charged_once(both, monkeypatch):
    """A worker that dies between charge and result leaves a charge that the next one completes."""
    made = both.submit()
    claim = queue.claim(both.store, both.config, "first")
    monkeypatch.setattr(payment.Payment, "_store", _die)
    with pytest.raises(KeyboardInterrupt):
        run(both.store, both.config, claim)
    monkeypatch.undo()
    with both.store.writing() as db:  # as if it had been killed before it could say anything
        db.execute(update(job).where(job.c.id == made).values(state="charged", visible=None))
    assert (both.row(made).state, both.row(made).draws, both.row(made).result) == ("charged", 1, None)
    ending.release_worker(both.store, both.config, "first")
    assert both.work() == 1
    assert (both.row(made).state, both.row(made).draws) == ("done", 2)
    verdict = verify(both.store)
    assert (verdict.faults, verdict.charges, verdict.results) == ((), 1, 1)


def _die(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("when", ["before the charge", "before the result"])
def test_a_full_disk_spends_nothing_twice_and_loses_nothing(place, monkeypatch, when):
    """What cannot be written is not done; with room again, what was accepted is answered and paid once."""
    monkeypatch.setattr(payment, "_STORE_SECONDS", 0.0)
    full = [when == "before the charge"]

    def limit(connection, _):
        pages = connection.execute("PRAGMA page_count").fetchone()[0] if full[0] else 2**30
        connection.execute(f"PRAGMA max_page_count = {pages}").close()

    def fill(*_):
        full[0] = True
        place.store.engine.dispose()
        return json.dumps({"long": "x" * 100_000})

    event.listen(place.store.engine, "connect", limit)
    made = place.submit()
    place.store.engine.dispose()
    if full[0]:
        with pytest.raises(StoreError), place.store.writing() as db:
            audit.append(db, "x", "y", "z", text="x" * 100_000)
    claim = queue.claim(place.store, place.config, "w")
    paid = payment.Payment(place.store, place.config, claim, review=False)
    request = {"text": "x" * 100_000} if full[0] else {}
    with pytest.raises(StoreError):
        paid.pay("cohort", (Gaussian(0.01),), "replace", request, fill)
    assert verify(place.store).faults == ()
    assert verify(place.store).charges == (when == "before the result")
    full[0] = False
    place.store.engine.dispose()
    ending.release_worker(place.store, place.config, "w")
    assert place.work() == 1
    verdict = verify(place.store)
    assert (place.row(made).state, verdict.faults, verdict.charges, verdict.results) == ("done", (), 1, 1)


def test_who_was_given_up_for_dead_cannot_store_a_second_result(place):
    """A worker that comes back after its job was taken over shows nobody what it drew."""
    made = place.submit()
    late = queue.claim(place.store, place.config, "late")
    ending.release_worker(place.store, place.config, "late")
    assert place.work() == 1
    before = place.row(made)
    run(place.store, place.config, late)
    assert place.row(made) == before


def test_a_job_that_kills_its_workers_is_given_up(place):
    """After a few attempts nothing more is tried, nothing is spent, and the analyst reads one sentence.

    On invented people it is refused, and nothing is paused; once data are read, it is a failure, and pauses.
    """
    for reading, told in ((False, ("refused", ending.TOO_LARGE)), (True, ("failed", ending.SENTENCE))):
        assert state(place) == "open"
        made = place.submit({**ASK, "epsilon": 0.1 + reading / 10})
        for _ in range(queue.MOST_ATTEMPTS):
            claim = queue.claim(place.store, place.config, "w")
            assert claim.id == made
            assert not reading or queue.begin_reading(place.store, claim)
            ending.release_worker(place.store, place.config, "w")
        assert (place.row(made).state, place.row(made).message) == told
    assert state(place) == "paused"
    assert verify(place.store).faults == ()
    assert verify(place.store).charges == 0


def state(place):
    """Return the true state of the data set, whatever is told of it."""
    with place.store.reading() as db:
        return db.execute(select(registry.tables.dataset.c.state)).scalar_one()


@pytest.mark.parametrize("kind", ["plan", "try", "ask"])
def test_what_takes_too_long_on_invented_people_pauses_nothing(place, kind):
    """A plan, a trial or a rehearsal that an analyst makes overrun is refused, and everybody goes on."""
    made = place.submit(kind=kind)
    assert queue.claim(place.store, place.config, "w").id == made
    ending.release_worker(place.store, place.config, "w", late=True)
    assert (place.row(made).state, place.row(made).message) == ("refused", ending.TOO_LARGE)
    assert state(place) == "open"


def test_memory_that_runs_out_on_invented_people_pauses_nothing(place, monkeypatch):
    """As with time."""
    monkeypatch.setattr("discreet.server.jobs.run.invented", _exhausted)
    made = place.submit({**ASK, "q": 0.07})
    place.work()
    assert (place.row(made).state, place.row(made).message) == ("refused", ending.TOO_LARGE)
    assert state(place) == "open"


def test_memory_that_runs_out_after_the_charge_loses_no_answer(both, monkeypatch):
    """It is paid for: its owner reads so, and a custodian completes it without another charge."""
    place = both.change(first_answer_seconds=0.01)
    reserve = payment.Payment._reserve

    def charged_then_exhausted(self, *arguments):
        reserve(self, *arguments)
        raise MemoryError

    made = place.submit({**ASK, "epsilon": 0.1})
    with monkeypatch.context() as patch:
        patch.setattr(payment.Payment, "_reserve", charged_then_exhausted)
        place.work()
    assert (place.row(made).state, place.row(made).message) == ("failed", ending.KEPT)
    with place.store.writing() as db:
        view.review(db, "custodian", made, "complete")
    place.work()
    assert (place.row(made).state, place.row(made).message) == ("done", "")
    assert verify(place.store).charges == 1
    assert verify(place.store).faults == ()


def _exhausted(*_, **__):
    raise MemoryError


@pytest.mark.slow
@pytest.mark.parametrize("cause", ["time", "memory"])
def test_what_takes_too_much_on_data_stops_its_asker_alone(both, cause, monkeypatch):
    """A question that passes its rehearsal and overruns on data: others ask on, and a custodian looks."""
    place = both.change(first_answer_seconds=0.01)
    with place.store.writing() as db:
        people.create(db, "custodian", "bob", "analyst")
        shares.grant(db, "custodian", "cohort", "analyst:bob", 0.5, 1e-6)
        bob = people.find(db, "bob")
    made, waiting = place.submit({**ASK, "epsilon": 0.1}), place.submit({**ASK, "epsilon": 0.11})
    if cause == "time":
        claim = queue.claim(place.store, place.config, "w")
        assert (claim.id, queue.begin_reading(place.store, claim)) == (made, True)
        ending.release_worker(place.store, place.config, "w", late=True)
    else:
        with monkeypatch.context() as patch:
            patch.setattr("discreet.server.jobs.run._answer", _exhausted)
            run(place.store, place.config, queue.claim(place.store, place.config, "w"))
    assert (place.row(made).state, state(place)) == ("overran", "open")
    assert place.work() == 0  # what they have waiting is not begun
    theirs = accept.submit(place.store, place.config, bob, "cohort", {**ASK, "epsilon": 0.12})
    assert place.work() == 1
    assert place.row(theirs).state == "done"
    time.sleep(max(0.0, place.row(made).visible - time.time()))
    told = seen(place, made)
    assert (told["state"], told["message"]) == ("failed", ending.OVERRAN)
    with pytest.raises(InputError, match="custodian has been told"):
        place.submit({**ASK, "epsilon": 0.13})
    with place.store.writing() as db:
        assert [each.id for each in view.waiting(db)] == [made]
        view.review(db, "custodian", made, "allow")
        with pytest.raises(InputError, match="no question"):
            view.review(db, "custodian", made, "allow")
    assert place.work() == 1
    assert place.row(waiting).state == "done"
    assert verify(place.store).faults == ()
    assert verify(place.store).charges == 2


def test_a_charged_job_that_failed_can_be_completed_by_the_custodian(place):
    """It is paid for: one more draw, for nothing."""
    made = place.submit()
    claim = queue.claim(place.store, place.config, "w")
    paid = payment.Payment(place.store, place.config, claim, review=False)
    paid._reserve("cohort", (Gaussian(0.01),), {})
    ending.end(place.store, place.config, claim, ending.failed("broken"))
    time.sleep(max(0.0, place.row(made).visible - time.time()))
    assert seen(place, made)["message"] == ending.KEPT
    with place.store.writing() as db:
        ending.retry(db, "custodian", made)
    assert place.work() == 1
    assert place.row(made).state == "done"
    assert verify(place.store).charges == 1


@pytest.mark.parametrize("events", [(Gaussian(9.0),), (ZCDP(1e-9),)])
def test_a_method_cannot_spend_more_than_was_held(place, events):
    """Events beyond the hold, or of a kind that it does not cover, are refused before anything is drawn."""
    place.submit()
    paid = payment.Payment(
        place.store, place.config, queue.claim(place.store, place.config, "w"), review=False
    )
    with pytest.raises(BudgetError, match="more than was set aside"):
        paid.pay("cohort", events, "replace", {}, lambda *_: "{}")
    assert verify(place.store).charges == 0


def test_questions_nobody_began_end_in_time(place):
    """What waits longer than the horizon is refused in public words; its hold ends."""
    made = place.submit()
    with place.store.writing() as db:
        db.execute(update(job).values(submitted=time.time() - 10**6))
    ending.sweep(place.store, place.config)
    assert (place.row(made).state, place.row(made).message) == ("refused", ending.LATE)
    with place.store.reading() as db:
        assert registry.find(db, "cohort").state == "open"


@pytest.mark.slow
def test_plans_and_trials_read_no_data_and_cost_nothing(place):
    """Both work although the file is gone."""
    with place.store.writing() as db:
        db.execute(update(registry.tables.dataset).values(source=json.dumps({"path": "/nowhere.csv"})))
    jobs = [place.submit(kind=kind) for kind in ("plan", "try")]
    assert place.work() == 2
    with place.store.reading() as db:
        plan, trial = (view.answer(db, place.ana, each) for each in jobs)
    planned = json.loads(plan)["plan"]
    assert [outlook["method"] for outlook in planned["outlooks"]] == ["bh", "auto"]  # as `discover` would do
    assert planned["n"] == PEOPLE
    assert discreet.Release.from_json(trial).m == 5
    assert verify(place.store).charges == 0


def test_too_many_waiting_questions_are_refused(place):
    """One account cannot fill the queue."""
    place.change(queue_per_account=2)
    place.submit(kind="plan")
    place.submit(kind="plan")
    with pytest.raises(accept.QueueError):
        place.submit(kind="plan")


def test_trials_are_limited_by_the_day(place):
    """Plans and trials are kept with the log: nobody fills the disk with them. Questions are not counted."""
    place.change(trials_per_day=3)
    for _ in range(3):
        place.submit(kind="plan")
    with pytest.raises(accept.QueueError, match="tomorrow"):
        place.submit(kind="try")
    place.submit()
    with place.store.writing() as db:
        db.execute(update(job).values(submitted=time.time() - 90_000.0))
    place.submit(kind="plan")


def test_custodians_do_not_ask_and_strangers_see_nothing(place):
    """Asking needs an analyst's account with a share; without one, a data set is not there."""
    stranger = replace(place.ana, name="stranger")
    with pytest.raises(InputError, match="only analysts"):
        accept.submit(place.store, place.config, CUSTODIAN, "cohort", ASK)
    with pytest.raises(InputError, match="no data set 'cohort' open to you"):
        accept.submit(place.store, place.config, stranger, "cohort", ASK)
