"""The contest's law is exact, however its bits are read: at once, through the sieve, or settled singly."""

import decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from budget import assert_frequencies, must_fail
from discreet.kernels import compiled
from discreet.lab import outcomes
from discreet.noise.laws import GUMBEL, LAPLACE
from discreet.selection.contest import contest, settle, sieve
from discreet.selection.contest.drawn import RANGE, SCALES

X = np.array([0.0, 0.7, -0.4, 1.1, 0.7])
RUNS = 4_000
needs_c = pytest.mark.skipif(compiled is None, reason="no compiler built the kernels")
KERNELS = pytest.mark.parametrize("kernels", [compiled, None], ids=["built", "numpy"])
LAWS = {"gumbel": (GUMBEL, outcomes.softmax_orders), "laplace": (LAPLACE, outcomes.laplace_sets)}


def counts_of(x, scale, k, law, keys, runs=RUNS):
    """Count how often each outcome comes out of the real code."""
    position = {key: i for i, key in enumerate(keys)}
    counts = np.zeros(len(keys))
    for _ in range(runs):
        chosen = contest.largest(x, scale, k, law).tolist()
        counts[position[tuple(chosen) if law is GUMBEL else tuple(sorted(chosen))]] += 1
    return counts


def check_law(name, k, x=X, scale=1.0, runs=RUNS):
    """Check that the code's frequencies fit the exact law and not that of half the scale."""
    law, exact = LAWS[name]
    p = exact(x, scale, k)
    counts = counts_of(x, scale, k, law, p, runs)
    assert_frequencies(counts, p.values())
    wrong = exact(x, scale / 2, k)
    must_fail(assert_frequencies, counts, wrong=wrong.values(), truth=p.values())


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("k", [1, 2])
def test_law_when_everyone_is_drawn(name, k):
    """Small inputs: all uniforms are read to 80 bits."""
    check_law(name, k)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("name", LAWS)
def test_law_through_the_sieve(monkeypatch, name):
    """The sieve changes the work, not the law."""
    monkeypatch.setattr(contest, "_SMALL", 0)
    monkeypatch.setattr(contest, "_FEW", 0)
    monkeypatch.setattr(sieve, "_SAFE", 0.01)
    check_law(name, 1)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("name", LAWS)
def test_law_through_the_tables(monkeypatch, name):
    """So do the tables that rule out most of a few thousand."""
    monkeypatch.setattr(contest, "_SMALL", 0)
    check_law(name, 1)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("name", LAWS)
def test_law_when_the_sieve_keeps_too_few(monkeypatch, name):
    """A line far too high is missed often; reading on, rather than drawing anew, keeps the law."""
    monkeypatch.setattr(contest, "_SMALL", 0)
    monkeypatch.setattr(contest, "_FEW", 0)
    missed = []
    original = contest._leaders

    def spy(*args):
        chosen = original(*args)
        missed.append(chosen is None)
        return chosen

    monkeypatch.setattr(contest, "_leaders", spy)
    monkeypatch.setattr(sieve, "_line", lambda *_: 2.0)
    check_law(name, 1)
    assert 0.05 < np.mean(missed) < 0.6


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("name", LAWS)
def test_law_when_every_comparison_is_settled_exactly(monkeypatch, name):
    """With all float intervals overlapping, decimals and fresh bits decide every order."""
    monkeypatch.setattr(contest, "compiled", None)
    monkeypatch.setattr(contest, "_ULPS", 1e6)
    check_law(name, 2, scale=0.5, runs={"gumbel": 2_250, "laplace": 3_500}[name])


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.integers(1, 40), elements=st.floats(allow_nan=True, allow_infinity=True)),
    st.data(),
)
def test_any_scores_give_k_distinct_positions(x, data):
    """NaN, infinities, ties and huge numbers: always k distinct positions."""
    k = data.draw(st.integers(1, x.size))
    for law in (GUMBEL, LAPLACE):
        chosen = contest.largest(x, 1.0, k, law)
        assert chosen.shape == (k,)
        assert len(set(chosen.tolist())) == k
        assert chosen.min() >= 0
        assert chosen.max() < x.size


@pytest.mark.parametrize("law", [GUMBEL, LAPLACE])
@pytest.mark.parametrize("m", [50, 5000, 100_000])
def test_little_noise_gives_the_true_order(law, m):
    """Scores far apart in units of the noise come out in their true order, NaN and -inf last."""
    rng = np.random.default_rng(m)
    x = rng.permutation(m).astype(float)
    expected = np.argsort(-x)[:20]
    assert contest.largest(x, 1e-4, 20, law).tolist() == expected.tolist()
    x[expected[:3]] = [np.nan, -np.inf, np.nan]
    assert contest.largest(x, 1e-4, 17, law).tolist() == expected[3:].tolist()


@pytest.mark.parametrize("scale", [1e-3, 0.05, 1.0, 1e3])
def test_sieve_keeps_enough_and_not_much_more(scale):
    """At m = 200,000 the sieve lets through more than k and far fewer than m, whatever the noise."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(200_000)
    x[:300] += 8
    for law in (GUMBEL, LAPLACE):
        drawn, _line, words = sieve.sieve(x, scale, 500, law)
        assert 500 <= drawn.index.size < 8000
        assert words.size == x.size


def test_everyone_ruled_out_is_below_the_line():
    """Nobody the sieve drops could have cleared the line: its first word alone forbids it."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal(50_000)
    for law in (GUMBEL, LAPLACE):
        drawn, line, words = sieve.sieve(x, 0.3, 5, law)
        out = np.setdiff1d(np.arange(x.size), drawn.index)
        least = words[out] / 65536.0  # V is at least this
        strongest = law.isf(np.maximum(least, 2.0**-60), 1 - least)
        assert (x[out] / 0.3 + strongest < line).all()


ODD = {
    "no evidence": np.full(6000, np.nan),
    "one end": np.full(6000, -np.inf),
    "near the lower end": np.concatenate((np.full(3000, -np.inf), np.linspace(-RANGE, -RANGE + 300, 3000))),
    "near the upper end": np.concatenate((np.full(3000, np.inf), np.linspace(RANGE - 300, RANGE, 3000))),
    "around zero": np.linspace(-1e-9, 1e-9, 6000),
    "wide": np.linspace(-1e7, 1e7, 6000),
}


@pytest.mark.parametrize("law", [GUMBEL, LAPLACE])
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("scale", [SCALES[0], SCALES[0] * 1.3, 0.7, SCALES[1] / 1.3, SCALES[1]])
def test_the_threshold_before_the_sieve_is_safe(law, name, scale):
    """In exact arithmetic, a score not above any threshold has a level below that split's upper edge."""
    x = ODD[name] * scale
    drawn, line, words = sieve.sieve(x, scale, 5, law)
    out = np.setdiff1d(np.arange(x.size), drawn.index)
    assert (words[out] / 65536.0 > law.sf(line - sieve.in_scales(x[out], scale))).all()
    pilot = sieve._look(x, scale, 5)
    for upper in pilot.upper[:: sieve._BINS // 16].tolist():
        edge = (upper - pilot.margin) * scale
        assert np.isfinite(edge)
        assert Fraction(edge) / Fraction(scale) <= Fraction(upper) - Fraction(pilot.margin) / 4
        assert upper - pilot.margin / 4 >= -RANGE


@pytest.mark.parametrize("law", [GUMBEL, LAPLACE])
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("scale", [SCALES[0], 0.7, SCALES[1]])
@KERNELS
def test_whoever_the_tables_rule_out_cannot_win(monkeypatch, law, name, scale, kernels):
    """At the most that a first word can mean, below the least of k who stay; words at both ends too."""
    monkeypatch.setattr(sieve, "compiled", kernels)
    k, x = 5, ODD[name] * scale
    words = np.random.default_rng(8).integers(0, 2**16, x.size, dtype=np.uint16)
    words[:40], words[-40:] = 0, 65535
    monkeypatch.setattr(sieve, "entropy", SimpleNamespace(words=lambda n, _: words[:n].copy()))
    stay = sieve.coarse(x, scale, k, law).index
    level, low = sieve.in_scales(x, scale), words / 65536.0
    with np.errstate(all="ignore"):
        most = level + np.where(words == 0, np.inf, law.isf(low, 1 - low))
        least = level + np.where(words == 65535, -np.inf, law.isf(low + 2.0**-16, 1 - low - 2.0**-16))
    assert k <= stay.size
    assert most[np.setdiff1d(np.arange(x.size), stay)].max(initial=-np.inf) < np.sort(least[stay])[-k]
    if name == "wide":
        assert stay.size < 200


@pytest.mark.parametrize("law", [GUMBEL, LAPLACE])
def test_uniforms_of_which_nothing_is_known_are_settled(monkeypatch, law):
    """Eighty equal leading bits leave the noise unknown; with k = m everyone is still put in order."""
    monkeypatch.setattr(contest, "entropy", SimpleNamespace(words=lambda n, dtype: np.zeros(n, dtype=dtype)))
    for k in (1, 4):
        chosen = contest.largest(np.zeros(4), 1.0, k, law)
        assert len(set(chosen.tolist())) == k


def test_few_are_settled_in_decimals_at_large_levels(monkeypatch):
    """At 2**36 noise scales some ten of 200 leaders need decimals; a slack of 2**-44 |level| sent all."""
    settled = []
    monkeypatch.setattr(
        contest, "exact_order", lambda *args: settled.append(args[-1].size) or settle.exact_order(*args)
    )
    contest.largest(np.full(400, 2.0**36), 1.0, 200, GUMBEL)
    assert sum(settled) < 100


@pytest.mark.parametrize("law", [GUMBEL, LAPLACE])
def test_the_callers_decimals_do_not_enter(monkeypatch, law):
    """Three digits, rounding up, narrow exponents, every trap set: comparisons are settled all the same."""
    monkeypatch.setattr(contest, "compiled", None)
    monkeypatch.setattr(contest, "_ULPS", 1e6)
    hostile = decimal.Context(
        prec=3, rounding=decimal.ROUND_UP, Emin=-3, Emax=3, traps=list(decimal.Context().flags)
    )
    with decimal.localcontext(hostile):
        assert contest.largest(np.array([0.0, 1e6, -1e6]), 1.0, 3, law).tolist() == [1, 0, 2]


@pytest.mark.parametrize("law", [GUMBEL, LAPLACE])
@pytest.mark.parametrize("scale", [1.0, 2.0**-38])
@KERNELS
def test_tables_keep_those_who_may_reach_the_line_and_hardly_more(law, scale, kernels, monkeypatch):
    """Over all words: everyone whose upper end, by all sixteen bits, reaches the line is kept."""
    monkeypatch.setattr(sieve, "compiled", kernels)
    rng = np.random.default_rng(1)
    words = rng.permutation(np.arange(1 << 16).astype(np.uint16))
    x = rng.choice([0.0, 0.02, 3.0, 9.0, np.nan], words.size) * scale
    monkeypatch.setattr(sieve.entropy, "words", lambda count, dtype: words[:count].astype(dtype))
    k, level = 50, np.nan_to_num(x, nan=-RANGE * scale) / scale
    v = np.arange((1 << 16) + 1) / (1 << 16)
    with np.errstate(all="ignore"):
        noise = law.isf(v, 1 - v)
    noise[0], noise[-1] = np.inf, -np.inf
    line = np.sort(level + noise[words.astype(int) + 1])[-k]
    with np.errstate(all="ignore"):
        kept = sieve.coarse(x, scale, k, law).index
    assert np.isin(np.flatnonzero(level + noise[words] >= line), kept).all()
    assert k < kept.size < words.size / 100


@needs_c
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("m", [3, 900, 5000, 40_000])
def test_numpy_chooses_the_same_from_the_same_words(name, m, monkeypatch):
    """Whichever computes: the same items in the same order, and as many words read; other words differ."""
    law = LAWS[name][0]
    rng = np.random.default_rng(m)
    x = rng.standard_normal(m) * 3
    x[rng.random(m) < 0.1] = np.nan
    x[:2] = np.inf, -np.inf

    def chosen(kernels, seed, scores=x):
        stream, read = np.random.default_rng(seed), []

        def words(count, dtype):
            read.append(count)
            return stream.integers(0, 2 ** (8 * np.dtype(dtype).itemsize), count, dtype=dtype)

        for module in (contest, sieve):
            monkeypatch.setattr(module, "compiled", kernels)
            monkeypatch.setattr(module, "entropy", SimpleNamespace(words=words))
        monkeypatch.setattr(sieve, "uniform_below", lambda m, size: stream.integers(0, m, size))
        return contest.largest(scores, 0.5, min(m, 40), law).tolist(), read

    for seed in range(5):
        assert chosen(compiled, seed) == chosen(None, seed)
    assert m == 3 or chosen(compiled, 1) != chosen(compiled, 2)
    strided = np.repeat(x, 2)[::2]
    shifted = np.frombuffer(b"x" + x.tobytes(), dtype=np.float64, offset=1)
    for scores in (strided, shifted):
        assert chosen(compiled, 1, scores) == chosen(compiled, 1)
