"""One hypothesis: sensitivities enumerated, p-values valid, published power reached, bad input refused."""

import importlib
import itertools

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.stats import binom, laplace, norm

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.errors import BudgetError, InputError
from discreet.lab.bench.contest import one_question
from discreet.privacy.ledger import Ledger
from discreet.single import noise_law, rank_sum, several, sign, two_by_two

questions = importlib.import_module("discreet.single.test")


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
def test_one_person_moves_the_rank_scores_by_their_certificate(epsilon, groups):
    """Tables of five people with three values or none, all neighbours; a tenth less would be refused."""
    values, n = (0.0, 1.0, 2.0, np.nan), 5
    rng = np.random.default_rng(1)

    def statistic(x, group):
        at = rank_sum.by_rank(x, group, *fixed)
        return rank_sum.statistic(at, epsilon) if groups == 2 else several.statistic(at, groups, epsilon)

    worst = 0
    for _ in range(80):
        x, group = rng.choice(values, n), rng.integers(-1, groups, n)
        lots = rng.integers(0, 2**63, n).astype(np.uint64)
        fixed = (lots, rng.permutation(n), rng.integers(0, groups, n))
        before = statistic(x, group)
        for i, value, label in itertools.product(range(n), values, range(-1, groups)):
            y, other = x.copy(), group.copy()
            y[i], other[i] = value, label
            worst = max(worst, abs(statistic(y, other) - before))
    n = 41  # and one that comes near: two of a group at the ends, and then both at one end
    fixed = (np.zeros(n, np.uint64), np.arange(n), np.zeros(n, np.int64))
    x, group = np.arange(n, dtype=float), np.where(np.isin(np.arange(n), (0, n - 1)), 0, 1)
    worst = max(worst, abs(statistic(np.where(x == 0, 99.0, x), group) - statistic(x, group)))
    assert 0.9 * rank_sum.MOVES < worst <= rank_sum.MOVES


def test_one_person_moves_a_two_by_two_table_by_its_certificate():
    """Every kind of person beside every other, around shares of all sizes; the bound is reached."""
    kinds = [(x, g) for x in (0.0, 1.0, np.nan, 7.0) for g in (-1, 0, 1)]
    others = [(0.0, 0), (1.0, 1), (1.0, 0)]

    def table(person):
        x, group = zip(*others, person, strict=True)
        return np.array(x), np.array(group)

    moved, ratio = 0.0, 0.0
    for one, other in itertools.combinations(kinds, 2):
        a, b = (two_by_two.counts(*table(person)) for person in (one, other))
        moved = max(moved, (abs(a.yes - b.yes) + abs(a.first - b.first)) / 4 + abs(a.absent - b.absent) / 2)
        for c, f in itertools.product((0, 100, 512, 900, 1024), repeat=2):
            apart = two_by_two.contrast(*table(one), c, f) - two_by_two.contrast(*table(other), c, f)
            ratio = max(ratio, abs(apart) / two_by_two.moves(c, f))
    assert moved == 1.0
    assert ratio == 1.0


@pytest.mark.parametrize("variance", [0.5, 30.0, 2000.0])
def test_the_tail_of_normal_plus_laplace_is_its_integral(variance):
    """Against numerical integration, on both sides and far out."""
    for t in (-4.0, 0.0, 1.0, 25.0):
        whole = quad(lambda u, t=t: norm.sf(t - u, scale=variance**0.5) * laplace.pdf(u, scale=2.0), -80, 80,
                     points=[0.0, t], limit=400)[0]  # fmt: skip
        assert two_by_two._tail(t, variance, 2.0) == pytest.approx(whole, rel=1e-6)


@pytest.mark.statistical(3, twins=1)
def test_two_by_two_is_valid_with_people_absent():
    """Rare answers, unequal groups, entries missing more in one of them; a difference is found and held."""
    rng = np.random.default_rng(8)
    n, group = 400, np.arange(400) % 4 > 0
    low, missed, found = [], [], []
    for _ in range(200):
        x = (rng.random(n) < 0.2).astype(float)
        x[rng.random(n) < np.where(group, 0.3, 0.05)] = np.nan
        how = {"epsilon": 1, "group": group, "levels": (True, False)}
        low.append(discreet.test(x, "two-by-two", **how).p_value <= 0.1)
        more = rng.random(n) < np.where(group, 0.5, 0.2)
        answer = discreet.test(more, "two-by-two", confidence=0.8, **how)
        found.append(answer.p_value <= 0.1)
        missed.append(not answer.low <= 0.3 <= answer.high)
    assert_mean_at_most(np.array(low, float), 0.1)
    assert_mean_at_most(np.array(missed, float), 0.2)
    must_fail(assert_mean_at_most, np.array(found, float), wrong=0.1, truth=0.9)


def test_several_groups_have_a_tail_above_all_arrangements():
    """All ways to deal six people into three groups of every size: the bound holds for the worst of them."""
    n, groups = 6, 3
    law = rank_sum.survival(n, 1.0)
    by_sizes = {}
    for at in itertools.product(range(groups), repeat=n):
        sizes = tuple(sorted(at.count(g) for g in range(groups)))
        by_sizes.setdefault(sizes, []).append(several.statistic(np.array(at), groups, 1.0))
    for t in (1, 20, 40, 60, 80, 96):
        exact = max(np.mean(np.array(found) >= t) for found in by_sizes.values())
        assert exact <= min(1.0, 6 * law(np.array([float(t)]))[0]) + 1e-12
    noise, chance = noise_law.noise_chances(rank_sum.MOVES)
    inside = np.minimum(1.0, np.where(100 - noise <= 0, 1.0, 6 * law(100 - noise)))
    assert several.p_value(100, n, groups, 1.0) == pytest.approx(float(chance @ inside), rel=1e-9)


def test_intervals_of_several_groups_are_as_wide_as_the_noise():
    """The chance that noise goes beyond is at most what is left, and above that one step nearer."""
    n, epsilon, scale = 400, 2.0, rank_sum.MOVES / 2.0
    low, high = several.interval(6000, n, epsilon, 0.9)
    reach = round((high - low) * rank_sum.STEPS * n / 4)
    q = np.exp(-1 / scale)
    beyond = [2 * q ** (r + 1) / (1 + q) for r in (reach, reach - 1)]
    assert beyond[0] <= 0.1 < beyond[1]


def test_a_lone_question_is_charged_and_kept(tmp_path):
    """The same under the same name is answered from the ledger; too much is refused; nothing without one."""
    book = Ledger(tmp_path / "budget.ledger")
    book.create("trial", epsilon=1.5, delta=1e-6)
    asked = {"x": [1.0, -1.0] * 30, "epsilon": 1, "delta": 1e-6, "dataset": "trial", "release_id": "a"}
    first = discreet.test(**asked, ledger=book)
    assert discreet.test(**asked, ledger=str(book.path)) == first
    assert book.budget("trial").releases == 1
    with pytest.raises(BudgetError):
        discreet.test(**asked | {"release_id": "b"}, ledger=book)
    with pytest.raises(InputError, match="other parameters"):
        discreet.test(**asked | {"null": 1.0}, ledger=book)
    with pytest.raises(InputError, match="belong to a ledger"):
        discreet.test(**asked)


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


def test_tails_are_summed_in_parts(monkeypatch):
    """At the smallest epsilon all values of the noise at once would fill the memory after the charge."""
    asked = [(rank_sum, 40, 50), (rank_sum, -700, 150), (sign, 33, 50)]

    def all_tails():
        return [test.p_value(noisy, n, 0.5, "greater") for test, noisy, n in asked]

    whole = all_tails()
    monkeypatch.setattr(noise_law, "_AT_ONCE", 7)
    assert all_tails() == pytest.approx(whole, rel=1e-12)


@pytest.mark.slow
@pytest.mark.statistical(4, twins=1)
def test_p_values_are_valid():
    """Null people: p is below 0.1 in at most a tenth of the releases; of shifted people far more often."""
    rng = np.random.default_rng(2)
    runs, n = 150, 24
    group = np.arange(n) % 2
    low = {"sign": [], "rank-sum": [], "kruskal-wallis": [], "shifted": []}
    for _ in range(runs):
        x = rng.standard_normal(n)
        low["sign"].append(discreet.test(x, epsilon=1).p_value <= 0.1)
        how = {"epsilon": 1, "group": group, "levels": (0, 1)}
        low["rank-sum"].append(discreet.test(x, "rank-sum", **how).p_value <= 0.1)
        three = {"epsilon": 1, "group": np.arange(n) % 4, "levels": (0, 1, 2)}
        low["kruskal-wallis"].append(discreet.test(x, "kruskal-wallis", **three).p_value <= 0.1)
        low["shifted"].append(discreet.test(x + 1.5 * (1 - group), "rank-sum", **how).p_value <= 0.1)
    assert_mean_at_most(np.array(low["sign"], float), 0.1)
    assert_mean_at_most(np.array(low["rank-sum"], float), 0.1)
    assert_mean_at_most(np.array(low["kruskal-wallis"], float), 0.1)
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


@pytest.mark.slow
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
    marks = one_question.run(setting, 60, seed=4)
    assert_mean_at_most(1.0 - marks.rejected, 1.0 - setting.published)


@pytest.mark.parametrize("setting", one_question.SETTINGS)
def test_the_rival_is_reproduced(setting, monkeypatch):
    """By its definition it has the power it published; at 62 people theirs, by simulated cutoffs, is more."""
    monkeypatch.setattr(one_question, "STUDIES", 3000)
    near = 0.015 if setting.groups == 1 else 0.1 if setting.n == 62 else 0.05
    assert one_question.again(setting) == pytest.approx(setting.published, abs=near)


def test_direction():
    """The first group larger is "greater", a sample above the null too."""
    x = np.arange(200.0)
    how = {"epsilon": 5, "group": x < 100, "levels": (False, True)}
    assert discreet.test(x, "rank-sum", alternative="greater", **how).p_value < 1e-6
    assert discreet.test(x, "rank-sum", alternative="less", **how).p_value > 0.9
    assert discreet.test(x >= 100, "two-by-two", alternative="greater", **how).p_value < 1e-6
    assert discreet.test(x < 100, "two-by-two", **how).high < 0
    assert discreet.test([1.0], "two-by-two", epsilon=1, group=[0], levels=(0, 1)).low == -1
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
        {"test": "two-by-two", "group": [0, 1], "levels": (0, 1, 2)},
        {"test": "kruskal-wallis", "group": [0, 1], "levels": (0, 1)},
        {"test": "kruskal-wallis", "group": [0, 1], "levels": range(9)},
        {"test": "kruskal-wallis", "group": [0, 1], "levels": (0, 1, 2), "alternative": "less"},
        {"delta": 2.0},
    ],
)
def test_what_is_refused(wrong):
    """An error of ours that names the argument."""
    with pytest.raises(InputError):
        discreet.test(**{"x": [1.0, 2.0], "epsilon": 1.0, **wrong})


def test_one_person_s_group_is_read_by_itself():
    """A word, a finer date or nothing in one place of a list leaves everyone else's group as it was."""
    groups = [1, 2] * 50
    levels = [1, 2]
    whole = questions._groups(groups, levels, 100, "rank-sum")
    for entry in ("x", None, 1.5, True, [1], np.datetime64("2020-01-01T00:00:01")):
        changed = questions._groups([*groups[:-1], entry], levels, 100, "rank-sum")
        assert (changed[:-1] == whole[:-1]).all()


def test_values_of_a_list_are_read_one_by_one():
    """Nothing, a whole number of any size and what is masked are no reason to refuse anybody."""
    assert np.isnan(questions._numbers([1.0, None])).tolist() == [False, True]
    assert questions._numbers([1, 2**70, True]).tolist() == [1.0, 2.0**70, 1.0]
    assert np.isnan(questions._numbers(np.ma.array([1.0, 2.0], mask=[0, 1]))).tolist() == [False, True]
    for wrong in (["1"], [[1.0]], [1j]):
        with pytest.raises(discreet.DiscreetError, match="numbers"):
            questions._numbers(wrong)


@pytest.mark.parametrize("wrapped", ["pandas", "objects", "polars", "pyarrow", "masked", "list"])
def test_who_has_not_answered_is_not_told_by_a_refusal(wrapped):
    """A column of yes and no is read with and without a missing answer, whatever library it is of."""
    group = [0, 1] * 50
    for answers in ([True, False] * 50, [None, False] + [True, False] * 49):
        if wrapped == "masked":
            column = np.ma.array([answer or False for answer in answers], mask=[a is None for a in answers])
        elif wrapped == "list":
            column = answers
        elif wrapped == "pandas":
            column = pytest.importorskip("pandas").Series(answers, dtype="boolean")
        elif wrapped == "objects":  # what pandas makes of answers by itself, once one of them is missing
            column = pytest.importorskip("pandas").Series(answers)
        elif wrapped == "polars":
            column = pl.Series(answers)
        else:
            column = pytest.importorskip("pyarrow").array(answers)
        answer = discreet.test(column, "two-by-two", epsilon=50, group=group, levels=(0, 1))
        assert answer.estimate > 0.8
        assert discreet.test(column, "sign", epsilon=50, null=0.5).estimate == pytest.approx(0.5, abs=0.05)


def test_columns_that_hold_nothing_are_read_whatever_library_they_are_of():
    """As those that hold one answer are. A group that is masked is none."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    for nothing in (pandas.Series([None] * 3), pl.Series([None] * 3), pyarrow.array([None] * 3), [None] * 3):
        assert np.isnan(questions._numbers(nothing)).all()
    objects = np.array([True, None, pandas.NA, 2**70], dtype=object)
    assert np.isnan(questions._numbers(objects)).tolist() == [False, True, True, False]
    masked = np.ma.array([1, 2, 1], mask=[0, 0, 1])
    assert questions._groups(masked, (1, 2), 3, "rank-sum").tolist() == [0, 1, -1]


@pytest.mark.parametrize(
    ("called", "words"), [("t", '"sign"'), ("Mann-Whitney", '"rank-sum"'), ("chi2", '"two-by-two"')]
)
def test_names_of_other_programs_are_answered_with_ours(called, words):
    """The refusal names the nearest test; two samples are told how to come."""
    with pytest.raises(InputError, match=words):
        discreet.test([1.0, 2.0], called, epsilon=1)
    with pytest.raises(InputError, match="two samples"):
        discreet.test([1.0, 2.0], [3.0, 4.0], epsilon=1)


def test_the_budget_says_that_pure_releases_are_left(tmp_path):
    """After two lone questions a third fits, and the budget does not say that nothing is left."""
    book = Ledger(tmp_path / "budget.ledger")
    book.create("trial", epsilon=3, delta=1e-6)
    for name in "ab":
        discreet.test([1.0] * 9, epsilon=1, ledger=book, dataset="trial", release_id=name)
    assert book.budget("trial").room == "Further releases at delta = 0 may have epsilons of up to 1 in sum."
    discreet.test([1.0] * 9, epsilon=1, ledger=book, dataset="trial")
    assert book.budget("trial").room == "Nothing is left."
