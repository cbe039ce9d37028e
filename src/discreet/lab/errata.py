"""The numbers of docs/errata.md, computed anew."""

from __future__ import annotations

import math

import numpy as np

from discreet.lab.words import printed_constants


def missed_accuracy(runs: int, seed: int = 1, m: int = 4000, k: int = 300, gap: float = 0.9) -> float:
    """Return how often a peeled noisy value exceeds x_(j) + b log m (item 5, with b = 1).

    k values are 0 and the others `gap` log m; each round takes the least of the rest under fresh Lap(1) noise
    and reports it with fresh Lap(1) noise.
    """
    rng = np.random.default_rng(seed)
    allowed = math.log(m)
    missed = 0
    for _ in range(runs):
        zeros, others = k, m - k  # items of one kind are interchangeable: only how many are left matters
        exceeded = False
        for _ in range(k):  # x_(j) = 0 for every j <= k
            takes_zero = _least(rng, zeros) < gap * allowed + _least(rng, others)
            zeros, others = (zeros - 1, others) if takes_zero else (zeros, others - 1)
            exceeded |= (0.0 if takes_zero else gap * allowed) + rng.laplace() > allowed
        missed += exceeded
    return missed / runs


def _least(rng: np.random.Generator, count: int) -> float:
    """Draw the minimum of `count` standard Laplace variables by inverting its distribution function."""
    if count == 0:
        return math.inf
    below = -math.expm1(math.log(rng.random()) / count)  # P(Lap <= minimum), uniform in law
    return math.log(2 * below) if below < 0.5 else -math.log(2 * (1 - below))


def errata_in_words() -> str:
    """Return one line for each number."""
    fdr_2, fdr = printed_constants()
    missed = missed_accuracy(400)
    lines = [
        f"item 5: some noisy value exceeds its bound in {missed:.0%} of runs (m = 4,000, k = 300)",
        f"item 6: the printed proof gives C = {fdr_2:.2f} for FDR_2 and C = {fdr:.2f} for FDR, not C < 3",
    ]
    return "\n".join(lines)
