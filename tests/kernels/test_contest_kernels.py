"""The loops of the contest: NumPy's bits where they round as it does, else bounds on exact noise."""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np
import pytest

from discreet import kernels
from discreet.noise.laws import GUMBEL, LAPLACE
from discreet.selection.contest import contest, sieve
from discreet.selection.contest.drawn import RANGE, SCALES, Drawn
from discreet.selection.joint import joint

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
ODD = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    np.nan,
    np.inf,
    -np.inf,
    5e-324,
    -5e-324,
    1e308,
    -1e308,
    RANGE,
    -RANGE,
    1e13,
    -1e13,
]


@pytest.fixture(scope="module", params=[0, 1, 2], ids=["plain", "AVX2", "AVX-512"])
def level(request):
    """Leave the copies of each kernel up to one kind of processor, where this machine is one."""
    if kernels.compiled is None:
        pytest.skip("the kernels were not built")
    if kernels.compiled.limit(request.param) < request.param:
        kernels.compiled.limit(2)
        pytest.skip("not a processor of this machine")
    yield
    kernels.compiled.limit(2)


def scores_and_words(m, seed):
    """Return odd scores among others, and words of all kinds, those at both ends too."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal(m) * 10.0 ** rng.integers(-3, 16, m)
    scores[rng.random(m) < 0.3] = rng.choice(ODD)
    scores[: len(ODD)] = ODD[:m]
    words = rng.integers(0, 1 << 16, m, dtype=np.uint16)
    words[rng.random(m) < 0.2] = rng.choice(np.array([0, 1, 63, 64, 65471, 65472, 65535], dtype=np.uint16))
    return scores, words


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("law", [GUMBEL, LAPLACE])
@pytest.mark.parametrize("m", [1, 7, 8, 33, 4097])
def test_whoever_is_ruled_out_is_ruled_out_by_numpy(m, law, monkeypatch):
    """Lower ends have NumPy's bits, so the same items reach any line; a scale a little larger is seen."""
    scores, words = scores_and_words(m, m)
    least, width = sieve._ends(law)
    with np.errstate(all="ignore"):
        for scale in (SCALES[0], 0.3, 1.0, SCALES[1]):
            found = []
            for compiled in (kernels.compiled, None):
                monkeypatch.setattr(sieve, "compiled", compiled)
                lower = sieve._lower_ends(scores, words, scale, least)
                lines = [-np.inf, -3.0, 0.5, float(lower.max()), np.inf]
                found.append(
                    (lower, [sieve._reaching(lower, words, line - width).tolist() for line in lines])
                )
            (ours, reaching), (numpys, those) = found
            assert ours.tobytes() == numpys.tobytes()
            assert reaching == those
        other = sieve._lower_ends(np.ones(m), words, 0.3, least)
        assert (other != sieve._lower_ends(np.ones(m), words, 0.3000001, least))[np.isfinite(other)].all()


def enclosed(law, scores, high, low, bounds):
    """Say of which items the exact noise, anywhere in the last of 80 bits, lies within the bounds."""
    with decimal.localcontext(decimal.Context(prec=60)):
        inside = []
        for x, first, rest, least, most in zip(scores, high, low, bounds[1], bounds[2], strict=True):
            value = (int(first) << 64) | int(rest)
            ends = [value or Decimal("1e-9"), value + 1 - Decimal("1e-9")]
            noisy = [Decimal(float(x)) + law.isf_decimal(Decimal(end) / (1 << 80)) for end in ends]
            inside.append(Decimal(float(least)) <= min(noisy) and max(noisy) <= Decimal(float(most)))
        return np.array(inside)


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("law", [GUMBEL, LAPLACE])
def test_bounds_hold_the_exact_noise_and_little_else(law):
    """Words at both ends and in the middle, in decimals; a thousandth of the slack does not hold it."""
    rng = np.random.default_rng(5)
    m = 300
    scores = rng.choice([0.0, 1.0, -2.5, 1000.0], m)
    high = rng.integers(0, 1 << 16, m, dtype=np.uint16)
    low = rng.integers(0, 1 << 64, m, dtype=np.uint64)
    high[:100:4], high[1:100:4], high[2:100:4], high[3:100:4] = 0, 65535, 32767, 32768
    low[:60] >>= rng.integers(0, 60, 60).astype(np.uint64)
    low[60:100] |= np.uint64((1 << 64) - 1) << rng.integers(0, 60, 40).astype(np.uint64)
    bounds = np.empty((3, m))
    kernels.compiled.noisy(scores, high, low, 1.0, law is GUMBEL, bounds)
    assert enclosed(law, scores, high, low, bounds).all()
    assert np.median(bounds[2] - bounds[1]) < 1e-11
    narrow = bounds[0] + (bounds - bounds[0]) * 1e-3
    assert not enclosed(law, scores, high, low, narrow).all()


@needs_kernels
@pytest.mark.parametrize("law", [GUMBEL, LAPLACE])
def test_bounds_of_numpy_agree(law, monkeypatch):
    """Odd scores and uniforms of which nothing is known: intervals of both overlap, and are as wide."""
    scores, high = scores_and_words(2000, 1)
    low = np.random.default_rng(2).integers(0, 1 << 64, 2000, dtype=np.uint64)
    low[:300:2], low[1:300:2] = 0, (1 << 64) - 1
    high[:100:2], high[1:100:2] = 0, 65535
    drawn = Drawn(np.arange(2000), scores, high, low)
    with np.errstate(all="ignore"):
        ours = contest._intervals(drawn, 0.7, law)
        monkeypatch.setattr(contest, "compiled", None)
        numpys = contest._intervals(drawn, 0.7, law)
    assert ((ours[1] <= numpys[2]) & (numpys[1] <= ours[2])).all()
    known = np.isfinite(ours[2])
    assert np.array_equal(known, np.isfinite(numpys[2]))
    assert known.sum() > 1500
    assert not known.all()
    np.testing.assert_allclose((ours[2] - ours[1])[known], (numpys[2] - numpys[1])[known], rtol=0.01)


@needs_kernels
def test_signs_are_changed_as_numpy_changes_them(monkeypatch):
    """The same bits, of zeros of both signs, of NaN and of what is beyond the limit."""
    scores, _ = scores_and_words(999, 3)
    both = []
    for compiled in (kernels.compiled, None):
        monkeypatch.setattr(joint, "compiled", compiled)
        both.append(joint._negated(scores, 1e9))
    assert both[0].tobytes() == both[1].tobytes()
    assert not np.signbit(both[0][scores == 0]).any()
    assert both[0].tobytes() != joint._negated(scores, 1e8).tobytes()


@needs_kernels
def test_sizes_that_do_not_fit_are_refused():
    """Nothing is read or written beyond a buffer."""
    nine, words, low, table = np.zeros(9), np.zeros(9, np.uint16), np.zeros(9, np.uint64), np.zeros(1024)
    wrong = [
        ("lower_ends", nine, words[:8], 1.0, table, nine.copy()),
        ("lower_ends", nine, words, 1.0, table[:1023], nine.copy()),
        ("lower_ends", nine, words, 1.0, table, np.zeros(8)),
        ("reaching", nine, words[:8], table, np.zeros(9, np.int64)),
        ("reaching", nine, words, table[:9], np.zeros(9, np.int64)),
        ("reaching", nine, words, table, np.zeros(8, np.int64)),
        ("noisy", nine, words, low[:8], 1.0, True, np.zeros((3, 9))),
        ("noisy", nine, words[:8], low, 1.0, True, np.zeros((3, 9))),
        ("noisy", nine, words, low, 1.0, False, np.zeros((2, 9))),
        ("negated", nine, 1.0, np.zeros(8)),
    ]
    for name, *arguments in wrong:
        with pytest.raises(ValueError, match="buffers of other sizes"):
            getattr(kernels.compiled, name)(*arguments)
