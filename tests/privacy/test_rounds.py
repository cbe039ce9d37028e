"""Bounded-range rounds as Gaussian releases: the constants, and what adversaries achieve, under the curve."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.lab.walks import constants
from discreet.privacy.account import account
from discreet.privacy.curves import CONSTANTS, effective, gaussian_delta
from discreet.privacy.events import ZCDP, BoundedRange, Gaussian, Pure


@pytest.mark.slow
def test_the_constants_are_those_of_the_recursion():
    """Stored constants are never below the computed ones, and above by rounding alone."""
    computed = constants(CONSTANTS.size, 64)
    assert np.all(computed <= CONSTANTS)
    assert np.all(computed > CONSTANTS - 2e-5)
    assert CONSTANTS[0] == pytest.approx(math.sqrt(math.pi / 2), abs=2e-4)


def test_the_page_shows_the_constants():
    """Those on the proof page are the stored ones, rounded up."""
    page = (Path(__file__).parents[2] / "docs/proofs/rounds.md").read_text(encoding="utf-8")
    shown = {int(k): float(c) for k, c in re.findall(r"c_\{?(\d+)\}?\s+=\s+(\d\.\d{4})", page)}
    assert set(shown) == {1, 2, 8, 32, 128}
    assert all(CONSTANTS[k - 1] - 2e-5 <= c <= CONSTANTS[k - 1] + 1e-4 for k, c in shown.items())


def test_a_finer_grid_gives_smaller_constants():
    """Grids err upward only: the finer, the smaller, towards the limit."""
    coarse, fine = constants(8, 16), constants(8, 128)
    assert np.all(fine < coarse)
    assert np.all(fine < CONSTANTS[:8])
    assert np.all(fine > CONSTANTS[:8] - 2e-4)


def achieved(order, e, mu=0.0, n=24):
    """Return points and the delta of the best adversary whose ranges end at them; all of it can be reached.

    `order` says who comes first: "r" an e-bounded-range round, "g" a Gaussian release of mu. Each choice may
    depend on all outcomes before it.
    """
    h = e / n
    reach = order.count("r") * e + 9 * mu * math.sqrt(max(order.count("g"), 1)) + e
    size = 2 * math.ceil(reach / h) + 1
    x = (np.arange(size) - size // 2) * h
    delta = np.maximum(-np.expm1(x), 0.0)
    for kind in reversed(order):
        below = -np.expm1(x[0] - h * np.arange(size, 0, -1))  # far below, delta is 1 - e^x
        whole = np.concatenate((below, delta, np.zeros(size)))
        if kind == "r":
            shares = np.expm1(np.arange(n + 1) * h - e) / math.expm1(-e)
            delta = np.max(
                [
                    p * whole[size - j : 2 * size - j] + (1 - p) * whole[size - j + n : 2 * size - j + n]
                    for j, p in enumerate(shares)
                ],
                axis=0,
            )
        else:
            delta = _gaussian_step(whole, size, h, mu)
    return x, delta


def _gaussian_step(whole, size, h, mu):
    """Return delta before a Gaussian release whose output is shown up to cells of its loss."""
    ends = (np.arange(-size, size + 1) - 0.5) * h
    first, second = np.diff(ndtr(ends / mu - mu / 2)), np.diff(ndtr(ends / mu + mu / 2))
    seen = (first > 1e-300) & (second > 1e-300)
    out = np.zeros(size)
    base = np.arange(size) + size
    for p, q in zip(first[seen], second[seen], strict=True):
        loss = math.log(p / q)
        place = base - loss / h
        left = np.clip(np.floor(place).astype(int), 0, whole.size - 2)
        out += p * (whole[left] + (place - left) * (whole[left + 1] - whole[left]))
    return out


@pytest.mark.parametrize("k", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("e", [0.003, 0.1, 1.0, 4.0])
def test_no_adversary_passes_the_gaussian_curve(k, e):
    """At every epsilon, for few rounds and many, small and large; and one comes near."""
    x, delta = achieved("r" * k, e)
    mu = e / 2 * math.sqrt(float(effective(k)))
    above = (x >= 0) & (delta > 1e-280)
    curve = np.array([gaussian_delta(float(at), mu) for at in x[above]])
    assert np.all(delta[above] <= curve)
    assert np.max(delta[above] / curve) > (0.985 if e < 4 else 0.8)


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_smaller_constants_fail(k):
    """One percent less, and an adversary passes the curve somewhere."""
    x, delta = achieved("r" * k, 0.003)
    mu = 0.99 * 0.003 / 2 * math.sqrt(float(effective(k)))
    assert any(d > gaussian_delta(float(at), mu) for at, d in zip(x, delta, strict=True) if at >= 0)


def test_many_rounds_come_in_blocks():
    """More rounds cost more, blocks cost less than one percent, and no rounds cost nothing."""
    counts = np.arange(0, 3000)
    v = effective(counts)
    assert v[0] == 0.0
    assert np.all(np.diff(v) >= 0.9)
    assert np.all(v[200:] <= 1.0125 * counts[200:])


def test_rounds_beside_gaussian_releases():
    """`account` adds squares; several sizes of rounds, or zCDP, are not taken together."""
    rounds, noise = BoundedRange(0.02, 200), Gaussian(0.1, 3)
    mu = math.sqrt(3 * 0.1**2 + 0.02**2 / 4 * float(effective(200)))
    together = account([rounds, noise], epsilon=1.0)
    assert together == pytest.approx(gaussian_delta(1.0, mu), rel=1e-9)
    assert together < account([rounds, ZCDP(0.1**2 / 2, 3)], epsilon=1.0) / 2
    assert account([rounds, noise, Pure(0.1)], epsilon=1.1) == pytest.approx(together, rel=1e-9)
    two = account([BoundedRange(0.02, 100), BoundedRange(0.0200001, 100), noise], epsilon=1.0)
    assert two > together
    assert account([BoundedRange(0.02, 20_000)], delta=1e-6) < account(
        [ZCDP(0.02**2 / 8, 20_000)], delta=1e-6
    )


@pytest.mark.parametrize("order", ["grr", "rgr", "rrg", "grgrg"])
def test_any_order_of_rounds_and_noise_is_covered(order):
    """Where rounds are chosen knowing the noise so far, the curve of `account` still holds, and is near."""
    e, mu = 0.5, 0.2
    x, delta = achieved(order, e, mu)
    events = [BoundedRange(e, order.count("r")), Gaussian(mu, order.count("g"))]
    less = [BoundedRange(0.9 * e, order.count("r")), Gaussian(0.9 * mu, order.count("g"))]
    some = np.flatnonzero((x >= 0) & (x < 1.5))[::6]
    assert all(delta[i] <= account(events, epsilon=float(x[i])) * (1 + 1e-9) for i in some)
    assert any(delta[i] > account(less, epsilon=float(x[i])) for i in some)
