"""The contest's rivals are what they say: their published figures come out, or their definition does."""

import math

import numpy as np
import pytest

from budget import assert_mean_is, must_fail
from discreet.lab.bench.contest import joint_flip, online_rivals, packages, report, synthetic


@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("setting", joint_flip.SETTINGS)
def test_joint_permute_and_flip_is_reproduced(setting):
    """Its accuracy is not told from the published one, and is told from one far away."""
    shares = joint_flip.accuracies(setting, {"rival": joint_flip.rival}, 250, seed=2)["rival"]
    assert_mean_is(shares, setting.published)
    assert abs(shares.mean() - setting.published) < 0.08
    must_fail(assert_mean_is, shares, wrong=setting.published - 0.5, truth=setting.published)


@pytest.mark.parametrize("name", packages.SLOW)
def test_packages_choose_what_stands_out(name):
    """With a large budget each package finds the clear best two."""
    choose = packages.choosers().get(name)
    if choose is None:
        pytest.skip(f"{name} is not installed")
    chosen = choose(np.array([0.0, 90.0, 0.0, 80.0, 1.0]), 2, 10.0, np.random.default_rng(1))
    assert sorted(chosen.tolist()) == [1, 3]


def test_synthetic_people_resemble_the_real_ones(monkeypatch):
    """With a large budget, shares and the strongest pairs are kept, and an analyst finds what is there."""
    monkeypatch.setattr(synthetic, "EPSILON", 1e5)
    rng = np.random.default_rng(1)
    people, real = synthetic.table(rng, 3)
    made = synthetic.synthesize(people, rng)
    assert np.abs(made.mean(axis=0) - people.mean(axis=0)).max() < 0.08
    assert (synthetic.discoveries(made) & real).sum() == 3
    assert synthetic.discoveries(people)[real].all()


def test_the_budget_of_synthetic_data():
    """rho-zCDP is (epsilon, delta)-DP by the usual bound, with nothing left."""
    rho = synthetic.budget(1.0, 1e-6)
    assert rho + 2 * math.sqrt(rho * math.log(1e6)) == pytest.approx(1.0)


def test_hypotheses_in_turn_are_decided_in_order():
    """A decision does not depend on what comes later."""
    p = [1e-6, 0.3, 1e-5, 0.8, 0.01, 1e-7]
    for name in ("lord", "saffron", "lond"):
        whole = online_rivals.decisions(name, p)
        assert whole[0]
        assert (online_rivals.decisions(name, p[:4]) == whole[:4]).all()


def test_tables_are_printed(monkeypatch):
    """Every part of the report, small."""
    monkeypatch.setattr(packages, "choosers", dict)
    words = report.run(2, lambda _: None)
    for part in ("joint permute-and-flip", "Test of Tests", "saffron", "synthetic data, BH", "0.914"):
        assert part in words
