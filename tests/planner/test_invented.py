"""Invented studies: the evidence is what the real test gives on real rows with the same statistics."""

import dataclasses

import numpy as np
import pytest

import discreet
from discreet.errors import DiscreetError
from discreet.planner.invent import Setting

N = 60
TWO_BY_TWO = discreet.TwoByTwo(group="g", alternative="greater")
TESTS = [
    discreet.TwoGroups(group="g", bounds=(0, 1), alternative="greater"),
    discreet.TwoGroups(group="g", bounds={"x": (0, 1)}, sd=0.3, alternative="two-sided"),
    discreet.TwoGroups(group="g", bounds=(0, 1), floor=0.1, alternative="greater"),
    discreet.Stratified(group="g", stratum="s", strata=(0, 1), bounds=(0, 1)),
    discreet.Trend(group="g", levels=(0, 1)),
    discreet.Allelic(group="g", levels=(0, 1), protect="genotypes", alternative="greater"),
    discreet.Trend(group="g", levels=(0, 1), stratum="s", strata=(0, 1)),
    TWO_BY_TWO,
    discreet.RankSum(group="g", alternative="greater"),
    discreet.LogRank(group="g", event="s"),
    discreet.LogRank(group="g", event="s", protect="columns", alternative="greater"),
    discreet.Mean(bounds=(0, 1), null=0.4, alternative="greater"),
    discreet.Mean(
        bounds=(0, 1), null={"x": 0.4}, sd=0.3, alternative="two-sided", adjacency="add-remove", least=50
    ),
    discreet.Proportion(null=0.3, alternative="two-sided"),
    discreet.Sign(null=0.5, alternative="greater"),
    discreet.SignedRank(null=0.5, alternative="two-sided"),
    discreet.Correlation(partner="y"),
    discreet.Correlation(partner="y", method="product", bounds=(0, 1), partner_bounds=(0, 1)),
]

NORMAL = [
    test
    for test in TESTS
    if isinstance(test, (discreet.RankSum, discreet.Sign, discreet.SignedRank, discreet.Correlation))
] + [TESTS[0], discreet.Mean(bounds=(0, 1), null=0.4)]


def people(share=0.5):
    """Return rows with a group, a stratum, a partner and one column."""
    rng = np.random.default_rng(3)
    table = np.empty(N, dtype=[(name, float) for name in "gsyx"])
    table["g"] = np.arange(N) >= round(N * (1 - share))
    table["s"] = np.arange(N) % 2
    table["y"] = rng.uniform(size=N)
    table["x"] = rng.uniform(size=N)
    return table


@pytest.mark.parametrize("test", TESTS, ids=repr)
def test_certificate_and_null_without_data(test):
    """Certificate and null law of an invented study are those of `measure` on as many real rows."""
    real = discreet.measure(people(), test, columns=["x"])
    invented = Setting(test, N).evidence(np.array([0.0, 1.0, 8.0]), N)
    expected, found = (dataclasses.asdict(one.certificate) for one in (real, invented))
    assert (found.pop("people"), expected.pop("people")) == (None, N if test.adjacency == "replace" else None)
    assert (found.pop("assumption"), expected.pop("assumption")) == (
        "",
        "Each row was taken to be one person.",
    )
    assert found.pop("sensitivity") == pytest.approx(expected.pop("sensitivity"), rel=1e-12)
    assert found.pop("spread") == pytest.approx(expected.pop("spread"), rel=1e-12)
    assert found == expected
    assert invented.null == real.null


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_uneven_groups_are_certified_as_uneven(share):
    """The share of the second group enters the certificate as it does with real rows; another one fails."""
    test = TESTS[0]
    real = discreet.measure(people(share), test, columns=["x"]).certificate.sensitivity
    assert Setting(test, N, share).evidence(np.zeros(1), N).certificate.sensitivity == pytest.approx(
        real, rel=1e-12
    )
    assert Setting(test, N, 0.35).evidence(np.zeros(1), N).certificate.sensitivity != pytest.approx(
        real, rel=1e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS, ids=repr)
def test_scores_rise_with_z(test):
    """Larger z scores give larger scores, from none to the ceiling."""
    large = dataclasses.replace(Setting(test, 5000), sd=None)
    score = large.evidence(np.linspace(-3, 60, 40), 5000).score
    one_sided = score if test.alternative == "greater" else score[3:]
    assert (np.diff(one_sided) >= -1e-6).all()  # weights of score maps round at the ceiling
    assert score[-1] > 5
    assert score[0] == 0 if test.alternative == "greater" else score[0] > 0


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS, ids=repr)
def test_scores_of_less_rise_as_z_falls(test):
    """What is found by looking for less is what the z scores below 0 say, as strongly as two-sided."""
    z = np.linspace(-8, 8, 33)
    less, both = (
        Setting(dataclasses.replace(test, alternative=looks), 5000).evidence(z, 5000).score
        for looks in ("less", "two-sided")
    )
    assert np.array_equal(less[:10], both[:10])
    assert less[0] > 4
    assert np.all(less[17:] == 0)


@pytest.mark.slow
def test_a_known_contrast_is_scored_as_by_measure():
    """A yes/no table whose textbook z is known gets, invented, the score it gets when measured."""
    n, more = 10_000, 150
    table = np.zeros(n, dtype=[("g", float), ("x", float)])
    table["g"] = np.arange(n) >= n // 2
    table["x"][: n // 4 - more] = 1
    table["x"][n // 2 : n // 2 + n // 4 + more] = 1
    z = 2 * more / (n / 2) / (0.5 * np.sqrt(4 / n))
    for test in (TESTS[0], discreet.TwoGroups(group="g", bounds=(0, 1), floor=0.1), TWO_BY_TWO):
        real = discreet.measure(table, test, columns=["x"]).score[0]
        assert Setting(test, n).evidence(np.array([z]), n).score[0] == pytest.approx(real, abs=0.02)
        assert Setting(test, n).evidence(np.array([1.1 * z]), n).score[0] != pytest.approx(real, abs=0.02)


@pytest.mark.parametrize("test", NORMAL, ids=repr)
def test_mean_of_z_is_that_of_normal_people(test):
    """The stated mean z of an effect agrees with the raw statistic on a large normal sample."""
    n, effect = 40_000, 0.2
    setting = Setting(test, n, sd=0.05)
    rng = np.random.default_rng(5)
    table = np.empty(n, dtype=[(name, float) for name in "gyx"])
    table["g"] = np.arange(n) % 2
    null = test.null if hasattr(test, "null") else 0.5
    noise = rng.standard_normal(n)
    table["y"] = 0.5 + 0.05 * noise
    if isinstance(test, discreet.Correlation):
        table["x"] = 0.5 + 0.05 * (effect * noise + np.sqrt(1 - effect**2) * rng.standard_normal(n))
    else:
        shift = effect * (table["g"] if hasattr(test, "group") else 1)
        table["x"] = null + 0.05 * (shift + rng.standard_normal(n))
    test = dataclasses.replace(test, ceiling=37.0, **({"tail": "normal"} if hasattr(test, "tail") else {}))
    expected = setting.mean(np.array([effect]), n)
    invented = Setting(test, n, sd=0.05).evidence(expected, n).score[0]
    real = discreet.measure(table, test, columns=["x"]).score[0]
    assert real == pytest.approx(invented, abs=4)
    assert real > 1


def test_a_black_box_is_refused():
    """Nobody knows what a function of the caller's own would find: the remedy is named."""
    with pytest.raises(DiscreetError, match="sensitivity"):
        Setting(discreet.Vote(test=lambda values: values[0]), N)


def test_columns_that_are_no_mapping_are_refused():
    """A pair of anything is not what a table that was opened would give."""
    with pytest.raises(discreet.DiscreetError, match="must be a mapping"):
        discreet.plan(n=100, columns=([], 1), test=discreet.Compare(group="g"))
