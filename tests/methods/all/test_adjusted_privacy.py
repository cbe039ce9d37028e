"""Groups made alike in covariates: one person moves what is told by no more than is paid for."""

import math
from dataclasses import replace
from types import SimpleNamespace

import audit
import nasty_people
import numpy as np
import pytest

from discreet.errors import InputError
from discreet.evidence.core.covariates import Covariates
from discreet.methods.all import clipping
from discreet.methods.all.adjusted import balance, left, measure, partner, ranges
from discreet.methods.all.method import ready_all
from discreet.methods.method import Parameters
from discreet.privacy.account import account

ANSWERS = ("mixed", "noise", "wild", "truth", "more", "less")


def asked(epsilon=1.0):
    """Return the parameters of a release."""
    return Parameters(q=0.1, epsilon=epsilon, delta=1e-6, method="all")


def with_covariates(rng, people):
    """Return the people with one to four covariates, levels among them; some lack one."""
    count = int(rng.integers(1, 5))
    answers = rng.random(count) < 0.3
    values = rng.choice([-1.0, 1.0, 0.0, np.nan], size=(people.rows, count), p=[0.3, 0.3, 0.38, 0.02])
    values = np.where(rng.random(values.shape) < 0.5, values, rng.uniform(-1, 1, values.shape))
    values *= np.where(rng.random(count) < 0.3, 1e-3, 1.0)  # some hardly vary
    values[:, answers] = np.sign(values[:, answers])
    if people.protect == "columns":
        values = np.nan_to_num(values, nan=0.0)
    numbers = None
    if people.protect == "everything" and rng.random() < 0.5:
        numbers = np.array([a_number(rng) for _ in range(people.rows)])
        numbers *= rng.choice([1.0, 1e-6])
    return known(replace(people, covariates=Covariates(answers, values), partner=numbers))


def a_number(rng):
    """Return the partner of one person: usual, far out, or missing."""
    return float(rng.choice([rng.normal(), rng.normal(), 1.0, 0.0, 1e308, -1e308, np.nan]))


def known(people):
    """Return the people, those who lack a covariate in neither group."""
    values = people.covariates.values
    values[np.isnan(values).any(axis=1)] = np.nan
    group = np.where(people.covariates.known, people.group, np.int8(-1))
    if people.partner is not None:
        group = np.where(np.isnan(people.partner), np.int8(-1), np.minimum(group, np.int8(0)))
    return replace(people, group=group, values=np.where((group < 0)[:, None], np.nan, people.values))


def neighbours(rng, people, count=3):
    """Return the same people with one replaced; where they are protected, with other covariates as well."""
    others = nasty_people.neighbours(rng, people, count)
    if people.protect == "columns":
        return others
    changed = []
    for other in others:
        at = np.flatnonzero((other.group != people.group) | ~np.all(
            (other.values == people.values) | (np.isnan(other.values) & np.isnan(people.values)), axis=1
        ))  # fmt: skip
        place = int(at[0]) if at.size else int(rng.integers(people.rows))
        covariates = people.covariates
        values = covariates.values.copy()
        ends = rng.choice([-1.0, 1.0, rng.uniform(-1, 1)], size=covariates.answers.size)
        values[place] = np.nan if rng.random() < 0.1 else ends
        numbers = None if people.partner is None else people.partner.copy()
        if numbers is not None:
            numbers[place] = a_number(rng)
        changes = {"covariates": replace(covariates, values=values), "partner": numbers}
        changed.append(known(replace(other, **changes)))
    return changed


def moved(seed, tables):
    """Return by step the largest share of its sensitivity that some neighbour moves it by."""
    found = {}
    for number in range(tables):
        rng = np.random.default_rng([seed, number])
        people = with_covariates(rng, nasty_people.invent(rng, most=6))
        if people.protect == "columns" and min(np.sum(people.group == side) for side in (0, 1)) == 0:
            continue
        request = asked(float(rng.choice([0.1, 1.0, 10.0, 100.0])))
        style = ANSWERS[number % len(ANSWERS)]
        try:
            ratios = audit.ratios(
                lambda table, request=request: ready_all(table, request).draw(),
                people,
                neighbours(rng, people),
                rng,
                style,
            )
        except InputError:  # public covariates that tell the groups apart
            continue
        found = {name: max(found.get(name, 0.0), ratios.get(name, 0.0)) for name in {**found, **ratios}}
    return found


@pytest.mark.slow
def test_no_step_is_moved_by_more_than_is_paid_for():
    """At every step the sums of neighbours are within its sensitivity, and near it; its terms are alike."""
    found = moved(1, 140)
    assert max(found.values()) <= audit.ROOM, found
    assert {"learn_groups", "_moments", "learn_balance", "measure_adjusted", "learn_norms"} <= set(found)
    steps = (
        "learn_balance",
        "learn_following",
        "measure_adjusted",
        "_moments",
        "_learn_slopes",
        "widened",
        "_settled",
    )
    assert min(found[step] for step in (*steps, "widened")) > 0.7, found


def residuals_charged_as_public(patch):
    """Charge contrasts as if nobody could leave one group for the other."""
    real = measure.reach_of
    patch.setattr(measure, "reach_of", lambda known, largest, **_: real(known, largest, protected=False))


def covariates_not_shortened(patch):
    """Let people with long covariates count in full."""
    real = balance.Balance.turned

    def faulty(self, values):
        u, share = real(self, values)
        return u, np.ones(share.size)

    patch.setattr(balance.Balance, "turned", faulty)


def moments_charged_as_one_row(patch):
    """Charge second moments by the length of a row, not of its products."""
    real = balance.with_noise

    def faulty(total, moved, rho, unit=1.0):
        return real(total, math.sqrt(moved) if np.size(total) > 8 else moved, rho, unit)

    patch.setattr(balance, "with_noise", faulty)


def slopes_charged_as_one_row(patch):
    """Charge slopes as if the rows of two people could not be opposite."""
    real = left.with_noise

    def faulty(total, moved, rho, unit=1.0):
        return real(total, moved / 2, rho, unit)

    patch.setattr(left, "with_noise", faulty)


def ranges_charged_as_one_column(patch):
    """Charge how many numbers are beyond their range as if one person were beyond that of one column."""
    real = ranges.with_noise
    patch.setattr(ranges, "with_noise", lambda total, moved, rho: real(total, min(moved, 1.0), rho))


def those_who_are_clipped_count_more(patch):
    """Let people count by what clipping takes from their rows, not by what it leaves."""
    real = clipping.Ball.kept
    patch.setattr(clipping.Ball, "kept", lambda self, rows: 2 / real(self, rows))


def size_of_what_is_left_not_charged(patch):
    """Tell how large what is left of a partner is beside the covariates, for nothing and at full length."""
    patch.setattr(partner, "_BESIDE", 2.0)
    real = partner.with_noise

    def faulty(total, moved, rho, unit=1.0):
        return real(total, moved / math.sqrt(5), rho, unit)

    patch.setattr(partner, "with_noise", faulty)


def partner_not_cut(patch):
    """Let people whose partner is far out count in proportion."""
    patch.setattr(partner, "_counted", lambda left: 0.5 * np.nan_to_num(np.clip(left, -2, 2), nan=0.0))


def exact_size_of_the_balance(patch):
    """Use the number of people that are compared as it is."""
    real = measure.learn_balance

    def faulty(covariates, group, _, rho):
        return real(covariates, group, max(float(np.count_nonzero(group >= 0)), 1.0), rho)

    patch.setattr(measure, "learn_balance", faulty)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        residuals_charged_as_public,
        covariates_not_shortened,
        moments_charged_as_one_row,
        slopes_charged_as_one_row,
        ranges_charged_as_one_column,
        those_who_are_clipped_count_more,
        size_of_what_is_left_not_charged,
        partner_not_cut,
        exact_size_of_the_balance,
    ],
)
def test_a_planted_fault_is_found(fault, monkeypatch):
    """The audit refutes a mechanism that is wrong in one place."""
    fault(monkeypatch)

    def refuted(seed):
        try:
            return max(moved(seed, 12).values()) > audit.ROOM
        except AssertionError:
            return True

    assert any(refuted(seed) for seed in range(1, 9))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_what_is_spent_is_what_was_charged(epsilon):
    """The steps of a draw add up to no more than its events, and these to (epsilon, delta)."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        people = with_covariates(rng, nasty_people.invent(rng, protect="everything", most=5))
        ready = ready_all(people, asked(epsilon))
        record = audit.Record(rng, "mixed")
        with audit.standing_in(record):
            ready.draw()
        charged = math.fsum(event.mu**2 / 2 for event in ready.events)
        assert record.spent <= charged * (1 + 2**-40)
        assert account(ready.events, epsilon=epsilon) <= 1e-6


def test_a_person_counts_the_same_wherever_they_stand():
    """To the last bit: whoever is replaced may move all others by a place, or to the other end."""
    rng = np.random.default_rng(8)
    values, weights = rng.normal(size=(1003, 7)), rng.normal(size=(7, 5))
    whole = balance.by_person(values, weights)
    assert np.allclose(whole, values @ weights)
    for order in (slice(1, None), slice(None, None, -1), rng.permutation(1003)):
        assert np.array_equal(balance.by_person(np.ascontiguousarray(values[order]), weights), whole[order])


def largest_tile(monkeypatch):
    """Return sums of squares over the first tile of one column as large as can be: in floats, and exact."""
    rows = 2**18
    whole = np.full((rows, 1), left.LARGEST, dtype=np.int16)
    count = np.full(rows, balance.HALF - 8.0)  # whose squares are odd in their steps
    known = SimpleNamespace(
        residual=SimpleNamespace(whole=lambda values, _: whole[: len(values)]),
        balance=SimpleNamespace(
            whole=lambda values, _: count[: len(values)],
            turned=lambda values: (np.zeros((len(values), 1)), 1),
        ),
        balls=SimpleNamespace(clip=lambda rows, *_: rows.astype(np.float64)),
        rows=SimpleNamespace(positive=None),
    )  # fmt: skip
    covariates = SimpleNamespace(values=np.zeros((rows, 1)))
    people = SimpleNamespace(
        covariates=covariates, rows=rows, values=np.zeros((rows, 1)), group=np.ones(rows, dtype=np.int8),
        partner=None, __len__=lambda: 1,
    )  # fmt: skip
    monkeypatch.setattr(measure, "len", lambda x: 1 if x is people else len(x), raising=False)
    _, each, _, table = next(measure._tiles(people, known))
    squared = (each * each) // (balance.HALF**2 // measure._SQUARED)
    in_floats = int((squared @ (table * table))[0])
    return in_floats, len(table) * int(squared[0]) * left.LARGEST**2


def test_squares_of_a_tile_are_exact(monkeypatch):
    """However large they are: what is rounded depends on the order of people. Wrong twin: higher tiles."""
    in_floats, exact = largest_tile(monkeypatch)
    assert in_floats == exact < 2**53
    monkeypatch.setattr(measure, "_FEWEST", 1)
    assert largest_tile(monkeypatch)[1] > 2**53
