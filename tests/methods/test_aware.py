"""Noise-aware BH: its public constants, its sensitivity, its FDR, its power, and what it refuses."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

import discreet
from budget import ALPHA, assert_mean_at_most, assert_mean_is, must_fail
from discreet.errors import DiscreetError
from discreet.evidence.core.certificate import Null
from discreet.evidence.core.evidence import Evidence
from discreet.lab.estimate import epsilon_found
from discreet.methods.aware import count
from discreet.methods.aware import cutoffs as aware
from discreet.methods.aware.cutoffs import margin_for
from discreet.methods.aware.discretised_null import DiscretisedNull, discretised, inflation
from discreet.methods.aware.shortfall import rule_for
from discreet.privacy.account import account
from discreet.privacy.events import ZCDP

NULLS = (
    Null("exponential", 12.0),
    Null("normal", 37.0),
    Null("folded normal", 37.0),
    Null("folded normal", 37.0, multiple=2.5),
)


@pytest.mark.parametrize("null", NULLS, ids=lambda null: f"{null.law} {null.multiple:g}")
def test_cells_are_stochastically_larger(null):
    """Every upper tail of the cells is at least the null's, and at most e^width of it; masses sum to 1."""
    cut = discretised(null, 0.05, 1e-12)
    assert cut.mass.sum() == pytest.approx(1.0, abs=1e-12)
    assert (cut.mass >= 0).all()
    for t in np.linspace(0.01, min(5.0, null.ceiling), 40):
        tail, exact = cut.mass[cut.at >= t].sum(), float(null.survival(t))
        assert exact * (1 - 1e-9) <= tail <= exact * math.exp(0.06)


@pytest.mark.parametrize("monotone", [True, False])
def test_inflation_is_the_brute_force_supremum(monotone):
    """The dynamic programme equals the best over all functions R of the score, monotone or not."""
    null = DiscretisedNull(np.array([0.0, 0.7, 1.5, 2.6]), np.array([0.5, 0.3, 0.15, 0.05]))
    counts, scale, t = np.array([1, 2, 5]), np.array([0.3, 0.5, 0.9]), np.array([2.5, 1.9, 1.4])
    shift = np.array([-0.4, 0.0, 0.8])
    for z, found in zip(shift, inflation(null, counts, scale, t, shift, monotone=monotone), strict=True):
        best = 0.0
        for choice in itertools.product(range(-1, 3), repeat=4):
            if monotone and list(choice) != sorted(choice):
                continue
            total = sum(
                mass * -math.expm1(-math.exp((at - (t[c] - z)) / scale[c])) / counts[c]
                for at, mass, c in zip(null.at, null.mass, choice, strict=True)
                if c >= 0
            )
            best = max(best, total)
        assert found == pytest.approx(best, rel=1e-12)


def test_one_common_scale_has_inflation_one():
    """With one scale for every r and no search noise the supremum is the level itself, as for BH."""
    null = discretised(Null("exponential", 16.0), 0.01, 1e-10)
    m, level = 1000, 0.1
    counts = np.arange(1, 40)
    scale = np.full(counts.size, 0.2)
    t = aware.cutoffs(null, scale, level * counts / m)
    found = m * inflation(null, counts, scale, t, np.zeros(1), monotone=True)[0]
    assert level * 0.999 <= found <= level * 1.02


def test_margin_makes_the_bound_true():
    """By simulation of the largest of 8 Gaussians, E min(1, growth(max Z - M)) is at most the level."""
    nodes = np.linspace(-8, 8, 97)
    growth = 0.1 * np.exp(0.5 * nodes)
    margin = margin_for(growth, nodes, 200.0, 8, 0.1)
    largest = np.random.default_rng(0).standard_normal((200_000, 8)).max(axis=1)

    def expected(shift):
        return np.minimum(1, 0.1 * np.exp(0.5 * (largest - shift))).mean()

    assert 0.09 < expected(margin) <= 0.1
    assert expected(margin - 0.5) > 0.1
    assert margin_for(growth * 1e6, nodes, 200.0, 8, 0.1) == math.inf


def q_r(x, r, scale, sensitivity, beta):
    """Find where a comparison turns, by bisection."""
    ordered, step = count.in_steps(x, sensitivity), count.step_of(sensitivity)
    rule = rule_for(r, scale / step, beta, x.size)
    low, high = -round(50 / step), round(80 / step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rule.passes(ordered, middle) else (low, middle)
    return low * step


@pytest.mark.slow
@pytest.mark.parametrize("beta", [None, 0.004])
@pytest.mark.parametrize("r", [1, 7, 30])
def test_one_person_moves_a_comparison_by_sup_at_most(beta, r):
    """Over random and adversarial neighbours |Q_r(x') - Q_r(x)| <= sensitivity, and Q_r rises with x."""
    rng = np.random.default_rng(r)
    sensitivity, scale = 0.25, 0.6
    for trial in range(25):
        x = rng.exponential(size=60) if trial % 2 else np.round(rng.uniform(0, 8, 60))
        d = (
            rng.uniform(-sensitivity, sensitivity, 60)
            if trial % 3
            else sensitivity * np.sign(np.median(x) - x)
        )
        first, second = q_r(x, r, scale, sensitivity, beta), q_r(x + d, r, scale, sensitivity, beta)
        assert abs(second - first) <= count.STEPS * count.step_of(sensitivity) * (1 + 1e-12)
        assert q_r(x + np.abs(d), r, scale, sensitivity, beta) >= first - 1e-6


def test_a_rule_tuned_on_the_data_is_caught():
    """Wrong twin: comparing with a threshold that depends on the scores' spread moves by more."""
    rng = np.random.default_rng(1)
    sensitivity = 0.25
    moved = 0.0
    for _ in range(50):
        x = rng.exponential(size=60)
        y = x + sensitivity * np.sign(x - np.median(x))
        tuned = [q_r(v, 7, 0.6, sensitivity, None) + 2 * v.std() for v in (x, y)]
        moved = max(moved, abs(tuned[1] - tuned[0]))
    assert moved > sensitivity * 1.2


def test_thousands_of_ties_move_a_comparison_by_sup_at_most():
    """M = 20,000 with 3,040 of 17,000 tied scores raised by sensitivity: Q_r moves by sensitivity at most."""
    sensitivity, r, scale = 0.03, 330, 2.85
    x = np.concatenate((np.full(17_000, 10.77), np.zeros(3000)))
    y = x.copy()
    y[:3040] += sensitivity
    assert (
        0
        <= q_r(y, r, scale, sensitivity, 0.01) - q_r(x, r, scale, sensitivity, 0.01)
        <= 1.00001 * sensitivity
    )


@pytest.mark.slow
@pytest.mark.statistical(1)
def test_hopeless_noise_releases_nothing_false():
    """Epsilon = 0.001 at sensitivity 4: where no margin is enough nothing is released."""
    rng = np.random.default_rng(4)
    released = [
        len(discreet.private_bh(rng.random(200), eta=4.0, nu=math.exp(-30), q=0.1, epsilon=0.001, delta=1e-6))
        > 0
        for _ in range(150)
    ]
    assert_mean_at_most(released, 0.1)


@pytest.mark.slow
def test_any_dependence_has_power_at_little_noise():
    """Twenty strong effects among 1,000 at sensitivity 1e-4 are found without assumptions on dependence."""
    rng = np.random.default_rng(5)
    z = rng.standard_normal(1000)
    z[:20] = 10.0
    evidence = Evidence.from_z(z, sensitivity=1e-4, adjacency="replace", alternative="greater")
    assert len(discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6, dependence="any")) >= 18


def test_public_limits_of_the_release():
    """A sensitivity too small for the lattice is refused; cutoffs beyond the ceiling find nothing."""
    evidence = Evidence.from_z(np.ones(10), sensitivity=1e-12, adjacency="replace", alternative="greater")
    with pytest.raises(DiscreetError, match="too small"):
        discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6, method="aware")
    # Selection clips scores at 2^40 noise scales: beyond that nulls and signals would be drawn alike.
    evidence = Evidence.from_z(np.ones(10), sensitivity=1e-8, adjacency="replace", alternative="greater")
    with (
        pytest.warns(UserWarning, match="hardly protects"),
        pytest.raises(DiscreetError, match="epsilon is too large"),
    ):
        discreet.release(evidence, q=0.1, epsilon=1e10, delta=1e-6, method="aware")
    p = np.linspace(0.1, 1, 1000)
    found = discreet.private_bh(
        p, eta=0.01, nu=1e-2, q=0.1, epsilon=1, delta=1e-6, method="peel", k=5, cutoffs="conservative"
    )
    assert len(found) == 0


@pytest.mark.slow
def test_doubling_promises_the_worst_of_its_rounds():
    """Which round is last depends on the data, so the stated level is that of all sizes up to m."""
    p = np.linspace(0.01, 1, 1000)
    found = discreet.private_bh(p, eta=1e-4, nu=1e-7, q=0.1, epsilon=1, delta=1e-6, method="peel")
    assert found.fdr.guarantee == "none"
    fixed = discreet.private_bh(p, eta=1e-4, nu=1e-7, q=0.1, epsilon=1, delta=1e-6, method="peel", k=16)
    assert 0.33 < fixed.fdr.level < 0.6


@pytest.mark.slow
@pytest.mark.statistical(2)
def test_proved_fdr_under_positive_and_any_dependence():
    """Equicorrelated one-sided nulls; and dependence="any" under one shared null repeated."""
    rng = np.random.default_rng(6)
    for dependence in ("positive", "any"):
        false = []
        for _ in range(80):
            shared = rng.standard_normal()
            z = np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.standard_normal(100)
            if dependence == "any":
                z[:] = shared
            evidence = Evidence.from_z(z, sensitivity=0.01, adjacency="replace", alternative="greater")
            found = discreet.release(evidence, q=0.2, epsilon=1, delta=1e-3, dependence=dependence)
            false.append(float(len(found) > 0))
        assert_mean_at_most(false, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize(("guarantee", "least"), [("proved", 0.8), ("calibrated", 0.9)])
def test_it_finds_what_is_there(guarantee, least):
    """Forty strong effects among 2,000 at little noise are nearly all found, strongest first."""
    rng = np.random.default_rng(8)
    z = rng.standard_normal(2000)
    z[:40] = rng.uniform(6, 12, 40)
    evidence = Evidence.from_z(z, sensitivity=0.005, adjacency="replace", alternative="greater")
    found = discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6, guarantee=guarantee)
    assert np.count_nonzero(found.indices < 40) >= least * 40
    assert z[found.indices[0]] > z[found.indices[-1]]
    assert account(found.privacy.events, delta=1e-6) <= 1.0
    assert found.discoveries == tuple(map(str, found.indices))
    assert "discoveries among 2,000" in str(found)
    assert ("not proved" in str(found.fdr)) == (guarantee == "calibrated")


def answers(x, sensitivity, sigma_steps, runs):
    """Ask many times whether one item clears a level of 5."""
    scores = count.in_steps(x, sensitivity)
    call = {"depth": 1, "sigma_steps": sigma_steps, "step": count.step_of(sensitivity), "beta": None}
    one = np.array([1]), np.array([0.01]), np.array([5.0])
    return np.array([count.search(scores, *one, **call) for _ in range(runs)])


def chance_to_clear(x, sensitivity, sigma_steps):
    """Return how likely that answer is yes: the rounded Gaussian makes up for what Q_1 lacks."""
    lacking = count.whole_level(5.0, count.step_of(sensitivity)) - q_r(
        x, 1, 0.01, sensitivity, None
    ) / count.step_of(sensitivity)
    return ndtr((0.5 - lacking) / sigma_steps)


@pytest.mark.slow
@pytest.mark.statistical(3, twins=1)
def test_the_search_keeps_its_claim_and_a_quarter_of_the_noise_is_caught():
    """On neighbours a lower bound on epsilon stays below the claim; a quarter of the noise breaks it."""
    sensitivity, sigma_steps = 0.5, 2.0 * 64
    claim = account([ZCDP(1 / 8)], delta=1e-3)
    x = np.array([4.5, 0.0, 0.0])
    low, high = (answers(x + shift, sensitivity, sigma_steps, 4000) for shift in (0.0, sensitivity))
    assert epsilon_found(low, high, 1e-3, ALPHA) <= claim
    low, high = (answers(x + shift, sensitivity, sigma_steps / 4, 4000) == 0 for shift in (0.0, sensitivity))
    rare, often = (chance_to_clear(x + shift, sensitivity, sigma_steps / 4) for shift in (0.0, sensitivity))
    assert_mean_is(low, rare)
    must_fail(assert_mean_at_most, high, wrong=math.exp(claim) * rare + 1e-3, truth=often)


@pytest.mark.slow
def test_private_bh_takes_the_papers_input():
    """p-values with declared eta and nu: strong ones are released by every method."""
    rng = np.random.default_rng(9)
    p = rng.random(1000)
    p[:20] = ndtr(-rng.uniform(6, 8, 20))
    call = {"eta": 1e-4, "nu": 1e-7, "q": 0.1, "epsilon": 1.0, "delta": 1e-6}
    for method in ("aware", "peel", "oneshot"):
        k = None if method == "aware" else 40
        found = discreet.private_bh(p, method=method, k=k, **call)
        assert np.count_nonzero(found.indices < 20) >= 18
    doubled = discreet.private_bh(p, method="peel", **call)
    assert np.count_nonzero(doubled.indices < 20) >= 16
    assert account(doubled.privacy.events, delta=1e-6) <= 1.0


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"eta": 0}, "eta"),
        ({"eta": -1}, "eta"),
        ({"nu": 0}, "nu"),
        ({"nu": 1}, "nu"),
        ({"k": 101, "method": "peel"}, "k"),
        ({"k": 0}, "k"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"q": 1}, "q"),
        ({"method": "magic"}, "method"),
        ({"guarantee": "hope"}, "guarantee"),
        ({"dependence": "some"}, "dependence"),
        ({"cutoffs": "mine", "method": "peel"}, "cutoffs"),
        ({"p": [0.5, math.nan]}, "p must lie"),
        ({"p": [0.5, 1.5]}, "p must lie"),
    ],
)
def test_bad_input_spends_nothing(monkeypatch, change, names):
    """Every bad argument is a DiscreetError that names it, raised before any noise is drawn."""

    def forbidden(*_):
        raise RuntimeError("noise was drawn")

    monkeypatch.setattr("discreet.noise.entropy.words", forbidden)
    call = {"p": np.full(100, 0.5), "eta": 1e-3, "nu": 1e-4, "q": 0.1, "epsilon": 1, "delta": 1e-6} | change
    with pytest.raises(DiscreetError, match=names):
        discreet.private_bh(call.pop("p"), **call)


def test_a_large_delta_is_warned_about():
    """Delta = 0.05 says in words what it allows."""
    with pytest.warns(UserWarning, match="one person in 20"):
        discreet.private_bh(np.full(20, 0.5), eta=0.1, nu=1e-3, q=0.1, epsilon=1, delta=0.05)


@pytest.mark.slow
def test_a_large_epsilon_is_warned_about():
    """Above 10 in words, for the caller's own line, whichever way; 10 itself and a plan say nothing."""
    table = np.tile([[0.0, 1.0], [1.0, 0.0]], (1000, 1))
    call = {"q": 0.1, "delta": 1e-6}
    with pytest.warns(UserWarning, match="epsilon = 50 hardly protects anyone") as found:
        discreet.discover(table, discreet.Proportion(null=0.5, alternative="greater"), epsilon=50, **call)
    assert found[0].filename == __file__
    evidence = Evidence.from_z(np.zeros(9), sensitivity=0.1, adjacency="replace", alternative="greater")
    with pytest.warns(UserWarning, match="epsilon = 10.5"):
        discreet.release(evidence, epsilon=10.5, **call)
    discreet.release(evidence, epsilon=10, **call)
    discreet.plan(500, 10, effects=0.5, signals=2, methods=["aware"], epsilon=50, quick=True, repetitions=2)


def test_delta_above_one_in_the_number_of_people_is_warned_about():
    """Where the number of people is public, delta > 1/n is enough; where it is private, nothing is said."""
    table = np.tile([[0.0, 1.0], [1.0, 0.0]], (1000, 1))
    call = {"q": 0.1, "epsilon": 1, "delta": 1e-3}
    with pytest.warns(UserWarning, match="one person in 1000, and there are 2,000"):
        discreet.discover(table, discreet.Proportion(null=0.5, alternative="greater"), **call)
    assert (
        discreet.measure(table, discreet.Proportion(null=0.5, alternative="greater")).certificate.people
        == 2000
    )
    private = discreet.Mean(bounds=(0, 1), null=0.5, adjacency="add-remove", least=100, alternative="greater")
    assert discreet.measure(table, private).certificate.people is None
    discreet.discover(table, private, **call)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"q": 2}, "q"),
        ({"delta": 0}, "delta"),
        ({"method": "magic"}, "method"),
        ({"guarantee": "hope"}, "guarantee"),
        ({"dependence": "some"}, "dependence"),
        ({"cutoffs": "mine"}, "cutoffs"),
        ({"k": 0}, "k"),
    ],
)
def test_discover_checks_before_it_reads(change, names):
    """A bad public parameter is refused before the missing file is noticed; a good one is not."""
    call = {"q": 0.1, "epsilon": 1, "delta": 1e-6}
    test = discreet.Proportion(null=0.5, alternative="greater")
    with pytest.raises(DiscreetError, match=names):
        discreet.discover("nowhere.csv", test, **(call | change))
    with pytest.raises(DiscreetError, match="nowhere"):
        discreet.discover("nowhere.csv", test, **call)


def test_discover_is_measure_then_release():
    """Ten shifted columns of sixty are found from the raw table."""
    rng = np.random.default_rng(10)
    table = (rng.random((40_000, 60)) < np.where(np.arange(60) < 10, 0.55, 0.5)).astype(float)
    found = discreet.discover(
        table, discreet.Proportion(null=0.5, alternative="greater"), q=0.1, epsilon=1, delta=1e-6
    )
    assert np.count_nonzero(found.indices < 10) >= 8


@pytest.mark.slow
def test_two_sided_scores_say_that_dependence_is_not_covered():
    """A two-sided release warns that dependent scores are rarely PRDS; a one-sided one does not."""
    z = np.zeros(50)
    asked = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}
    for looks, dependence, warned in (
        ("greater", "positive", False),
        ("less", "positive", False),
        ("two-sided", "positive", True),
        ("two-sided", "any", False),
    ):
        evidence = discreet.Evidence.from_z(z, sensitivity=0.1, adjacency="replace", alternative=looks)
        fdr = discreet.release(evidence, dependence=dependence, **asked).fdr
        assert ("two-sided" in fdr.assumption) is warned


@pytest.mark.slow
@pytest.mark.parametrize("eta", [1e-6, 1e-5, 1.78e-5, 1e-4])
def test_hardly_any_noise_is_never_a_reason_to_find_nothing(eta):
    """However small the sensitivity, the plan is finite and strong signals are found."""
    p = np.full(100_000, 0.5)
    p[:50] = 1e-6
    r = discreet.private_bh(p, eta=eta, nu=5e-7, q=0.1, epsilon=0.5, delta=1e-3)
    assert set(range(50)) <= set(r.indices.tolist())


@pytest.mark.slow
def test_a_truncation_above_the_first_cutoffs_is_no_reason_to_find_nothing():
    """With nu above q/m the first counts are out of reach; larger ones are not."""
    p = np.full(1_000_000, 0.5)
    p[:200] = 1e-9
    r = discreet.private_bh(p, eta=1e-5, nu=5e-7, q=0.1, epsilon=1.0, delta=1e-6)
    assert set(range(200)) <= set(r.indices.tolist())
