"""Releases as OpenDP measurements: what they cost, and that OpenDP's budget refuses what it cannot pay."""

import math

import numpy as np
import pytest

import discreet
from discreet.errors import InputError
from discreet.opendp import make_discover, make_top_k, people_domain

dp = pytest.importorskip("opendp.prelude")
pd = pytest.importorskip("pandas")
dp.enable_features("contrib", "honest-but-curious")
TEST = discreet.Compare(group="treated")
APPROXIMATE = dp.approximate(dp.max_divergence())


def table(n=2_000):
    """Return people of whom half are treated, and a column that treatment moves."""
    treated = np.arange(n) % 2
    rng = np.random.default_rng(5)
    return pd.DataFrame({"treated": treated, "moved": rng.normal(2.0 * treated), "not": rng.normal(size=n)})


def test_one_budget_pays_for_releases_until_it_is_spent():
    """OpenDP's compositor answers what it was set up for, and refuses the release after that."""
    release = make_discover(TEST, q=0.1, epsilon=1.0, delta=1e-6)
    costs = [(1.0, 1e-6), (0.5, 0.0)]
    budget = dp.c.make_adaptive_composition(
        people_domain(), dp.change_one_distance(), APPROXIMATE, d_in=1, d_mids=costs
    )
    ask = budget(table())
    released = ask(release)
    assert released.discoveries[0] == "moved"
    assert (released.privacy.epsilon, released.privacy.delta) == (1.0, 1e-6)
    assert not hasattr(released, "__opendp_dict__"), "a release holds no way back to the data"
    with pytest.raises(dp.OpenDPException, match="insufficient budget"):
        ask(release)


def test_several_people_cost_as_group_privacy_says():
    """The cost of d people is d times epsilon, and delta times a geometric sum; more is never cheaper."""
    release = make_discover(TEST, q=0.1, epsilon=0.5, delta=1e-6)
    assert release.map(1) == (0.5, 1e-6)
    epsilon, delta = release.map(3)
    assert 1.5 <= epsilon < 1.5 * (1 + 1e-9)
    assert 1e-6 * (1 + math.exp(0.5) + math.exp(1.0)) <= delta < 1e-6 * 5.4
    assert release.map(5_000)[1] == 1.0


def test_metrics_follow_what_a_test_protects():
    """A test of people added and removed has the symmetric distance, others that of changes."""
    removed = discreet.Mean(bounds=(0, 1), null=0.5, adjacency="add-remove", least=100)
    for test, metric in ((TEST, dp.change_one_distance()), (removed, dp.symmetric_distance())):
        assert make_discover(test, q=0.1).input_metric == metric


def test_top_k_chooses_and_costs():
    """The largest are chosen, pure without delta; another step costs as much again, a part of it a whole."""
    scores = [0.0, 900.0, 5.0, 1_000.0]
    pure = make_top_k(2, sensitivity=2.0, epsilon=1.0, largest=True)
    assert sorted(pure(scores)) == [1, 3]
    assert pure.map(2.0) == pure.map(0.5) == 1.0
    assert 2.0 <= pure.map(3.0) < 2.0 * (1 + 1e-9)
    slack = make_top_k(2, sensitivity=2.0, epsilon=1.0, delta=1e-6, largest=True, monotonic=True)
    assert slack.map(2.0) == (1.0, 1e-6)
    assert slack.input_metric == dp.linf_distance(T=float, monotonic=True)


def test_a_ledger_is_refused():
    """One budget is enough: a ledger of our own is named and refused."""
    with pytest.raises(InputError, match="ledger"):
        make_discover(TEST, q=0.1, ledger="a.ledger")
