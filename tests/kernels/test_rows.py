"""Rows made whole, clipped and added up in C: the same bits as in NumPy, for every processor."""

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.kernels import compiled
from discreet.methods.all import sums
from discreet.methods.all.clipping import Ball, Balls
from discreet.methods.all.rows import FINE, LARGEST, Columns, Rows, Scaling
from discreet.methods.all.sums import Totals

pytestmark = pytest.mark.skipif(compiled is None, reason="no compiler built the kernels")
ODD = (0.0, -0.0, 0.5, 1.0, -1e308, 1e308, 5e-324, np.inf, -np.inf, np.nan)


def invented(rng, n, m, kind):
    """Return entries, some of them odd, groups, and constants that might have been learned."""
    values = rng.normal(0, 3, (n, m))
    odd = rng.random((n, m)) < 0.2
    values[odd] = rng.choice(ODD, odd.sum())
    answers = rng.random(m) < 0.5
    with np.errstate(all="ignore"):
        values = values.astype(kind)
    reach = 10.0 ** rng.uniform(-3, 3, m)
    scaling = Scaling(rng.normal(0, 1, m), np.where(rng.random(m) < 0.1, 1e-290, reach), np.full(m, 0.3))
    most = float(rng.choice([2.5, 7.0, 15.0]))
    scale = np.where(answers, np.minimum(rng.uniform(0.1, 20, m), most), rng.uniform(0.1, 20, m))
    flags = (answers, answers & (rng.random(m) < 0.5), answers & (rng.random(m) < 0.5))
    rows = Rows(rng.random(m), scale, most, *flags)
    places = np.flatnonzero(answers), np.zeros(0, dtype=np.intp), np.flatnonzero(~answers)
    columns = Columns(*places, np.zeros(0), np.zeros(0), np.arange(m))
    group = rng.integers(-1, 2, n).astype(np.int8)
    radii = [math.inf if rng.random() < 0.2 else FINE * 10 ** rng.uniform(-1, 2) for _ in range(2)]
    balls = Balls(Ball(radii[0], FINE * most), Ball(radii[1], FINE * most))
    return values, group, scaling, columns, rows, balls


def added(values, group, scaling, columns, sides, balls):
    """Return the sums of entries that are made whole as they are added up."""
    rules = np.stack([rows.rules(scaling, columns) for rows in sides])
    return Totals.of(values, group, balls, sides[0].positive, rules)


def sums_of(values, group, scaling, columns, rows, balls):
    """Return rows made whole, their sums, and the sums of entries that were never held as rows."""
    with np.errstate(all="ignore"):
        whole = sums.whole_numbers(values, scaling, columns, rows)
        held = Totals.of(whole, group, balls, rows.positive)
        passing = added(values, group, scaling, columns, (rows, rows), balls)
        part = np.arange(len(columns.question)) % 3 > 0
        length = sums.row_lengths(values, rows.rules(scaling, columns), part)
        assert np.array_equal(length, sums.row_lengths(whole, part=part))
    found = [whole]
    for total in (held, passing):
        found += [total.rows, total.weights, total.squares]
    return found


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_are_the_same_bits_as_in_numpy(level, kind, monkeypatch):
    """Whole numbers, sums of both groups, squares and weights, whatever is clipped, and in any layout."""
    for seed in range(40):
        rng = np.random.default_rng([seed, level])
        n = int(rng.integers(1, 300))
        values, *rest = invented(rng, n, 1 + seed, kind)
        values = np.asfortranarray(values) if seed % 2 else values
        found = []
        for kernels in (compiled, None):
            monkeypatch.setattr(sums, "compiled", kernels)
            compiled.limit(level)
            found.append(sums_of(values, *rest))
        compiled.limit(2)
        for first, second in zip(*found, strict=True):
            assert np.array_equal(first, second)
        assert all(np.array_equal(found[0][at], found[0][at + 3]) for at in (1, 2, 3))


@pytest.mark.parametrize("kernels", [compiled, None])
def test_some_columns_are_added_up_where_they_lie(kernels, monkeypatch):
    """Sums of the columns that are left are those of a table that has no others."""
    monkeypatch.setattr(sums, "compiled", kernels)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        m = 3 + 5 * seed
        values, group, scaling, columns, rows, balls = invented(rng, 200, m, np.float32)
        left = rng.random(m) < 0.5
        left[0] = True
        rules = np.stack([rows.rules(scaling, columns)[left]] * 2)
        positive = rows.positive[left]
        where = Totals.of(values, group, balls, positive, rules, left)
        alone = Totals.of(values[:, left], group, balls, positive, rules)
        for part in ("rows", "squares", "weights"):
            assert np.array_equal(getattr(where, part), getattr(alone, part))


@pytest.mark.parametrize("level", [0, 1, 2])
def test_each_group_has_its_own_rows(level, monkeypatch):
    """Rows around two centres: as NumPy has it, and as if both groups were added up by themselves."""
    compiled.limit(level)
    for seed in range(20):
        rng = np.random.default_rng([seed, level])
        values, group, scaling, columns, rows, balls = invented(rng, 200, 9, np.float32)
        room = LARGEST - math.ceil(rows.most * FINE)
        less = np.clip(np.rint(rng.normal(0, FINE, (2, 9))), -room, room) * ~rows.positive
        sides = replace(rows, less=less[0]), replace(rows, less=less[1] * (rng.random(9) < 0.5))
        given = (values, group, scaling, columns, sides, balls)
        fast = added(*given)
        with monkeypatch.context() as patch:
            patch.setattr(sums, "compiled", None)
            slow = added(*given)
        parts = []
        for side in (0, 1):
            member = group == side
            parts.append(added(values[member], group[member], scaling, columns, (sides[side],) * 2, balls))
        for name in ("rows", "squares", "weights"):
            assert np.array_equal(getattr(fast, name), getattr(slow, name))
            assert np.array_equal(getattr(fast, name), sum(getattr(part, name) for part in parts))
    compiled.limit(2)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    """Everyone at once, or shared among three threads, or more strips than one: the same sums."""
    rng = np.random.default_rng(1)
    given = invented(rng, 3000, 9, np.float32)
    alone = sums_of(*given)
    monkeypatch.setattr(sums, "processors", lambda: 3)
    monkeypatch.setattr(sums, "_SHARED", 1)
    for first, second in zip(alone, sums_of(*given), strict=True):
        assert np.array_equal(first, second)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_one_row_reaches_nobody_else(level):
    """Sums over two people are the sums over each, and no clipped row is longer than its ball."""
    compiled.limit(level)
    for seed in range(20):
        rng = np.random.default_rng([seed, level])
        values, group, scaling, columns, rows, balls = invented(rng, 2, 40, np.float64)
        group = np.abs(group)
        both, first, second = (
            added(values[part], group[part], scaling, columns, (rows, rows), balls)
            for part in (slice(2), slice(1), slice(1, 2))
        )
        assert np.array_equal(both.rows, first.rows + second.rows)
        for total in (first, second):
            for ball, part in zip(
                (balls.positive, balls.signed), (rows.positive, ~rows.positive), strict=True
            ):
                assert np.sum(total.rows[0, part].astype(float) ** 2) <= ball.radius**2
    compiled.limit(2)


def test_sums_of_the_largest_entries_do_not_overflow():
    """Many people whose entries and squares are all as large as there can be."""
    n, end = 4000, 15.0
    rows = Rows(np.zeros(1), np.full(1, end), end, *np.zeros((3, 1), dtype=bool))
    columns = Columns(*(np.zeros(0, dtype=np.intp),) * 2, np.zeros(1, dtype=np.intp), *np.zeros((3, 0)))
    scaling = Scaling(np.zeros(1), np.full(1, 0.5), np.full(1, 0.3))
    balls = Balls(Ball(math.inf, 1.0), Ball(math.inf, 1.0))
    group = np.ones(n, dtype=np.int8)
    total = added(np.full((n, 1), 1e9), group, scaling, columns, (rows, rows), balls)
    most = int(end * FINE)
    assert total.rows.tolist() == [[n * most], [n * most]]
    assert total.squares.tolist() == [[n * most * most]] * 2


def test_sizes_that_do_not_fit_are_refused():
    """Buffers shorter or longer than the numbers say, and entries that 16 bits cannot hold."""
    rules, large, whole = np.zeros((3, 7)), np.full((3, 7), 20000.0), np.zeros((3, 2), dtype=np.int16)
    table, group = np.zeros((3, 2)), np.zeros(2, dtype=np.int8)
    for values, kind, rule, first, last in (
        (np.zeros((3, 3)), 8, rules, 0, 2),
        (table, 4, rules, 0, 2),
        (table, 8, rules[:2], 0, 2),
        (table, 8, large, 0, 2),
        (table, 8, rules, -1, 2),
        (table, 8, rules, 0, 3),
        (table, 2, rules, 0, 2),
    ):
        with pytest.raises(ValueError, match="sizes"):
            compiled.whole(values, kind, 3, rule, first, last, whole)
    signs, balls = np.zeros(3, dtype=np.uint8), np.ones((2, 2, 2))
    out = [np.zeros(shape, dtype=np.int64) for shape in ((2, 3), 3, 2)]
    places, both = np.arange(3), np.stack([rules, rules])
    for values, at, member, sign, ball, last in (
        (table[:2], places, group, signs, balls, 2),
        (table, places + 1, group, signs, balls, 2),
        (table, places - 1, group, signs, balls, 2),
        (table, places[:2], group, signs, balls, 2),
        (table, places, group[:1], signs, balls, 2),
        (table, places, group, signs[:2], balls, 2),
        (table, places, group, signs, balls[:1], 2),
        (table, places, group, signs, balls, 3),
    ):
        with pytest.raises(ValueError, match="sizes"):
            compiled.add(values, 8, 3, at, both, 0, last, member, sign, ball, True, 1.0, *out)
