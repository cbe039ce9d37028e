"""One hypothesis: sensitivities enumerated, p-values valid, published power reached, bad input refused."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, norm

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.errors import InputError
from discreet.lab.bench.contest import one_question
from discreet.single import rank_sum, sign


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
def test_one_person_moves_the_rank_sum_by_its_certificate(epsilon):
    """All tables of five people with three values or none, all neighbours; a tenth less would be refused."""
    values, n = (0.0, 1.0, 2.0, np.nan), 5
    rng = np.random.default_rng(1)
    worst = 0
    for _ in range(120):
        x, group = rng.choice(values, n), rng.integers(-1, 2, n)
        lots = rng.integers(0, 2**63, n).astype(np.uint64)
        fixed = (lots, rng.permutation(n), rng.random(n) < 0.5, epsilon)
        before = rank_sum.statistic(x, group, *fixed)
        for i, value, label in itertools.product(range(n), values, (-1, 0, 1)):
            y, other = x.copy(), group.copy()
            y[i], other[i] = value, label
            worst = max(worst, abs(rank_sum.statistic(y, other, *fixed) - before))
    assert 0.9 * rank_sum.MOVES < worst <= rank_sum.MOVES


@pytest.mark.parametrize("n", [1, 2, 7, 62, 101])
def test_scores_rise_and_add_up_to_nothing(n):
    """What the bound on one person's influence stands on."""
    for epsilon in (0.01, 1.0, 100.0):
        c = rank_sum.scores(n, epsilon)
        assert c.size == n
        assert c.sum() == 0
        assert (np.diff(c) >= 0).all()
        assert np.abs(c).max(initial=0) <= rank_sum.STEPS


def test_worst_law_is_that_of_all_subsets():
    """Up to eight people: the largest tail over sizes, by listing every set."""
    for n in (2, 5, 8):
        c = rank_sum.scores(n, 1.0)
        law = rank_sum.worst_law(n, 1.0)
        for d in range(-rank_sum.STEPS * n, rank_sum.STEPS * n + 1, 13):
            tails = [
                np.mean([c[list(s)].sum() >= d for s in itertools.combinations(range(n), size)])
                for size in range(n + 1)
            ]
            assert law[d + rank_sum.STEPS * n] == pytest.approx(max(tails), abs=1e-12)


def test_sign_tail_is_the_convolution():
    """Against a plain double sum."""
    n, epsilon, share = 20, 0.7, 0.3
    noise = np.arange(-200, 201)
    chance = np.exp(-epsilon * np.abs(noise)) * np.tanh(epsilon / 2)
    for z in (-3, 4, 9, 24):
        plain = sum(p * binom.sf(z - v - 1, n, share) for v, p in zip(noise, chance, strict=True))
        assert sign.at_least(z, n, share, epsilon) == pytest.approx(plain, rel=1e-9)


@pytest.mark.statistical(3, twins=1)
def test_p_values_are_valid():
    """Null people: p is below 0.1 in at most a tenth of the releases; of shifted people far more often."""
    rng = np.random.default_rng(2)
    runs, n = 220, 40
    group = np.arange(n) % 2
    low = {"sign": [], "rank-sum": [], "shifted": []}
    for _ in range(runs):
        x = rng.standard_normal(n)
        low["sign"].append(discreet.test(x, epsilon=1).p_value <= 0.1)
        how = {"epsilon": 1, "group": group, "levels": (0, 1)}
        low["rank-sum"].append(discreet.test(x, "rank-sum", **how).p_value <= 0.1)
        low["shifted"].append(discreet.test(x + 1.5 * (1 - group), "rank-sum", **how).p_value <= 0.1)
    assert_mean_at_most(np.array(low["sign"], float), 0.1)
    assert_mean_at_most(np.array(low["rank-sum"], float), 0.1)
    must_fail(assert_mean_at_most, np.array(low["shifted"], float), wrong=0.1, truth=0.6)


@pytest.mark.statistical(2, twins=1)
def test_people_in_neither_group_do_not_make_a_difference():
    """Two groups of unequal size that are alike, and people in neither whose values are all larger."""
    rng = np.random.default_rng(5)
    runs, n = 150, 60
    group = np.array(["a"] * 27 + ["b"] * 3 + ["c"] * 30)
    low = {"alike": [], "as one": []}
    for _ in range(runs):
        x = rng.standard_normal(n) + 5.0 * (group == "c")
        lot = np.where(group == "c", rng.choice(["a", "b"], n), group)  # a group by lot, the value kept
        for how, asked in (("alike", group), ("as one", lot)):
            answer = discreet.test(x, "rank-sum", epsilon=50, group=asked, levels=("a", "b"))
            low[how].append(answer.p_value <= 0.1)
    assert_mean_at_most(np.array(low["alike"], float), 0.1)
    must_fail(assert_mean_at_most, np.array(low["as one"], float), wrong=0.1, truth=0.7)


@pytest.mark.statistical(1)
def test_intervals_of_the_sign_test_hold_the_share():
    """At least nine in ten hold P(x > 0)."""
    rng = np.random.default_rng(3)
    missed = []
    for _ in range(200):
        answer = discreet.test(rng.standard_normal(60) + 0.3, epsilon=0.5, confidence=0.9)
        missed.append(not answer.low <= norm.cdf(0.3) <= answer.high)
        assert 0 <= answer.low <= answer.estimate <= answer.high <= 1
    assert_mean_at_most(np.array(missed, float), 0.1)


@pytest.mark.statistical(1)
@pytest.mark.parametrize("setting", one_question.SETTINGS)
def test_published_power_is_reached(setting):
    """Power in the settings of the rivals is not shown to be below theirs."""
    found = one_question.power(setting, 120, seed=4)
    assert_mean_at_most(1.0 - found, 1.0 - setting.published)


@pytest.mark.parametrize("setting", one_question.SETTINGS[:3])
def test_the_rival_is_reproduced(setting):
    """Test of Tests, from its definition, has the power it published."""
    assert one_question.rival(setting.n) == pytest.approx(setting.published, abs=0.015)


def test_direction():
    """The first group larger is "greater", a sample above the null too."""
    x = np.arange(200.0)
    how = {"epsilon": 5, "group": x < 100, "levels": (False, True)}
    assert discreet.test(x, "rank-sum", alternative="greater", **how).p_value < 1e-6
    assert discreet.test(x, "rank-sum", alternative="less", **how).p_value > 0.9
    assert discreet.test(x, epsilon=5, null=-1.0, alternative="greater").p_value < 1e-6
    assert discreet.test(x, epsilon=5, null=300.0, alternative="less").estimate < 0.1
    assert "interval" in str(discreet.test(x, epsilon=5))


@pytest.mark.parametrize(
    "wrong",
    [
        {"x": [[1.0]]},
        {"x": []},
        {"x": ["a"]},
        {"epsilon": 0},
        {"epsilon": 1e-9},
        {"test": "t"},
        {"confidence": 1.0},
        {"group": [0, 1], "levels": (0, 1)},
        {"test": "rank-sum"},
        {"test": "rank-sum", "group": [0, 1], "levels": (0, 1, 2)},
        {"test": "rank-sum", "group": [0], "levels": (0, 1)},
        {"test": "rank-sum", "group": [0, 1], "levels": (0, 1), "null": 1.0},
    ],
)
def test_what_is_refused(wrong):
    """An error of ours that names the argument."""
    with pytest.raises(InputError):
        discreet.test(**{"x": [1.0, 2.0], "epsilon": 1.0, **wrong})
