"""The same question, asked again by whomever and whenever, is paid for once."""

import time

import pytest
from places import ABOUT, ASK, TestClient
from sqlalchemy import update

from discreet.errors import InputError
from discreet.server.accounts import people
from discreet.server.datasets import registry, shares
from discreet.server.http.app import build
from discreet.server.jobs import accept, ending, queue, view
from discreet.server.operate.verify import verify
from discreet.server.store.tables import job


@pytest.fixture
def bob(both):
    """Return a second analyst of the place."""
    with both.store.writing() as db:
        made = people.create(db, "test", "bob", "analyst")
        shares.grant(db, "test", "cohort", "analyst:bob", 1.0, 1e-6)
    return made


def change(place, **about):
    """Write a new version of what is public."""
    with place.store.writing() as db:
        registry.change(db, "custodian", "cohort", {**ABOUT, **about})


def ask(place, account, **options):
    """Ask the same question as anybody."""
    return accept.submit(place.store, place.config, account, "cohort", ASK, **options)


def seen(place, account, made):
    """Return what an account is told of a job."""
    with place.store.reading() as db:
        return view.visible_job(db, place.config, account, made)


@pytest.mark.parametrize("releases", ["shared", "own"])
def test_while_it_is_being_answered_it_is_not_charged_again(both, bob, releases):
    """Waiting, running, drawn and held: its asker gets the running job, and others if releases are shared."""
    both.change(first_answer_seconds=3600.0)
    change(both, review=True, releases=releases)
    made = ask(both, both.ana)
    claim = queue.claim(both.store, both.config, "w")
    for step in ("running", "drawn"):
        assert ask(both, both.ana) == made, step
        if releases == "shared":
            assert ask(both, bob) == made
            assert seen(both, bob, made)["state"] == "working"
        if step == "running":
            ending.release_worker(both.store, both.config, claim.worker)
            both.work()
    with both.store.writing() as db:  # its slot has come
        db.execute(update(job).values(visible=time.time()))
    assert both.row(made).state == "held"
    assert ask(both, both.ana) == made
    if releases == "own":
        assert ask(both, bob) != made
        with both.store.reading() as db, pytest.raises(registry.UnknownError):
            view.visible_job(db, both.config, bob, made)
    else:
        assert ask(both, bob) == made
        assert seen(both, bob, made)["state"] == "awaiting approval"
        with both.store.reading() as db, pytest.raises(registry.UnknownError, match="no answer"):
            view.release(db, bob, made)
        assert ask(both, bob, again=True) != made
    assert verify(both.store).charges == 1


def test_what_ended_without_an_answer_is_asked_anew(both):
    """Refused, failed or rejected: until its slot it looks as if it might be answered, then it is not."""
    both.change(first_answer_seconds=3600.0)
    made = ask(both, both.ana)
    ending.end(both.store, both.config, queue.claim(both.store, both.config, "w"), ending.refused("no"))
    assert ask(both, both.ana) == made  # nothing tells that it has ended
    both.change(first_answer_seconds=0.01)
    change(both, review=True)
    made = ask(both, both.ana)
    ending.end(both.store, both.config, queue.claim(both.store, both.config, "w"), ending.refused("no"))
    time.sleep(max(0.0, both.row(made).visible - time.time()))
    held = ask(both, both.ana)
    assert held != made
    both.work()
    time.sleep(max(0.0, both.row(held).visible - time.time()))
    with both.store.writing() as db:
        view.review(db, "custodian", held, "reject", "too narrow")
    assert ask(both, both.ana) != held


def test_a_request_sent_again_is_the_same_job_whatever_became_public(both):
    """Bounds that changed, a column that is gone, a data set that is paused: the first job, and no charge."""
    made = ask(both, both.ana, request_id="first")
    both.work()
    columns = ABOUT["columns"]
    for changed in (
        {**columns, "diet": {"bounds": [0.0, 9.0]}},
        {name: each for name, each in columns.items() if name != "diet"},
    ):
        change(both, columns=changed)
        assert ask(both, both.ana, request_id="first") == made
        with pytest.raises(InputError, match="another question"):
            accept.submit(both.store, both.config, both.ana, "cohort", {**ASK, "q": 0.2}, request_id="first")
    with both.store.writing() as db:
        registry.set_state(db, "custodian", "cohort", "retired")
    assert ask(both, both.ana, request_id="first") == made
    assert both.row(made).version == 1
    assert verify(both.store).charges == 1


def test_a_question_can_name_the_metadata_it_is_meant_for(both):
    """Other ones are refused, by programs and on pages: what was shown with the cost is what is asked."""
    change(both, title="New")
    with pytest.raises(InputError, match="changed"):
        ask(both, both.ana, version=1)
    with pytest.raises(InputError, match="version"):
        ask(both, both.ana, version="2")
    made = ask(both, both.ana, version=2, request_id="x")
    change(both, title="Newer")
    assert ask(both, both.ana, version=2, request_id="x") == made
    head = {"Authorization": f"Bearer {both.token()}"}
    with TestClient(build(both.config)) as web:
        body = {**ASK, "epsilon": 0.2, "version": 2}
        assert web.post("/api/v1/datasets/cohort/ask", json=body, headers=head).status_code == 400
        body["version"] = 3
        assert web.post("/api/v1/datasets/cohort/ask", json=body, headers=head).json()["version"] == 3
