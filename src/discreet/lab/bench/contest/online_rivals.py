"""Hypotheses in turn: LORD++, SAFFRON and LOND on private p-values, and the same without correction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.online import RULES
from discreet.single import sign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

QUESTIONS, REAL, PEOPLE, SHARE, EPSILON, Q = 200, 20, 400, 0.62, 1.0, 0.1
_FEW = 4  # questions of a study whose intervals are looked at
UNCORRECTED = "every p <= q, not corrected"


def run(studies: int, seed: int) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return realised false discovery proportions and shares of real effects found, for each rule."""
    rng = np.random.default_rng(seed)
    shares = {name: (np.empty(studies), np.empty(studies)) for name in (*RULES, UNCORRECTED)}
    for i in range(studies):
        real = rng.permutation(np.arange(QUESTIONS) < REAL)
        counts = rng.binomial(PEOPLE, np.where(real, SHARE, 0.5))
        # The count is the whole statistic of the sign test.
        p_values = [_p_value(int(count)) for count in counts]
        for name, (false, power) in shares.items():
            rejected = np.array(p_values) <= Q if name == UNCORRECTED else decided(name, p_values, Q)
            false[i] = (rejected & ~real).sum() / max(1, rejected.sum())
            power[i] = rejected[real].mean()
    return shares


def decided(rule: str, p_values: Sequence[float], q: float) -> NDArray[np.bool_]:
    """Return the decisions of a rule over p-values that come in turn."""
    rejected: list[bool] = []
    for t, p in enumerate(p_values):
        rejected.append(p <= RULES[rule](p_values[:t], rejected, q))
    return np.array(rejected)


def coverage(studies: int, seed: int) -> NDArray[np.float64]:
    """Return how many of the 95% intervals of a few questions hold the share above the null, by study."""
    rng, held = np.random.default_rng(seed), np.empty(studies)
    for i in range(studies):
        shares = np.where(np.arange(_FEW) < _FEW // 2, SHARE, 0.5)
        ends = [
            sign.interval(_noisy(int(count)), PEOPLE, EPSILON, 0.95) for count in rng.binomial(PEOPLE, shares)
        ]
        held[i] = np.mean([low <= share <= high for (low, high), share in zip(ends, shares, strict=True)])
    return held


def _noisy(count: int) -> int:
    return sign.draw(np.where(np.arange(PEOPLE) < count, 1.0, -1.0), 0.0, EPSILON)


def _p_value(count: int) -> float:
    return sign.p_value(_noisy(count), PEOPLE, EPSILON, "two-sided")
