"""Theorem 6 of the paper, (b) and (c), beside what Algorithm 4 and its fast form do (docs/errata.md, 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from discreet.classical.bounds import fdr_bound
from discreet.classical.step_down import step_down_positions
from discreet.evidence.core.certificate import Null
from discreet.lab.estimate import Estimate, estimate
from discreet.lab.replay import replayed
from discreet.methods.paper.cutoffs import KINDS, cutoffs, step_down_scores
from discreet.selection.top_k import top_k

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.methods.paper.cutoffs import Cutoffs
    from discreet.typing import TopK

M, K, Q, NU, ETA, EPSILON, DELTA = 400, 40, 0.2, 1e-6, 1e-4, 1.0, 1e-6
SELECTIONS: tuple[TopK, ...] = ("peel", "oneshot")
_MISS = 0.01
_FALSE = 20
_COUNTS = (1, 2, 10)  # FDR, FDR_2, FDR_10
_NULL = Null("exponential", -math.log(NU))


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise of the theorem: what was simulated, and what is stated."""

    part: str
    method: str
    cutoffs: str
    quantity: str
    simulated: Estimate
    stated: float

    @property
    def kept(self) -> bool:
        """Tell whether the simulation leaves the promise standing."""
        return self.simulated.low <= self.stated


def theorem_6(
    *, repetitions: int = 200, seed: int = 1, tick: Callable[[int], None] = lambda _: None
) -> list[Promise]:
    """Run both parts for both selections; `tick` hears of finished repetitions."""
    promises: list[Promise] = []
    for i, method in enumerate(SELECTIONS):
        rng = np.random.default_rng([seed, i])
        fewer = np.zeros(repetitions)
        rates = np.zeros((len(KINDS), len(_COUNTS), repetitions))
        lines: dict[str, Cutoffs] = {}
        for run in range(repetitions):
            p = _signals(rng)
            least = min(K, step_down_positions(p, Q).size)
            fewer[run] = algorithm_4(p, method, ("paper",), rng)["paper"][0].size < least
            for c, (kind, (rejected, line)) in enumerate(
                algorithm_4(_dependent(rng), method, KINDS, rng).items()
            ):
                lines[kind] = line
                false = int(np.count_nonzero(rejected >= _FALSE))
                rates[c, :, run] = [false / max(1, rejected.size) * (false >= k) for k in _COUNTS]
            tick(1)
        promises.append(Promise("b", method, "paper", "fewer than step-down", estimate(fewer), _MISS))
        for c, kind in enumerate(KINDS):
            for k, rate in zip(_COUNTS, rates[c], strict=True):
                name = "FDR" if k == 1 else f"FDR_{k}"
                promises.append(Promise("c", method, kind, name, estimate(rate), stated(lines[kind], k)))
    return promises


def algorithm_4(
    p: NDArray[np.float64], method: TopK, kinds: tuple[str, ...], rng: np.random.Generator
) -> dict[str, tuple[NDArray[np.int64], Cutoffs]]:
    """Select and release values once, decide with each kind of cutoffs: rejections and what is promised."""
    x = -np.log(np.maximum(p, NU))
    with replayed(rng):
        chosen = top_k(
            x, K, sensitivity=ETA, epsilon=EPSILON, delta=DELTA, method=method, largest=True, values=True
        )
    decided: dict[str, tuple[NDArray[np.int64], Cutoffs]] = {}
    for kind in kinds:
        line = cutoffs(_NULL, M, K, Q, float(chosen.value_scale or 0.0), kind, _MISS, chosen.scale)
        decided[kind] = chosen.indices[step_down_scores(np.asarray(chosen.values), line.score)], line
    return decided


def stated(line: Cutoffs, k: int) -> float:
    """Return the bound on FDR_k that the cutoffs earn: that of adaptive procedures, and the misses."""
    if line.adaptive_level >= 1:
        return 1.0
    return min(1.0, float(fdr_bound(line.adaptive_level, None if k == 1 else k)) + line.miss)


def _signals(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw twelve clear signals among uniform p-values."""
    p = rng.random(M)
    p[:12] = ndtr(-rng.uniform(3, 5, 12))
    return p


def _dependent(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the paper's dependence: false nulls that move with the median of the true ones, near the line."""
    p = rng.random(M)
    p[:_FALSE] = 1.5 * (1 - np.median(p[_FALSE:])) * Q * np.arange(1, _FALSE + 1) / M
    return p
