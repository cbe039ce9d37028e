"""The bounds for adaptive procedures: their order, limits and the exact law underneath."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from discreet import fdr_bound
from discreet.classical.bounds import crossing_tail

LEVELS = [1e-6, 0.01, 0.05, 0.1, 0.2, 0.5, 0.9, 0.999]


def crossing_tail_exactly(a, k, m):
    """P(U_(j) <= a*j/m for some j >= k) in rational arithmetic, by the law of the count at each a*j/m."""
    law = {0: Fraction(1)}  # of N(a*j/m), on the event that nothing has crossed
    for j in range(1, m + 1):
        before, after = a * (j - 1) / m, a * j / m
        share = (after - before) / (1 - before)
        moved = {}
        for n, mass in law.items():
            for more in range(m - n + 1):
                if j >= k and n + more >= j:
                    continue
                chance = math.comb(m - n, more) * share**more * (1 - share) ** (m - n - more)
                moved[n + more] = moved.get(n + more, 0) + mass * chance
        law = moved
    return 1 - sum(law.values())


@pytest.mark.parametrize("a", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("m", [1, 2, 5, 12])
def test_the_last_crossing_has_its_exact_law(a, m):
    """The closed form agrees with rational arithmetic for every k, from above and within its slack."""
    for k in range(1, m + 1):
        exact = float(crossing_tail_exactly(a, k, m))
        assert exact <= crossing_tail(float(a), k, m) <= exact + 2e-9


@pytest.mark.parametrize("a", [0.05, 0.3, 0.7, 0.95, 0.999])
def test_simes_identity(a):
    """At k = 1 the crossing probability is a, whatever m."""
    for m in (1, 7, 1000, 10**9, None):
        assert a <= crossing_tail(a, 1, m) <= a + 2e-9


@pytest.mark.parametrize("a", [0.05, 0.3, 0.7, 0.95, 0.999])
@pytest.mark.parametrize("k", [1, 2, 5, 50, 2000])
def test_many_hypotheses_are_the_worst_case(a, k):
    """The limit of many hypotheses is above the law at every m, and is approached from below."""
    limit = crossing_tail(a, k)
    tails = [crossing_tail(a, k, m) for m in (k, k + 1, 2 * k, 10 * k, 100 * k, 10**7, 10**12)]
    assert all(tail <= limit + 1e-9 for tail in tails)
    assert tails[-1] == pytest.approx(limit, abs=3e-9)


@pytest.mark.parametrize("a", [0.05, 0.5, 0.9, 0.99, 0.9999])
@pytest.mark.parametrize("m", [2, 10, 300])
def test_the_ratio_to_the_limit_rises_then_falls(a, m):
    """The steps d(y) of docs/proofs/adaptive.md are those of log r_j, + then -, with the derivative shown."""
    j = np.arange(m + 1.0)
    log_r = (
        np.concatenate(([0.0], np.cumsum(np.log1p(-j[:-1] / m)))) + (m - j - 1) * np.log1p(-a * j / m) + a * j
    )

    def d(y):
        slope = (1 - a) * m + a * y
        return np.log(y / slope) + (y - 2) * np.log1p(-a / slope) + a

    y = m - j[:-1]
    assert np.diff(log_r) == pytest.approx(d(y), abs=1e-9)
    assert d(m) > 0
    signs = np.sign(d(y))
    assert np.all(np.diff(signs) <= 0)
    w, gamma = a / ((1 - a) * m + a * y), (1 - a) * m / a
    shown = w / (1 - gamma * w) + np.log1p(-w) - (gamma + 1) * w**2 / (1 - w)
    assert (d(y + 1e-5) - d(y - 1e-5)) / 2e-5 == pytest.approx(shown, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 1.5, 3.0, 40.0])
def test_the_signs_behind_the_limit_change_once(gamma):
    """The power series of docs/proofs/adaptive.md has coefficients that change sign at most once."""
    signs = [gamma ** (n - 1) - gamma - 1 - 1 / n > 0 for n in range(2, 60)]
    assert signs == sorted(signs)


@pytest.mark.parametrize("q", LEVELS)
@pytest.mark.parametrize(
    "k", [None, 1, 2, *(pytest.param(k, marks=pytest.mark.slow) for k in (3, 10, 1000, 10**5, 10**9))]
)
@pytest.mark.parametrize("given", ["false", "rejections"])
def test_exact_is_never_above_the_others(q, k, given):
    """The exact bound is at least q and at most the simple and the printed ones, with and without m."""
    exact, simple, paper = (
        fdr_bound(q, k, version=v, given=given).value for v in ("exact", "simple", "paper")
    )
    assert q <= exact <= min(simple, paper) + 1e-15
    assert q <= fdr_bound(q, k, given=given, m=10**9).value <= exact + 2e-9


def test_a_wrong_bound_would_be_noticed():
    """Twin of the order above: without the minimum, the sum of cells lies above the simple bound."""
    from discreet.classical.bounds import _worst_case

    assert _worst_case(0.1, 1, "false", None) > fdr_bound(0.1, version="simple").value


@pytest.mark.parametrize(("k", "constant"), [(2, 2.43), (3, 1.86), (10, 1.33), (100, 1.09)])
def test_constants_as_q_falls(k, constant):
    """FDR_k / q tends to the printed C_k, which quadrature of the limit law confirms."""
    assert fdr_bound(1e-6, k).value / 1e-6 == pytest.approx(constant, abs=0.005)
    integral, _ = quad(lambda a: crossing_tail(a, k) / a**2, 1e-3, 1, limit=200)
    assert 1 + integral == pytest.approx(constant, abs=0.006)


def test_constants_grow_as_q_falls():
    """C_k(q) is below its limit for every q, so FDR_2 <= 2.4314 q always."""
    ratios = [fdr_bound(q, 2).value / q for q in (0.9, 0.2, 0.05, 1e-3, 1e-6)]
    assert ratios == sorted(ratios)
    assert ratios[-1] < 2.4314


@pytest.mark.slow
def test_more_forgiven_is_less_bounded():
    """Bounds fall as k grows; FDR_k is at most FDR^k."""
    ks = [1, 2, 5, 100, 9_999, 10_000, 10_001, 10**6, 10**8]
    for given in ("false", "rejections"):
        values = [fdr_bound(0.1, k, given=given).value for k in ks]
        assert all(after <= before + 1e-9 for before, after in pairwise(values))
    assert all(fdr_bound(0.1, k).value <= fdr_bound(0.1, k, given="rejections").value + 1e-9 for k in ks)


def test_a_bound_says_what_it_assumes():
    """The printed bound names quantity, level, source and assumption."""
    text = str(fdr_bound(0.05, 2, version="paper"))
    assert text.startswith("FDR_2 <= 0.1500 ")
    assert "Theorem 1" in text
    assert "independent of one another" in text
    assert float(fdr_bound(0.05)) == pytest.approx(0.05 * (1 + np.log(20)))
    assert "Theorems 1 and 5" in fdr_bound(0.1, 7, version="paper", given="rejections").source
