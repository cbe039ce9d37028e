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
from discreet.methods.all import where
from discreet.methods.all.clipping import Ball, Balls, largest_labels, sensitivities_of
from discreet.methods.all.learn import learn_norms
from discreet.methods.all.rows import FINE, PARTS, Columns, Rows, boxes_of
from discreet.methods.all.sums import row_lengths

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
    turned = draw(st.lists(st.booleans(), min_size=start, max_size=start))
    answers = np.zeros(start, dtype=bool)
    for asked in questions:
        answers[asked.places] = asked.answers
    most = draw(st.sampled_from([2.5, 4.0, 15.0]))
    scale = np.where(answers, np.minimum(scale, most), scale)
    centred = np.zeros(start, dtype=bool)
    for asked in questions:  # all answers to a question, or none
        centred[asked.places] = asked.answers and draw(st.booleans())
    rows = Rows(np.array(centre), scale, most, answers, answers & turned, centred)
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
def test_no_row_lies_outside_of_its_boxes(drawn):
    """No two rows are farther apart than is said, none is longer, no entry larger; all of it is reached."""
    people, rows = drawn
    whole = rows.whole(every_row(people)).astype(float)
    for box, part in zip(boxes_of(people, rows), (rows.positive, ~rows.positive), strict=True):
        if not part.any():
            continue
        some = whole[:, part]
        length = np.linalg.norm(some, axis=1).max()
        assert widest(some) <= box.diameter * ROOM
        assert length <= box.radius * ROOM
        assert np.linalg.norm(some**2, axis=1).max() <= box.squares * ROOM
        assert np.abs(some).max() <= box.entry * ROOM
        # Rows are cut to whole numbers, by less than one for each entry.
        cut = 1 + some.shape[1]
        assert box.radius <= length * (1 + 1e-9) + cut
        if not rows.answers[part].any():
            assert box.diameter <= widest(some) * (1 + 1e-9) + 2 * cut


@given(tables())
def test_shrunk_answers_stay_within_their_box(drawn):
    """However their entries are shrunk, even each by itself, two rows are no farther apart than is said."""
    people, rows = drawn
    whole, boxes = rows.whole(every_row(people)).astype(float), boxes_of(people, rows)
    some = whole[:, rows.positive]
    larger = np.maximum(some[:, None], some[None])
    assert np.linalg.norm(larger, axis=2).max() <= boxes[0].shrunk_diameter * ROOM
    some = whole[:, ~rows.positive]
    # Of two entries of both signs each may be shrunk to any point between itself and 0.
    far = np.maximum(
        np.abs(some[:, None] - some[None]), np.maximum(np.abs(some[:, None]), np.abs(some[None]))
    )
    assert np.linalg.norm(far, axis=2).max() <= boxes[1].shrunk_diameter * ROOM


@pytest.mark.parametrize("fault", planted.BOXES)
def test_a_box_that_is_too_small_is_found(fault, monkeypatch):
    """Wrong twins: a question charged as one answer, missing entries forgotten, rows clipped too early."""
    fault(monkeypatch)
    nobody = np.zeros((0, 4)), np.zeros(0, dtype=np.int8)
    questions = (Question("q", slice(0, 3), True), Question("x", slice(3, 4), False))
    people = People([""] * 4, questions, "two-sided", "everything", *nobody)
    kinds = np.array([True, True, True, False]), *np.zeros((2, 4), dtype=bool)
    rows = Rows(np.full(4, 0.9), np.array([2.0, 2.0, 2.0, 10.0]), 4.0, *kinds)
    whole = rows.whole(every_row(people)).astype(float)
    parts = zip(boxes_of(people, rows), (rows.positive, ~rows.positive), strict=True)
    assert max(np.linalg.norm(whole[:, part], axis=1).max() / box.radius for box, part in parts) > 1.1


def test_centred_answers_that_are_shrunk_may_be_farther_apart(monkeypatch):
    """Wrong twin: the distance of centred answers as they are, which shrinking each by itself exceeds."""
    nobody = np.zeros((0, 3)), np.zeros(0, dtype=np.int8)
    people = People([""] * 3, (Question("q", slice(0, 3), True),), "two-sided", "everything", *nobody)
    kinds = np.ones(3, dtype=bool), np.zeros(3, dtype=bool), np.ones(3, dtype=bool)
    rows = Rows(np.full(3, 0.4), np.full(3, 2.0), 4.0, *kinds)
    first, second = rows.whole(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])).astype(float)
    second[2] = 0.0  # shrunk, while the first row keeps its negative entry
    moved = np.linalg.norm(first - second)
    assert moved <= boxes_of(people, rows)[1].shrunk_diameter
    planted.centred_answers_shrunk_as_they_are(monkeypatch)
    assert moved > boxes_of(people, rows)[1].shrunk_diameter * 1.01


@given(st.lists(WHOLE, min_size=1, max_size=12), st.floats(1e-3, 10.0), st.sampled_from([1.0, 1.3]))
def test_clipped_rows_are_no_longer_than_the_ball(entries, radius, spare):
    """Whatever the row, and also where the radius is below the largest entry; a wide ball changes nothing."""
    row = np.array([entries], dtype=float)
    entry = max(1.0, np.abs(row).max() * spare)
    ball = Ball(entry * radius, entry)
    clipped = ball.clip(row)
    assert np.array_equal(clipped, np.trunc(clipped))
    assert np.linalg.norm(clipped) <= ball.radius * ROOM
    assert np.all(np.abs(clipped) <= np.abs(row))
    assert np.all(clipped * row >= 0)
    if np.linalg.norm(row) ** 2 <= ball.room:
        assert np.array_equal(clipped, row)


@given(st.lists(WHOLE, min_size=2, max_size=8), WHOLE)
def test_a_weight_does_not_look_at_its_own_entry(entries, other):
    """Where the radius is well above all entries: more of an entry in, more of it out, in proportion."""
    row = np.array([entries, [other, *entries[1:]]], dtype=float)
    ball = Ball(40.0 * FINE, 15.0 * FINE)
    first, second = ball.clip(row)[:, 0]
    assert abs(first * other - second * entries[0]) <= abs(other) + abs(entries[0]) + 1e-6 * abs(
        first * other
    )


@given(
    tables(),
    st.lists(st.integers(0, PARTS), min_size=5, max_size=5),
    st.floats(1e-2, 4.0) | st.none(),
    st.floats(1e-2, 4.0) | st.none(),
    st.booleans(),
)
def test_one_person_moves_the_sums_within_reach(drawn, shares, first, second, protected):
    """Contrast, sums and squares of any two people, of the same group or not, in boxes or in balls."""
    people, rows = drawn
    part = np.array(shares)[: len(people)]
    part[rows.answers] = part[0]
    boxes = boxes_of(people, rows)
    balls = Balls(
        *(
            Ball(math.inf if wide is None else box.entry * wide, box.entry)
            for wide, box in zip((first, second), boxes, strict=True)
        )
    )
    reach = sensitivities_of(boxes, balls, largest_labels(part / PARTS, rows.positive), protected=protected)
    every = rows.whole(every_row(people))
    nobody = np.zeros((1 if protected else 0, len(people)))  # in neither group
    clipped = np.vstack([balls.clip(every, rows.positive), nobody])
    told = [-part * clipped, (PARTS - part) * clipped]
    contrast = widest(np.vstack(told)) if protected else max(map(widest, told))
    for moved, claimed in (
        (contrast, PARTS * reach.contrast),
        (widest(clipped), reach.sums),
        (widest(clipped**2), reach.squares),
    ):
        assert moved <= max(claimed, 1.0) * ROOM


@pytest.mark.parametrize("answers", [False, True])
@pytest.mark.parametrize("many", [2, 5, 40])
def test_the_reach_of_a_ball_is_reached(many, answers):
    """Two people at opposite ends, or two at right angles, move sums and squares by all that is claimed."""
    entry, m = 4.0 * FINE, 2 * many
    row = np.zeros((3, m), dtype=np.int16)
    row[0, :many], row[1, :many], row[2, many:] = entry, 0 if answers else -entry, entry
    questions = tuple(Question("", slice(i, i + 1), answers) for i in range(m))
    people = People([""] * m, questions, "two-sided", "columns", row[:0], row[:0, 0].astype(np.int8))
    kinds = np.full(m, answers), *np.zeros((2, m), dtype=bool)
    rows = Rows(np.full(m, 0.0 if answers else 0.5), np.full(m, 4.0 if answers else 8.0), 4.0, *kinds)
    boxes = boxes_of(people, rows)
    # A ball that this row just fills, whatever room is left for one entry.
    ball = Ball(entry * math.sqrt(many) * (1 + 1e-9), entry)
    balls = Balls(ball, Ball(math.inf, 1.0)) if answers else Balls(Ball(math.inf, 1.0), ball)
    reach = sensitivities_of(boxes, balls, ((0.25, 0.25), (0.75, 0.75)), protected=False)
    clipped = balls.clip(row, rows.positive)
    moved = np.linalg.norm(clipped[0] - clipped[2 if answers else 1])
    near = 0.999 if many > 5 else 0.9  # of few entries, one leaves less room for the others
    assert moved > near * reach.sums
    assert 0.75 * moved > near * reach.contrast
    assert np.linalg.norm(clipped[0] ** 2 - clipped[2] ** 2) > near**2 * reach.squares


@pytest.mark.slow
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
            where.learn_means(row, people, np.ones(len(people), dtype=bool), 1.0)
            for box, part in zip(boxes_of(people, rows), (rows.positive, ~rows.positive), strict=True):
                length = row_lengths(rows.whole(row), part=part)
                learn_norms(length, box, 1.0, 1.0, np.ones(1, dtype=bool), 1.0)
    for one, two in zip(*(record.steps for record in records), strict=True):
        assert one.terms == two.terms
        assert one.moved(two) <= ROOM


@pytest.mark.slow
@given(
    st.lists(st.floats(allow_nan=True) | st.sampled_from([0.0, -0.0, 5e-324]), min_size=6, max_size=6),
    st.integers(0, 2**32),
    st.sampled_from(["mixed", "wild", "zero", "truth"]),
    st.sampled_from([1e-6, 1.0]),
    st.sampled_from([None, (0.0, 1.0), (-1e308, 1e308), (0.0, 5e-324)]),
)
def test_looks_at_numbers_move_within_their_sensitivity(values, seed, style, rho, bounds):
    """Sizes, means and distances of three columns, together or as one, infinities and zeros included."""
    questions = tuple(
        Question("x", slice(place, place + 1), False, None if place else bounds) for place in range(3)
    )
    kinds = People([""] * 3, questions, "two-sided", "everything",
                   np.zeros((2, 3)), np.zeros(2, dtype=np.int8))  # fmt: skip
    columns = Columns.of(kinds)
    first = audit.Record(np.random.default_rng(seed), style)
    second = audit.Record(np.random.default_rng(seed), style, first)
    found = []
    for record, row in zip((first, second), (values[:3], values[3:]), strict=True):
        with audit.standing_in(record), np.errstate(all="ignore"):
            found.append(where.learn_where(np.array([row, [0.0, 1.0, -2.0]]), columns, rho, 2.0))
    for one, two in zip(first.steps, second.steps, strict=True):
        assert one.terms == two.terms
        assert one.moved(two) <= ROOM
    assert first.spent <= (rho - found[0].unspent) * (1 + 1e-12)
    assert np.array_equal(found[0].scaling.half_width, found[1].scaling.half_width)
