"""Released values: what they are, what noise they carry, and that the budget covers them."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

import discreet
from budget import assert_law, must_fail
from discreet.methods.values import VALUES_SHARE
from discreet.privacy.account import account

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
PEOPLE, FOUND = 20_000, 30


def cohort():
    """Return a table (people, columns) whose first 30 columns rise by 0.2 of a width of 4 in group 1."""
    rng = np.random.default_rng(11)
    group = np.arange(PEOPLE) % 2
    x = rng.random((PEOPLE, 60)) * 2
    x[:, :FOUND] += 0.8 * group[:, None]
    table = np.empty(PEOPLE, dtype=[("g", "i8"), *((f"x{i}", "f8") for i in range(60))])
    table["g"] = group
    for i in range(60):
        table[f"x{i}"] = x[:, i]
    return table, x[group == 1].mean(axis=0) - x[group == 0].mean(axis=0)


TEST = discreet.TwoGroups(group="g", bounds=(-1, 3))


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_values_are_the_effects_with_the_stated_noise():
    """Released minus true, over the stated noise, is standard normal; a third of the noise is refuted."""
    table, truth = cohort()
    evidence = discreet.measure(table, TEST)
    errors = []
    for _ in range(40):
        r = discreet.release(evidence, q=0.1, method="aware", values=True, **BUDGET)
        assert r.values.name == "difference of means"
        assert r.values.noise == pytest.approx(r.values.noise[0])
        errors.append((r.values.noisy - truth[r.indices]) / r.values.noise)
    z = np.concatenate(errors)
    assert z.size > 1000
    assert_law(z, ndtr)
    must_fail(assert_law, 3 * z, wrong=ndtr, truth=lambda x: ndtr(x / 3))


@pytest.mark.slow
def test_the_noise_is_the_smallest_that_the_charge_allows():
    """R values at rho/R each: sigma = width sensitivity sqrt(R/(2 rho)), sensitivity = 1/(.8 n_min)."""
    table, _ = cohort()
    r = discreet.discover(table, TEST, q=0.1, method="aware", values=True, **BUDGET)
    least = 4 * (2 / (0.8 * PEOPLE)) * math.sqrt(len(r)) / r.privacy.events[-1].mu
    assert np.all(r.values.noise >= least)
    assert np.all(r.values.noise <= 1.002 * least)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["aware", "peel", "oneshot", "mirror"])
def test_events_with_values_fit_the_budget(method):
    """The accountant, told of every event, finds no more than was asked for."""
    z = np.concatenate([np.full(20, 30.0), np.zeros(180)])
    evidence = discreet.Evidence.from_z(z, sensitivity=1e-3, adjacency="replace", alternative="greater")
    most = {} if method == "aware" else {"k": 20}
    r = discreet.release(evidence, q=0.1, method=method, **most, values=True, **BUDGET)
    assert account(r.privacy.events, delta=BUDGET["delta"]) <= BUDGET["epsilon"]
    assert len(r.values.noisy) == len(r.values.noise) == len(r) > 10
    assert r.values.name == "z score"
    assert np.all(np.abs(r.values.noisy - 30) < 12 * r.values.noise)
    plain = discreet.release(evidence, q=0.1, method=method, **most, **BUDGET)
    assert plain.values is None


@pytest.mark.slow
def test_values_cost_aware_a_fifth_of_its_budget():
    """The search and the selection get the rest."""
    evidence = discreet.Evidence.from_z(np.zeros(50), sensitivity=0.01, adjacency="replace")
    with_values = discreet.release(evidence, q=0.1, method="aware", values=True, **BUDGET).privacy.events
    without = discreet.release(evidence, q=0.1, method="aware", **BUDGET).privacy.events
    whole = sum(event.mu**2 for event in without)
    assert sum(event.mu**2 for event in with_values) <= whole * (1 + 1e-12)
    assert with_values[-1].mu ** 2 == pytest.approx(VALUES_SHARE * whole)


def test_no_discoveries_means_no_values():
    """Nothing found: two empty arrays, the same charge."""
    evidence = discreet.Evidence.from_z(np.zeros(50), sensitivity=1.0, adjacency="replace")
    r = discreet.release(evidence, q=0.01, values=True, **BUDGET)
    assert len(r) == r.values.noisy.size == r.values.noise.size == 0


def test_p_values_release_their_logarithm():
    """From p-values the number is -log p, as in the paper."""
    p = np.concatenate([np.full(10, 1e-12), np.ones(90)])
    r = discreet.private_bh(p, eta=1e-4, nu=1e-13, q=0.1, values=True, **BUDGET)
    assert r.values.name == "-log p"
    assert np.all(np.abs(r.values.noisy + math.log(1e-12)) < 12 * r.values.noise)


def test_doubling_charges_every_round_it_may_need():
    """The events of a release without k are those of all rounds, whatever was found."""
    evidence = discreet.Evidence.from_z(np.zeros(100), sensitivity=0.01, adjacency="replace")
    r = discreet.release(evidence, q=0.1, method="peel", **BUDGET)
    assert len(r.privacy.events) == 2 * len([16, 32, 64, 100])
