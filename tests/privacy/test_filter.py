"""The filter holds against an adversary that chooses every cost after seeing what came before."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

import discreet
from discreet.errors import InputError
from discreet.privacy.account import account
from discreet.privacy.calibrate import bounded_range_step
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Gaussian, Pure
from discreet.privacy.filter import Filter, Sums

STEP = 0.5
EPSILON = 4.0
DELTA = account([Pure(STEP, 10)], epsilon=EPSILON)

SOME = st.one_of(
    st.builds(Pure, st.floats(0, 2), st.integers(1, 5)),
    st.builds(BoundedRange, st.floats(0, 2), st.integers(1, 5)),
    st.builds(ZCDP, st.floats(0, 1), st.integers(1, 5)),
    st.builds(Gaussian, st.floats(0, 1), st.integers(1, 5)),
    st.builds(Approximate, st.floats(0, 1), st.floats(0, 1e-4)),
)
CHARGES = st.lists(st.lists(SOME, max_size=3), max_size=5)


def worst_delta(admits, coin, slips, most=12):
    """Return the exact delta at EPSILON of the best adversary that asks only for what `admits` allows.

    It may ask for a randomised response of STEP, charged as `coin`, or for a release that shows everything
    with probability d and nothing otherwise, charged as Approximate(0, d), d in `slips`; in any order, each
    choice made with the loss so far in sight. Exact: backwards over (coins, slips used, loss).
    """
    heads = 1 / (1 + math.exp(-STEP))

    @cache
    def allowed(coins, used):
        return admits([[coin]] * coins + [[Approximate(0.0, d)] for d in used])

    @cache
    def value(coins, used, net):
        best = max(0.0, -math.expm1(EPSILON - STEP * net))
        if coins + len(used) == most:
            return best
        if allowed(coins + 1, used):
            up, down = (value(coins + 1, used, net + side) for side in (1, -1))
            best = max(best, heads * up + (1 - heads) * down)
        for d in slips:
            more = tuple(sorted((*used, d)))
            if allowed(coins, more):
                best = max(best, d + (1 - d) * value(coins, more, net))
        return best

    return value(0, (), 0)


@pytest.mark.parametrize("aside", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("coin", [Pure(STEP), ZCDP(STEP * math.tanh(STEP / 2)), Approximate(STEP, 0.0)])
def test_no_adversary_beats_the_filter(aside, coin):
    """Whatever is chosen on the way, delta stays within the total; and it is not far below."""
    rule = Filter(EPSILON, DELTA, aside * DELTA)
    reached = worst_delta(rule.admits, coin, slips=(DELTA / 4, DELTA / 2, DELTA))
    assert reached <= DELTA
    assert reached >= aside * DELTA


@pytest.mark.parametrize("aside", [0.0, 0.5])
def test_no_adversary_beats_the_sum_of_squares(aside):
    """The same where the first charge is Gaussian, for coins charged as such, as pure or as bounded range."""
    mu = 2 * ndtri(1 / (1 + math.exp(-STEP)))
    for coin in (Gaussian(mu), Pure(STEP), BoundedRange(2 * STEP)):
        total = account([Gaussian(1.2534 * STEP, 10)], epsilon=EPSILON)
        rule = Filter(EPSILON, total, aside * total)

        def admits(charges, rule=rule):
            return rule.admits([[Gaussian(1e-9)], *charges])

        reached = worst_delta(admits, coin, slips=(total / 4, total / 2))
        assert aside * total <= reached <= total

    def generous(charges):
        return Filter(EPSILON, total).admits([[Gaussian(1e-9)], *(halved(charge) for charge in charges)])

    def halved(charge):
        return [Gaussian(event.mu / 2) if isinstance(event, Gaussian) else event for event in charge]

    assert worst_delta(generous, Gaussian(mu), slips=(), most=30) > total


def test_the_first_charge_decides_what_adds_up():
    """Squares of mu, or rho: fixed before any output is seen; zCDP then has no place in the former."""
    rule = Filter(1.0, 1e-6)
    noise = [Gaussian(0.1)]
    assert Sums.of([noise]).gaussian
    assert not Sums.of([[ZCDP(0.005)], noise]).gaussian
    assert not Sums.of([]).gaussian
    assert rule.spent([noise] * 5) == pytest.approx(account([Gaussian(0.1, 5)], delta=1e-6), rel=1e-6)
    assert rule.spent([[ZCDP(0.0)], *[noise] * 5]) > 1.05 * rule.spent([noise] * 5)
    assert rule.admits([noise, [Pure(0.01)], [BoundedRange(0.01, 50)]])
    assert rule.spent([noise, [ZCDP(1e-9)]]) > 1e40
    assert rule.admits([noise, [ZCDP(0.0)]])
    assert not rule.admits([noise, [Gaussian(1e-300)] * 2, [Gaussian(1e100)]])


def test_rounds_of_several_sizes_in_one_charge():
    """They count as large as the largest, or each by itself, whichever is less."""
    rule, noise = Filter(10.0, 1e-6), [Gaussian(1e-6)]
    alike = rule.spent([noise, [BoundedRange(0.1, 40), BoundedRange(0.0999, 40)]])
    assert alike == pytest.approx(rule.spent([noise, [BoundedRange(0.1, 80)]]), rel=1e-6)
    apart = rule.spent([noise, [BoundedRange(0.1, 40), BoundedRange(1e-6, 4000)]])
    assert apart < rule.spent([noise, [BoundedRange(0.1, 4040)]])
    assert apart > rule.spent([noise, [BoundedRange(0.1, 40)]])
    assert rule.spent([noise, [Pure(0.05, 40)]]) == rule.spent([noise, [BoundedRange(0.1, 40)]])


def test_account_alone_is_not_a_filter():
    """The planted fault: admitting whatever `account` admits lets an adversary reach nearly twice delta."""

    def careless(charges):
        return account([event for charge in charges for event in charge], epsilon=EPSILON) <= DELTA

    reached = worst_delta(careless, Pure(STEP), slips=(DELTA * (1 - 1e-6),))
    assert reached / DELTA == pytest.approx(2 - 1 / (1 + math.exp(-STEP)) ** 8, rel=1e-4)


def test_a_share_of_delta_chosen_on_the_way_is_not_a_filter():
    """The planted fault: slips and zCDP may not trade delta after the fact, even by the zCDP curve alone."""

    def trading(charges):
        slips = sum(e.delta for charge in charges for e in charge if isinstance(e, Approximate))
        return slips <= total and Filter(EPSILON, total, min(slips, total)).admits([*charges, []])

    total = account([ZCDP(STEP * math.tanh(STEP / 2), 11)], epsilon=EPSILON) * (1 + 1e-9)
    fixed = Filter(EPSILON, total).admits
    coin = ZCDP(STEP * math.tanh(STEP / 2))
    slips = tuple(total * share for share in (0.5, 0.9, 0.98))
    honest = worst_delta(fixed, coin, slips)
    assert honest <= total
    assert worst_delta(trading, coin, slips) > 1.03 * total


@given(CHARGES, st.floats(1e-9, 1e-3), st.floats(0, 1))
def test_never_below_the_fixed_list(charges, delta, share):
    """What the filter calls spent is at least what `account` certifies for the same events in any order.

    A sum of squares knows that charges follow one another, so there one charge is compared.
    """
    if Sums.of(charges).gaussian:
        charges = charges[:1]
    events = [event for charge in charges for event in charge]
    spent = Filter(1.0, delta, share * delta).spent(charges)
    assert spent >= account(events, delta=delta) * (1 - 2e-6)


@pytest.mark.slow
@given(CHARGES, st.lists(SOME, max_size=3), st.floats(1e-9, 1e-3), st.floats(0, 1))
def test_a_refusal_is_final(charges, more, delta, share):
    """Another charge never makes room: past the first, spent does not fall."""
    rule = Filter(1.0, delta, share * delta)
    before, after = rule.spent([*charges, []]), rule.spent([*charges, [], more])
    assert after >= before * (1 - 1e-8)


def gaussian(rho):
    """Return the Gaussian event with this rho."""
    return Gaussian(math.sqrt(2 * rho))


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.lists(st.floats(1e-6, 5e-3), min_size=1, max_size=5),
    st.floats(1e-9, 1e-3),
    st.sampled_from([ZCDP, gaussian]),
)
def test_what_is_left_fits(rhos, delta, kind):
    """A release calibrated to `left` at the total delta is admitted; one of 1% more is not."""
    rule, charges = Filter(1.0, delta), [[kind(rho)] for rho in rhos]
    left = rule.left(charges)
    if left == 0:
        return

    def rho_at(epsilon):
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if account([kind(middle)], delta=delta) <= epsilon else (low, middle)
        return low

    assert rule.admits([*charges, [kind(rho_at(left))]])
    assert not rule.admits([*charges, [kind(rho_at(left * 1.01))]])


@pytest.mark.parametrize("method", ["aware", "peel", "oneshot", "mirror"])
def test_one_release_may_take_everything(method):
    """A release at (epsilon, delta) fits an empty budget of (epsilon, delta); many of them do not."""
    rng = np.random.default_rng(1)
    if method == "mirror":
        evidence = discreet.Evidence.from_z(
            rng.normal(size=200), sensitivity=0.01, adjacency="replace", alternative="greater"
        )
    else:
        evidence = discreet.Evidence.from_p(rng.uniform(size=200), eta=0.01, nu=1e-5)
    k = None if method == "aware" else 150
    events = discreet.release(evidence, q=0.1, epsilon=1.0, delta=1e-6, method=method, k=k).privacy.events
    assert Filter(1.0, 1e-6).admits([events])
    assert not Filter(1.0, 1e-6).admits([events] * 20)


@pytest.mark.slow
def test_the_first_charge_may_fit_as_a_whole():
    """A charge that only the exact recursion admits is admitted if it is the first, and leaves nothing."""
    whole = BoundedRange(bounded_range_step(1.0, 1e-6, 100), 100)
    rule = Filter(1.0, 1e-6)
    assert account([ZCDP(whole.epsilon**2 / 8, 100)], delta=1e-6) > 1.0
    assert rule.admits([[whole]])
    assert rule.left([[whole]]) == 0.0
    assert not rule.admits([[whole], [ZCDP(1e-12)]])
    assert not rule.admits([[], [whole]])


def test_edges():
    """Free events cost nothing, tiny ones something, huge ones and strangers are refused."""
    rule = Filter(1.0, 1e-6)
    assert rule.spent([]) == rule.spent([[ZCDP(0.0)], [Pure(0.0), Gaussian(0.0)], []]) == 0.0
    assert rule.left([]) == 1.0
    assert Filter(1.0, 0.0).admits([[Pure(0.5)], [BoundedRange(0.5)]])
    assert not Filter(1.0, 0.0).admits([[Pure(0.5)], [BoundedRange(0.5)], [Pure(1e-300)]])
    assert not Filter(1.0, 0.0).admits([[ZCDP(1e-300)]])
    assert Filter(1.0, 0.0).left([]) == 0.0
    assert not rule.admits([[BoundedRange(1e100)]])
    assert not Filter(1e6, 1e-6).admits([[Pure(1e100)], [Gaussian(1e100)]])
    assert not rule.admits([[], [Approximate(0.1, 1e-9)]])
    for wrong in ({"epsilon": 0.0}, {"epsilon": 1e7}, {"delta": 1.0}, {"aside": 1e-5}, {"aside": -1.0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Filter(**({"epsilon": 1.0, "delta": 1e-6} | wrong))
    with pytest.raises(InputError, match="events must hold"):
        rule.admits([["free lunch"]])


def test_what_pure_releases_may_add_up_to():
    """It fits to the end and no further; with a Gaussian event among them nothing is said."""
    rule, charges = Filter(3.0, 1e-6), [[Pure(1.0)], [Pure(1.1)]]
    assert rule.left(charges) == 0.0
    rest = rule.pure_left(charges)
    assert rest == pytest.approx(0.9)
    assert rule.admits([*charges, [Pure(rest * (1 - 1e-9))]])
    assert not rule.admits([*charges, [Pure(rest * (1 + 1e-9))]])
    assert rule.pure_left([[Gaussian(0.1)]]) == 0.0
    assert rule.pure_left([[Pure(3.0)]]) == 0.0
