"""Whatever was told before, one person moves what is told next by no more than is paid for."""

import math
from dataclasses import replace

import audit
import nasty_people
import numpy as np
import planted
import pytest

from discreet.evidence.core.people import People, Question
from discreet.methods.all.method import ready_all
from discreet.methods.focus.method import ready_focus
from discreet.methods.method import Parameters
from discreet.privacy.account import account

READY = {"all": ready_all, "proved": ready_all, "focus": ready_focus}
ANSWERS = ("mixed", "noise", "wild", "truth", "more", "less")


def asked(method, epsilon=1.0):
    """Return the parameters of a release."""
    if method == "proved":
        return Parameters(q=0.1, epsilon=epsilon, delta=1e-6, method="all", guarantee="proved")
    return Parameters(q=0.1, epsilon=epsilon, delta=1e-6, method=method)


def moved(seed, method, tables, neighbours=3):
    """Return by step the largest share of its sensitivity that some neighbour moves it by."""
    found = {}
    for number in range(tables):
        rng = np.random.default_rng([seed, number])
        people = nasty_people.invent(rng)
        others = nasty_people.neighbours(rng, people, neighbours)
        request = asked(method, float(rng.choice([0.1, 1.0, 10.0, 100.0])))
        style = ANSWERS[number % len(ANSWERS)]
        ratios = audit.ratios(
            lambda table, request=request: READY[method](table, request).draw(), people, others, rng, style
        )
        found = {name: max(found.get(name, 0.0), ratios.get(name, 0.0)) for name in {**found, **ratios}}
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("method", "tables"), [("all", 72), ("proved", 48), ("focus", 24)])
def test_no_step_is_moved_by_more_than_is_paid_for(method, tables):
    """At every step the sums of neighbours are within its sensitivity, and near it; its terms are alike."""
    found = moved(2, method, tables)
    assert max(found.values()) <= audit.ROOM, found
    learned = {"learn_groups", "learn_where", "learn_means"}
    every = {*learned, "learn_missing", "learn_norms", "learn", "_differences", "_with_retained", *audit.MAIN}
    names = {
        "all": every | {"staged", "sums of a stage", "columns_alike"},
        "proved": {*learned, "tell_in_stages", *audit.PROVED},
        "focus": every | {"staged", "sums of a stage", "select", "columns_alike"},
    }
    assert set(found) == names[method]
    if method == "all":
        del found["columns_alike"]  # of few columns one is moved at most, here: `unlike` moves all
        assert min(found.values()) > 0.5, found  # squares and weights are harder to move than to bound
        assert sorted(found.values())[1] > 0.85, found


@pytest.mark.parametrize("method", ["all", "proved"])
@pytest.mark.parametrize("bounds", [(-8e307, 8e307), (0.0, 1.7e308), (0.0, 5e-324)])
@pytest.mark.parametrize("style", ["truth", "more"])
def test_the_widest_and_narrowest_bounds(method, bounds, style):
    """Windows around numbers stay finite, and so do sums, when a person's number is infinite."""
    rng = np.random.default_rng(5)
    values, group = rng.choice(bounds, size=(60, 2)), np.arange(60, dtype=np.int8) % 2
    questions = tuple(Question(f"q{place}", slice(place, place + 1), False, bounds) for place in range(2))
    people = People(["a", "b"], questions, "two-sided", "everything", values, group)
    others = []
    for entry in (np.inf, -np.inf, np.nan, 1e308):
        other = values.copy()
        other[0] = entry
        others.append(replace(people, values=other))
    request = asked(method, 100.0)  # enough to look closer, and closer again
    found = audit.ratios(lambda table: READY[method](table, request).draw(), people, others, rng, style)
    assert max(found.values()) <= audit.ROOM, found


@pytest.mark.slow
@pytest.mark.parametrize("fault", planted.FAULTS)
def test_a_planted_fault_is_found(fault, monkeypatch):
    """The audit refutes a mechanism that is wrong in one place."""
    fault(monkeypatch)
    assert any(refuted(seed) for seed in (9, 8, *range(60)))  # some that find much come first


def refuted(seed):
    """Say whether a few tables are enough to tell that something is wrong."""
    try:
        return (
            max(moved(seed + 100, "all", 6).values()) > audit.ROOM
            or max(lopsided(seed)) > audit.ROOM
            or max(two_centres(seed).values()) > audit.ROOM
            or max(unlike(seed).values()) > audit.ROOM
        )
    except AssertionError:
        return True


def lopsided(seed):
    """Return the shares of the sensitivities that somebody of the smaller group moves, if columns differ."""
    rng = np.random.default_rng(seed)
    people = nasty_people.lopsided(rng)
    other = people.values.copy()
    other[0] = 1 - other[0]
    others = [replace(people, values=other)]
    request = asked("all", 100.0)
    return audit.ratios(lambda table: ready_all(table, request).draw(), people, others, rng, "truth").values()


def test_columns_with_other_shares_of_the_groups():
    """Where entries are missing in one group alone, labels weigh by column; that is paid for."""
    assert max(lopsided(1)) <= audit.ROOM


def two_centres(seed):
    """Return the shares of the sensitivities that are moved where the groups are far apart."""
    rng = np.random.default_rng(seed)
    people, other = nasty_people.two_centres(rng)
    request = asked("all", 100.0)
    return audit.ratios(lambda table: ready_all(table, request).draw(), people, [other], rng, "truth")


@pytest.mark.slow
def test_entries_around_two_centres():
    """They are larger than around one by how far these are apart: squares move by most of what is paid."""
    found = [two_centres(seed) for seed in range(20)]
    assert max(max(steps.values()) for steps in found) <= audit.ROOM
    assert min(steps["squares"] for steps in found) > 0.6


def unlike(seed):
    """Return the shares of the sensitivities that are moved where columns are told by ranks."""
    rng = np.random.default_rng(seed)
    people, others = nasty_people.unlike(rng)
    return audit.ratios(
        lambda table: ready_all(table, asked("all", 10.0)).draw(), people, others, rng, "noise"
    )


@pytest.mark.slow
def test_columns_of_unlike_numbers():
    """The look at whether they are alike, and the scores, move by no more than is paid, and by most of it."""
    found = [unlike(seed) for seed in range(40)]
    assert max(max(steps.values()) for steps in found) <= audit.ROOM
    assert max(steps.get("columns_alike", 0.0) for steps in found) > 0.99
    assert max(steps.get("measured_scores", 0.0) for steps in found) > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("method", READY)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_what_is_spent_is_what_was_charged(method, epsilon):
    """The steps of a draw add up to no more than its events, and these to (epsilon, delta)."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        ready = READY[method](nasty_people.invent(rng), asked(method, epsilon))
        record = audit.Record(rng, "mixed")
        with audit.standing_in(record):
            ready.draw()
        charged = math.fsum(event.mu**2 / 2 for event in ready.events)
        assert record.spent <= charged * (1 + 2**-40)
        assert account(ready.events, epsilon=epsilon) <= 1e-6
