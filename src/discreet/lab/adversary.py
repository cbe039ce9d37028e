"""The paper's worst case (section 3.1): an adversary who knows the truth and obeys adaptivity only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import critical_value

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """The adaptive rejections with the largest false discovery proportion.

    Attributes
    ----------
    p : shape (m,)
        p-values: the nulls first, as given, then the false nulls, all 0.
    rejected : shape (R,)
        Rejected positions; `is_adaptive(p, rejected, q)` holds.
    false : int
        How many of them are true nulls.
    fdp : float
        false / R, or 0 when nothing is rejected.
    """

    p: NDArray[np.float64]
    rejected: NDArray[np.int64]
    false: int
    fdp: float


def attack(null_p: NDArray[np.float64], m: int, q: float, k: int = 1) -> Attack:
    """Maximise V/R over adaptive rejections with V >= k, the m - m0 false nulls having p = 0.

    The maximum is over j in [k, m0] of j / max(j, ceil(m p0_(j) / q)): reject the j smallest nulls and as
    many false nulls as lift the critical value to p0_(j), if there are enough of them.
    """
    low = np.flatnonzero(null_p <= q)  # R <= m, so no null above q is ever rejected
    order = low[np.argsort(null_p[low], kind="stable")]
    spare = m - null_p.size
    j = np.arange(1, order.size + 1)
    needed = np.maximum(j, _least_count(null_p[order], q, m))
    payoff = np.where((j >= k) & (needed - j <= spare), j / needed, 0.0)
    p = np.concatenate([null_p, np.zeros(spare)])
    if not payoff.any():
        return Attack(p, np.zeros(0, dtype=np.int64), 0, 0.0)
    best = int(np.argmax(payoff))
    helpers = np.arange(null_p.size, null_p.size + int(needed[best]) - best - 1)
    return Attack(p, np.concatenate([order[: best + 1], helpers]), best + 1, float(payoff[best]))


def _least_count(p: NDArray[np.float64], q: float, m: int) -> NDArray[np.int64]:
    """Return the least R >= 0 with p <= q*R/m, exact for the library's own comparison."""
    count = np.ceil(p * m / q).astype(np.int64)
    count -= p <= critical_value(count - 1, q, m)
    count += p > critical_value(count, q, m)
    return count


def worst_fdp(
    rng: np.random.Generator, repetitions: int, m: int, q: float, k: int = 1, share: float = 0.01
) -> NDArray[np.float64]:
    """Simulate the worst false discovery proportion with a `share` of false nulls; shape (repetitions,)."""
    nulls = m - round(m * share)
    fdp = np.empty(repetitions)
    for run in range(repetitions):
        fdp[run] = attack(rng.random(nulls), m, q, k).fdp
    return fdp
