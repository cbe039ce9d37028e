"""Exact or attained values of delta, computed without the code under test."""

from __future__ import annotations

import itertools
import math

import numpy as np


def hockey_stick(p, q, epsilon):
    """Return the sum of (p - e^epsilon q)_+ over the last axis: delta of this pair of laws."""
    return np.maximum(p - math.exp(epsilon) * q, 0.0).sum(axis=-1)


def responses(epsilons):
    """Return both laws of independent randomised responses, outcome by outcome: 2^n of them."""
    p, q = np.ones(1), np.ones(1)
    for e in epsilons:
        heads = 1 / (1 + math.exp(-e))
        p = np.outer(p, [heads, 1 - heads]).ravel()
        q = np.outer(q, [1 - heads, heads]).ravel()
    return p, q


def two_points(t, e):
    """Return the chance, under the first law, of the loss t; otherwise the loss is t - e."""
    return np.expm1(t - e) / np.expm1(-e)


def one_round(epsilon, e, points=20_001):
    """Return delta of one e-bounded-range round by search over t: attained, so never above the truth."""
    t = np.linspace(0.0, e, points)
    p = two_points(t, e)
    losses = np.stack([t, t - e])
    gains = np.maximum(-np.expm1(np.minimum(epsilon - losses, 0.0)), 0.0)
    return float(np.max(p * gains[0] + (1 - p) * gains[1]))


def attained(epsilon, e, rounds, n):
    """Return delta of the best adaptive strategy whose t are multiples of e/n: never above the truth.

    Backward over all reachable losses, from delta_0(eps) = (1 - e^eps)_+; no window and no interpolation.
    """
    span = rounds * n
    eps = epsilon + (e / n) * np.arange(-span, span + 1)
    delta = -np.expm1(np.minimum(eps, 0.0))
    share = two_points(np.arange(n + 1) * (e / n), e)
    for _ in range(rounds):
        inner = np.arange(n, delta.size - n)
        plays = [p * delta[inner - s] + (1 - p) * delta[inner - s + n] for s, p in enumerate(share)]
        delta = np.max(plays, axis=0)
    return float(delta[delta.size // 2])


def peeled(scores, scale, k):
    """Return the law of the ordered output of k rounds of the exponential mechanism without replacement."""
    weights = np.exp((np.asarray(scores) - np.max(scores)) / scale)
    law = []
    for order in itertools.permutations(range(len(scores)), k):
        left, chance = weights.sum(), 1.0
        for i in order:
            chance *= weights[i] / left
            left -= weights[i]
        law.append(chance)
    return np.array(law)


def renyi(p, q, order):
    """Return the Renyi divergence of this order > 1."""
    return float(np.log(np.sum(p**order * q ** (1 - order))) / (order - 1))


def laplace_max(scores):
    """Return the law of the index of the largest score after Laplace(1) noise, by quadrature."""
    t = np.linspace(-40.0, 40.0, 160_001)
    away = t - np.asarray(scores, dtype=float)[:, None]
    density = np.exp(-np.abs(away)) / 2
    below = np.where(away < 0, density, 1 - density)
    law = np.array(
        [np.trapezoid(density[i] * np.prod(np.delete(below, i, 0), axis=0), t) for i in range(len(scores))]
    )
    return law / law.sum()
