"""Exact output laws of the selection mechanisms at small m, from their definitions alone.

None of this shares code with the mechanisms: softmax products for Gumbel, quadrature for Laplace.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations, pairwise, permutations
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.legendre import leggauss

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Outcome = tuple[int, ...]
Law = dict[Outcome, float]
_SETS = 10  # as many as an audit lists
_NODES, _WEIGHTS = np.array(leggauss(40), dtype=np.float64)  # pyright: ignore[reportUnknownArgumentType]  numpy has no types here


def softmax_orders(x: NDArray[np.float64], scale: float, k: int) -> Law:
    """Return the law of k ordered choices by the exponential mechanism without replacement, largest first."""
    weight = np.exp((x - x.max()) / scale)
    law: Law = {}
    for order in permutations(range(x.size), k):
        left, chance = float(weight.sum()), 1.0
        for i in order:
            chance *= weight[i] / left
            left -= weight[i]
        law[order] = chance
    return law


def laplace_index(x: NDArray[np.float64], scale: float) -> Law:
    """Return the law of the position of the largest x + Laplace noise."""
    return {(i,): _separated(x, scale, (i,)) for i in range(x.size)}


def laplace_index_and_value(
    x: NDArray[np.float64], scale: float, step: float, value_scale: float, cuts: NDArray[np.float64]
) -> Law:
    """Return the law of (position of the least x + Laplace noise, cell of its value with fresh noise).

    The value is x rounded down to a multiple of `step` plus discrete Laplace noise of scale `value_scale`;
    cell c holds the values above cuts[c - 1] and up to cuts[c].
    """
    edges = np.floor(cuts / step)
    law: Law = {}
    for i in range(x.size):
        index = _separated(-x, scale, (i,))
        for c, chance in enumerate(_lattice_cells(edges - np.floor(x[i] / step), value_scale / step)):
            law[i, c] = index * chance
    return law


def _lattice_cells(edges: NDArray[np.float64], scale: float) -> list[float]:
    """Return the discrete Laplace chances of (-inf, e_0], (e_0, e_1], .., (e_last, inf), whole e ascending.

    With r = exp(-1/scale), P(X <= -t) = P(X >= t) = r^t/(1 + r) for whole t >= 0.
    """
    total = 1.0 + math.exp(-1.0 / scale)

    def below(e: float) -> float:
        return math.exp(e / scale) / total

    def above(e: float) -> float:
        return math.exp(-(e + 1.0) / scale) / total

    def between(a: float, b: float) -> float:
        if b <= 0:
            return below(b) - below(a)
        return above(a) - above(b) if a >= 0 else 1.0 - below(a) - above(b)

    ends = [float(e) for e in edges]
    first = below(ends[0]) if ends[0] <= 0 else 1.0 - above(ends[0])
    last = above(ends[-1]) if ends[-1] >= 0 else 1.0 - below(ends[-1])
    return [first, *(between(a, b) for a, b in pairwise(ends)), last]


def laplace_orders(x: NDArray[np.float64], scale: float, k: int) -> Law:
    """Return the law of k ordered choices by peeling: fresh Laplace noise each round, largest first."""
    law: Law = {}
    for order in permutations(range(x.size), k):
        left, chance = list(range(x.size)), 1.0
        for i in order:
            chance *= _separated(x[left], scale, (left.index(i),))
            left.remove(i)
        law[order] = chance
    return law


def laplace_sets(x: NDArray[np.float64], scale: float, k: int) -> Law:
    """Return the law of the unordered set of the k largest x + Laplace noise, noise drawn once."""
    return {s: _separated(x, scale, s) for s in combinations(range(x.size), k)}


def joint_sets(x: NDArray[np.float64], spread: float, k: int, epsilon: float, margin: float) -> Law:
    """Return the law of the set with the largest key (score + N, F) in the order of dictionaries.

    A set scores (1 - margin) min inside - margin max outside, in spreads; with k = 1, its item. N = n with
    chance (1 - r) r^n, r = exp(-epsilon); F has density proportional to exp(-epsilon f) on [0, 1]. By
    quadrature over F of the winner and sums over its N. Empty where there are too many sets to list.
    """
    if x.size < k or math.comb(x.size, k) > _SETS:
        return {}
    sets = list(combinations(range(x.size), k))
    weight = margin if k > 1 else 0.0
    scores = [_set_score(x, s, weight) / spread for s in sets]
    f = (_NODES + 1.0) / 2.0
    density = epsilon * np.exp(-epsilon * f) / -math.expm1(-epsilon) * _WEIGHTS / 2.0
    part = np.expm1(-epsilon * f) / math.expm1(-epsilon)  # P(F < f)
    steps = np.arange(math.ceil(max(scores) - min(scores) + 40.0 / epsilon))[:, None]
    chances = np.exp(-epsilon * steps[:, 0]) * -math.expm1(-epsilon)
    law: Law = {}
    for i, own in enumerate(scores):
        lead = np.round(own - np.delete(scores, i) + steps, 9)
        whole = np.maximum(np.ceil(lead), 0.0)
        tie = np.where(whole == lead, np.exp(-epsilon * whole) * -math.expm1(-epsilon), 0.0)
        beaten = np.prod(-np.expm1(-epsilon * whole)[..., None] + tie[..., None] * part, axis=1)
        law[sets[i]] = min(float(chances @ beaten @ density), 1.0)
    return law


def _set_score(x: NDArray[np.float64], chosen: Outcome, margin: float) -> float:
    outside = np.delete(x, chosen)
    return float((1.0 - margin) * x[list(chosen)].min() - (margin * outside.max() if outside.size else 0.0))


def _separated(x: NDArray[np.float64], scale: float, chosen: Outcome) -> float:
    """Return P(all chosen noisy values exceed all others)."""
    mine = {int(i) for i in chosen}
    above = sorted(float(x[i]) for i in mine)
    below = sorted(float(value) for j, value in enumerate(x) if j not in mine)
    return _above(tuple(above), tuple(below), scale)


@lru_cache(maxsize=10_000)
def _above(chosen: tuple[float, ...], others: tuple[float, ...], scale: float) -> float:
    """Return P(all chosen noisy values exceed all others), by quadrature over the least chosen one."""

    def density(t: NDArray[np.float64]) -> NDArray[np.float64]:
        below = np.prod([_cdf((t - value) / scale) for value in others], axis=0) if others else 1.0
        total = np.zeros_like(t)
        for i, value in enumerate(chosen):
            rest = [_cdf((other - t) / scale) for other in chosen[:i] + chosen[i + 1 :]]
            total += 0.5 / scale * np.exp(-np.abs(t - value) / scale) * np.prod(rest, axis=0)
        return below * total

    return _integrate(density, np.array([*chosen, *others]), scale)


def _cdf(z: NDArray[np.float64]) -> NDArray[np.float64]:
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z < 0, tail, 1.0 - tail)


def _integrate(
    f: Callable[[NDArray[np.float64]], NDArray[np.float64]], x: NDArray[np.float64], scale: float
) -> float:
    """Integrate over the line in pieces of at most two scales between the kinks at x."""
    kinks = np.unique(x)
    ends = np.concatenate(([kinks[0] - 60 * scale], kinks, [kinks[-1] + 60 * scale]))
    total = 0.0
    for a, b in pairwise(ends):
        edges = np.linspace(float(a), float(b), math.ceil((b - a) / (2 * scale)) + 1)
        middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
        points = middle[:, None] + half[:, None] * _NODES
        total += float((f(points.ravel()).reshape(points.shape) @ _WEIGHTS * half).sum())
    return total


def loss(p: Law, q: Law) -> float:
    """Return the largest |log p(o)/q(o)| over outcomes: the pure epsilon of this pair.

    An outcome that neither law allows loses nothing; one that a single law allows, everything.
    """
    largest = 0.0
    for a, b in _together(p, q):
        if a != b:
            largest = max(largest, abs(math.log(a) - math.log(b)) if a > 0 and b > 0 else math.inf)
    return largest


def excess(p: Law, q: Law, epsilon: float) -> float:
    """Return the smallest delta for which this pair, in both directions, is (epsilon, delta)-close."""
    factor = math.exp(epsilon)
    pairs = _together(p, q)
    there = math.fsum(max(0.0, a - factor * b) for a, b in pairs)
    back = math.fsum(max(0.0, b - factor * a) for a, b in pairs)
    return max(there, back)


def epsilon_at(p: Law, q: Law, delta: float, least: float = 0.0) -> float:
    """Return the smallest epsilon >= `least` for which this pair is (epsilon, delta)-close, to 1e-6 above."""
    if excess(p, q, least) <= delta:
        return least
    low, high = least, least + 1.0
    while excess(p, q, high) > delta:
        low, high = high, 2 * high
        if high > 700:
            return math.inf
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if excess(p, q, middle) <= delta else (middle, high)
    return high


def _together(p: Law, q: Law) -> list[tuple[float, float]]:
    """Return the chances of every outcome under both laws; refuse what is no chance, for NaN hides a loss."""
    pairs = [(p.get(o, 0.0), q.get(o, 0.0)) for o in p.keys() | q.keys()]
    if not all(0 <= chance <= 1 + 1e-9 for pair in pairs for chance in pair):
        raise ArithmeticError("a law has a chance that is not between 0 and 1")
    return pairs
