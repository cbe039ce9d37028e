"""How far one person can move each sum: brute force over all rows that a person can have."""

import itertools
import math

import audit
import numpy as np
import planted
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.evidence.core.people import People, Question
from discreet.methods.all import learn, measure
from discreet.methods.all.geometry import Ball, box_of, reach_of
from discreet.methods.all.norms import learn_norms
from discreet.methods.all.reading import FINE, Columns, Rows

ROOM = audit.ROOM
CENTRES = st.sampled_from([0.0, 1.0, 0.5, 1e-12, 1 - 1e-12]) | st.floats(0, 1)
SCALES = st.sampled_from([1e-9, 1e-3, 1e9]) | st.floats(0.01, 60)
WHOLE = st.integers(-15 * FINE, 15 * FINE)


@st.composite
def tables(draw, most=5):
    """Draw questions of a few columns, and constants that might have been learned for them."""
    widths = draw(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=3))
    questions, start = [], 0
    for width in widths:
        places = slice(start, min(start + max(width, 1), most))
        if places.stop > places.start:
            questions.append(Question("q", places, width > 0))
        start = places.stop
    centre, scale = (draw(st.lists(one, min_size=start, max_size=start)) for one in (CENTRES, SCALES))
    rows = Rows(np.array(centre), np.array(scale), draw(st.sampled_from([2.5, 4.0, 15.0])))
    nobody = np.zeros((0, start)), np.zeros(0, dtype=np.int8)
    return People([""] * start, tuple(questions), "two-sided", "everything", *nobody), rows


def every_row(people):
    """Return the shares of all people that matter: missing, none of the answers or one, numbers at an end."""
    each = []
    for asked in people.questions:
        width = asked.places.stop - asked.places.start
        one = np.eye(width) if asked.answers else np.array([[1.0]])
        each.append([np.full(width, np.nan), np.zeros(width), *one])
    return np.array([np.concatenate(row) for row in itertools.product(*each)])


def widest(rows):
    """Return the largest distance of two rows."""
    return float(np.max(np.linalg.norm(rows[:, None] - rows[None], axis=2)))


@given(tables())
def test_no_row_lies_outside_of_the_box(drawn):
    """No two rows are farther apart than the diameter, none is longer than the radius; each is reached."""
    people, rows = drawn
    whole = rows.whole(every_row(people)).astype(float)
    box = box_of(people, rows)
    for most, claimed in (
        (widest(whole), box.diameter),
        (np.linalg.norm(whole, axis=1).max(), box.radius),
        (np.linalg.norm(whole**2, axis=1).max(), box.squares),
        (np.abs(whole).max(), box.entry),
    ):
        assert most <= claimed * ROOM
        # Rows are cut to whole numbers, by less than one for each entry.
        assert claimed <= max(most, 1) * (1 + 1e-9) + (2 * len(people) + 1) * (
            1 if claimed is not box.squares else 4 * box.entry
        )


def test_a_forgotten_row_is_found(monkeypatch):
    """Wrong twin: a box without the person who gave none of the answers, where each is thought frequent."""
    planted.no_row_of_none_of_the_answers(monkeypatch)
    nobody = np.zeros((0, 3)), np.zeros(0, dtype=np.int8)
    people = People([""] * 3, (Question("q", slice(0, 3), True),), "two-sided", "everything", *nobody)
    rows = Rows(np.full(3, 0.9), np.full(3, 2.0), 4.0)
    length = np.linalg.norm(rows.whole(every_row(people)).astype(float), axis=1).max()
    assert length > 1.1 * box_of(people, rows).radius


@given(st.lists(WHOLE, min_size=1, max_size=12), st.floats(1e-9, 3.0), st.sampled_from([1.0, 1.3]))
def test_clipped_rows_are_no_longer_than_the_ball(entries, wider, spare):
    """Whatever the row and however near the radius is to the largest entry; a wide ball changes nothing."""
    row = np.array([entries], dtype=np.int16)
    entry = max(1.0, np.abs(row).max() * spare)
    ball = Ball(entry * math.sqrt(1 + wider), entry)
    clipped = ball.clip(row)
    assert np.array_equal(clipped, np.trunc(clipped))
    assert np.linalg.norm(clipped) <= ball.radius * ROOM
    assert np.all(np.abs(clipped) <= np.abs(row))
    assert np.all(clipped * row >= 0)
    if np.linalg.norm(row) ** 2 <= ball.radius**2 - ball.entry**2:
        assert np.array_equal(clipped, row)


@given(st.lists(WHOLE, min_size=2, max_size=8), WHOLE)
def test_a_weight_does_not_look_at_its_own_entry(entries, other):
    """The weight of an entry is that of the others: more of it in, more of it out, in proportion."""
    row = np.array([entries, [other, *entries[1:]]], dtype=np.int16)
    ball = Ball(16 * FINE, 15.0 * FINE)
    first, second = ball.clip(row)[:, 0]
    assert abs(first * other - second * entries[0]) <= abs(other) + abs(entries[0]) + 1e-6 * abs(
        first * other
    )


@given(tables(), st.integers(0, measure.PARTS), st.floats(1e-6, 4.0) | st.none(), st.booleans())
def test_one_person_moves_the_sums_within_reach(drawn, part, wider, protected):
    """Contrast, sums and squares of any two people, of the same group or not, in a box or in a ball."""
    people, rows = drawn
    share = part / measure.PARTS
    box = box_of(people, rows)
    ball = Ball(math.inf if wider is None else box.entry * math.sqrt(1 + wider), box.entry)
    reach = reach_of(box, ball, share, protected=protected)
    whole = ball.clip(rows.whole(every_row(people)))
    first, second = -part * whole, (measure.PARTS - part) * whole
    contrast = widest(np.vstack([first, second])) if protected else max(widest(first), widest(second))
    assert contrast <= measure.PARTS * reach.contrast * ROOM
    assert widest(whole) <= reach.sums * ROOM
    assert widest(whole**2) <= reach.squares * ROOM


@pytest.mark.parametrize("many", [2, 5, 40])
def test_the_reach_of_a_ball_is_reached(many):
    """Two people at opposite ends, and two at right angles, move sums and squares by all that is claimed."""
    entry = 4.0 * FINE
    row = np.zeros((3, 2 * many), dtype=np.int16)
    row[0, :many], row[1, :many], row[2, many:] = entry, -entry, entry
    people = People([""] * 2 * many, tuple(Question("", slice(i, i + 1), False) for i in range(2 * many)),
                    "two-sided", "columns", row[:0], row[:0, 0].astype(np.int8))  # fmt: skip
    box = box_of(people, Rows(np.full(2 * many, 0.5), np.full(2 * many, 8.0), 4.0))
    ball = Ball(box.entry * math.sqrt(many), box.entry)
    reach = reach_of(box, ball, 0.25, protected=False)
    clipped = ball.clip(row)
    assert np.linalg.norm(clipped[0] - clipped[1]) > 0.999 * reach.sums
    assert 0.75 * np.linalg.norm(clipped[0] - clipped[1]) > 0.999 * reach.contrast
    assert np.linalg.norm(clipped[0] ** 2 - clipped[2] ** 2) > 0.999 * reach.squares


@given(tables(), st.data())
def test_one_person_moves_means_and_lengths_within_their_sensitivity(drawn, data):
    """Means of all columns and the histogram of lengths, of any two people alone in a table."""
    people, rows = drawn
    every = every_row(people)
    share = st.sampled_from([0.0, 0.5, 1.0, math.nan]) | st.floats(0, 1)
    pair = []
    for place in data.draw(st.lists(st.integers(0, len(every) - 1), min_size=2, max_size=2)):
        row = every[place].copy()
        for asked in people.questions:
            if not asked.answers:
                row[asked.places] = data.draw(share)
        pair.append(row[None])
    records = [audit.Record(np.random.default_rng(0), "truth") for _ in pair]
    for row, record in zip(pair, records, strict=True):
        with audit.standing_in(record):
            learn.learn_means(row, people, 1.0)
            learn_norms(rows.whole(row), box_of(people, rows), 1.0)
    for one, two in zip(*(record.steps for record in records), strict=True):
        assert one.terms == two.terms
        assert one.moved(two) <= ROOM


@given(
    st.lists(st.floats(allow_nan=True) | st.sampled_from([0.0, -0.0, 5e-324]), min_size=2, max_size=2),
    st.integers(0, 2**32),
    st.sampled_from(["mixed", "wild", "zero"]),
)
def test_counts_on_both_sides_of_a_median_are_of_different_people(values, seed, style):
    """The search for quartiles moves within its sensitivity, ties at the centre and infinities included."""
    kinds = People(["x"], (Question("x", slice(0, 1), False),), "two-sided", "everything",
                   np.zeros((2, 1)), np.zeros(2, dtype=np.int8))  # fmt: skip
    columns = Columns.of(kinds)
    first = audit.Record(np.random.default_rng(seed), style)
    second = audit.Record(np.random.default_rng(seed), style, first)
    for record, value in zip((first, second), values, strict=True):
        with audit.standing_in(record):
            learn.learn_scaling(np.array([[value], [0.0]]), columns, 1.0, 1.0)
    for one, two in zip(first.steps, second.steps, strict=True):
        assert one.terms == two.terms
        assert one.moved(two) <= ROOM
