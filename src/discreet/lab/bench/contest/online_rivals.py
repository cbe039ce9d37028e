"""Hypotheses in turn: LORD++, SAFFRON and LOND on private p-values, and the same without correction.

PAPRIKA needs p-values whose sensitivity is declared; its repository has no data that this could be asked of.
"""

from __future__ import annotations

import numpy as np

from discreet.classical.online import RULES
from discreet.single import sign

QUESTIONS, REAL, PEOPLE, SHARE, EPSILON, Q = 200, 20, 400, 0.62, 1.0, 0.1


def run(studies: int, seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return realised false discovery proportions and shares of real effects found, for each rule."""
    rng = np.random.default_rng(seed)
    found = {name: (np.empty(studies), np.empty(studies)) for name in (*RULES, "every p <= q, not corrected")}
    for i in range(studies):
        real = rng.permutation(np.arange(QUESTIONS) < REAL)
        counts = rng.binomial(PEOPLE, np.where(real, SHARE, 0.5))
        # The count is the whole statistic of the sign test.
        p = [_p_value(int(count)) for count in counts]
        for name, (false, power) in found.items():
            rejected = decisions(name, p)
            false[i] = (rejected & ~real).sum() / max(1, rejected.sum())
            power[i] = rejected[real].mean()
    return found


def decisions(name: str, p: list[float]) -> np.ndarray:
    """Return the decisions of a rule over p-values."""
    if name not in RULES:
        return np.array(p) <= Q
    rejected: list[bool] = []
    for t, value in enumerate(p):
        rejected.append(value <= RULES[name](p[:t], rejected, Q))
    return np.array(rejected)


def _p_value(count: int) -> float:
    values = np.where(np.arange(PEOPLE) < count, 1.0, -1.0)
    return sign.p_value(sign.draw(values, 0.0, EPSILON), PEOPLE, EPSILON, "two-sided")
