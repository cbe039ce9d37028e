"""The contest's rivals are what they say: their published figures come out, or their definition does."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom, kendalltau

from budget import assert_mean_is, must_fail
from discreet.lab.bench.contest import (
    aim,
    analyst,
    dprivstats,
    evalues,
    families,
    joint_flip,
    knockoffs,
    offline,
    one_question,
    online_rivals,
    packaged,
    packages,
    paprika,
    peeled_knockoffs,
    report,
    synthetic,
)
from discreet.lab.bench.contest.lines import Line
from discreet.lab.bench.power import proportions, published
from discreet.privacy.account import account
from discreet.privacy.curves import zcdp_delta
from discreet.privacy.events import Pure


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("setting", joint_flip.SETTINGS)
def test_joint_permute_and_flip_is_reproduced(setting):
    """Its accuracy is not told from the published one, and is told from one far away."""
    shares = joint_flip.accuracies(setting, {"rival": joint_flip.rival}, 250, seed=2)["rival"]
    assert_mean_is(shares, setting.published)
    assert abs(shares.mean() - setting.published) < 0.08
    must_fail(assert_mean_is, shares, wrong=setting.published - 0.5, truth=setting.published)


@pytest.mark.parametrize("name", packages.NAMES)
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
    assert (analyst.ordinary(made).reported & real).sum() == 3
    assert analyst.ordinary(people).reported[real].all()


def test_aim_measures_what_its_budget_allows(monkeypatch):
    """Nothing is left of it; with a large one the synthetic people show what is there."""
    monkeypatch.setattr(aim, "EPSILON", 1e5)
    rng = np.random.default_rng(1)
    people, real = synthetic.table(rng, 3)
    made, spent = aim.synthesize(people, rng)
    assert spent == pytest.approx(synthetic.budget(1e5, synthetic.DELTA))
    assert (analyst.ordinary(made).reported & real).sum() == 3
    assert np.abs(made.mean(axis=0) - people.mean(axis=0)).max() < 0.08


@pytest.mark.slow
@pytest.mark.parametrize("name", packaged.NAMES)
def test_packaged_synthesizers_show_what_stands_out(name):
    """At epsilon 1 a column that equals the group is found; answers are yes or no, as many as people."""
    synthesize = packaged.synthesizers().get(name)
    if synthesize is None:
        pytest.skip('needs pip install "discreet[synthetic]", with a polars of its own')
    rng = np.random.default_rng(1)
    people = rng.integers(0, 2, (2_000, 3))
    people[:, 1] = people[:, 0]
    made = synthesize(people, rng)
    assert set(np.unique(made)) == {0, 1}
    assert abs(len(made) - 2_000) < 200
    assert analyst.ordinary(made).reported[0]


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_intervals_by_hand_hold_the_difference():
    """As often as they say, with their noise; Wald's around the same noisy differences do not."""
    rng = np.random.default_rng(2)
    held, short = np.empty((2, 500))
    for i in range(500):
        people, real = synthetic.table(rng, 3)
        low, high = analyst.by_hand(people, rng).ends
        truth, middle = np.where(real, synthetic.GAP, 0.0), (low + high) / 2
        held[i] = np.mean((low <= truth) & (truth <= high))
        ends = analyst.ordinary(people).ends
        short[i] = np.mean(np.abs(middle - truth) <= (ends[1] - ends[0]) / 2)
    assert_mean_is(held, 0.95)
    must_fail(assert_mean_is, short, wrong=0.95, truth=0.726)  # in 4,000 tables .7259 (.0013)


def test_the_budget_of_synthetic_data():
    """rho-zCDP is (epsilon, delta)-DP with nothing left, and more than the usual bound allows."""
    rho = synthetic.budget(1.0, 1e-6)
    assert zcdp_delta(1.0, rho) == pytest.approx(1e-6)
    assert rho + 2 * math.sqrt(rho * math.log(1e6)) > 1.0


def test_hypotheses_in_turn_are_decided_in_order():
    """A decision does not depend on what comes later."""
    p = [1e-6, 0.3, 1e-5, 0.8, 0.01, 1e-7]
    for name in ("lord", "saffron", "lond"):
        whole = online_rivals.decided(name, p, 0.1)
        assert whole[0]
        assert (online_rivals.decided(name, p[:4], 0.1) == whole[:4]).all()


@pytest.mark.slow
@pytest.mark.statistical(4, twins=2)
@pytest.mark.parametrize("investing", [False, True])
def test_paprika_is_reproduced(investing):
    """Power and false discoveries are those that the code of its repository gave."""
    rng, share = np.random.default_rng(3), 0.05
    found = np.empty((120, 2))
    for row in found:
        real = rng.random(paprika.QUESTIONS) < share
        p = binom.sf(rng.binomial(paprika.PEOPLE, np.where(real, 0.75, 0.5)) - 1, paprika.PEOPLE, 0.5)
        rejected = paprika.rival(p, paprika.QUESTIONS * share, paprika.EPSILON, rng, investing=investing)
        row[:] = (rejected & ~real).sum() / max(1, rejected.sum()), rejected[real].mean()
    fdr, power = paprika.PUBLISHED["PAPRIKA AI" if investing else "PAPRIKA", share]
    assert found.mean(axis=0) == pytest.approx([fdr, power], abs=0.05)
    for column, figure in zip(found.T, (fdr, power), strict=True):
        assert_mean_is(column, figure)
    must_fail(assert_mean_is, found[:, 1], wrong=power - 0.8, truth=power)


def test_questions_in_turn_cost_what_paprika_spends():
    """800 questions at our epsilon each stay within the budget, and use nearly all of it."""
    spent = account([Pure(paprika.each(), paprika.QUESTIONS)], delta=paprika.DELTA)
    assert 0.99 * paprika.EPSILON < spent <= paprika.EPSILON


@pytest.mark.parametrize("setting", dprivstats.SETTINGS, ids=lambda setting: setting.question)
def test_dprivstats_is_the_ordinary_test_without_noise(setting, monkeypatch):
    """With a large budget its p-values are SciPy's, up to the clipping of a few values."""
    monkeypatch.setattr(dprivstats, "EPSILON", 1e9)
    rng = np.random.default_rng(1)
    x, group = setting.people(setting.shift / 3, rng)
    x = np.clip(x, *dprivstats.BOUNDS)
    parts = [x[group == g] for g in range(setting.groups)]
    if setting.question.startswith("chi-square"):
        truth = stats.chi2_contingency([[np.sum(part == v) for v in (0, 1)] for part in parts]).pvalue
    else:
        truth = (stats.ttest_ind if setting.groups == 2 else stats.f_oneway)(*parts).pvalue
    assert setting.rival(x, group, rng).p_value == pytest.approx(truth, rel=0.1)


def test_e_values_stay_e_values():
    """The noisy product has mean 1 under the null, and e-BH is what its definition says."""
    rng, sigma = np.random.default_rng(1), 0.7
    factors = np.exp(sigma * rng.standard_normal(200_000) - sigma**2 / 2)
    assert factors.mean() == pytest.approx(1.0, abs=0.02)
    logs = np.log([25.0, 1.0, 16.0, 0.1])  # 4 hypotheses at q = .1: the k-th largest must be 40/k
    assert evalues.e_bh(logs).tolist() == []
    assert sorted(evalues.e_bh(np.log([25.0, 1.0, 21.0, 0.1])).tolist()) == [0, 2]


def test_knockoffs_leave_nulls_exchangeable():
    """The distances keep the joint covariance valid, and knockoffs have the columns' correlations."""
    rng = np.random.default_rng(1)
    apart = np.abs(np.subtract.outer(np.arange(50), np.arange(50)))
    x = rng.standard_normal((4_000, 50)) @ np.linalg.cholesky(knockoffs.CORRELATION**apart).T
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    correlation = np.corrcoef(x, rowvar=False)
    apart = knockoffs.distances(correlation)
    assert np.linalg.eigvalsh(2 * correlation - np.diag(apart))[0] > -1e-6
    assert apart.mean() > 0.8
    copies = np.corrcoef(np.hstack((x, knockoffs.knockoffs(x, rng))), rowvar=False)
    assert np.abs(copies[50:, 50:] - correlation).max() < 0.12
    assert np.abs(copies[:50, 50:] - (correlation - np.diag(apart))).max() < 0.12


def test_knockoffs_by_peeling_find_what_a_large_budget_shows(monkeypatch):
    """With hardly any noise the real columns are found; with far too much hardly any."""
    rng = np.random.default_rng(1)
    x, y, real = peeled_knockoffs.study(4_000, rng)
    monkeypatch.setattr(peeled_knockoffs, "MU", 1e4)
    found, _ = peeled_knockoffs.rival(x, y, rng)
    assert found[real].mean() > 0.9
    assert (found & ~real).sum() <= 6
    monkeypatch.setattr(peeled_knockoffs, "MU", 1e-3)
    assert peeled_knockoffs.rival(x, y, rng)[0][real].mean() < 0.5


def test_mean_of_kendalls_z_is_that_of_the_columns():
    """The mean that intervals are held against: that of columns that matter, and 0, by scipy's tau."""
    rng, n, taus = np.random.default_rng(4), 1_000, {True: [], False: []}
    for _ in range(2):
        x, y, real = peeled_knockoffs.study(n, rng)
        for j in range(peeled_knockoffs.COLUMNS):
            taus[bool(real[j])].append(float(kendalltau(x[:, j], y).statistic))
    # z = D K / (2 (n - 1)) of K = tau n (n - 1) / 2 pairs, D as in the test's docstring.
    unit = 6 * np.sqrt(2 * (n - 1) / (n * (2 * n + 5))) * n / 4
    z = {key: unit * np.array(value) for key, value in taus.items()}
    error = z[True].std() / z[True].size ** 0.5
    assert abs(z[True].mean() - peeled_knockoffs.mean_score(n)) < 6 * error
    assert abs(z[True].mean() - 0.8 * peeled_knockoffs.mean_score(n)) > 6 * error
    assert abs(z[False].mean()) < 6 * z[False].std() / z[False].size ** 0.5


@pytest.mark.parametrize("setting", knockoffs.SETTINGS, ids=lambda setting: str(setting.columns))
def test_projected_rows_have_the_gram_matrix(setting):
    """The mean over many draws of R'R is the Gram matrix, with w^2 on its diagonal where it is projected."""
    rng, d = np.random.default_rng(1), setting.columns + 1
    gram = 5000.0 * (np.eye(d) + 0.3)
    x, y = knockoffs.projected(gram, setting, rng)
    rows = np.column_stack((x, y))
    assert len(rows) == knockoffs.ROWS + (0 if setting.private else d)
    seen = np.trace(rows.T @ rows) / (np.trace(gram) + d * setting.added)
    assert seen == pytest.approx(1.0, abs=0.15)


def test_verdicts_need_two_standard_errors():
    """Who is ahead, level or behind, and a note in place of a verdict."""
    low, high = np.tile([0.4, 0.5], 50), np.tile([0.8, 0.9], 50)
    assert Line("rival", "", "-", low, high).verdict() == "ours ahead"
    assert Line("rival", "", "-", high, low).verdict() == "RIVAL AHEAD"
    assert Line("rival", "", "-", low, low).verdict() == "level"
    assert Line("rival", "", "-", high, low, "not valid").verdict() == "not valid"


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
def test_the_rival_for_families_is_reproduced():
    """In five studies it chooses as well as its repository says at epsilon 3, and far worse at 1."""
    rng, chance = np.random.default_rng(4), np.random.default_rng(5)
    found = np.empty((5, 2))
    for row in found:
        counts = families.study(rng)
        best = np.argpartition(-counts.statistic, families.K)[: families.K]
        row[:] = [np.isin(families.rival(counts, epsilon, chance), best).mean() for epsilon in (1.0, 3.0)]
    assert found.mean(axis=0) == pytest.approx([0.066, 0.481], abs=0.12)


def test_people_are_rounded_not_drawn():
    """Of each part as many say yes as its share, to one; all of them where it is 1."""
    rng = np.random.default_rng(1)
    given = rng.integers(0, 2, 1001)
    for share in ([0.25, 0.9], [0.0, 1.0]):
        made = synthetic.rounded(np.array(share), given, rng)
        for value in (0, 1):
            assert abs(made[given == value].sum() - share[value] * (given == value).sum()) < 1


def test_aim_fits_by_least_squares():
    """The tables of its model are those that fit all noisy counts best, as NumPy finds them."""
    rng, n = np.random.default_rng(1), 2_000
    model = aim.Model(n, 2)
    signs = aim._SIGNS
    rows, told, weight = [], [], []
    for place, sigma in ((0, 3.0), (1, 5.0), (0, 2.0)):
        cells = rng.normal(n / 4, 20, 4)
        model.learn_pair(place, cells, sigma)
        for cell, (group, column, both) in zip(cells, signs, strict=True):
            row = np.zeros(5)
            row[[0, 1 + place, 3 + place]] = group / 4, column / 4, both / 4
            rows.append(row), told.append(cell - n / 4), weight.append(1 / sigma)
    model.learn_single(2, 31.0, 4.0)
    for sign in (-1, 1):
        rows.append(np.array([0, 0, sign / 2, 0, 0])), told.append(sign * 15.5), weight.append(1 / 4.0)
    weights = np.array(weight)
    best = np.linalg.lstsq(np.array(rows) * weights[:, None], np.array(told) * weights, rcond=None)[0]
    assert np.concatenate((model.single, model.pair)) == pytest.approx(best)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_aim_leaves_nulls_at_their_level_and_finds_too_many():
    """On nulls p-values are small about as often as they should be, and yet BH is wrong far more often."""
    wrong, level = np.empty((2, 250))
    for i in range(250):
        rng = np.random.default_rng([5, i])
        report = analyst.ordinary(aim.synthesize(synthetic.table(rng, 0)[0], rng)[0])
        wrong[i], level[i] = report.reported.any(), np.mean(report.p <= 0.05)
    assert level.mean() < 0.08
    assert_mean_is(wrong, 0.35)
    must_fail(assert_mean_is, wrong, wrong=0.0, truth=0.35)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rival", "point"),
    [
        ("DP-BH", offline.dp_bh, ("epsilon", 0.5)),
        ("DP-BH", offline.CONTENDERS[offline.PUBLISHED], ("epsilon", 0.5)),
        ("DP-BH", offline.CONTENDERS[offline.PUBLISHED], ("eta", 1e-3)),
        ("DP-AdaPT", offline.dp_adapt, ("epsilon", 0.5)),
    ],
)
def test_rivals_for_p_values_are_reproduced(name, rival, point):
    """Power and FDR of a few studies are those published, within what so few can tell."""
    sweep, value = point
    rng, setting = np.random.default_rng(3), offline.POINTS[2 if sweep == "eta" else 1]
    runs = 5 if sweep == "eta" else 4
    found = [proportions(rival(offline.scores(rng), setting, rng)) for _ in range(runs)]
    false, power = np.mean(found, axis=0)
    fdr, published_power = published()[sweep, value, name]
    assert power == pytest.approx(published_power, abs=0.1)
    assert false == pytest.approx(fdr, abs=0.06)


@pytest.mark.slow
def test_tables_are_printed(monkeypatch):
    """Every part of the report, small."""
    monkeypatch.setattr(packages, "choosers", dict)
    monkeypatch.setattr(one_question, "STUDIES", 100)
    monkeypatch.setattr(families, "VARIANTS", 2_000)
    monkeypatch.setattr(offline, "POINTS", offline.POINTS[1:2])
    monkeypatch.setattr(offline, "CONTENDERS", {"DP-AdaPT": offline.dp_adapt, "ours, mirror": offline.mirror})
    monkeypatch.setattr(knockoffs, "SETTINGS", ())
    monkeypatch.setattr(peeled_knockoffs, "PEOPLE", (300,))
    monkeypatch.setattr(paprika, "SHARES", paprika.SHARES[:1])
    monkeypatch.setattr(one_question, "SETTINGS", one_question.SETTINGS[::3])
    words = "\n".join(report.run(2, lambda _: None))
    for part in (
        "joint permute-and-flip",
        "Test of Tests",
        "saffron",
        "AIM (written from the paper), BH",
        "0.914",
        "PAPRIKA",
        "verdict",
    ):
        assert part in words
