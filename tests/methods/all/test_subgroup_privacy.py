"""Disjoint subgroups are measured side by side: along every neighbour, no more is moved than was charged."""

from dataclasses import replace

import audit
import nasty_people
import numpy as np
import pytest

from discreet.evidence.core.people import People
from discreet.methods.all.method import ready_all
from discreet.methods.focus.method import ready_focus
from discreet.methods.method import Parameters

HALVED = ("learn_where", "learn_means")  # spend half of their share, as who leaves moves them as much
READY = {"all": ready_all, "proved": ready_all, "focus": ready_focus}


def invent(rng):
    """Return invented people in two or three subgroups."""
    people = nasty_people.invent(rng, most=5)
    count = int(rng.integers(2, 4))
    if people.protect == "columns":  # refused when data is read, if it is public that a group is empty
        rows = max(people.rows, 2 * count)
        values, group = np.resize(people.values, (rows, len(people))), np.resize(people.group, rows)
        group[: 2 * count] = np.arange(2 * count) % 2
        subgroup = np.append(np.arange(2 * count) // 2, rng.integers(0, count, rows - 2 * count))
        values[group < 0] = np.nan
        people = replace(people, values=values, group=group)
    else:
        subgroup = rng.integers(-1, count, people.rows)
    names = [f"{name} | {level}" for level in range(count) for name in people.names]
    return replace(people, names=names, subgroup=subgroup.astype(np.int16), subgroups=count)


def replaced(rng, people):
    """Return the same people but for one, who may be in another subgroup where that is protected."""
    other = nasty_people.replaced(rng, people, int(at := rng.integers(people.rows)))
    if people.protect == "columns":
        return other, False
    subgroup = people.subgroup.copy()
    subgroup[at] = rng.integers(-1, people.subgroups)
    return replace(other, subgroup=subgroup), bool(subgroup[at] != people.subgroup[at])


def moved(method, seed, tables):
    """Return the largest ratio of any step among those who stay, and sqrt 2 times that of those who move.

    A step is paid for once in each subgroup: those who move may use half of it, squared, in each of two.
    """
    options = {"method": "all", "guarantee": "proved"} if method == "proved" else {"method": method}
    asked = Parameters(q=0.1, epsilon=1.0, delta=1e-6, **options)
    worst = [0.0, 0.0]
    for number in range(tables):
        rng = np.random.default_rng([seed, number])
        people = invent(rng)
        ready = READY[method](people, asked)
        first = audit.Record(rng, "mixed")
        with audit.standing_in(first):
            one = ready.draw()
        # Every run spends what one alone may, at most.
        kept = sum(step.terms[1] for step in first.steps if step.name in HALVED) * (people.touched - 1)
        charged = people.subgroups * sum(event.mu**2 / 2 for event in ready.events)
        assert first.spent + kept <= charged * audit.ROOM
        for _ in range(4):
            other, moves = replaced(rng, people)
            second = audit.Record(rng, "mixed", first)
            with audit.standing_in(second):
                two = READY[method](other, asked).draw()
            assert one.to_json() == two.to_json()
            assert [step.terms for step in first.steps] == [step.terms for step in second.steps]
            exempt = (*HALVED, "select") if people.touched > 1 else ("select",)
            ratios = [
                before.moved(after) * (np.sqrt(2) if moves and before.name not in exempt else 1.0)
                for before, after in zip(first.steps, second.steps, strict=True)
            ]
            for name in ("learn", "_differences", *audit.MAIN):  # each once in every subgroup
                steps = [
                    ratio > 0 for ratio, step in zip(ratios, first.steps, strict=True) if step.name == name
                ]
                assert moves or sum(steps) <= 1
            worst[moves] = max(worst[moves], *ratios)
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("method", READY)
def test_no_step_is_moved_by_more_than_is_paid_for(method):
    """Whoever stays moves one subgroup's sums as before; whoever changes moves those of two by half each."""
    stays, moves = moved(method, 3, 12)
    assert max(stays, moves) <= audit.ROOM
    assert min(stays, moves) > 0.8


@pytest.mark.slow
def test_sums_that_forget_who_moves_are_refuted(monkeypatch):
    """Wrong twin: each subgroup as if nobody could be seen in another."""
    monkeypatch.setattr(People, "touched", 1)
    assert max(moved("all", 3, 12)) > 1.3
