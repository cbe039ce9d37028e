"""Two groups compared inside disjoint subgroups: one person is seen in one of them, or in two."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import InputError
from discreet.evidence.core.compared import compared
from discreet.evidence.core.people import People, Question

NAN = np.nan
ROOM = 1 + 1e-9


def in_subgroups(values, group, subgroup, *, answers=False, protect="everything", subgroups=2):
    """Return people with one or more columns, all numbers or all answers, in subgroups."""
    values = np.asarray(values, dtype=np.float64)
    count = values.shape[1]
    names = [f"{place} | {level}" for level in range(subgroups) for place in range(count)]
    questions = tuple(Question(str(place), slice(place, place + 1), answers) for place in range(count))
    return People(
        names,
        questions,
        "two-sided",
        protect,
        values,
        np.asarray(group, dtype=np.int8),
        subgroup=np.asarray(subgroup, dtype=np.int16),
        subgroups=subgroups,
    )


def moves(people, other):
    """Return sensitivity, spread and norm of the moves between two tables, each over its bound."""
    before, after = compared(people), compared(other)
    assert before.certificate == after.certificate
    certificate, moved = before.certificate, after.score - before.score
    spread = max(moved.max(), 0.0) - min(moved.min(), 0.0)
    sizes = np.abs(moved).max(), spread, np.linalg.norm(moved)
    bounds = certificate.sensitivity, certificate.spread, certificate.norm
    return np.array([size / bound for size, bound in zip(sizes, bounds, strict=True)])


@pytest.mark.slow
@pytest.mark.parametrize("answers", [False, True], ids=["numbers", "answers"])
def test_no_neighbouring_table_exceeds_the_certificate(answers):
    """Many tables of three others; the fourth person is anybody, in any group and subgroup, or in none."""
    letters = [0.0, 1.0, NAN] if answers else [0.0, 1.0, 2.0, NAN]
    states = [(x, g, s) for x in letters[: 2 if answers else 3] for g in (0, 1) for s in (0, 1)] + [
        (NAN, -1, -1)
    ]
    worst = np.zeros(3)
    for others in list(product(states, repeat=3))[:: 7 if answers else 31]:
        tables = [
            in_subgroups(
                [[x] for x, _, _ in (*others, last)],
                [g for _, g, _ in (*others, last)],
                [s for _, _, s in (*others, last)],
                answers=answers,
            )
            for last in states
        ]
        scores = np.array([compared(table).score for table in tables])
        bound = compared(tables[0]).certificate
        apart = scores[:, None] - scores
        spread = np.maximum(apart.max(axis=-1), 0) - np.minimum(apart.min(axis=-1), 0)
        sizes = np.abs(apart).max(), spread.max(), np.linalg.norm(apart, axis=-1).max()
        worst = np.maximum(worst, np.array(sizes) / (bound.sensitivity, bound.spread, bound.norm))
    assert worst.max() <= ROOM


@pytest.mark.slow
@pytest.mark.parametrize("protect", ["everything", "columns"])
@pytest.mark.parametrize("answers", [False, True], ids=["numbers", "answers"])
def test_the_certificate_stands_a_climb(protect, answers):
    """Climbing from table to table toward the largest move finds nothing beyond it, and comes near."""
    rng = np.random.default_rng(5)
    best = np.zeros(3)
    for _ in range(4):
        n, count = 24, 3
        group, subgroup = np.arange(n) % 2, np.arange(n) // 2 % 2
        values = rng.integers(0, 2 if answers else 6, (n, count)).astype(float) * (1 + group[:, None])
        make = lambda v, g, s: in_subgroups(v, g, s, answers=answers, protect=protect)  # noqa: E731
        new = values[0] * 0 + rng.choice([0.0, 9.0], count)
        to = (1 - group[0], 1 - subgroup[0]) if protect == "everything" else (group[0], subgroup[0])

        def ratio(table, who, make=make, new=new, to=to, subgroup=subgroup):
            other, moved, where = table.copy(), who.copy(), subgroup.copy()
            other[0], moved[0], where[0] = new, *to
            return moves(make(table, who, subgroup), make(other, moved, where))

        found = ratio(values, group)
        for _ in range(60):
            table, who = values.copy(), group.copy()
            at = rng.integers(1, n)
            table[at] = rng.integers(0, 10, count)
            if protect == "everything":
                who[at] = rng.integers(0, 2)
            tried = ratio(table, who)
            if tried[2] > found[2]:
                values, group, found = table, who, tried
        best = np.maximum(best, found)
    assert best.max() <= ROOM
    assert best[2] > (0.15 if protect == "everything" else 0.4)


def test_a_norm_of_one_subgroup_is_refused_where_people_may_move():
    """Wrong twin: yes-sayers who leave one subgroup for another move both."""
    n = 400
    group, subgroup = np.arange(n) % 2, np.arange(n) // 2 % 2
    values = np.repeat(np.where(group, np.arange(n) < n / 6, 0)[:, None], 2, axis=1)
    at = int(np.flatnonzero(values[:, 0])[0])
    to = subgroup.copy()
    to[at] = 1 - to[at]
    before, after = (compared(in_subgroups(values, group, where, answers=True)) for where in (subgroup, to))
    moved = np.abs(after.score - before.score)
    assert (moved > 0.3 * before.certificate.sensitivity).all()
    assert np.linalg.norm(moved) <= before.certificate.norm * ROOM
    public = compared(in_subgroups(values, group, subgroup, answers=True, protect="columns"))
    assert public.certificate.norm == pytest.approx(np.sqrt(2) * public.certificate.sensitivity)
    assert before.certificate.norm > 1.9 * before.certificate.sensitivity


def test_the_noise_of_ten_subgroups_is_that_of_one():
    """Neither sensitivity nor norm grows with the number of subgroups of a size; sqrt(m) of it would."""
    rng = np.random.default_rng(1)
    norms = []
    for count in (2, 10):
        n = 400 * count
        group, subgroup = np.arange(n) % 2, np.arange(n) // 2 % count
        table = in_subgroups(rng.random((n, 3)), group, subgroup, protect="columns", subgroups=count)
        evidence = compared(table)
        norms.append((evidence.certificate.sensitivity, evidence.certificate.norm))
    assert norms[0] == pytest.approx(norms[1])
    assert norms[1][1] == pytest.approx(np.sqrt(3) * norms[1][0])


def table_of(n=400):
    """Return a small table with subgroups."""
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "x": rng.random(n),
            "flat": np.ones(n),
            "empty": np.full(n, NAN),
            "g": np.arange(n) % 2,
            "where": np.where(np.arange(n) // 2 % 2, "north", "south"),
        }
    )


@pytest.mark.parametrize("method", ["all", "focus", "aware"])
@pytest.mark.parametrize("protect", ["everything", "columns"])
def test_bad_columns_and_levels_give_no_discovery(method, protect):
    """Constant and empty columns, a level that nobody has: no discovery and no error, or a clear word."""
    levels = ["north", "south"] if protect == "columns" else ["north", "south", "atlantis"]
    test = discreet.Compare(group="g", within="where", levels_within=levels, protect=protect)
    found = discreet.discover(table_of(), test, q=0.1, epsilon=1, delta=1e-6, method=method)
    assert found.m == 3 * len(levels)
    names = set(discreet.measure(table_of(), test).names)
    assert "x | where=south" in names
    assert set(found.discoveries) <= names


def test_what_cannot_be_asked_is_refused():
    """The two arguments belong together; a public subgroup without people in a group is named."""
    with pytest.raises(InputError, match="belong together"):
        discreet.Compare(group="g", within="where")
    with pytest.raises(InputError, match="belong together"):
        discreet.Compare(group="g", levels_within=["north"])
    with pytest.raises(InputError, match="another column"):
        discreet.Compare(group="g", within="g", levels_within=[0, 1])
    test = discreet.Compare(group="g", within="where", levels_within=["north", "atlantis"], protect="columns")
    with pytest.raises(InputError, match="atlantis"):
        discreet.measure(table_of(), test)
    missing = discreet.Compare(group="g", within="wher", levels_within=["north"])
    with pytest.raises(InputError, match="wher"):
        discreet.measure(table_of(), missing)
