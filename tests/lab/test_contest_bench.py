"""The contest's rivals are what they say: their published figures come out, or their definition does."""

import itertools
import math

import numpy as np
import pytest

from budget import assert_mean_is, must_fail
from discreet.lab.bench.contest import (
    aim,
    families,
    joint_flip,
    offline,
    one_question,
    online_rivals,
    packages,
    report,
    synthetic,
)
from discreet.lab.bench.power import proportions, published


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


def test_aim_measures_what_its_budget_allows(monkeypatch):
    """Nothing is left of it; with a large one the synthetic people show what is there."""
    monkeypatch.setattr(aim, "EPSILON", 1e5)
    rng = np.random.default_rng(1)
    people, real = synthetic.table(rng, 3)
    made, spent = aim.synthesize(people, rng)
    assert spent == pytest.approx(synthetic.budget(1e5, synthetic.DELTA))
    assert (synthetic.discoveries(made) & real).sum() == 3
    assert np.abs(made.mean(axis=0) - people.mean(axis=0)).max() < 0.08


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


def ways(n, kinds):
    """Yield all ways to put n families into so many kinds."""
    if kinds == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in ways(n - first, kinds - 1):
            yield (first, *rest)


def steps_to(target, tables):
    """Return how many families must change, over all tables, to come to one in `target`."""
    steps, edge = dict.fromkeys(target, 0), list(target)
    for table in edge:
        for source, other in itertools.permutations(range(6), 2):
            moved = list(table)
            moved[source] -= 1
            moved[other] += 1
            if moved[source] >= 0 and tuple(moved) not in steps:
                steps[tuple(moved)] = steps[table] + 1
                edge.append(tuple(moved))
    assert len(steps) == len(tables)
    return steps


@pytest.mark.parametrize("cut", [1.0, 3.0])
def test_distances_of_families_are_the_fewest_changes(cut):
    """Over all tables of seven families of six kinds; so one family moves a distance by at most 1."""
    tables = list(ways(7, 6))
    both = {table: np.array(table) @ np.array(families.KINDS) for table in tables}
    above = {t for t, (b, c) in both.items() if b + c > 0 and (b - c) ** 2 >= cut * (b + c)}
    down, up = steps_to(set(tables) - above, tables), steps_to(above, tables)
    for table in tables:
        if table[2:5] == (0, 0, 0):
            found = families.distance(families.Counts(*(np.array([float(k)]) for k in table[:2])), cut)[0]
            assert found == (down[table] - 1 if table in above else -up[table])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rival"), [("DP-BH", offline.dp_bh), ("DP-AdaPT", offline.dp_adapt)])
def test_rivals_for_p_values_are_reproduced(name, rival):
    """Power and FDR of four studies are those published, within what four studies can tell."""
    rng, point = np.random.default_rng(3), offline.POINTS[1]
    found = []
    for _ in range(4):
        z = rng.standard_normal(offline.M)
        z[: offline.SIGNALS] += 4.0
        found.append(proportions(rival(z, point, rng)))
    false, power = np.mean(found, axis=0)
    fdr, published_power = published()["epsilon", 0.5, name]
    assert power == pytest.approx(published_power, abs=0.08)
    assert false == pytest.approx(fdr, abs=0.06)


@pytest.mark.slow
def test_tables_are_printed(monkeypatch):
    """Every part of the report, small."""
    monkeypatch.setattr(packages, "choosers", dict)
    monkeypatch.setattr(one_question, "STUDIES", 100)
    monkeypatch.setattr(families, "VARIANTS", 2_000)
    monkeypatch.setattr(offline, "POINTS", offline.POINTS[1:2])
    monkeypatch.setattr(offline, "CONTENDERS", {"DP-AdaPT": offline.dp_adapt})
    words = report.run(2, lambda _: None)
    for part in ("joint permute-and-flip", "Test of Tests", "saffron", "AIM, BH", "0.914"):
        assert part in words
