"""Exact samplers: their laws, the exactness of their coins, and twins at the wrong scale."""

import decimal
from dataclasses import replace
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from budget import assert_frequencies, assert_mean_is, must_fail
from discreet.errors import DiscreetError
from discreet.noise import samplers
from discreet.noise.laplace import discrete_laplace, geometric
from discreet.noise.samplers import bernoulli_exp, rounded_gaussian
from discreet.noise.uniform import uniform_below

N = 400_000


def cells(sample, low, high):
    """Count low..high-1, and all else."""
    inside = sample[(sample >= low) & (sample < high)]
    return np.append(np.bincount(inside - low, minlength=high - low), sample.size - inside.size)


def with_rest(p):
    """Append what is left of the probability."""
    return np.append(p, max(0.0, 1 - p.sum()))


def geometric_law(scale, low, high):
    return with_rest(-np.expm1(-1 / scale) * np.exp(-np.arange(low, high) / scale))


def laplace_law(scale, low, high):
    return with_rest(np.tanh(0.5 / scale) * np.exp(-np.abs(np.arange(low, high)) / scale))


def gaussian_law(sigma, low, high):
    return with_rest(np.diff(ndtr((np.arange(low, high + 1) - 0.5) / sigma)))


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize(
    ("draw", "law", "low"),
    [
        (geometric, geometric_law, 0),
        (discrete_laplace, laplace_law, -12),
        (rounded_gaussian, gaussian_law, -12),
    ],
)
@pytest.mark.parametrize("scale", [0.7, 3.3])
def test_laws_and_wrong_twins(draw, law, low, scale):
    """Each sampler has its law, and not the law of a scale 3% off."""
    counts = cells(draw(scale, 4 * N), low, 13)
    right, wrong = law(scale, low, 13), law(scale * 1.03, low, 13)
    assert_frequencies(counts, right)
    must_fail(assert_frequencies, counts, wrong=wrong, truth=right)


@pytest.mark.statistical(2, twins=1)
def test_large_scales_keep_their_law():
    """At a scale of 10**6 the quartiles are where they should be."""
    sample = discrete_laplace(1e6, N)
    assert_mean_is(np.abs(sample) > 1e6 * np.log(2), 0.5)
    must_fail(assert_mean_is, np.abs(sample) > 1.05e6 * np.log(2), wrong=0.5, truth=2.0**-1.05)


def test_floors_are_exact():
    """Binary digits of exp(-x), 1/(1+exp(x)) and tanh(x/2) agree with mpmath at 400 digits."""
    with mpmath.workdps(400):
        for x in (Fraction(1, 10**9), Fraction(1, 3), Fraction(7, 2), Fraction(355, 113), Fraction(60)):
            value = mpmath.mpf(x.numerator) / x.denominator
            for bits in (16, 80, 144, 400):
                one = mpmath.mpf(2) ** bits
                assert samplers.floor_of_exp(x, bits) == int(mpmath.floor(mpmath.exp(-value) * one))
                assert samplers.floor_of_odds(x, bits) == int(mpmath.floor(one / (1 + mpmath.exp(value))))
                assert samplers.floor_of_tanh_half(x, bits) == int(mpmath.floor(mpmath.tanh(value / 2) * one))


def test_the_callers_decimals_do_not_enter():
    """Binary digits are exact under a context of three digits that traps everything."""
    hostile = decimal.Context(
        prec=3, rounding=decimal.ROUND_UP, Emin=-3, Emax=3, traps=list(decimal.Context().flags)
    )
    x = Fraction(12345, 6789)
    samplers._floor.cache_clear()
    with decimal.localcontext(hostile):
        found = samplers.floor_of_exp(x, 80)
    with mpmath.workdps(60):
        assert found == int(mpmath.floor(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * 2**80))


@pytest.mark.slow
@pytest.mark.statistical(4, twins=2)
def test_undecided_coins_read_on_correctly():
    """Past an agreeing prefix of 4 bits a coin is the fractional part of p * 2**4."""
    for x in (Fraction(1, 3), Fraction(2)):
        digits = partial(samplers.floor_of_exp, x)
        rest = float(np.exp(-float(x)) * 16) % 1
        sample = [samplers.resolve(digits, 4) for _ in range(3_000)]
        assert_mean_is(sample, rest)
        must_fail(assert_mean_is, sample, wrong=rest + 0.15, truth=rest)


@pytest.mark.slow
@pytest.mark.statistical(4, twins=1)
@pytest.mark.parametrize("doubt", [samplers._DOUBT, 1.0])
def test_bernoulli_exp(monkeypatch, doubt):
    """Coins of probability exp(-x), by floats and with every coin settled exactly."""
    monkeypatch.setattr(samplers, "_DOUBT", doubt)
    n = N if doubt < 1 else 20_000
    x = np.full(n, 0.75)
    sample = bernoulli_exp(x, lambda _i, _bits: (Fraction(3, 4),) * 2)
    assert_mean_is(sample, np.exp(-0.75))
    must_fail(assert_mean_is, sample, wrong=np.exp(-0.65), truth=np.exp(-0.75))
    assert bernoulli_exp(np.zeros(5), lambda _i, _bits: (Fraction(0),) * 2).all()


def test_coins_are_those_of_their_words_on_either_side_of_the_sign():
    """Words are below their chances as whole numbers are; read as numbers with a sign they are not."""
    near = [1 << 20, 2**62, 2**63 - 5000, 2**63, 2**63 + 5000, 2**64 - 2**20]
    words = np.array([at + off for at in near for off in (-1000, -500, 500, 1000, 20_000)], dtype=np.uint64)
    x = -np.log(np.repeat(np.array(near, dtype=np.float64), 5) / 2.0**64)
    chances = [samplers.floor_of_exp(Fraction(each), 64) for each in x.tolist()]
    right = [word < chance for word, chance in zip(words.tolist(), chances, strict=True)]

    def exact(i, _bits):
        return (Fraction(float(x[i])),) * 2

    assert bernoulli_exp(x, exact, words).tolist() == right
    assert (words.view(np.int64).astype(np.float64) < np.exp(-x) * 2.0**64).tolist() != right


@pytest.mark.slow
@pytest.mark.statistical(4, twins=1)
@pytest.mark.parametrize("sigma", [0.7, 3.3])
def test_rounded_gaussian_settled_exactly(monkeypatch, sigma):
    """The law stays when floats decide no coin, and bits of the uniform part are read on."""
    monkeypatch.setattr(samplers, "_DOUBT", 1.0)
    monkeypatch.setattr(samplers, "_UNIFORM", 4)
    counts = cells(rounded_gaussian(sigma, 2_000), -12, 13)
    right, wrong = gaussian_law(sigma, -12, 13), gaussian_law(sigma * 1.8, -12, 13)
    assert_frequencies(counts, right)
    must_fail(assert_frequencies, counts, wrong=wrong, truth=right)


@pytest.mark.statistical(2)
def test_uniform_integers():
    """No modulo bias where a modulus would show it: 3 * 2**62 values from 64 bits."""
    assert_frequencies(np.bincount(uniform_below(7, N).astype(int)), np.full(7, 1 / 7))
    big = uniform_below(3 << 62, N)
    assert_mean_is(big < np.uint64(1 << 62), 1 / 3)
    assert uniform_below(1, 3).tolist() == [0, 0, 0]
    assert uniform_below(1 << 64, 3).shape == (3,)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), "wide", 1e-30, 1e30])
def test_scales_out_of_range_are_refused(scale):
    """A scale that is not a sensible positive number is an error that names it."""
    for draw in (geometric, discrete_laplace, rounded_gaussian):
        with pytest.raises(DiscreetError, match=r"scale|sigma"):
            draw(scale, 3)


@pytest.mark.slow
def test_extreme_scales_work():
    """The smallest and largest allowed scales draw without trouble, and no draws gives no array."""
    for draw in (geometric, discrete_laplace, rounded_gaussian):
        assert np.abs(draw(2.0**-10, 100)).max() <= 1
        assert np.abs(draw(2.0**49, 100)).max() > 2**40
        assert draw(1.0, 0).shape == (0,)


@pytest.mark.statistical(4, twins=1)
def test_lowest_digits_drawn_together():
    """Past scale 16 the low digits come as a block: its law, and the whole law modulo and above it."""
    counts = cells(geometric(40.0, N), 0, 13)
    right, wrong = geometric_law(40.0, 0, 13), geometric_law(42.0, 0, 13)
    assert_frequencies(counts, right)
    must_fail(assert_frequencies, counts, wrong=wrong, truth=right)
    low = samplers._lowest(samplers.prepared(Fraction(40)), N)
    assert_mean_is(low, np.exp(-1 / 40) / (1 + np.exp(-1 / 40)))
    steep_scale = replace(
        samplers.prepared(Fraction(2)), places=2, surely=samplers.floor_of_exp(Fraction(2), 64)
    )
    steep = samplers._lowest(steep_scale, N)
    weights = np.exp(-np.arange(4) / 2)
    assert_frequencies(np.bincount(steep, minlength=4), weights / weights.sum())


def test_few_draws_are_read_as_many_are():
    """The same words give the same digits, overflows and ties, either way; ties are no digits yet."""
    rng = np.random.default_rng(2)
    for scale in (Fraction(1, 3), Fraction(7), Fraction(31)):
        digits = samplers._digits(scale)
        words = rng.integers(0, 2**16, (digits.places + 1, 40)).astype(np.uint16)
        words[:, :4] = digits.column
        few, many = samplers._read_few(digits, words), samplers._read(digits, words)
        assert all(np.array_equal(a, b) for a, b in zip(few, many, strict=True))
        assert {(place, i) for place in range(digits.places + 1) for i in range(4)} <= set(few[2])
        assert not few[1][:4].any()
        assert not few[0][:4].any()
