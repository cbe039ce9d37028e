"""False discovery rates and power of any procedure in any scenario, by simulation with known truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.classical.bounds import fdr_bound
from discreet.lab.adversary import worst_fdp
from discreet.lab.estimate import Estimate, estimate
from discreet.lab.procedures import PROCEDURES
from discreet.lab.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ADVERSARY_LEVELS = (0.05, 0.1, 0.2)
ADVERSARY_COUNTS = (1, 2)
ATTACKED = len(ADVERSARY_LEVELS) * len(ADVERSARY_COUNTS)
_ADVERSARY_M = 10_000


@dataclass(frozen=True, slots=True)
class Rates:
    """What one procedure did in one scenario: E[V/R], E[V/R; V >= k], E[V/R; R >= k], and power."""

    scenario: str
    procedure: str
    q: float
    k: int
    m: int
    repetitions: int
    fdr: Estimate
    fdr_false_k: Estimate
    fdr_rejections_k: Estimate
    power: Estimate | None


@dataclass(frozen=True, slots=True)
class Worst:
    """What the adversary reaches for FDR_k at q, and the bounds on it; k = 1 is FDR."""

    q: float
    k: int
    m: int
    repetitions: int
    simulated: Estimate
    exact: float
    simple: float
    paper: float


def simulate(
    scenarios: Sequence[str],
    procedures: Sequence[str],
    *,
    q: float = 0.1,
    k: int = 2,
    m: int = 1000,
    repetitions: int = 1000,
    seed: int = 1,
    tick: Callable[[int], None] = lambda _: None,
) -> list[Rates]:
    """Run every procedure on the same studies of every scenario; `tick` hears of finished repetitions."""
    q, k = check.level(q, "q"), check.whole(k, "k")
    m, repetitions = check.whole(m, "m", low=10), check.whole(repetitions, "repetitions", low=2)
    seed = check.whole(seed, "seed", low=0)
    for name in scenarios:
        check.choice(name, "scenario", tuple(SCENARIOS))
    for name in procedures:
        check.choice(name, "procedure", tuple(PROCEDURES))
    rates: list[Rates] = []
    for scenario in scenarios:
        counts = _counts(scenario, procedures, q, m, repetitions, seed, tick)
        for procedure, (false, rejections, true, signals) in zip(procedures, counts, strict=True):
            fdp = false / np.maximum(rejections, 1)
            rates.append(
                Rates(
                    *(scenario, procedure, q, k, m, repetitions),
                    fdr=estimate(fdp),
                    fdr_false_k=estimate(fdp * (false >= k)),
                    fdr_rejections_k=estimate(fdp * (rejections >= k)),
                    power=estimate(true / signals) if signals.all() else None,
                )
            )
    return rates


def _counts(
    scenario: str,
    procedures: Sequence[str],
    q: float,
    m: int,
    repetitions: int,
    seed: int,
    tick: Callable[[int], None],
) -> np.ndarray[tuple[int, int, int], np.dtype[np.int64]]:
    """Return V, R, R - V and the number of false nulls; shape (procedures, 4, repetitions)."""
    # A stream for each scenario, and for each procedure in it: alone or among others, a line is the same.
    where = list(SCENARIOS).index(scenario)
    draws = np.random.default_rng([seed, where])
    coins = [np.random.default_rng([seed, where, list(PROCEDURES).index(name)]) for name in procedures]
    counts = np.zeros((len(procedures), 4, repetitions), dtype=np.int64)
    for run in range(repetitions):
        study = SCENARIOS[scenario].draw(draws, m)
        for i, procedure in enumerate(procedures):
            rejected = PROCEDURES[procedure](study, q, coins[i])
            false = int(np.count_nonzero(study.null[rejected]))
            counts[i, :, run] = (false, rejected.size, rejected.size - false, np.count_nonzero(~study.null))
        tick(1)
    return counts


def adversary(
    *,
    repetitions: int = 10_000,
    seed: int = 1,
    tick: Callable[[int], None] = lambda _: None,
) -> list[Worst]:
    """Set the worst adaptive procedure beside every bound on it, at q = .05, .1 and .2."""
    m = _ADVERSARY_M
    rows: list[Worst] = []
    for k in ADVERSARY_COUNTS:
        for i, q in enumerate(ADVERSARY_LEVELS):
            rng = np.random.default_rng([seed, k, i])
            simulated = estimate(worst_fdp(rng, repetitions, m, q, k))
            bounds = {v: fdr_bound(q, k, version=v).value for v in ("exact", "simple", "paper")}
            rows.append(Worst(q, k, m, repetitions, simulated, **bounds))
            tick(repetitions)
    return rows
