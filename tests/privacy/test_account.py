"""Laws of accounting: counts, order, splitting, monotonicity, and never below an exact value."""

from __future__ import annotations

import math

import pytest
from exact import hockey_stick, responses
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.privacy import account as module
from discreet.privacy import curves
from discreet.privacy.account import account
from discreet.privacy.bounded_range import composed_delta
from discreet.privacy.curves import effective
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Gaussian, Pure, from_dict, to_dict

NUMBERS = st.sampled_from([0.01, 0.05, 0.2, 0.7])
EVENTS = st.one_of(
    st.builds(Pure, NUMBERS, st.integers(1, 4)),
    st.builds(BoundedRange, NUMBERS, st.integers(1, 4)),
    st.builds(ZCDP, NUMBERS, st.integers(1, 4)),
    st.builds(Gaussian, NUMBERS, st.integers(1, 4)),
    st.builds(Approximate, NUMBERS, st.sampled_from([0.0, 1e-8, 1e-7]), st.integers(1, 3)),
)
LISTS = st.lists(EVENTS, min_size=1, max_size=5)
DELTAS = st.sampled_from([1e-9, 1e-6, 1e-3, 0.1])


def grown(event, factor):
    """Return `event` with its main parameter multiplied."""
    fields = to_dict(event)
    name = next(key for key in fields if key not in {"kind", "count", "delta"})
    return from_dict({**fields, name: fields[name] * factor})


@settings(max_examples=40, deadline=None)
@given(EVENTS, st.integers(1, 6), DELTAS)
def test_n_single_events_equal_one_of_count_n(event, n, delta):
    """Composing one by one and composing at once are the same thing."""
    single = from_dict({**to_dict(event), "count": 1})
    together = from_dict({**to_dict(event), "count": n})
    assert account([single] * n, delta=delta) == account([together], delta=delta)
    assert account([single] * n, epsilon=0.3) == account([together], epsilon=0.3)


@settings(max_examples=30, deadline=None)
@given(LISTS, st.randoms(use_true_random=False), DELTAS)
def test_order_does_not_matter(events, random, delta):
    """Any order of the same events costs the same."""
    shuffled = list(events)
    random.shuffle(shuffled)
    assert account(shuffled, delta=delta) == account(events, delta=delta)


@settings(max_examples=30, deadline=None)
@given(LISTS, EVENTS, DELTAS)
def test_one_more_event_never_helps(events, extra, delta):
    """Another event never lowers epsilon, nor delta."""
    room = 1 + 1e-6
    assert account([*events, extra], delta=delta) * room >= account(events, delta=delta)
    assert account([*events, extra], epsilon=0.5) * room >= account(events, epsilon=0.5)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(EVENTS, st.floats(1.01, 3.0), DELTAS)
def test_monotone_in_each_parameter(event, factor, delta):
    """A larger parameter, a smaller delta or a smaller epsilon never costs less."""
    room = 1 + 1e-6
    here = account([event], delta=delta)
    assert account([grown(event, factor)], delta=delta) * room >= here
    assert account([event], delta=delta / 2) * room >= here
    assert account([event], epsilon=0.2) * room >= account([event], epsilon=0.3)


@settings(max_examples=40, deadline=None)
@given(LISTS, DELTAS)
def test_both_directions_agree(events, delta):
    """At the epsilon returned for delta, delta is indeed certified."""
    epsilon = account(events, delta=delta)
    if math.isinf(epsilon):
        assert sum(e.delta * e.count for e in events if isinstance(e, Approximate)) > delta
    else:
        assert account(events, epsilon=epsilon) <= delta * (1 + 1e-12)


def test_splitting():
    """Gaussian events add in squares and zCDP events in rho."""
    whole = account([Gaussian(5.0)], delta=1e-6)
    assert account([Gaussian(3.0), Gaussian(4.0)], delta=1e-6) == pytest.approx(whole, rel=1e-8)
    whole = account([ZCDP(0.75)], delta=1e-6)
    assert account([ZCDP(0.25), ZCDP(0.5)], delta=1e-6) == pytest.approx(whole, rel=1e-8)


def pure_lists():
    """Return lists of pure epsilons small enough to enumerate."""
    return [[1.0] * 12, [0.5] * 12, [0.1] * 14, [2.0] * 6 + [0.25] * 6, [0.3, 0.6, 0.9, 1.2] * 3]


def never_below_randomised_response():
    """Tell whether account covers every enumerated list of randomised responses."""
    for epsilons in pure_lists():
        laws = responses(epsilons)
        events = [Pure(e) for e in epsilons]
        for share in (0.0, 0.1, 0.3, 0.5, 0.8):
            epsilon = share * sum(epsilons)
            if account(events, epsilon=epsilon) < hockey_stick(*laws, epsilon) * (1 - 1e-12):
                return False
    return True


def test_never_below_randomised_response():
    """Pure events: the enumerated composition of randomised responses is never undercut."""
    assert never_below_randomised_response()


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("pure_rho", curves.range_rho),
        ("pure_delta", lambda epsilon, groups: 0.99 * curves.pure_delta(epsilon, groups)),
        ("zcdp_delta", lambda epsilon, rho: curves.zcdp_delta(epsilon, rho / 4)),
    ],
)
def test_wrong_twins_are_caught(monkeypatch, name, twin):
    """A zCDP constant of 1/8 for pure events and the like are flagged by that check."""
    changed = {key: getattr(curves, key) for key in dir(curves) if not key.startswith("__")} | {name: twin}
    monkeypatch.setattr(
        module,
        "curves",
        type("Twin", (), {k: staticmethod(v) if callable(v) else v for k, v in changed.items()}),
    )
    assert not never_below_randomised_response()


def test_the_halved_recursion_reaches_the_answer(monkeypatch):
    """The recursion is what answers for equal bounded-range events, so a halved one would show."""
    events = [BoundedRange(0.05, 100)]
    honest = account(events, epsilon=1.0)
    assert honest == composed_delta(1.0, 0.05, 100)
    monkeypatch.setattr(module, "composed_delta", lambda epsilon, e, k: composed_delta(epsilon, e / 2, k))
    assert account(events, epsilon=1.0) < honest / 100


@pytest.mark.parametrize("b", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_one_laplace_release(b, share):
    """A Laplace release of sensitivity 1 has delta 1 - exp((eps - 1/b)/2); Pure(1/b) covers it."""
    epsilon = share / b
    assert account([Pure(1 / b)], epsilon=epsilon) >= -math.expm1((epsilon - 1 / b) / 2)


def test_pure_budgets_are_exact():
    """At delta = 0 epsilons add up, exactly, and one (epsilon, delta) event comes back as it went in."""
    assert account([Pure(1.0)], delta=0.0) == 1.0
    assert account([Pure(0.25, 3), BoundedRange(0.5)], delta=0.0) == 1.25
    assert account([Approximate(0.5, 1e-6)], delta=1e-6) == 0.5
    assert account([Approximate(0.5, 1e-6, 2)], epsilon=1.0) == 2e-6
    assert account([Pure(0.1, 3)], delta=0.0) >= 0.1 + 0.1 + 0.1


def test_nothing_certified():
    """Where no epsilon is certified the answer is infinity, and delta is 1 at most."""
    assert account([ZCDP(1.0)], delta=0.0) == math.inf
    assert account([Gaussian(1.0), Pure(1.0)], delta=0.0) == math.inf
    assert account([Approximate(0.1, 1e-3)], delta=1e-6) == math.inf
    assert account([Pure(50.0, 50)], epsilon=0.0) == 1.0


def test_nothing_spent():
    """No events, or events of size 0, cost nothing."""
    for events in ([], [Pure(0.0, 5), Gaussian(0.0), ZCDP(0.0), BoundedRange(0.0)]):
        assert account(events, delta=0.0) == 0.0
        assert account(events, delta=1e-6) == 0.0
        assert account(events, epsilon=0.0) == 0.0


def test_pure_beside_gaussian():
    """A large pure event beside a small Gaussian one is added to its exact curve, not turned into zCDP."""
    events = [Pure(3.0), Gaussian(0.1)]
    alone = account([Gaussian(0.1)], delta=1e-6)
    assert account(events, delta=1e-6) == pytest.approx(3.0 + alone, rel=1e-6)


def test_epsilon_zero():
    """Where delta pays for everything, epsilon is 0 and the search for it ends."""
    assert account([Gaussian(0.01)], delta=0.1) == 0.0
    assert account([Gaussian(0.01), Pure(1e-3)], delta=0.1) == 0.0


def test_too_many_rounds_are_one_gaussian_release():
    """Beyond 5,000 equal bounded-range rounds the Gaussian curve answers, below zCDP."""
    e = 1e-3
    found = account([BoundedRange(e, 6000)], epsilon=0.2)
    assert found == pytest.approx(curves.gaussian_delta(0.2, e / 2 * effective(6000) ** 0.5), rel=1e-9)
    assert found < curves.zcdp_delta(0.2, 6000 * curves.range_rho(e)) / 3


@pytest.mark.parametrize("extreme", [1e-300, 1e-100, 1e-12, 1e4, 1e50, 1e100])
def test_extreme_parameters(extreme):
    """No overflow, no warning, no delta of 0 by underflow."""
    for kind in (Pure, BoundedRange, ZCDP, Gaussian):
        for count in (1, 3, 10**9):
            events = [kind(extreme, count)]
            assert account(events, epsilon=0.0) > 0
            assert account(events, delta=1e-6) >= 0
            assert 0 <= account(events, epsilon=1e300) <= 1


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"delta": 0.1, "epsilon": 1.0},
        {"delta": -0.1},
        {"delta": 1.0},
        {"epsilon": -1.0},
        {"epsilon": math.nan},
    ],
)
def test_bad_arguments(kwargs):
    """Exactly one of delta in [0, 1) and epsilon >= 0."""
    with pytest.raises(InputError):
        account([Pure(1.0)], **kwargs)


def test_not_an_event():
    """Something else in the list is refused by name."""
    with pytest.raises(InputError, match="float"):
        account([0.5], delta=1e-6)
