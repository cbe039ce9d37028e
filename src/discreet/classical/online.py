"""Levels for hypotheses that come one after another: LORD++, SAFFRON and reshaped LOND.

Every level is a function of the decisions, and for SAFFRON of the candidates, before it: docs/proofs/online.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy.special import zeta

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_POWER = 1.6
_TOTAL = float(zeta(_POWER)) * (1 + 2.0**-40)  # so that all weights together stay below 1
CANDIDATE = 0.5
"""SAFFRON counts a hypothesis as a candidate where its p-value is at most this."""


def weight(t: int) -> float:
    """Return the share of the wealth for the t-th hypothesis since it was earned, t = 1, 2, ...; 0 before."""
    return t**-_POWER / _TOTAL if t > 0 else 0.0


def lord(p_values: Sequence[float], rejected: Sequence[bool], q: float) -> float:
    """Return the next level of LORD++."""
    del p_values
    t = len(rejected) + 1
    level = weight(t) * q / 2.0
    for order, time in enumerate(_times(rejected)):
        level += (q / 2.0 if order == 0 else q) * weight(t - time)
    return level


def saffron(p_values: Sequence[float], rejected: Sequence[bool], q: float) -> float:
    """Return the next level of SAFFRON."""
    t = len(rejected) + 1
    candidates = [p <= CANDIDATE for p in p_values]
    level = weight(t - sum(candidates)) * q / 2.0
    for order, time in enumerate(_times(rejected)):
        since = sum(candidates[time:])
        level += (q / 2.0 if order == 0 else q) * weight(t - time - since)
    return min(CANDIDATE, (1.0 - CANDIDATE) * level)


def lond(p_values: Sequence[float], rejected: Sequence[bool], q: float) -> float:
    """Return the next level of reshaped LOND, which allows any dependence."""
    del p_values
    t = len(rejected) + 1
    harmonic = sum(1.0 / j for j in range(1, t + 1))
    return q * weight(t) * (sum(rejected) + 1) / harmonic * (1 - 2.0**-40)


def _times(rejected: Sequence[bool]) -> list[int]:
    """Return the times of the rejections, from 1."""
    return [time for time, decision in enumerate(rejected, 1) if decision]


RULES: dict[str, Callable[[Sequence[float], Sequence[bool], float], float]] = {
    "lord": lord,
    "saffron": saffron,
    "lond": lond,
}
"""The rules by name."""
PROMISES = {
    "lord": "if p-values of true nulls are independent of all others",
    "saffron": "if p-values of true nulls are independent of all others",
    "lond": "however p-values depend on one another",
}
"""When the false discovery rate at any time is at most q."""
