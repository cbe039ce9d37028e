"""Attacks on noise-aware BH: configurations against its FDR, neighbours against its sensitivity."""

import math

import numpy as np
import pytest

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.evidence.core.certificate import Certificate, Null
from discreet.evidence.core.evidence import Evidence
from discreet.lab.replay import replayed
from discreet.methods.aware import count
from discreet.methods.aware.shortfall import rule_for

Q, RUNS = 0.2, 24
NULL = Null("exponential", 15.0)


def configurations(m):
    """33 sets of signals: none, infinite, equal around the edge, staircases along the line; -log p each."""
    sizes = (1, 5, m // 5, m // 2)
    found = [np.zeros(0)]
    found += [np.full(size, 15.0) for size in sizes]
    for size in sizes:
        edge = -math.log(Q * size / m)
        found += [np.full(size, max(0.0, edge + off)) for off in (-1.0, -0.3, 0.0, 0.3, 1.0, 2.0)]
    for size in (m // 5, m // 2):
        line = -np.log(Q * np.arange(1, size + 1) / m)
        found += [line, line + 0.5]
    return found


def evidence(x, sensitivity):
    """Hold x as -log p."""
    certificate = Certificate(sensitivity, 2 * sensitivity, "replace", "declared")
    return Evidence([str(i) for i in range(x.size)], np.minimum(x, 15.0), NULL, certificate)


@pytest.mark.slow
@pytest.mark.statistical(34)
@pytest.mark.parametrize("m", [50, 200])
@pytest.mark.parametrize("sensitivity", [1e-4, 0.02, 0.3, 4.0])
def test_proved_fdr_stays_below_q(m, sensitivity):
    """FDR <= q in each of 33 configurations, and on average over them with more certainty."""
    rng = np.random.default_rng([m, int(sensitivity * 1e4)])
    attacks = configurations(m)
    assert len(attacks) == 33
    pooled = []
    for signals in attacks:
        false = []
        for _ in range(RUNS):
            x = np.concatenate((signals, rng.exponential(size=m - signals.size)))
            with replayed(rng):
                found = discreet.release(evidence(x, sensitivity), q=Q, epsilon=1, delta=1e-3).indices
            false.append(np.mean(found >= signals.size) if found.size else 0.0)
        assert_mean_at_most(false, Q)
        pooled += false
    assert_mean_at_most(pooled, Q)


@pytest.mark.statistical(1, twins=1)
def test_a_cutoff_that_ignores_the_noise_is_caught():
    """Wrong twin: the line of BH for scores without noise, on noisy scores."""
    rng = np.random.default_rng(7)
    false = []
    for signals in configurations(200):
        for _ in range(RUNS):
            x = np.concatenate((signals, rng.exponential(size=200 - signals.size)))
            noisy = x + 1.0 * rng.gumbel(size=200)
            found = np.flatnonzero(discreet.step_up(np.exp(-np.maximum(noisy, 0.0)), Q).mask)
            false.append(np.mean(found >= signals.size) if found.size else 0.0)
    must_fail(assert_mean_at_most, false, wrong=Q, truth=0.5)


def turning_point(x, r, scale, sensitivity, beta):
    """Find the level at which the comparison at r turns, by bisection."""
    ordered, step = count.in_steps(x, sensitivity), count.step_of(sensitivity)
    rule = rule_for(r, scale / step, beta, x.size)
    low, high = -round(60 / step), round(80 / step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rule.passes(ordered, middle) else (low, middle)
    return low * step


def climb(move, sensitivity, rng, steps):
    """Search for a pair of neighbours x, x + d with |d| <= sensitivity that moves `move` most."""
    best, x, d = 0.0, rng.uniform(0, 8, 40), np.sign(rng.standard_normal(40)) * sensitivity
    for _ in range(steps):
        y, e = x.copy(), d.copy()
        at = rng.integers(0, 40, rng.integers(1, 8))
        y[at] = rng.choice([y[at[0]], rng.uniform(0, 12), 15.0, 0.0])  # ties, strong ones, none
        e[at] = rng.choice([-1.0, 0.0, 1.0, rng.uniform(-1, 1)]) * sensitivity
        moved = abs(move(np.clip(y + e, 0.0, 15.0)) - move(y))
        if moved >= best:
            best, x, d = moved, y, e
    return best


@pytest.mark.slow
@pytest.mark.parametrize("beta", [None, 0.02])
@pytest.mark.parametrize(("r", "scale"), [(1, 0.05), (3, 0.4), (12, 1.5)])
def test_no_neighbours_are_found_that_move_a_comparison_by_more_than_sup(r, scale, beta):
    """A hill climb over inputs and changes comes close to sensitivity and never above it."""
    rng = np.random.default_rng(r)
    sensitivity = 0.25
    moved = climb(lambda x: turning_point(x, r, scale, sensitivity, beta), sensitivity, rng, 250)
    assert 0.9 * sensitivity <= moved <= count.STEPS * count.step_of(sensitivity) * (1 + 1e-12)


def test_the_search_finds_neighbours_when_a_rule_is_not_monotone():
    """Wrong twin: the same climb breaks a rule that looks at the gap between two scores."""
    rng = np.random.default_rng(5)
    sensitivity = 0.25

    def gap(x):
        return float(np.sort(x)[-3] + np.sort(x)[-3] - np.sort(x)[-9])

    assert climb(gap, sensitivity, rng, 250) > 1.2 * sensitivity
