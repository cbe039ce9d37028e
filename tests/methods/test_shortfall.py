"""The rule behind each answer of the private search: exactly monotone, moving with its level, and true."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.evidence.core.certificate import Certificate, Null
from discreet.evidence.core.evidence import Evidence
from discreet.methods.aware import count
from discreet.methods.aware.method import public_constants
from discreet.methods.aware.shortfall import FEW, ExpectedCount, ExpectedShortfall, rule_for
from discreet.privacy.curves import gaussian_budget

BETAS = (0.002, 0.015, 0.15, 1e-6)


def rules(rng):
    """Yield rules of every size: few and many wanted, coarse and fine noise, all betas."""
    for r in (1, 2, 7, 40, FEW, FEW + 1, 150, 583, 2000, 20_000):
        for scale in (0.03, 3.0, 170.0, 5000.0):
            beta = [None, *BETAS][rng.integers(0, 5)]
            yield rule_for(r, scale, beta, 1 << 16)


def crowd(rule, rng, m):
    """Return scores in steps around the level 0 that put the rule near its threshold, on every plateau.

    Groups of ties: surely above, just short of that, middling, weak, far below; as many as r, or j fewer.
    """
    edge = rule.bins.edge
    missing = rng.integers(-2, 3) + round(float(rng.choice([0.0, 0.002, 0.015, 0.15])) * rule.r)
    sure = (
        min(m, max(0, rule.r - missing)) if rng.random() < 0.6 else int(rng.integers(0, min(m, rule.r) + 1))
    )
    uncertain = int(rng.integers(0, max(1, min(m - sure, 3 * (rule.r - sure) + 20))))
    bins = rng.integers(0, edge.size, rng.integers(1, 6))
    parts = [
        np.full(sure, edge[-1] + rng.integers(0, 3)),
        rng.choice(edge[bins], uncertain) + rng.integers(-1, 2, uncertain),
        np.full(m - sure - uncertain, edge[rng.integers(0, edge.size // 2)] - rng.integers(0, 3)),
    ]
    return np.sort(np.concatenate(parts).astype(np.int64))


def turning_point(rule, ordered):
    """Return the highest level that passes."""
    low, high = -(1 << 40), 1 << 40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rule.passes(ordered, middle) else (low, middle)
    return low


def pairs(rng, rounds):
    """Yield rules with scores and scores that one person changed by at most STEPS each."""
    for _ in range(rounds):
        for rule in rules(rng):
            m = int(rng.integers(1, 60)) if rng.random() < 0.5 else int(rng.integers(rule.r, 2 * rule.r + 60))
            x = crowd(rule, rng, min(m, 30_000))
            d = rng.integers(-count.STEPS, count.STEPS + 1, x.size)
            if rng.random() < 0.7:
                d = np.where(rng.random(x.size) < rng.random(), rng.integers(-2, 3) * count.STEPS // 2, 0)
            yield rule, x, np.clip(d, -count.STEPS, count.STEPS)


def attack(rng, rounds, passes):
    """Count pairs on which a rule does worse than one person is charged for; return (pairs, breaks)."""
    tried = broken = 0
    for rule, x, d in pairs(rng, rounds):
        y = np.sort(x + d)
        for level in (0, 1, int(rng.integers(-count.STEPS, count.STEPS))):
            tried += 1
            up = np.sort(x + np.abs(d))
            answer = passes(rule, x, level)
            broken += answer and not passes(rule, up, level)
            broken += answer != passes(rule, x + 3, level + 3)
            broken += answer and not passes(rule, y, level - count.STEPS)
    return tried, broken


@pytest.mark.slow
def test_no_pair_of_neighbours_moves_an_answer_further_than_is_charged():
    """Thousands of constructed pairs, plateau by plateau: monotone in x, and the same when all is shifted."""
    tried, broken = attack(np.random.default_rng(1), 15, lambda rule, x, level: rule.passes(x, level))
    assert tried >= 1500
    assert broken == 0


def test_a_bound_in_floats_leaves_plateaus_to_rounding():
    """Wrong twin: all r items are certain, yet how they are tied decides on which side they fall."""
    r, t = 583, 0.3
    log_certain = math.log1p(math.expm1(-t))  # -t, but for rounding

    def bound(split):
        """Return the log of a Chernoff bound, by the numbers of items in two ties."""
        return split * log_certain + (r - split) * log_certain + t * r

    plateau = bound(0)
    answers = {bound(split) <= plateau for split in range(r)}
    assert answers == {True, False}
    rule = rule_for(r, 3.0, 0.015, 1 << 16)
    for split in range(r):
        ties = np.full(r, rule.bins.edge[-1])
        ties[split:] += count.STEPS
        assert rule.passes(ties, 0)


@pytest.mark.slow
def test_the_pair_that_once_told_neighbours_apart():
    """583 scores of 10 among 20,000, and 391 of them raised by 0.9 of a sensitivity: the laws agree."""
    q, sensitivity = 0.0002889342623965918, 1e-4
    null = Null("exponential", 40.0)
    rho = gaussian_budget(1.0, 1e-6)
    public = public_constants(null, 20_000, q, sensitivity, 2 * sensitivity, rho, "proved", "positive")
    x = np.zeros(20_000)
    x[:583] = 10.0
    y = x.copy()
    y[:391] += 0.9 * sensitivity
    first, second = count.in_steps(x, sensitivity), count.in_steps(y, sensitivity)
    asked = zip(public.plan.counts.tolist(), public.plan.scale.tolist(), strict=True)
    for r, scale in asked:
        if not 550 < r < 620:
            continue
        rule = rule_for(r, scale / public.step, public.shape.beta, x.size)
        assert 0 <= turning_point(rule, second) - turning_point(rule, first) <= count.STEPS


def exact_shortfall(rule, ordered, level, scale):
    """Return E(r - N)^+ to 60 digits for the unrounded chances of the scores in steps."""
    with mpmath.workdps(60):
        law = [mpmath.mpf(1)] + [mpmath.mpf(0)] * rule.r  # chance of exactly k < r, for k = 0, .., r - 1
        for x in ordered.tolist():
            miss = mpmath.exp(-mpmath.exp(mpmath.mpf(x - level) / mpmath.mpf(scale)))
            law = [law[k] * miss + (law[k - 1] * (1 - miss) if k else 0) for k in range(rule.r)]
        return mpmath.fsum((rule.r - k) * law[k] for k in range(rule.r))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 12),
    st.sampled_from([2.0, 100.0, 3000.0]),
    st.sampled_from(BETAS),
    st.lists(st.floats(-6, 4), min_size=1, max_size=40),
)
def test_what_passes_has_a_small_expected_shortfall_indeed(r, scale, beta, places):
    """At the highest level that passes, the shortfall of the true chances is at most beta*r, and not far."""
    rule = ExpectedShortfall.of(r, scale, beta, 1000)
    ordered = np.sort((np.array(places) * scale).astype(np.int64))
    level = turning_point(rule, ordered)
    if level < -(1 << 39):
        assert ordered.size < r * (1 - beta) + 1
        return
    assert exact_shortfall(rule, ordered, level, scale) <= beta * r
    # Poisson for weak items, certain ones and bins cost little: 0.15 scales further it fails in truth.
    assert exact_shortfall(rule, ordered, level + round(0.15 * scale) + 2, scale) > beta * r * 0.9


@pytest.mark.parametrize("r", [100, 1000, 30_000])
def test_the_bound_for_many_holds_and_is_close(r):
    """For r beyond the exact form the shortfall by a normal limit is within beta*r, within a tenth of s."""
    beta, scale, m = 0.01, 400.0, 4 * r
    rule = ExpectedShortfall.of(r, scale, beta, m)
    ordered = np.sort(np.random.default_rng(r).normal(0, 300, m).astype(np.int64))
    level = turning_point(rule, ordered)

    def shortfall(at):
        chance = -np.expm1(-np.exp((ordered - at) / scale))
        mean, sd = chance.sum(), math.sqrt(np.sum(chance * (1 - chance)))
        z = (r - mean) / sd
        return sd * (math.exp(-z * z / 2) / math.sqrt(2 * math.pi) + z * 0.5 * math.erfc(-z / math.sqrt(2)))

    assert shortfall(level) <= beta * r
    assert shortfall(level + 0.1 * scale) > beta * r


@pytest.mark.parametrize("scale", [0.5, 30.0, 2000.0])
def test_the_calibrated_rule_counts_what_is_expected(scale):
    """R - 1/2 expected above the level, within the width of a bin."""
    ordered = np.sort(np.random.default_rng(3).integers(0, 5000, 400))
    for r in (1, 20, 150):
        level = turning_point(ExpectedCount.of(r, scale), ordered)
        expected = [
            np.sum(-np.expm1(-np.exp(np.minimum((ordered - at) / scale, 9.0))))
            for at in (level, level + scale / 20 + 2)
        ]
        assert expected[1] <= r - 0.5 <= expected[0] + 1e-6


def test_whole_numbers_stay_within_64_bits():
    """At the most hypotheses there may be, no sum of the tables can overflow."""
    m = 1 << 30
    rule = ExpectedShortfall.of(m, 1e5, 0.002, m)
    most = m * int(np.abs(rule.exponent).max()) + m * int(rule.rate.max()) + int(np.abs(rule.limit).max())
    assert most < 1 << 63
    assert m * int(rule.weak.max()) < 1 << 62


def test_chances_that_differ_differ_by_more_than_floats_can_lose():
    """Neighbouring coins are whole multiples of 2^-20, and a weak item that becomes a coin rises by one."""
    rule = ExpectedShortfall.of(20, 3000.0, 0.002, 1000)
    strong = rule.coin > 0
    # What a weak item can take off the rounded sum of weak ones is less than any coin has.
    assert math.ceil(Fraction(int(rule.weak.max()), 1 << 12)) < int(rule.coin[strong].min())
    assert np.all(np.diff(rule.coin[strong]) >= 0)
    assert np.all(np.diff(rule.weak[~strong]) >= 0)


def exact_value(rule, held, wanted):
    """Return the number that `_expected` approximates, from the same whole numbers, to 40 digits."""
    used = [(int(c), int(n)) for c, n in zip(rule.coin[::-1], held[::-1], strict=True) if c and n]
    coins = [c for c, n in used for _ in range(n)]
    mean = (int(held @ rule.weak) >> 12) + sum(coins[512:])
    with mpmath.workdps(40):
        mu = mpmath.mpf(mean) / 2**20
        chance = [mpmath.exp(-mu) * mu**k / mpmath.factorial(k) for k in range(wanted)]
        short = [mpmath.fsum((j - k) * chance[k] for k in range(j)) for j in range(wanted + 1)]
        for c in coins[:512]:
            p = mpmath.mpf(c) / 2**20
            short = [short[0]] + [short[j] * (1 - p) + short[j - 1] * p for j in range(1, wanted + 1)]
        return short[-1]


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [1, 5, FEW])
def test_every_single_rise_lowers_the_value_by_more_than_floats_lose(wanted):
    """At the borders: weak to coin, coin to certain with more than 512 of them, one bin up."""
    rule = ExpectedShortfall.of(200, 3000.0, 0.002, 1 << 20)
    first = int(np.flatnonzero(rule.coin)[0])
    for weak_held, coins in ((40, 3), (3000, 20), (0, 513), (5, 512), (1, 0)):
        held = np.zeros(rule.coin.size, dtype=np.int64)
        held[first - 1], held[first] = weak_held, coins
        if coins:
            held[-1] += 1
        before, approximate = exact_value(rule, held, wanted), rule._expected(held, wanted)
        assert abs(approximate - before) <= 2.0**-35 * before + mpmath.mpf(10) ** -250
        for source, target in ((first - 1, first), (first, first + 1), (rule.coin.size - 1, None)):
            if held[source] == 0 or (target is None and wanted == 1):
                continue
            after = held.copy()
            after[source] -= 1
            if target is not None:
                after[target] += 1
            now = exact_value(rule, after, wanted - (target is None))
            if rule.coin[source] != (rule.coin[target] if target is not None else 1 << 20):
                assert now <= before * (1 - mpmath.mpf(2) ** -26 * (1 - mpmath.mpf(2) ** -20))
            assert rule._expected(after, wanted - (target is None)) <= approximate


@pytest.mark.slow
@pytest.mark.parametrize("scores", [0.0, 4.2, 5.2, 30.0])
def test_nothing_is_said_of_the_scores_under_any_error_state(scores):
    """With every floating-point warning an error, a count raises none, whatever the scores."""
    import scipy

    x = np.zeros(2000)
    x[:900] = scores
    certificate = Certificate(0.02, 0.04, "replace", "declared")
    evidence = Evidence([str(i) for i in range(2000)], x, Null("normal", 37.0), certificate)
    call = {"q": 0.1, "epsilon": 1, "delta": 1e-6}
    discreet.release(evidence, **call)
    with np.errstate(all="raise"), scipy.special.errstate(all="raise"):
        for _ in range(5):
            discreet.release(evidence, **call)


@pytest.mark.parametrize(
    ("law", "sensitivity", "call"),
    [
        (("normal", 1e-306), 1e-307, {}),
        (("normal", 1e-275), 1e-280, {}),
        (("normal", 37.0), 1e290, {}),
        (("normal", 37.0), 0.1, {"epsilon": 1e-13, "delta": 1e-13}),
    ],
)
def test_impossible_noise_is_refused_whatever_the_scores(law, sensitivity, call):
    """Public numbers that no whole step can hold are refused alike for all scores, before a draw."""
    for score in (0.0, law[1]):
        with pytest.raises(discreet.DiscreetError, match=r"noise of|must lie in \["):  # noqa: PT012
            certificate = Certificate(sensitivity, 2 * sensitivity, "replace", "declared")
            evidence = Evidence(["a", "b"], np.full(2, score), Null(*law), certificate)
            discreet.release(evidence, **({"q": 0.9, "epsilon": 1, "delta": 1e-6, "method": "aware"} | call))


def test_neither_too_many_hypotheses_nor_too_small_a_q_are_taken():
    """What the whole numbers cannot hold is refused before anything is drawn."""
    certificate = Certificate(0.1, 0.2, "replace", "declared")
    evidence = Evidence(["a"], np.ones(1), Null("normal", 30.0), certificate)
    with pytest.raises(discreet.DiscreetError, match="q = 1e-13 is too small"):
        discreet.release(evidence, q=1e-13, epsilon=1, delta=1e-6, method="aware")
    with pytest.raises(discreet.DiscreetError, match="hypotheses"):
        public_constants(Null("normal", 30.0), 1 << 31, 0.1, 0.1, 0.2, 0.03, "proved", "positive")


if __name__ == "__main__":  # hours of it: python tests/methods/test_shortfall.py ROUNDS SEED
    import sys

    print(
        attack(
            np.random.default_rng(int(sys.argv[2])), int(sys.argv[1]), lambda rule, x, t: rule.passes(x, t)
        )
    )
